"""Figures of the study of cars."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
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
from fadeout.studies.vehicular.runs import cuts
from fadeout.study import series
from fadeout.study.figures import WIDE_INCHES, legend_over, line_panels

STREETS_M = (-50, -25, 0, 25, 50)
"""Coordinates of the streets of the square on the map, metres."""


def rate_and_loss(records: Sequence[Mapping[str, Any]]) -> Figure:
    """Draws rate and loss by load, with a line for each network."""
    loads = [float(each) for each in dict.fromkeys(one["load_mbps"] for one in records)]
    lines = [{**one, "line": f"{one['standing_kind']}, {one['standing']}"} for one in records]
    drawn = {
        "Rate of all cars (Mbit/s)": series(lines, "line", value="rate_mbps"),
        "Lost to full buffers (%)": series(lines, "line", value="loss_pct"),
    }
    # Both buffers mostly give the same values, so the line of the larger one is wider.
    styles = [
        {
            "color": PALETTE[number // 2],
            "linestyle": "--" if number % 2 else "-",
            "linewidth": 1.0 if number % 2 else 2.4,
            "alpha": 1.0 if number % 2 else 0.5,
        }
        for number in range(4)
    ]
    x_label = "Load of all cars (Mbit/s)"
    figure = line_panels(drawn, loads, x_label=x_label, styles=styles, log="x")
    rate, _ = figure.axes
    rate.plot(loads, loads, color=STAMP, linewidth=0.6, linestyle=":")
    rate.set_yscale("log")
    rate.autoscale(axis="y")
    for ax in figure.axes:
        ax.tick_params(axis="x", rotation=45)
    return figure


def windows(
    panels_of: Mapping[str, Mapping[str, Results]],
    columns: int,
    *,
    share_y: bool | Literal["row"] = True,
    step_s: float,
) -> Figure:
    """Draws the window of the first flow over time: a panel for each title, a line for each run.

    Interruptions of the path that last at least `step_s` are shaded. Earlier lines are wider, so
    that equal lines are seen.
    """
    rows = len(panels_of) // columns
    size = (WIDE_INCHES, 0.55 * COLUMN_INCHES * rows)
    with new_grid(rows, columns, size=size, share_y=share_y) as (figure, panels):
        for ax, (title, of) in zip(panels, panels_of.items(), strict=True):
            first = next(iter(of.values()))
            flow = first.flows["flow"][0]
            car = first.manifest["scenario"]["flow"][flow]["to"]
            for start, end in cuts(first, car, step_s):
                # The minimum width of a line makes a deafness of some milliseconds visible.
                ax.axvspan(start, end, facecolor=BLOCKED, edgecolor=BLOCKED, linewidth=0.5)
            for number, (name, run) in enumerate(of.items()):
                samples = run.congestion.filter(run.congestion["flow"] == flow)
                ax.plot(
                    samples["time_s"],
                    samples["cwnd_segments"],
                    color=PALETTE[number],
                    # A window holds until the next sample.
                    drawstyle="steps-post",
                    linestyle=("-", "--", ":")[number],
                    linewidth=(1.8, 1.0, 1.0)[number] if len(of) > 1 else 0.8,
                    label=name,
                )
            ax.set_title(title, loc="left")
            ax.set_xlim(0, first.duration_s)
        # A limit ends autoscaling of all panels that share the axis.
        for ax in panels:
            ax.set_ylim(bottom=0)
        figure.supylabel("Window (segments)", fontsize=8)
        figure.supxlabel("Time (s)", fontsize=8)
        if len(next(iter(panels_of.values()))) > 1:
            legend_over(figure, panels[0])
    return figure


def maps(of: Mapping[str, Results]) -> Figure:
    """Draws units, obstacles and the tracks of the cars in each place."""
    with new_grid(2, 2, size=(0.85 * WIDE_INCHES, 0.9 * WIDE_INCHES)) as (figure, panels):
        for ax, (name, run) in zip(panels, of.items(), strict=True):
            _map(ax, run)
            ax.set_title(name, loc="left")
        handles: list[Line2D | Patch] = [
            Line2D([], [], marker="^", linestyle="", color=BLACK, label="unit"),
            Patch(facecolor=BUILDING, label="obstacle"),
            Line2D([], [], marker="o", linestyle="", markersize=3, color=BLUE, label="car, start"),
            Line2D([], [], color=BLUE, label="path"),
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
        hidden = np.where(own["behind_building"].fill_null(False).to_numpy(), east, np.nan)
        ax.plot(hidden, north, color=VERMILION, linewidth=3, solid_capstyle="butt", zorder=2)
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
            # Earlier lines are wider, so that equal distributions are seen.
            ax.ecdf(
                goodputs,
                label=name,
                color=PALETTE[number % len(PALETTE)],
                ls="--" if "LTE" in name else "-",
                lw=2.2 - 0.22 * number,
            )
        ax.set_xlabel("Goodput of a vehicle (Mbit/s)")
        ax.set_ylabel("Share of the vehicles")
        ax.set_ylim(0, 1)
        ax.set_xlim(left=0)
        legend_above(ax, columns=2)
    return figure
