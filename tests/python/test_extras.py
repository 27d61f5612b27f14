"""Packages of the extras may be missing. The base package then runs, and errors name the extra."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from conftest import ROOT, SCENARIO
from fadeout._extras import PACKAGES

HIDE = """
import sys
from importlib.machinery import PathFinder

class Without(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name in {hidden} else super().find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(PathFinder)] = Without
"""
"""Hides packages, as if they were not installed."""


def without(hidden: list[str], code: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Runs a program in which some packages are missing."""
    return subprocess.run(
        [sys.executable, "-c", HIDE.format(hidden=hidden) + code],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )


def command(hidden: list[str], cwd: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs the command without some packages."""
    call = f"sys.argv = {['fadeout', *arguments]}\nfrom fadeout.cli import main\nmain()"
    return without(hidden, call, cwd)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "small.toml").write_text(SCENARIO)
    (tmp_path / "small.csv").write_text("time,rate\n0,1\n")
    return tmp_path


def test_the_base_package_needs_none_of_the_packages_of_extras():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert not {name for name in PACKAGES for one in project["dependencies"] if name in one}
    for package, extra in PACKAGES.items():
        assert any(package in one for one in project["optional-dependencies"][extra])
    everything = project["optional-dependencies"]["study"]
    assert all(any(package in one for one in everything) for package in PACKAGES)


def test_a_run_without_the_extras_says_which_extra_draws_figures_and_writes_reports(folder: Path):
    done = command(sorted(PACKAGES), folder, "run", "small.toml", "--report", "--out", "run")
    assert done.returncode == 0, done.stderr
    assert "Mbit/s" in done.stdout
    assert "without figures and the report: " in done.stderr
    assert "pip install 'fadeout[plot]'" in done.stderr
    assert (folder / "run" / "flows.parquet").is_file()
    assert not (folder / "run" / "figures").exists()


@pytest.mark.parametrize(
    ("arguments", "extra"),
    [
        (["plot", "run"], "plot"),
        (["report", "run"], "plot"),
        (["inspect", "small.csv"], "data"),
        (["compare", "run", "run"], "study"),
        (["fit", "small.toml", "--to", "small.csv", "--free", "link.access.rate"], "study"),
        (["study", "blockage"], "study"),
        (["validate", "linux"], "study"),
    ],
)
def test_a_command_that_needs_an_extra_names_it(arguments: list[str], extra: str, folder: Path):
    run = command(sorted(PACKAGES), folder, "run", "small.toml", "--no-figures", "--out", "run")
    assert run.returncode == 0, run.stderr
    done = command(sorted(PACKAGES), folder, *arguments)
    assert done.returncode == 1, done.stderr
    assert f"pip install 'fadeout[{extra}]' installs it" in done.stderr.replace("\n", " ")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [["check", "small.toml"], ["list", "profiles"], ["explain", "duration"], ["new", "blockage"]],
)
def test_a_command_that_needs_no_extra_runs_without_them(arguments: list[str], folder: Path):
    done = command(sorted(PACKAGES), folder, *arguments)
    assert done.returncode == 0, done.stderr


def test_python_raises_an_import_error_with_the_extra(folder: Path):
    code = (
        "import fadeout\n"
        "results = fadeout.run('small.toml')\n"
        "assert len(results.flows) == 1\n"
        "try:\n"
        "    results.plot\n"
        "except ModuleNotFoundError as error:\n"
        "    print(error.name, error)\n"
    )
    done = without(["matplotlib"], code, folder)
    assert done.stdout.startswith("matplotlib this part of fadeout needs matplotlib"), done.stderr
    assert "'fadeout[plot]'" in done.stdout


def test_another_package_that_tries_an_import_gets_pythons_own_error(folder: Path):
    code = (
        "import fadeout\n"
        "try:\n"
        "    import scipy\n"
        "except ModuleNotFoundError as error:\n"
        "    print(error)\n"
    )
    assert without(["scipy"], code, folder).stdout.strip() == "No module named 'scipy'"
