"""Spectral efficiency under full buffer, compared with published values and with TR 36.942."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from fadeout import geometry
from fadeout.results import Results
from fadeout.studies.calibration.cases import PERCENTILES, PUBLISHED
from fadeout.study import (
    Change,
    Effort,
    Job,
    Moved,
    Runs,
    Section,
    Table,
    assumptions_section,
    estimate,
    overrides,
)

SCENARIO = Path(__file__).parent / "full-buffer.toml"
SECTORS = 57
BANDWIDTH_HZ = 10e6

ATTENUATION = 0.6
LEAST_SINR_DB = -10.0
MOST_EFFICIENCY = 4.4
"""The downlink mapping of TR 36.942 annex A.2, for two receive antennas, fast fading and HARQ."""

CASES: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "case-1-rr": ("case 1, round robin", {}),
    "case-1-pf": (
        "case 1, proportional fair, Rayleigh fading",
        {
            "deployment.network.cell.mac-scheduler": '"proportional-fair"',
            "deployment.network.cell.channel.fading": '"rayleigh"',
        },
    ),
    "case-3-rr": (
        "case 3, round robin",
        {"deployment.network.layout": '"macro-1732"'},
    ),
}
"""The cases by name: title and overrides."""


def imt_advanced(
    layout: str, carrier: str, power: str, tilt: int, speed: str, ue: Mapping[str, str]
) -> dict[str, str]:
    """Returns the overrides of a case of ITU-R M.2135, for LTE Release 8 with two
    receive antennas.
    """
    antenna = (
        # The gain is 17 dBi less 2 dB of feeder loss.
        f'{{ kind = "sector", gain = 15, azimuth-width = 70, front-to-back = 20, '
        f"elevation-width = 15, side-lobe = 20, tilt = {tilt} }}"
    )
    return {
        "duration": '"2 s"',
        "deployment.network.layout": f'"{layout}"',
        "deployment.network.cell.carrier": f'"{carrier}"',
        "deployment.network.cell.tx-power": f'"{power}"',
        "deployment.network.cell.antenna": antenna,
        "deployment.network.cell.channel.fading": '"clusters"',
        "deployment.network.cell.channel.environment-speed": f'"{speed}"',
        "deployment.network.cell.channel.receive-antennas": "2",
        "ue.phone.noise-figure": '"7 dB"',
        **ue,
    }


CAR = {"ue.phone.indoor.share": "0", "ue.phone.penetration": '"car"'}
HALF_INDOORS = {"ue.phone.indoor.share": "0.5", "ue.phone.indoor.penetration": '"single"'}
IMT_ADVANCED: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "uma": (
        "UMa, 2 GHz",
        imt_advanced("3d-uma", "2 GHz", "46 dBm", 12, "30 km/h", CAR),
    ),
    "umi": (
        "UMi, 2.5 GHz",
        imt_advanced("3d-umi", "2.5 GHz", "41 dBm", 12, "3 km/h", HALF_INDOORS),
    ),
    "rma": (
        "RMa, 800 MHz",
        imt_advanced("rma", "800 MHz", "46 dBm", 6, "120 km/h", CAR),
    ),
}
"""The cases with published efficiencies, by name: title and overrides.

The path losses of TR 36.873 at a UE of 1.5 m, and that of TR 38.901's RMa, are those of M.2135.
"""


CELL = "deployment.network.cell"


def radio(assumption: str, value: str, keys: str) -> Change:
    """Returns a change of the cells' radio."""
    return Change.of(assumption, value, f"{CELL}.radio", f'{{ kind = "lte", {keys} }}')


BASE = Change.nothing()
CHANGES = (
    radio("reports", "in each TTI, two TTIs old", "cqi-period = 1, cqi-delay = 2"),
    Change.of("scatterers", "3 km/h", f"{CELL}.channel.environment-speed", '"3 km/h"'),
    Change.of("fading", "Rayleigh, flat", f"{CELL}.channel.fading", '"rayleigh"'),
    Change.of("fading", "none", f"{CELL}.channel.fading", '"none"'),
    radio("block errors aimed at", "1 %", "target-bler = 0.01"),
    radio("block errors aimed at", "30 %", "target-bler = 0.3"),
    radio("combining", "Chase", 'harq-combining = "chase"'),
    Change.of("receive antennas", "1", f"{CELL}.channel.receive-antennas", "1"),
    Change.of("receive antennas", "4", f"{CELL}.channel.receive-antennas", "4"),
    Change(
        "walls and cars",
        "none",
        {"ue.phone.indoor.share": "0", "ue.phone.penetration": '"0 dB"'},
    ),
)


def imt_job(case: str, seed: int) -> Job:
    """Returns a run of a case of ITU-R M.2135."""
    _, changes = IMT_ADVANCED[case]
    return Job(SCENARIO, overrides(changes), seed=seed)


def changed_job(point: tuple[str, Change], seed: int) -> Job:
    """Returns a run of a case with one assumption changed."""
    case, change = point
    return Job(SCENARIO, overrides({**IMT_ADVANCED[case][1], **change.values}), seed=seed)


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
                    "_title": IMT_ADVANCED[case][0],
                    "what": what,
                    "least": min(theirs),
                    "most": max(theirs),
                    "mean": mean,
                    "found": ours,
                    "difference_db": 10.0 * float(np.log10(max(ours.mean, 1e-9) / mean)),
                }
            )
    columns = {
        "case": "{_title}",
        "of": "{what}",
        "published, bit/s/Hz": "{least:.3f} to {most:.3f}",
        "mean": "{mean:.3f}",
        "here": "{found.mean:.3f}",
        "difference dB": "{difference_db:+.1f}",
    }
    return Section(
        name="winner",
        title="Spectral efficiency beside the calibration for IMT-Advanced",
        text=(
            f"{PUBLISHED['source']['winner']}. The table shows the smallest value, the largest "
            "value and the mean of four or five organisations. The carrier is LTE with 10 MHz, "
            "and a UE has two receive antennas. Our throughput is counted at the exit of PDCP, "
            f"in {runs_of(seeds)} of 570 UEs a case. The difference is $10\\,\\lg$ of the ratio "
            "of our value to the mean."
        ),
        table=Table.of(records, columns),
        is_headline=True,
    )


def assumptions(runs: Runs[Effort]) -> Section:
    """Returns the section on the effect of assumptions on the cells' efficiency."""
    points = [(case, change) for change in (BASE, *CHANGES) for case in IMT_ADVANCED]
    found = runs.over_seeds(points, changed_job, user_rates, 1)
    efficiency = {point: float(np.sum(drops[0])) / SECTORS for point, drops in found.items()}
    published = {one["name"]: one["cell"] for one in PUBLISHED["efficiency"]}
    moved = []
    for change in (BASE, *CHANGES):
        cells, data = [], []
        for case in IMT_ADVANCED:
            ours = efficiency[case, change]
            percent = 100.0 * (ours / efficiency[case, BASE] - 1.0)
            beside = 100.0 * (ours / float(np.mean(published[case])) - 1.0)
            cells.append(f"{ours:.3f} ({percent:+.0f} %; {beside:+.0f} %)")
            data.append(
                {
                    "case": case,
                    "cell_bps_hz": ours,
                    "change_percent": percent,
                    "beside_mean_percent": beside,
                }
            )
        moved.append(Moved(change, cells, data))
    return assumptions_section(
        moved,
        [title for title, _ in IMT_ADVANCED.values()],
        "The table shows the spectral efficiency of a cell in bit/s/Hz. The brackets contain the "
        "effect of the changed assumption, and the difference from the mean of the "
        "organisations. Each case has one drop, which is the same in every row.",
        published=[
            f"{min(published[case]):.3f} to {max(published[case]):.3f}" for case in IMT_ADVANCED
        ],
    )


def job(case: str, seed: int) -> Job:
    """Returns a run of a case."""
    _, changes = CASES[case]
    return Job(SCENARIO, overrides(changes), seed=seed)


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
    _, changes = CASES[case]
    layout = changes.get("deployment.network.layout", '"macro-500"').strip('"')
    found = geometry(SCENARIO, seed=seed, set={"deployment.network.layout": layout})
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
    for case, (title, _) in CASES.items():
        theirs = [mapped(case, seed) for seed in range(1, seeds + 1)]
        record: dict[str, object] = {"case": case, "_title": title}
        for what in ("cell", "edge"):
            record[what] = estimate([one[what] for one in found[case]])
            record[f"mapped_{what}"] = estimate([one[what] for one in theirs])
        records.append(record)
    columns = {
        "case": "{_title}",
        "cell, bit/s/Hz": "{cell.mean:.2f}",
        "by TR 36.942": "{mapped_cell.mean:.2f}",
        "5 % UE, bit/s/Hz": "{edge.mean:.4f}",
        "5 % UE by TR 36.942": "{mapped_edge.mean:.4f}",
    }
    return Section(
        name="full-buffer",
        title="Spectral efficiency under full buffer",
        text=(
            "No legible published values of these cases were found. The reference is therefore the "
            "mapping of TR 36.942 annex A.2, $0.6\\,\\lg_2(1 + \\mathrm{SINR})$ up to "
            "4.4 bit/s/Hz. The mapping is applied to the geometry of the same drop, and each UE "
            "has an equal share of its cell's time. The mapping is for two receive antennas and "
            "fast fading. Here a UE has one antenna, and cases with round robin have no fading. "
            f"Our throughput is counted at the exit of PDCP, in {runs_of(seeds)} a case."
        ),
        table=Table.of(records, columns),
    )


def runs_of(seeds: int) -> str:
    """Returns a number of drops in words."""
    return "one drop" if seeds == 1 else f"{seeds} drops"


def drops(effort: Effort) -> int:
    """Returns the number of drops of each case. A drop has 570 UEs, so three suffice."""
    return min(effort.seeds, 3)


def varies(effort: Effort) -> bool:
    """Returns True if assumptions are changed, which a quick study does not do."""
    return effort.seeds >= 5


def count(effort: Effort) -> int:
    """Returns the maximum number of runs."""
    cases = (len(CASES) + len(IMT_ADVANCED)) * drops(effort)
    return cases + (len(IMT_ADVANCED) * (1 + len(CHANGES)) if varies(effort) else 0)
