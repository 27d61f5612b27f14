"""Writes python/fadeout/_tables.py, which has the tables of results as attributes.

The tables come from the built package, and their documentation from the row structs. Without
arguments the file is written. `--check` only compares it, and fails if it differs.
"""

import argparse
import sys
import textwrap
from pathlib import Path

from fadeout._columns import table_docs

FILE = Path(__file__).resolve().parent.parent / "python" / "fadeout" / "_tables.py"
WIDTH = 100

HEAD = '''\
"""The tables of results as attributes, so that an editor knows them; `make tables` writes this."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl


class TableAttributes:
    """Each table of `Results`."""

    def table(self, name: str) -> "pl.DataFrame":
        """The table called `name`."""
        raise NotImplementedError
'''


def docstring(doc: str) -> str:
    """Returns a docstring with this text, in lines that fit."""
    indent = " " * 8
    one_line = f'{indent}"""{doc}"""'
    if len(one_line) <= WIDTH:
        return one_line
    # The formatter joins two lines if the text without closing quotes fits in one.
    width = WIDTH if len(one_line) > WIDTH + 3 else WIDTH - 3
    lines = textwrap.wrap(f'"""{doc}', width, initial_indent=indent, subsequent_indent=indent)
    return "\n".join([*lines, f'{indent}"""'])


def attribute(name: str, doc: str) -> str:
    """Returns the source of a table's attribute."""
    return f"""
    @property
    def {name}(self) -> "pl.DataFrame":
{docstring(doc)}
        return self.table("{name}")
"""


def module() -> str:
    """Returns the text of the file."""
    tables = table_docs().items()
    return HEAD + "".join(attribute(name, table["doc"]) for name, table in tables)


def main() -> None:
    """Writes or checks the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail where the file is another")
    is_check = parser.parse_args().check
    text = module()
    if is_check:
        sys.exit(FILE.read_text() != text and f"{FILE.name} is not up to date: run `make tables`")
    FILE.write_text(text)


if __name__ == "__main__":
    main()
