"""The networks, the transports and the congestion controls of the study."""

from dataclasses import dataclass
from pathlib import Path

from fadeout.campaign.axes import toml_text
from fadeout.study import Choice, Data, Page, Values

FOLDER = Path(__file__).parent
DATA = Data.read(FOLDER)
PAGE = Page.read(FOLDER)

FLOW = "flow.download"


@dataclass(frozen=True, kw_only=True)
class Network(Choice):
    """A network, as a scenario with the links of two paths."""

    first: tuple[str, ...]
    second: tuple[str, ...]
    first_of_several: tuple[str, ...] = ()
    """First of several paths. Empty if it is that of a single path."""
    scenario_of_several: str = ""
    """Scenario for transports with several paths. Empty if it is that of a single path."""

    @property
    def title(self) -> str:
        """Title of the network in figures and tables."""
        return PAGE.parts[self.name].title.text


@dataclass(frozen=True, kw_only=True)
class Transport(Choice):
    """A transport protocol."""

    is_quic: bool = False
    has_paths: bool = False

    def job_values(self, network: Network) -> Values:
        """Returns the overrides of the transport in a network."""
        values: dict[str, str] = {}
        if self.is_quic:
            values[f"{FLOW}.transport"] = toml_text("transport", "quic")
        if self.has_paths:
            paths = [list(network.first_of_several or network.first), list(network.second)]
            values[f"{FLOW}.multipath"] = toml_text("multipath", {"paths": paths})
        else:
            values[f"{FLOW}.route"] = toml_text("route", list(network.first))
        return values

    def scenario_in(self, network: Network) -> str:
        """Returns the name of the scenario file in a network."""
        several = network.scenario_of_several if self.has_paths else ""
        return several or network.scenario or "scenario.toml"


NETWORKS = DATA.all("network", Network)
TRANSPORTS = DATA.all("transport", Transport)
CONTROLS = DATA.all("control", Choice)
WINDOWS = DATA.all("window", Choice)
TCP, QUIC, MULTIPATH_TCP, MULTIPATH_QUIC = TRANSPORTS
WALK = next(network for network in NETWORKS if network.name == "walk")
CUBIC = next(control for control in CONTROLS if control.name == "cubic")
