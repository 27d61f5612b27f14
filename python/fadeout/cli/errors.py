"""Error messages for the user, and the exit status for scripts."""

import functools
import re
import sys
from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path
from typing import ParamSpec

import typer
from rich.text import Text

from fadeout import EngineBug, FadeoutError, ScenarioError
from fadeout.cli import reason, signals, streams
from fadeout.cli.console import err, print_error
from fadeout.cli.wrapping import wrap

ENVIRONMENT = 1
"""A file or folder cannot be read or written."""
MISTAKE = 2
"""The scenario or the command line is wrong."""
BUG = 70
"""A bug in fadeout (EX_SOFTWARE of sysexits.h)."""

Args = ParamSpec("Args")


def reports_errors(command: Callable[Args, None]) -> Callable[Args, None]:
    """Turns the exceptions of `command` into a message and an exit status."""

    @functools.wraps(command)
    def wrapper(*args: Args.args, **kwargs: Args.kwargs) -> None:
        try:
            with signals.Working():
                command(*args, **kwargs)
                signals.obey()
        except ScenarioError as error:
            print_scenario_error(error)
            raise typer.Exit(MISTAKE) from None
        except EngineBug as error:
            print_error(
                f"{error}\nThis is a bug in fadeout, not in your scenario. Please report it with "
                f"the scenario and this command:\n  {shell_line()}"
            )
            raise typer.Exit(BUG) from None
        except BrokenPipeError:
            # The process that reads the pipe has ended.
            streams.silence()
            raise typer.Exit(ENVIRONMENT) from None
        except (FadeoutError, OSError) as error:
            print_error(str(error) if isinstance(error, FadeoutError) else describe(error))
            raise typer.Exit(ENVIRONMENT) from None
        except MemoryError:
            print_error("there is not enough memory; is `ulimit -v` set?")
            raise typer.Exit(ENVIRONMENT) from None
        except ModuleNotFoundError as error:
            print_error(reason(error))
            raise typer.Exit(ENVIRONMENT) from None
        except ImportError as error:
            print_error(str(error))
            raise typer.Exit(ENVIRONMENT) from None
        except KeyboardInterrupt as error:
            err().print(str(error) or "stopped", markup=False, highlight=False)
            raise typer.Exit(signals.exit_status()) from None

    return wrapper


def print_scenario_error(error: ScenarioError) -> None:
    """Prints each mistake of a scenario, as the reader formatted it."""
    console = err()
    for detail in error.errors:
        rendered = detail["rendered"].rstrip("\n")
        if console.is_terminal:
            rendered = wrapped(rendered, console.width)
        console.print(coloured(rendered), soft_wrap=True)
    if not error.errors:
        print_error(str(error))
    elif len(error.errors) > 1:
        console.print(f"{len(error.errors)} errors", highlight=False)


STYLES = (
    (r"^error:", "bold red"),
    (r"^ *(-->|\||=)|^\d+ \|", "blue"),
    (r"^ *\| +(\^+)$", "bold red"),
    (r"^ *= (help:)", "bold cyan"),
    (r"^ *= (expected)", "bold"),
)
"""Parts of a rendered mistake, with their styles."""


def coloured(rendered: str) -> Text:
    """Returns a mistake, as the reader formatted it, with colours for a terminal."""
    text = Text(rendered)
    for pattern, style in STYLES:
        for match in re.finditer(pattern, rendered, re.MULTILINE):
            text.stylize(style, *match.span(match.lastindex or 0))
    return text


def wrapped(rendered: str, width: int) -> str:
    """Returns a mistake with its sentences wrapped at `width`. The line of the scenario stays."""
    lines: list[str] = []
    for line in rendered.splitlines():
        match = re.match(r"error: | *= ", line)
        if match is None:
            lines.append(line)
            continue
        lines += wrap(line, width, match.end())
    return "\n".join(lines)


def describe(error: OSError) -> str:
    """Returns an operating system's error in plain words, with the path."""
    reason = error.strerror or str(error)
    if isinstance(error, FileNotFoundError) and error.filename:
        from fadeout._examples import examples

        name = Path(str(error.filename)).stem
        if name in examples():
            reason += f"; fadeout new {name} writes the example with that name"
        elif near := get_close_matches(name, examples(), n=1, cutoff=0.7):
            reason += f"; did you mean the example {near[0]}?"
    return f"{error.filename}: {reason}" if error.filename else reason


def shell_line() -> str:
    """The command line as it was typed."""
    import shlex

    return shlex.join(["fadeout", *sys.argv[1:]])
