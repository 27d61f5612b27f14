"""Figures of the study on QUIC."""

from matplotlib.figure import Figure

from fadeout.plot.style import PALETTE, new_grid
from fadeout.studies.quic.runs import CONTROLS, NETWORKS, PAGE, TRANSPORTS
from fadeout.study import Found
from fadeout.study.figures import WIDE_INCHES, grouped_bars

COLUMNS = 3


def bars(found: Found, key: str, label: str) -> Figure:
    """Draws a number of each transport and congestion control, a panel for each network."""
    rows = -(-len(NETWORKS) // COLUMNS)
    with new_grid(rows, COLUMNS, size=(WIDE_INCHES, 2.6 * rows)) as (figure, panels):
        for number, (ax, network) in enumerate(zip(panels, NETWORKS, strict=False)):
            series = {
                transport.name: [
                    found.mean((network, transport, control), key) for control in CONTROLS
                ]
                for transport in TRANSPORTS
            }
            grouped_bars(ax, series, PALETTE)
            # An interval may reach below zero, which neither quantity does.
            ax.set_ylim(bottom=0)
            ax.set_title(PAGE.titles[network.name], loc="left", fontsize=9)
            names = [control.name for control in CONTROLS]
            ax.set_xticks(range(len(names)), names, rotation=30, ha="right", fontsize=8)
            if number % COLUMNS == 0:
                ax.set_ylabel(label)
        for ax in panels[len(NETWORKS) :]:
            ax.set_axis_off()
        handles, names = panels[0].get_legend_handles_labels()
        panels[len(NETWORKS)].legend(handles, names, loc="center left", fontsize=8)
    return figure
