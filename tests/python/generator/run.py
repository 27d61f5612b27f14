"""Runs cases, and makes a scenario that fails as small as it can be."""

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from generator.mutate import Case
from generator.schema import Place

Job = dict[str, Any]

CPU_S = 4.0 if "FADEOUT_CASES" in os.environ else 1.0
"""Processor time after which a run is cut short: longer in a soak."""
HANG_S = 14.0
"""Processor time after which a case is a hang."""
WALL_S = 600.0
"""Time after which a case is ended on a machine that is loaded beyond use."""
TRIES = 150
"""Most runs that make one scenario smaller."""


@dataclass
class Verdict:
    """The judgement of a case."""

    kind: str
    """`ok`, `stopped` (cut short, and right until then), `refused` or `fault`."""
    text: str
    faults: list[str] = field(default_factory=list)
    unplaced: list[str] = field(default_factory=list)
    """Error messages of refused scenarios without a line and column."""
    message: str = ""
    cpu_s: float = 0.0
    memory_mb: float = 0.0
    events: int = 0


class Runner:
    """A server process that takes one job after another."""

    def __enter__(self) -> Self:
        here = Path(__file__).parents[1]
        paths = [str(here), *sys.path]
        self._server = subprocess.Popen(
            [sys.executable, "-m", "generator.server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join(path for path in paths if path),
                # A case has one processor, and a fork loses threads.
                "POLARS_MAX_THREADS": "1",
            },
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.communicate()

    def run(self, job: Job) -> Verdict:
        """Returns the verdict of a job."""
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        limits = {"cpu_s": CPU_S, "hang_s": HANG_S, "wall_s": WALL_S}
        self._server.stdin.write(json.dumps({**limits, **job}).encode() + b"\n")
        self._server.stdin.flush()
        answer = json.loads(self._server.stdout.readline())
        return Verdict(**answer)

    def text(self, text: str, *, again: bool = False) -> Verdict:
        """Returns the verdict of a scenario."""
        return self.run({"kind": "text", "text": text, "again": again})


def signature(fault: str) -> str:
    """Returns a fault without its numbers and names: faults of one kind are equal."""
    where = re.search(r"crates/[\w/.-]+\.rs", fault)
    line = fault.strip().splitlines()[0][:160]
    short = re.sub(r'"[^"]*"|`[^`]*`|[-+]?\d+(\.\d+)?(e[-+]?\d+)?', "#", line)
    short = re.sub(r"(flow|link|leg|cell|throughput of) \S+", r"\1 #", short)
    return f"{short} {where[0]}" if where else short


def shrink(runner: Runner, text: str, fault: str) -> str:
    """Returns a smaller scenario that has a fault of the same kind."""
    wanted, smallest, tries = signature(fault), tomllib.loads(text), 0
    again = "runs differ" in fault

    def fails(scenario: dict[str, Any]) -> bool:
        found = runner.text(Case(scenario, scenario).text(), again=again)
        return any(signature(one) == wanted for one in found.faults)

    goes_on = True
    while goes_on:
        goes_on = False
        for place in list(_places(smallest)):
            smaller = deepcopy(smallest)
            if not _drop(smaller, place):
                continue
            tries += 1
            if tries > TRIES:
                return Case(smallest, smallest).text()
            if fails(smaller):
                smallest, goes_on = smaller, True
    return Case(smallest, smallest).text()


def _places(table: Any, place: Place = ()) -> Iterator[Place]:
    """Yields places, whole tables before their keys."""
    pairs = table.items() if isinstance(table, dict) else enumerate(table)
    for key, item in list(pairs):
        yield (*place, key)
        if isinstance(item, dict | list):
            yield from _places(item, (*place, key))


def _drop(scenario: Any, place: Place) -> bool:
    """Removes the value at a place. Returns False if there is none any more."""
    for key in place[:-1]:
        try:
            scenario = scenario[key]
        except (KeyError, IndexError, TypeError):
            return False
    try:
        del scenario[place[-1]]
    except (KeyError, IndexError, TypeError):
        return False
    return True


def report(runner: Runner, verdict: Verdict, replay: str) -> str:
    """Returns the message of a failing test: the faults, the command, and the shrunk scenario."""
    small = shrink(runner, verdict.text, verdict.faults[0])
    faults = "\n".join(fault[:1500] for fault in verdict.faults)
    return f"{faults}\nreplay with: {replay}\nthe smallest scenario that fails so:\n\n{small}"
