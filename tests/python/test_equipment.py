"""Delays of equipment, and presets, in runs."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import fadeout

ROUTE = """
duration = "1 s"

[link.core]
from = "server"
to = "west"
rate = "1 Gbit/s"
delay = "1 ms"

[link.x2]
from = "west"
to = "east"
rate = "1 Gbit/s"
delay = "1 ms"

[cell.west]
preset = "lte-20mhz"
[cell.east]
preset = "n78-100mhz"

[ue.phone]
cell = "east"
downlink-sinr = "20 dB"
uplink-sinr = "15 dB"
rlc = { mode = "am", buffer = "10 MB" }

[flow.down]
from = "server"
to = "phone"
application = { kind = "packet-stream", rate = "80 kbit/s", size = "100 B" }

[flow.up]
from = "phone"
to = "server"
application = { kind = "packet-stream", rate = "80 kbit/s", size = "100 B" }

[probe]
datagrams = "every-packet"
"""
"""The packets of a phone reach its base station by way of another base station."""


@pytest.fixture
def route(tmp_path: Path) -> Path:
    path = tmp_path / "route.toml"
    path.write_text(ROUTE)
    return path


def delays(path: Path, settings: dict[str, Any] | None = None) -> pl.DataFrame:
    found = fadeout.run(path, set=settings).datagrams
    return found.filter(pl.col("end").cast(pl.String) == "receiver").select("flow", "delay_s")


def test_a_delay_of_equipment_is_that_of_a_longer_link_in_its_direction(route: Path):
    equipment = {"cell.west.equipment-delay": {"downlink": "2 ms", "uplink": "5 ms"}}
    link = {"link.core.delay": "3 ms", "link.core.reverse.delay": "6 ms"}
    assert delays(route, equipment).equals(delays(route, link))
    assert not delays(route, equipment).equals(delays(route))


def test_a_link_between_base_stations_has_no_delay_of_equipment(route: Path):
    equipment = {"cell.east.equipment-delay": {"downlink": "2 ms", "uplink": "5 ms"}}
    with pytest.warns(UserWarning, match="equipment-delay"):
        found = delays(route, equipment)
    assert found.equals(delays(route))


def test_a_delay_that_no_packet_has_is_a_warning(route: Path):
    equipment = {"cell.east.equipment-delay": {"downlink": "2 ms"}}
    with pytest.warns(UserWarning, match='cell "east": no link to a server'):
        fadeout.run(route, set=equipment)


def test_timing_gives_the_delays_that_its_summary_names(route: Path):
    # Only the node of the cell "west" has a link to a server, so both cells belong to it.
    shared = {"cell.west.radio": "nr", "cell.east.node": "west", "link.x2.to": "switch"}
    both = {"downlink": "1.09 ms", "uplink": "1.9 ms"}
    timing = shared | {"timing": "commercial-nr-mmwave"}
    keys = shared | {"cell.west.equipment-delay": both}
    assert delays(route, timing).equals(delays(route, keys))


@pytest.mark.parametrize("name", ["lte-20mhz", "n78-100mhz", "n261-100mhz"])
def test_each_commercial_cell_carries_a_download(tmp_path: Path, name: str):
    path = tmp_path / "cell.toml"
    path.write_text(f"""
duration = "2 s"
[cell.macro]
preset = "{name}"
[link.core]
from = "server"
to = "macro"
rate = "10 Gbit/s"
delay = "5 ms"
queue = {{ limit = "100 ms" }}
[ue.phone]
position = ["100 m", "0 m"]
rlc = {{ mode = "am", buffer = "10 MB" }}
[flow.download]
from = "server"
to = "phone"
application = "bulk"
[probe]
throughput = "1 s"
""")
    rate_mbps = max(fadeout.run(path).throughput["rate_mbps"].to_list())
    # The peak rates are 150 Mbit/s (two layers, 20 MHz), 1.4 Gbit/s and 460 Mbit/s. A phone near
    # the boresight has a tenth of them at least, also without line of sight.
    assert rate_mbps > {"lte-20mhz": 15, "n78-100mhz": 140, "n261-100mhz": 46}[name]
