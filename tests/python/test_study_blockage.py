import math
import tomllib
import warnings

import pytest

from fadeout.studies.blockage import STUDY, checks
from fadeout.studies.blockage.cell_assumptions import CELL_CHANGES, DEPTHS, MODEL_B_DB
from fadeout.studies.blockage.paper import PUBLISHED
from fadeout.studies.blockage.runs import CELL, Found
from fadeout.study import Job, Runs, ThreadRunner, overrides

STATED = PUBLISHED["setup"]["stated"]


def test_the_cell_states_what_the_paper_states():
    resolved = tomllib.loads(CELL.scenario.read_text())
    cell = resolved["cell"]["base-station"]
    channel = cell["channel"]
    assert cell["carrier"] == f"{STATED['carrier_ghz']:g} GHz"
    assert cell["antenna"]["width"] == STATED["tx_hpbw_deg"]
    assert channel["ue-antenna"]["width"] == STATED["rx_hpbw_deg"]
    vehicle = channel["blockage"]
    assert vehicle["width"] == STATED["blocker_width_m"]
    assert vehicle["height"] == STATED["blocker_height_m"]
    assert [vehicle["nearest"], vehicle["farthest"]] == STATED["blocker_distance_to_rx_m"]
    assert vehicle["period"] == f"{STATED['blockage_period_s']:g} s"
    assert resolved["link"]["core"]["delay"] == f"{STATED['cn_latency_ms']:g} ms"


def test_the_cell_reaches_the_papers_clear_rate():
    (rate,) = CELL.unblocked(Runs(ThreadRunner(), STUDY.full), [{}])
    # Resource blocks go in steps of 1.8 %.
    assert rate == pytest.approx(PUBLISHED["case"][0]["throughput_mbps"], rel=0.01)


def test_every_assumption_of_the_full_stack_runs():
    jobs = [
        Job(
            CELL.scenario,
            overrides(
                {**DEPTHS[depth], **change.values, **CELL.blocked(0.2), **CELL.fixed_phase}
                | {**CELL.quiet, "duration": "60 ms"}
            ),
        )
        for change in CELL_CHANGES
        for depth in change.depths
    ]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*the RLC buffer")
        assert all(results.is_complete for results in ThreadRunner().results(jobs))


def test_the_vehicles_depth_is_model_bs():
    # TR 38.901 clause 7.6.4.2, worked out once more.
    def depth(from_receiver: float) -> float:
        tx, rx, distance, width, height = 5.0, 1.0, 50.0, 4.8, 1.4
        d1, d2 = distance - from_receiver, from_receiver

        def term(a: float, b: float, direct: float) -> float:
            detour = math.hypot(d1, a) + math.hypot(d2, b) - direct
            return math.atan(math.pi / 2 * math.sqrt(math.pi * 38e9 / 3e8 * detour)) / math.pi

        slant = math.hypot(distance, tx - rx)
        vertical = term(height - tx, height - rx, slant) + term(tx, rx, slant)
        horizontal = 2 * term(width / 2, width / 2, distance)
        return -20 * math.log10(1 - vertical * horizontal)

    found = [depth(d) for d in reversed(STATED["blocker_distance_to_rx_m"])]
    assert found == pytest.approx(MODEL_B_DB, abs=0.05)


def test_findings_are_judged_by_the_runs():
    def runs(rates: tuple[float, ...], timeouts: tuple[int, ...]) -> checks.Runs:
        return [
            [Found(loss_pct=0, goodput_mbps=rate, timeouts=count)] * 2
            for rate, count in zip(rates, timeouts, strict=True)
        ]

    cases = [case for case in PUBLISHED["case"] if case["block_s"] > 0]
    found = checks.section(
        {"paper": runs((712, 371, 229), (0, 1, 3)), "flat": runs((800, 810, 790), (1, 0, 1))},
        cases,
        {"paper": 807, "flat": 807},
        PUBLISHED["checks"],
    )
    assert found.table is not None
    assert all(row["paper"] for row in found.table.data)
    # 800 of 807 is more than the paper's row allows, and the last step is the largest fall.
    assert [row["flat"] for row in found.table.data] == [False] * 7 + [True]
