"""Classes of the user's own, named on the command line."""

import importlib.util
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from fadeout import ScenarioError, _names
from fadeout.cli.console import err
from fadeout.congestion import CongestionControlError

CongestionControls = Annotated[
    list[str] | None,
    typer.Option(
        "--congestion-control",
        "-c",
        metavar="NAME=FILE.py:CLASS",
        help="A congestion control of your own, a class in a Python file, as in "
        "mine=my_control.py:Mine. Flows of the scenario then use it by its name: "
        "congestion-control = 'mine'. May be given several times.",
    ),
]

FORM = "expected NAME=FILE.py:CLASS, as in mine=my_control.py:Mine"


def load_classes(given: list[str] | None) -> dict[str, Callable[..., Any]]:
    """The classes of each NAME=FILE.py:CLASS by name."""
    classes = {}
    for text in given or []:
        name, _, place = text.partition("=")
        # The last colon: a path may have one of its own.
        file, _, cls = place.rpartition(":")
        if not (name and file and cls):
            raise ScenarioError(f"--congestion-control {text}: {FORM}")
        if name in classes:
            raise ScenarioError(f"--congestion-control {text}: '{name}' is given twice")
        classes[name] = load_class(Path(file), cls)
    return classes


def load_class(path: Path, name: str) -> Callable[..., Any]:
    """The class `name` of the Python file at `path`."""
    if not path.is_file():
        raise ScenarioError(f"--congestion-control: there is no file {path}; {FORM}")
    if path.suffix != ".py":
        raise ScenarioError(f"--congestion-control: {path} is no Python file; {FORM}")
    module = sys.modules.get(module_name(path))
    if module is None:
        spec = importlib.util.spec_from_file_location(module_name(path), path)
        assert spec is not None and spec.loader is not None, "a .py file has a loader"
        module = importlib.util.module_from_spec(spec)
        # Some of the standard library looks a class's module up, dataclasses for one.
        sys.modules[module_name(path)] = module
        # As with a script, what lies beside the file can be imported.
        sys.path.insert(0, str(path.parent.resolve()))
        try:
            spec.loader.exec_module(module)
        except Exception as error:
            del sys.modules[module_name(path)]
            trace = "".join(traceback.format_exception(error)[-3:]).rstrip()
            raise ScenarioError(
                f"--congestion-control: {path} cannot be loaded\n{trace}"
            ) from error
        finally:
            sys.path.remove(str(path.parent.resolve()))
    if not hasattr(module, name):
        classes = [key for key, value in vars(module).items() if isinstance(value, type)]
        raise ScenarioError(
            f"--congestion-control: {path}: {_names.unknown('class', name, classes)}"
        )
    return getattr(module, name)


def module_name(path: Path) -> str:
    """What the module of the file is called, so that a file is loaded once."""
    return f"fadeout_own_{path.resolve()}"


def print_cause(error: CongestionControlError) -> None:
    """Print the traceback of the user's own method."""
    cause = error.__cause__
    if cause is not None:
        lines = traceback.format_exception(type(cause), cause, cause.__traceback__)
        err().print("".join(lines).rstrip(), markup=False, highlight=False)
