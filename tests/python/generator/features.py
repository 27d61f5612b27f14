"""Features that are combined with each other, and the scenario that a choice of them makes.

The scenario is a street with two cells on one carrier, a core node and a server. Each feature has
values, each value a change of the scenario. The first value is the default.
"""

from collections.abc import Callable
from typing import Any

Scenario = dict[str, Any]
Choices = dict[str, str]
Change = Callable[[Scenario], None]


def _cell(x: int, **more: Any) -> Scenario:
    return {
        "position": [f"{x} m", "0 m"],
        "height": "25 m",
        "radio": {"kind": "nr"},
        "carrier": "3.5 GHz",
        "bandwidth": "20 MHz",
        "tx-power": "40 dBm",
        "channel": {"path-loss": "uma"},
        **more,
    }


def _link(source: str, target: str, delay: str = "5 ms") -> Scenario:
    rate = "100 Mbit/s"
    ends = {"from": source, "to": target}
    return {**ends, "rate": rate, "delay": delay, "reverse": {"rate": rate}}


def street() -> Scenario:
    """Returns the scenario without any feature: a download of one UE between two cells."""
    return {
        "duration": "300 ms",
        "link": {
            "internet": _link("server", "core", "10 ms"),
            "west-core": _link("core", "west"),
            "east-core": _link("core", "east"),
            "between": _link("west", "east", "2 ms"),
        },
        "cell": {"west": _cell(0), "east": _cell(200)},
        "ue": {"phone": {"position": ["80 m", "20 m"], "cell": "west"}},
        "flow": {"down": {"from": "server", "to": "phone"}},
    }


def _radio(kind: str, **more: Any) -> Change:
    def change(scenario: Scenario) -> None:
        for cell in scenario["cell"].values():
            cell["radio"] = {"kind": kind, **more}
            cell["carrier"] = "2.1 GHz" if kind == "lte" else "3.5 GHz"

    return change


def _cells(**more: Any) -> Change:
    def change(scenario: Scenario) -> None:
        for cell in scenario["cell"].values():
            cell["radio"] |= more

    return change


def _channel(**more: Any) -> Change:
    def change(scenario: Scenario) -> None:
        for cell in scenario["cell"].values():
            cell["channel"] |= more

    return change


def _ue(**more: Any) -> Change:
    def change(scenario: Scenario) -> None:
        scenario["ue"]["phone"] |= more

    return change


def _flow(**more: Any) -> Change:
    def change(scenario: Scenario) -> None:
        for flow in scenario["flow"].values():
            flow |= more

    return change


def _managed(**more: Any) -> Change:
    def change(scenario: Scenario) -> None:
        event = {"kind": "a3", "offset": "-3 dB", "time-to-trigger": "0 ms", "filter": 0}
        scenario["mobility-management"] = {
            "core": "core",
            "measurement-period": "40 ms",
            "events": [event],
            **more,
        }

    return change


def _management(**more: Any) -> Change:
    def change(scenario: Scenario) -> None:
        if "mobility-management" in scenario:
            scenario["mobility-management"] |= more

    return change


def _nothing(_: Scenario) -> None:
    pass


def _conditional(scenario: Scenario) -> None:
    condition = {"kind": "a3", "offset": "0 dB", "time-to-trigger": "40 ms", "filter": 0}
    _managed(procedure="conditional", conditions=[condition])(scenario)


def _ltm(scenario: Scenario) -> None:
    for cell in scenario["cell"].values():
        cell |= {"node": "west", "antenna": "sector"}
    for name in ("between", "east-core"):
        scenario["link"].pop(name)
    _managed(procedure="ltm")(scenario)


def _aggregation(scenario: Scenario) -> None:
    second = _cell(0, node=scenario["cell"]["west"].get("node", "west"))
    second |= {"radio": dict(scenario["cell"]["west"]["radio"]), "carrier": "2.6 GHz"}
    scenario["cell"]["second"] = second
    scenario["ue"]["phone"] |= {"secondary-cells": ["second"], "secondary-uplink": True}


def _carrier_duplication(scenario: Scenario) -> None:
    _aggregation(scenario)
    scenario["ue"]["phone"]["split"] = {"duplication": "both", "carriers": ["second"]}


def _small(scenario: Scenario) -> None:
    scenario["cell"]["small"] = _cell(100, carrier="4.7 GHz", height="10 m")
    scenario["link"]["to-small"] = _link("west", "small", "2 ms")


def _dual(**split: Any) -> Change:
    def change(scenario: Scenario) -> None:
        _small(scenario)
        scenario["ue"]["phone"] |= {"pscell": "small", "split": split}

    return change


def _many(count: int) -> Change:
    return _ue(**{"count": count, "spread": "30 m"})


def _vehicles(scenario: Scenario) -> None:
    road = {"length": "400 m", "start": ["-100 m", "10 m"], "lanes": ["50 km/h", "80 km/h"]}
    types = [
        {"name": "car", "share": 80},
        {"name": "truck", "length": "13 m", "width": "2.6 m", "height": "3 m", "share": 20},
    ]
    scenario["vehicles"] = {"traffic": {"road": road, "types": types}}
    phone = scenario["ue"]["phone"]
    for key in ("position", "spread"):
        phone.pop(key, None)
    phone["vehicles"] = "traffic"  # fmt: skip


def _upload(scenario: Scenario) -> None:
    scenario["flow"] = {"up": {"from": "phone", "to": "server"}}


def _both_ways(scenario: Scenario) -> None:
    scenario["flow"]["up"] = {"from": "phone", "to": "server"}


def _multipath(**more: Any) -> Change:
    def change(scenario: Scenario) -> None:
        scenario["link"]["wifi"] = _link("server", "phone", "8 ms")
        scenario["flow"] = {
            name: {**flow, "multipath": {"paths": [_way(flow), ["wifi"]], **more}}
            for name, flow in scenario["flow"].items()
        }

    return change


def _multipath_quic(scenario: Scenario) -> None:
    _multipath()(scenario)
    _flow(transport={"kind": "quic", "path-timeout": "200 ms"})(scenario)


def _way(flow: Scenario) -> list[str]:
    way = ["internet", "west-core", "phone"]
    return way if flow["to"] == "phone" else way[::-1]


def _application(**more: Any) -> Change:
    return _flow(application=more)


def _core_queue(discipline: str) -> Change:
    def change(scenario: Scenario) -> None:
        link = scenario["link"]["internet"]
        link |= {"rate": "15 Mbit/s"}
        link["queue"] = {"limit": "60 packets", "discipline": discipline}

    return change


def _rlc_queue(name: str) -> Change:
    def change(scenario: Scenario) -> None:
        rlc = scenario["ue"]["phone"].setdefault("rlc", {"mode": "am"})
        rlc["aqm"] = name

    return change


def _probe(**more: Any) -> Change:
    def change(scenario: Scenario) -> None:
        scenario["probe"] = more

    return change


def _scheduler(name: str) -> Change:
    def change(scenario: Scenario) -> None:
        for cell in scenario["cell"].values():
            cell |= {"mac-scheduler": name, "uplink-mac-scheduler": name}

    return change


_PATTERN = {
    "tdd-period": "2.5 ms",
    "tdd-downlink-slots": 3,
    "tdd-downlink-symbols": 6,
    "tdd-uplink-slots": 1,
    "tdd-uplink-symbols": 4,
    "duplex": "tdd",
    "numerology": 1,
}
_NR_DUPLEX = ("fdd", "flexible", "DDDSU", "DDSU", "DSUUD", "DDDDDDDSUU")

FEATURES: dict[str, dict[str, Change]] = {
    # Changes are applied in this order: the radio first, flows last.
    "duplex": {
        **{f"nr-{name}": _radio("nr", duplex=name) for name in _NR_DUPLEX},
        "nr-pattern": _radio("nr", **_PATTERN),
        "lte-fdd": _radio("lte"),
        **{f"lte-tdd-{n}": _radio("lte", duplex="tdd", **{"tdd-configuration": n})
           for n in range(7)},
    },
    "ues": {"one": _nothing, "three": _many(3), "twelve": _many(12)},
    "handover": {
        "none": _nothing,
        "plain": _managed(procedure="plain"),
        "conditional": _conditional,
        "daps": _managed(procedure="daps"),
        "ltm": _ltm,
    },
    "handover-data": {
        "default": _nothing,
        **{name: _management(data=name) for name in ("none", "forwarding", "bicasting")},
    },
    "signalling": {"given": _nothing, "links": _management(signalling="links")},
    "mobility": {
        "static": _nothing,
        "line": _ue(mobility={"model": "line", "x-speed": 60}),
        "random-waypoint": _ue(mobility={"model": "random-waypoint", "max-speed": 30}),
        "random-direction": _ue(mobility="random-direction"),
        "manhattan": _ue(mobility="manhattan"),
        "waypoints": _ue(waypoints=[{"position": ["180 m", "20 m"], "speed": "70 m/s"}]),
        "vehicles": _vehicles,
    },
    "legs": {
        "one": _nothing,
        "aggregation": _aggregation,
        "carrier-duplication": _carrier_duplication,
        "split": _dual(),
        "split-uplink": _dual(**{"ul-data-split-threshold": "0 B", "leg-choice": "turns"}),
        "secondary-primary": _dual(**{"primary-path": "secondary", "leg-choice": "demand"}),
        **{f"duplication-{way}": _dual(duplication=way) for way in ("downlink", "uplink", "both")},
    },
    "rlc": {name: _ue(rlc={"mode": name}) for name in ("am", "um", "tm")},
    "rlc-queue": {name: _rlc_queue(name) for name in ("drop-tail", "codel", "pie", "ecn-step")},
    "pdcp": {
        "standard": _nothing,
        **{name: _ue(pdcp={"delivery": name})
           for name in ("in-order", "out-of-order", "from-rlc")},
        "rohc": _ue(pdcp={"header-compression": "rohc"}),
        "discard": _ue(pdcp={"discard-timer": "20 ms"}),
    },
    "sleep": {
        "none": _nothing,
        "drx": _cells(**{"drx-cycle": "40 ms", "drx-on": "4 ms", "drx-inactivity": "5 ms"}),
        "idle": _ue(**{"rrc-states": {"inactivity": "40 ms", "state": "idle"}}),
        "inactive": _ue(**{"rrc-states": {"inactivity": "40 ms", "state": "inactive"}}),
    },
    "uplink-access": {
        "requests": _nothing,
        "prohibited": _cells(**{"sr-prohibit": "8 ms", "sr-period": 20}),
        "configured": _cells(**{"configured-grant-period": 5}),
    },
    "harq": {
        "incremental": _nothing,
        "chase": _cells(**{"harq-combining": "chase", "errors": "fixed", "bler": 0.3}),
        "none": _cells(**{"harq-combining": "none", "harq-transmissions": 1}),
        "wrong-feedback": _cells(**{"nack-to-ack": 0.1, "ack-to-nack": 0.1}),
    },
    "rank": {
        "one": _nothing,
        "adaptive": _cells(layers=4),
        "fixed": _cells(layers=2, rank="fixed"),
    },
    "scheduler": {
        name: _scheduler(name) for name in ("proportional-fair", "round-robin", "max-ci")
    },
    "fading": {
        "default": _nothing,
        **{name: _channel(fading=name) for name in ("none", "rayleigh", "clusters", "tdl-c")},
        "blocked": _channel(blockage="two-state"),
        "seen": _channel(**{"line-of-sight": "geometry"}),
    },
    "direction": {"down": _nothing, "up": _upload, "both": _both_ways},
    "core-queue": {
        "unused": _nothing,
        **{name: _core_queue(name)
           for name in ("drop-tail", "biased", "red", "codel", "fq-codel", "pie", "dualpi2")},
    },
    "transport": {
        "bulk": _nothing,
        "transfer": _application(kind="transfer", size="200 kB"),
        "on-off": _application(kind="on-off"),
        "request-response": _application(kind="request-response"),
        "packet-stream": _application(kind="packet-stream", size="300 B", rate="3 Mbit/s"),
        "echo": _application(kind="echo"),
        "full-buffer": _application(kind="full-buffer"),
        "mptcp": _multipath(),
        "mptcp-redundant": _multipath(**{"path-scheduler": "redundant", "coupling": "balia"}),
        "mptcp-blest": _multipath(**{"path-scheduler": "blest", "coupling": "olia"}),
        "quic": _flow(transport="quic"),
        "quic-tls": _flow(transport={"kind": "quic", "crypto": "tls", "streams": "per-write"}),
        "mpquic": _multipath_quic,
    },
    "probes": {
        "default": _nothing,
        "all": _probe(**{"transport-blocks": True, "radio-delay": True, "measurements": True,
                         "congestion": "every-ack", "queue": "every-packet",
                         "bearers": "every-packet"}),
        "fine": _probe(**{"throughput": "1 ms", "congestion": "1 ms", "queue": "1 ms"}),
        "none": _probe(**{"throughput": False, "congestion": False, "queue": False,
                          "datagrams": False, "bearers": False, "rrc": False}),
    },
}  # fmt: skip
"""Changes of the scenario by feature and value."""

DEFAULT: Choices = {name: next(iter(values)) for name, values in FEATURES.items()}
"""The first value of each feature."""


def compose(choices: Choices) -> Scenario:
    """Returns the scenario of a choice of values, applied in the order of `FEATURES`."""
    scenario = street()
    for name, values in FEATURES.items():
        values[choices[name]](scenario)
    return scenario
