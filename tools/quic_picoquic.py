"""Downloads files in the simulator of picoquic, and writes a table with a row for each download.

    python tools/quic_picoquic.py PICO_SIM SOURCE COMMIT > tests/data/quic-picoquic.csv

PICO_SIM is the program `pico_sim` of github.com/private-octopus/picoquic, and SOURCE its sources of
the commit COMMIT, which have the certificate. tests/python/test_quic.py runs the same downloads.
"""

import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

RUNS = 5
"""Number of downloads of a row. They differ in the random numbers of picoquic."""
CONTROLS = ("newreno", "cubic", "bbr")
PAYLOAD, HEADERS = 1440, 28
"""Bytes of a full payload of picoquic over UDP, and of the headers of IPv4 and UDP."""
COLUMNS = (
    "stack,control,rate_mbps,delay_ms,queue_packets,size_bytes,median_s,least_s,most_s,"
    "sent_packets,dropped_packets,loss_every,commit"
)


class Link(NamedTuple):
    """A link, and the file that is downloaded over it."""

    rate_mbps: int
    delay_ms: int
    queue_packets: int
    size_bytes: int
    loss_every: int = 0
    """Each packet whose number is a multiple of this one is lost, in each direction. 0: none."""


# The links without loss are those of tools/quic-sockets. The link of 200 Mbit/s is missing, because
# picoquic rounds the time of a packet down to microseconds.
LINKS = (
    Link(2, 20, 20, 1_000_000),
    Link(5, 50, 60, 2_000_000),
    Link(20, 10, 50, 4_000_000),
    Link(20, 100, 400, 8_000_000),
    Link(50, 5, 60, 10_000_000),
    Link(50, 40, 200, 10_000_000),
    Link(100, 10, 200, 10_000_000),
    Link(100, 50, 1000, 20_000_000),
    Link(10, 20, 100, 4_000_000, 200),
    Link(20, 25, 200, 8_000_000, 500),
    Link(50, 40, 400, 10_000_000, 1000),
)


def specification(link: Link, control: str, run: int, logs: Path) -> str:
    """Returns the text of the file that describes a download to `pico_sim`."""
    # The link of picoquic carries the payloads of UDP. With this rate a full packet takes the time
    # of one with its headers.
    rate = link.rate_mbps / 1000 * PAYLOAD / (PAYLOAD + HEADERS)
    # Its queue is a time, and a packet that finds less than this time may enter. So the queue and
    # the transmitter have the packets of fadeout's limit.
    packet_us = (PAYLOAD + HEADERS) * 8 / link.rate_mbps
    queue_us = round((link.queue_packets - 1) * packet_us)
    parts = ["0", f"D{rate:.9f}", f"U{rate:.9f}", f"L{link.delay_ms * 1000}", f"Q{queue_us}"]
    if link.loss_every:
        # The number is one less than that of the packets between two losses.
        parts += ["B1", f"P{link.loss_every - 2}"]
    keys = {
        "main_start_time": 0,
        "main_target_time": 900_000_000,
        "main_scenario_text": f"*1:100:{link.size_bytes};",
        "main_cc_algo": control,
        "nb_connections": 1,
        "link_scenario": ":".join(parts),
        "icid": f"{160 + run:02x}00cd00",
        "qlog_dir": logs,
    }
    return "".join(f"{key}: {value}\n" for key, value in keys.items())


def events(logs: Path, end: str) -> list[Any]:
    """Returns the events in the log of one end."""
    (log,) = logs.glob(f"*.{end}.qlog")
    return json.loads(log.read_text())["traces"][0]["events"]


def download(program: str, source: str, link: Link, control: str, run: int) -> list[float]:
    """Returns the duration in seconds, and the server's numbers of sent and dropped packets."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "download.txt"
        file.write_text(specification(link, control, run, Path(folder)))
        subprocess.run([program, "-S", source, file], check=True, capture_output=True)
        client, server = events(Path(folder), "client"), events(Path(folder), "server")
    # The client closes the connection once it has the file.
    packets = [(time, data) for time, _, name, data in client if name == "packet_sent"]
    closed_us = next(time for time, data in packets if "connection_close" in str(data["frames"]))
    sent = sum(name == "datagram_sent" for _, _, name, _ in server)
    arrived = sum(name == "datagram_received" for _, _, name, _ in client)
    return [closed_us / 1e6, sent, sent - arrived]


def main() -> None:
    """Prints the table."""
    program, source, commit = sys.argv[1:]
    print(COLUMNS)
    for link in LINKS:
        for control in CONTROLS:
            runs = [download(program, source, link, control, run) for run in range(RUNS)]
            seconds, sent, dropped = (sorted(column) for column in zip(*runs, strict=True))
            times = (statistics.median(seconds), seconds[0], seconds[-1])
            numbers = [*link[:4], *(f"{value:.4f}" for value in times)]
            numbers += [statistics.median(sent), statistics.median(dropped), link.loss_every]
            print("picoquic", control, *numbers, commit, sep=",")


if __name__ == "__main__":
    main()
