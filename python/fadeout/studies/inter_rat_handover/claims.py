"""Verdicts on the paper's figures and claims, over links and with a radio."""

from fadeout.studies.inter_rat_handover import questions
from fadeout.studies.inter_rat_handover.runs import Effort, found, of
from fadeout.studies.inter_rat_handover.setups import (
    CELLS,
    OUTAGES,
    PUBLISHED,
    QUESTIONS,
    ROWS,
    TOLERANCES,
    Found,
    Setting,
)
from fadeout.study import Claim, Runs, Spread, Verdict, claims_of

CLAIMS = claims_of(PUBLISHED)

NUMBERS = {"retransmissions": "segments sent again", "time_s": "time to the old rate"}
"""Numbers of figures 4 and 5, in the order of the published pairs."""

NOTE_1_LIMIT = 1.5
"""Limit of note 1, "a bit more than" one unloaded round trip."""


def of_figures(links: Found, with_radio: Found) -> dict[str, list[Verdict]]:
    """Returns the verdicts on figures 4 and 5, for each number and column."""
    claims = {
        (number, cell): Claim(
            number,
            f"figures 4 and 5, {words}, {cell.head}",
            {row.name: TOLERANCES[number].check(row.cells[cell.name][index]) for row in ROWS},
        )
        for index, (number, words) in enumerate(NUMBERS.items())
        for cell in CELLS
    }
    return {
        kind: [
            Verdict(claim, {row.name: of(results[row.setting(cell)], number) for row in ROWS})
            for (number, cell), claim in claims.items()
        ]
        for kind, results in (("links", links), ("with a radio", with_radio))
    }


def of_text(runs: Runs[Effort]) -> list[Verdict]:
    """Returns the verdicts on the paper's text, over links."""
    base = questions.BICASTING
    limited = questions.limited(base, NOTE_1_LIMIT)
    late = {f"{rtt:g} ms": Setting(1.0, 1.0, rtt, True, "bicasting", 50.0) for rtt in (10.0, 100.0)}
    axes = {
        f"{rate:g} Mbit/s, {rtt:g} ms": setting
        for (rate, rtt), setting in questions.axes_settings().items()
        if rate == 1.0
    }
    # The paper has the time between losses of a cell for the first DRX cycle only.
    lost_cell = {
        f"DRX {drx}, {rate:g} Mbit/s, {rtt:g} ms": setting
        for (drx, _, scheme, rate, rtt), setting in questions.forward_settings().items()
        if scheme == "none" and drx == OUTAGES[0].drx
    }
    results = found(runs, [base, limited, *late.values(), *axes.values(), *lost_cell.values()])

    def times(settings: dict[str, Setting]) -> dict[str, Spread]:
        return {name: of(results[each], "time_s") for name, each in settings.items()}

    pairs = list(zip(results[base], results[limited], strict=True))
    to_percent = 100 / QUESTIONS.loss_every_s
    return [
        Verdict(
            CLAIMS["appendix_b"],
            {"silence after the command": of(results[base], "silence_s")},
            f"Between two segments sent again pass {of(results[base], 'spacing_s'):.3f} s",
        ),
        Verdict(CLAIMS["note2"], times(late)),
        Verdict(
            CLAIMS["note1_buffer_limit"],
            {
                "lost without the limit less lost with it": Spread.of(
                    [one["lost"] - other["lost"] for one, other in pairs]
                ),
                "rate with the limit over rate without it": Spread.of(
                    [100 * other["old_mbps"] / one["old_mbps"] for one, other in pairs]
                ),
            },
            f"The limit is {NOTE_1_LIMIT:g} unloaded round trips of 10 ms",
        ),
        Verdict(CLAIMS["figure1"], times(axes)),
        Verdict(
            CLAIMS["forward_handover"],
            {
                name: Spread.of([to_percent * one["time_s"] for one in results[each]])
                for name, each in lost_cell.items()
            },
        ),
    ]
