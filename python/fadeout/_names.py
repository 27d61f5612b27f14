"""Mistyped names, and the nearest valid ones."""

from collections.abc import Iterable
from difflib import get_close_matches


def unknown(kind: str, name: object, known: Iterable[str]) -> str:
    """Returns a message that `name` is no `kind`, with the nearest valid name or all of them."""
    names = list(known)
    near = get_close_matches(str(name), names, n=1, cutoff=0.6)
    if near:
        return f"unknown {kind} '{name}', did you mean '{near[0]}'?"
    return f"unknown {kind} '{name}'; expected one of {', '.join(names)}"
