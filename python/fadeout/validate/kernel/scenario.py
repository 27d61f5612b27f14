"""The two sides of a comparison: a scenario with our TCP, and with a kernel's."""

import json
import tomllib
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from fadeout import FadeoutError, _native, _toml
from fadeout._quantities import seconds
from fadeout._run import Overrides, ScenarioText, Source, override_list, read_source

Document = dict[str, Any]

DATAGRAMS = ("packet-stream", "echo", "full-buffer")
"""Applications without TCP: the same on both sides."""

HZ = 100
"""Ticks a second of user-mode Linux."""

COUNTS_TICKS = ("cubic", "bic", "westwood", "htcp", "bbr")
"""Congestion controls whose arithmetic is in ticks."""

PACKET_MEMORY = 1600 + 256 + 320
"""What a packet of 1500 bytes takes of the receive buffer in a guest (`truesize`), bytes: the
buffer that its network device gives it (1518 and 78 before it, in lines of 64), `struct sk_buff`
and `struct skb_shared_info`."""

JOINED_MEMORY = 1600 + 320 - 1448
"""What a packet takes beside its payload once it is joined to the one before: its `struct sk_buff`
is freed, its buffer stays."""

WINDOW_SHARE = 1448 * 256 // PACKET_MEMORY
"""256ths of the receive buffer that are the window (`scaling_ratio`, which Linux takes from the
first whole segment): 170."""

KERNEL_SETTINGS = {
    "timer-tick": f"{1000 // HZ} ms",
    "nagle": True,
    "header-memory": 192,
    "head-memory": 256,
    "packet-memory": PACKET_MEMORY - 1448,
    "joined-packet-memory": JOINED_MEMORY,
    "maximum-send-buffer": 4_194_304,
    "maximum-receive-window": 6_291_456 * WINDOW_SHARE // 256,
}
"""What a guest has and the profile `linux` leaves open: ticks, Nagle's algorithm, memory for
headers without wireless networks and tunnels (`MAX_TCP_HEADER`, and what a `sk_buff` has for
them), and of what is received, the send buffer (`tcp_wmem`); and the share of the receive buffer
(`tcp_rmem`) that is the largest window."""

START_STEP_S = 0.0037
"""How far the starts of flows lie apart from seed to seed, modulo a tick."""


@dataclass(frozen=True)
class Sides:
    """A scenario, ready to run with either TCP."""

    ours: ScenarioText
    kernel: ScenarioText
    flows: tuple[str, ...]
    """The names of those that are compared."""
    starts_s: dict[str, float]
    """When each of them starts."""
    overrides: tuple[str, ...]

    def start(self, seed: int) -> dict[str, float]:
        """When the flows start with this seed, s: moved against the kernel's tick."""
        shift = seed * START_STEP_S % (1 / HZ)
        return {name: start + shift for name, start in self.starts_s.items()}

    def settings(self, seed: int) -> list[str]:
        """What both sides have set with this seed."""
        starts = [f'flow.{name}.start="{at:.6f} s"' for name, at in self.start(seed).items()]
        return [*self.overrides, *starts]


def sides(
    source: Source | ScenarioText,
    *,
    kernel: str = "6.12",
    set: Overrides | None = None,  # noqa: A002
) -> Sides:
    """Both sides of a scenario: its flows of TCP with our endpoints, and with `kernel`'s.

    Raises:
        ScenarioError: the scenario is wrong.
        FadeoutError: it has no flow that can be compared.
    """
    given = source if isinstance(source, ScenarioText) else read_source(source)
    overrides = override_list(set)
    resolved = json.loads(
        _native.resolve(
            given.text, source_name=given.name, base_dir=given.base_dir, overrides=overrides
        )
    )["scenario"]
    flows = {
        name: flow
        for name, flow in resolved["flow"].items()
        if flow["application"]["kind"] not in DATAGRAMS
    }
    if not flows:
        raise FadeoutError(f"{given.name}: there is no flow of TCP to compare")
    document = tomllib.loads(given.text)
    ours, theirs = document, deepcopy(document)
    for node in ours.get("node", {}).values():
        node.pop("kernel", None)
        node.pop("receive-offload", None)
        node.pop("path-manager", None)
    for name, flow in flows.items():
        _as_linux(_flow(ours, name), flow)
        for node in (flow["from"], flow["to"]):
            theirs.setdefault("node", {}).setdefault(node, {})["kernel"] = kernel
    # The kernel tells of its state every 10 ms; ours is read at the same instants.
    ours.setdefault("probe", {})["congestion"] = "every-ack"
    return Sides(
        _text(ours, given),
        _text(theirs, given),
        tuple(flows),
        {name: _start_s(flow) for name, flow in flows.items()},
        tuple(overrides),
    )


def _flow(document: Document, name: str) -> Document:
    flows = document.get("flow", {})
    if name not in flows:
        raise FadeoutError(f"flow {name} is one of several of an entry; expected one of its own")
    return flows[name]


def _as_linux(flow: Document, resolved: Document) -> None:
    """Gives our flow what the kernel has of itself."""
    flow["profile"] = "linux"
    tcp = flow.get("tcp", {})
    # A kernel's window grows whether the scenario's does or not, and of twice the scenario's memory
    # it has its share.
    windows = [tcp[key] for key in ("receive-window", "maximum-receive-window") if key in tcp]
    own = {key: value for key, value in tcp.items() if key != "receive-window"}
    if windows:
        own["maximum-receive-window"] = 2 * windows[0] * WINDOW_SHARE // 256
    flow["tcp"] = KERNEL_SETTINGS | own
    control = resolved.get("congestion-control", {"name": "cubic"})
    name = control["name"]
    # Linux's Reno counts in integers, as ours does under its own name.
    name = "reno" if name == "newreno" else name
    flow["congestion-control"] = {"name": name, "hz": HZ} if name in COUNTS_TICKS else name


def _start_s(flow: Document) -> float:
    start = flow.get("start", "0 ns")
    return 0.0 if start.startswith("0 ") else seconds(start)


def _text(document: Document, given: ScenarioText) -> ScenarioText:
    return ScenarioText(_toml.dumps(document), given.name, given.base_dir)
