"""Scenarios to start from: shipped ones, those of the documentation, and combined features."""

import re
import tomllib
import warnings
from functools import cache
from random import Random
from typing import Any

import fadeout
from generator.features import DEFAULT, FEATURES, compose
from generator.schema import ROOT

Scenario = dict[str, Any]


@cache
def shipped() -> dict[str, Scenario]:
    """Returns the scenarios in `scenarios/`, with absolute paths of their channel files."""
    found = {}
    for path in sorted((ROOT / "scenarios").glob("*.toml")):
        scenario = tomllib.loads(path.read_text())
        for table in scenario.get("channel-file", {}).values():
            table["file"] = str(path.parent / table["file"])
        found[path.stem] = scenario
    return found


@cache
def documented() -> dict[str, Scenario]:
    """Returns the whole scenarios on pages of the documentation."""
    found = {}
    block = re.compile(r"```(?:toml|\{file\} \S+\.toml)\n(.*?)```", re.DOTALL)
    for page in sorted((ROOT / "docs").glob("**/*.md")):
        for number, match in enumerate(block.finditer(page.read_text())):
            text = re.sub(r"^:.*\n", "", match[1])
            try:
                scenario = tomllib.loads(text)
            except tomllib.TOMLDecodeError:
                continue
            is_whole = "duration" in scenario and ("flow" in scenario or "cell" in scenario)
            if is_whole and not _reads_files(scenario):
                found[f"{page.stem}-{number}"] = scenario
    return found


def _reads_files(table: Any) -> bool:
    if isinstance(table, dict):
        names = ("file", "trace", "series", "kernel", "command")
        return any(key in names or _reads_files(item) for key, item in table.items())
    return isinstance(table, list) and any(_reads_files(item) for item in table)


def templates() -> dict[str, Scenario]:
    """Returns one scenario for each value of each feature, the others at their default."""
    return {
        f"{name}={value}": compose({**DEFAULT, name: value})
        for name, values in FEATURES.items()
        for value in values
    }


def combined(random: Random) -> Scenario:
    """Returns an accepted scenario with about a quarter of the features drawn."""
    while True:
        choices = {
            name: random.choice(list(values)) if random.random() < 0.25 else DEFAULT[name]
            for name, values in FEATURES.items()
        }
        scenario = compose(choices)
        if is_accepted(scenario):
            return scenario


def is_accepted(scenario: Scenario) -> bool:
    """Returns True if a check finds no mistake."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            fadeout.check(scenario)
        except fadeout.ScenarioError:
            return False
    return True


@cache
def all_bases() -> dict[str, Scenario]:
    """Returns every base that is accepted as it is, by name. A caller changes only a copy."""
    found = {**shipped(), **documented(), **templates()}
    return {name: scenario for name, scenario in found.items() if is_accepted(scenario)}
