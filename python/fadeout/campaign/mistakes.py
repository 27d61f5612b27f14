"""Mistakes in the description of a campaign, with their place where there is a file."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

from fadeout._native import ScenarioError

if TYPE_CHECKING:
    from fadeout._native import ErrorDetail


def mistake(
    message: str,
    *,
    expected: str | None = None,
    suggestion: str | None = None,
    file: Path | None = None,
    key: str | None = None,
) -> ScenarioError:
    """An error like those of scenarios: what is wrong, and in `file` the line that has `key`."""
    hints = [f" = help: did you mean {suggestion}?"] if suggestion else []
    hints += [f" = expected {expected}"] if expected else []
    line, column, text = _find(file, key)
    if file is None or line == 0:
        where = "" if file is None else f"{file}: "
        rest = "".join(f"\n{hint}" for hint in hints)
        return ScenarioError(f"{where}{message}{rest}")
    gutter = " " * len(str(line))
    lines = [
        f"error: {message}",
        f"{gutter}--> {file}:{line}:{column}",
        f"{gutter} |",
        f"{line} | {text}",
        f"{gutter} | {' ' * (column - 1)}{'^' * len(key or '')}",
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


def _find(file: Path | None, key: str | None) -> tuple[int, int, str]:
    """Line and column of `key` in `file`, as a word of its own outside comments; 0 where absent."""
    if file is None or not key:
        return 0, 0, ""
    pattern = re.compile(rf"(?<![\w.-]){re.escape(key)}(?![\w-])")
    for number, text in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        found = pattern.search(text.partition("#")[0])
        if found:
            return number, found.start() + 1, text
    return 0, 0, ""
