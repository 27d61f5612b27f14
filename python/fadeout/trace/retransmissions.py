"""Links lost packets with the TCP retransmissions that repair them."""

from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

import polars as pl

from fadeout.results import Results
from fadeout.trace.tables import collect, nanoseconds, scan

LEAST_HEADERS, MOST_HEADERS = 40, 120
"""Sizes of IPv4 and TCP headers without options and with all of them, in bytes."""

Row = tuple[str, int]
"""A row of a table: the table, and the number of the row."""


class Event(NamedTuple):
    """A loss of a data packet or the first retransmission of a segment."""

    at: int
    table: str
    row: int
    place: str
    """Queue or bearer that lost the packet."""
    size: int
    """Size of the packet, or of the segment's payload."""
    offset: int
    """First byte of the segment in the stream."""

    @property
    def is_loss(self) -> bool:
        """True if the event is a loss."""
        return self.table != "retransmissions"


def repaired(results: Results) -> Iterator[tuple[Row, int]]:
    """Yields lost packets, each with the row of `retransmissions` that repairs it.

    Tables of lost packets have no sequence numbers. Losses and retransmissions of a flow are linked
    in their order. A series of losses in one place must be followed by as many first
    retransmissions, with ascending offsets and fitting sizes. If a series is not, no later loss of
    the flow is linked.

    Raises:
        ResultError: a table cannot be read.
    """
    # A loss that no table has could take the place of another.
    tables = [name for name in ("drops", "radio_drops") if results.has_table(name)]
    if "drops" not in tables:
        return
    events = pl.concat([_losses(results, table) for table in tables] + [_repeats(results)])
    for _flow, own in events.sort("flow", "at", "rank", "row").group_by(
        "flow", maintain_order=True
    ):
        rows = [Event(*row) for row in own.drop("flow", "rank").iter_rows()]
        yield from _pairs(rows)


def _pairs(events: list[Event]) -> Iterator[tuple[Row, int]]:
    """Yields the pairs of one flow, whose events are in order."""
    losses: list[Event] = []
    for is_loss, run in groupby(events, key=lambda event: event.is_loss):
        series = list(run)
        if is_loss:
            losses = series
            continue
        if not _fits(losses, series):
            return
        yield from (((a.table, a.row), b.row) for a, b in zip(losses, series, strict=True))


def _fits(losses: list[Event], repeats: list[Event]) -> bool:
    """Returns True if each loss has one retransmission, in the same order."""
    if len(losses) != len(repeats) or len({(loss.table, loss.place) for loss in losses}) != 1:
        return False
    offsets = [event.offset for event in repeats]
    if offsets != sorted(set(offsets)):
        return False
    headers = {a.size - b.size for a, b in zip(losses, repeats, strict=True)}
    return len(headers) == 1 and LEAST_HEADERS <= headers.pop() <= MOST_HEADERS


def _losses(results: Results, table: str) -> pl.DataFrame:
    """Returns the losses of packets with more than headers: an ACK is never sent again."""
    query = scan(results, table).with_row_index("row")
    query = query.filter(pl.col("size_bytes") > MOST_HEADERS)
    place = pl.col("link") if table == "drops" else pl.concat_str("bearer", "direction")
    return _events(query, table, place, size="size_bytes", offset=pl.lit(0), rank=0)


def _repeats(results: Results) -> pl.DataFrame:
    """Returns the first retransmission of each segment by the sender of a flow's data."""
    query = scan(results, "retransmissions").with_row_index("row")
    query = query.filter(pl.col("end") == "sender", pl.col("attempt") == 1)
    offset = pl.col("offset_bytes")
    return _events(
        query, "retransmissions", pl.lit(""), size="payload_bytes", offset=offset, rank=1
    )


def _events(
    query: pl.LazyFrame, table: str, place: pl.Expr, *, size: str, offset: pl.Expr, rank: int
) -> pl.DataFrame:
    """Returns rows of a table with the columns of `Event`."""
    return collect(
        query.select(
            "flow",
            at=nanoseconds("time_s"),
            table=pl.lit(table),
            row=pl.col("row").cast(pl.Int64),
            place=place,
            size=pl.col(size).cast(pl.Int64),
            offset=offset.cast(pl.Int64),
            rank=pl.lit(rank),
        ),
        table,
    )
