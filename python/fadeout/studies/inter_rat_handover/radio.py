"""The paper's handover with a radio: LTE with its layers, and 3G that the phone measures."""

from fadeout.results import Results
from fadeout.studies.inter_rat_handover.runs import (
    FAST_MBPS,
    FOLDER,
    SEGMENT_BYTES,
    recovery,
    setting,
)
from fadeout.study import At, Job, spread

LTE = "cell.lte.radio"

NET = (1 - 0.1) * (1 - 0.05)
"""Share of the radio's rate that packets have, with 10 % errors of first transmissions and 5 % of
headers of RLC and MAC in a block.
"""


def over_radio(at: At) -> Job:
    """Returns the run of a point.

    The seed moves the start of the flow by a part of a segment's transmission time. It also draws
    the errors of transmissions in LTE.
    """
    ours = setting(at)
    start_s = 1 + spread(at.seed) * SEGMENT_BYTES * 8 / (ours.before * 1e6)
    wire = FAST_MBPS if ours.is_fast else ours.before
    values = {
        "link.internet.rate": f"{wire:g} Mbit/s",
        "link.internet.delay": f"{ours.rtt_ms / 2:g} ms",
        f"{LTE}.downlink-rate": f"{ours.before * 1e6 / NET:.0f}",
        f"{LTE}.uplink-rate": f"{ours.before * 1e6 / NET:.0f}",
        "rab.umts.downlink.rate": f"{ours.after * 1e6 / NET:.0f} bit/s",
        "mobility-management.data": ours.scheme,
        "flow.download.start": f"{start_s:.9f} s",
    }
    if ours.scheme == "bicasting":
        values["mobility-management.bicast-before"] = f"{ours.bicast_ms:g} ms"
    return at.job(FOLDER / "radio.toml", values, with_tables=True)


def measure_radio(results: Results) -> dict[str, float]:
    """Returns the retransmissions, times and packets of a run, as those of a handover of links."""
    row = results.handovers.row(0, named=True)
    return {
        **recovery(results, row["commanded_s"]),
        "lost": float(row["lost_packets"]),
        "forwarded": float(row["forwarded_numbered"] + row["forwarded_fresh"]),
        "doubled": float(row["doubled_packets"]),
        "gap_s": row["downlink_gap_s"],
    }
