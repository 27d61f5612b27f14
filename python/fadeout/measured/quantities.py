"""Quantities of measured tables: their usual column names, their units and their ranges."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

RATE_UNITS = {
    "bit/s": 1e-6,
    "kbit/s": 1e-3,
    "Mbit/s": 1.0,
    "Gbit/s": 1e3,
    "B/s": 8e-6,
    "kB/s": 8e-3,
    "MB/s": 8.0,
}
"""Factors to Mbit/s."""
TIME_UNITS = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3}
"""Factors to milliseconds."""
SHARE_UNITS = {"share": 1.0, "%": 0.01}
SPEED_UNITS = {"m/s": 1.0, "km/h": 1 / 3.6, "mph": 0.44704, "kn": 0.514444}
LENGTH_UNITS = {"mm": 1e-3, "m": 1.0, "km": 1e3}
SIZE_UNITS = {"B": 1.0, "kB": 1e3, "MB": 1e6}
WINDOW_UNITS = {**SIZE_UNITS, "segments": 1.0}
"""A window in segments stays in segments, as a table has no segment size."""

SPELLINGS = {
    "bps": "bit/s",
    "bit/s": "bit/s",
    "bits/s": "bit/s",
    "kbps": "kbit/s",
    "kbit/s": "kbit/s",
    "kbits/s": "kbit/s",
    "kb/s": "kbit/s",
    "mbps": "Mbit/s",
    "mbit/s": "Mbit/s",
    "mbits/s": "Mbit/s",
    "mb/s": "Mbit/s",
    "gbps": "Gbit/s",
    "gbit/s": "Gbit/s",
    "byte/s": "B/s",
    "bytes/s": "B/s",
    "kbyte/s": "kB/s",
    "mbyte/s": "MB/s",
    "b": "B",
    "bytes": "B",
    "kbytes": "kB",
    "mbytes": "MB",
    "segments": "segments",
    "share": "share",
    "ratio": "share",
    "fraction": "share",
    "%": "%",
    "percent": "%",
    "pct": "%",
    "ns": "ns",
    "nanoseconds": "ns",
    "us": "us",
    "µs": "us",
    "microseconds": "us",
    "ms": "ms",
    "msec": "ms",
    "milliseconds": "ms",
    "s": "s",
    "sec": "s",
    "secs": "s",
    "seconds": "s",
    "db": "dB",
    "dbm": "dBm",
    "m": "m",
    "meters": "m",
    "metres": "m",
    "mm": "mm",
    "km": "km",
    "deg": "deg",
    "degrees": "deg",
    "m/s": "m/s",
    "mps": "m/s",
    "km/h": "km/h",
    "kmh": "km/h",
    "kph": "km/h",
    "mph": "mph",
    "kn": "kn",
    "knots": "kn",
}
"""Spellings of units in lower case. In `MB/s` the case decides: see `unit_of`."""


@dataclass(frozen=True)
class Quantity:
    """A quantity that a measured table may have."""

    name: str
    aliases: frozenset[str]
    """Usual column names, without unit, in lower case and with `_` between words."""
    units: Mapping[str, float]
    """Factors from each unit to `base_unit`. Empty for texts and times."""
    low: float
    high: float
    usual: str | None = None
    """Unit of a column without one. None if the unit must be given."""

    @property
    def base_unit(self) -> str:
        """Unit with the factor 1, in which rows have their values."""
        return next(unit for unit, factor in self.units.items() if factor == 1.0)


def _quantity(
    name: str,
    aliases: str,
    units: Mapping[str, float],
    limits: tuple[float, float],
    usual: str | None = None,
) -> Quantity:
    return Quantity(
        name, frozenset([name.replace("-", "_"), *aliases.split()]), units, *limits, usual
    )


QUANTITIES: Mapping[str, Quantity] = {
    one.name: one
    for one in (
        _quantity(
            "time", "timestamp t ts datetime date date_time epoch unix_time", {}, (-1e19, 1e19)
        ),
        _quantity(
            "rate",
            "bitrate throughput bandwidth goodput downlink_rate downlink_throughput dl_bitrate "
            "dl_rate dl_throughput dl download download_rate downlink",
            RATE_UNITS,
            (0.0, 1e9),
        ),
        _quantity(
            "uplink-rate",
            "uplink_throughput ul_bitrate ul_rate ul_throughput ul upload upload_rate uplink",
            RATE_UNITS,
            (0.0, 1e9),
        ),
        _quantity("delay", "one_way_delay owd latency", TIME_UNITS, (0.0, 1e9)),
        _quantity("round-trip", "rtt srtt ping round_trip_time pingavg", TIME_UNITS, (0.0, 1e9)),
        _quantity(
            "loss",
            "packet_loss packet_loss_rate loss_rate plr packet_error_rate",
            SHARE_UNITS,
            (0.0, 1.0),
        ),
        _quantity(
            "data",
            "sent acked delivered bytes bytes_sent bytes_acked bytes_delivered",
            SIZE_UNITS,
            (0.0, 1e18),
            "B",
        ),
        _quantity("window", "cwnd snd_cwnd congestion_window", WINDOW_UNITS, (0.0, 1e12)),
        _quantity(
            "retransmissions",
            "retransmits retrans retransmitted retr total_retrans",
            {"segments": 1.0},
            (0.0, 1e15),
            "segments",
        ),
        _quantity("gain", "path_gain channel_gain", {"dB": 1.0}, (-500.0, 0.0), "dB"),
        _quantity("sinr", "snr downlink_sinr dl_sinr dl_snr", {"dB": 1.0}, (-200.0, 100.0), "dB"),
        _quantity("uplink-sinr", "ul_sinr ul_snr uplink_snr", {"dB": 1.0}, (-200.0, 100.0), "dB"),
        _quantity("rsrp", "", {"dBm": 1.0}, (-200.0, 50.0), "dBm"),
        _quantity("ue", "phone device imei user", {}, (0.0, 0.0)),
        _quantity("cell", "cellid cell_id cid pci serving_cell", {}, (0.0, 0.0)),
        _quantity("x", "east easting pos_x", LENGTH_UNITS, (-1e7, 1e7), "m"),
        _quantity("y", "north northing pos_y", LENGTH_UNITS, (-1e7, 1e7), "m"),
        _quantity("latitude", "lat", {"deg": 1.0}, (-90.0, 90.0), "deg"),
        _quantity("longitude", "lon lng long", {"deg": 1.0}, (-180.0, 180.0), "deg"),
        _quantity("speed", "velocity moving_speed", SPEED_UNITS, (0.0, 1e4)),
        _quantity("site", "site_name site_id enodeb gnodeb enb gnb", {}, (0.0, 0.0)),
        _quantity("height", "antenna_height", LENGTH_UNITS, (0.0, 1e4), "m"),
        _quantity("azimuth", "bearing", {"deg": 1.0}, (-360.0, 360.0), "deg"),
    )
}
TEXTS = ("ue", "cell", "site")
"""Quantities that are names."""


class ColumnName(NamedTuple):
    """A column name, divided into its quantity and its unit."""

    base: str
    unit: str | None


def unit_of(text: str) -> str | None:
    """Returns a unit in fadeout's spelling. None for other texts."""
    text = text.strip()
    if text in ("kB/s", "KB/s", "MB/s", "B/s"):
        return text.replace("K", "k")
    return SPELLINGS.get(text.lower().replace("_", "/"))


def divided(column: str) -> ColumnName:
    """Returns the quantity and the unit of a column name, such as `RATE(MBit/s)` or `rate_kbps`."""
    text = column.strip()
    match = re.fullmatch(r"(.+?)[\s_]*[(\[]([^()\[\]]+)[)\]]", text)
    if match is None:
        match = re.fullmatch(r"(.+?)[\s_]+(\S+?)", text)
    if match is not None and (unit := unit_of(match[2])) is not None:
        return ColumnName(_plain(match[1]), unit)
    return ColumnName(_plain(text), None)


def _plain(text: str) -> str:
    """Returns a name in lower case, with `_` between words and before capitals."""
    text = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", text.strip())
    return re.sub(r"[\s.\-_/]+", "_", text).strip("_").lower()
