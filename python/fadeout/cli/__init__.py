"""The `fadeout` command."""

import sys
from importlib import import_module
from typing import Any, NoReturn

__all__ = ["main"]


def main() -> None:
    """Run the command line."""
    try:
        command = load("fadeout.cli.app").app
        from fadeout.cli import signals, warnings

        signals.install()
        warnings.install()
        command(prog_name="fadeout")
    except (ImportError, MemoryError) as error:
        # Of a library that a command loads on its way.
        _give_up(error)


def load(module: str) -> Any:  # noqa: ANN401
    """Return a module of the command. If it cannot be loaded, print the reason and exit."""
    try:
        return import_module(module)
    except (ImportError, MemoryError, OSError, RuntimeError) as error:
        # Too little memory shows as any of these, deep in a library that is being loaded.
        _give_up(error)


def _give_up(error: BaseException) -> NoReturn:
    sys.stderr.write(f"error: fadeout cannot be loaded: {reason(error)}\n")
    sys.exit(1)


def reason(error: BaseException) -> str:
    """Return the reason for a failed import, in one line."""
    if isinstance(error, ModuleNotFoundError):
        return f"the package {error.name} is missing; pip install --force-reinstall fadeout"
    if isinstance(error, MemoryError):
        return "there is not enough memory; is `ulimit -v` set?"
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
