"""Two sentences about a run: its subject and the goodput of its flows."""

from typing import TYPE_CHECKING, Any

from fadeout import _quantities

if TYPE_CHECKING:
    from fadeout.results import Results

Row = dict[str, Any]

FLOW = (
    "flow",
    "profile",
    "goodput_mbps",
    "delivered_bytes",
    "flow_completion_time_s",
    "mean_rtt_s",
    "min_rtt_s",
)
DATAGRAMS = ("flow", "end", "received_datagrams", "lost_datagrams", "mean_delay_s", "max_delay_s")

UDP = "udp"
"""Profile of flows of datagrams, which have no round trips of acknowledgments."""


def sentences(results: "Results") -> list[str]:
    """Returns two sentences about a run: the scenario's title and the goodput of its flows."""
    scenario = results.manifest["scenario"]
    subject = results.title.strip() or f"A run of {results.duration_s:g} s"
    if subject[-1] not in ".!?":
        subject += "."
    flows = _rows(results, "flows", FLOW)
    connections = [flow for flow in flows if flow["profile"] != UDP]
    if len(connections) == 1:
        return [subject, _one(connections[0], scenario, results.duration_s)]
    if connections:
        return [subject, _several(connections)]
    datagrams = _rows(results, "datagram_flows", DATAGRAMS)
    if datagrams:
        return [subject, _datagrams(datagrams[0])]
    return [subject, "The scenario has no flow."]


def _rows(results: "Results", table: str, columns: tuple[str, ...]) -> list[Row]:
    found = results._columns(table, columns)
    return [dict(zip(found, values, strict=True)) for values in zip(*found.values(), strict=True)]


def _one(flow: Row, scenario: Row, duration_s: float) -> str:
    rate = f"{flow['goodput_mbps']:,.2f} Mbit/s"
    time_s = flow["flow_completion_time_s"]
    if not flow["delivered_bytes"]:
        return f"In {duration_s:g} s the flow {flow['flow']} delivered nothing."
    if time_s is not None:
        size = f"{flow['delivered_bytes'] / 1e6:,.3g} MB"
        text = f"The flow {flow['flow']} delivered {size} in {time_s:.3g} s ({rate})"
    else:
        text = f"In {duration_s:g} s the flow {flow['flow']} got {rate}"
        link_mbps = bottleneck_mbps(scenario, flow["flow"])
        if link_mbps:
            share = 100 * flow["goodput_mbps"] / link_mbps
            text += f", {share:.0f} % of the link's {link_mbps:g} Mbit/s"
    mean_s, least_s = flow["mean_rtt_s"], flow["min_rtt_s"]
    if mean_s is not None and least_s is not None:
        longer_ms = 1e3 * (mean_s - least_s)
        text += f", and its mean round trip was {longer_ms:.1f} ms longer than the shortest"
    return f"{text}."


def bottleneck_mbps(scenario: Row, name: str) -> float | None:
    """Returns the rate of the only link of a scenario for a flow. None if the scenario has
    more links, cells or bearers, or if the rate varies.
    """
    links = list(scenario.get("link", {}).values())
    flow = scenario.get("flow", {}).get(name)
    if flow is None or len(links) != 1 or scenario.get("cell") or scenario.get("rab"):
        return None
    link = links[0]
    end = link if flow.get("from") == link.get("from") else link.get("reverse", {})
    rate = end.get("rate")
    bits = _quantities.bits_per_second(rate) if isinstance(rate, str) else None
    return None if bits is None else bits / 1e6


def _several(flows: list[Row]) -> str:
    total = sum(flow["goodput_mbps"] for flow in flows)
    ordered = sorted(flows, key=lambda flow: flow["goodput_mbps"])
    slow, fast = ordered[0], ordered[-1]
    return (
        f"The {len(flows)} flows got {total:,.2f} Mbit/s together: the fastest, {fast['flow']}, "
        f"{fast['goodput_mbps']:,.2f}, and the slowest, {slow['flow']}, "
        f"{slow['goodput_mbps']:,.2f} Mbit/s."
    )


def _datagrams(row: Row) -> str:
    lost, got = row["lost_datagrams"], row["received_datagrams"]
    text = f"The {row['end']} of {row['flow']} missed {lost:,} of {lost + got:,} datagrams"
    if row["mean_delay_s"] is None:
        return f"{text}."
    mean_ms, most_ms = 1e3 * row["mean_delay_s"], 1e3 * row["max_delay_s"]
    return f"{text}, and a datagram took {mean_ms:.1f} ms on average and {most_ms:.1f} ms at most."
