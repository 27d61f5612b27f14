"""Instances of user-written classes: their creation and their checks."""

import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fadeout import _names, _native
from fadeout._native import FadeoutError, ScenarioError

if TYPE_CHECKING:
    from fadeout.results import Results

Maker = Callable[[dict[str, Any]], dict[str, Any]]


class OwnError(FadeoutError):
    """A method of a user-written class raised an exception, which ended the run.

    The exception, with its traceback, is `__cause__`. `results` has the results until then.
    """

    def __init__(self, message: str, results: "Results") -> None:
        super().__init__(message)
        self.results = results


@dataclass(frozen=True)
class OwnKind:
    """A kind of the catalog that a user-written class may belong to."""

    kind: str
    """The name of the kind in the catalog."""
    argument: str
    """The argument of `fadeout.run` that takes the classes."""
    base: type
    required: tuple[str, ...]
    optional: tuple[str, ...]
    says: Callable[[str, str, Any], dict[str, Any]]
    """Returns further properties of an instance. It is called with name and label of the class."""

    @property
    def words(self) -> str:
        """The name of the kind in errors."""
        return self.kind.replace("-", " ")

    def makers(self, given: Mapping[str, Callable[..., Any]] | None) -> dict[str, Maker]:
        """Returns the functions that make the instances of each class, after checks of names and
        classes.
        """
        if given is None or given == {}:
            return {}
        if not isinstance(given, Mapping):
            raise TypeError(
                f"`{self.argument}` takes a dict of classes by name, not {type(given).__name__}"
            )
        taken = self._built_in()
        for name, cls in given.items():
            if not isinstance(name, str) or not name:
                raise ScenarioError(f"{self.words} {name!r}: expected a name as text")
            if name in taken:
                raise ScenarioError(
                    f"{self.words} '{name}': a built-in one has this name; expected another name, "
                    f"such as 'my-{name}'"
                )
            if not callable(cls):
                raise ScenarioError(
                    f"{self.words} '{name}': expected a class, found {type(cls).__name__}"
                )
        return {name: self._maker(name, cls) for name, cls in given.items()}

    def _maker(self, name: str, cls: Callable[..., Any]) -> Maker:
        def make(parameters: dict[str, Any]) -> dict[str, Any]:
            label = getattr(cls, "__qualname__", repr(cls))
            keywords = {key.replace("-", "_"): value for key, value in parameters.items()}
            try:
                inspect.signature(cls).bind(**keywords)
            except ValueError:
                pass  # Parameters of a class that is written in C are not known.
            except TypeError as error:
                raise ScenarioError(
                    self._wrong_parameters(name, label, cls, keywords, error)
                ) from None
            try:
                instance = cls(**keywords)
            except Exception as error:
                raise ScenarioError(
                    f"{self.words} '{name}': {label}({_listed(keywords)}) raised "
                    f"{type(error).__name__}: {error}"
                ) from error
            label = type(instance).__qualname__
            self._check_methods(name, label, instance)
            methods = {"class": label, **self.says(name, label, instance)}
            for method in (*self.required, *self.optional):
                if self._has(instance, method):
                    methods[method] = getattr(instance, method)
            return methods

        return make

    def _has(self, instance: Any, method: str) -> bool:  # noqa: ANN401 - any class
        """Returns True if the instance overrides the method of the base class."""
        own = getattr(instance, method, None)
        return own is not None and getattr(own, "__func__", own) is not vars(self.base)[method]

    def _takes(self, method: str) -> list[str]:
        """Returns the arguments of a method, without self."""
        return list(inspect.signature(getattr(self.base, method)).parameters)[1:]

    def _call(self, method: str) -> str:
        return f"{method}({', '.join(['self', *self._takes(method)])})"

    def _check_methods(self, name: str, label: str, instance: Any) -> None:  # noqa: ANN401
        """Refuses an instance without a required method, or with a method of other arguments."""
        missing = [method for method in self.required if not self._has(instance, method)]
        if missing:
            near = self._near_miss(type(instance), missing[0])
            calls = " and ".join(self._call(method) for method in self.required)
            raise ScenarioError(
                f"{self.words} '{name}': {label} has no method {' and no '.join(missing)}{near}; "
                f"expected {calls}"
            )
        for method in (*self.required, *self.optional):
            if not self._has(instance, method):
                continue
            function = getattr(instance, method)
            if not callable(function):
                raise ScenarioError(f"{self.words} '{name}': {label}.{method} is not a method")
            try:
                inspect.signature(function).bind(*[None] * len(self._takes(method)))
            except ValueError:
                continue  # Parameters of a method that is written in C are not known.
            except TypeError as error:
                raise ScenarioError(
                    f"{self.words} '{name}': {label}.{method} cannot be called: {error}; "
                    f"expected {self._call(method)}"
                ) from None

    def _near_miss(self, cls: type, method: str) -> str:
        message = _names.unknown(
            "method",
            method,
            [key for key in dir(cls) if key[0] != "_" and not hasattr(self.base, key)],
        )
        _, found, near = message.partition("did you mean ")
        return f" (is {near.rstrip('?')} meant for it?)" if found else ""

    def _wrong_parameters(
        self,
        name: str,
        label: str,
        cls: Callable[..., Any],
        keywords: dict[str, Any],
        error: TypeError,
    ) -> str:
        known = list(inspect.signature(cls).parameters)
        takes = f"takes {', '.join(known)}" if known else "takes no parameters"
        return (
            f"{self.words} '{name}': cannot make {label}({_listed(keywords)}): {error}; {label} "
            f"{takes}"
        )

    def _built_in(self) -> set[str]:
        names: set[str] = set()
        for kind in json.loads(_native.catalog())["kinds"]:
            if kind["name"] == self.kind:
                for entry in kind["entries"]:
                    names.update((entry["name"], *entry["aliases"]))
        return names


def _listed(keywords: dict[str, Any]) -> str:
    return ", ".join(f"{key}={value!r}" for key, value in keywords.items())
