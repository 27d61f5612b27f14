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
"""Applications without TCP, which are the same on both sides."""

HZ = 100
"""Ticks per second of user-mode Linux."""

COUNTS_TICKS = ("cubic", "bic", "westwood", "htcp", "bbr")
"""Congestion controls that compute in ticks."""

PACKET_MEMORY = 1600 + 256 + 320
"""Memory of a packet of 1500 bytes in a guest's receive buffer (`truesize`), bytes.

The parts are the network device's buffer, `struct sk_buff` and `struct skb_shared_info`. The
device's buffer has 1518 bytes and 78 before them, in lines of 64.
"""

JOINED_MEMORY = 1600 + 320 - 1448
"""Memory of a packet that was joined to the previous one, without its payload, bytes.

The packet's `struct sk_buff` is freed, and its buffer stays.
"""

WINDOW_SHARE = 1448 * 256 // PACKET_MEMORY
"""Share of the receive buffer that is the window, in 256ths: 170.

Linux calls this share `scaling_ratio` and derives it from the first full segment.
"""

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
"""Properties of a guest that the profile `linux` leaves open.

The dict sets ticks, Nagle's algorithm, the send buffer (`tcp_wmem`) and memory. Memory for headers
is that without wireless networks and tunnels (`MAX_TCP_HEADER` and the `sk_buff`). The largest
window is a share of the receive buffer (`tcp_rmem`).
"""

START_STEP_S = 0.0037
"""Shift of the flows' start from one seed to the next in seconds, modulo a tick."""


@dataclass(frozen=True)
class Sides:
    """A scenario, ready to run with either TCP."""

    ours: ScenarioText
    kernel: ScenarioText
    flows: tuple[str, ...]
    """Names of the flows that are compared."""
    starts_s: dict[str, float]
    """Start of each flow in seconds."""
    overrides: tuple[str, ...]

    def start(self, seed: int) -> dict[str, float]:
        """Returns each flow's start with this seed in seconds, shifted against the
        kernel's tick.
        """
        shift = seed * START_STEP_S % (1 / HZ)
        return {name: start + shift for name, start in self.starts_s.items()}

    def settings(self, seed: int) -> list[str]:
        """Returns the overrides of both sides for this seed."""
        starts = [f'flow.{name}.start="{at:.6f} s"' for name, at in self.start(seed).items()]
        return [*self.overrides, *starts]


def sides(
    source: Source | ScenarioText,
    *,
    kernel: str = "6.12",
    set: Overrides | None = None,  # noqa: A002
) -> Sides:
    """Returns both sides of a scenario: TCP flows with our endpoints, and with those of `kernel`.

    Raises:
        ScenarioError: the scenario is wrong.
        FadeoutError: no flow can be compared.
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
    # The kernel reports its state every 10 ms. Ours is read at the same instants.
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
    """Sets the properties of a flow that a kernel has without any setting."""
    flow["profile"] = "linux"
    tcp = flow.get("tcp", {})
    # A kernel's window always grows. Linux doubles the configured memory, and uses a share of it as
    # the window.
    windows = [tcp[key] for key in ("receive-window", "maximum-receive-window") if key in tcp]
    own = {key: value for key, value in tcp.items() if key != "receive-window"}
    if windows:
        own["maximum-receive-window"] = 2 * windows[0] * WINDOW_SHARE // 256
    flow["tcp"] = KERNEL_SETTINGS | own
    control = resolved.get("congestion-control", {"name": "cubic"})
    name = control["name"]
    # Linux's Reno computes in integers, as fadeout's `reno` does.
    name = "reno" if name == "newreno" else name
    flow["congestion-control"] = {"name": name, "hz": HZ} if name in COUNTS_TICKS else name


def _start_s(flow: Document) -> float:
    start = flow.get("start", "0 ns")
    return 0.0 if start.startswith("0 ") else seconds(start)


def _text(document: Document, given: ScenarioText) -> ScenarioText:
    return ScenarioText(_toml.dumps(document), given.name, given.base_dir)
