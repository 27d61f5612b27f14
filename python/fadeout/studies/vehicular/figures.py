"""Figures of the study of cars."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from fadeout.plot.style import COLUMN_INCHES, PALETTE, legend_above, new_figure, new_grid
from fadeout.results import Results
from fadeout.studies.vehicular.setups import MAIN, PLACES, Place
from fadeout.study import Estimate
from fadeout.study.figures import grouped_bars, line_with_intervals

WIDE = (2.05 * COLUMN_INCHES, 0.75 * COLUMN_INCHES)


def throughput(of: Mapping[tuple[str, str], Sequence[Estimate]], loads: Sequence[float]) -> Figure:
    """Aggregate throughput over load, a panel a place; `of` is by place and sender."""
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
    """Mean round-trip time, a group of bars a place."""
    with new_figure(height=COLUMN_INCHES * 0.66) as (figure, (ax,)):
        series = {scheme.name: [of[place.name, scheme.name] for place in PLACES] for scheme in MAIN}
        grouped_bars(ax, series, PALETTE)
        ax.set_xticks(range(len(PLACES)), [place.name.replace("-", "\n") for place in PLACES])
        ax.set_ylabel("Mean RTT (ms)")
        ax.set_ylim(bottom=0)
        legend_above(ax)
    return figure


def windows(runs: Sequence[Results], places: Sequence[Place]) -> Figure:
    """Windows of the first car over time: a row a place, a panel a sender."""
    size = (WIDE[0], 0.6 * COLUMN_INCHES * len(places))
    with new_grid(len(places), len(MAIN), size=size, share_y=True) as (figure, panels):
        names = [(place, scheme) for place in places for scheme in MAIN]
        for ax, run, (place, scheme) in zip(panels, runs, names, strict=True):
            flow = run.flows["flow"][0]
            rows = run.congestion.filter(run.congestion["flow"] == flow)
            ax.plot(rows["time_s"], rows["cwnd_segments"], color=PALETTE[0], linewidth=0.7)
            ax.set_title(f"{place.name}\n{scheme.name}", loc="left")
        figure.supylabel("Window (segments)", fontsize=8)
        figure.supxlabel("Time (s)", fontsize=8)
    return figure
