"""Verdicts on the paper's figures and claims, over links and with a radio."""

from collections.abc import Mapping

from fadeout.studies.inter_rat_handover.runs import (
    CELLS,
    CLAIMS,
    FIRST,
    LOSS_EVERY_S,
    ROWS,
    TOLERANCES,
)
from fadeout.study import Claim, Found, Spread, Verdict, values

NUMBERS = {"retransmissions": "segments sent again", "time_s": "time to the old rate"}
"""Numbers of figures 4 and 5, in the order of the published pairs."""

STATED_MS = 50.0
"""Start of bicasting in note 2, ms before the command."""

NOTE_1_LIMIT = 1.5
"""Limit of note 1, "a bit more than" one unloaded round trip."""


def of_figures(links: Found, over_radio: Found) -> dict[str, list[Verdict]]:
    """Returns the verdicts on figures 4 and 5, for each number and column."""
    rows = [row for of_figure in ROWS.values() for row in of_figure]
    claims = {
        (number, cell): Claim(
            number,
            f"figures 4 and 5, {words}, {cell.head}",
            {row.name: TOLERANCES[number].check(row.cells[cell.name][index]) for row in rows},
        )
        for index, (number, words) in enumerate(NUMBERS.items())
        for cell in CELLS
    }
    return {
        kind: [
            Verdict(claim, {row.name: of.median((row, cell), number) for row in rows})
            for (number, cell), claim in claims.items()
        ]
        for kind, of in (("links", links), ("with a radio", over_radio))
    }


def of_text(sets: Mapping[str, Found]) -> list[Verdict]:
    """Returns the verdicts on the paper's text, over links."""
    starts, limits, axes, lost = (
        sets[name] for name in ("note2", "note1", "figure1", "forward-handover")
    )
    base, limit = limits[FIRST.rtt_ms, None], limits[FIRST.rtt_ms, NOTE_1_LIMIT]
    silence, spacing = (
        limits.median((FIRST.rtt_ms, None), name) for name in ("silence_s", "spacing_s")
    )
    share = 100 / LOSS_EVERY_S
    # The paper has the time between losses of a cell for the first DRX cycle only.
    first = lost.parts("drx")[0]

    def pairs(name: str) -> list[tuple[float, float]]:
        return list(zip(values(base, name), values(limit, name), strict=True))

    return [
        Verdict(
            CLAIMS["appendix_b"],
            {"silence after the command": silence},
            f"Between two segments sent again pass {spacing.mean:.3f} s",
        ),
        Verdict(
            CLAIMS["note2"],
            {f"{at[0]:g} ms": starts.median(at, "time_s") for at in starts if at[1] == STATED_MS},
        ),
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
        Verdict(
            CLAIMS["figure1"],
            {
                f"{at[0]:g} Mbit/s, {at[1]:g} ms": axes.median(at, "time_s")
                for at in axes
                if at[0] == FIRST.before
            },
        ),
        Verdict(
            CLAIMS["forward_handover"],
            {
                f"DRX {drx.name}, {download.rate_mbps:g} Mbit/s, {download.rtt_ms:g} ms": Spread.of(
                    [share * each for each in values(numbers, "time_s")]
                )
                for (drx, is_forwarded, download), numbers in lost.numbers.items()
                if drx == first and not is_forwarded
            },
        ),
    ]
