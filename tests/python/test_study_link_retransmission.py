import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

from fadeout.cli.app import app
from fadeout.studies.link_retransmission.claims import (
    download_verdict,
    latencies,
    retransmission_verdicts,
    times_text,
)
from fadeout.studies.link_retransmission.runs import (
    BOTH,
    DATA,
    FOLDER,
    HARQ,
    MODES,
    NONE,
    across,
)
from fadeout.study import (
    IN_SIGHT,
    SIGHTS,
    At,
    Change,
    Effort,
    FoundInPlaces,
    Job,
    exactly,
    mixed,
    overrides,
)
from fadeout.study import (
    OTHER_LAWS as LAWS,
)

CHANGES = DATA.all("change", Change)
SIZES_MB = (1, 2, 5, 10)


def found_with(
    gains: dict[int, float],
    rtts_ms: tuple[float | None, ...] = (10, 20, 30),
    places: int = 6,
    spread: float = 0.01,
):
    """Returns long transfers whose goodput in mode `BOTH` is larger by these ratios."""

    def goodput(gain: float, place: int) -> float:
        return 100 * gain * (1 + spread * (-1) ** place)

    numbers = {
        (distance, mode): {
            sight: [
                {
                    "goodput_mbps": goodput(gain, place) if mode is BOTH else 100.0,
                    "rtt_ms": rtt_ms,
                }
                for place in range(places)
            ]
            for sight in SIGHTS
        }
        for distance, gain in gains.items()
        for mode, rtt_ms in zip(MODES, rtts_ms, strict=True)
    }
    return FoundInPlaces(("distance_m", "mode"), numbers)


def test_a_gain_holds_by_its_check_and_its_interval():
    def word(gains: dict[int, float], **more: Any) -> str:
        return retransmission_verdicts(found_with(gains, **more))[0].outcome

    assert word({50: 1, 100: 1.5, 150: 3}) == "holds"
    assert word({50: 1, 100: 1.5, 150: 9}) == "holds in sign only"
    assert word({50: 1.75, 100: 1.5, 150: 3}) == "does not hold"
    assert word({50: 1, 100: 0.9, 150: 2}) == "does not hold"
    assert word({50: 1, 100: 1.3, 150: 2}, spread=0.1) == "open"
    assert word({50: 1, 100: 1.5, 150: 2}, places=4) == "too few seeds"


def test_a_delay_that_nobody_measured_proves_nothing():
    unknown = found_with({150: 2}, (None, 20, 30))
    assert latencies(unknown, 150) == "- / 20 / 30"
    assert retransmission_verdicts(unknown)[1].holds is None
    assert retransmission_verdicts(found_with({150: 2}))[1].holds is True


def test_a_ratio_over_next_to_nothing_is_only_large():
    assert times_text(exactly(1.234)).startswith("1.23")
    assert times_text(exactly(math.inf)) == times_text(exactly(1e5)) == "> 100"


def test_files_are_compared_with_the_long_transfer():
    found = found_with({50: 1.0, 100: 1.5})

    def verdict(harq_s: float) -> bool | None:
        numbers = {
            (distance, mode, size): {
                sight: [{"time_s": harq_s if mode is HARQ else 1.0}] * 6 for sight in SIGHTS
            }
            for distance, mode in found
            for size in SIZES_MB
        }
        downloads = FoundInPlaces(("distance_m", "mode", "size_mb"), numbers)
        return download_verdict(found, downloads).holds

    assert verdict(1.6) is True
    assert verdict(1.4) is False


def test_every_change_makes_a_scenario():
    for change in CHANGES:
        for mode in MODES:
            parts = {"change": change, "distance_m": 50, "mode": mode}
            across(At(parts, 1, Effort(seeds=1, duration_s=1), sight=IN_SIGHT)).check()
    for change in DATA.all("uplink-change", Change):
        Job(FOLDER / "uplink.toml", overrides(change.values)).check()


def test_another_law_of_sight_weighs_the_same_places_in_another_way():
    places = {sight: [{"x": float(sight == IN_SIGHT)}] for sight in SIGHTS}
    shares = {name: mixed(places, 50, lambda each: each["x"], law) for name, law in LAWS.items()}
    # TR 38.901 Table 7.4.2-1 at 50 m: 0.36 + 0.64 exp(-50 / 36), and with 63 m.
    assert shares["UMi's law (TR 38.901)"] == pytest.approx(0.5196, abs=1e-4)
    assert shares["UMa's law (TR 38.901)"] == pytest.approx(0.6494, abs=1e-4)
    assert shares["all up to 50 m, none beyond"] == 1


def test_the_study_writes_all_its_tables(
    cli: CliRunner, spend: Callable[..., None], monkeypatch: pytest.MonkeyPatch
):
    spend("link-retransmission", seeds=1, swept_seeds=1, duration_s=0.3, delay_s=0.3, limit_s=1)
    for changes, count in (("change", 2), ("uplink-change", 1)):
        monkeypatch.setitem(DATA.document, changes, DATA[changes][:count])
    command = ["study", "link-retransmission", "--quick", "--out", "study"]
    result = cli.invoke(app, command)
    assert result.exit_code == 0, result.output
    found = json.loads(Path("study/results.json").read_text())
    assert {row["claim"] for row in found["claims"]} == {"retx_gain", "retx_latency", "wget"}
    assert len(found["bulk"]) == 4 * len(MODES)
    goodput = {(row["distance_m"], row["mode"]): row["goodput_mbps_mean"] for row in found["bulk"]}
    for distance in (50, 75, 100, 150):
        # Retransmissions on the link never cost TCP much. Without them the goodput may be zero.
        assert goodput[distance, BOTH.name] > 0.9 * goodput[distance, NONE.name]
        assert goodput[distance, BOTH.name] > 0
    downloads = pl.read_parquet("study/tables/downloads.parquet")
    assert len(downloads) == 4 * len(MODES) * len(SIZES_MB)
    rows = pl.read_csv("study/tables/assumptions.csv")
    assert len(rows) == (2 + len(LAWS)) * 6
    assert len(found["uplink"]) == len(MODES) + 1
    drop = {row["link"]: row["median_drop_db"] for row in found["walk"]}
    # Medians out of sight less those in sight at 58 m, without shadowing, are 27 and 16 dB.
    assert drop["28 GHz"] > 10
    assert drop["LTE 2.1 GHz"] > 5
    report = Path("study/report.md").read_text()
    for figure in Path("study/figures").glob("*.png"):
        assert figure.stat().st_size > 5_000
        assert f"figures/{figure.name}" in report
