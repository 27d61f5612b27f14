"""Checks of the paper's findings."""

from fadeout.studies.blockage.runs import CLAIMS, LENGTHS
from fadeout.study import Found, Verdict, estimate, values


def verdicts(found: Found) -> list[Verdict]:
    """Returns the verdicts on the findings, seed by seed. The axis of `found` is `blocked`."""
    kept = {
        length: [100 - loss for loss in values(found.at(blocked=length), "loss_pct")]
        for length in LENGTHS
    }
    before = [[100.0] * len(kept[LENGTHS[0]]), *kept.values()]
    falls = [
        [one - other for one, other in zip(*pair, strict=True)]
        for pair in zip(before, kept.values(), strict=False)
    ]
    steps = ("never less 0.1 s", "0.1 s less 0.2 s", "0.2 s less 1 s")

    def larger(other: int) -> list[float]:
        return [fall - base for fall, base in zip(falls[1], falls[other], strict=True)]

    timed_out = {
        f"runs with an RTO at {length}": estimate(
            [100.0 * (count > 0) for count in values(found.at(blocked=length), "timeouts")]
        )
        for length in LENGTHS
    }
    knee = {
        "fall to 0.2 s less fall to 0.1 s": estimate(larger(0)),
        "fall to 0.2 s less fall to 1 s": estimate(larger(2)),
    }
    return [
        Verdict(CLAIMS["kept"], {length: estimate(each) for length, each in kept.items()}),
        Verdict(CLAIMS["ordering"], dict(zip(steps, map(estimate, falls), strict=True))),
        Verdict(CLAIMS["knee"], knee),
        Verdict(CLAIMS["timeouts"], timed_out),
    ]
