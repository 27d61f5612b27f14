"""Links between rows of tables: lost transport blocks, RLC repetitions, packets, TCP segments.

No table has RLC sequence numbers, and the tables of transport blocks and of packets have no TCP
sequence numbers. Rows are linked by their times, which are whole nanoseconds, and only if exactly
one link is possible.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import count

import polars as pl

from fadeout.results import Results
from fadeout.trace.retransmissions import repaired
from fadeout.trace.tables import collect, nanoseconds, scan

PROCESS = ["cell", "ue", "direction", "process"]
"""Columns that name a HARQ process."""

Block = tuple[str, str, str, int, int]
"""A transmission: cell, UE, direction, HARQ process, and start in nanoseconds."""


@dataclass
class Links:
    """Arrows of a trace by their ends. Each arrow has a number."""

    block_starts: dict[Block, list[int]] = field(default_factory=lambda: defaultdict(list))
    block_ends: dict[Block, list[int]] = field(default_factory=lambda: defaultdict(list))
    row_starts: dict[tuple[str, int], list[int]] = field(default_factory=lambda: defaultdict(list))
    """Arrows that start at a row of a table, by table and number of the row."""
    row_ends: dict[tuple[str, int], list[int]] = field(default_factory=lambda: defaultdict(list))
    lost: int = 0
    """Number of transport blocks that HARQ gave up."""
    repeated: int = 0
    """Number of arrows from a lost transport block to an RLC repetition."""
    delivered: int = 0
    """Number of arrows from a transport block to a packet that it delivered late."""
    dropped: int = 0
    """Number of arrows from a lost transport block to a packet that RLC did not repeat."""
    resent: int = 0
    """Number of arrows to a TCP retransmission."""
    unlinked: int = 0
    """Number of lost transport blocks without an arrow to an RLC repetition or a lost packet."""
    numbers: count = field(default_factory=lambda: count(1))
    """Numbers of the next arrows."""


def find(results: Results) -> Links:
    """Returns the links between the rows of a run.

    Raises:
        ResultError: a table cannot be read.
    """
    links = Links()
    if results.has_table("transport_blocks"):
        failed = _failed(results)
        lost = _lost(results, failed)
        linked: set[Block] = set()
        if results.has_table("radio_delay"):
            packets = _packets(results)
            linked |= _link_repetitions(links, results, lost, packets)
            _link_deliveries(links, failed, packets)
            if results.has_table("radio_drops"):
                linked |= _link_losses(links, results, lost, packets)
        given_up = {_block(row, row["last"]) for row in lost.filter("is_over").to_dicts()}
        links.lost = len(given_up | linked)
        links.unlinked = links.lost - len(linked)
    if results.has_table("retransmissions"):
        for source, row in repaired(results):
            number = next(links.numbers)
            links.row_starts[source].append(number)
            links.row_ends["retransmissions", row].append(number)
            links.resent += 1
    return links


def _failed(results: Results) -> pl.DataFrame:
    """Returns the transmissions that failed and those that repeat a block, by HARQ process.

    `block` numbers the transport blocks of a process.
    """
    query = scan(results, "transport_blocks").filter(~pl.col("is_ok") | (pl.col("round") > 0))
    query = query.select(*PROCESS, "round", "is_ok", at=nanoseconds("time_s"))
    rows = collect(query, "transport_blocks")
    is_new = (pl.col("round") == 0) | (pl.col("round") != pl.col("round").shift(1) + 1)
    return rows.with_columns(block=is_new.fill_null(True).cum_sum().over(PROCESS))


def _lost(results: Results, failed: pl.DataFrame) -> pl.DataFrame:
    """Returns the blocks that were not decoded.

    `first` and `last` are the starts of their first and last transmission. `is_over` is false if
    HARQ may still have repeated the block after the end of the run.
    """
    query = scan(results, "transport_blocks").group_by(PROCESS)
    ends = collect(query.agg(end=nanoseconds("time_s").max()), "transport_blocks")
    blocks = failed.group_by([*PROCESS, "block"], maintain_order=True).agg(
        first=pl.col("at").first(),
        last=pl.col("at").last(),
        is_whole=pl.col("round").first() == 0,
        is_ok=pl.col("is_ok").any(),
    )
    return (
        blocks.join(ends, on=PROCESS)
        .filter(~pl.col("is_ok"), "is_whole")
        .with_columns(is_over=pl.col("last") < pl.col("end"))
        .sort("first")
    )


def _packets(results: Results) -> pl.DataFrame:
    """Returns the delivered packets with the times of their transport blocks.

    `first` is the start of a block with the packet's first byte. `last` and `decoded` belong to the
    block that completed the packet: the start of its first and of its successful transmission.
    """
    columns = ["bearer", "direction", "transmission_s", "harq_s", "rlc_s", "reordering_s"]
    waits = ["queue_s", "sr_wait_s", "grant_wait_s"]
    spans = {name[:-2]: nanoseconds(name) for name in (*columns[2:], *waits)}
    query = scan(results, "radio_delay").with_row_index("row")
    query = query.select("row", "bearer", "direction", at=nanoseconds("time_s"), **spans)
    rows = collect(query, "radio_delay")
    rows = rows.with_columns(
        decoded=pl.col("at") - pl.col("reordering") - pl.col("transmission")
    ).with_columns(last=pl.col("decoded") - pl.col("harq"))
    rows = rows.with_columns(first=pl.col("last") - pl.col("rlc"))
    waited = pl.col("queue") + pl.col("sr_wait") + pl.col("grant_wait")
    ues = _ues(results, rows["bearer"].unique().to_list())
    return rows.with_columns(
        entry=pl.col("first") - waited,
        ue=pl.col("bearer").replace_strict(ues, return_dtype=pl.String),
    ).select(
        "row", "bearer", "ue", "direction", "entry", "first", "last", "decoded", "transmission"
    )


def _ues(results: Results, bearers: list[str]) -> dict[str, str]:
    """Returns the UE of each bearer. The name of a second bearer of a UE is UE/NAME."""
    query = scan(results, "transport_blocks").select("ue").unique()
    known = set(collect(query, "transport_blocks")["ue"])
    return {name: name if name in known else name.rpartition("/")[0] for name in bearers}


def _link_repetitions(
    links: Links, results: Results, lost: pl.DataFrame, packets: pl.DataFrame
) -> set[Block]:
    """Links lost blocks with the blocks that repeated their packets. Returns the linked blocks."""
    split = set(collect(scan(results, "legs"), "legs")["bearer"])
    repeated = _repeated(lost, packets, split)
    if repeated.is_empty():
        return set()
    wanted = repeated.select("ue", "direction", at="last").unique()
    query = scan(results, "transport_blocks").filter(pl.col("round") == 0)
    query = query.select(*PROCESS, at=nanoseconds("time_s"))
    targets = collect(query.join(wanted.lazy(), on=["ue", "direction", "at"]), "transport_blocks")
    # With several carriers a UE has several blocks at one time.
    alone = targets.filter(pl.len().over("ue", "direction", "at") == 1)
    # After a change of cell PDCP repeats packets, and some of them had arrived in part.
    found = repeated.join(
        alone.rename({"process": "to_process"}),
        left_on=["cell", "ue", "direction", "last"],
        right_on=["cell", "ue", "direction", "at"],
    ).unique([*PROCESS, "lost_at", "last"], maintain_order=True)
    for row in found.iter_rows(named=True):
        number = next(links.numbers)
        links.block_starts[_block(row, row["lost_at"])].append(number)
        target = (row["cell"], row["ue"], row["direction"], row["to_process"], row["last"])
        links.block_ends[target].append(number)
        links.repeated += 1
    return {_block(row, row["lost_at"]) for row in found.iter_rows(named=True)}


def _repeated(lost: pl.DataFrame, packets: pl.DataFrame, split: set[str]) -> pl.DataFrame:
    """Returns packets whose first part was in a lost block, if there is only one such block.

    The legs of a bearer in `split` send packets out of order, so no order is used there.
    """
    pieces = []
    of_packet = [*PROCESS, "first", pl.col("last").alias("lost_at")]
    by_ue = lost.select(of_packet).partition_by("ue", "direction", as_dict=True)
    for (ue, direction), blocks in by_ue.items():
        own = packets.filter(pl.col("ue") == ue, pl.col("direction") == direction)
        exact = own.join(blocks.drop("ue", "direction"), on="first")
        pieces.append(_after(exact.filter(pl.len().over("row") == 1)))
        if own["bearer"].n_unique() == 1 and own["bearer"][0] not in split:
            pieces.append(_after(_overtaken(own, blocks)))
    return pl.concat(pieces).unique("row") if pieces else pl.DataFrame()


def _after(found: pl.DataFrame) -> pl.DataFrame:
    """Returns the packets whose last block was sent after the lost one."""
    found = found.filter(pl.col("last") > pl.col("lost_at"))
    return found.select("row", *PROCESS, "lost_at", "last")


def _overtaken(own: pl.DataFrame, blocks: pl.DataFrame) -> pl.DataFrame:
    """Returns packets of a bearer that packets behind them overtook, with the lost block.

    RLC numbers packets in the order of their entry. The columns have the latest block that carries
    the first part of a packet, which may be a repetition. So if the first part of a packet was sent
    after that of a packet behind it, it was sent before, too, and was lost. The lost block is
    between the blocks of the packets before and behind it.
    """
    own = own.sort("entry", "row")
    behind = pl.col("first").shift(-1).reverse().cum_min().reverse()
    own = own.with_columns(limit=behind).with_columns(
        is_late=(pl.col("first") > pl.col("limit")).fill_null(False)
    )
    before = pl.when("is_late").then(None).otherwise(pl.col("first")).shift(1).cum_max()
    own = own.with_columns(floor=before.forward_fill()).filter("is_late")
    starts = blocks["first"]
    own = own.with_columns(
        low=starts.search_sorted(own["floor"].fill_null(0), "left").cast(pl.Int64),
        high=starts.search_sorted(own["limit"], "right").cast(pl.Int64),
    ).filter(pl.col("high") - pl.col("low") == 1)
    chosen = blocks.with_row_index("low").with_columns(pl.col("low").cast(pl.Int64))
    return own.join(chosen.drop("first", "ue", "direction"), on="low")


def _link_deliveries(links: Links, failed: pl.DataFrame, packets: pl.DataFrame) -> None:
    """Links transport blocks that HARQ repeated with the packets that they completed."""
    decoded = failed.filter(pl.col("is_ok") & (pl.col("round") > 0))
    decoded = decoded.filter(pl.len().over("ue", "direction", "at") == 1)
    late = packets.filter(pl.col("decoded") > pl.col("last"))
    found = late.join(
        decoded, left_on=["ue", "direction", "decoded"], right_on=["ue", "direction", "at"]
    )
    for row in found.iter_rows(named=True):
        number = next(links.numbers)
        links.block_starts[_block(row, row["decoded"])].append(number)
        links.row_ends["radio_delay", row["row"]].append(number)
        links.delivered += 1


def _link_losses(
    links: Links, results: Results, lost: pl.DataFrame, packets: pl.DataFrame
) -> set[Block]:
    """Links lost blocks with the packets that were lost with them. Returns the linked blocks.

    The packets are lost when the receiver has tried to decode the last transmission.
    """
    query = scan(results, "radio_drops").with_row_index("row")
    query = query.filter(pl.col("cause") == "harq-failure")
    query = query.select("row", "bearer", "direction", at=nanoseconds("time_s"))
    drops = collect(query, "radio_drops")
    linked: set[Block] = set()
    if drops.is_empty() or lost.is_empty():
        return linked
    ues = _ues(results, drops["bearer"].unique().to_list())
    spans = packets.group_by("ue", "direction").agg(
        least=pl.col("transmission").min(), most=pl.col("transmission").max()
    )
    drops = drops.with_columns(ue=pl.col("bearer").replace_strict(ues, return_dtype=pl.String))
    found = (
        drops.join(spans, on=["ue", "direction"])
        .join(lost, on=["ue", "direction"])
        .filter((pl.col("at") - pl.col("last")).is_between(pl.col("least"), pl.col("most")))
        .filter(pl.len().over("row") == 1)
    )
    for row in found.iter_rows(named=True):
        number = next(links.numbers)
        linked.add(_block(row, row["last"]))
        links.block_starts[_block(row, row["last"])].append(number)
        links.row_ends["radio_drops", row["row"]].append(number)
        links.dropped += 1
    return linked


def _block(row: dict, at: int) -> Block:
    return row["cell"], row["ue"], row["direction"], row["process"], at
