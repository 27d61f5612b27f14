"""Packages that only parts of fadeout need, and the extras that install them.

An import of a missing one from within fadeout raises `MissingPackage`, which names the extra.
"""

import sys

TYPE_CHECKING = False
"""Flag of `typing`, which takes longer to import than this module."""

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

PACKAGES = {"matplotlib": "plot", "numpy": "data", "scipy": "study"}
"""Packages with the smallest extra that installs each."""

USERS_OF_ALL = tuple(
    f"fadeout.{part}" for part in ("campaign", "fit", "statistics", "studies", "study", "validate")
)
"""Modules that use all of these packages. The extra `study` installs all of them."""


class MissingPackage(ModuleNotFoundError):
    """A package that a part of fadeout needs is not installed. The message names the extra."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(
            f"this part of fadeout needs {package}; pip install 'fadeout[{extra}]' installs it",
            name=package,
        )


def missing(package: str) -> MissingPackage | None:
    """Returns the error for a package that is not installed. `None` if it is installed."""
    from importlib.util import find_spec

    try:
        return None if find_spec(package) else MissingPackage(package, PACKAGES[package])
    except MissingPackage as error:
        return error


class Finder:
    """Finder of modules that finds nothing, and is asked last."""

    @staticmethod
    def find_spec(
        name: str, path: "Sequence[str] | None" = None, target: "ModuleType | None" = None
    ) -> "ModuleSpec | None":
        """Returns `None`.

        Raises:
            MissingPackage: a module of fadeout imports a package of an extra.
        """
        del path, target
        if name in PACKAGES and (user := _importer()).partition(".")[0] == "fadeout":
            extra = "study" if user.startswith(USERS_OF_ALL) else PACKAGES[name]
            raise MissingPackage(name, extra)
        return None


def _importer() -> str:
    """Returns the name of the module that imports another one."""
    frame = sys._getframe()
    while frame is not None:
        name = str(frame.f_globals.get("__name__", ""))
        if name != __name__ and name.partition(".")[0] not in ("importlib", "_frozen_importlib"):
            return name
        frame = frame.f_back
    return ""


def install() -> None:
    """Lets imports of missing packages name the extra."""
    if Finder not in sys.meta_path:
        sys.meta_path.append(Finder)
