"""Figures of the study of cars."""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from fadeout import _geometry, drives
from fadeout.plot.map import BUILDING, places
from fadeout.plot.style import (
    BLACK,
    BLOCKED,
    BLUE,
    COLUMN_INCHES,
    PALETTE,
    STAMP,
    VERMILION,
    legend_above,
    new_figure,
    new_grid,
)
from fadeout.results import Results
from fadeout.studies.vehicular.setups import MAIN, PLACES, Place
from fadeout.study import Estimate
from fadeout.study.figures import grouped_bars, line_with_intervals

STREETS_M = (-50, -25, 0, 25, 50)
"""Coordinates of the streets of the square on the map, metres."""

WIDE = (2.05 * COLUMN_INCHES, 0.75 * COLUMN_INCHES)


def throughput(of: Mapping[tuple[str, str], Sequence[Estimate]], loads: Sequence[float]) -> Figure:
    """Draws the throughput of all cars by load, with a panel for each place.

    `of` has estimates by place and sender.
    """
    with new_grid(1, len(PLACES), size=WIDE, share_y=True) as (figure, panels):
        for ax, place in zip(panels, PLACES, strict=True):
            for number, scheme in enumerate(MAIN):
                line_with_intervals(
                    ax,
                    loads,
                    of[place.name, scheme.name],
                    color=PALETTE[number],
                    marker="os^v"[number],
                    label=scheme.name,
                )
            ax.set_title(place.name, loc="left")
        panels[0].set_ylabel("Throughput of all cars (Mbit/s)")
        figure.supxlabel("Normalised load", fontsize=8)
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=len(MAIN))
    return figure


def round_trips(of: Mapping[tuple[str, str], Estimate]) -> Figure:
    """Draws the mean round-trip time, with a group of bars for each place."""
    with new_figure(height=COLUMN_INCHES * 0.66) as (figure, (ax,)):
        series = {scheme.name: [of[place.name, scheme.name] for place in PLACES] for scheme in MAIN}
        grouped_bars(ax, series, PALETTE)
        ax.set_xticks(range(len(PLACES)), [place.name.replace("-", "\n") for place in PLACES])
        ax.set_ylabel("Mean RTT (ms)")
        ax.set_ylim(bottom=0)
        legend_above(ax)
    return figure


def windows(runs: Sequence[Results], of: Sequence[Place]) -> Figure:
    """Draws the window of the first car over time, with a row for each place and a panel
    a sender.
    """
    size = (WIDE[0], 0.6 * COLUMN_INCHES * len(of))
    with new_grid(len(of), len(MAIN), size=size, share_y=True) as (figure, panels):
        names = [(place, scheme) for place in of for scheme in MAIN]
        for ax, run, (place, scheme) in zip(panels, runs, names, strict=True):
            flow = run.flows["flow"][0]
            rows = run.congestion.filter(run.congestion["flow"] == flow)
            ax.plot(rows["time_s"], rows["cwnd_segments"], color=PALETTE[0], linewidth=0.7)
            ax.set_title(f"{place.name}\n{scheme.name}", loc="left")
        figure.supylabel("Window (segments)", fontsize=8)
        figure.supxlabel("Time (s)", fontsize=8)
    return figure


def rate_and_loss(
    of: Mapping[str, Sequence[Mapping[str, Estimate]]], loads: Sequence[float]
) -> Figure:
    """Draws rate and loss by load, with a line for each network."""
    with new_grid(1, 2, size=(WIDE[0], 0.8 * COLUMN_INCHES)) as (figure, panels):
        looks = ((PALETTE[0], "-"), (PALETTE[0], "--"), (PALETTE[1], "-"), (PALETTE[1], "--"))
        for ax, key, label in (
            (panels[0], "rate_mbps", "Rate of all cars (Mbit/s)"),
            (panels[1], "loss_pct", "Lost to full buffers (%)"),
        ):
            for number, (name, values) in enumerate(of.items()):
                color, dashes = looks[number]
                line_with_intervals(
                    ax,
                    loads,
                    [value[key] for value in values],
                    color=color,
                    linestyle=dashes,
                    marker="os^v"[number],
                    label=name,
                )
            ax.set_xscale("log")
            ax.set_xlabel("Load of all cars (Mbit/s)")
            ax.set_ylabel(label)
        panels[0].plot(loads, loads, color=STAMP, linewidth=0.6, linestyle=":", label="all of it")
        panels[0].set_yscale("log")
        panels[1].set_ylim(bottom=0)
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=len(labels))
    return figure


def failing(panels_of: Mapping[tuple[str, str], Mapping[str, Results]], every_s: float) -> Figure:
    """Draws windows of one car: a row for each failure, a column for each link, a line a sender."""
    rows = len({title for title, _ in panels_of})
    size = (WIDE[0], 0.52 * COLUMN_INCHES * rows)
    with new_grid(rows, 2, size=size, share_y="row") as (figure, panels):
        for ax, ((title, link), of) in zip(panels, panels_of.items(), strict=True):
            first = next(iter(of.values()))
            for start, end in cuts(first, every_s):
                # The minimum width of a line makes a deafness of some milliseconds visible.
                ax.axvspan(start, end, facecolor=BLOCKED, edgecolor=BLOCKED, linewidth=0.5)
            for number, (sender, run) in enumerate(of.items()):
                ax.plot(
                    run.congestion["time_s"],
                    run.congestion["cwnd_segments"],
                    color=PALETTE[(0, 1, 2)[number]],
                    linestyle=("-", "--", ":")[number],
                    label=sender,
                )
            ax.set_title(f"{title}\n{link}", loc="left")
            ax.set_xlim(0, first.duration_s)
            ax.set_ylim(bottom=0)
        figure.supylabel("Window (segments)", fontsize=8)
        figure.supxlabel("Time (s)", fontsize=8)
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=len(labels))
    return figure


def cuts(run: Results, every_s: float) -> list[tuple[float, float]]:
    """Returns the interruptions of the path over the air, or over a relay's link."""
    if len(run.blockages):
        spans = run.blockages.filter(pl.col("start_s") < run.duration_s)
        spans = spans.select("start_s", pl.col("end_s").clip(0, run.duration_s)).unique()
        return spans.sort("start_s").rows()
    steps = drives.way(run, every_s).steps
    kinds = ["deafness", "blockage", "misalignment"]
    known = steps.select("time_s", pl.col("cause").is_in(kinds).fill_null(False).alias("cut"))
    pieces = known.with_columns(pl.col("cut").rle_id().alias("piece")).filter(pl.col("cut"))
    spans = pieces.group_by("piece", maintain_order=True).agg(
        pl.col("time_s").min().alias("start"), pl.col("time_s").max().alias("end")
    )
    return [(start, end + every_s) for start, end in spans.select("start", "end").rows()]


def maps(of: Mapping[str, Results]) -> Figure:
    """Draws units, obstacles and the tracks of the cars in each place."""
    side = 2.05 * COLUMN_INCHES
    with new_grid(2, 2, size=(0.85 * side, 0.9 * side)) as (figure, panels):
        for ax, (name, run) in zip(panels, of.items(), strict=True):
            _map(ax, run)
            ax.set_title(name, loc="left")
        handles: list[Line2D | Patch] = [
            Line2D([], [], marker="^", linestyle="", color=BLACK, label="unit"),
            Patch(facecolor=BUILDING, label="obstacle"),
            Line2D([], [], marker="o", linestyle="", markersize=3, color=BLUE, label="car, start"),
            Line2D([], [], color=BLUE, label="its way"),
            Line2D([], [], color=VERMILION, linewidth=3, label="behind an obstacle"),
        ]
        figure.legend(handles=handles, loc="outside upper center", ncols=len(handles))
        figure.supxlabel("East (m)", fontsize=8)
        figure.supylabel("North (m)", fontsize=8)
    return figure


def _map(ax: Axes, run: Results) -> None:
    scenario = run.manifest["scenario"]
    for (x0, y0), (x1, y1) in places(scenario).buildings:
        corner = (min(x0, x1), min(y0, y1))
        ax.add_patch(Rectangle(corner, abs(x1 - x0), abs(y1 - y0), facecolor=BUILDING, zorder=1))
    if any(
        isinstance(ue.get("mobility"), Mapping) and ue["mobility"]["model"] == "manhattan"
        for ue in scenario["ue"].values()
    ):
        for street in STREETS_M:
            ax.axvline(street, color=BLOCKED, linewidth=0.4, zorder=0)
            ax.axhline(street, color=BLOCKED, linewidth=0.4, zorder=0)
    way = drives.way(run, 0.05)
    tracks = _geometry.tracks(dict(scenario), every=0.05)
    steps = tracks.join(way.steps.select("time_s", "ue", "behind_building"), on=["time_s", "ue"])
    for _, own in steps.group_by("ue", maintain_order=True):
        east, north = own["x_m"].to_numpy(), own["y_m"].to_numpy()
        hidden = own["behind_building"].fill_null(False).to_numpy()
        ax.plot(
            np.where(hidden, east, np.nan),
            np.where(hidden, north, np.nan),
            color=VERMILION,
            linewidth=3,
            solid_capstyle="butt",
            zorder=2,
        )
        ax.plot(east, north, color=BLUE, linewidth=0.9, zorder=3)
        ax.plot(east[:1], north[:1], "o", color=BLUE, markersize=3, zorder=4)
    sites = {cell.place for cell in places(scenario).cells}
    ax.plot(*zip(*sorted(sites), strict=True), "^", color=BLACK, markersize=4, zorder=5)
    ax.set_aspect("equal")
    ax.grid(visible=False)
    ax.set_xlim(-58, 58)
    ax.set_ylim(-58, 58)


def shares(of: Mapping[str, Sequence[float]]) -> Figure:
    """Draws the distribution of the vehicles' goodput, with a line for each choice."""
    with new_figure(height=COLUMN_INCHES * 0.8) as (figure, (ax,)):
        for number, (name, goodputs) in enumerate(of.items()):
            share = [100 * (n + 1) / len(goodputs) for n in range(len(goodputs))]
            dashes = "--" if "LTE" in name else "-"
            color = PALETTE[number % len(PALETTE)]
            ax.step(sorted(goodputs), share, where="post", color=color, ls=dashes, label=name)
        ax.set_xlabel("Goodput of a vehicle (Mbit/s)")
        ax.set_ylabel("Vehicles (%)")
        ax.set_ylim(0, 100)
        ax.set_xlim(left=0)
        legend_above(ax, columns=2)
    return figure
