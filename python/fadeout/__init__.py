"""fadeout: transport protocols over fading links, simulated with the same bits everywhere.

    import fadeout

    results = fadeout.run("scenarios/blockage.toml", seed=7)
    results.flows                      # one row a flow: goodput, retransmissions, round-trip times
    results.congestion                 # the congestion window over time
    results.doc("congestion")          # what each column means, with its unit
    results.plot.overview().savefig("overview.png")

`run` takes the path of a scenario, its TOML text, or the same as a dict.
"""

from fadeout._native import EngineBug, FadeoutError, ResultError, ScenarioError
from fadeout._run import check, run
from fadeout._version import __version__
from fadeout.campaign import Campaign, sweep
from fadeout.congestion import CongestionControl, CongestionControlError
from fadeout.results import Results

__all__ = [
    "Campaign",
    "CongestionControl",
    "CongestionControlError",
    "EngineBug",
    "FadeoutError",
    "ResultError",
    "Results",
    "ScenarioError",
    "__version__",
    "check",
    "run",
    "sweep",
]
