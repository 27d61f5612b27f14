import pytest

import fadeout
from fadeout.results import Results

SCENARIO = """
duration = "3 s"
[link.core]
from = "server"
to = "macro"
rate = "1 Gbit/s"
delay = "5 ms"
[link.x2]
from = "macro"
to = "small"
rate = "1 Gbit/s"
delay = "1 ms"
[cell.macro]
radio = "lte"
carrier = "2.1 GHz"
bandwidth = "20 MHz"
channel = { path-loss = "uma", line-of-sight = "clear", fading = "none" }
[cell.small]
carrier = "28 GHz"
bandwidth = "100 MHz"
[cell.small.channel]
path-loss = "umi"
line-of-sight = "clear"
shadowing = false
fading = "none"
blockage = { model = "periodic", first = "1 s", duration = "1 s", period = "10 s", loss = 200 }
[ue.phone]
position = ["50 m", "0 m"]
cell = "macro"
pscell = "small"
split = {}
[flow.download]
from = "server"
to = "phone"
application = { kind = "full-buffer", backlog = "4 MB" }
[probe]
transport-blocks = true
"""


@pytest.fixture(scope="module")
def results() -> Results:
    return fadeout.run(SCENARIO)


def test_shares_of_legs_add_up_and_follow_a_blockage(results):
    table = fadeout.leg_shares(results, every="100 ms").filter(direction="downlink")
    assert table.columns == ["ue", "direction", "cell", "time_s", "rate_mbps", "share"]
    assert len(table) == 2 * 30
    of_bins = table.group_by("time_s", maintain_order=True).agg(table["share"].sum())
    small = table.filter(cell="small")["share"].to_list()
    # Before, while and after nothing passes at 28 GHz.
    assert min(small[2:9]) > 0.5
    assert max(small[12:19]) == 0
    assert min(small[24:]) > 0.5
    both = [
        sum(value or 0 for value in shares)
        for shares in zip(small, table.filter(cell="macro")["share"].to_list(), strict=True)
    ]
    assert all(total == 0 or total == pytest.approx(1) for total in both), of_bins
    blocks = results.transport_blocks.filter("is_ok", direction="downlink")
    mbit = blocks["size_bytes"].sum() * 8 / 1e6
    assert 0.1 * sum(table["rate_mbps"].to_list()) == pytest.approx(mbit)


def test_shares_of_a_run_without_legs_are_an_error():
    single = SCENARIO.replace('pscell = "small"\nsplit = {}\n', "")
    with pytest.raises(fadeout.ResultError, match="pscell"):
        fadeout.leg_shares(fadeout.run(single))
    with pytest.raises(ValueError, match="above zero"):
        fadeout.leg_shares(fadeout.run(SCENARIO, set={"duration": "0.2 s"}), every=0)


def test_the_figure_of_shares_ends_at_a_hundred(results):
    down, _ = results.plot.legs(shares=True).axes
    assert down.get_ylim() == (0, 100)
    assert down.get_ylabel() == "Downlink (%)"
