"""The paper's handover with a radio: LTE with its layers, and 3G that the phone measures."""

from fadeout.results import Results
from fadeout.studies.inter_rat_handover.runs import (
    FAST_MBPS,
    FOLDER,
    SEGMENT_BYTES,
    Setting,
    recovery,
)
from fadeout.study import Job, Values, overrides, spread

SCENARIO = FOLDER / "radio.toml"

LTE = "cell.lte.radio"

NET = (1 - 0.1) * (1 - 0.05)
"""Share of the radio's rate that packets have, with 10 % errors of first transmissions and 5 % of
headers of RLC and MAC in a block.
"""


def values(setting: Setting, seed: int) -> Values:
    """Returns the overrides of a setting.

    The seed moves the start of the flow by a part of a segment's transmission time. It also draws
    the errors of transmissions in LTE.
    """
    start_s = 1 + spread(seed) * SEGMENT_BYTES * 8 / (setting.before * 1e6)
    wire = FAST_MBPS if setting.is_fast else setting.before
    given = {
        "link.internet.rate": f"{wire:g} Mbit/s",
        "link.internet.delay": f"{setting.rtt_ms / 2:g} ms",
        f"{LTE}.downlink-rate": f"{setting.before * 1e6 / NET:.0f}",
        f"{LTE}.uplink-rate": f"{setting.before * 1e6 / NET:.0f}",
        "rab.umts.downlink.rate": f"{setting.after * 1e6 / NET:.0f} bit/s",
        "mobility-management.data": setting.scheme,
        "flow.download.start": f"{start_s:.9f} s",
    }
    if setting.scheme == "bicasting":
        given["mobility-management.bicast-before"] = f"{setting.bicast_ms:g} ms"
    return {**given, **dict(setting.extra)}


def job(setting: Setting, seed: int) -> Job:
    """Returns the run of a setting."""
    return Job(SCENARIO, overrides(values(setting, seed)), seed=seed, with_tables=True)


def read(results: Results) -> dict[str, float]:
    """Returns the retransmissions, times and packets of a run, as those of a handover of links."""
    row = results.handovers.row(0, named=True)
    return {
        **recovery(results, row["commanded_s"]),
        "lost": float(row["lost_packets"]),
        "forwarded": float(row["forwarded_numbered"] + row["forwarded_fresh"]),
        "doubled": float(row["doubled_packets"]),
        "gap_s": row["downlink_gap_s"],
    }
