"""The study of mobility among macro cells and picos."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fadeout.cli.app import app
from fadeout.studies.mobility import claims, study
from fadeout.studies.mobility.claims import FAILED, TRIED, more
from fadeout.studies.mobility.geometry import closed_form, walk
from fadeout.studies.mobility.runs import (
    AT_KMH,
    BASE,
    CHANGES,
    COUNTS,
    DATA,
    LINES,
    MIDDLE,
    SETS,
    WITHOUT_PICOS,
    in_network,
    through_pico,
)
from fadeout.study import At, Change, Found, Numbers

CIRCLE_CHANGES = DATA.all("circle-change", Change)


def counts(handovers: int, state_2: int, ping_pongs: int = 0) -> list[Numbers]:
    """Returns counts of six seeds around the given counts."""
    return [
        {
            **dict.fromkeys(COUNTS, 0.0),
            "handovers": float(handovers + n % 2),
            "failures_state_2": float(state_2 + n % 3),
            "ping_pongs": float(ping_pongs),
        }
        for n in range(6)
    ]


@pytest.mark.parametrize(
    ("kmh", "trigger_s", "expected"),
    [
        (120, 0.48, (0.012883, 0.691371, 0.044308)),
        (60, 1.024, (0.014671, 0.716088, 0.0)),
    ],
)
def test_the_closed_form_has_the_values_of_its_source(kmh, trigger_s, expected):
    found = closed_form(kmh / 3.6, trigger_s)
    assert list(found) == ["none", "failed", "ping_pong"]
    assert tuple(found.values()) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("line", LINES, ids=lambda one: one.name)
def test_a_walk_along_the_lines_finds_the_closed_form(line):
    speed_mps, trigger_s = line.speed_kmh / 3.6, line.trigger_ms / 1e3
    form = closed_form(speed_mps, trigger_s)
    walked = walk(speed_mps, trigger_s, lines=500, step_s=0.0005)
    # Steps of 0.5 ms are up to 0.03 m of the 10 m between the circles, and lines 0.1 m apart.
    assert walked == pytest.approx(form, abs=0.02)


def test_a_late_command_and_a_mean_move_failures_in_opposite_directions():
    plain = walk(120 / 3.6, 0.48)["failed"]
    assert walk(120 / 3.6, 0.48, command_s=0.05)["failed"] > plain
    averaged = walk(120 / 3.6, 0.48, averaged_s=0.2)["failed"]
    assert averaged < plain
    assert walk(120 / 3.6, 0.48, averaged_s=0.2, held_s=0.1)["failed"] < averaged


def test_rates_are_of_the_sums_over_seeds():
    numbers = counts(90, 9)
    nothing: list[dict[str, float]] = [dict.fromkeys(COUNTS, 0.0) for _ in range(6)]
    found = Found(("at",), {("here",): numbers, ("nowhere",): nothing})
    failure = found.share_pct(("here",), FAILED, TRIED)
    assert failure.mean == pytest.approx(100 * 60 / (60 + 543))
    assert failure.ci95 is not None
    ping_pong = found.share_pct(("nowhere",), ["ping_pongs"], ["handovers"])
    assert ping_pong.count == 0, "a rate of nothing is none"
    same = more(numbers, numbers, FAILED, TRIED)
    assert (same.mean, same.half_width) == (0.0, 0.0)
    assert more(counts(90, 30), numbers, FAILED, TRIED).mean > 10


def test_claims_are_judged_by_the_sign_of_what_was_found():
    speeds = (3.0, 120.0)
    numbers = {
        (each, kmh): counts(90, round(kmh / 3) - 5 * n + 26, 5 * n)
        for kmh in speeds
        for n, each in SETS.items()
    }
    swept = {
        (AT_KMH, MIDDLE, BASE): counts(90, 2),
        (AT_KMH, MIDDLE, WITHOUT_PICOS): counts(90, 20),
    }
    verdicts = claims.verdicts(
        Found(("trigger", "speed_kmh"), numbers),
        Found(("speed_kmh", "trigger", "change"), swept),
    )
    assert {each.claim.name: each.outcome for each in verdicts} == {
        "speed": "holds",
        "trigger": "holds",
        "ping-pong": "holds",
        "picos": "does not hold",
    }


@pytest.mark.filterwarnings("ignore:the scenario has no flow")
@pytest.mark.parametrize("change", (WITHOUT_PICOS, *CHANGES), ids=lambda one: one.name)
def test_every_change_is_of_a_key(change):
    parts = {"speed_kmh": AT_KMH, "trigger": MIDDLE, "change": change}
    in_network(At(parts, 1, study.STUDY.quick)).check()


@pytest.mark.filterwarnings("ignore:the scenario has no flow")
@pytest.mark.parametrize("change", CIRCLE_CHANGES, ids=lambda one: one.name)
def test_every_change_of_the_circle_is_of_a_key(change):
    through_pico(At({"line": LINES[0], "change": change}, 1, study.STUDY.quick)).check()


def test_the_study_writes_all_its_tables(
    cli: CliRunner, spend: Callable[..., None], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(study, "walk", partial(walk, lines=100))
    spend(
        "mobility",
        seeds=1,
        swept_seeds=1,
        circle_seeds=1,
        duration_s=0.5,
        ues=2,
        lines=2,
        triggers_ms=(40,),
        offsets_db=(3.0,),
    )
    result = cli.invoke(app, ["study", "mobility", "--quick", "--out", "study"])
    assert result.exit_code == 0, result.output
    found = json.loads(Path("study/results.json").read_text())
    assert len(found["circle"]) == len(LINES)
    assert len(found["circle-assumptions"]) == 1 + len(CIRCLE_CHANGES)
    assert len(found["speeds"]) == 3 * 4
    assert len(found["triggers"]) == 1
    assert len(found["assumptions"]) == 2 + len(CHANGES)
    assert {row["claim"] for row in found["claims"]} == {"speed", "trigger", "ping-pong", "picos"}
