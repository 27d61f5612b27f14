"""Both sides in one figure: windows and round-trip times over time."""

from pathlib import Path

from fadeout._run import Overrides, Source
from fadeout.plot.panels import shade_blockages
from fadeout.plot.style import BLUE, VERMILION, legend_above, new_figure
from fadeout.validate.kernel.measured import series
from fadeout.validate.kernel.runs import run_side
from fadeout.validate.kernel.scenario import sides


def draw(
    source: Source,
    folder: Path,
    *,
    kernel: str = "6.12",
    seed: int = 1,
    set: Overrides | None = None,  # noqa: A002
) -> list[Path]:
    """Draw window and round-trip time of both sides, a figure a flow, into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    pair = sides(source, kernel=kernel, set=set)
    theirs, ours = (run_side(pair, text, seed, None) for text in (pair.kernel, pair.ours))
    paths = []
    for name, start_s in pair.start(seed).items():
        with new_figure(height=3.4, rows=2) as (figure, (window, rtt)):
            for results, label, color, width in (
                (theirs, f"Linux {kernel}", VERMILION, 1.6),
                (ours, "fadeout", BLUE, 0.9),
            ):
                rows = series(results, name, start_s)
                style = {"color": color, "linewidth": width, "label": label}
                window.plot(rows["time_s"], rows["cwnd_segments"], **style)
                rtt.plot(rows["time_s"], rows["srtt_s"] * 1e3, **style)
            for ax, axis in ((window, "Window (segments)"), (rtt, "Smoothed RTT (ms)")):
                ax.set_ylabel(axis)
                ax.set_ylim(bottom=0)
                shade_blockages(ax, ours, label=ax is window)
            window.set_xlim(0, ours.duration_s)
            rtt.set_xlabel("Time (s)")
            legend_above(window)
        path = folder / f"{name}.png"
        figure.savefig(path)
        paths.append(path)
    return paths
