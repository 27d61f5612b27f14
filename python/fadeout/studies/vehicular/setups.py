"""Setups of the study: streets and obstacles, senders, loads, and open assumptions."""

from dataclasses import dataclass, field

from fadeout.study import Change, Values

LOADS = (0.2, 0.5, 1.0, 1.5, 2.0)
"""Normalised loads: those of all cars, relative to the mean goodput of a single car."""

AT_LOAD = 1.0
"""Load of the round-trip times, the sweep and most claims."""

CARS = 8


@dataclass(frozen=True)
class Place:
    """A square with streets or without, and with few obstacles or many."""

    name: str
    values: Values = field(default_factory=dict, hash=False)


STREETS = (
    '{ model = "manhattan", x-min = -50, y-min = -50, x-blocks = 4, y-blocks = 4, '
    "x-pitch = 25, y-pitch = 25, min-speed = 5, max-speed = 30 }"
)
FEW = {"deployment.square.layout.obstacles": "4"}
ON_STREETS = {"ue.car.mobility": STREETS}

RURAL_MANHATTAN = Place("rural-manhattan", {**FEW, **ON_STREETS})
RURAL_RANDOM = Place("rural-random", FEW)
URBAN_MANHATTAN = Place("urban-manhattan", ON_STREETS)
URBAN_RANDOM = Place("urban-random")
PLACES = (RURAL_MANHATTAN, RURAL_RANDOM, URBAN_MANHATTAN, URBAN_RANDOM)


@dataclass(frozen=True)
class Scheme:
    """A sender, and its class in the paper's Table 2."""

    name: str
    kind: str
    values: Values = field(default_factory=dict, hash=False)


CONTROL = "flow.download.congestion-control"
LOSS = "flow.download.tcp.loss-response"
OUTAGE = "flow.download.tcp.outage-response"

RTW = Scheme("RTW-TCP", "the paper's", {CONTROL: '"rtw-tcp"'})
COMPOUND = Scheme("Compound", "conventional", {CONTROL: '"compound"'})
CUBIC = Scheme("CUBIC", "conventional", {CONTROL: '"cubic"'})
X_TCP = Scheme("X-TCP", "cross-layer", {CONTROL: '"x-tcp"'})
MAIN = (RTW, COMPOUND, CUBIC, X_TCP)
"""The senders of the paper's figures."""

CLASSES = (
    Scheme("Veno", "measurement-based", {CONTROL: '"veno"'}),
    Scheme("Casablanca", "biased queues", {LOSS: '"casablanca"'}),
    Scheme("TCP-DCR", "delayed response", {LOSS: '"dcr"'}),
    Scheme("Freeze-TCP", "freeze", {OUTAGE: '"freeze"'}),
    Scheme("TCP-Feedback", "freeze", {OUTAGE: '"feedback"'}),
)
"""The other classes of the paper's Table 2."""

SCHEMES = (*MAIN, *CLASSES)

PREDICTION = "deployment.square.cell.channel.beam-prediction"
TRACKING = "deployment.square.cell.channel.beam-tracking"
WIDTHS = ("deployment.square.cell.antenna", "deployment.square.cell.channel.ue-antenna")


def _beam(width: int) -> Values:
    beam = f'{{ kind = "beam", width = {width}, height = 180 }}'
    return dict.fromkeys(WIDTHS, beam)


ALONE = {"deployment.square.layout.units": "1", "ue.car.rlc.mode": '"um"'}
"""Overrides for one unit and RLC UM. There is no other unit, and blocked packets are lost, so that
senders have timeouts.
"""

TIMEOUT = "flow.download.tcp.minimum-rto"
KNOWS = "blockage-prediction.knows"

CHANGES = (
    Change.of("timeout", "at least 0.2 s", TIMEOUT, '"200 ms"'),
    Change.of("timeout", "at least 0.5 s", TIMEOUT, '"500 ms"'),
    Change.of("stack", "Linux", "flow.download.profile", '"linux"'),
    Change.of("obstacles", "8", "deployment.square.layout.obstacles", "8"),
    Change.of("obstacles' loss", "UMi's", "deployment.square.cell.channel.path-loss", '"umi"'),
    Change.of("units", "one", "deployment.square.layout.units", "1"),
    Change.of("tracking of beams", "every 200 ms", TRACKING, '"200 ms"'),
    Change("beams", "10 degrees", _beam(10)),
    Change(
        "beams",
        "10 degrees, every 200 ms, predicted by angle",
        {**_beam(10), TRACKING: '"200 ms"', PREDICTION: '"angle"'},
    ),
    Change.of("handover", "without interruption", "mobility-management.interruption", '"0 s"'),
    Change.of("buffer", "0.5 MB", "ue.car.rlc.buffer", '"500 kB"'),
    Change.of("link", "RLC UM, which loses", "ue.car.rlc.mode", '"um"'),
    Change.of("prediction", "regions are beams", "blockage-prediction.regions", '"beams"'),
    Change.of("prediction", "of buildings", KNOWS, '"buildings"'),
    Change.of("prediction", "of the future", KNOWS, '"future"'),
    Change.of("prediction", "half is missed", "blockage-prediction.missed", "0.5"),
    Change.of("prediction", "false ones", "blockage-prediction.false-alarms", "0.02"),
    Change.of("prediction", "0.1 s late", "flow.download.link-info.delay", '"100 ms"'),
    Change("one unit, RLC UM", "nothing else", ALONE),
    Change("one unit, RLC UM", "timeouts from 0.2 s", {**ALONE, TIMEOUT: '"200 ms"'}),
    Change("one unit, RLC UM", "an oracle", {**ALONE, KNOWS: '"future"'}),
    Change(
        "one unit, RLC UM",
        "an oracle, timeouts from 0.2 s",
        {**ALONE, KNOWS: '"future"', TIMEOUT: '"200 ms"'},
    ),
)
"""Changes in the table of assumptions, one at a time."""

MOTORWAY_SCHEMES = MAIN
