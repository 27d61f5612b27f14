"""The two sides of a comparison: a scenario with our TCP, and with a kernel's."""

import json
import tomllib
import warnings
from collections.abc import Iterable
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

NEW_BUFFER = (6, 16)
"""First version of Linux with the receive buffer of the profile `linux-6.18`."""

JOINED_MEMORY = 1600 + 320 - 1448
"""Memory of a packet that was joined to the previous one, without its payload, bytes.

The packet's `struct sk_buff` is freed, and its buffer stays.
"""

WINDOW_SHARE = 1448 * 256 // PACKET_MEMORY
"""Share of the receive buffer that is the window, in 256ths: 170.

Linux calls this share `scaling_ratio` and derives it from the first full segment.
"""

RECEIVE_BUFFER = 6_291_456
"""Largest receive buffer before Linux 6.16 (`tcp_rmem`), bytes."""
NEW_RECEIVE_BUFFER = 32 << 20
"""Largest receive buffer from Linux 6.16 on, bytes."""

KERNEL_SETTINGS = {
    "timer-tick": f"{1000 // HZ} ms",
    "nagle": True,
    "header-memory": 192,
    "head-memory": 256,
    "packet-memory": PACKET_MEMORY - 1448,
    "joined-packet-memory": JOINED_MEMORY,
    "maximum-send-buffer": 4_194_304,
    "maximum-receive-window": RECEIVE_BUFFER * WINDOW_SHARE // 256,
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
    """Names of the flows that are compared, as in the scenario file."""
    several: frozenset[str]
    """Names of flows with a `count` or with `arrivals`, which stand for several flows."""
    starts_s: dict[str, float]
    """Start of each flow in seconds. Flows with `arrivals` are absent."""
    overrides: tuple[str, ...]

    def start(self, seed: int) -> dict[str, float]:
        """Returns each flow's start with this seed in seconds, shifted against the
        kernel's tick. A seed draws the starts of `arrivals`, so these need no shift.
        """
        shift = seed * START_STEP_S % (1 / HZ)
        return {name: start + shift for name, start in self.starts_s.items()}

    def members(self, names: Iterable[str]) -> dict[str, list[str]]:
        """Returns the flows of a run by the name of their flow in the scenario file."""
        found: dict[str, list[str]] = {name: [] for name in self.flows}
        for name in names:
            entry = _entry(name, found)
            if entry is not None:
                found[entry].append(name)
        return found

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
    written = document.get("flow", {})
    firsts: dict[str, Document] = {}
    for name, flow in flows.items():
        firsts.setdefault(_written(name, flow, written), flow)
    ours, theirs = document, deepcopy(document)
    for node in ours.get("node", {}).values():
        node.pop("kernel", None)
        node.pop("receive-offload", None)
        node.pop("path-manager", None)
    for name, flow in firsts.items():
        if ignored := _ignored(written[name]):
            warnings.warn(
                f"flow {name}: {', '.join(ignored)} left out on both sides, because a kernel has "
                "its own value",
                stacklevel=2,
            )
        _leave_out(theirs["flow"][name])
        _as_linux(written[name], flow, kernel)
        for node in (flow["from"], flow["to"]):
            theirs.setdefault("node", {}).setdefault(node, {})["kernel"] = kernel
    # The kernel reports its state every 10 ms. Ours is read at the same instants.
    ours.setdefault("probe", {})["congestion"] = "every-ack"
    return Sides(
        _text(ours, given),
        _text(theirs, given),
        tuple(firsts),
        frozenset(name for name in firsts if name not in flows),
        {name: _start_s(flow) for name, flow in firsts.items() if "arrivals" not in written[name]},
        tuple(overrides),
    )


def _entry(name: str, entries: Iterable[str]) -> str | None:
    """Returns the flow of the scenario file that the flow `name` of a run belongs to.

    The flows of a `count` and of `arrivals` have the name in the file, a hyphen and a number.
    `None` if the flow is not one of `entries`.
    """
    known = set(entries)
    if name in known:
        return name
    start, _, number = name.rpartition("-")
    return start if number.isdecimal() and start in known else None


def _written(name: str, flow: Document, written: Document) -> str:
    """Returns the name in the scenario file of the flow `name` of a run."""
    entry = _entry(name, written)
    if entry is None or (flow["from"], flow["to"]) != (
        written[entry].get("from"),
        written[entry].get("to"),
    ):
        raise FadeoutError(
            f"flow {name} is one of a group of UEs; expected a single node at each end"
        )
    return entry


def _ignored(flow: Document) -> list[str]:
    """Returns the keys of a flow that a kernel ignores, and whose values it does not have."""
    kept = _native.kernel_tcp_keys()
    found = [
        f"tcp.{key}"
        for key, value in flow.get("tcp", {}).items()
        if key not in kept and value != KERNEL_SETTINGS.get(key)
    ]
    if not flow.get("profile", "linux").startswith("linux"):
        found.append("profile")
    control = flow.get("congestion-control")
    if isinstance(control, dict):
        found += [f"congestion-control.{key}" for key in control if key not in ("name", "hz")]
    return found


def _leave_out(flow: Document) -> None:
    """Removes the keys of a flow that a kernel ignores."""
    kept = _native.kernel_tcp_keys()
    tcp = {key: value for key, value in flow.pop("tcp", {}).items() if key in kept}
    if tcp:
        flow["tcp"] = tcp
    flow.pop("profile", None)
    control = flow.get("congestion-control")
    if isinstance(control, dict):
        flow["congestion-control"] = control["name"]


def _is_new(kernel: str) -> bool:
    """Returns True if a version of Linux has the receive buffer of the profile `linux-6.18`."""
    numbers = [int(part) for part in kernel.split(".")[:2] if part.isdecimal()]
    return tuple(numbers) >= NEW_BUFFER


def _as_linux(flow: Document, resolved: Document, kernel: str) -> None:
    """Sets the properties of a flow that a kernel has without any setting."""
    _leave_out(flow)
    tcp = flow.get("tcp", {})
    # A kernel's window always grows. Linux doubles the configured memory, and uses a share of it as
    # the window.
    windows = [tcp[key] for key in ("receive-window", "maximum-receive-window") if key in tcp]
    own = {key: value for key, value in tcp.items() if key != "receive-window"}
    if windows:
        own["maximum-receive-window"] = 2 * windows[0] * WINDOW_SHARE // 256
    usual = dict(KERNEL_SETTINGS)
    flow["profile"] = "linux"
    if _is_new(kernel):
        flow["profile"] = "linux-6.18"
        usual["maximum-receive-window"] = NEW_RECEIVE_BUFFER * WINDOW_SHARE // 256
    flow["tcp"] = usual | own
    name = resolved.get("congestion-control", {"name": "cubic"})["name"]
    # Linux's Reno computes in integers, as fadeout's `reno` does.
    name = "reno" if name == "newreno" else name
    flow["congestion-control"] = {"name": name, "hz": HZ} if name in COUNTS_TICKS else name


def _start_s(flow: Document) -> float:
    start = flow.get("start", "0 ns")
    return 0.0 if start.startswith("0 ") else seconds(start)


def _text(document: Document, given: ScenarioText) -> ScenarioText:
    return ScenarioText(_toml.dumps(document), given.name, given.base_dir)
