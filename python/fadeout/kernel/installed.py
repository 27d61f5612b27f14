"""The kernels that were built, and whether they work."""

import json
from dataclasses import dataclass
from pathlib import Path

from fadeout import FadeoutError, _native


@dataclass(frozen=True)
class Kernel:
    """A kernel that was built."""

    release: str
    """The release as `uname -r` in the kernel prints it, such as 6.12.117."""
    folder: Path
    """Folder with the kernel `linux`, the first program of a guest, and the file `release`."""

    @property
    def agent(self) -> Path:
        """First program that a guest with this kernel starts."""
        return self.folder / _native.kernel_agent_file()


@dataclass(frozen=True)
class Checked:
    """The results of a test with two guests of a kernel."""

    release: str
    """The release of the kernel that ran."""
    echoes_s: list[float]
    """Round-trip times of echo requests, s."""


def folder() -> Path:
    """Returns the folder of kernels: `fadeout/kernels` in `XDG_CACHE_HOME`, or in `~/.cache`."""
    return Path(_native.kernel_folder())


def installed() -> list[Kernel]:
    """Returns each kernel that was built, the newest release first."""
    listed = json.loads(_native.kernels())
    return [Kernel(one["release"], Path(one["folder"])) for one in listed]


def find(version: str = "") -> Kernel:
    """Returns the newest kernel of a version: `6.12` means any 6.12.x.

    Raises:
        FadeoutError: there is none. The message says how to build it.
    """
    kernels = installed()
    for kernel in kernels:
        if not version or kernel.release == version or kernel.release.startswith(version + "."):
            return kernel
    have = ", ".join(kernel.release for kernel in kernels) or "none"
    wanted = f"kernel {version}" if version else "kernel"
    raise FadeoutError(
        f"there is no {wanted} here (built: {have}); fadeout kernel build builds one"
    )


def check(kernel: Kernel, *, delay_s: float = 0.01, count: int = 5) -> Checked:
    """Starts two guests with `delay_s` between them, and measures `count` round trips.

    Raises:
        FadeoutError: a guest does not start, or ends. The message has its last words.
    """
    found = json.loads(
        _native.check_kernel(
            str(kernel.folder / "linux"), str(kernel.agent), round(delay_s * 1e9), count
        )
    )
    return Checked(found["release"], [echo / 1e9 for echo in found["echoes"]])
