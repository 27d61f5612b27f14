"""Attributes of a package that are imported when they are first asked for.

The command answers at once so, and says in a line what is missing where something cannot be loaded.
"""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module


def attributes(
    package: dict[str, object], homes: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of the module whose globals are `package`.

    Args:
        homes: the names that each module gives it.
    """
    home_of = {name: home for home, names in homes.items() for name in names}

    def find(name: str) -> object:
        if name not in home_of:
            raise AttributeError(f"module '{package['__name__']}' has no attribute '{name}'")
        found = getattr(import_module(home_of[name]), name)
        package[name] = found
        return found

    return find, lambda: sorted({*package, *home_of})
