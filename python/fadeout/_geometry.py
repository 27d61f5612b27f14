"""Where UEs stand, and what they hear, without a run."""

import io
import operator
from typing import SupportsIndex

import polars as pl

from fadeout import _native
from fadeout._run import Overrides, Source, override_list, read_source


def geometry(
    source: Source,
    *,
    seed: SupportsIndex | None = None,
    set: Overrides | None = None,  # noqa: A002
) -> pl.DataFrame:
    """Where each UE of a scenario stands when a run begins, without running it.

    A row each; `fadeout list tables geometry` has the columns. Levels are wideband, of the
    downlink, with all cells of the carrier at full power and without small-scale fading. What is
    not there is null: all but the place of a UE whose SINR is given, and `sir_db` where there is
    no other cell.

    Raises:
        ScenarioError: the scenario is wrong.
        OSError: the scenario cannot be read.
    """
    text, name, base_dir = read_source(source)
    overrides = override_list(set)
    if seed is not None:
        overrides.append(f"seed={operator.index(seed)}")
    stream = _native.geometry(text, source_name=name, base_dir=base_dir, overrides=overrides)
    return pl.read_ipc_stream(io.BytesIO(stream))
