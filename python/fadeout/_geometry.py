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

    A row each: `ue`, its place `x_m`, `y_m` and `height_m`, the `cell` that it hears best, the
    `distance_m` to it on the ground, `coupling_loss_db` (transmitted power over received power,
    antennas included), `snr_db`, `sir_db` and `sinr_db` (wideband, of the downlink, with all cells
    of the carrier at full power), and `line_of_sight`. Small-scale fading is left out. What is not
    there is null: all but the place of a UE whose SINR is given, `sir_db` where no other cell is.

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
