"""Runs every check of the project in two lanes, and prints the time that each stage took.

The first lane runs cargo. The second waits for the built module and checks Python and the
documentation. On two cores the lanes fill each other's pauses. A failure ends both.
"""

import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]

RUST = (
    "check-format",
    "check-commits",
    "check-licences",
    "build",
    "check-lint",
    "check-rust",
    "check-packaging",
)
"""Stages of cargo, in order. `build` comes early, as the other lane waits for it."""

PYTHON = ("check-prose", "check-types", "check-docs", "check-python", "check-rust-docs")
"""Stages of the other lane, in order. All but the first two need the built module."""

AFTER_BUILD = {"check-docs", "check-python"}


class Lane:
    """A sequence of stages, with the time of each."""

    def __init__(
        self, stages: tuple[str, ...], built: threading.Event, stop: threading.Event
    ) -> None:
        self.stages = stages
        self.failed: str | None = None
        self._built = built
        self._stop = stop

    def run(self) -> None:
        """Runs the stages until one fails or the other lane stops."""
        for stage in self.stages:
            while stage in AFTER_BUILD and not self._built.wait(0.2):
                if self._stop.is_set():
                    return
            if self._stop.is_set():
                return
            if not self._run(stage):
                self.failed = stage
                self._stop.set()
                return
            if stage == "build":
                self._built.set()

    def _run(self, stage: str) -> bool:
        began = time.monotonic()
        with tempfile.TemporaryFile() as output:
            make = subprocess.Popen(
                ["make", "--no-print-directory", stage],
                cwd=ROOT,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            while (ended := os.wait4(make.pid, os.WNOHANG))[0] == 0:
                if self._stop.wait(0.2):
                    os.killpg(make.pid, signal.SIGTERM)
                    os.wait4(make.pid, 0)
                    return True
            output.seek(0)
            printed = output.read().decode(errors="replace")
        _, status, used = ended
        times = (time.monotonic() - began, used.ru_utime + used.ru_stime)
        make.returncode = os.waitstatus_to_exitcode(status)
        say(stage, times, printed, failed=make.returncode != 0)
        return make.returncode == 0


PRINTING = threading.Lock()


def say(stage: str, times: tuple[float, float], output: str, *, failed: bool) -> None:
    """Prints the real time and the processor time of a stage in s, and its output."""
    with PRINTING:
        mark = "FAILED" if failed else "passed"
        took, used = times
        print(f"== {stage}: {mark} after {took:.0f} s, {used:.0f} s of a processor", flush=True)
        if output.strip():
            print(output.rstrip(), flush=True)


def main() -> int:
    """Runs both lanes and returns the exit status."""
    began = time.monotonic()
    built, stop = threading.Event(), threading.Event()
    lanes = [Lane(RUST, built, stop), Lane(PYTHON, built, stop)]
    threads = [threading.Thread(target=lane.run) for lane in lanes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    failed = [lane.failed for lane in lanes if lane.failed]
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    minutes = (time.monotonic() - began) / 60
    cpu = (used.ru_utime + used.ru_stime) / 60
    print(f"== all stages: {minutes:.1f} minutes, {cpu:.1f} minutes of a processor")
    if failed:
        print(f"failed: {', '.join(failed)}. `make {failed[0]}` runs it alone.")
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
