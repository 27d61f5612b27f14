"""Attributes of a package that are imported at their first use.

The command then starts at once. If a module cannot be loaded, it prints the reason in one line.
"""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module


def attributes(
    package: dict[str, object], homes: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Returns `__getattr__` and `__dir__` of the module whose globals are `package`.

    Args:
        homes: the names that each module provides.
    """
    home_of = {name: home for home, names in homes.items() for name in names}

    def find(name: str) -> object:
        if name not in home_of:
            raise AttributeError(f"module '{package['__name__']}' has no attribute '{name}'")
        found = getattr(import_module(home_of[name]), name)
        package[name] = found
        return found

    return find, lambda: sorted({*package, *home_of})
