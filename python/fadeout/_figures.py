"""The figures of a run by name."""

FIGURES = {
    "congestion": "Congestion window and slow-start threshold, with timeouts marked.",
    "throughput": "Rate at which data reached each application.",
    "rtt": "Round-trip time: samples and the smoothed estimate.",
    "queue": "Packets queued at each link, with drops marked.",
    "completions": "Share of each group's flows that completed within a time.",
    "sinr": "Signal to interference and noise of each UE and cell.",
    "buffer": "Bytes that wait in the RLC buffer of each bearer.",
    "delay": "Delay of packets on radio bearers, divided into its parts.",
    "legs": "Rate of each leg of a UE in dual connectivity over time.",
    "datagrams": "Delay, missing datagrams and gaps of UDP flows over time.",
    "latency": "Distribution of the delay of UDP datagrams.",
    "map": "Sites with their sectors, paths of UEs in the colours of their cells, and buildings.",
    "drive": "Time line of a car: SINR, serving cell, beam, losses, window and goodput.",
    "handover": "Each change of cell: messages, durations, window and round-trip time.",
    "overview": (
        "SINR, serving cell, throughput, window, round-trip time and queue over a common time axis."
    ),
}
"""Figures by name, in the order in which they are drawn."""
