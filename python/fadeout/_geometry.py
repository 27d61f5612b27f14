"""Positions of UEs and vehicles, and obstacles between UEs and cells, without a run."""

import io
import operator
from typing import SupportsIndex

import polars as pl

from fadeout import _native
from fadeout._quantities import seconds
from fadeout._run import Overrides, Source, override_list, read_source, with_traces


def geometry(
    source: Source,
    *,
    seed: SupportsIndex | None = None,
    set: Overrides | None = None,  # noqa: A002
) -> pl.DataFrame:
    """Returns the position and radio level of each UE at the start of a run, without running it.

    There is one row for each UE. `fadeout list tables geometry` lists the columns. Levels are those
    of the downlink over the whole band, with all cells of the carrier at full power and without
    small-scale fading. If the scenario gives a UE's SINR, all columns but its position are null.
    `sir_db` is null without another cell.

    Raises:
        ScenarioError: the scenario is wrong.
        OSError: the scenario cannot be read.
    """
    text, name, base_dir = read_source(source)
    overrides = override_list(set)
    if seed is not None:
        overrides.append(f"seed={operator.index(seed)}")
    overrides = with_traces(text, name, base_dir, overrides)
    stream = _native.geometry(text, source_name=name, base_dir=base_dir, overrides=overrides)
    return pl.read_ipc_stream(io.BytesIO(stream))


def tracks(
    source: Source,
    *,
    every: str | float = "100 ms",
    seed: SupportsIndex | None = None,
    set: Overrides | None = None,  # noqa: A002
) -> pl.DataFrame:
    """Returns the position of each vehicle of a scenario over time, without running it.

    There is one row for each vehicle and time step. `fadeout list tables tracks` lists the columns.
    A UE on no vehicle has rows without group, length and width, and its height is its antenna's. A
    vehicle of a trace has rows while it is present.

    Raises:
        ScenarioError: the scenario is wrong.
        OSError: the scenario cannot be read.
        ValueError: there would be more than five million rows.
    """
    return _read(_found(source, every, seed, set)[0])


def sights(
    source: Source,
    *,
    every: str | float = "100 ms",
    seed: SupportsIndex | None = None,
    set: Overrides | None = None,  # noqa: A002
) -> pl.DataFrame:
    """Returns the obstacles between the UEs and the cells of a scenario over time, without running
    it.

    There is one row for each UE, cell and time step. `fadeout list tables sights` lists the
    columns.

    Raises:
        ScenarioError: the scenario is wrong.
        OSError: the scenario cannot be read.
        ValueError: there would be more than five million rows.
    """
    return _read(_found(source, every, seed, set)[1])


def tracks_and_sights(source: Source, *, every: str | float) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Returns the frames of `tracks` and of `sights`, computed together."""
    moving, seen = _found(source, every, None, None)
    return _read(moving), _read(seen)


def _found(
    source: Source,
    every: str | float,
    seed: SupportsIndex | None,
    overrides: Overrides | None,
) -> tuple[bytes, bytes]:
    text, name, base_dir = read_source(source)
    given = override_list(overrides)
    if seed is not None:
        given.append(f"seed={operator.index(seed)}")
    return _native.tracks(
        text,
        every_ns=round(seconds(every) * 1e9),
        source_name=name,
        base_dir=base_dir,
        overrides=with_traces(text, name, base_dir, given),
    )


def _read(stream: bytes) -> pl.DataFrame:
    return pl.read_ipc_stream(io.BytesIO(stream))
