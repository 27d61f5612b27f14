"""User-written classes and functions in Python files."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fadeout import _names
from fadeout._native import ScenarioError

OPTION = "--congestion-control"
POLICY_OPTION = "--handover-policy"
FORM = "expected NAME=FILE.py:CLASS, as in mine=my_control.py:Mine"


def load_classes(given: list[str] | None, what: str = OPTION) -> dict[str, Callable[..., Any]]:
    """Returns the classes of each NAME=FILE.py:CLASS by name."""
    classes = {}
    for text in given or []:
        name, _, place = text.partition("=")
        # The last colon separates file and class, as a path may have a colon.
        file, _, cls = place.rpartition(":")
        if not (name and file and cls):
            raise ScenarioError(f"{what} {text}: {FORM}")
        if name in classes:
            raise ScenarioError(f"{what} {text}: '{name}' is given twice")
        classes[name] = load_class(Path(file), cls, what)
    return classes


def load_class(path: Path, name: str, what: str = OPTION) -> Callable[..., Any]:
    """Returns the class or function `name` of the Python file at `path`. Errors call it `what`."""
    if not path.is_file():
        raise ScenarioError(f"{what}: no file {path}; {FORM}")
    if path.suffix != ".py":
        raise ScenarioError(f"{what}: {path} is not a Python file; {FORM}")
    import importlib.util
    import traceback

    full_name = module_name(path)
    module = sys.modules.get(full_name)
    if module is None:
        spec = importlib.util.spec_from_file_location(full_name, path)
        assert spec is not None and spec.loader is not None, "a .py file has a loader"
        module = importlib.util.module_from_spec(spec)
        # Parts of the standard library, such as dataclasses, look up the module of a class.
        sys.modules[full_name] = module
        # As with a script, files in the same folder can be imported.
        sys.path.insert(0, str(path.parent.resolve()))
        try:
            spec.loader.exec_module(module)
        except Exception as error:
            del sys.modules[full_name]
            trace = "".join(traceback.format_exception(error)[-3:]).rstrip()
            raise ScenarioError(f"{what}: cannot load {path}\n{trace}") from error
        finally:
            sys.path.remove(str(path.parent.resolve()))
    if not hasattr(module, name):
        classes = [key for key, value in vars(module).items() if isinstance(value, type)]
        raise ScenarioError(f"{what}: {path}: {_names.unknown('class', name, classes)}")
    return getattr(module, name)


def module_name(path: Path) -> str:
    """Returns the module name of a file. A file is loaded once, and again after a change."""
    import hashlib

    content = hashlib.blake2b(path.read_bytes(), digest_size=8).hexdigest()
    return f"fadeout_own_{path.resolve()}_{content}"
