"""Figures of the study on QUIC."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from fadeout.plot.style import PALETTE, new_grid
from fadeout.studies.quic.setups import CONTROLS, NETWORKS, TRANSPORTS
from fadeout.study import Numbers, estimate
from fadeout.study.figures import WIDE_INCHES, grouped_bars

if TYPE_CHECKING:
    from fadeout.studies.quic.study import Point

COLUMNS = 3


def goodput(found: "Mapping[Point, list[Numbers]]") -> Figure:
    """Draws the goodput of each transport and congestion control, a panel for each network."""
    return _bars(found, "goodput_mbps", "Goodput (Mbit/s)")


def silence(found: "Mapping[Point, list[Numbers]]") -> Figure:
    """Draws the longest time without data, a panel for each network."""
    return _bars(found, "silence_ms", "Longest silence (ms)")


def _bars(found: "Mapping[Point, list[Numbers]]", key: str, label: str) -> Figure:
    rows = -(-len(NETWORKS) // COLUMNS)
    with new_grid(rows, COLUMNS, size=(WIDE_INCHES, 2.6 * rows)) as (figure, panels):
        for number, (ax, network) in enumerate(zip(panels, NETWORKS, strict=False)):
            series = {
                transport.name: [
                    estimate([each[key] for each in values])
                    for point, values in found.items()
                    if point.network == network and point.transport == transport
                ]
                for transport in TRANSPORTS
            }
            grouped_bars(ax, series, PALETTE)
            # An interval may reach below zero, which neither quantity does.
            ax.set_ylim(bottom=0)
            ax.set_title(network.title, loc="left", fontsize=9)
            names = [control.name for control in CONTROLS]
            ax.set_xticks(range(len(names)), names, rotation=30, ha="right", fontsize=8)
            if number % COLUMNS == 0:
                ax.set_ylabel(label)
        for ax in panels[len(NETWORKS) :]:
            ax.set_axis_off()
        handles, names = panels[0].get_legend_handles_labels()
        panels[len(NETWORKS)].legend(handles, names, loc="center left", fontsize=8)
    return figure
