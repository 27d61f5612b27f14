"""What each leg of a bearer with several carries over time."""

from collections.abc import Sequence

import polars as pl

from fadeout.plot.panels import Canvas, Panel
from fadeout.plot.style import HATCHES, PALETTE, VERMILION

BINS = 100
"""Bins over the run in which rates are averaged."""
LANE_BINS = 400
"""Bins over the axis in which a leg counts as used or not."""


def panel(ue: str, direction: str, legs: pl.DataFrame, *, is_share: bool = False) -> Panel:
    """The rate of a UE's blocks that arrived, one leg above the other, or each leg's share of it.

    `legs` are the rows of that table of its bearers.
    """
    legs = legs.filter(pl.col("direction") == direction)
    sums = legs.group_by("cell", maintain_order=True).agg(
        pl.col("packets", "copies", "discarded_packets").sum()
    )

    def draw(canvas: Canvas) -> None:
        blocks = canvas.read(
            "transport_blocks", "time_s", "cell", "ue", "direction", "size_bytes", "is_ok"
        )
        is_ours = (pl.col("ue") == ue) & (pl.col("direction") == direction) & pl.col("is_ok")
        blocks = blocks.filter(is_ours)
        width = canvas.end_s / BINS
        number = (pl.col("time_s") / width).floor().cast(pl.Int64).clip(0, BINS - 1)
        grid = pl.DataFrame({"bin": range(BINS)}, schema={"bin": pl.Int64})
        rates, labels = [], []
        total = int(sums["packets"].sum())
        for cell, packets, copies, discarded in sums.iter_rows():
            own = blocks.filter(pl.col("cell") == cell).group_by(number.alias("bin"))
            rate = own.agg((pl.col("size_bytes").sum() * 8 / width / 1e6).alias("mbps"))
            rate = grid.join(rate, on="bin", how="left").sort("bin").fill_null(0.0)
            rates.append(rate["mbps"].to_list())
            # Blocks of status reports carry no packets.
            told = [f"{100 * packets / total:.0f} %"] if total else ["no packets"]
            told += [f"{copies} copies"] if copies else []
            told += [f"{discarded} discarded"] if discarded else []
            labels.append(f"{cell}: {', '.join(told)}")
        unit = "Mbit/s"
        if is_share:
            rates, unit = _shares(rates), "%"
        canvas.ax.stackplot(
            [(at + 0.5) * width for at in range(BINS)],
            rates,
            labels=labels,
            colors=PALETTE[: len(rates)],
            hatch=HATCHES[: len(rates)],
            edgecolor="white",
            step="mid",
            linewidth=0,
        )
        canvas.ax.set_ylim(bottom=0, top=100 if is_share else None)
        canvas.finish(f"{direction.capitalize()} ({unit})", columns=1)

    return Panel(draw, "transport_blocks")


def _shares(rates: Sequence[Sequence[float]]) -> list[list[float]]:
    """Each leg's share of a bin in percent; none of it where nothing came."""
    totals = [sum(of_bin) for of_bin in zip(*rates, strict=True)]
    return [
        [100 * rate / total if total else 0.0 for rate, total in zip(leg, totals, strict=True)]
        for leg in rates
    ]


def lanes(ue: str, cells: Sequence[str]) -> Panel:
    """When each leg of a UE carried something, and what became of them: a lane a leg, and the UE's.

    `cells` are the legs' cells, the master's first. Failures of the secondary leg are crosses on
    the UE's lane when one side finds them, and bars on the master's when its base station knows.
    Of a secondary node that comes and goes, triangles on the UE's lane are when it has the leg and
    when it leaves it, and forks reports, commands and when it is told.
    """

    def draw(canvas: Canvas) -> None:
        blocks = canvas.read("transport_blocks", "time_s", "cell", "ue", "is_ok")
        blocks = blocks.filter("is_ok", pl.col("ue") == ue)
        low, high = (0.0, canvas.end_s) if canvas.window is None else canvas.window
        width = (high - low) / LANE_BINS
        number = ((pl.col("time_s") - low) / width).floor().cast(pl.Int64)
        names = ["UE", *reversed(cells)]
        for height, cell in enumerate(reversed(cells), start=1):
            own = blocks.filter(pl.col("cell") == cell, pl.col("time_s").is_between(low, high))
            used = own.select(number.unique().sort()).to_series().to_list()
            canvas.ax.broken_barh(
                [(low + at * width, width) for at in used],
                (height - 0.25, 0.5),
                color=PALETTE[list(cells).index(cell)],
                linewidth=0,
            )
        steps = canvas.read("rrc", "time_s", "ue", "event").with_columns(
            pl.col("ue", "event").cast(pl.String)
        )
        for event, height, marker, color in (
            ("secondary-failed", 0, "x", VERMILION),
            ("secondary-failure-known", len(cells), "|", "black"),
            ("report-received", len(cells), "1", VERMILION),
            ("reconfiguration-sent", len(cells), "4", VERMILION),
            ("secondary-command", 0, "3", VERMILION),
            ("secondary-added", 0, "^", "black"),
            ("secondary-released", 0, "v", "black"),
        ):
            times = steps.filter(ue=ue, event=event)["time_s"].to_list()
            # Steps that did not happen have no place in the legend.
            if not times:
                continue
            canvas.ax.plot(
                times,
                [height] * len(times),
                linestyle="none",
                marker=marker,
                markersize={"|": 14, "1": 9, "3": 9, "4": 9}.get(marker, 5),
                markeredgewidth=1.5,
                color=color,
                label=event.replace("-", " "),
                zorder=3,
            )
        canvas.finish("")
        canvas.ax.set_yticks(range(len(names)), names)
        canvas.ax.set_ylim(-0.5, len(names) - 0.4)

    return Panel(draw, "transport_blocks")
