"""Kernels that nodes can run: Linux as a process, built here from its distribution's source.

fadeout contains no part of Linux. A built kernel is kept in the user's cache, in a folder named by
the digest of its sources.
"""

from fadeout.kernel.build import build, missing_tools
from fadeout.kernel.installed import Checked, Kernel, check, find, folder, installed

__all__ = ["Checked", "Kernel", "build", "check", "find", "folder", "installed", "missing_tools"]
