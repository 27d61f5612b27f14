"""Scenarios drawn at random from everything that both sides support."""

import math
import random
import tomllib
from collections.abc import Callable
from importlib import resources
from typing import Any, TypeVar

from fadeout import FadeoutError, _names
from fadeout.validate.kernel.cases import CHAOTIC_SEEDS, FILES, Case
from fadeout.validate.kernel.scenario import Document

Item = TypeVar("Item")

CONTROLS = (
    *("cubic", "cubic", "cubic", "bbr", "bbr", "reno"),
    *("bic", "westwood", "htcp", "highspeed", "hybla", "vegas", "scalable", "veno", "yeah"),
    "illinois",
)
"""Congestion controls of draws. Repeated names are drawn more often, as they are used more often.
"""
HOST_KEYS = ("ecn", "maximum-send-buffer", "maximum-receive-window")
"""Keys of `tcp` that are settings of a whole host in Linux (`tcp_ecn`, `tcp_wmem`, `tcp_rmem`)."""
PACKET_BYTES = 1500
START_S = 0.1
"""Time at which the first flow starts, before the shift of the seed, seconds."""
BULK_BYTES = 12e6
"""Amount of data after which a bulk flow may end, bytes. It limits the processor time of a run."""

MOST_ARRIVALS = 60.0
"""Largest number of files in a second. It limits the number of sockets of a kernel."""


class Draw:
    """A generator of random values for one scenario."""

    def __init__(self, seed: int, number: int) -> None:
        """Begins the values of scenario `number` of the seed.

        The values do not depend on the number of scenarios.
        """
        self._random = random.Random(f"{seed}/{number}")

    def chance(self, probability: float) -> bool:
        """Returns True with a probability."""
        return self._random.random() < probability

    def one(self, of: tuple[Item, ...]) -> Item:
        """Returns an entry, each with the same probability."""
        return self._random.choice(of)

    def whole(self, least: int, most: int) -> int:
        """Returns an integer between two bounds, uniformly."""
        return self._random.randint(least, most)

    def even(self, least: float, most: float) -> float:
        """Returns a number between two bounds, uniformly, with three digits."""
        return _rounded(self._random.uniform(least, most))

    def scale(self, least: float, most: float) -> float:
        """Returns a number between two bounds whose logarithm is uniform, with three digits."""
        return _rounded(math.exp(self._random.uniform(math.log(least), math.log(most))))

    def size(self, least: float, most: float) -> int:
        """Returns a number of bytes whose logarithm is uniform, to the byte."""
        return round(math.exp(self._random.uniform(math.log(least), math.log(most))))


def _rounded(value: float) -> float:
    return float(f"{value:.3g}")


def draw(count: int, seed: int, *, families: list[str] | None = None, seeds: int) -> list[Case]:
    """Returns random cases. Scenario `n` of a seed is the same for any count.

    Families take turns, so that a small count has a case of each.

    Args:
        count: number of scenarios.
        seed: seed of the draws. Runs have seeds of their own.
        families: names of the families to keep. The others are left out.
        seeds: number of runs for each side of a scenario with competing flows.

    Raises:
        FadeoutError: a family is unknown, or no scenario of the draw belongs to one.
    """
    for name in families or ():
        if name not in FAMILIES:
            raise FadeoutError(_names.unknown("family", name, tuple(FAMILIES)))
    names = tuple(FAMILIES)
    found = [
        _case(names[number % len(names)], seed, number, seeds)
        for number in range(count)
        if not families or names[number % len(names)] in families
    ]
    if not found:
        raise FadeoutError(
            f"the first {count} scenarios have none of the family {' or '.join(families or ())}; "
            f"expected --random {len(names)} or more"
        )
    return found


def _case(family: str, seed: int, number: int, seeds: int) -> Case:
    competes = family in COMPETING
    document = FAMILIES[family](Draw(seed, number))
    _share_settings(document["flow"])
    return Case(
        f"{seed}-{number:03} {family}",
        family,
        document,
        is_chaotic=competes,
        is_quick=False,
        count=seeds if competes else 1,
    )


def _share_settings(flows: Document) -> None:
    """Gives all flows the first drawn value of each setting that Linux has once for a host.

    DCTCP switches ECN on for its host.
    """
    shared: Document = {}
    for flow in flows.values():
        if flow["congestion-control"] == "dctcp":
            shared.setdefault("ecn", "classic")
        shared = {key: flow["tcp"][key] for key in HOST_KEYS if key in flow.get("tcp", {})} | shared
    for flow in flows.values():
        is_dctcp = flow["congestion-control"] == "dctcp"
        tcp = {key: value for key, value in shared.items() if key != "ecn" or not is_dctcp}
        if tcp:
            flow["tcp"] = tcp


def _bulk(draw: Draw) -> Document:
    made, rate, rtt_ms = _one_link(draw)
    made["flow"] = {"a": _flow(draw, made, {"kind": "bulk"})}
    made["duration"] = _bulk_duration(rate, rtt_ms)
    return made


def _short(draw: Draw) -> Document:
    made, rate, rtt_ms = _one_link(draw)
    made["flow"] = {"a": _flow(draw, made, _file(draw, rate))}
    made["duration"] = _file_duration(rate, rtt_ms, made["flow"])
    return made


def _files(draw: Draw) -> Document:
    made, rate, rtt_ms = _one_link(draw)
    if draw.chance(0.25):
        size = draw.size(3e3, min(200e3, rate * 25e3))
        load = draw.even(0.2, 0.8)
        per_second = _rounded(min(load * rate * 1e6 / 8 / size, MOST_ARRIVALS))
        duration_s = _rounded(min(20.0, max(40 / per_second, 10 * rtt_ms * 1e-3)))
        flow = _flow(draw, made, {"kind": "transfer", "size": f"{size} B"})
        flow["arrivals"] = {
            "rate": per_second,
            "size": f"{size} B",
            "distribution": draw.one(("constant", "exponential", "pareto")),
        }
        made["flow"] = {"a": flow}
        made["duration"] = f"{duration_s + START_S} s"
        return made
    flows = {}
    at_s = START_S
    for number in range(draw.whole(2, 8)):
        flows[f"f{number}"] = _flow(draw, made, _file(draw, rate), at_s)
        at_s = _rounded(at_s + draw.even(0, 10) * rtt_ms * 1e-3)
    made["flow"] = flows
    made["duration"] = _file_duration(rate, rtt_ms, flows)
    return made


def _request_response(draw: Draw) -> Document:
    made, rate, rtt_ms = _one_link(draw)
    made["flow"] = {"a": _flow(draw, made, _dialogue(draw, rate))}
    made["duration"] = _file_duration(rate, rtt_ms, made["flow"])
    return made


def _on_off(draw: Draw) -> Document:
    made, rate, rtt_ms = _one_link(draw)
    on_s = draw.scale(0.05, 2)
    application = {
        "kind": "on-off",
        "rate": f"{_rounded(rate * draw.scale(0.05, 1.5))} Mbit/s",
        "chunk": f"{draw.size(100, 40e3)} B",
        "on": f"{on_s} s",
        "off": f"{draw.scale(0.05, 2)} s",
        "on-distribution": draw.one(("constant", "exponential")),
        "off-distribution": draw.one(("constant", "exponential")),
    }
    made["flow"] = {"a": _flow(draw, made, application)}
    duration_s = min(BULK_BYTES * 8e-6 / rate, 10.0)
    made["duration"] = f"{_rounded(max(duration_s, 3 * on_s, 20 * rtt_ms * 1e-3)) + START_S} s"
    return made


def _several(draw: Draw) -> Document:
    made, rate, rtt_ms = _one_link(draw, most_rate=100)
    flows = {}
    at_s = START_S
    for number in range(draw.whole(2, 4)):
        flows[f"f{number}"] = _flow(draw, made, {"kind": "bulk"}, at_s)
        at_s = _rounded(at_s + draw.even(0, 30) * rtt_ms * 1e-3)
    made["flow"] = flows
    made["duration"] = _bulk_duration(rate, rtt_ms, since_s=at_s)
    return made


def _both_ways(draw: Draw) -> Document:
    made, rate, rtt_ms = _one_link(draw, most_rate=100)
    path = made["link"]["path"]
    reverse = path.setdefault("reverse", {})
    back = _rounded(rate * draw.one((1.0, 1.0, 0.3, 0.1)))
    reverse["rate"] = f"{back} Mbit/s"
    reverse["queue"] = {"limit": f"{_buffer(draw, back, rtt_ms)} packets"}
    applications = [_file(draw, rate), _file(draw, back)]
    if draw.chance(0.5):
        applications = [{"kind": "bulk"}, {"kind": "bulk"}]
    later_s = _rounded(START_S + draw.even(0, 20) * rtt_ms * 1e-3)
    down = _flow(draw, made, applications[0])
    up = _flow(draw, made, applications[1], later_s) | {"from": "client", "to": "server"}
    made["flow"] = {"down": down, "up": up}
    is_bulk = applications[0]["kind"] == "bulk"
    made["duration"] = (
        _bulk_duration(rate, rtt_ms, since_s=later_s)
        if is_bulk
        else _file_duration(back, rtt_ms, made["flow"])
    )
    return made


def _cell(draw: Draw) -> Document:
    name = draw.one(("lte-cell", "lte-cell", "28-ghz-walk"))
    text = resources.files("fadeout.validate.kernel") / FILES[name]
    made = tomllib.loads(text.read_text(encoding="utf-8"))
    made["link"]["core"]["delay"] = f"{draw.scale(2, 60)} ms"
    phone = made["ue"]["phone"]
    phone["rlc"] = {
        "mode": draw.one(("am", "am", "um")),
        "buffer": f"{draw.size(100e3, 3e6)} B",
    }
    if name == "lte-cell":
        made["cell"]["macro"]["bandwidth"] = draw.one(("5 MHz", "10 MHz", "20 MHz"))
        phone["position"] = [f"{draw.scale(60, 700)} m", "0 m"]
        phone["mobility"]["x-speed"] = draw.scale(0.5, 30)
    else:
        phone["mobility"]["x-speed"] = draw.scale(1, 10)
    rate = 30 if name == "lte-cell" else 200
    application = draw.one(({"kind": "bulk"}, _file(draw, rate), _dialogue(draw, rate)))
    made["flow"]["download"] |= _flow(draw, made, application)
    made["flow"]["download"]["to"] = "phone"
    made["duration"] = f"{draw.even(2, 5 if rate == 30 else 3)} s"
    return made


def _two_links(draw: Draw) -> tuple[Document, float, float]:
    """Returns a scenario with two links, the smaller rate in Mbit/s and the longer round trip."""
    made: Document = {"link": {}}
    drawn = [(draw.scale(1, 130), draw.scale(5, 250)) for _ in range(2)]
    for name, (rate, rtt_ms) in zip(("first", "second"), drawn, strict=True):
        made["link"][name] = _plain_link(draw, rate, rtt_ms)
        if draw.chance(0.3):
            made["link"][name]["loss"] = {"probability": draw.scale(1e-4, 0.02)}
    if draw.chance(0.2):
        made["blockage"] = {"bus": _blockage(draw, draw.one(("first", "second")))}
    return made, min(rate for rate, _ in drawn), max(rtt_ms for _, rtt_ms in drawn)


def _multipath_flow(draw: Draw, application: Document) -> Document:
    flow = {
        "from": "server",
        "to": "client",
        "start": f"{START_S} s",
        "congestion-control": draw.one(("cubic", "cubic", "reno", "bbr")),
        "application": application,
    }
    second: Any = ["second"]
    if draw.chance(0.15):
        second = {"links": ["second"], "backup": True}
    flow["multipath"] = {"paths": [["first"], second], "path-scheduler": "linux"}
    return flow


def _multipath(draw: Draw) -> Document:
    made, rate, rtt_ms = _two_links(draw)
    is_bulk = draw.chance(0.4)
    application = {"kind": "bulk"} if is_bulk else _file(draw, rate)
    made["flow"] = {"a": _multipath_flow(draw, application)}
    fastest = max(_rate_of(link) for link in made["link"].values())
    made["duration"] = (
        _bulk_duration(fastest, rtt_ms) if is_bulk else _file_duration(rate, rtt_ms, made["flow"])
    )
    return made


def _multipath_requests(draw: Draw) -> Document:
    made, rate, rtt_ms = _two_links(draw)
    made["flow"] = {"a": _multipath_flow(draw, _dialogue(draw, rate))}
    made["duration"] = _file_duration(rate, rtt_ms, made["flow"])
    return made


FAMILIES: dict[str, Callable[[Draw], Document]] = {
    "bulk": _bulk,
    "short": _short,
    "request-response": _request_response,
    "files": _files,
    "cell": _cell,
    "multipath": _multipath,
    "on-off": _on_off,
    "both-ways": _both_ways,
    "multipath-requests": _multipath_requests,
    "several": _several,
}
"""The families by name, in the order in which they take turns."""

COMPETING = ("files", "both-ways", "several")
"""Families whose flows compete. Their results depend on milliseconds."""

SEEDS = CHAOTIC_SEEDS
"""Default number of runs for each side of a scenario with competing flows."""

LEAST_SEEDS = 5
"""Smallest number of runs for each side whose distributions can differ at 1 %.

With four, the smallest p-value of the two-sample Kolmogorov-Smirnov test is 0.029.
"""


def _one_link(draw: Draw, *, most_rate: float = 1000) -> tuple[Document, float, float]:
    """Returns a scenario with one link, its rate in Mbit/s and its round trip in ms."""
    rate, rtt_ms = draw.scale(1, most_rate), draw.scale(2, 400)
    path = _plain_link(draw, rate, rtt_ms)
    made: Document = {"link": {"path": path}}
    if draw.chance(0.45):
        path["queue"]["discipline"] = _discipline(draw)
    _impair(draw, made, path, rate, rtt_ms)
    return made, rate, rtt_ms


def _plain_link(draw: Draw, rate: float, rtt_ms: float) -> Document:
    return {
        "from": "server",
        "to": "client",
        "rate": f"{rate} Mbit/s",
        "delay": f"{_rounded(rtt_ms / 2)} ms",
        "queue": {"limit": f"{_buffer(draw, rate, rtt_ms)} packets"},
    }


def _buffer(draw: Draw, rate: float, rtt_ms: float) -> int:
    """Returns the limit of a queue in packets: 0.1 to 8 bandwidth-delay products."""
    product = rate * 1e6 * rtt_ms * 1e-3 / 8 / PACKET_BYTES
    return max(4, min(20_000, round(product * draw.scale(0.1, 8))))


def _rate_of(link: Document) -> float:
    return float(link["rate"].split()[0])


def _discipline(draw: Draw) -> Document:
    name = draw.one(("red", "codel", "fq-codel", "fq-codel", "pie", "dualpi2"))
    if name != "red":
        return {"name": name}
    least = draw.whole(4, 30)
    return {"name": name, "min-threshold": least, "max-threshold": 3 * least, "weight": 0.02}


def _impair(draw: Draw, made: Document, path: Document, rate: float, rtt_ms: float) -> None:
    """Adds losses, jitter, blockages or steps to a link. Half of all links have none."""
    kind = draw.one(
        (None, None, None, None, None, "loss", "loss", "bursts", "acks", "jitter", "blocked")
    )
    if kind == "loss":
        path["loss"] = {"probability": draw.scale(1e-4, 0.05)}
    elif kind == "bursts":
        to_good = 1 / draw.whole(3, 20)
        path["loss"] = {
            "gilbert-elliott": {
                "to-bad": _rounded(to_good * draw.scale(1e-3, 0.05)),
                "to-good": _rounded(to_good),
                "loss-bad": 0.5,
            }
        }
    elif kind == "acks":
        path["reverse"] = {"loss": {"probability": draw.scale(1e-3, 0.05)}}
    elif kind == "jitter":
        path["jitter"] = f"{_rounded(rtt_ms * draw.scale(0.01, 0.3))} ms"
        path["keeps-order"] = draw.chance(0.5)
    elif kind == "blocked":
        made["blockage"] = {"bus": _blockage(draw, "path")}
    if kind is None and draw.chance(0.15):
        path["rate"] = {
            "steps": [
                ["0 s", f"{rate} Mbit/s"],
                [f"{draw.even(0.5, 3)} s", f"{_rounded(rate * draw.one((0.25, 0.5, 2)))} Mbit/s"],
            ]
        }


def _blockage(draw: Draw, link: str) -> Document:
    period_s = draw.even(1, 4)
    return {
        "link": link,
        "direction": draw.one(("both", "forward")),
        "schedule": {
            "period": f"{period_s} s",
            "duration": f"{draw.scale(0.03, 0.3 * period_s)} s",
            "phase": f"{draw.even(0.1, 1)} s",
        },
        "effect": draw.one(("held", "dropped-on-arrival")),
    }


def _flow(draw: Draw, made: Document, application: Document, start_s: float = START_S) -> Document:
    """Returns a flow of a drawn congestion control, with ECN or small buffers for some."""
    flow: Document = {
        "from": "server",
        "to": "client",
        "start": f"{start_s} s",
        "application": application,
        "congestion-control": draw.one(CONTROLS),
    }
    disciplines = [link.get("queue", {}).get("discipline") for link in made["link"].values()]
    tcp: Document = {}
    if any(disciplines):
        if draw.chance(0.1):
            flow["congestion-control"] = "dctcp"
        elif draw.chance(0.5):
            tcp["ecn"] = "classic"
    if draw.chance(0.1):
        tcp["maximum-send-buffer"] = draw.size(20e3, 2e6)
    if draw.chance(0.1):
        tcp["maximum-receive-window"] = draw.size(65_535, 2e6)
    if tcp:
        flow["tcp"] = tcp
    return flow


def _file(draw: Draw, rate: float) -> Document:
    """Returns a transfer of at most three seconds at the link's rate."""
    kind = draw.one(("transfer", "transfer", "web", "ftp"))
    return {"kind": kind, "size": f"{draw.size(2e3, min(5e6, rate * 400e3))} B"}


def _dialogue(draw: Draw, rate: float) -> Document:
    return {
        "kind": "request-response",
        "requests": draw.whole(2, 10),
        "request-size": f"{draw.size(50, 5e3)} B",
        "size": f"{draw.size(500, min(1e6, rate * 100e3))} B",
        "think": f"{draw.scale(0.01, 2)} s",
        "think-distribution": "constant",
    }


def _bulk_duration(rate: float, rtt_ms: float, *, since_s: float = START_S) -> str:
    seconds = min(BULK_BYTES * 8e-6 / rate, 20.0)
    return f"{_rounded(since_s + max(seconds, 1.0, 12 * rtt_ms * 1e-3))} s"


def _file_duration(rate: float, rtt_ms: float, flows: Document) -> str:
    """Returns a duration in which flows of files usually complete."""
    total, thinking_s = 0.0, 0.0
    for flow in flows.values():
        application = flow["application"]
        count = application.get("requests", 1)
        total += count * float(application["size"].split()[0])
        thinking_s += count * float(application.get("think", "0 s").split()[0])
    seconds = 3 * total * 8e-6 / rate + 60 * rtt_ms * 1e-3 + thinking_s + 3
    return f"{_rounded(min(seconds, 60.0))} s"
