"""Spectral efficiency under full buffer, compared with published values and with TR 36.942."""

import numpy as np

from fadeout import geometry
from fadeout.results import Results
from fadeout.studies.calibration.cases import DATA, FOLDER, PAGE, PERCENTILES, PUBLISHED, Titled
from fadeout.study import (
    Change,
    Effort,
    Job,
    Runs,
    Section,
    estimate,
    overrides,
)

SCENARIO = FOLDER / "full-buffer.toml"
SECTORS = 57
BANDWIDTH_HZ = 10e6

ATTENUATION = 0.6
LEAST_SINR_DB = -10.0
MOST_EFFICIENCY = 4.4
"""The downlink mapping of TR 36.942 annex A.2, for two receive antennas, fast fading and HARQ."""

CASES = {one.name: one for one in DATA.all("full-buffer", Titled)}
IMT_ADVANCED = {one.name: one for one in DATA.all("imt-advanced", Titled)}
"""The cases with published efficiencies."""

BASE = Change.nothing()
CHANGES = DATA.all("change", Change)


def imt_job(case: str, seed: int) -> Job:
    """Returns a run of a case of ITU-R M.2135."""
    return Job(SCENARIO, overrides(IMT_ADVANCED[case].values), seed=seed)


def changed_job(point: tuple[str, Change], seed: int) -> Job:
    """Returns a run of a case with one assumption changed."""
    case, change = point
    return Job(SCENARIO, overrides({**IMT_ADVANCED[case].values, **change.values}), seed=seed)


def user_rates(results: Results) -> list[float]:
    """Returns the normalised throughput of each UE, bit/s/Hz."""
    interfaces = results.interfaces
    down = interfaces.filter(interfaces["interface"].str.ends_with("/downlink"))
    rates = down["delivered_bytes"].to_numpy() * 8.0 / results.duration_s / BANDWIDTH_HZ
    return [float(rate) for rate in rates]


def beside_winner(runs: Runs[Effort]) -> Section:
    """Returns the section that compares efficiencies with the calibrations of 3GPP and WINNER+."""
    seeds = drops(runs.effort)
    found = runs.over_seeds(list(IMT_ADVANCED), imt_job, user_rates, seeds)
    records = []
    for published in PUBLISHED["efficiency"]:
        case = published["name"]
        rows = [(f"UE, {p:g} %", published[f"ue_{p:g}"], p) for p in PERCENTILES]
        for what, theirs, percentile in [*rows, ("cell", published["cell"], None)]:
            ours = estimate(
                [
                    float(np.percentile(drop, percentile))
                    if percentile is not None
                    else float(np.sum(drop)) / SECTORS
                    for drop in found[case]
                ]
            )
            mean = float(np.mean(theirs))
            records.append(
                {
                    "case": case,
                    "_title": IMT_ADVANCED[case].title,
                    "what": what,
                    "least": min(theirs),
                    "most": max(theirs),
                    "mean": mean,
                    "found": ours,
                    "difference_db": 10.0 * float(np.log10(max(ours.mean, 1e-9) / mean)),
                }
            )
    return PAGE.section("winner", records, drops=runs_of(seeds))


def assumptions(runs: Runs[Effort]) -> Section:
    """Returns the section on the effect of assumptions on the cells' efficiency."""
    points = [(case, change) for change in (BASE, *CHANGES) for case in IMT_ADVANCED]
    found = runs.over_seeds(points, changed_job, user_rates, 1)
    efficiency = {point: float(np.sum(drops[0])) / SECTORS for point, drops in found.items()}
    published = {one["name"]: one["cell"] for one in PUBLISHED["efficiency"]}
    records, data = [], []
    for change in (BASE, *CHANGES):
        of: dict[str, dict[str, float]] = {}
        for case in IMT_ADVANCED:
            ours = efficiency[case, change]
            of[case] = {
                "cell_bps_hz": ours,
                "change_percent": 100.0 * (ours / efficiency[case, BASE] - 1.0),
                "beside_mean_percent": 100.0 * (ours / float(np.mean(published[case])) - 1.0),
            }
            data.append({**change.data(), "case": case, **of[case]})
        records.append({"name": change.name, "of": of})
    return PAGE.section(
        "assumptions",
        records,
        data=data,
        cases={case: one.title for case, one in IMT_ADVANCED.items()},
        published={
            case: {"least": min(published[case]), "most": max(published[case])}
            for case in IMT_ADVANCED
        },
    )


def job(case: str, seed: int) -> Job:
    """Returns a run of a case."""
    return Job(SCENARIO, overrides(CASES[case].values), seed=seed)


def efficiencies(results: Results) -> dict[str, float]:
    """Returns the efficiency of the cells and of the UE at the 5th percentile, bit/s/Hz."""
    rates = user_rates(results)
    return {
        "cell": float(np.sum(rates)) / SECTORS,
        "edge": float(np.percentile(rates, 5)),
    }


def mapped(case: str, seed: int) -> dict[str, float]:
    """Returns the efficiencies that TR 36.942 maps from the SINR.

    Each UE has its cell for an equal share of the time.
    """
    layout = {"deployment.network.layout": CASES[case].layout}
    found = geometry(SCENARIO, seed=seed, set=layout)
    sinr_db = found["sinr_db"].to_numpy()
    whole = ATTENUATION * np.log2(1.0 + 10.0 ** (sinr_db / 10.0))
    whole = np.where(sinr_db < LEAST_SINR_DB, 0.0, np.minimum(whole, MOST_EFFICIENCY))
    cells = found["cell"].to_list()
    shares = np.array([1.0 / cells.count(cell) for cell in cells])
    rates = whole * shares
    return {"cell": float(rates.sum()) / SECTORS, "edge": float(np.percentile(rates, 5))}


def full_buffer(runs: Runs[Effort]) -> Section:
    """Returns the section on cell and edge efficiency, and on those of TR 36.942's mapping."""
    seeds = drops(runs.effort)
    found = runs.over_seeds(list(CASES), job, efficiencies, seeds)
    records = []
    for case, one in CASES.items():
        theirs = [mapped(case, seed) for seed in range(1, seeds + 1)]
        record: dict[str, object] = {"case": case, "_title": one.title}
        for what in ("cell", "edge"):
            record[what] = estimate([each[what] for each in found[case]])
            record[f"mapped_{what}"] = estimate([each[what] for each in theirs])
        records.append(record)
    return PAGE.section("full-buffer", records, drops=runs_of(seeds))


def runs_of(seeds: int) -> str:
    """Returns a number of drops in words."""
    return "one drop" if seeds == 1 else f"{seeds} drops"


def drops(effort: Effort) -> int:
    """Returns the number of drops of each case. A drop has 570 UEs, so three suffice."""
    return min(effort.seeds, 3)


def varies(effort: Effort) -> bool:
    """Returns True if assumptions are changed, which a quick study does not do."""
    return effort.seeds >= 5
