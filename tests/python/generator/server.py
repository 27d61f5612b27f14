"""A process that forks for each case, so that a fault or a limit ends that case alone.

Jobs come in and verdicts go out as JSON, one a line. The process never runs a scenario itself, so
it has no threads that a fork would lose.
"""

import json
import os
import resource
import select
import signal
import sys
import tempfile
import time
import tomllib
import traceback
import warnings
from collections.abc import Sequence
from typing import Any

import fadeout
from generator import invariants, limits
from generator.bases import all_bases
from generator.features import compose
from generator.mutate import Case, mutated

MEMORY = 4 << 30
"""Most bytes of address space of a case."""
REPAIRS = 60
"""Most refusals of a case that are repaired."""
Message = dict[str, Any]


def cases(job: Message) -> list[Case]:
    """Returns the case of a job, or several cases. The first accepted case is run."""
    if job["kind"] == "mutated":
        return [mutated(job["seed"])]
    if job["kind"] == "pairs":
        scenario = compose(job["choices"])
        return [Case(scenario, scenario)]
    if job["kind"] == "limits":
        leaf = limits.leaves()[job["leaf"]]
        return [limits.case_of(leaf, job["seed"], attempt) for attempt in range(4)]
    scenario = tomllib.loads(job["text"])
    return [Case(scenario, scenario)]


def examine(job: Message) -> Message:
    """Returns the verdict of a job: the scenario that was run, and its faults."""
    verdict: Message = {"kind": "refused", "faults": [], "unplaced": [], "text": ""}
    for case in cases(job):
        for _ in range(REPAIRS):
            # The text given is that with the lines of the user.
            verdict["text"] = job.get("text") or case.text()
            write(verdict)
            errors = _try(verdict, job)
            if errors is None:
                return verdict
            lines = [error["line"] for error in errors]
            if not lines or None in lines or any(error["column"] is None for error in errors):
                verdict["unplaced"].append(verdict["message"])
            if "text" in job or not case.repair(lines):
                break
    return verdict


def _try(verdict: Message, job: Message) -> Sequence[Any] | None:
    """Runs the text of a verdict. Returns the errors of a refusal, `None` if it was accepted."""
    text, budget = verdict["text"], job["cpu_s"]
    began = time.process_time()

    def goes_on(_: Message) -> bool:
        # A scenario with too much to do is cut short, and judged by the results until then.
        return time.process_time() - began < budget

    try:
        results = fadeout.run(text, progress=goes_on)
        verdict["kind"] = "ok" if results.is_complete else "stopped"
        verdict["events"] = results.tables["summary"]["events"][0]
        verdict["faults"] += invariants.broken(tomllib.loads(text), results)
        is_short = time.process_time() - began < job["hang_s"] / 10
        if job.get("again") and results.is_complete and is_short:
            again = fadeout.run(text, threads=job.get("threads"))
            verdict["faults"] += invariants.differences(results, again)
    except fadeout.ScenarioError as error:
        verdict["message"] = str(error)
        return error.errors
    except fadeout.FadeoutError as error:
        verdict["faults"].append(f"{type(error).__name__}: {error}")
    except Exception as error:  # noqa: BLE001  every exception is what the test looks for
        verdict["faults"].append(f"{type(error).__name__}: {error}\n{traceback.format_exc()}")
    if verdict["faults"]:
        verdict["kind"] = "fault"
    return None


_pipe = -1


def write(message: Message) -> None:
    """Sends a message from the case to the server. The last whole one counts."""
    data = json.dumps(message, default=str).encode() + b"\n"
    while data:
        data = data[os.write(_pipe, data) :]


def fork(job: Message) -> Message:
    """Runs a job in a child with limits, and returns its verdict."""
    global _pipe
    reading, _pipe = os.pipe()
    with tempfile.TemporaryFile() as errors:
        child = os.fork()
        if child == 0:
            try:
                os.close(reading)
                os.dup2(errors.fileno(), 2)
                seconds = int(job["hang_s"])
                resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
                resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
                resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
                write(examine(job))
            except BaseException as error:  # noqa: BLE001  nothing may leave the child
                os.write(2, f"the generator itself: {error!r} {traceback.format_exc()}".encode())
                os._exit(3)
            os._exit(0)
        os.close(_pipe)
        lines = _read(reading, child, job["wall_s"])
        _, status, usage = os.wait4(child, 0)
        errors.seek(0)
        said = errors.read().decode(errors="replace")
    verdict: Message = (
        json.loads(lines[-1]) if lines else {"faults": [], "text": "", "unplaced": []}
    )
    verdict["cpu_s"] = usage.ru_utime + usage.ru_stime
    verdict["memory_mb"] = usage.ru_maxrss / 1024
    if status != 0:
        verdict["kind"] = "fault"
        verdict["faults"].append(_ending(status, said))
    elif "panicked at" in said and not verdict["faults"]:
        verdict["kind"] = "fault"
        verdict["faults"].append(f"a panic that no error tells: {said[-1500:]}")
    return verdict


def _read(reading: int, child: int, wall_s: float) -> list[bytes]:
    data, began = b"", time.monotonic()
    while True:
        ready, _, _ = select.select([reading], [], [], 1.0)
        if ready:
            more = os.read(reading, 1 << 16)
            if not more:
                break
            data += more
        if time.monotonic() - began > wall_s:
            os.kill(child, signal.SIGKILL)
            break
    os.close(reading)
    return data.split(b"\n")[:-1]


def _ending(status: int, said: str) -> str:
    number = os.waitstatus_to_exitcode(status)
    if number in (-signal.SIGXCPU, -signal.SIGKILL):
        return "hang: the run neither ended nor looked at its progress"
    name = signal.Signals(-number).name if number < 0 else f"status {number}"
    return f"ended by {name}: {said[-1500:]}"


def main() -> None:
    """Answers jobs until there are no more."""
    warnings.simplefilter("ignore")
    # Every case needs the bases and the keys, so the server makes them before it forks.
    all_bases()
    limits.leaves()
    for line in sys.stdin:
        sys.stdout.write(json.dumps(fork(json.loads(line)), default=str) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
