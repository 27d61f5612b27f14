"""Both sides in one figure: windows and round-trip times over time."""

from pathlib import Path

from fadeout._run import Overrides, Source
from fadeout.validate.beside import draw_beside
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
        path = folder / f"{name}.png"
        draw_beside(
            path,
            series(theirs, name, start_s),
            series(ours, name, start_s),
            ours,
            kernel=kernel,
            end_s=ours.duration_s,
        )
        paths.append(path)
    return paths
