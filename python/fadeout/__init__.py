"""fadeout: transport protocols over fading links, simulated with the same bits everywhere.

    import fadeout

    results = fadeout.run("scenarios/blockage.toml", seed=7)
    results.flows                      # one row a flow: goodput, retransmissions, round-trip times
    results.congestion                 # the congestion window over time
    results.doc("congestion")          # what each column means, with its unit
    results.plot.overview().savefig("overview.png")
    results.save("out/blockage")       # read again with Results.open

`run` takes the path of a scenario, its TOML text, or the same as a dict.
"""

from fadeout import _extras
from fadeout._late import attributes

TYPE_CHECKING = False
"""Flag of `typing`. It is defined here because `typing` takes longer to import than all else."""

if TYPE_CHECKING:
    from fadeout._asyncio import asyncio_loop
    from fadeout._geometry import geometry, sights, tracks
    from fadeout._native import (
        Arrival,
        EngineBug,
        FadeoutError,
        PortError,
        ResultError,
        ScenarioError,
        SettingError,
    )
    from fadeout._port import PortEnd
    from fadeout._run import Interrupted, check, run
    from fadeout._simulation import Simulation
    from fadeout._version import __version__
    from fadeout.campaign import Campaign, sweep
    from fadeout.congestion import CongestionControl, CongestionControlError
    from fadeout.drives import by_cell, by_ue, losses
    from fadeout.handover_policy import HandoverPolicy, HandoverPolicyError
    from fadeout.legs import leg_shares
    from fadeout.mobility import handover_metrics
    from fadeout.results import Results

# Before any import that may fail.
_extras.install()

__all__ = [
    "Arrival",
    "Campaign",
    "CongestionControl",
    "CongestionControlError",
    "EngineBug",
    "FadeoutError",
    "HandoverPolicy",
    "HandoverPolicyError",
    "Interrupted",
    "PortEnd",
    "PortError",
    "ResultError",
    "Results",
    "ScenarioError",
    "SettingError",
    "Simulation",
    "__version__",
    "asyncio_loop",
    "by_cell",
    "by_ue",
    "check",
    "geometry",
    "handover_metrics",
    "leg_shares",
    "losses",
    "run",
    "sights",
    "sweep",
    "tracks",
]

_HOMES = {
    "fadeout._asyncio": ("asyncio_loop",),
    "fadeout._geometry": ("geometry", "sights", "tracks"),
    "fadeout._native": (
        "Arrival",
        "EngineBug",
        "FadeoutError",
        "PortError",
        "ResultError",
        "ScenarioError",
        "SettingError",
    ),
    "fadeout._port": ("PortEnd",),
    "fadeout._run": ("Interrupted", "check", "run"),
    "fadeout._simulation": ("Simulation",),
    "fadeout._version": ("__version__",),
    "fadeout.campaign": ("Campaign", "sweep"),
    "fadeout.congestion": ("CongestionControl", "CongestionControlError"),
    "fadeout.drives": ("by_cell", "by_ue", "losses"),
    "fadeout.handover_policy": ("HandoverPolicy", "HandoverPolicyError"),
    "fadeout.legs": ("leg_shares",),
    "fadeout.mobility": ("handover_metrics",),
    "fadeout.results": ("Results",),
}
__getattr__, __dir__ = attributes(globals(), _HOMES)
