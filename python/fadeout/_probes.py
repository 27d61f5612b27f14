"""The settings that record tables over time."""

from collections.abc import Mapping

PROBES: Mapping[str, str] = {
    "transport_blocks": "probe.transport-blocks=true",
    "radio_delay": "probe.radio-delay=true",
    "bearers": "probe.bearers='10 ms'",
    "measurements": "probe.measurements=true",
    "rrc": "probe.rrc=true",
    "handovers": "probe.handovers=true",
    "congestion": "probe.congestion='10 ms'",
    "bbr": "probe.congestion='10 ms'",
    "quic": "probe.congestion='10 ms'",
    "throughput": "probe.throughput='100 ms'",
    "retransmissions": "probe.retransmissions=true",
    "timeouts": "probe.timeouts=true",
    "flow_events": "probe.flow-events=true",
    "queues": "probe.queue='10 ms'",
    "drops": "probe.drops=true",
    "segments": "probe.segments=every-packet",
    "datagrams": "probe.datagrams=every-packet",
    "blockages": "probe.blockages=true",
}
"""The setting that records each table, for `--set`."""
