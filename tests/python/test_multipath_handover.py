"""Multipath TCP over two radio interfaces of a phone, each with its own handovers."""

from functools import cache

import polars as pl

import fadeout
from fadeout.results import Results

BIN_S = 0.01
BREAK_S = 9.0
"""Time at which the first interface ends, in tests that end it, seconds."""

CELL = """
[cell.{name}]
position = ["{x} m", "0 m"]
height = "25 m"
radio = "{radio}"
carrier = "{carrier}"
bandwidth = "20 MHz"
tx-power = "43 dBm"
channel = {{ path-loss = "uma", line-of-sight = "clear", shadowing = false, fading = "none" }}

[link.{name}]
from = "core"
to = "{name}"
rate = "1 Gbit/s"
delay = "2 ms"
"""

CARRIERS = {"lte": "2.1 GHz", "nr": "3.5 GHz"}
CELLS = [("l1", 0, "lte"), ("l2", 600, "lte"), ("n1", -150, "nr"), ("n2", 450, "nr")]
"""Cells of both carriers are at different places, so that the interfaces do not change together."""

SCENARIO = (
    """
duration = "16 s"

[link.internet]
from = "server"
to = "core"
rate = "1 Gbit/s"
delay = "10 ms"
queue = { limit = "100 ms" }
"""
    + "".join(
        CELL.format(name=name, x=x, radio=radio, carrier=CARRIERS[radio])
        for name, x, radio in CELLS
    )
    + "".join(
        f"""
[ue.{name}]
node = "phone"
position = ["0 m", "40 m"]
mobility = {{ model = "line", x-speed = 30 }}
cell = "{cell}"
"""
        for name, cell in (("lte", "l1"), ("nr", "n1"))
    )
    + """
[mobility-management]
events = [{ kind = "a3", time-to-trigger = "80 ms" }]
signalling = "given"

[flow.bulk]
from = "server"
to = "phone"
congestion-control = "cubic"

[probe]
throughput = "10 ms"
"""
)


@cache
def run(scheduler: str, first: str = "", second: str = "", seed: int = 1) -> Results:
    """Returns a download over both interfaces. `first` and `second` are further keys of
    the paths.
    """
    paths = (
        f'[{{ links = ["internet", "l1", "lte"]{first} }}, '
        f'{{ links = ["internet", "n1", "nr"]{second} }}]'
    )
    multipath = f'[flow.bulk.multipath]\npaths = {paths}\npath-scheduler = "{scheduler}"\n'
    return fadeout.run(SCENARIO + multipath, seed=seed)


def silence_s(results: Results, start_s: float = 1, end_s: float = 16) -> float:
    """Returns the longest time in which no data reached the application, in seconds."""
    rows = results.throughput.filter(
        pl.col("flow") == "bulk", pl.col("time_s").is_between(start_s, end_s)
    )
    runs = (rows["bytes"] == 0).rle().struct.unnest().filter(pl.col("value"))["len"]
    return BIN_S * sum(runs.sort(descending=True).head(1))


BREAK = (BREAK_S - 0.1, BREAK_S + 1.0)
OF_LTE = (12.1, 12.6)
"""Time around the handover of the first interface, seconds."""
GONE = f', until = "{BREAK_S} s"'


def arrived(results: Results) -> list[int]:
    return results.paths["arrived_bytes"].to_list()


def test_both_interfaces_hand_over_by_themselves_and_keep_their_addresses():
    for scheduler in ("linux", "lowest-rtt", "redundant"):
        results = run(scheduler)
        handovers = results.handovers.select("ue", "source", "target", "outcome").rows()
        assert handovers == [("nr", "n1", "n2", "success"), ("lte", "l1", "l2", "success")]
        # No subflow is joined or removed, and none has a timeout. Each continues over its new cell.
        events = results.flow_events.filter(~pl.col("event").cast(str).str.starts_with("recover"))
        assert events["event"].cast(str).to_list() == 4 * ["established"], scheduler
        assert results.paths["timeouts"].to_list() == [0, 0]
        for path in ("bulk/0", "bulk/1"):
            rows = results.throughput.filter(pl.col("flow") == path, pl.col("time_s") > 13)
            assert rows["bytes"].sum() > 6e6, (scheduler, path)
    assert run("linux").paths["reinjected_bytes"].to_list() == [0, 0]


def test_a_new_interface_before_the_old_one_goes_spares_the_gap():
    silences = {}
    round_trip_s = 0.0
    for scheduler in ("linux", "lowest-rtt"):
        for join_s in (BREAK_S - 1, BREAK_S + 0.5):
            results = run(scheduler, GONE, f', from = "{join_s} s"')
            of_second = results.flow_events.filter(pl.col("flow") == "bulk/1")
            # A join takes two round trips of 30 ms.
            assert join_s < of_second["time_s"][0] < join_s + 0.06
            silences[scheduler, join_s < BREAK_S] = silence_s(results, *BREAK)
            if join_s < BREAK_S:
                on_new = results.congestion.filter(
                    pl.col("flow") == "bulk/1", pl.col("time_s") < BREAK_S
                )
                round_trip_s = on_new.sort("time_s")["srtt_s"][-1]
    for scheduler in ("linux", "lowest-rtt"):
        # Packets on the air still arrive, which takes some 0.2 s of the 0.5 s without a path.
        assert 0.3 < silences[scheduler, False] < 0.5, silences
        assert silences[scheduler, True] < silences[scheduler, False], silences
    # Data lost on the old path are retransmitted at once, and arrive a round trip later. Most of
    # that is the new path's queue. Linux queues them after all waiting data.
    assert silences["lowest-rtt", True] <= round_trip_s + BIN_S, silences
    assert silences["lowest-rtt", True] < silences["linux", True], silences


def test_a_backup_interface_carries_nothing_before_the_other_one_has_gone():
    kept = run("linux", "", ", backup = true")
    assert arrived(kept)[1] == 0
    # The backup's own handover does not activate it.
    assert len(kept.handovers) == 2
    gone = run("linux", GONE, ", backup = true")
    first = gone.throughput.filter(pl.col("flow") == "bulk/1", pl.col("bytes") > 0)["time_s"][0]
    assert BREAK_S <= first < BREAK_S + 0.2
    # The backup was joined at the beginning, so it is available at once.
    after = run("linux", GONE, f', from = "{BREAK_S + 0.5} s"')
    assert silence_s(gone, *BREAK) <= 0.1 < silence_s(after, *BREAK)


def test_every_byte_on_both_interfaces_hides_the_handover_of_one():
    backup = run("linux", "", ", backup = true")
    both = run("redundant")
    # No data arrive from the command until the target has the phone's last message.
    [lasts] = backup.handovers.filter(pl.col("ue") == "lte")["downlink_gap_s"].to_list()
    assert abs(silence_s(backup, *OF_LTE) - lasts) <= 2 * BIN_S
    assert silence_s(both, *OF_LTE) == 0
    assert min(arrived(both)) > 0.8 * both.flows["delivered_bytes"][0]
