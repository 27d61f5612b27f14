"""Conversion of files of other tools before a scenario is read: runs of SUMO, Parquet, maps.

Vehicles of a `[vehicles]` table with `format = "sumo"` are those of a SUMO configuration, which is
run. With `format = "sumo-parquet"` they are those of a table that SUMO wrote. Both become a CSV
file in the user's cache, named by the content of all its inputs.
"""

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import tomllib
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from fadeout import _osm, _projection, _streets
from fadeout._cache import cache_dir, kept_table
from fadeout._native import ScenarioError, mistake_of_file
from fadeout._projection import Projection, ProjectionError
from fadeout._quantities import meters

FORMATS = ("sumo", "sumo-parquet")
MISSING = (
    "SUMO is not installed: `pip install 'fadeout[sumo]'`, or put `sumo` on the PATH. Or give a "
    'trace of SUMO, with `format = "sumo-csv"`'
)
STEP_S = 0.05
"""Time between two positions of a vehicle, if the configuration gives no time step."""

COLUMNS = ("timestep_time", "vehicle_id", "vehicle_x", "vehicle_y", "vehicle_angle")
OPTIONAL = ("vehicle_type", "vehicle_speed", "vehicle_lane", "vehicle_edge")
ATTRIBUTES = "x,y,angle,type,speed,lane,edge"
"""Attributes of vehicles that SUMO writes. A row with an edge and without a lane is a person."""

CLASSES: Mapping[str, tuple[float, float, float]] = {
    "passenger": (5.0, 1.8, 1.5),
    "taxi": (5.0, 1.8, 1.5),
    "evehicle": (5.0, 1.8, 1.5),
    "delivery": (6.5, 2.16, 2.86),
    "emergency": (6.5, 2.16, 2.86),
    "truck": (7.1, 2.4, 2.4),
    "trailer": (16.5, 2.55, 4.0),
    "bus": (12.0, 2.5, 3.4),
    "coach": (14.0, 2.6, 4.0),
    "motorcycle": (2.2, 0.9, 1.5),
    "moped": (2.1, 0.8, 1.7),
    "bicycle": (1.6, 0.65, 1.7),
    "pedestrian": (0.215, 0.478, 1.719),
}
"""Length, width and height in metres of SUMO's vehicle classes, for types without their own."""


class _Written(NamedTuple):
    """A scenario as the user wrote it."""

    text: str
    name: str
    given: Sequence[str]
    """Overrides of the scenario."""


def _mistake(scenario: _Written, where: tuple[str, str, str], error: Exception) -> ScenarioError:
    """Returns the error about a file, at the place of its key: table, element and key."""
    table, name, key = where
    return mistake_of_file(
        scenario.text,
        f'{table} "{name}": {error}',
        source_name=scenario.name,
        overrides=list(scenario.given),
        table=table,
        name=name,
        key=key,
    )


class _Road(NamedTuple):
    group: str
    file: Path
    format: str
    has_types: bool


def overrides(text: str, name: str, base_dir: str | None, given: Sequence[str]) -> list[str]:
    """Returns overrides that replace the traces of a scenario's vehicles by converted files.

    Raises:
        ScenarioError: a file is missing or wrong, or SUMO is missing or fails.
    """
    found: list[str] = []
    for building, table in _maps(text, given):
        first = _read_map(_Written(text, name, given), building, table, base_dir)[0]
        found += [f"building.{building}.{key}={value}" for key, value in _keys(first).items()]
    found += _street_tables(text, name, base_dir, given)
    for road in _roads(text, base_dir, given):
        key = f"vehicles.{road.group}.road"
        try:
            if road.format == "sumo":
                trace, types = _run(road.file)
            else:
                trace, types = _table(road.file), []
        except (OSError, _TraceError) as error:
            raise _mistake(
                _Written(text, name, given), ("vehicles", road.group, "file"), error
            ) from None
        # Inline tables are written on one line, so the keys stand one by one.
        found += [f'{key}.file="{trace}"', f'{key}.format="sumo-csv"']
        if types and not road.has_types:
            found.append(f"vehicles.{road.group}.types=[{', '.join(types)}]")
    return found


def runs_a_program(text: str, given: Sequence[str]) -> bool:
    """Returns True if `overrides` would run SUMO."""
    return any(road.format == "sumo" for road in _roads(text, None, given))


def files_named(text: str, given: Sequence[str]) -> list[str]:
    """Returns the files that `overrides` and `with_buildings` read, as the scenario names them."""
    maps = [table["file"] for _, table in _maps(text, given)]
    roads = [_road_table(table, group, given) for group, table in _tables(text, "vehicles")]
    named = [road[key] for road in roads for key in ("file", "streets", "net") if key in road]
    nets = [table["net"] for _, table in _maps(text, given) if "net" in table]
    return [name for name in (*maps, *nets, *named) if isinstance(name, str)]


def _maps(text: str, given: Sequence[str]) -> Iterable[tuple[str, dict[str, Any]]]:
    """Yields the buildings of a scenario that are read from a map file."""
    for building, table in _tables(text, "building"):
        own = table | _set(given, f"building.{building}")
        # A building with an outline is from a resolved scenario, whose map was read before.
        if isinstance(own.get("file"), str) and "outline" not in own:
            yield building, own


def _tables(text: str, kind: str) -> Iterable[tuple[str, dict[str, Any]]]:
    """Yields the named tables of a kind. A scenario that is not TOML has none."""
    try:
        tables = tomllib.loads(text).get(kind)
    except (tomllib.TOMLDecodeError, RecursionError):
        return
    for name, table in tables.items() if isinstance(tables, dict) else ():
        yield name, table if isinstance(table, dict) else {}


def _set(given: Sequence[str], table: str) -> dict[str, Any]:
    """Returns the values that overrides set in a table."""
    values: dict[str, Any] = {}
    for one in given:
        key, _, value = one.partition("=")
        match = re.fullmatch(rf"{re.escape(table)}\.([a-z-]+)", key.strip())
        if match:
            try:
                values[match[1]] = tomllib.loads(f"x = {value}")["x"]
            except (tomllib.TOMLDecodeError, RecursionError):
                values[match[1]] = value.strip()
    return values


def with_buildings(text: str, name: str, base_dir: str | None) -> str:
    """Returns a scenario's text, to which the buildings of its extracts are appended.

    The first building of each extract is not appended.

    Raises:
        ScenarioError: an extract is missing or wrong.
    """
    added = []
    for building, table in _maps(text, ()):
        for number, one in enumerate(
            _read_map(_Written(text, name, ()), building, table, base_dir)
        ):
            if number:
                values = "\n".join(f"{key} = {value}" for key, value in _keys(one).items())
                added.append(f"[building.{building}-{number}]\n{values}\n")
    return "\n".join([text, *added]) if added else text


def _read_map(
    scenario: _Written, building: str, table: Mapping[str, Any], base_dir: str | None
) -> Sequence[_osm.Building]:
    """Returns the buildings of an extract."""

    def length(key: str, usual: float) -> float:
        try:
            return meters(table[key]) if key in table else usual
        except (TypeError, ValueError):
            # The reader of scenarios reports the mistake.
            return usual

    file = (Path(base_dir or ".") / table["file"]).absolute()
    try:
        changed = file.stat().st_mtime_ns if file.is_file() else 0
        return _known_map(
            file,
            changed,
            _projection_of(table, base_dir),
            length("default-height", _osm.DEFAULT_M),
            length("level-height", _osm.LEVEL_M),
        )
    except _projection.ProjectionError as error:
        raise _mistake(scenario, ("building", building, "net"), error) from None
    except (OSError, _osm.OsmError) as error:
        raise _mistake(scenario, ("building", building, "file"), error) from None


def _projection_of(table: Mapping[str, Any], base_dir: str | None) -> Projection | None:
    """Returns the projection of the network or around the origin that a table names.

    None if the table names neither.

    Raises:
        ProjectionError: the network is missing or has no projection, or the table has both.
    """
    net = table.get("net")
    if isinstance(net, str):
        if "origin" in table:
            raise ProjectionError("both `net` and `origin`; expected one of the two")
        return _projection.of_network(Path(base_dir or ".") / net)
    match table.get("origin"):
        case [int() | float() as lat, int() | float() as lon]:
            return _projection.around((float(lat), float(lon)))
        case _:
            # The reader of scenarios reports the mistake.
            return None


@lru_cache(maxsize=8)
def _known_map(
    file: Path,
    _changed: int,
    projection: Projection | None,
    default_m: float,
    level_m: float,
) -> Sequence[_osm.Building]:
    return _osm.buildings(file, projection=projection, default_m=default_m, level_m=level_m)


def _keys(one: _osm.Building) -> dict[str, str]:
    """Returns a building in the form of a scenario."""
    every = [place for ring in one.rings for place in ring]
    xs, ys = [x for x, _ in every], [y for _, y in every]
    return {
        "corner": _place((min(xs), min(ys))),
        "opposite": _place((max(xs), max(ys))),
        "outline": f"[{', '.join(_ring(ring) for ring in one.rings)}]",
        "height": f'"{one.height:g} m"',
        "base": f'"{one.base:g} m"',
    }


def _street_tables(
    text: str, name: str, base_dir: str | None, given: Sequence[str]
) -> Iterable[str]:
    """Yields the tables in place of the extracts with the streets of vehicles."""
    for group, table in _tables(text, "vehicles"):
        road = _road_table(table, group, given)
        named = road.get("streets")
        if not isinstance(named, str) or not named.endswith((".osm", ".pbf")):
            continue
        file = (Path(base_dir or ".") / named).absolute()
        try:
            kept = kept_table(_streets.table(file, _projection_of(road, base_dir)))
        except (OSError, _osm.OsmError, _projection.ProjectionError) as error:
            raise _mistake(
                _Written(text, name, given), ("vehicles", group, "streets"), error
            ) from None
        yield f'vehicles.{group}.road.streets="{kept}"'


def _place(place: tuple[float, float]) -> str:
    return f'["{place[0]:.3f} m", "{place[1]:.3f} m"]'


def _ring(ring: Iterable[tuple[float, float]]) -> str:
    return f"[{', '.join(_place(place) for place in ring)}]"


class _TraceError(Exception):
    """A mistake in a trace, with the expected content."""


def _roads(text: str, base_dir: str | None, given: Sequence[str]) -> Iterable[_Road]:
    """Yields the vehicles whose traces are to be made."""
    for group, table in _tables(text, "vehicles"):
        road = _road_table(table, group, given)
        if road.get("format") in FORMATS and isinstance(road.get("file"), str):
            file = Path(base_dir or ".") / road["file"]
            yield _Road(group, file.absolute(), road["format"], "types" in table)


def _road_table(table: Mapping[str, Any], group: str, given: Sequence[str]) -> dict[str, Any]:
    """Returns the table `road` of a group of vehicles, with overrides applied."""
    road = table.get("road")
    return (road if isinstance(road, dict) else {}) | _set(given, f"vehicles.{group}.road")


def find_sumo() -> Path | None:
    """Returns the program `sumo`: of the package eclipse-sumo, of SUMO_HOME, or on the PATH."""
    homes = [Path(os.environ["SUMO_HOME"])] if "SUMO_HOME" in os.environ else []
    spec = find_spec("sumo")
    if spec is not None and spec.origin is not None:
        homes.insert(0, Path(spec.origin).parent)
    for home in homes:
        for name in ("sumo", "sumo.exe"):
            if (home / "bin" / name).is_file():
                return home / "bin" / name
    found = shutil.which("sumo")
    return Path(found) if found else None


def _run(config: Path) -> tuple[Path, list[str]]:
    """Returns the trace that a SUMO configuration makes, and the types of its vehicles."""
    inputs = _inputs(config)
    types = _types(inputs)
    program = find_sumo()
    if program is None:
        raise _TraceError(MISSING)
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    digest = hashlib.sha256(version.stdout.partition("\n")[0].encode())
    for file in inputs:
        digest.update(file.name.encode() + b"\0" + hashlib.sha256(file.read_bytes()).digest())
    digest.update(f"{STEP_S} {ATTRIBUTES}".encode())
    kept = cache_dir() / f"{digest.hexdigest()[:32]}.csv"
    if kept.is_file():
        return kept, types
    with tempfile.TemporaryDirectory(dir=kept.parent) as scratch:
        trace = Path(scratch) / "trace.csv"
        command = [
            str(program),
            "--configuration-file",
            str(config),
            "--fcd-output",
            str(trace),
            "--fcd-output.attributes",
            ATTRIBUTES,
            "--precision",
            "3",
            "--no-step-log",
            "true",
        ]
        if not _says(config, "step-length"):
            command += ["--step-length", f"{STEP_S}"]
        elif not _says(config, "device.fcd.period"):
            command += ["--device.fcd.period", f"{max(STEP_S, _number(config, 'step-length'))}"]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, cwd=config.parent
        )
        if done.returncode != 0 or not trace.is_file():
            said = (done.stderr or done.stdout).strip().splitlines()
            reason = next((line for line in said if line.startswith("Error")), "no message")
            raise _TraceError(f"{config}: SUMO failed: {reason}")
        trace.replace(kept)
    return kept, types


def _inputs(config: Path) -> list[Path]:
    """Returns the configuration and the files that it names, in the order of the file."""
    tree = _xml(config)
    files = [config]
    for key in ("net-file", "route-files", "additional-files", "weight-files", "taz-files"):
        for element in tree.iter(key):
            for part in (element.get("value") or element.get("v") or "").split(","):
                if part.strip():
                    files.append(config.parent / part.strip())
    if len(files) == 1:
        raise _TraceError(
            f"{config} names no network; expected a SUMO configuration with <net-file> and "
            "<route-files>"
        )
    for file in files:
        if not file.is_file():
            raise _TraceError(f"{file} is missing, but {config.name} names it")
    return files


def _xml(file: Path) -> ET.Element:
    if not file.is_file():
        raise _TraceError(f"{file} is missing; expected a SUMO configuration (.sumocfg)")
    if _osm.has_document_type(file):
        raise _TraceError(
            f"{file} has a document type, which may declare entities; expected XML of SUMO, which "
            "has none"
        )
    try:
        return ET.parse(file).getroot()
    except ET.ParseError as error:
        raise _TraceError(f"{file}: {error}; expected XML of SUMO") from None


def _says(config: Path, key: str) -> bool:
    return any(True for _ in _xml(config).iter(key))


def _number(config: Path, key: str) -> float:
    for element in _xml(config).iter(key):
        try:
            return float(element.get("value") or element.get("v") or "")
        except ValueError:
            break
    return STEP_S


def _types(inputs: Sequence[Path]) -> list[str]:
    """Returns the vehicle types of SUMO's files in the form of a scenario. The first is for all
    others.
    """
    found = ['{ length = "5 m", width = "1.8 m", height = "1.5 m" }']
    for file in inputs[1:]:
        if file.suffix != ".xml":
            continue
        for one in _xml(file).iter("vType"):
            length, width, height = CLASSES.get(
                one.get("vClass", "passenger"), CLASSES["passenger"]
            )
            name = (one.get("id") or "").replace("\\", "\\\\").replace('"', '\\"')
            sizes = (
                ("length", length),
                ("width", width),
                ("height", height),
            )
            parts = []
            for key, usual in sizes:
                try:
                    size = float(one.get(key) or usual)
                except ValueError:
                    raise _TraceError(
                        f'{file}: vType "{name}" has the {key} `{one.get(key)}`; expected metres'
                    ) from None
                parts.append(f'{key} = "{size:g} m"')
            found.append(f'{{ name = "{name}", {", ".join(parts)} }}')
    return found


def _table(file: Path) -> Path:
    """Returns a table of floating car data in Parquet as CSV."""
    if not file.is_file():
        raise _TraceError(f"{file} is missing; expected floating car data of SUMO in Parquet")
    digest = hashlib.sha256(file.read_bytes())
    digest.update(",".join((*COLUMNS, *OPTIONAL)).encode())
    kept = cache_dir() / f"{digest.hexdigest()[:32]}.csv"
    if kept.is_file():
        return kept
    # Imported late, as every command calls this module and few scenarios have a table.
    import polars as pl

    try:
        table = pl.read_parquet(file)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise _TraceError(f"{file}: {str(error).splitlines()[0]}; expected Parquet") from None
    plain = {one.removeprefix("vehicle_").removeprefix("timestep_"): one for one in table.columns}
    names = {}
    for column in (*COLUMNS, *OPTIONAL):
        short = column.removeprefix("vehicle_").removeprefix("timestep_")
        if short in plain:
            names[plain[short]] = column
        elif column in COLUMNS:
            raise _TraceError(
                f"{file} has no column `{column}`; expected {', '.join(COLUMNS)}, as in files of "
                "SUMO's --fcd-output"
            )
    table = table.select(names.keys()).rename(names)
    if not table["timestep_time"].dtype.is_numeric():
        raise _TraceError(
            f"{file}: `timestep_time` is not a number; expected a trace written without "
            "--human-readable-time"
        )
    # Time steps without vehicles have no position.
    table = table.drop_nulls(COLUMNS)
    scratch = kept.with_suffix(f".{os.getpid()}.tmp")
    table.write_csv(scratch, separator=";", float_precision=6)
    scratch.replace(kept)
    return kept
