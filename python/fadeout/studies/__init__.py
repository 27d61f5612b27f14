"""The studies that come with fadeout, one folder each, whose docstring is the question."""

import ast
import pkgutil
from functools import cache
from pathlib import Path


@cache
def questions() -> dict[str, str]:
    """Returns the question of each study by name, without loading the study."""
    names = sorted(entry.name for entry in pkgutil.iter_modules(__path__) if entry.ispkg)
    return {name.replace("_", "-"): _first_line(name) for name in names}


def _first_line(name: str) -> str:
    text = (Path(__path__[0]) / name / "__init__.py").read_text(encoding="utf-8")
    return (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0]
