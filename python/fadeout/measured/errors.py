"""Mistakes in measured tables."""


class MeasuredError(Exception):
    """A mistake in a measured table or its keys, with the expected content.

    `key` is the key of the scenario that causes the mistake. `file` if the table itself is wrong.
    """

    def __init__(self, message: str, *, key: str = "file") -> None:
        super().__init__(message)
        self.key = key


def at_line(name: str, line: int | None, message: str) -> MeasuredError:
    """Returns the error about a line of a table. `line` is None if the table has no lines."""
    where = f"{name}: line {line}" if line is not None else name
    return MeasuredError(f"{where}: {message}")
