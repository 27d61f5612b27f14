"""The figures of a run by name."""

FIGURES = {
    "congestion": "Congestion window and slow-start threshold, with timeouts marked.",
    "throughput": "Rate at which data reached each application.",
    "rtt": "Round-trip time: samples and the smoothed estimate.",
    "queue": "Packets queued at each link, with drops marked.",
    "completions": "Share of each group's flows that completed within a time.",
    "sinr": "Signal to interference and noise of each UE.",
    "buffer": "Bytes that wait in the RLC of each bearer.",
    "delay": "Where the delay of packets on radio bearers comes from.",
    "legs": "What either leg of a UE in dual connectivity carries over time.",
    "datagrams": "Delay, missing datagrams and gaps of UDP flows over time.",
    "latency": "Share of UDP datagrams whose delay is at most so long.",
    "map": "Sites with the directions of their sectors, UEs by serving cell, and buildings.",
    "drive": "Time line of a car: signal, serving cell, beam, losses, window and goodput.",
    "handover": "Changes of cell of a UE, step by step, above window and round-trip time.",
    "overview": "Throughput, congestion window, round-trip time and queue above one time axis.",
}
"""In the order in which they are drawn."""
