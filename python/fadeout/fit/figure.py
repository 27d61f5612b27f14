"""A figure of a measurement and the fitted run."""

from pathlib import Path

from fadeout.fit.course import SEGMENTS, Course
from fadeout.plot.style import BLUE, VERMILION, legend_above, new_figure


def draw(path: Path, observed: Course, fitted: Course) -> None:
    """Draws the measured quantities and those of the fitted run into the file `path`."""
    panels = _panels(observed, fitted)
    with new_figure(height=1.7 * len(panels), rows=len(panels)) as (figure, rows):
        for ax, (label, measured, ours) in zip(rows, panels, strict=True):
            ax.plot(observed.time_s, measured, label="measured", color=VERMILION, linewidth=1.6)
            ax.plot(fitted.time_s, ours, label="fitted run", color=BLUE, linewidth=0.9)
            ax.set_ylabel(label)
            ax.set_ylim(bottom=0)
        rows[-1].set_xlabel(f"Time since the {observed.zero} of the flow (s)")
        legend_above(rows[0])
        figure.savefig(path)


def _panels(observed: Course, fitted: Course) -> list[tuple]:
    """Returns the label, the measured and the simulated values of each panel."""
    unit = "segments" if observed.window_unit == SEGMENTS else "kB"
    factor = 1.0 if observed.window_unit == SEGMENTS else 1e-3
    both = (
        ("Round trip (ms)", observed.round_trip_s, fitted.round_trip_s, 1e3),
        (f"Window ({unit})", observed.window, fitted.window, factor),
        ("Data per trip (kB)", observed.per_trip_bytes, fitted.per_trip_bytes, 1e-3),
        ("Delivered (MB)", observed.delivered_bytes, fitted.delivered_bytes, 1e-6),
    )
    return [
        (label, measured * scale, ours * scale)
        for label, measured, ours, scale in both
        if measured is not None and ours is not None
    ]
