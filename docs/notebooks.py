"""Makes notebooks of the tutorial: `python docs/notebooks.py` writes them into notebooks/."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import session

ROOT = Path(__file__).resolve().parent.parent
TUTORIAL = ROOT / "docs" / "tutorial"
NOTEBOOKS = ROOT / "notebooks"

START = """\
# Everything below is written into a new folder.
import os
import tempfile

os.chdir(tempfile.mkdtemp(prefix="fadeout-"))"""


def notebook(page: Path) -> str:
    """Returns the page as a notebook."""
    text = page.read_text(encoding="utf-8")
    cells = [cell("markdown", heading(text)), cell("code", START)]
    done = text.index("\n", text.index("# ")) + 1
    for match in session.FENCE.finditer(text):
        cells += prose(text[done : match.start()])
        (block,) = session.blocks(match[0])
        cells += code(block)
        done = match.end()
    cells += prose(text[done:])
    for number, each in enumerate(cells):
        each["id"] = f"cell-{number:02}"
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    document = {
        "cells": cells,
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def heading(text: str) -> str:
    """Returns the page's title, with the source of the notebook."""
    (title,) = re.findall(r"^# .*$", text, re.MULTILINE)[:1]
    return f"{title}\n\nA step of fadeout's tutorial; its page in the documentation says the same."


def prose(text: str) -> Iterator[dict[str, Any]]:
    """Yields a cell of text, with links that work in the notebook."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*generated/[^)]*\)", r"\1", text)
    text = text.replace("](../", "](../docs/")
    text = re.sub(r"\]\((\d-\w+)\.md", r"](\1.ipynb", text)
    if text.strip():
        yield cell("markdown", text.strip())


def code(block: session.Block) -> Iterator[dict[str, Any]]:
    """Yields the cells of a block that runs."""
    if block.kind == "file":
        yield cell("code", f"%%writefile {block.argument}\n{block.body.rstrip()}")
    elif block.kind == "console":
        yield cell("code", "\n".join(f"!{line}" for line in session.commands(block.body)))
    elif block.kind == "drawn":
        show = f'from IPython.display import Image\n\nImage("{block.argument}", width=560)'
        yield cell("code", show)
    elif block.kind == "claims":
        yield cell("code", f"# What the text says of the numbers.\n{block.body.rstrip()}")
    else:
        yield cell("code", block.body.rstrip())


def cell(kind: str, text: str) -> dict[str, Any]:
    """Returns a cell of a notebook."""
    found = {"cell_type": kind, "metadata": {}, "source": text.splitlines(keepends=True)}
    return found | ({"execution_count": None, "outputs": []} if kind == "code" else {})


def write_all() -> None:
    """Writes the notebooks anew."""
    NOTEBOOKS.mkdir(exist_ok=True)
    for page in sorted(TUTORIAL.glob("[1-9]*.md")):
        (NOTEBOOKS / f"{page.stem}.ipynb").write_text(notebook(page), encoding="utf-8")


if __name__ == "__main__":
    write_all()
