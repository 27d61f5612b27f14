"""Both sides in one figure: rates, windows and round-trip times over time."""

from pathlib import Path

from fadeout.results import Results
from fadeout.validate.beside import draw_beside
from fadeout.validate.kernel.measured import rate, series
from fadeout.validate.kernel.runs import run_side
from fadeout.validate.kernel.scenario import Sides

SEED = 1
"""Seed of the runs that are drawn."""


def draw(
    pair: Sides,
    path: Path,
    *,
    kernel: str = "6.12",
    theirs: Results | None = None,
    ours: Results | None = None,
) -> list[Path]:
    """Draws both sides of a scenario, with one figure for each flow or path.

    Args:
        pair: both sides of the scenario.
        path: the file of the first figure. Others have the name of the flow or path appended.
        kernel: the version that the legend names.
        theirs: the kernel's run of the first seed, if it exists already.
        ours: fadeout's run of the first seed, if it exists already.
    """
    theirs = theirs or run_side(pair, pair.kernel, SEED, None)
    ours = ours or run_side(pair, pair.ours, SEED, None)
    path.parent.mkdir(parents=True, exist_ok=True)
    of_flow = dict(ours.paths.select("path", "flow").iter_rows())
    multipath = set(of_flow.values())
    starts = dict(ours.flows.select("flow", "start_s").iter_rows())
    # A figure shows only the first flow of a `count` or of `arrivals`.
    drawn = [names[0] for names in pair.members(starts).values() if names]
    names = [name for name in drawn if name not in multipath]
    names += [path for path, flow in of_flow.items() if flow in drawn]
    files = []
    for name in names:
        start_s = starts[of_flow.get(name, name)]
        suffix = "" if name == names[0] else "-" + name.replace("/", "-")
        file = path.with_name(f"{path.stem}{suffix}{path.suffix}")
        draw_beside(
            file,
            series(theirs, name, start_s, is_told=True),
            series(ours, name, start_s),
            ours,
            kernel=kernel,
            end_s=ours.duration_s,
            rates=(rate(theirs, name), rate(ours, name)),
        )
        files.append(file)
    return files
