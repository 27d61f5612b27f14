"""The console output of kernels during a run."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from fadeout.cli.console import err


def follow(folder: Path, nodes: Sequence[str]) -> Callable[[], None]:
    """Returns a function that prints the new console output of `nodes` since its last call.

    The logs belong to the run that writes to `folder`, which has a hidden name until the run ends.
    """
    read = dict.fromkeys(nodes, 0)

    def say() -> None:
        for node in nodes:
            log = _log(folder, node)
            if log is None:
                continue
            with log.open("rb") as file:
                file.seek(read[node])
                new = file.read()
            whole = new[: new.rfind(b"\n") + 1]
            read[node] += len(whole)
            for line in whole.decode(errors="replace").splitlines():
                # A guest may write control sequences, which a terminal would execute.
                clean = "".join(mark if mark.isprintable() else " " for mark in line).rstrip()
                if clean:
                    err().print(f"{node}: {clean}", markup=False, highlight=False)

    return say


def _log(folder: Path, node: str) -> Path | None:
    name = f"kernel-{node.replace('/', '-').replace(chr(92), '-')}.log"
    hidden = sorted(folder.absolute().parent.glob(f".{folder.name}.partial-{os.getpid()}*"))
    for place in (*hidden, folder):
        if (place / name).is_file():
            return place / name
    return None
