"""Makes notebooks of the tutorial: `python docs/notebooks.py` writes them into notebooks/.

The notebooks have the outputs of their cells. A test compares the cells with the pages. Another one
runs the pages and checks the numbers of their texts.
"""

import base64
import json
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import session

ROOT = Path(__file__).resolve().parent.parent
TUTORIAL = ROOT / "docs" / "tutorial"
NOTEBOOKS = ROOT / "notebooks"

INSTALL = """\
# Installs fadeout if it is missing, as in a new notebook of Google Colab.
import importlib.util
import subprocess
import sys

if importlib.util.find_spec("fadeout") is None:
    pip = [sys.executable, "-m", "pip", "install", "--quiet"]
    subprocess.run([*pip, "fadeout[study]"], check=True)"""

START = """\
# Everything below is written into a new folder.
import os
import tempfile

os.chdir(tempfile.mkdtemp(prefix="fadeout-"))"""


def notebook(page: Path, run: session.Session | None = None) -> str:
    """Returns the page as a notebook. The cells have outputs if `run` is given."""
    text = page.read_text(encoding="utf-8")
    start = [cell("code", INSTALL), cell("code", START)]
    cells = [cell("markdown", heading(text)), *start]
    done = text.index("\n", text.index("# ")) + 1
    for match in session.FENCE.finditer(text):
        cells += prose(text[done : match.start()])
        (block,) = session.blocks(match[0])
        cells += code(block, run)
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


def code(block: session.Block, run: session.Session | None) -> Iterator[dict[str, Any]]:
    """Yields the cells of a block that runs, with its outputs if `run` is given."""
    for each in without_outputs(block):
        yield each | ({"outputs": outputs(block, run)} if run else {})


def outputs(block: session.Block, run: session.Session) -> list[dict[str, Any]]:
    """Returns the outputs of a block: the text that it prints, or its figure."""
    printed = run.run(block)
    if block.kind == "drawn":
        png = base64.b64encode((run.folder / block.argument).read_bytes()).decode("ascii")
        data = {"image/png": png, "text/plain": ["<IPython.core.display.Image object>"]}
        return [{"output_type": "display_data", "metadata": {}, "data": data}]
    if not printed:
        return []
    text = printed.splitlines(keepends=True)
    return [{"output_type": "stream", "name": "stdout", "text": text}]


def without_outputs(block: session.Block) -> Iterator[dict[str, Any]]:
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
        with tempfile.TemporaryDirectory(prefix="fadeout-") as folder:
            session.prepare(Path(folder))
            text = notebook(page, session.Session(Path(folder)))
        (NOTEBOOKS / f"{page.stem}.ipynb").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_all()
