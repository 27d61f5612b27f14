"""The study on vehicles: its tables."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean

from fadeout.studies.vehicular import (
    between_cars,
    city,
    failures,
    figures,
    handovers,
    load,
    maps,
    today,
)
from fadeout.studies.vehicular.claims import (
    Found,
    classes_verdict,
    gain,
    motorway_verdict,
    values,
    verdicts,
)
from fadeout.studies.vehicular.runs import (
    Effort,
    Numbers,
    capacity_mbps,
    count,
    grid,
    motorway,
    points,
    sweep,
    windows,
)
from fadeout.studies.vehicular.setups import (
    AT_LOAD,
    CUBIC,
    LOADS,
    MAIN,
    PLACES,
    RTW,
    SCHEMES,
    URBAN_MANHATTAN,
    URBAN_RANDOM,
    Scheme,
)
from fadeout.study import (
    Change,
    Moved,
    Runs,
    Section,
    Study,
    Table,
    assumptions_section,
    claims_of,
    claims_section,
    estimate,
    judged,
    published,
)

FOLDER = Path(__file__).parent
PUBLISHED = published(FOLDER)
CLAIMS = claims_of(PUBLISHED)

PUBLISHED_RTT_MS = {
    "RTW-TCP": "rtw_tcp",
    "Compound": "compound",
    "CUBIC": "cubic",
    "X-TCP": "x_tcp",
}


def sections(runs: Runs[Effort]) -> Iterator[Section]:
    """Yields the sections of the report."""
    alone = capacity_mbps(runs)
    capacity = fmean(alone.values())
    runs.facts["capacity of a link in Mbit/s"] = round(capacity, 1)
    found = grid(runs, capacity)
    roads = motorway(runs)
    standing = load.static(runs)
    cut = failures.failures(runs)
    paths = between_cars.between_cars(runs)
    yield motorway_section(roads)
    yield claims_section(
        [
            load.verdict(standing, runs.effort, CLAIMS),
            failures.verdict(cut, CLAIMS),
            *verdicts(found, runs.effort.loads, capacity, CLAIMS),
            motorway_verdict(roads, CLAIMS),
            classes_verdict(found, runs.effort.class_loads[-1], CLAIMS),
            between_cars.verdict(paths, CLAIMS),
        ]
    )
    yield handovers.section(runs, capacity, CLAIMS)
    yield handovers.motorway_section(runs, CLAIMS, PUBLISHED["table3_rtt_ms"])
    yield sweep_section(sweep(runs, capacity))
    yield throughput_section(found, runs.effort)
    yield rtt_section(found)
    yield classes_section(found, runs.effort)
    yield load.section(standing, runs.effort)
    yield failures.section(cut, runs)
    yield maps.section(runs)
    yield windows_section(runs, capacity)
    yield prediction_section(found)
    yield between_cars.section(paths)
    yield today.section(today.today(runs, capacity))
    yield city.section(runs)


def throughput_section(found: Found, effort: Effort) -> Section:
    """Returns the section on figure 8."""
    of = {
        (place.name, scheme.name): [
            estimate(values(found[place, scheme, load], "goodput_mbps")) for load in effort.loads
        ]
        for place in PLACES
        for scheme in MAIN
    }
    records = [
        {"place": place, "sender": sender, "load": load, "goodput": value}
        for (place, sender), over in of.items()
        for load, value in zip(effort.loads, over, strict=True)
    ]
    cells = {key: [f"{value:.0f}" for value in over] for key, over in of.items()}
    return Section(
        name="throughput",
        title="Throughput of all cars over load",
        text=(
            "The table shows the throughput in Mbit/s, as in the paper's Figure 8. The paper "
            "does not print the values of this figure."
        ),
        table=Table(
            columns=["place", "sender", *(f"load {load:g}" for load in effort.loads)],
            rows=[[place, sender, *row] for (place, sender), row in cells.items()],
            data=[
                {key: value for key, value in record.items() if key != "goodput"}
                | record["goodput"].data("goodput_", "_mbps")
                for record in records
            ],
        ),
        figures={"Total throughput of all cars by load.": figures.throughput(of, effort.loads)},
        is_headline=True,
    )


def rtt_section(found: Found) -> Section:
    """Returns the section on figure 9."""
    of = {
        (place.name, scheme.name): estimate(values(found[place, scheme, AT_LOAD], "rtt_ms"))
        for place in PLACES
        for scheme in MAIN
    }
    return Section(
        name="rtt",
        title="Round-trip times at load 1",
        text=(
            "The table shows round-trip times in ms, as means over the acknowledgments of each "
            "car and then over the cars."
        ),
        table=Table(
            columns=["sender", *(place.name for place in PLACES)],
            rows=[
                [scheme.name, *(f"{of[place.name, scheme.name]:.1f}" for place in PLACES)]
                for scheme in MAIN
            ],
            data=[
                {"place": place, "sender": sender} | value.data("rtt_", "_ms")
                for (place, sender), value in of.items()
            ],
        ),
        figures={"Mean round-trip time at load 1.": figures.round_trips(of)},
    )


def classes_section(found: Found, effort: Effort) -> Section:
    """Returns the section on the paper's Table 2, with numbers."""
    load = effort.class_loads[-1]

    def cell(scheme: Scheme, place_number: int) -> str:
        place = PLACES[place_number]
        ours = found[place, scheme, load]
        timeouts = fmean(values(ours, "timeouts"))
        if scheme is CUBIC:
            return f"{fmean(values(ours, 'goodput_mbps')):.0f} Mbit/s, {timeouts:.1f}"
        more = gain(ours, found[place, CUBIC, load], "goodput_mbps")
        return f"{more.text('+.2f', ' %')}, {timeouts:.1f}"

    return Section(
        name="classes",
        title="The classes of the paper's Table 2",
        text=(
            f"The table shows the throughput relative to CUBIC's at load {load:g}, and the number "
            "of timeouts of all cars in a run. The paper states the weakness of each class in "
            "words. Casablanca needs a queue that drops some packets with preference. Here the "
            "buffer is that of RLC, which has no such preference."
        ),
        table=Table(
            columns=["sender", "class", *(place.name for place in PLACES)],
            rows=[
                [scheme.name, scheme.kind, *(cell(scheme, n) for n in range(len(PLACES)))]
                for scheme in SCHEMES
            ],
            data=[
                {"place": place.name, "sender": scheme.name, "load": at}
                | estimate(values(numbers, "goodput_mbps")).data("goodput_", "_mbps")
                | estimate(values(numbers, "rtt_ms")).data("rtt_", "_ms")
                | estimate(values(numbers, "timeouts")).data("timeouts_")
                for place, scheme, at in points(effort)
                for numbers in [found[place, scheme, at]]
            ],
        ),
        is_headline=True,
    )


def motorway_section(found: Mapping[Scheme, Sequence[Numbers]]) -> Section:
    """Returns the section on Figure 12 and Table 3."""
    records = [
        {
            "sender": scheme.name,
            "paper_ms": PUBLISHED["table3_rtt_ms"][PUBLISHED_RTT_MS[scheme.name]],
            "rtt": estimate(values(numbers, "rtt_ms")),
            "goodput": estimate(values(numbers, "goodput_mbps")),
            "timeouts": estimate(values(numbers, "timeouts")),
            "cuts": estimate(values(numbers, "cuts")),
        }
        for scheme, numbers in found.items()
    ]
    return Section(
        name="motorway",
        title="The motorway",
        text=(
            "Cars and trucks drive at 50.08 km/h on four lanes with the gaps of TR 37.885 (0.12 "
            "vehicles a metre). Traffic is ON/OFF, and vehicles can block paths. *Paper*: values "
            "of the paper's Table 3. *Cuts*: number of periods, over all cars in a run, with a "
            "loss of more than 6 dB on the path to the serving unit."
        ),
        table=Table.of(
            records,
            {
                "sender": "{sender}",
                "paper RTT ms": "{paper_ms:g}",
                "RTT ms": "{rtt:.1f}",
                "throughput Mbit/s": "{goodput:.1f}",
                "timeouts": "{timeouts:.2f}",
                "cuts": "{cuts:.1f}",
            },
        ),
        is_headline=True,
    )


def prediction_section(found: Found) -> Section:
    """Returns the section on the quality of the predictions."""

    def known(numbers: Sequence[Numbers], name: str) -> list[float]:
        return [value for each in numbers if (value := each[name]) is not None]

    records = [
        {"place": place.name}
        | {
            name: estimate(known(found[place, RTW, AT_LOAD], name))
            for name in ("cuts", "precision", "recall", "lead_s", "length_error_s")
        }
        for place in PLACES
    ]
    return Section(
        name="predictions",
        title="Predictions",
        text=(
            "The table evaluates the predictions of the serving units in the runs of RTW-TCP at "
            "load 1. *Cuts*: number of blockages of all cars in a run. Shares and errors are "
            "means over the runs in which they are defined."
        ),
        table=Table.of(
            records,
            {
                "place": "{place}",
                "cuts": "{cuts:.1f}",
                "precision": "{precision:.2f}",
                "recall": "{recall:.2f}",
                "lead s": "{lead_s:.2f}",
                "error of length s": "{length_error_s:.2f}",
            },
        ),
    )


def sweep_section(found: Mapping[Change, Mapping[Scheme, Sequence[Numbers]]]) -> Section:
    """Returns the section on the effect of each open assumption."""

    def moved(change: Change, of: Mapping[Scheme, Sequence[Numbers]]) -> Moved:
        more = gain(of[RTW], of[CUBIC], "goodput_mbps")
        delay = gain(of[CUBIC], of[RTW], "rtt_ms")
        goodput = estimate(values(of[CUBIC], "goodput_mbps"))
        timeouts = fmean(values(of[CUBIC], "timeouts"))
        cuts = fmean(values(of[CUBIC], "cuts"))
        return Moved(
            change,
            [
                f"{goodput:.1f}",
                f"{timeouts:.1f}",
                f"{cuts:.1f}",
                judged(more, "+.2f"),
                judged(delay, "+.1f"),
            ],
            [
                goodput.data("cubic_", "_mbps")
                | more.data("gain_", "_pct")
                | delay.data("delay_", "_pct")
                | {"timeouts": timeouts, "cuts": cuts}
            ],
        )

    return assumptions_section(
        [moved(change, of) for change, of in found.items()],
        ["CUBIC Mbit/s", "its timeouts", "cuts", "gain %", "RTT %"],
        (
            "The scenario is urban-random at load 1, and each row changes one assumption. "
            "*Gain*: gain of RTW-TCP's throughput over CUBIC's. *RTT*: CUBIC's round-trip time "
            "relative to RTW-TCP's. Both columns show if the sign agrees with the paper's."
        ),
        is_headline=True,
    )


def windows_section(runs: Runs[Effort], capacity: float) -> Section:
    """Returns the section on figures 10 and 11."""
    places = (URBAN_MANHATTAN, URBAN_RANDOM)
    return Section(
        name="windows",
        title="Windows",
        text=(
            "The figure shows the congestion windows of the first car with seed 1 at load 1 (the "
            "paper's Figures 10 and 11)."
        ),
        figures={"Congestion windows.": figures.windows(windows(runs, capacity, places), places)},
    )


def more(effort: Effort) -> int:
    """Returns the number of runs without those of streets and motorway."""
    over_seeds = len(load.points(effort)) + len(between_cars.PLACES) + len(today.POINTS)
    drawn = len(PLACES) + len(failures.CASES) // len(failures.FAILURES) * len(failures.CAUSES)
    of_city = 0 if city.why_not(effort) else len(city.CHOICES) * city.seeds(effort)
    swept = len(failures.CASES) * effort.swept + handovers.count(effort)
    return over_seeds * effort.seeds + swept + drawn + of_city


STUDY = Study(
    name="vehicular",
    folder=FOLDER,
    title="TCP in cars under 28 GHz, and what knowing of blockages is worth",
    introduction="""\
Cars in a square of 100 m with five road-side units at 28 GHz download at a given load. There are
few or many obstacles, and cars move on streets or anywhere in the square. From the reports of cars,
the units predict the start and the length of blockages, and notify the senders. RTW-TCP keeps its
window during a blockage that is shorter than its timeout. Load 1 is the throughput of one car
alone. Intervals (±) are 95 % confidence intervals over seeds, and all senders use the same seeds.
Gains are computed seed by seed. README.md lists the open points of the paper and the assumptions.
""",
    full=Effort(seeds=6, swept_seeds=5, handover_seeds=5, duration_s=5, class_loads=(AT_LOAD, 2.0)),
    quick=Effort(
        seeds=3,
        swept_seeds=5,
        duration_s=3,
        loads=(0.5, AT_LOAD, 2.0),
        class_loads=(2.0,),
        static_loads=(1, 100, 500, 1000, 2000),
        city_s=0,
        handover_seeds=2,
    ),
    count=lambda effort: count(effort) + more(effort),
    sections=sections,
    other_scenarios={
        "scenario_of_the_motorway": "motorway.toml",
        "scenario_of_sites": "sites.toml",
        "scenario_of_sites_on_the_motorway": "motorway-sites.toml",
        "scenario_of_cars_that_stand": "static-mmwave.toml",
        "scenario_of_hspa": "static-hspa.toml",
        "scenario_of_one_car": "one-car.toml",
        "scenario_of_a_relay": "relay.toml",
        "scenario_with_lte": "with-lte.toml",
        "scenario_of_the_city": "city/city.toml",
    },
)

__all__ = ["LOADS", "STUDY"]
