"""Unpacking of an archive that may come from anybody: checked while it is read, and bounded."""

import contextlib
import hashlib
import re
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from fadeout._native import ResultError
from fadeout.campaign.trust import is_below

SUMS = "SHA256SUMS"
"""The file with the checksums of all others."""

LARGEST = 1 << 30
"""Default of the largest size of an archive's files, in bytes: about a million runs."""

LARGEST_SUMS = 16 << 20
"""Largest size of the checksums, in bytes: more files than any campaign has."""

PIECE = 1 << 16
"""Bytes that are unpacked at a time."""

IS_ENCRYPTED = 0x1
"""Flag of a member that needs a password."""

_LINE = re.compile(r"([0-9a-f]{64}) [ *](.+)")


@contextlib.contextmanager
def unpacked(path: Path, *, largest: int = LARGEST) -> Iterator[Path]:
    """Returns the archive's files in a temporary folder: exactly those that its checksums list.

    A member is checked and written piece by piece, so the memory does not depend on the archive.

    Args:
        path: the archive.
        largest: the largest size of all of its files together, in bytes.

    Raises:
        ResultError: the file is not an archive, is too large, or does not match its checksums.
    """
    with contextlib.ExitStack() as stack:
        try:
            file = stack.enter_context(zipfile.ZipFile(path))
            members = _members(path, file, largest)
            sums = _sums(path, file, members)
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            for name, digest in sums.items():
                target = folder / name
                target.parent.mkdir(parents=True, exist_ok=True)
                _unpack(path, file, members[name], digest, target)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
            raise ResultError(f"{path} is not an archive of a campaign: {error}") from None
        yield folder


def _members(path: Path, file: zipfile.ZipFile, largest: int) -> dict[str, zipfile.ZipInfo]:
    """Returns the files of the archive by their names, after a check that no name does harm."""
    members: dict[str, zipfile.ZipInfo] = {}
    for member in file.infolist():
        name = member.filename
        if member.is_dir():
            continue
        if not is_below(name) or "\\" in name or PurePosixPath(name).as_posix() != name:
            raise ResultError(
                f"{path}: {name!r} is not the name of a file below the archive's folder"
            )
        if name in members:
            raise ResultError(f"{path}: {name!r} is in it twice")
        if member.flag_bits & IS_ENCRYPTED:
            raise ResultError(f"{path}: {name!r} is encrypted; expected a file that can be read")
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            # Other methods can expand a few bytes without limit.
            raise ResultError(f"{path}: {name!r} is packed in another way than stored or deflated")
        members[name] = member
    # Sizes are those of the zip directory. A member that is longer is not read beyond its size.
    total = sum(member.file_size for member in members.values())
    if total > largest:
        raise ResultError(
            f"{path}: its files have {total:,} bytes, and {largest:,} are allowed; expected "
            "--largest (in Python largest), if you trust the archive"
        )
    return members


def _sums(path: Path, file: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo]) -> dict[str, str]:
    """Returns the checksum of each file. They must be exactly the files of the archive."""
    about = members.pop(SUMS, None)
    if about is None:
        raise ResultError(f"{path} is not an archive of a campaign: {SUMS} is missing")
    if about.file_size > LARGEST_SUMS:
        raise ResultError(f"{path}: {SUMS} has {about.file_size:,} bytes")
    try:
        lines = file.read(about).decode().splitlines()
    except UnicodeDecodeError:
        raise ResultError(f"{path}: {SUMS} is not text") from None
    sums: dict[str, str] = {}
    for number, line in enumerate(lines, start=1):
        found = _LINE.fullmatch(line)
        if found is None:
            raise ResultError(f"{path}: line {number} of {SUMS} is not a checksum and a name")
        if found[2] in sums:
            raise ResultError(f"{path}: {found[2]!r} stands twice in {SUMS}")
        sums[found[2]] = found[1]
    if missing := sorted(sums.keys() - members):
        raise ResultError(f"{path}: {missing[0]!r} is missing, which {SUMS} lists")
    if extra := sorted(members.keys() - sums):
        raise ResultError(f"{path}: {extra[0]!r} is not in {SUMS}; expected a checksum of each")
    return sums


def _unpack(
    path: Path, file: zipfile.ZipFile, member: zipfile.ZipInfo, digest: str, target: Path
) -> None:
    """Writes a member to `target`, and checks it against its checksum."""
    found = hashlib.sha256()
    # Mode x fails if the file exists, for example for two names that differ in case only.
    with file.open(member) as packed, target.open("xb") as out:
        while piece := packed.read(PIECE):
            found.update(piece)
            out.write(piece)
    if found.hexdigest() != digest:
        raise ResultError(f"{path}: {member.filename} does not match its checksum")
