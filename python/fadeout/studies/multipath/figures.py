"""Figures of the multipath study."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from fadeout.plot.style import COLUMN_INCHES, PALETTE, new_grid
from fadeout.studies.multipath.setups import COUPLINGS, DISTANCES_M, SECOND, SINGLE, Setup

if TYPE_CHECKING:
    from fadeout.study import Estimate


def goodput_and_rtt(shown: Mapping[tuple[int, Setup], tuple["Estimate", "Estimate"]]) -> Figure:
    """Goodput above the round-trip time, a column a second path, a group of bars a distance."""
    width = 0.84 / (1 + len(COUPLINGS))
    with new_grid(2, len(SECOND), size=(2.05 * COLUMN_INCHES, 1.1 * COLUMN_INCHES)) as (
        figure,
        panels,
    ):
        for column, second in enumerate(SECOND):
            setups = (SINGLE, *(Setup(second, coupling) for coupling in COUPLINGS))
            for row in range(2):
                ax = panels[row * len(SECOND) + column]
                for number, setup in enumerate(setups):
                    values = [shown[distance, setup][row] for distance in DISTANCES_M]
                    ax.bar(
                        [place - 0.42 + width * (number + 0.5) for place in range(len(values))],
                        [value.mean for value in values],
                        width * 0.9,
                        yerr=[
                            [min(value.half_width, value.mean) for value in values],
                            [value.half_width for value in values],
                        ],
                        error_kw={"linewidth": 0.6, "capsize": 1.2},
                        color=(PALETTE[6], *PALETTE[:5])[number],
                        label="28 GHz alone" if setup is SINGLE else setup.coupling,
                    )
                ax.grid(visible=False, axis="x")
                ax.set_ylim(bottom=0)
                ax.set_xticks(range(len(DISTANCES_M)), [f"{d} m" for d in DISTANCES_M])
            panels[column].set_title(f"28 GHz + {second}", loc="left")
        panels[0].set_ylabel("Goodput (Mbit/s)")
        panels[len(SECOND)].set_ylabel("Mean RTT (ms)")
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=len(labels))
    return figure
