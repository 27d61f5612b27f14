"""From a distribution's source package to a kernel that nodes can run."""

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from importlib import resources
from pathlib import Path

from fadeout import FadeoutError, _native
from fadeout.kernel.installed import Kernel, folder

TOOLS = ("make", "cc", "ld", "flex", "bison", "bc", "perl", "tar", "xz")
"""Programs that a kernel build needs."""
PACKAGES = "build-essential flex bison bc perl xz-utils"
"""Packages of Debian and Ubuntu that contain these programs."""


def missing_tools() -> list[str]:
    """Returns the tools of a build that this machine lacks."""
    return [tool for tool in TOOLS if shutil.which(tool) is None]


def build(
    version: str = "6.12",
    *,
    source: Path | None = None,
    jobs: int | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> Kernel:
    """Builds a kernel of `version`, unless the same one exists.

    Args:
        version: the version in the name of its source package, such as `6.12`.
        source: an archive of the source, such as `linux-6.12.tar.xz`. Default: the distribution's
            package `linux-source-VERSION`, as installed, or by `apt-get download`.
        jobs: the number of parallel compilers. Default: one for each processor.
        say: a callback, called with the text of each step.

    Raises:
        FadeoutError: something is missing, or the build fails. The message has the remedy.
    """
    if missing := missing_tools():
        raise FadeoutError(
            f"a kernel cannot be built here: there is no {', '.join(missing)}; "
            f"on Debian and Ubuntu: apt install {PACKAGES}"
        )
    with tempfile.TemporaryDirectory(prefix="fadeout-kernel-") as scratch:
        work = Path(scratch)
        archive = source or _distribution_source(version, work, say)
        if not archive.is_file():
            raise FadeoutError(f"{archive}: no such file; expected an archive of Linux")
        target = folder() / _digest(archive)
        if not (target / "release").is_file():
            _build(archive, work, target, jobs or os.cpu_count() or 1, say)
        release = (target / "release").read_text().strip()
        kernel = Kernel(release, target)
        if not kernel.agent.is_file():
            _build_agent(kernel, work)
    return kernel


def _digest(archive: Path) -> str:
    """Returns a digest of the sources of a kernel, in 16 digits."""
    whole = hashlib.sha256()
    with archive.open("rb") as file:
        while chunk := file.read(1 << 20):
            whole.update(chunk)
    whole.update(_fragment().encode())
    whole.update(_native.kernel_clock().encode())
    whole.update(_run(["cc", "--version"]).encode())
    return whole.hexdigest()[:16]


def _fragment() -> str:
    return (resources.files("fadeout.kernel") / "fragment.config").read_text()


def _distribution_source(version: str, work: Path, say: Callable[[str], None]) -> Path:
    """Returns the archive in the distribution's source package."""
    name = f"linux-source-{version}"
    for suffix in (".tar.xz", ".tar.bz2", ".tar.gz"):
        if (present := Path("/usr/src") / (name + suffix)).is_file():
            return present
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        raise FadeoutError(
            f"there is no {name} in /usr/src, and no apt-get to download it; give the archive of "
            "Linux's source with --source"
        )
    say(f"downloading {name}")
    done = subprocess.run(
        ["apt-get", "download", name], cwd=work, capture_output=True, text=True, check=False
    )
    packages = list(work.glob("*.deb"))
    if done.returncode or not packages:
        last = done.stderr.strip().splitlines()
        raise FadeoutError(
            f"apt-get does not have {name}: {last[-1] if last else 'no package came'}; apt-cache "
            "search linux-source lists the packages, or give an archive with --source"
        )
    _run(["dpkg-deb", "-x", str(packages[0]), str(work / "package")])
    archives = sorted((work / "package" / "usr" / "src").glob("linux-source-*.tar.*"))
    if not archives:
        raise FadeoutError(f"{packages[0].name} has no archive of Linux in /usr/src")
    return archives[0]


def _build(archive: Path, work: Path, target: Path, jobs: int, say: Callable[[str], None]) -> None:
    tree = work / "tree"
    tree.mkdir()
    say(f"unpacking {archive.name}")
    _run(["tar", "-xf", str(archive.resolve()), "-C", str(tree), "--strip-components=1"])
    if not (tree / "arch" / "um").is_dir():
        raise FadeoutError(f"{archive}: not a source of Linux with user-mode Linux (arch/um)")
    if not free_clock(tree):
        say("this Linux has another clock: a process of a guest needs some time to read it")
    fragment = work / "fragment.config"
    fragment.write_text(_fragment())
    say("configuring")
    make = ["make", "-C", str(tree), "ARCH=um"]
    _run([*make, f"KCONFIG_ALLCONFIG={fragment}", "allnoconfig"])
    chosen = set((tree / ".config").read_text().splitlines())
    wanted = [line for line in _fragment().splitlines() if line.endswith("=y")]
    for line in ("CONFIG_UML_TIME_TRAVEL_SUPPORT=y", "CONFIG_VIRTIO_UML=y", "CONFIG_VIRTIO_NET=y"):
        if line not in chosen:
            raise FadeoutError(f"{archive}: this Linux has no {line.removesuffix('=y')}")
    left_out = [line.removesuffix("=y") for line in wanted if line not in chosen]
    if left_out:
        say(f"this Linux does not have {', '.join(left_out)}")
    say(f"building with {jobs} compilers, which takes minutes")
    _run([*make, f"-j{jobs}", "linux"])
    release = _run([*make, "-s", "kernelrelease"]).strip().splitlines()[-1]
    ready = work / "ready"
    ready.mkdir()
    shutil.copy2(tree / "linux", ready / "linux")
    _run(["strip", "--strip-debug", str(ready / "linux")], may_fail=True)
    (ready / "release").write_text(release + "\n")
    target.parent.mkdir(parents=True, exist_ok=True)
    # Written under another name and renamed, so that it is complete or absent.
    beside = Path(tempfile.mkdtemp(dir=target.parent, prefix=".new-"))
    try:
        for file in ready.iterdir():
            shutil.copy2(file, beside / file.name)
        beside.chmod(0o755)
        try:
            beside.rename(target)
        except OSError:
            if not (target / "release").is_file():
                raise
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def free_clock(tree: Path) -> bool:
    """Makes a reading of the clock take a given time in ns. Returns False if it could not.

    User-mode Linux takes 256 ns for a reading. In that time a connection gathers written data, and
    its packets leave late by as much.
    """
    changes = {
        tree / "arch/um/kernel/time.c": {
            "static u64 timer_read(": f"{_native.kernel_clock()}static u64 timer_read(",
            "time_travel_update_time_rel(TIMER_MULTIPLIER);": (
                "if (clock_costs) time_travel_update_time_rel(clock_costs);"
            ),
        },
        tree / "arch/um/include/linux/time-internal.h": {
            "#define TIMER_MULTIPLIER 256": "#define TIMER_MULTIPLIER 1"
        },
    }
    texts = {file: file.read_text() if file.is_file() else "" for file in changes}
    if any(texts[file].count(old) != 1 for file, some in changes.items() for old in some):
        return False
    for file, some in changes.items():
        for old, new in some.items():
            texts[file] = texts[file].replace(old, new)
        file.write_text(texts[file])
    return True


def _build_agent(kernel: Kernel, work: Path) -> None:
    """Builds the first program of a guest. Another version of fadeout has another one."""
    code, built = work / "agent.c", work / "agent"
    code.write_text(_native.kernel_agent())
    _run(["cc", "-O2", "-static", "-pthread", "-o", str(built), str(code)])
    # Written under another name and renamed, so that it is complete or absent.
    beside = kernel.folder / f".{kernel.agent.name}-{os.getpid()}"
    shutil.copy2(built, beside)
    beside.rename(kernel.agent)


def _run(command: list[str], *, may_fail: bool = False) -> str:
    """Returns the output of `command`. A failure becomes an error with its last lines."""
    environment = {**os.environ, "LC_ALL": "C", "KBUILD_BUILD_TIMESTAMP": "0"}
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=environment, errors="replace"
    )
    if done.returncode and not may_fail:
        lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        errors = [line for line in lines if re.search(r"error|cannot find", line)]
        shown = "\n  ".join((errors or lines)[-5:])
        raise FadeoutError(f"{' '.join(command[:4])} failed:\n  {shown}")
    return done.stdout
