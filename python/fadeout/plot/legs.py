"""Panels of the traffic on each leg of a split bearer over time."""

from collections.abc import Sequence

import polars as pl

from fadeout.plot.cells import cell_colors
from fadeout.plot.panels import Canvas, Panel
from fadeout.plot.style import HATCHES, VERMILION

BINS = 100
"""Number of time bins of a run in which rates are averaged."""
LANE_BINS = 400
"""Number of time bins of the axis in which a leg counts as used or not."""


def panel(ue: str, direction: str, legs: pl.DataFrame, *, is_share: bool = False) -> Panel:
    """Returns a panel with the stacked rates of a UE's legs, or with each leg's share.

    Rates are of transport blocks that arrived. `legs` are the rows of the table `legs` for the UE's
    bearers.
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
        palette = cell_colors(canvas.results)
        rates, labels = [], []
        total = int(sums["packets"].sum())
        for cell, packets, copies, discarded in sums.iter_rows():
            own = blocks.filter(pl.col("cell") == cell).group_by(number.alias("bin"))
            rate = own.agg((pl.col("size_bytes").sum() * 8 / width / 1e6).alias("mbps"))
            rate = grid.join(rate, on="bin", how="left").sort("bin").fill_null(0.0)
            rates.append(rate["mbps"].to_list())
            # The legend counts packets, as blocks of status reports carry none.
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
            colors=[palette[cell] for cell in sums["cell"]],
            hatch=HATCHES[: len(rates)],
            edgecolor="white",
            step="mid",
            linewidth=0,
        )
        canvas.ax.set_ylim(bottom=0, top=100 if is_share else None)
        canvas.finish(f"{direction.capitalize()} ({unit})", columns=1)

    return Panel(draw, "transport_blocks")


def _shares(rates: Sequence[Sequence[float]]) -> list[list[float]]:
    """Returns each leg's share of each bin in percent. 0 if nothing arrived in the bin."""
    totals = [sum(of_bin) for of_bin in zip(*rates, strict=True)]
    return [
        [100 * rate / total if total else 0.0 for rate, total in zip(leg, totals, strict=True)]
        for leg in rates
    ]


def lanes(ue: str, cells: Sequence[str]) -> Panel:
    """Returns a panel with a lane for each leg, coloured while it carries data, and one for the UE.

    `cells` are the legs' cells, the master's first. A failure of the secondary leg is a cross on
    the UE's lane. It is a bar on the master's lane when the base station learns of it. If the
    secondary node changes, triangles on the UE's lane mark its addition and release. Tripods mark
    reports, reconfigurations sent, and commands that the UE received.
    """

    def draw(canvas: Canvas) -> None:
        blocks = canvas.read("transport_blocks", "time_s", "cell", "ue", "is_ok")
        blocks = blocks.filter("is_ok", pl.col("ue") == ue)
        low, high = (0.0, canvas.end_s) if canvas.window is None else canvas.window
        width = (high - low) / LANE_BINS
        number = ((pl.col("time_s") - low) / width).floor().cast(pl.Int64)
        names = ["UE", *reversed(cells)]
        palette = cell_colors(canvas.results)
        for height, cell in enumerate(reversed(cells), start=1):
            own = blocks.filter(pl.col("cell") == cell, pl.col("time_s").is_between(low, high))
            used = own.select(number.unique().sort()).to_series().to_list()
            canvas.ax.broken_barh(
                [(low + at * width, width) for at in used],
                (height - 0.25, 0.5),
                color=palette[cell],
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
            # The legend omits steps that did not happen.
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
