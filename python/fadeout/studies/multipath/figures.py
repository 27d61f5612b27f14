"""Figures of the multipath study."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import polars as pl
from matplotlib.figure import Figure

from fadeout.plot.style import (
    BLACK,
    BLUE,
    COLUMN_INCHES,
    GREEN,
    ORANGE,
    PALETTE,
    SKY,
    VERMILION,
    legend_above,
    new_figure,
    new_grid,
)
from fadeout.studies.multipath.runs import (
    COUPLINGS,
    DISTANCES_M,
    RANGES,
    SECOND,
    SINGLE,
    Setup,
)
from fadeout.study import Change
from fadeout.study.figures import WIDE_INCHES, grouped_bars, legend_over

if TYPE_CHECKING:
    from fadeout.results import Results
    from fadeout.studies.multipath.runs import Point
    from fadeout.study import Estimate

PAPER = "#CCCCCC"
"""Shade of the paper's ranges."""

NAMES = {"lia": "LIA", "olia": "OLIA", "balia": "BALIA", "coupled-cubic": "coupled CUBIC"}


def gain_and_rtt(gains: Mapping["Point", "Estimate"], rtts: Mapping["Point", "Estimate"]) -> Figure:
    """Draws gain above round-trip time, with a column for each second path.

    There is a group of bars for each distance.
    """
    size = (WIDE_INCHES, 1.15 * COLUMN_INCHES)
    with new_grid(2, len(SECOND), size=size, share_y="row") as (figure, panels):
        for column, second in enumerate(SECOND):
            setups = {"28 GHz alone": SINGLE} | {
                NAMES.get(coupling, coupling): Setup(second, coupling) for coupling in COUPLINGS
            }
            for row, shown in enumerate((gains, rtts)):
                ax = panels[row * len(SECOND) + column]
                series = {
                    # The gain of the single path is 1, so it has no bar.
                    name: [
                        None if setup is SINGLE and shown is gains else shown.get((distance, setup))
                        for distance in DISTANCES_M
                    ]
                    for name, setup in setups.items()
                }
                grouped_bars(ax, series, (BLACK, BLUE, ORANGE, GREEN, SKY, VERMILION))
                if shown is gains:
                    ax.axhline(1, color="black", linewidth=0.8)
                ax.set_xticks(range(len(DISTANCES_M)), [f"{d} m" for d in DISTANCES_M])
                ax.set_xlim(-0.5, len(DISTANCES_M) - 0.5)
            panels[column].set_title(f"28 GHz + {second}", loc="left")
        # Setting a limit ends autoscaling. As columns share their axis, it follows the last column.
        for ax in panels:
            ax.set_ylim(bottom=0)
        panels[0].set_ylabel("Goodput over 28 GHz alone")
        panels[len(SECOND)].set_ylabel("Mean RTT (ms)")
        for ax in panels[len(SECOND) :]:
            ax.set_xlabel("Distance")
        legend_over(figure, panels[len(SECOND)])
        figure.align_ylabels()
    return figure


def inside(runs: Mapping[str, "Results"]) -> Figure:
    """Draws one run of each variant over time: LTE's delay, 28 GHz's load, and ordered data."""
    with new_figure(width=1.5 * COLUMN_INCHES, height=1.35 * COLUMN_INCHES, rows=3) as (
        figure,
        (delay, flight, goodput),
    ):
        for number, (name, results) in enumerate(runs.items()):
            style = {"color": PALETTE[number], "linewidth": 0.9, "label": name}
            rows = results.congestion.with_columns(pl.col("flow").cast(pl.String))
            lte = rows.filter(pl.col("flow") == "download/1")
            delay.plot(lte["time_s"], 1e3 * lte["srtt_s"], **style)
            mmwave = rows.filter(pl.col("flow") == "download/0")
            flight.plot(mmwave["time_s"], mmwave["in_flight_segments"] / 1e3, **style)
            rates = results.throughput.filter(pl.col("flow").cast(pl.String) == "download")
            goodput.plot(rates["time_s"], rates["rate_mbps"], drawstyle="steps-pre", **style)
        delay.set_ylabel("LTE RTT (ms)")
        flight.set_ylabel("In flight, 28 GHz\n(1000 segments)")
        goodput.set_ylabel("In order (Mbit/s)")
        goodput.set_xlabel("Time (s)")
        for ax in (delay, flight, goodput):
            ax.set_ylim(bottom=0)
            ax.set_xlim(0, max(results.duration_s for results in runs.values()))
        legend_above(delay)
        figure.align_ylabels()
    return figure


LARGEST = 3.2
"""Largest gain that is drawn. Larger ones are at the edge, with their value."""


def sweep(shown: Mapping[Change, Mapping["Point", "Estimate"]]) -> Figure:
    """Draws the gains of the claims, with a panel for each claim and a line for each assumption."""
    changes = list(shown)
    size = (WIDE_INCHES, 0.155 * len(changes) + 0.6)
    with new_grid(1, len(RANGES), size=size, share_y=True) as (figure, panels):
        for ax, (point, (low, high)) in zip(panels, RANGES.items(), strict=True):
            ax.axvspan(low, high, color=PAPER, alpha=0.6, linewidth=0)
            base = shown[changes[0]][point].mean
            ax.axvline(base, color="black", linewidth=0.8, linestyle=(0, (1, 1.5)))
            for row, change in enumerate(changes):
                value = shown[change][point]
                if value.mean > LARGEST:
                    ax.annotate(
                        f"{value.mean:.1f} →", (LARGEST, row), ha="right", va="center", fontsize=6
                    )
                    continue
                ax.errorbar(
                    value.mean,
                    row,
                    xerr=value.half_width,
                    color=BLUE if row else BLACK,
                    marker="o",
                    markersize=2.5,
                    elinewidth=0.7,
                    capsize=1.2,
                )
            distance, setup = point
            ax.set_title(f"{setup.added}\n{distance} m", loc="left")
            ax.set_xlim(0, LARGEST)
            ax.set_xticks(range(int(LARGEST) + 1))
            ax.grid(visible=True, axis="x")
            ax.grid(visible=False, axis="y")
        panels[0].set_yticks(range(len(changes)), [change.name for change in changes])
        panels[0].set_ylim(len(changes) - 0.4, -0.6)
        figure.supxlabel("Goodput over 28 GHz alone", fontsize=8)
    return figure
