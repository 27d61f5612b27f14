"""Statements that hold for the results of every scenario."""

import heapq
from collections.abc import Iterator
from typing import Any

import polars as pl

import fadeout
from fadeout import _columns
from generator.schema import quantity

Scenario = dict[str, Any]

_SIGNED = frozenset({"dB", "dBm", "dBi", "m", "deg"})
"""Units of columns that may be negative."""
_LARGEST_PACKET = 65_535 * 8


def broken(scenario: Scenario, results: fadeout.Results) -> list[str]:
    """Returns each invariant that does not hold, as a line of text."""
    checks = (_numbers, _order, _links, _flows, _datagrams, _windows, _throughput, _last_hop,
              _radio, _blocks, _air, _round_trips)  # fmt: skip
    return [line for check in checks for line in check(scenario, results)]


def differences(first: fadeout.Results, second: fadeout.Results) -> list[str]:
    """Returns where two runs of a scenario differ."""
    found = [] if first.fingerprint == second.fingerprint else ["runs differ in their fingerprint"]
    for name in first.tables:
        # NaN is equal to itself in polars.
        if not first.tables[name].equals(second.tables[name], null_equal=True):
            found.append(f"runs differ in table {name}")
    return found


def _rows(results: fadeout.Results, name: str) -> Iterator[dict[str, Any]]:
    if name in results.tables:
        yield from results.tables[name].iter_rows(named=True)


def _numbers(_: Scenario, results: fadeout.Results) -> Iterator[str]:
    """Only columns that say so have NaN, only thresholds are infinite, and nothing is negative."""
    for name, docs in _columns.table_docs().items():
        if name not in results.tables:
            continue
        table = results.tables[name]
        for column in docs["columns"]:
            if column["name"] not in table.columns or not table.height:
                continue
            series, place = table[column["name"]], f"{name}.{column['name']}"
            if not series.dtype.is_numeric():
                continue
            if series.dtype.is_float():
                if series.is_nan().any() and "NaN" not in docs["doc"] + column["doc"]:
                    yield f"NaN in {place}"
                if series.is_infinite().any() and "ssthresh" not in place:
                    yield f"infinity in {place}"
                series = series.fill_nan(None)
            least: Any = series.min()
            if least is not None and least < 0 and column["unit"] not in _SIGNED:
                yield f"negative {place}: {least}"
            most: Any = series.max()
            is_count = series.dtype.is_integer() and column["name"] != "seed"
            if is_count and most is not None and most > 2**53:
                yield f"count beyond 2^53 in {place}: {most}"


def _order(_: Scenario, results: fadeout.Results) -> Iterator[str]:
    """Rows are in the order of time, and none is later than the end."""
    for name in results.tables:
        table = results.tables[name]
        if "time_s" not in table.columns or not table.height:
            continue
        if not table["time_s"].is_sorted():
            yield f"rows of {name} are not in the order of time"
        latest: Any = table["time_s"].max()
        if latest > results.duration_s + 1e-9:
            yield f"a row of {name} is later than the end"


def _links(scenario: Scenario, results: fadeout.Results) -> Iterator[str]:
    """A link sends and drops no more than it receives, and is no faster than its rate."""
    seconds = results.duration_s
    for row in _rows(results, "links"):
        name = row["link"]
        if row["sent_packets"] + row["dropped_packets"] > row["received_packets"]:
            yield f"link {name} sent and dropped more than it received"
        rate = _rate(scenario, name)
        bits = row["sent_bytes"] * 8
        # A packet that was under way at the start of the measured time is one packet more.
        if rate is not None and bits > rate * seconds * (1 + 1e-6) + _LARGEST_PACKET:
            yield f"link {name} is faster than its rate: {bits / seconds:.6g} of {rate:.6g} bit/s"


def _rate(scenario: Scenario, name: str) -> float | None:
    """Returns the rate of a direction of a link in bit/s, `None` if it is not constant."""
    forward = name.removesuffix("/reverse")
    link = scenario.get("link", {}).get(forward, {})
    table = link if name == forward else link.get("reverse", {})
    text = table.get("rate") if isinstance(table, dict) else None
    found = quantity(text) if isinstance(text, str) else None
    return None if found is None else found.value


def _flows(_: Scenario, results: fadeout.Results) -> Iterator[str]:
    """A flow delivers no more than it sent, and completes after it has started."""
    for row in _rows(results, "flows"):
        sent = row["sent_segments"]
        # Segments of a multipath flow are of several sizes.
        if row["scheduler"] is None and row["mss_bytes"] and sent is not None:
            most = sent * row["mss_bytes"]
            if (row["delivered_bytes"] or 0) > most:
                yield f"flow {row['flow']} delivered more than it sent"
        times = [row[key] for key in ("start_s", "first_delivery_s", "completed_at_s")]
        known = [time for time in times if time is not None]
        if known != sorted(known):
            yield f"flow {row['flow']}: it completed before it began"


def _datagrams(_: Scenario, results: fadeout.Results) -> Iterator[str]:
    """Datagrams that arrived or are lost are no more than those sent."""
    for row in _rows(results, "datagram_flows"):
        if row["received_datagrams"] + row["lost_datagrams"] > row["sent_datagrams"]:
            yield f"more datagrams of {row['flow']} received and lost than sent"


def _windows(_: Scenario, results: fadeout.Results) -> Iterator[str]:
    """A congestion window has at least one segment."""
    if "congestion" in results.tables:
        least: Any = results.tables["congestion"]["cwnd_segments"].fill_nan(None).min()
        # The window is counted in bytes, so that its quotient may be one part in 1000 less.
        if least is not None and least < 0.999:
            yield f"a congestion window of {least} segments"


def _throughput(_: Scenario, results: fadeout.Results) -> Iterator[str]:
    """The rows of `throughput` add up to the bytes that a flow delivered."""
    if "throughput" not in results.tables or not results.tables["throughput"].height:
        return
    rows = results.tables["throughput"].group_by(pl.col("flow").cast(pl.String))
    sums = dict(rows.agg(pl.col("bytes").sum()).iter_rows())
    for row in _rows(results, "flows"):
        delivered = row["delivered_bytes"]
        if row["flow"] in sums and delivered is not None and sums[row["flow"]] != delivered:
            yield f"throughput of {row['flow']} adds up to {sums[row['flow']]}, not {delivered}"


def _last_hop(scenario: Scenario, results: fadeout.Results) -> Iterator[str]:
    """Flows deliver no more to a node than its links and its radio interface brought there."""
    received: dict[str, int] = {}
    for row in _rows(results, "flows"):
        flow = scenario.get("flow", {}).get(row["flow"])
        if flow is not None:
            received[flow["to"]] = received.get(flow["to"], 0) + (row["delivered_bytes"] or 0)
    brought: dict[str, int] = {}

    def bring(node: str, size: int) -> None:
        brought[node] = brought.get(node, 0) + size

    for row in _rows(results, "links"):
        link = scenario.get("link", {}).get(row["link"].removesuffix("/reverse"))
        if link is None:
            # Links of bearers have names of their own.
            return
        bring(link["from" if row["link"].endswith("/reverse") else "to"], row["sent_bytes"])
    for row in _rows(results, "interfaces"):
        name, _, direction = row["interface"].rpartition("/")
        table = scenario.get("ue", {}).get(name.split("/")[0], {})
        if direction == "downlink":
            bring(table.get("node", name), row["delivered_bytes"])
        else:
            # The serving base station may have changed during the transfer.
            for cell, other in scenario.get("cell", {}).items():
                bring(other.get("node", cell), row["delivered_bytes"])
            for deployment in scenario.get("deployment", {}):
                bring(deployment, row["delivered_bytes"])
    for node, size in received.items():
        if node in brought and size > brought[node]:
            yield f"{node} received {size} bytes of flows and {brought[node]} of packets"


def _radio(_: Scenario, results: fadeout.Results) -> Iterator[str]:
    """Retransmissions and losses are among the transport blocks, and bytes came in blocks."""
    for row in _rows(results, "interfaces"):
        if row["harq_retransmissions"] > row["transport_blocks"]:
            yield f"{row['interface']}: more retransmissions than transport blocks"
        if row["lost_transport_blocks"] > row["transport_blocks"]:
            yield f"{row['interface']}: more lost than sent transport blocks"
        if row["delivered_packets"] and not row["transport_blocks"]:
            yield f"{row['interface']}: packets without a transport block"
    for row in _rows(results, "legs"):
        if row["copies"] > row["packets"]:
            yield f"leg {row['bearer']} {row['cell']}: more copies than packets"
        if row["air_time_s"] > results.duration_s * (1 + 1e-9) + 1e-3:
            yield f"leg {row['bearer']} {row['cell']}: more air time than the run has"
    if "radio_delay" in results.tables and results.tables["radio_delay"].height:
        parts = ("queue_s", "sr_wait_s", "grant_wait_s", "transmission_s", "harq_s", "rlc_s",
                 "reordering_s")  # fmt: skip
        rows = results.tables["radio_delay"]
        if (rows["time_s"] - rows.select(pl.sum_horizontal(*parts)).to_series() < -1e-6).any():
            yield "radio_delay: a packet entered before the start of the run"


def _blocks(_: Scenario, results: fadeout.Results) -> Iterator[str]:
    """A UE's bearers deliver no more bytes than its decoded transport blocks have."""
    if "transport_blocks" not in results.tables:
        return
    if "header_compression" in results.tables and results.tables["header_compression"].height:
        return
    rows = results.tables["transport_blocks"].filter("is_ok")
    sums = rows.group_by(
        pl.concat_str(pl.col("ue").cast(pl.String), pl.col("direction").cast(pl.String),
                      separator="/").alias("interface")
    ).agg(pl.col("size_bytes").cast(pl.Int64).sum())  # fmt: skip
    carried = dict(sums.iter_rows())
    for row in _rows(results, "interfaces"):
        size = carried.get(row["interface"], 0)
        if row["delivered_bytes"] > size:
            yield f"{row['interface']}: {row['delivered_bytes']} bytes out of blocks of {size}"


def _air(scenario: Scenario, results: fadeout.Results) -> Iterator[str]:
    """A cell uses no more resource blocks and symbols than its bandwidth has: utilisation ≤ 1."""
    if "transport_blocks" not in results.tables:
        return
    used = pl.col("n_prb").cast(pl.Int64) * pl.col("symbols").cast(pl.Int64)
    rows = results.tables["transport_blocks"].group_by(
        pl.col("cell").cast(pl.String), pl.col("direction").cast(pl.String)
    )
    for cell, direction, blocks in rows.agg(used.sum().alias("used")).iter_rows():
        table = scenario.get("cell", {}).get(cell, {})
        band = quantity(str(table.get("bandwidth", "")))
        radio = table.get("radio")
        if band is None or (isinstance(radio, dict) and radio.get("resource-blocks")):
            continue
        # A wider subcarrier has shorter symbols: blocks times symbols do not depend on it.
        most = band.value / 180e3 * 14 * (results.duration_s * 1e3 + 1)
        if blocks > most:
            yield f"cell {cell} {direction}: utilisation {blocks / most:.3f}"


def _round_trips(scenario: Scenario, results: fadeout.Results) -> Iterator[str]:
    """No round trip is shorter than the propagation over the shortest path."""
    graph = _propagation(scenario)
    if graph is None:
        return
    for row in _rows(results, "flows"):
        name, least = row["flow"], row["min_rtt_s"]
        flow = scenario.get("flow", {}).get(name)
        if flow is None or least is None:
            continue
        there = _shortest(graph, flow["from"], flow["to"])
        back = _shortest(graph, flow["to"], flow["from"])
        # Timestamps count milliseconds, so that a sample of theirs may be one too short.
        if None not in (there, back) and least < there + back - 1.001e-3:
            yield f"flow {name}: round trip of {least} s below the propagation of {there + back} s"


def _propagation(scenario: Scenario) -> dict[str, list[tuple[str, float]]] | None:
    """Returns delays between nodes in seconds, `None` if a delay is not constant."""
    graph: dict[str, list[tuple[str, float]]] = {}

    def join(source: str, target: str, delay: float) -> None:
        graph.setdefault(source, []).append((target, delay))

    if "rab" in scenario:
        return None
    for link in scenario.get("link", {}).values():
        reverse = link.get("reverse", {})
        texts = (link["delay"], reverse.get("delay", link["delay"]))
        found = [quantity(text) if isinstance(text, str) else None for text in texts]
        if found[0] is None or found[1] is None:
            return None
        join(link["from"], link["to"], found[0].value)
        join(link["to"], link["from"], found[1].value)
    for kind in ("ue", "cell", "deployment"):
        for name, table in scenario.get(kind, {}).items():
            node = table.get("node", name)
            join(node, "the air", 0.0)
            join("the air", node, 0.0)
    return graph


def _shortest(graph: dict[str, list[tuple[str, float]]], source: str, target: str) -> Any:
    """Returns the delay of the quickest path (Dijkstra). `None` if there is no path."""
    best, heap = {source: 0.0}, [(0.0, source)]
    while heap:
        delay, node = heapq.heappop(heap)
        if node == target:
            return delay
        for other, more in graph.get(node, []):
            if delay + more < best.get(other, float("inf")):
                best[other] = delay + more
                heapq.heappush(heap, (delay + more, other))
    return None
