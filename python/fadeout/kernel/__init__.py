"""Kernels that nodes can run: Linux as a process, built here from its distribution's source.

Nothing of Linux is part of fadeout. What is built lies in the user's cache, one folder a kernel,
named by what it was built from.
"""

from fadeout.kernel.build import build, missing_tools
from fadeout.kernel.installed import Checked, Kernel, check, find, folder, installed

__all__ = ["Checked", "Kernel", "build", "check", "find", "folder", "installed", "missing_tools"]
