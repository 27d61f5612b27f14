"""Tables as loggers write them: CSV in its dialects, compressed CSV, and Parquet.

polars reads the rows. This module finds the separator, the header, the encoding and comments, and
finds the line of a row for an error.
"""

import csv
import gzip
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
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
    frame: pl.LazyFrame
    """Columns `c0`, `c1` and so on. Those of a CSV file are texts."""
    dialect: Dialect | None
    """None for Parquet."""
    _unpacked: bytes | None = field(default=None, repr=False)

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
        with self._open() as stream:
            yield from _records(stream, self.dialect)

    def _open(self) -> IO[str]:
        assert self.dialect is not None
        raw: IO[bytes] = io.BytesIO(self._unpacked) if self._unpacked else self.path.open("rb")
        encoding = "utf-8" if self._unpacked else self.dialect.encoding
        return io.TextIOWrapper(raw, encoding=encoding, errors="replace", newline="")


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
        frame = pl.scan_parquet(path)
        columns = frame.collect_schema().names()
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise MeasuredError(f"{name}: {reason}; expected a complete file in Parquet") from None
    renamed = [pl.col(column).alias(f"c{number}") for number, column in enumerate(columns)]
    return Source(path, name, columns, frame.select(renamed), None)


def _csv(path: Path, name: str, head: bytes) -> Source:
    is_compressed = head[:2] == b"\x1f\x8b"
    unpacked: bytes | None = None
    if is_compressed:
        try:
            unpacked = gzip.decompress(path.read_bytes())
        except (OSError, EOFError) as error:
            raise MeasuredError(f"{name}: {error}; expected a complete gzip file") from None
        head = unpacked[:HEAD]
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        try:
            unpacked = (unpacked or path.read_bytes()).decode("utf-16").encode()
        except UnicodeDecodeError:
            raise MeasuredError(f"{name} is not text in UTF-16; expected a table") from None
        head = unpacked[:HEAD]
        dialect = _dialect(name, head, is_compressed, "UTF-16")
    else:
        if b"\0" in head:
            raise MeasuredError(f"{name} is not text; expected a table in CSV or Parquet")
        dialect = _dialect(name, head, is_compressed, None)
    first = next(_records(io.StringIO(_text(head), newline=""), dialect), (1, []))[1]
    columns = first if dialect.has_header else [f"column {n + 1}" for n in range(len(first))]
    text = unpacked if unpacked is not None else path
    frame = pl.scan_csv(
        text,
        has_header=False,
        skip_lines=dialect.skipped + dialect.has_header,
        separator=dialect.separator,
        comment_prefix=dialect.comment,
        schema={f"c{number}": pl.String for number in range(len(columns))},
        encoding="utf8-lossy",
    )
    return Source(path, name, [one.strip() for one in columns], frame, dialect, unpacked)


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


def ragged(source: Source) -> MeasuredError | None:
    """Returns the error about the first row with more cells than the header. None without one."""
    if source.dialect is None:
        return None
    for line, row in source.records():
        if len(row) > len(source.columns):
            message = f"{len(row)} cells; expected {len(source.columns)}, as in the header"
            return at_line(source.name, line, message)
    return None
