"""The `fadeout` command."""

import sys
from importlib import import_module
from types import ModuleType

from fadeout._extras import MissingPackage

__all__ = ["main"]


INTERRUPTED = 130
"""Exit status with which click ends a command after any interruption."""


def main() -> None:
    """Runs the command line."""
    from fadeout.cli import signals

    signals.install()
    from fadeout.cli import streams

    streams.repair()
    status = _run()
    if signals.came() and status in (0, INTERRUPTED):
        status = signals.exit_status()
    why = streams.finish()
    if why:
        sys.stderr.write(f"error: standard output: {why}\n")
    sys.exit(status or (0 if why is None else 1))


def _run() -> int:
    """Runs the command, and returns its exit status."""
    try:
        command = load("fadeout.cli.app").app
        from fadeout.cli import warnings

        warnings.install()
        command(prog_name="fadeout")
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except (ImportError, MemoryError) as error:
        # A library that a command loads may raise it.
        _say_why(error)
        return 1
    except OSError as error:
        # Help and version are printed outside of any command. This handles a full disk there.
        where = f"{error.filename}: " if error.filename else ""
        sys.stderr.write(f"error: {where}{error.strerror or error}\n")
        return 1
    return 0


def load(module: str) -> ModuleType:
    """Returns a module of the command. If it cannot be loaded, prints the reason and ends."""
    try:
        return import_module(module)
    except (ImportError, MemoryError, OSError, RuntimeError) as error:
        # Each of these can mean too little memory, deep inside a library that is being loaded.
        _say_why(error)
        sys.exit(1)


def _say_why(error: BaseException) -> None:
    sys.stderr.write(f"error: fadeout cannot be loaded: {reason(error)}\n")


def reason(error: BaseException) -> str:
    """Returns the reason for a failed import, in one line."""
    if isinstance(error, MissingPackage):
        return str(error)
    if isinstance(error, ModuleNotFoundError):
        return f"the package {error.name} is missing; pip install --force-reinstall fadeout"
    if isinstance(error, MemoryError):
        return "there is not enough memory; is `ulimit -v` set?"
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
