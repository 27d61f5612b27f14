"""Verdicts on the paper's figures and claims, over links and with a radio."""

from collections.abc import Mapping

from fadeout.studies.inter_rat_handover.runs import (
    BICASTING,
    CELLS,
    CLAIMS,
    QUESTIONS,
    ROWS,
    TOLERANCES,
    Effort,
    Setting,
    forward_settings,
    found,
    limited,
    over_axes,
)
from fadeout.study import Claim, Found, Runs, Spread, Verdict, values

NUMBERS = {"retransmissions": "segments sent again", "time_s": "time to the old rate"}
"""Numbers of figures 4 and 5, in the order of the published pairs."""

NOTE_1_LIMIT = 1.5
"""Limit of note 1, "a bit more than" one unloaded round trip."""


def of_figures(links: Found, over_radio: Found) -> dict[str, list[Verdict]]:
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
            Verdict(claim, {row.name: of.median((row.figure, row, cell), number) for row in ROWS})
            for (number, cell), claim in claims.items()
        ]
        for kind, of in (("links", links), ("with a radio", over_radio))
    }


def of_text(runs: Runs[Effort]) -> list[Verdict]:
    """Returns the verdicts on the paper's text, over links."""
    settings: dict[str, Setting] = {
        "base": BICASTING,
        "limited": limited(BICASTING, NOTE_1_LIMIT),
    }
    late = {f"{rtt:g} ms": Setting(1.0, 1.0, rtt, True, "bicasting", 50.0) for rtt in (10.0, 100.0)}
    axes = {
        f"{rate:g} Mbit/s, {rtt:g} ms": setting
        for (rate, rtt), setting in over_axes().items()
        if rate == 1.0
    }
    # The paper has the time between losses of a cell for the first DRX cycle only.
    first = next(iter(forward_settings()))[0]
    lost_cell = {
        f"DRX {drx.name}, {rate:g} Mbit/s, {rtt:g} ms": setting
        for (drx, is_forwarded, rate, rtt), setting in forward_settings().items()
        if drx == first and not is_forwarded
    }
    every = [*settings.values(), *late.values(), *axes.values(), *lost_cell.values()]
    results = found(runs, "setting", {(each,): each for each in every})
    base, limit = (results[each,] for each in settings.values())
    share = 100 / QUESTIONS.loss_every_s

    def times(of: Mapping[str, Setting]) -> dict[str, Spread]:
        return {name: results.median((each,), "time_s") for name, each in of.items()}

    def pairs(name: str) -> list[tuple[float, float]]:
        return list(zip(values(base, name), values(limit, name), strict=True))

    return [
        Verdict(
            CLAIMS["appendix_b"],
            {"silence after the command": results.median((BICASTING,), "silence_s")},
            "Between two segments sent again pass "
            f"{results.median((BICASTING,), 'spacing_s').mean:.3f} s",
        ),
        Verdict(CLAIMS["note2"], times(late)),
        Verdict(
            CLAIMS["note1_buffer_limit"],
            {
                "lost without the limit less lost with it": Spread.of(
                    [one - other for one, other in pairs("lost")]
                ),
                "rate with the limit over rate without it": Spread.of(
                    [100 * other / one for one, other in pairs("old_mbps")]
                ),
            },
            f"The limit is {NOTE_1_LIMIT:g} unloaded round trips of 10 ms",
        ),
        Verdict(CLAIMS["figure1"], times(axes)),
        Verdict(
            CLAIMS["forward_handover"],
            {
                name: Spread.of([share * each for each in values(results[setting,], "time_s")])
                for name, setting in lost_cell.items()
            },
        ),
    ]
