import numpy as np
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
    # Before, during and after the total blockage at 28 GHz.
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


FAILING = (
    SCENARIO.replace('duration = "3 s"', 'duration = "6 s"', 1)
    .replace('duration = "1 s"', 'duration = "2 s"')
    .replace('application = { kind = "full-buffer", backlog = "4 MB" }\n', "")
)


def test_a_failed_leg_has_its_rows_and_its_marks_on_the_lanes():
    results = fadeout.run(FAILING)
    failed, known = results.rrc["time_s"].to_list()
    assert results.rrc["event"].to_list() == ["secondary-failed", "secondary-failure-known"]
    # The failure follows 1 s of T310 without a usable link. The report is quick.
    assert 2.0 < failed < 2.2
    assert failed < known < failed + 0.05
    whole = results.plot.handover().axes
    assert len(whole) == 4  # lanes, legs, window and round trip
    lanes = whole[0]
    assert [label.get_text() for label in lanes.get_yticklabels()] == ["UE", "small", "macro"]
    marks = {line.get_label(): np.asarray(line.get_xydata()) for line in lanes.get_lines()}
    assert marks["secondary failed"].tolist() == [[failed, 0.0]]
    assert marks["secondary failure known"].tolist() == [[known, 2.0]]
    # The leg at 28 GHz carries nothing from 1 to 3 s.
    small = lanes.collections[0]
    edges = [path.get_extents() for path in small.get_paths()]
    assert edges
    assert not [box for box in edges if box.x0 > 1.2 and box.x1 < 2.9]
    around = results.plot.handover(0, around="1 s").axes[0]
    assert around.get_xlim() == pytest.approx((failed - 1, failed + 1))
    with pytest.raises(ValueError, match="there are 1 failures of a leg; got number 1"):
        results.plot.handover(1)


def test_without_tcp_the_lanes_stand_alone(results):
    assert len(results.plot.handover().axes) == 2


def test_lanes_name_no_step_that_did_not_happen(results):
    assert results.rrc.is_empty()
    lanes = results.plot.handover().axes[0]
    _, labels = lanes.get_legend_handles_labels()
    assert not [label for label in labels if label.startswith("secondary")]


THREE_LEGS = """
duration = "1 s"
[link.core]
from = "server"
to = "macro"
rate = "1 Gbit/s"
delay = "5 ms"
[cell.macro]
carrier = "3.5 GHz"
bandwidth = "20 MHz"
channel = { path-loss = "uma", line-of-sight = "clear" }
[cell.second]
node = "macro"
carrier = "2.1 GHz"
bandwidth = "20 MHz"
channel = { path-loss = "uma", line-of-sight = "clear" }
[cell.third]
node = "macro"
carrier = "2.6 GHz"
bandwidth = "20 MHz"
channel = { path-loss = "uma", line-of-sight = "clear" }
[ue.phone]
position = ["50 m", "0 m"]
cell = "macro"
secondary-cells = ["second", "third"]
secondary-uplink = true
split = { duplication = "both", carriers = ["second", "third"] }
[flow.stream]
from = "server"
to = "phone"
application = { kind = "packet-stream", size = "972 B", rate = "2 Mbit/s" }
[probe]
transport-blocks = true
"""


def test_legs_over_carriers_have_rows_shares_and_areas_of_their_own():
    results = fadeout.run(THREE_LEGS)
    down = results.legs.filter(direction="downlink")
    assert down["cell"].to_list() == ["macro", "second", "third"]
    most = max(down["packets"].to_list())
    assert down["copies"].sum() == pytest.approx(2 * most, rel=0.05)
    shares = fadeout.leg_shares(results, every="500 ms").filter(direction="downlink")
    assert shares["share"].to_list() == pytest.approx([1 / 3] * 6, abs=0.05)
    _, labels = results.plot.legs().axes[0].get_legend_handles_labels()
    assert [label.split(":")[0] for label in labels] == ["macro", "second", "third"]
    assert any("copies" in label for label in labels)
    lanes = results.plot.handover().axes[0]
    names = [label.get_text() for label in lanes.get_yticklabels()]
    assert names == ["UE", "third", "second", "macro"]
