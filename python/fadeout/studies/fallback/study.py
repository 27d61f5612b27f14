"""The study on fallback: its tables and their answers."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from fadeout.studies.fallback import answers, figures
from fadeout.studies.fallback.answers import Found
from fadeout.studies.fallback.runs import (
    Effort,
    Point,
    count,
    found,
    points,
    swept_points,
    vehicle_points,
    wide_points,
)
from fadeout.studies.fallback.setups import (
    CLEAR_S,
    LENGTHS_S,
    NOTHING,
    REMEDIES,
    SENDERS,
    SWEPT_S,
    THRESHOLDS_KB,
)
from fadeout.study import Cell, Estimate, Numbers, Runs, Section, Study, Table, paired_difference
from fadeout.study.report import Record


def sections(runs: Runs[Effort]) -> Iterator[Section]:
    """Yields the sections of the report."""
    of = Found(found(runs, points(runs.effort)), runs.effort.lengths_s)
    yield answer_section(of)
    yield goodput_section(of)
    for key, name, title, label in (
        ("silence_ms", "silence", "How long does the application get nothing?", "Longest silence"),
        ("rtt_p99_ms", "delay", "What do packets wait for?", "RTT, 99th percentile"),
    ):
        yield over_length_section(of, key, name, title, label)
    yield timeouts_section(of)
    yield cost_section(of)
    yield threshold_section(found(runs, swept_points()))
    yield vehicle_section(found(runs, vehicle_points()))
    yield wide_section(found(runs, wide_points(runs.effort)))


def _head(length: float) -> str:
    return "clear" if length == CLEAR_S else f"{length:g} s"


def _over_length(of: Found, key: str, spec: str, *, over_nothing: bool = False) -> Table:
    """Returns a table with a row for each sender and remedy, and a column for each length."""
    records = [
        {
            "sender": sender,
            "remedy": remedy,
            **{
                _head(length): (
                    of.gain_pct(sender, remedy, length)
                    if over_nothing and remedy != NOTHING.name
                    else of.estimate(sender, remedy, length, key)
                )
                for length in of.all_lengths
            },
        }
        for sender, remedy in of.rows
    ]

    def cell(head: str) -> Callable[[Record], str]:
        def told(record: Record) -> str:
            is_gain = over_nothing and record["remedy"] != NOTHING.name
            return format(record[head], f"+{spec}" if is_gain else spec)

        return told

    columns: dict[str, Cell] = {"sender": "{sender}", "remedy": "{remedy}"}
    heads = [_head(length) for length in of.all_lengths]
    return Table.of(records, {**columns, **{head: cell(head) for head in heads}})


def answer_section(of: Found) -> Section:
    """Returns the section on the length from which each remedy helps, and on its cost otherwise."""
    records = [of.judged(sender, remedy) for sender, remedy in of.rows if remedy != NOTHING.name]
    return Section(
        name="answer",
        title="What should a network do, and from which length on?",
        text=(
            "*More goodput from*: the blockage length from which on the goodput is higher than "
            "without a remedy. The 95 % interval of the paired difference must not include zero. "
            "*Shorter silence from*: the blockage length from which on the silence is shorter "
            "than without a remedy. The silence is the longest time in which the application "
            "receives nothing. *In the clear*: change of goodput without blockages. *Macro "
            "carrier in the clear*: share of the macro carrier that is used without blockages."
        ),
        table=Table.of(
            records,
            {
                "sender": "{sender}",
                "remedy": "{remedy}",
                "more goodput from": "{goodput_from}",
                "shorter silence from": "{silence_from}",
                "in the clear": "{clear_gain_pct:+.1f} %",
                "macro carrier in the clear": "{clear_macro_pct:.0f} %",
            },
        ),
        conclusion=answers.words(of),
        is_headline=True,
    )


def goodput_section(of: Found) -> Section:
    """Returns the section on goodput by remedy and length."""
    return Section(
        name="goodput",
        title="Goodput",
        text=(
            "The rows *nothing* show the goodput without a remedy in Mbit/s. The other rows show "
            "by how many percent a remedy increases it, seed by seed. LIA is the congestion "
            "control of all paths, so neither CUBIC nor BBRv3 is used. The rows of LIA are "
            "compared with CUBIC without a remedy."
        ),
        table=_over_length(of, "goodput_mbps", ".1f", over_nothing=True),
        figures={
            "Goodput against the length of the blockages. Dashed: without a remedy. Bars: 95 % "
            "confidence intervals.": figures.over_length(
                of.series("goodput_mbps"), of.lengths, "Goodput (Mbit/s)"
            )
        },
    )


def over_length_section(of: Found, key: str, name: str, title: str, label: str) -> Section:
    """Returns the section on one of the times by remedy and length."""
    text = {
        "silence_ms": (
            "The table shows the longest time in a run, in ms, in which no byte reached the "
            "application in order. The resolution of this time is 10 ms, and the start of the "
            "transfer is left out."
        ),
        "rtt_p99_ms": (
            "The table shows the 99th percentile of the round-trip times that the sender "
            "measures, in ms. The percentile is over all segments of all paths, so a path that "
            "carries little data counts little."
        ),
    }[key]
    return Section(
        name=name,
        title=title,
        text=text,
        table=_over_length(of, key, ".0f"),
        figures={
            f"{label} against the length of the blockages. Dashed: without a remedy.": (
                figures.over_length(of.series(key), of.lengths, f"{label} (ms)", log=True)
            )
        },
    )


def timeouts_section(of: Found) -> Section:
    """Returns the section on timeouts by remedy and length."""
    return Section(
        name="timeouts",
        title="Timeouts",
        text="The table shows the number of retransmission timeouts in a run, over all paths.",
        table=_over_length(of, "timeouts", ".1f"),
    )


def cost_section(of: Found) -> Section:
    """Returns the section on the radio resources that each remedy takes."""
    sender = next(iter(SENDERS))
    names = [remedy for each, remedy in of.rows if each == sender]
    shown = [CLEAR_S, max(length for length in of.lengths if length <= 1.0)]
    records = [
        {
            "sender": each,
            "remedy": remedy,
            "block_s": length,
            "small": of.estimate(each, remedy, length, "small_pct"),
            "macro": of.estimate(each, remedy, length, "macro_pct"),
            "macro_ms_per_mb": of.macro_ms_a_megabyte(each, remedy, length),
        }
        for each, remedy in of.rows
        for length in shown
    ]
    drawn = {
        carrier: {
            _head(length): [of.estimate(sender, name, length, key) for name in names]
            for length in shown
        }
        for carrier, key in (("38 GHz", "small_pct"), ("2.1 GHz", "macro_pct"))
    }
    return Section(
        name="cost",
        title="What does it cost in radio resources?",
        text=(
            "The table shows the share of each carrier's resource blocks and symbols that the "
            "downlink used. The 38 GHz carrier is TDD, so its share is at most 75 %. *Macro "
            "ms/MB*: time of the whole macro carrier for each megabyte that reached the "
            "application over both carriers."
        ),
        table=Table.of(
            records,
            {
                "sender": "{sender}",
                "remedy": "{remedy}",
                "blocked": lambda record: _head(record["block_s"]),
                "38 GHz %": "{small:.1f}",
                "2.1 GHz %": "{macro:.1f}",
                "macro ms/MB": "{macro_ms_per_mb:.2f}",
            },
        ),
        figures={
            "Share of the resource blocks of each carrier that the downlink used with CUBIC, "
            "without and with blockages.": figures.cost(drawn, names)
        },
        is_headline=True,
    )


def vehicle_section(of: Mapping[Point, Sequence[Numbers]]) -> Section:
    """Returns the section on the stated vehicle, which does not break the beam."""
    return Section(
        name="vehicle",
        title="Where the beam does not break",
        text=(
            "Here the stated vehicle blocks the path for 1 s in every 5 s, instead of a total "
            "blockage. The sender uses CUBIC. Model B gives 23 to 25 dB of loss, which leaves "
            "most of the rate. *Change*: change of the goodput relative to no remedy, in Mbit/s, "
            "computed seed by seed."
        ),
        table=_beside_nothing(of),
    )


def threshold_section(of: Mapping[Point, Sequence[Numbers]]) -> Section:
    """Returns the section on the threshold at which EN-DC switches."""
    by_key = {
        (point.sender, point.block_s, point.remedy.name): numbers for point, numbers in of.items()
    }

    def values(sender: str, length: float, remedy: str, key: str) -> list[float]:
        return [numbers[key] for numbers in by_key[sender, length, remedy]]

    def gain(sender: str, length: float, remedy: str) -> Estimate:
        ours, base = (
            values(sender, length, name, "goodput_mbps") for name in (remedy, NOTHING.name)
        )
        return paired_difference(ours, base)

    lengths = (CLEAR_S, SWEPT_S)
    records = [
        {
            "sender": sender,
            "threshold_kb": threshold,
            "block_s": length,
            "gain": gain(sender, length, f"switching at {threshold} kB"),
            **{
                key: answers.estimate_of(
                    by_key[sender, length, f"switching at {threshold} kB"], key
                )
                for key in ("goodput_mbps", "macro_pct", "silence_ms")
            },
        }
        for sender in SENDERS
        for threshold in THRESHOLDS_KB
        for length in lengths
    ]

    def over_threshold(key: str) -> dict[tuple[str, str], list[Estimate]]:
        return {
            (sender, _head(length)): [
                record[key]
                for record in records
                if (record["sender"], record["block_s"]) == (sender, length)
            ]
            for sender in SENDERS
            for length in lengths
        }

    return Section(
        name="threshold",
        title="At which threshold should EN-DC switch?",
        text=(
            "EN-DC uses the LTE leg while more data than the threshold waits at PDCP. *Change*: "
            "change of the goodput relative to no remedy, in Mbit/s, computed seed by seed."
        ),
        table=Table.of(
            records,
            {
                "sender": "{sender}",
                "threshold kB": "{threshold_kb}",
                "blocked": lambda record: _head(record["block_s"]),
                "goodput Mbit/s": "{goodput_mbps:.1f}",
                "change Mbit/s": "{gain:+.1f}",
                "2.1 GHz %": "{macro_pct:.1f}",
                "longest silence ms": "{silence_ms:.0f}",
            },
        ),
        figures={
            "Change of the goodput relative to no remedy, and share of the macro carrier, by "
            "threshold. Bars: 95 % confidence intervals.": figures.over_threshold(
                {
                    "Goodput against nothing (Mbit/s)": over_threshold("gain"),
                    "Macro carrier (%)": over_threshold("macro_pct"),
                },
                THRESHOLDS_KB,
            )
        },
    )


def wide_section(of: Mapping[Point, Sequence[Numbers]]) -> Section:
    """Returns the section on runs with the paper's rate."""
    by_key = {(point.remedy.name, point.block_s): numbers for point, numbers in of.items()}
    lengths = sorted({point.block_s for point in of})

    def change(name: str, length: float) -> Estimate:
        ours, base = (
            [numbers["goodput_mbps"] for numbers in by_key[each, length]]
            for each in (name, NOTHING.name)
        )
        return paired_difference(ours, base)

    records = [
        {
            "remedy": remedy.name,
            "goodput": answers.estimate_of(by_key[remedy.name, length], "goodput_mbps"),
            "change": change(remedy.name, length),
            "silence": answers.estimate_of(by_key[remedy.name, length], "silence_ms"),
            "macro": answers.estimate_of(by_key[remedy.name, length], "macro_pct"),
            "block_s": length,
        }
        for remedy in REMEDIES
        for length in lengths
    ]
    return Section(
        name="rate",
        title="With the paper's rate",
        text=(
            "The 38 GHz carrier has 168 resource blocks instead of 84, which give 814 Mbit/s. "
            "The sender uses CUBIC."
        ),
        table=Table.of(
            records,
            {
                "remedy": "{remedy}",
                "blocked": lambda record: _head(record["block_s"]),
                "goodput Mbit/s": "{goodput:.1f}",
                "change Mbit/s": "{change:+.1f}",
                "longest silence ms": "{silence:.0f}",
                "2.1 GHz %": "{macro:.1f}",
            },
        ),
    )


def _beside_nothing(of: Mapping[Point, Sequence[Numbers]]) -> Table:
    by_name = {point.remedy.name: numbers for point, numbers in of.items()}

    def change(name: str) -> Estimate:
        ours, base = ([each["goodput_mbps"] for each in by_name[n]] for n in (name, NOTHING.name))
        return paired_difference(ours, base)

    records = [
        {
            "remedy": name,
            "goodput": answers.estimate_of(numbers, "goodput_mbps"),
            "change": change(name),
            "silence": answers.estimate_of(numbers, "silence_ms"),
            "macro": answers.estimate_of(numbers, "macro_pct"),
        }
        for name, numbers in by_name.items()
    ]
    return Table.of(
        records,
        {
            "remedy": "{remedy}",
            "goodput Mbit/s": "{goodput:.1f}",
            "change Mbit/s": "{change:+.1f}",
            "longest silence ms": "{silence:.0f}",
            "2.1 GHz %": "{macro:.1f}",
        },
    )


STUDY = Study(
    name="fallback",
    folder=Path(__file__).parent,
    title="What a network should do when a 38 GHz beam breaks",
    introduction=f"""\
A contribution to 3GPP RAN2 on blockage at 38 GHz names remedies, but evaluates none of them. These
remedies are fallback to a robust link, duplication of packets, and suppression of TCP's
retransmission timeout. Here {len(REMEDIES) - 1} remedies are compared with no remedy. A phone
downloads over a 38 GHz cell that is blocked every 5 s, with a macro cell at 2.1 GHz beside it.
Intervals (±) are 95 % confidence intervals (Student) over seeds. A seed determines the time of the
first blockage and the fading, and all remedies share both. Differences are therefore computed seed
by seed.
""",
    full=Effort(seeds=5, duration_s=10, lengths_s=LENGTHS_S),
    quick=Effort(seeds=2, duration_s=6, lengths_s=(0.1, 1.0)),
    count=count,
    sections=sections,
)
