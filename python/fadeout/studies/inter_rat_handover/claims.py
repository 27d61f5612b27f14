"""Verdicts on the paper's figures and claims, over links and with a radio."""

from collections.abc import Mapping, Sequence

from fadeout.studies.inter_rat_handover import questions, radio
from fadeout.studies.inter_rat_handover.runs import Effort, found
from fadeout.studies.inter_rat_handover.setups import (
    CELLS,
    HEADS,
    PUBLISHED,
    ROWS,
    Row,
    Setting,
)
from fadeout.study import (
    Check,
    Claim,
    Numbers,
    Runs,
    Section,
    Spread,
    Verdict,
    claims_of,
    claims_section,
)

CLAIMS = claims_of(PUBLISHED)

TOLERANCE = PUBLISHED["tolerance"]

NUMBERS = {"retransmissions": "segments sent again", "time_s": "time to the old rate"}
"""Numbers of figures 4 and 5, in the order of the published pairs."""

NOTE_1_LIMIT = 1.5
"""Limit of note 1, "a bit more than" one unloaded round trip."""

Found = Mapping[Setting, Sequence[Numbers]]


def check(published: float, name: str) -> Check:
    """Returns the check of a number of figure 4 or 5 by the study's tolerance."""
    factor = TOLERANCE["factor"]
    is_time = name == "time_s"
    least = TOLERANCE["time_s" if is_time else "segments"]
    low = max(0.0, min(published / factor, published - least))
    high = max(published * factor, published + least)
    unit, spec = (" s", ".2f") if is_time else ("", ".0f")
    return Check(
        f"{published:g}{unit}", float(f"{low:.3g}"), float(f"{high:.3g}"), None, unit, spec
    )


def figures(results: Found) -> list[Verdict]:
    """Returns the verdicts on figures 4 and 5, for each number and column."""
    made = []
    for number, (name, words) in enumerate(NUMBERS.items()):
        for cell in CELLS:
            checks = {_name(row): check(row.cells[cell][number], name) for row in ROWS}
            claim = Claim(f"{name}", f"figures 4 and 5, {words}, {HEADS[cell]}", checks)
            made.append(
                Verdict(
                    claim,
                    {
                        _name(row): Spread.of([one[name] for one in results[row.setting(*cell)]])
                        for row in ROWS
                    },
                )
            )
    return made


def _name(row: Row) -> str:
    return row.setting(True, "forwarding").name


def figures_section(runs: Runs[Effort]) -> Section:
    """Returns the section with the verdicts on figures 4 and 5, over links and with a radio."""
    settings = [row.setting(*cell) for row in ROWS for cell in CELLS]
    return claims_section(
        {
            "links": figures(found(runs, settings)),
            "with a radio": figures(radio.found(runs, settings)),
        },
        title="Verdicts on figures 4 and 5",
        text=(
            "*Check*: two thirds to one and a half of the paper's number, and at least one segment "
            "or 30 ms. Ours are medians, with the least and the most. A number *holds* if all "
            "seeds are within the check, is *open* if a limit is between them, and else *does "
            "not hold*."
        ),
        name="figure-claims",
    )


def claims(runs: Runs[Effort]) -> Section:
    """Returns the section with the verdicts on the paper's text, over links."""
    base = Setting(1.0, 1.0, 10.0, True, "bicasting")
    limited = base.changed(questions.source_limit_of(NOTE_1_LIMIT))
    late = {f"{rtt:g} ms": Setting(1.0, 1.0, rtt, True, "bicasting", 50.0) for rtt in (10.0, 100.0)}
    axes = {
        f"{rate:g} Mbit/s, {rtt:g} ms": setting
        for (rate, rtt), setting in questions.axes_settings().items()
        if rate == 1.0
    }
    lost_cell = {
        f"DRX {drx}, {rate:g} Mbit/s, {rtt:g} ms": setting
        for (drx, _, scheme, rate, rtt), setting in questions.forward_settings().items()
        if scheme == "none" and drx == questions.STATED_DRX
    }
    results = found(runs, [base, limited, *late.values(), *axes.values(), *lost_cell.values()])

    def spread(setting: Setting, name: str, factor: float = 1.0) -> Spread:
        return Spread.of([factor * one[name] for one in results[setting]])

    pairs = list(zip(results[base], results[limited], strict=True))
    return claims_section(
        [
            Verdict(
                CLAIMS["appendix_b"],
                {"silence after the command": spread(base, "silence_s")},
                f"Between two segments sent again pass {spread(base, 'spacing_s').text('.3f')} s",
            ),
            Verdict(CLAIMS["note2"], {name: spread(each, "time_s") for name, each in late.items()}),
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
            Verdict(
                CLAIMS["figure1"], {name: spread(each, "time_s") for name, each in axes.items()}
            ),
            Verdict(
                CLAIMS["forward_handover"],
                {
                    name: spread(each, "time_s", 100 / questions.LOSS_EVERY_S)
                    for name, each in lost_cell.items()
                },
            ),
        ],
        text=(
            "*Check*: limits of the study's `published.toml`. Ours are medians over the phases of "
            "the command, with the least and the most. A claim *holds* if all phases are within "
            "the check, and is *open* if a limit is between them."
        ),
    )
