"""Campaigns: many runs of one scenario or several, resumable, with intervals.

A run is named by its content, and a run is done when it is on disk. Use `Campaign` and `sweep` in
Python, or `fadeout sweep` and `fadeout campaign` on the command line.
"""

from typing import TYPE_CHECKING

from fadeout._late import attributes

if TYPE_CHECKING:
    from fadeout.campaign.campaign import Campaign, Finished, sweep
    from fadeout.campaign.cluster import Cluster
    from fadeout.campaign.found import Status
    from fadeout.campaign.plots import CampaignPlots
    from fadeout.campaign.seeds import Seeds

__all__ = ["Campaign", "CampaignPlots", "Cluster", "Finished", "Seeds", "Status", "sweep"]

_HOMES = {
    "fadeout.campaign.campaign": ("Campaign", "Finished", "sweep"),
    "fadeout.campaign.cluster": ("Cluster",),
    "fadeout.campaign.found": ("Status",),
    "fadeout.campaign.plots": ("CampaignPlots",),
    "fadeout.campaign.seeds": ("Seeds",),
}

__getattr__, __dir__ = attributes(globals(), _HOMES)
