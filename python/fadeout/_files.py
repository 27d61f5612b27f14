"""Reads files of users, and writes files that appear complete or not at all.

The size of a read file is limited, because devices and pipes may have no end.
"""

import contextlib
import errno
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fadeout._native import ResultError, ScenarioError

LARGEST = 64 << 20
"""Size limit of a text that is read as a whole, in bytes. No user or script writes as much."""

DEEPEST = 64
"""Largest depth of nested lists and tables. Campaigns and runs are far less nested."""

TOO_DEEP = f"its lists and tables lie in each other more than {DEEPEST} deep"


@contextlib.contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """Yields the path of a hidden file, which is renamed to `path` at the end.

    After an error the hidden file is removed, and a file that was at `path` stays as it was.
    """
    partial = path.with_name(f".{path.name}.partial")
    try:
        yield partial
        partial.replace(path)
    finally:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)


def read_text(path: Path, what: str, *, largest: int = LARGEST) -> str:
    """Returns the text of the regular file at `path`, which should be `what`, such as "a scenario".

    Raises:
        ScenarioError: the file is not UTF-8. The error has the place of the first invalid byte.
        OSError: the file cannot be read, is no regular file or is larger than `largest` bytes.
    """
    data = read_bytes(path, what, largest=largest)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise not_utf8(path, data, error.start, what) from None


def read_toml(path: Path, what: str) -> dict[str, Any]:
    """Returns the tables of the TOML file at `path`. See `read_text`.

    Raises:
        ScenarioError: the file is not TOML, or is nested too deeply.
    """
    import tomllib

    text = read_text(path, what)
    try:
        document = tomllib.loads(text)
        check_depth(document)
        return document
    except tomllib.TOMLDecodeError as error:
        raise ScenarioError(f"{path}: {error}") from None
    except RecursionError:
        raise ScenarioError(f"{path}: {TOO_DEEP}") from None


def read_json(path: Path, what: str, *, largest: int = LARGEST) -> dict[str, Any]:
    """Returns the object in the JSON file at `path`, which fadeout wrote. See `read_text`.

    Raises:
        ResultError: the file is not JSON, is nested too deeply, or is not a JSON object.
    """
    return parse_json(read_bytes(path, what, largest=largest), path)


def parse_json(content: bytes, path: Path) -> dict[str, Any]:
    """Returns the JSON object in `content`, which is the file at `path`. See `read_json`."""
    try:
        document = json.loads(content)
        check_depth(document)
    except RecursionError:
        raise ResultError(f"{path}: {TOO_DEEP}") from None
    except ValueError as error:
        raise ResultError(f"{path}: {error}") from None
    if not isinstance(document, dict):
        raise ResultError(f"{path}: expected an object, found {type(document).__name__}")
    return document


def check_depth(document: object) -> None:
    """Raises RecursionError if lists and tables are nested deeper than `DEEPEST`."""
    level = [document]
    for _ in range(DEEPEST):
        tables = [each.values() for each in level if isinstance(each, Mapping)]
        lists = [each for each in level if isinstance(each, list | tuple)]
        level = [each for inner in (*tables, *lists) for each in inner]
        if not level:
            return
    raise RecursionError


def read_bytes(path: Path, what: str, *, largest: int = LARGEST) -> bytes:
    """Returns the bytes of the regular file at `path`. See `read_text`."""
    if path.exists() and not path.is_file():
        code = errno.EISDIR if path.is_dir() else errno.EINVAL
        kind = "a folder" if path.is_dir() else "a device or a pipe"
        raise OSError(code, f"{kind}, but {what} is a regular file", str(path))
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size > largest:
            raise OSError(errno.EFBIG, f"{size:,} bytes; {what} has at most {largest:,}", str(path))
        return file.read(largest)


def not_utf8(path: Path, data: bytes, at: int, what: str) -> ScenarioError:
    """Returns the error about a file that is not valid UTF-8 from the byte `at` on."""
    line = data.count(b"\n", 0, at) + 1
    start = data.rfind(b"\n", 0, at) + 1
    column = len(data[start:at].decode("utf-8", errors="replace")) + 1
    end = data.find(b"\n", at)
    text = data[start : end if end >= 0 else len(data)].decode("utf-8", errors="replace")[:96]
    message = f"expected UTF-8, found the byte 0x{data[at]:02x}"
    gutter = " " * len(str(line))
    shown = "".join(letter if letter.isprintable() else "\ufffd" for letter in text)
    rendered = (
        f"error: {message}\n{gutter}--> {path}:{line}:{column}\n{gutter} |\n{line} | {shown}\n"
        f"{gutter} | {' ' * (column - 1) if column <= 96 else ''}^\n"
        f"{gutter} = help: is it {what}? An editor saves text of another encoding as UTF-8."
    )
    error = ScenarioError(rendered)
    error.errors = [
        {
            "file": str(path),
            "line": line,
            "column": column,
            "message": message,
            "expected": "UTF-8",
            "suggestion": None,
            "rendered": rendered,
        }
    ]
    return error
