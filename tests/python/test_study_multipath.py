import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fadeout.cli import app
from fadeout.studies.multipath import study
from fadeout.studies.multipath.setups import COUPLINGS, DISTANCES_M, SETUPS, SINGLE, Setup
from fadeout.studies.multipath.study import Effort, claims_section


def found(near: Mapping[str, float], far: Mapping[str, float]):
    """Runs with these goodputs of the single path, LTE, 73 GHz and BALIA over LTE."""
    setups = (SINGLE, Setup("LTE"), Setup("73 GHz"), Setup("LTE", "balia"))
    return {
        (distance, setup): [{"goodput_mbps": values[name]}]
        for distance, values in ((DISTANCES_M[0], near), (DISTANCES_M[-1], far))
        for setup, name in zip(setups, ("single", "lte", "mmwave", "balia"), strict=True)
    }


def test_each_claim_is_judged_by_its_own_bounds():
    near = {"single": 100, "lte": 100, "mmwave": 135, "balia": 90}
    far = {"single": 100, "lte": 200, "mmwave": 150, "balia": 90}
    section = claims_section(found(near, far))
    assert section.table is not None
    assert [row[-1] for row in section.table.rows] == ["holds"] * 4
    near = {"single": 100, "lte": 120, "mmwave": 160, "balia": 110}
    far = {"single": 100, "lte": 200, "mmwave": 210, "balia": 90}
    section = claims_section(found(near, far))
    assert section.table is not None
    assert [row[-1] for row in section.table.rows] == ["does not hold"] * 4


def test_the_study_compares_all_couplings(cli: CliRunner, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(study, "QUICK", Effort(seeds=2, duration_s=0.2))
    result = cli.invoke(app, ["study", "multipath", "--quick", "--out", "study"])
    assert result.exit_code == 0, result.output
    rows = json.loads(Path("study/results.json").read_text())["distance"]
    assert len(rows) == len(DISTANCES_M) * len(SETUPS)
    assert {row["coupling"] for row in rows} == set(COUPLINGS)
    assert all(row["goodput_mbps_mean"] > 0 for row in rows)
    assert Path("study/figures/distance.png").stat().st_size > 5_000
