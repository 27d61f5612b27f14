"""Limits of a campaign from a file of somebody else."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PureWindowsPath

from fadeout._native import ResultError
from fadeout._run import MEASURED, TRACES, has_word


def is_below(name: str) -> bool:
    """True if the path `name` leads to a place below the folder that it starts from.

    The rules of both families of systems apply, as an archive may come from either.
    """
    path = PureWindowsPath(name)
    return not path.anchor and ".." not in path.parts and bool(path.parts) and "\0" not in name


@dataclass(frozen=True)
class Foreign:
    """An archive from somebody else: its campaign may name files of the archive alone."""

    file: Path
    """The archive's name in errors."""
    allow_code: bool = False
    """True if the archive's Python files may run."""

    def check_file(self, what: str, name: object) -> str:
        """Returns the name of the file that `what` names, which is below the archive's folder."""
        if not isinstance(name, str) or not is_below(name):
            raise ResultError(
                f"{self.file}: {what} names {name!r}; expected a file of the archive, by its name "
                "below the archive's folder"
            )
        return name

    def check_code(self, what: str, name: str) -> None:
        """Raises unless the Python file that `what` names belongs to the archive and may run."""
        self.check_file(what, name)
        if not self.allow_code:
            raise ResultError(
                f"{self.file}: {what} is code of the archive, {name}, which would run with your "
                "rights; expected --allow-code (in Python allow_code=True), if you trust it"
            )

    def check_scenario(self, text: str, overrides: Sequence[str] = ()) -> None:
        """Raises if preparing the scenario needs a program, or a file outside the archive."""
        if has_word(MEASURED, text, overrides):
            from fadeout.measured import scenario

            for name in scenario.files_named(text, overrides):
                self.check_file("the scenario", name)
        if not has_word(TRACES, text, overrides):
            return
        from fadeout import _traces

        if _traces.runs_a_program(text, overrides):
            raise ResultError(
                f"{self.file}: the scenario runs SUMO with a file of the archive, which can write "
                'anywhere; expected the trace that SUMO wrote, with `format = "sumo-csv"`'
            )
        for name in _traces.files_named(text, overrides):
            self.check_file("the scenario", name)
