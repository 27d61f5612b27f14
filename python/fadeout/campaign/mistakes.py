"""Mistakes in the description of a campaign, with their place if it is a file."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

from fadeout._native import ScenarioError

if TYPE_CHECKING:
    from fadeout._native import ErrorDetail


class Mistake(ScenarioError):
    """A mistake without a place."""

    def __init__(
        self, text: str, message: str, expected: str | None, suggestion: str | None
    ) -> None:
        super().__init__(text)
        self._message, self._expected, self._suggestion = message, expected, suggestion

    def placed(self, file: Path) -> ScenarioError:
        """Returns the mistake with the line of `file` that has the key in backquotes of the
        message.
        """
        named = re.search("`([^`]+)`", self._message)
        return mistake(
            self._message,
            expected=self._expected,
            suggestion=self._suggestion,
            file=file,
            key=None if named is None else named[1],
        )


def placed(error: ScenarioError, file: Path | None) -> ScenarioError:
    """Returns `error` with its place in a campaign's file, if the place can be found.

    A value that a scenario refuses came as an override. Its place is the line with its key.
    """
    if file is None:
        return error
    if isinstance(error, Mistake):
        return error.placed(file)
    for detail in error.errors:
        override = re.search(r"^\s*\d+ \| (.+?)=", detail["rendered"], re.MULTILINE)
        if detail["file"] == "--set" and override is not None:
            found = mistake(
                detail["message"],
                expected=detail["expected"],
                suggestion=detail["suggestion"],
                file=file,
                key=override[1].strip(),
            )
            return found if found.errors else error
    return error


def mistake(
    message: str,
    *,
    expected: str | None = None,
    suggestion: str | None = None,
    file: Path | None = None,
    key: str | None = None,
    line: int = 1,
) -> ScenarioError:
    """Returns an error like those of scenarios: the message, and in `file` the line with `key`.

    The search for `key` begins in the given line. Without `key` the mistake is the whole line.
    """
    hints = [f" = help: did you mean {suggestion}?"] if suggestion else []
    hints += [f" = expected {expected}"] if expected else []
    line, column, text = _find(file, key, line)
    if file is None or line == 0:
        where = "" if file is None else f"{file}: "
        rest = "".join(f"\n{hint}" for hint in hints)
        return Mistake(f"{where}{message}{rest}", message, expected, suggestion)
    gutter = " " * len(str(line))
    lines = [
        f"error: {message}",
        f"{gutter}--> {file}:{line}:{column}",
        f"{gutter} |",
        f"{line} | {text}",
        f"{gutter} | {' ' * (column - 1)}{'^' * len(key or text)}",
        *(f"{gutter}{hint}" for hint in hints),
    ]
    rendered = "\n".join(lines)
    error = ScenarioError(rendered)
    detail: ErrorDetail = {
        "file": str(file),
        "line": line,
        "column": column,
        "message": message,
        "expected": expected,
        "suggestion": suggestion,
        "rendered": rendered,
    }
    error.errors = [detail]
    return error


def _find(file: Path | None, key: str | None, first: int) -> tuple[int, int, str]:
    """Returns line and column of `key` in `file`, as a whole word outside comments. 0 if absent.

    Without a key, the place is the start of the line `first`, unless it is line 1.
    """
    if file is None or (key is None and first == 1):
        return 0, 0, ""
    lines = file.read_text(encoding="utf-8").splitlines()
    if key is None:
        return first, 1, lines[first - 1]
    pattern = re.compile(rf"(?<![\w.-]){re.escape(key)}(?![\w-])")
    for number, text in enumerate(lines[first - 1 :], start=first):
        found = pattern.search(text.partition("#")[0])
        if found:
            return number, found.start() + 1, text
    return 0, 0, ""
