"""Runs scenario files as the random tests do.

`PYTHONPATH=tests/python python -m generator FILE`.
"""

import sys
from pathlib import Path

from generator import run


def main(paths: list[str]) -> int:
    """Prints the verdict of each file. Returns 1 if one has a fault."""
    faults = 0
    with run.Runner() as runner:
        for path in paths:
            verdict = runner.text(Path(path).read_text(), again=True)
            faults += bool(verdict.faults)
            lines = [f"{path}: {verdict.kind}, {verdict.cpu_s:.2f} s of processor time"]
            lines += verdict.faults or ([verdict.message] if verdict.message else [])
            sys.stdout.write("\n".join(lines) + "\n")
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
