"""What the compiled module offers. `fadeout.run` and `fadeout.Results` are the friendly front."""

from collections.abc import Callable, Sequence
from typing import Any, TypedDict

class ErrorDetail(TypedDict):
    file: str
    line: int
    column: int
    message: str
    expected: str | None
    suggestion: str | None
    rendered: str

class Outcome(TypedDict):
    summary: str
    manifest: str
    fingerprint: str
    complete: bool
    tables: dict[str, bytes]
    captures: dict[str, bytes]
    out: str | None

class FadeoutError(Exception): ...

class ScenarioError(FadeoutError):
    errors: list[ErrorDetail]

class ResultError(FadeoutError):
    path: str | None

class EngineBug(FadeoutError): ...

def run(
    text: str,
    *,
    source_name: str = "<string>",
    base_dir: str | None = None,
    overrides: Sequence[str] = (),
    seed: int | None = None,
    out: str | None = None,
    force: bool = False,
    progress: Callable[[dict[str, Any]], bool | None] | None = None,
    tables: bool = True,
) -> Outcome: ...
def check(
    text: str,
    *,
    source_name: str = "<string>",
    base_dir: str | None = None,
    overrides: Sequence[str] = (),
) -> None: ...
def packetdrill(text: str, name: str) -> str: ...
def catalog() -> str: ...
def schema() -> str: ...
def tables() -> str: ...
def build_info() -> dict[str, str]: ...
