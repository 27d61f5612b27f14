"""Checks the wheel in a folder: symbols of the C library, size of the base environment, a run.

The wheel is installed without extras into an empty environment. The README's first command runs
there.
"""

import argparse
import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

POLICY = "manylinux_2_17"
"""Oldest C library that the wheel promises: glibc 2.17, of CentOS 7."""

LARGEST_MB = 250
"""Largest base environment without pip, MB."""


def output(*command: str | Path) -> str:
    """Returns the output of a command, which must succeed."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}:\n{done.stdout}{done.stderr}")
    return done.stdout


def check_symbols(wheel: Path) -> None:
    """Checks the symbols of a wheel with auditwheel, and its platform tag."""
    shown = output(sys.executable, "-m", "auditwheel", "show", wheel)
    newest = re.findall(r"GLIBC_[\d.]+", shown)
    print(f"{wheel.name}: {', '.join(sorted(set(newest))) or 'no versioned symbols'}")
    if POLICY not in shown or POLICY not in wheel.name:
        sys.exit(f"expected {POLICY}:\n{shown}")


def size_mb(folder: Path) -> float:
    """Returns the size of the files in a folder, without compiled Python and the tools of venv."""
    files = (file for file in folder.rglob("*") if file.is_file() and file.suffix != ".pyc")
    tools = ("pip", "setuptools", "pkg_resources", "_distutils_hack")
    own = (file for file in files if not file.relative_to(folder).parts[0].startswith(tools))
    return sum(file.stat().st_size for file in own) / 1e6


def check_base(wheel: Path, folder: Path) -> None:
    """Installs a wheel without extras, checks the size of the environment, and runs an example."""
    venv.create(folder, with_pip=True)
    binaries = folder / "bin"
    output(binaries / "pip", "install", "--quiet", "--no-compile", wheel)
    (packages,) = folder.glob("lib/python*/site-packages")
    size = size_mb(packages)
    print(f"base environment: {size:.0f} MB")
    if size > LARGEST_MB:
        sys.exit(f"the base environment is larger than {LARGEST_MB} MB")
    print(output(binaries / "fadeout", "run", "blockage", "--out", folder / "run").strip())


def main() -> None:
    """Checks the wheel in a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="Folder with one wheel.")
    found = list(parser.parse_args().folder.glob("fadeout-*.whl"))
    if len(found) != 1:
        sys.exit(f"expected one wheel, found {len(found)}")
    if sys.platform == "linux":
        check_symbols(found[0])
    with tempfile.TemporaryDirectory() as folder:
        check_base(found[0], Path(folder) / "env")


if __name__ == "__main__":
    main()
