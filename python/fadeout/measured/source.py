"""Tables as loggers write them: CSV in its dialects, compressed CSV, and Parquet.

polars reads the rows, in blocks of bounded size. This module finds the separator, the header, the
encoding and comments, and finds the line of a row for an error.
"""

import csv
import gzip
import io
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO

import polars as pl

from fadeout.measured.errors import MeasuredError, at_line

SEPARATORS = (",", ";", "\t", "|")
HEAD = 1 << 16
"""Bytes of a file that decide its dialect."""
NUMBER = re.compile(r"[-+]?(\d+([.,]\d*)?|[.,]\d+)([eE][-+]?\d+)?")
COMMENTS = ("#", "%", "//")
BLOCK = 1 << 23
"""Characters of a CSV file in a block."""
BLOCK_ROWS = 1 << 18
"""Rows of a Parquet file in a block."""
LONGEST_RECORD = 1 << 26
"""Largest number of characters in a row. A longer row has a quote that is not closed."""

BytesRead = Callable[[int, int], None]
"""Callback with the number of read bytes and the size of the file."""


@dataclass(frozen=True)
class Dialect:
    """The form of a CSV file."""

    separator: str
    encoding: str
    skipped: int
    """Lines before the header, or before the first row."""
    has_header: bool
    comment: str | None
    is_compressed: bool
    notes: Sequence[str] = ()

    def described(self) -> str:
        """Returns the form as words."""
        names = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars", " ": "spaces"}
        parts = [f"CSV with {names[self.separator]}", self.encoding, *self.notes]
        if self.is_compressed:
            parts.append("gzip")
        if not self.has_header:
            parts.append("no header")
        return ", ".join(parts)


@dataclass(frozen=True)
class Source:
    """A table before its values are interpreted. Rows are read when they are needed."""

    path: Path
    name: str
    """Name of the file in messages."""
    columns: Sequence[str]
    """Names of the columns, as written. `column 1` and so on for a file without a header."""
    dialect: Dialect | None
    """None for Parquet."""

    def line_of(self, row: int) -> int | None:
        """Returns the line of the file on which a row begins, from 1. None for Parquet."""
        if self.dialect is None:
            return None
        wanted = row + self.dialect.has_header
        for number, (line, _) in enumerate(self.records()):
            if number == wanted:
                return line
        return None

    def records(self) -> Iterator[tuple[int, list[str]]]:
        """Yields the header and the rows of a CSV file, each with its line, as polars counts them.

        A blank line is a row without cells.
        """
        assert self.dialect is not None
        with self.path.open("rb") as raw, _opened(raw, self.dialect) as stream:
            yield from _records(stream, self.dialect)

    def blocks(
        self, numbers: Sequence[int], on_read: BytesRead | None = None
    ) -> Iterator[pl.DataFrame]:
        """Yields the rows in blocks, one after another.

        Args:
            numbers: positions of the columns to read, from 0.
            on_read: called after each block.

        Yields:
            Columns `row` (from 0) and `c0`, `c1` and so on. Those of a CSV file are texts.

        Raises:
            MeasuredError: a row has too many cells, or the file is not complete.
        """
        wanted = [pl.col(f"c{number}") for number in dict.fromkeys(numbers)]
        parts = self._parquet_blocks(on_read) if self.dialect is None else self._texts(on_read)
        row = 0
        try:
            for part in parts:
                block = part.with_row_index("row", offset=row).select("row", *wanted).collect()
                row += len(block)
                yield block
        except (pl.exceptions.PolarsError, OSError, EOFError, zlib.error) as error:
            if self.dialect is not None and (mistake := self._ragged()) is not None:
                raise mistake from None
            reason = str(error).splitlines()[0]
            raise MeasuredError(f"{self.name}: {reason}; expected a complete table") from None

    def _parquet_blocks(self, on_read: BytesRead | None) -> Iterator[pl.LazyFrame]:
        frame = pl.scan_parquet(self.path)
        renamed = [pl.col(name).alias(f"c{number}") for number, name in enumerate(self.columns)]
        rows = frame.select(pl.len()).collect().item()
        size = self.path.stat().st_size
        for begin in range(0, max(rows, 1), BLOCK_ROWS):
            yield frame.slice(begin, BLOCK_ROWS).select(renamed)
            if on_read is not None:
                on_read(size * min(begin + BLOCK_ROWS, rows) // max(rows, 1), size)

    def _texts(self, on_read: BytesRead | None) -> Iterator[pl.LazyFrame]:
        dialect = self.dialect
        assert dialect is not None
        schema = {f"c{number}": pl.String for number in range(len(self.columns))}
        size = self.path.stat().st_size
        with self.path.open("rb") as raw, _opened(raw, dialect) as stream:
            for text in _whole_records(stream, dialect, self.name):
                yield pl.scan_csv(
                    text.encode(),
                    has_header=False,
                    separator=dialect.separator,
                    schema=schema,
                    raise_if_empty=False,
                )
                if on_read is not None:
                    on_read(raw.tell(), size)

    def _ragged(self) -> MeasuredError | None:
        """Returns the error about the first row with more cells than the header."""
        try:
            for line, row in self.records():
                if len(row) > len(self.columns):
                    message = f"{len(row)} cells; expected {len(self.columns)}, as in the header"
                    return at_line(self.name, line, message)
        except (OSError, EOFError, zlib.error, csv.Error):
            pass
        return None


def open_table(path: Path, name: str | None = None) -> Source:
    """Returns the table at `path`, whose rows are not yet read.

    Raises:
        MeasuredError: the file is missing, empty, or no table.
    """
    name = name or str(path)
    if not path.is_file():
        raise MeasuredError(f"{name} is missing; expected a table in CSV or Parquet")
    try:
        with path.open("rb") as stream:
            head = stream.read(HEAD)
    except OSError as error:
        raise MeasuredError(f"{name}: {error.strerror}; expected a table") from None
    if not head.strip():
        raise MeasuredError(f"{name} is empty; expected a table in CSV or Parquet")
    if head[:4] == b"PAR1":
        return _parquet(path, name)
    return _csv(path, name, head)


def _parquet(path: Path, name: str) -> Source:
    try:
        columns = pl.scan_parquet(path).collect_schema().names()
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise MeasuredError(f"{name}: {reason}; expected a complete file in Parquet") from None
    return Source(path, name, columns, None)


def _csv(path: Path, name: str, head: bytes) -> Source:
    is_compressed = head[:2] == b"\x1f\x8b"
    if is_compressed:
        try:
            with gzip.open(path) as stream:
                head = stream.read(HEAD)
        except (OSError, EOFError, zlib.error) as error:
            raise MeasuredError(f"{name}: {error}; expected a complete gzip file") from None
    encoding = None
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        encoding = "UTF-16"
        # The head may end within a character.
        head = head.decode("utf-16", errors="ignore").encode()
    elif b"\0" in head:
        raise MeasuredError(f"{name} is not text; expected a table in CSV or Parquet")
    dialect = _dialect(name, head, is_compressed, encoding)
    first = next(_records(io.StringIO(_text(head), newline=""), dialect), (1, []))[1]
    columns = first if dialect.has_header else [f"column {n + 1}" for n in range(len(first))]
    return Source(path, name, [one.strip() for one in columns], dialect)


@contextmanager
def _opened(raw: IO[bytes], dialect: Dialect) -> Iterator[IO[str]]:
    """Returns the text of a CSV file. Bytes that are no text become question marks."""
    unpacked = gzip.GzipFile(fileobj=raw) if dialect.is_compressed else raw
    with io.TextIOWrapper(unpacked, dialect.encoding, errors="replace", newline="") as stream:
        yield stream


def _whole_records(stream: IO[str], dialect: Dialect, name: str) -> Iterator[str]:
    """Yields the rows of a CSV file, without header and comments, in blocks of whole rows.

    Raises:
        MeasuredError: a quote is not closed.
    """
    for _ in range(dialect.skipped + dialect.has_header):
        stream.readline()
    comment = None if dialect.comment is None else rf"(?m)^{re.escape(dialect.comment)}.*"
    rest = ""
    is_first = not dialect.skipped and not dialect.has_header
    while True:
        read = stream.read(BLOCK)
        text = rest + (read.removeprefix("\ufeff") if is_first else read)
        is_first = False
        if comment is not None:
            text = re.sub(comment + ("\n" if read else "\n?"), "", text)
        end = _end_of_records(text) if read else len(text)
        if end == 0 and len(text) > LONGEST_RECORD:
            raise MeasuredError(
                f"{name} has a row of more than {LONGEST_RECORD >> 20} million characters; "
                "expected that each quote is closed"
            )
        if end > 0:
            yield text[:end]
        rest = text[end:]
        if not read:
            return


def _end_of_records(text: str) -> int:
    """Returns the length of the whole rows at the start of a text. A quoted cell may have breaks.

    The text starts with a row.
    """
    quotes = text.count('"')
    end = len(text)
    while (newline := text.rfind("\n", 0, end)) >= 0:
        quotes -= text.count('"', newline, end)
        if quotes % 2 == 0:
            return newline + 1
        end = newline
    return 0


def _text(head: bytes) -> str:
    """Returns the start of a file as text. The last line may be cut."""
    head = head.removeprefix(b"\xef\xbb\xbf")
    try:
        return head.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start >= len(head) - 4:
            return head[: error.start].decode("utf-8")
        return head.decode("cp1252", errors="replace")


def _dialect(name: str, head: bytes, is_compressed: bool, encoding: str | None) -> Dialect:
    notes = []
    if encoding is None:
        bom = head.startswith(b"\xef\xbb\xbf")
        text = _text(head)
        encoding = "UTF-8" if text.encode() in head else "CP1252"
        notes += ["byte order mark"] if bom else []
    else:
        text = _text(head)
    if "\r\n" in text:
        notes.append("CRLF")
    lines = text.splitlines()
    skipped = 0
    separator = None
    comment = next((one for one in COMMENTS if any(line.startswith(one) for line in lines)), None)
    while skipped < len(lines):
        line = lines[skipped].strip()
        if match := re.fullmatch(r'"?sep=(.)"?', line):
            separator = match[1]
        elif line and not (comment and line.startswith(comment)):
            break
        skipped += 1
    if skipped == len(lines):
        raise MeasuredError(f"{name} has comments only; expected a header and rows")
    body = [line for line in lines[skipped : skipped + 50] if line.strip()]
    body = [line for line in body if not (comment and line.startswith(comment))]
    if separator is None:
        separator = _separator(body)
    first = next(csv.reader([body[0]], delimiter=separator), [])
    has_header = not all(NUMBER.fullmatch(cell.strip()) for cell in first)
    return Dialect(separator, encoding, skipped, has_header, comment, is_compressed, tuple(notes))


def _separator(lines: Sequence[str]) -> str:
    """Returns the separator with which most lines have as many cells as the first line."""

    def score(separator: str) -> tuple[bool, int, int]:
        counts = [len(row) for row in csv.reader(lines, delimiter=separator)]
        return counts[0] > 1, sum(count == counts[0] for count in counts), counts[0]

    best = max(SEPARATORS, key=score)
    if score(best)[0]:
        return best
    return " " if re.fullmatch(r"\S+ \S.*", lines[0]) else ","


def _records(stream: Iterable[str], dialect: Dialect) -> Iterator[tuple[int, list[str]]]:
    """Yields the header and the rows, each with its line. Comments are left out."""
    lines = enumerate(stream, 1)
    for _ in islice(lines, dialect.skipped):
        pass
    latest = 0

    def kept() -> Iterator[str]:
        nonlocal latest
        for number, line in lines:
            if not (dialect.comment and line.startswith(dialect.comment)):
                latest = number
                yield line.removeprefix("\ufeff") if number == 1 else line

    reader = csv.reader(kept(), delimiter=dialect.separator)
    fed = 0
    while (row := next(reader, None)) is not None:
        # A quoted cell may contain line breaks.
        yield latest - (reader.line_num - fed - 1), row
        fed = reader.line_num
