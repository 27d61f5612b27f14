"""Runs the blocks of a page, one after another in a folder of its own.

A page is Markdown. These fenced blocks of it do something, and all others are text:

    ```{file} link.toml          writes a file
    ```{console}                 runs each line that begins with `$`
    ```{python}                  runs Python; names live until the end of the page
    ```{claims}                  asserts what the text says of the numbers; not shown
    ```{drawn} out/overview.png  shows a figure that was made

The documentation is built with them (`executed.py`), the tests run them, and
`docs/notebooks.py` makes notebooks of the tutorial.
"""

import ast
import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
from typer.testing import CliRunner

from fadeout.cli.app import app

ROOT = Path(__file__).resolve().parent.parent
KINDS = ("file", "console", "python", "claims", "drawn")
TERMINAL = {"COLUMNS": "80"}
"""The width of tables and text that fits the column of a page."""
FENCE = re.compile(
    r"^(?P<fence>`{3,})\{(?P<kind>" + "|".join(KINDS) + r")\}[ ]*(?P<argument>[^\n]*)\n"
    r"(?P<options>(?::[\w-]+:[^\n]*\n)*)(?P<body>.*?)^(?P=fence)[ ]*$",
    re.MULTILINE | re.DOTALL,
)


class Failed(Exception):
    """A block failed, or its result differs from the page."""


@dataclass(frozen=True)
class Block:
    """A fenced block that runs."""

    kind: str
    argument: str
    body: str
    exit: int = 0
    """Expected exit status of the last command of a console block."""


def blocks(page: str) -> list[Block]:
    """Returns the blocks of a page, in order."""
    found = []
    for match in FENCE.finditer(page):
        options = dict(re.findall(r"^:([\w-]+):[ ]*([^\n]*)$", match["options"], re.MULTILINE))
        exit_status = int(options.get("exit", 0))
        found.append(Block(match["kind"], match["argument"].strip(), match["body"], exit_status))
    return found


def commands(body: str) -> Iterator[str]:
    """Yields the commands of a console block, without the prompt. Continued lines are joined."""
    for line in re.sub(r"\\\n\s*", "", body).splitlines():
        if line.startswith("$ "):
            yield line[2:]


class Session:
    """Runs the blocks of one page in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._names: dict[str, Any] = {"__name__": "__page__"}

    def run(self, block: Block) -> str:
        """Runs `block` and returns its output."""
        with self._inside():
            if block.kind == "file":
                Path(block.argument).parent.mkdir(parents=True, exist_ok=True)
                Path(block.argument).write_text(block.body, encoding="utf-8")
                return ""
            if block.kind == "console":
                return self._console(block)
            if block.kind == "drawn":
                if not Path(block.argument).is_file():
                    raise Failed(f"no figure {block.argument}")
                return ""
            return self._python(block.body)

    def _console(self, block: Block) -> str:
        listed = list(commands(block.body))
        printed = []
        for number, command in enumerate(listed, 1):
            output, status = call(command)
            wanted = block.exit if number == len(listed) else 0
            if status != wanted:
                raise Failed(f"$ {command}\nexit status {status}, not {wanted}:\n{output}")
            printed.append(output)
        return "".join(printed)

    def _python(self, text: str) -> str:
        """Runs Python as a notebook does: the value of a last expression is printed."""
        tree = ast.parse(textwrap.dedent(text))
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        with contextlib.redirect_stdout(io.StringIO()) as printed, frames_without_frame():
            exec(compile(tree, "<page>", "exec"), self._names)
            if last is not None:
                value = eval(compile(ast.Expression(last.value), "<page>", "eval"), self._names)
                if value is not None:
                    printed.write(f"{value}\n")
        return printed.getvalue()

    @contextlib.contextmanager
    def _inside(self) -> Iterator[None]:
        before, path = Path.cwd(), list(sys.path)
        os.chdir(self.folder)
        sys.path.insert(0, str(self.folder))
        try:
            yield
        finally:
            os.chdir(before)
            sys.path[:] = path


@contextlib.contextmanager
def frames_without_frame() -> Iterator[None]:
    """Makes polars print narrow frames."""
    with pl.Config(
        tbl_formatting="NOTHING",
        tbl_hide_dataframe_shape=True,
        tbl_hide_column_data_types=True,
        tbl_rows=12,
        tbl_cols=-1,
        tbl_width_chars=110,
        float_precision=3,
    ):
        yield


def call(command: str) -> tuple[str, int]:
    """Returns a command's output and exit status. `fadeout` runs in this process."""
    words = shlex.split(command)
    if words[0] == "fadeout":
        done = CliRunner().invoke(app, words[1:], prog_name="fadeout", env=TERMINAL)
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise Failed(f"$ {command}") from done.exception
        return done.output, done.exit_code
    shell = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    return shell.stdout + shell.stderr, shell.returncode


def carry_out(page: Path, folder: Path) -> None:
    """Runs a whole page in `folder`, which also has the repository's scenarios."""
    prepare(folder)
    session = Session(folder)
    for block in blocks(page.read_text(encoding="utf-8")):
        session.run(block)


def prepare(folder: Path) -> None:
    """Links the files of a clone that pages use into `folder`."""
    (folder / "scenarios").symlink_to(ROOT / "scenarios")
