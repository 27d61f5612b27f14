"""Files that have a checksum of their own content.

The checksum is a digest of the file's bytes, taken with zeros in the place of the digest. It is at
the end of a JSON document, or in the key-value metadata of a Parquet file, which other tools
ignore. The whole file is checked before any of it is decoded. Polars alone is not enough: of 1,500
Parquet files with one flipped bit it read 348 with wrong values.

Source: BLAKE2b, RFC 7693. Key-value metadata: Apache Parquet, `FileMetaData.key_value_metadata`.
"""

import hashlib
import io
from pathlib import Path

import polars as pl

from fadeout._native import ResultError

KEY = "checksum"
"""The key of the digest, in JSON and in Parquet's metadata."""

PREFIX = "fadeout-blake2b-"
"""The text before the digest, by which it is found."""

DIGEST_BYTES = 16
"""Length of the digest. Two different files do not get the same one by accident."""

BLANK = PREFIX + "0" * (2 * DIGEST_BYTES)
"""The text in the digest's place while the digest is taken."""


def seal(content: bytes) -> bytes:
    """Returns `content`, which has `BLANK`, with its digest there."""
    return _with_digest(content, content.rindex(BLANK.encode()))


def is_sealed(content: bytes) -> bool:
    """Returns True if the file has a digest, whether it is right or not."""
    return PREFIX.encode() in content


def check(content: bytes, path: Path) -> None:
    """Raises unless the bytes of the file at `path` are those that were sealed.

    Raises:
        ResultError: the bytes are damaged, or have no digest.
    """
    at = content.rfind(PREFIX.encode())
    if at < 0:
        raise ResultError(f"{path} has no checksum: it is damaged, or fadeout did not write it")
    if _with_digest(content, at) != content:
        raise ResultError(f"{path} is not what its checksum says: it was changed or damaged")


def _with_digest(content: bytes, at: int) -> bytes:
    end = at + len(BLANK)
    blank = content[:at] + BLANK.encode() + content[end:]
    digest = hashlib.blake2b(blank, digest_size=DIGEST_BYTES).hexdigest()
    return content[:at] + f"{PREFIX}{digest}".encode() + content[end:]


def parquet(frame: pl.DataFrame) -> bytes:
    """Returns the frame as a sealed Parquet file."""
    buffer = io.BytesIO()
    frame.write_parquet(buffer, statistics=False, metadata={KEY: BLANK})
    return seal(buffer.getvalue())


def read_parquet(path: Path, *, must_be_sealed: bool = True) -> pl.DataFrame:
    """Returns the frame of a Parquet file, after a check of its checksum.

    Args:
        path: the file.
        must_be_sealed: refuse a file without a checksum, as folders of format 1 have.

    Raises:
        ResultError: the file is damaged.
        OSError: the file cannot be read.
    """
    content = path.read_bytes()
    if must_be_sealed or is_sealed(content):
        check(content, path)
    try:
        return pl.read_parquet(content)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        reason = str(error).partition("\n")[0]
        raise ResultError(f"{path} is no part of a campaign: {reason}") from error


def seal_parquet(path: Path) -> bytes | None:
    """Returns the content of the file at `path` with a checksum, or None if it has one."""
    if is_sealed(path.read_bytes()):
        return None
    return parquet(read_parquet(path, must_be_sealed=False))
