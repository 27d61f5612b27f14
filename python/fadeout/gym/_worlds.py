"""Scenarios of environments: their source, and the values drawn at a reset."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fadeout import _native
from fadeout._run import ScenarioText, Source, check, override_list, read_source, with_traces
from fadeout.campaign.axes import at_share, check_distribution, parse_value

Distribution = Mapping[str, Sequence[Any]] | str
"""A distribution of a value: `{"uniform": ["5 ms", "50 ms"]}` or `"uniform(5 ms, 50 ms)"`.

The names are `uniform`, `log-uniform`, `normal`, `integers` and `choice`.
"""

_CALL = re.compile(r"\s*([a-z-]+)\s*\((.*)\)\s*")


class Worlds:
    """A scenario whose runs differ by the seed and by the values that are drawn."""

    def __init__(
        self,
        scenario: Source,
        *,
        randomise: Mapping[str, Distribution] | None = None,
        replace: Mapping[str, Any] | None = None,
    ) -> None:
        """Reads the scenario.

        Args:
            scenario: the path of a scenario file, its TOML text, or the scenario as a dict.
            randomise: distributions by the dotted key of the value that they replace.
            replace: values in place of the scenario's, by dotted key.

        Raises:
            ScenarioError: a distribution is wrong.
            OSError: the scenario cannot be read.
        """
        self._source = read_source(scenario)
        self._replace = dict(replace or {})
        self._distributions = {
            key: _distribution(key, given) for key, given in (randomise or {}).items()
        }

    def draw(self, random: np.random.Generator) -> dict[str, Any]:
        """Returns values drawn for the next run, in the order of the distributions."""
        return {
            key: at_share(distribution, float(random.random()))
            for key, distribution in self._distributions.items()
        }

    def build(
        self,
        drawn: Mapping[str, Any],
        seed: int,
        handover_policies: Mapping[str, Any] | None = None,
    ) -> _native.Simulation:
        """Returns a run at its start, which records no tables.

        Raises:
            ScenarioError: the scenario is wrong with these values.
        """
        text, name, base_dir = self._source
        overrides = override_list({**self._replace, **drawn})
        return _native.Simulation(
            text,
            source_name=name,
            base_dir=base_dir,
            overrides=with_traces(text, name, base_dir, overrides),
            seed=seed,
            handover_policies=None if handover_policies is None else dict(handover_policies),
            tables=False,
        )

    def reset(
        self, random: np.random.Generator, options: Mapping[str, Any] | None
    ) -> tuple[dict[str, Any], int]:
        """Returns the values of the next run and its seed.

        Args:
            random: the source of randomness.
            options: the options of `reset`. `"set"` has values in place of the scenario's and the
                drawn ones, by dotted key.

        Raises:
            ValueError: an option is unknown, or has the wrong type.
        """
        drawn = self.draw(random)
        seed = int(random.integers(2**31))
        for key, value in (options or {}).items():
            if key != "set":
                raise ValueError(f'reset: unknown option {key!r}; expected "set"')
            if not isinstance(value, Mapping):
                raise ValueError(f'reset: "set" is {value!r}; expected a dict of values by key')
            drawn |= value
        return drawn, seed


def tables_of(source: ScenarioText) -> dict[str, Any]:
    """Returns the tables of a scenario's text.

    Raises:
        ScenarioError: the text is not TOML.
    """
    try:
        return tomllib.loads(source.text)
    except (tomllib.TOMLDecodeError, RecursionError):
        # The error of the check has the file and the position.
        check(source)
        raise


def _distribution(key: str, given: Distribution) -> Mapping[str, Sequence[Any]]:
    if isinstance(given, str) and (found := _CALL.fullmatch(given)):
        given = {found[1]: [parse_value(part.strip()) for part in found[2].split(",")]}
    check_distribution(key, given)
    assert not isinstance(given, str), "a text is no distribution"
    return given
