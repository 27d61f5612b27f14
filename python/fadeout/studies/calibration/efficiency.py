"""Spectral efficiency under full buffer, beside what TR 36.942 makes of the same places."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from fadeout import geometry
from fadeout.results import Results
from fadeout.study import Effort, Job, Runs, Section, Table, estimate, overrides

SCENARIO = Path(__file__).parent / "full-buffer.toml"
SECTORS = 57
BANDWIDTH_HZ = 10e6

ATTENUATION = 0.6
LEAST_SINR_DB = -10.0
MOST_EFFICIENCY = 4.4
"""The downlink of TR 36.942 annex A.2: two receive antennas, fast fading, HARQ and adaptation."""

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
"""The cases by name: title, and what they change."""


def job(case: str, seed: int) -> Job:
    """A run of a case."""
    _, changes = CASES[case]
    return Job(SCENARIO, overrides(changes), seed=seed)


def efficiencies(results: Results) -> dict[str, float]:
    """Spectral efficiency of the cells, bit/s/Hz, and of the UE at the 5th percentile."""
    interfaces = results.interfaces
    down = interfaces.filter(interfaces["interface"].str.ends_with("/downlink"))
    rates = down["delivered_bytes"].to_numpy() * 8.0 / results.duration_s / BANDWIDTH_HZ
    return {
        "cell": float(rates.sum()) / SECTORS,
        "edge": float(np.percentile(rates, 5)),
    }


def mapped(case: str, seed: int) -> dict[str, float]:
    """The same by TR 36.942: each UE has its cell for an equal share of the time."""
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
    """Cell and edge spectral efficiency, and those of the mapping."""
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
            "No published values were found that could be read. The yardstick is the mapping of TR "
            "36.942 annex A.2, $0.6\\,\\lg_2(1 + \\mathrm{SINR})$ up to 4.4 bit/s/Hz, for the "
            "geometry of the same drop, each UE with an equal share of its cell's time. It stands "
            "for two receive antennas and fast fading; here a UE has one antenna, and round robin "
            f"runs without fading. What counts is what leaves PDCP, in {runs_of(seeds)} a case."
        ),
        table=Table.of(records, columns),
    )


def runs_of(seeds: int) -> str:
    """So many drops, in words."""
    return "one drop" if seeds == 1 else f"{seeds} drops"


def drops(effort: Effort) -> int:
    """Drops of each case: a drop has 570 UEs, so a few do."""
    return min(effort.seeds, 3)


def count(effort: Effort) -> int:
    """How many runs at most."""
    return len(CASES) * drops(effort)
