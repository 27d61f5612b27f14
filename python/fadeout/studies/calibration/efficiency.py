"""Spectral efficiency under full buffer, compared with published values and with TR 36.942."""

from collections.abc import Sequence

import numpy as np

from fadeout import geometry
from fadeout.results import Results
from fadeout.studies.calibration.cases import DATA, FOLDER, PAGE, PERCENTILES, PUBLISHED, Titled
from fadeout.study import Change, Effort, Grid, Runs, Section, estimate

SCENARIO = FOLDER / "full-buffer.toml"
SECTORS = 57
BANDWIDTH_HZ = 10e6

ATTENUATION = 0.6
LEAST_SINR_DB = -10.0
MOST_EFFICIENCY = 4.4
"""The downlink mapping of TR 36.942 annex A.2, for two receive antennas, fast fading and HARQ."""

CASES, IMT_ADVANCED = (DATA.all(key, Titled) for key in ("full-buffer", "imt-advanced"))
"""The cases under full buffer, and those of ITU-R M.2135 with published efficiencies."""

BASE = Change.nothing()


def grid(runs: Runs[Effort]) -> Grid:
    """Returns the sets of runs under full buffer."""
    lists = {
        "full-buffer": CASES,
        "imt-advanced": IMT_ADVANCED,
        "changes": [BASE, *DATA.all("change", Change)],
    }
    return Grid(DATA, runs, [user_rates, efficiencies], lists)


def user_rates(results: Results) -> list[float]:
    """Returns the normalised throughput of each UE, bit/s/Hz."""
    interfaces = results.interfaces
    down = interfaces.filter(interfaces["interface"].str.ends_with("/downlink"))
    rates = down["delivered_bytes"].to_numpy() * 8.0 / results.duration_s / BANDWIDTH_HZ
    return [float(rate) for rate in rates]


def beside_winner(runs: Runs[Effort]) -> Section:
    """Returns the section that compares efficiencies with the calibrations of 3GPP and WINNER+."""
    found = grid(runs)["imt-advanced"]
    records = []
    for case, published in zip(IMT_ADVANCED, PUBLISHED["efficiency"], strict=True):
        drops = found[case,]
        ours = {
            f"UE, {p:g} %": [float(np.percentile(drop, p)) for drop in drops] for p in PERCENTILES
        } | {"cell": [float(np.sum(drop)) / SECTORS for drop in drops]}
        theirs = [*(published[f"ue_{p:g}"] for p in PERCENTILES), published["cell"]]
        for (what, values), its in zip(ours.items(), theirs, strict=True):
            mean, of_drops = float(np.mean(its)), estimate(values)
            records.append(
                {
                    "case": case.name,
                    "_title": case.title,
                    "what": what,
                    "least": min(its),
                    "most": max(its),
                    "mean": mean,
                    "found": of_drops,
                    "difference_db": 10.0 * float(np.log10(max(of_drops.mean, 1e-9) / mean)),
                }
            )
    return PAGE.section("winner", records, drops=drops_in_words(found[IMT_ADVANCED[0],]))


def assumptions(runs: Runs[Effort]) -> Section:
    """Returns the section on the effect of assumptions on the cells' efficiency."""
    found = grid(runs)["assumptions"]
    efficiency = {point: float(np.sum(found[point][0])) / SECTORS for point in found}
    published = {one["name"]: one["cell"] for one in PUBLISHED["efficiency"]}
    records, data = [], []
    for change in found.parts("change"):
        of: dict[str, dict[str, float]] = {}
        for case in IMT_ADVANCED:
            ours = efficiency[case, change]
            of[case.name] = {
                "cell_bps_hz": ours,
                "change_percent": 100.0 * (ours / efficiency[case, BASE] - 1.0),
                "beside_mean_percent": 100.0 * (ours / float(np.mean(published[case.name])) - 1.0),
            }
            data.append({**change.data(), "case": case.name, **of[case.name]})
        records.append({"name": change.name, "of": of})
    return PAGE.section(
        "assumptions",
        records,
        data=data,
        cases={case.name: case.title for case in IMT_ADVANCED},
        published={name: {"least": min(of), "most": max(of)} for name, of in published.items()},
    )


def efficiencies(results: Results) -> dict[str, float]:
    """Returns the efficiency of the cells and of the UE at the 5th percentile, bit/s/Hz."""
    rates = user_rates(results)
    return {
        "cell": float(np.sum(rates)) / SECTORS,
        "edge": float(np.percentile(rates, 5)),
    }


def mapped(case: Titled, seed: int) -> dict[str, float]:
    """Returns the efficiencies that TR 36.942 maps from the SINR.

    Each UE has its cell for an equal share of the time.
    """
    layout = {"deployment.network.layout": case.layout}
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
    found = grid(runs)["full-buffer"]
    records = []
    for case in CASES:
        ours = found[case,]
        theirs = [mapped(case, seed) for seed in range(1, len(ours) + 1)]
        record: dict[str, object] = {"case": case.name, "_title": case.title}
        for what in ("cell", "edge"):
            record[what] = estimate([each[what] for each in ours])
            record[f"mapped_{what}"] = estimate([each[what] for each in theirs])
        records.append(record)
    return PAGE.section("full-buffer", records, drops=drops_in_words(found[CASES[0],]))


def drops_in_words(drops: Sequence[object]) -> str:
    """Returns the number of drops in words."""
    return "one drop" if len(drops) == 1 else f"{len(drops)} drops"
