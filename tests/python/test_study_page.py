"""Tests of the page and the data of a study."""

import math
from dataclasses import dataclass
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from fadeout import ScenarioError
from fadeout.statistics import Spread, estimate
from fadeout.study import Change, Data, Effort, Page, Values, studies
from fadeout.study.forms import FormError, fill

PAGE = """\
# Two senders

A rate of {rate:g} Mbit/s.

## Goodput {#goodput .headline}

The runs take
{length_s:g} s.

| sender | {places*} |
|---|---|
| *paper* | *{paper[*]}* |
| {sender} | {goodput[*]:.1f %} |

![Goodput over {length_s:g} s.](drawn)

The end.

## Losses {#losses}
"""


def page(tmp_path: Path, text: str = PAGE) -> Page:
    (tmp_path / "report.md").write_text(text)
    return Page.read(tmp_path, {"rate": 5.0, "length_s": 20})


def data(tmp_path: Path, text: str) -> Data:
    (tmp_path / "study.toml").write_text(text)
    return Data.read(tmp_path)


def mistake(error: pytest.ExceptionInfo[ScenarioError]) -> tuple[str, int | None]:
    detail = error.value.errors[0]
    return Path(detail["file"]).name, detail["line"]


def test_a_field_has_a_format_a_unit_and_a_text_for_a_missing_value():
    values = {
        "loss": estimate([1.0, 2.0, 3.0, 4.0, 5.0]),
        "few": estimate([1.0, 2.0]),
        "same": estimate([2.0] * 5),
        "range": Spread.of([1.0, 2.0, 4.0]),
        "none": math.nan,
        "small": -0.04,
        "rows": {"1 ms, 0.5 s": {"mbps": 3.0}},
        "holds": True,
    }
    for form, text in {
        "{loss:.1f %}": "3.0 ± 2.0 %",
        "{loss.mean:.2f}": "3.00",
        "{few:+.1f %}": "+1.5 % (n = 2)",
        # An interval without length would be printed as "± 0.0".
        "{same:.1f %}": "2.0 %",
        "{range:.0f s}": "2 (1 to 4) s",
        "{none:.1f}": "-",
        "{none:.1f or never}": "never",
        "{small:+.1f}": "0.0",
        "{rows[1 ms, 0.5 s].mbps:g}": "3",
        "{holds:yes/no}": "yes",
    }.items():
        assert fill(form, values) == text


def test_an_unknown_field_is_named_with_the_nearest():
    with pytest.raises(FormError, match="did you mean 'goodput'"):
        fill("{gooput:.1f}", {"goodput": 1.0})
    with pytest.raises(FormError, match="no value `maen`"):
        fill("{loss.maen:.1f}", {"loss": estimate([1.0])})
    with pytest.raises(FormError):
        fill("{goodput:.1q}", {"goodput": 1.0})


def test_a_section_has_the_rows_and_columns_of_its_values(tmp_path: Path):
    found = page(tmp_path)
    assert found.title == "Two senders"
    assert found.introduce() == "A rate of 5 Mbit/s."
    section = found.section(
        "goodput",
        [
            {"sender": name, "goodput": {"near": 10.0 * n, "far": math.nan}}
            for n, name in enumerate(("cubic", "reno"), start=1)
        ],
        figures={"drawn": Figure()},
        data=[{"one": 1}],
        places={"near": "50 m", "far": "150 m"},
        paper={"near": "9", "far": "7"},
    )
    assert section.table is not None
    assert section.table.markdown().splitlines() == [
        "| sender | 50 m | 150 m |",
        "| --- | --- | --- |",
        "| *paper* | *9* | *7* |",
        "| cubic | 10.0 % | - |",
        "| reno | 20.0 % | - |",
    ]
    assert section.table.data == [{"one": 1}]
    assert section.is_headline
    assert section.text == "The runs take 20 s."
    assert list(section.figures) == ["Goodput over 20 s."]
    assert section.conclusion == "The end."
    assert found.order == {"goodput": 0, "losses": 1}
    like = page(tmp_path, PAGE.replace("{#losses}", "{#losses like=goodput}")).parts["losses"]
    assert (like.title.text, like.is_headline) == ("Losses", False)
    assert like.table == found.parts["goodput"].table


def test_a_mistake_in_a_page_has_its_line(tmp_path: Path):
    with pytest.raises(ScenarioError, match="no name") as error:
        page(tmp_path, PAGE.replace(" {#losses}", ""))
    assert mistake(error) == ("report.md", 19)
    with pytest.raises(ScenarioError, match="have the name `goodput`") as error:
        page(tmp_path, PAGE.replace("{#losses}", "{#goodput}"))
    assert mistake(error) == ("report.md", 19)
    with pytest.raises(ScenarioError, match="did you mean 'goodput'") as error:
        page(tmp_path, PAGE.replace("{#losses}", "{#losses like=godput}"))
    assert mistake(error) == ("report.md", 19)
    with pytest.raises(ScenarioError, match="has the text of another") as error:
        page(tmp_path, PAGE.replace("{#losses}", "{#losses like=goodput}\nMore."))
    assert mistake(error) == ("report.md", 20)
    found = page(tmp_path, PAGE.replace("{sender}", "{sendr}"))
    with pytest.raises(ScenarioError, match="did you mean 'sender'") as error:
        found.section(
            "goodput",
            [{"sender": "cubic", "goodput": {}}],
            figures={"drawn": Figure()},
            places=[],
        )
    assert mistake(error) == ("report.md", 13)
    with pytest.raises(ScenarioError, match="did you mean 'goodput'"):
        found.section("godput")
    with pytest.raises(ScenarioError, match="has the figures"):
        found.section("goodput", figures={"drawm": Figure()})


@dataclass(frozen=True)
class Sender:
    name: str
    values: Values
    weight: float = 1.0
    stages: tuple[float, ...] = ()
    is_slow: bool = False


def test_tables_become_objects_with_overrides(tmp_path: Path):
    found = data(
        tmp_path,
        """
[values]
sack = { "flow.tcp.sack" = true }
rfc = { use = "sack", "flow.profile" = "rfc" }

[[sender]]
name = "window {}"
use = ["rfc"]
set = { "flow.queue" = { kind = "red", limit = "5 ms" } }
grid = { "flow.window" = [2, 4] }
weight = 2
stages = [1, 2.5]
""",
    )
    senders = found.all("sender", Sender)
    assert [sender.name for sender in senders] == ["window 2", "window 4"]
    assert senders[0].values == {
        "flow.tcp.sack": "true",
        "flow.profile": '"rfc"',
        "flow.queue": '{ kind = "red", limit = "5 ms" }',
        "flow.window": "2",
    }
    assert (senders[0].weight, senders[0].stages) == (2.0, (1.0, 2.5))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('nme = "a"', "did you mean 'name'"),
        ('weight = "heavy"', "a number"),
        ("is-slow = 1", "true or false"),
        ("stages = 3", "a list"),
        ('use = "sak"', "did you mean 'sack'"),
    ],
)
def test_a_mistake_in_the_data_has_its_line(tmp_path: Path, line: str, message: str):
    # The first table has the same keys, without the mistake.
    first = 'name = "w"\nweight = 1\nis-slow = true\nstages = [1]\nuse = "sack"'
    text = f'[values]\nsack = {{ a = 1 }}\n[[sender]]\n{first}\n[[sender]]\nname = "x"\n{line}\n'
    with pytest.raises(ScenarioError, match=message) as error:
        data(tmp_path, text).all("sender", Sender)
    assert mistake(error) == ("study.toml", 11)


def test_a_missing_key_and_a_missing_table_are_named(tmp_path: Path):
    with pytest.raises(ScenarioError, match="lacks `assumption`"):
        data(tmp_path, '[[change]]\nvalue = "x"\n').all("change", Change)
    with pytest.raises(ScenarioError, match="did you mean 'change'"):
        data(tmp_path, "[[change]]\n").all("chnge", Change)
    assert data(tmp_path, "[full]\nseeds = 3\nduration-s = 4\n").one("full", Effort) == Effort(
        seeds=3, duration_s=4.0
    )


@pytest.mark.parametrize("name", [n for n, s in studies().items() if s.order])
def test_a_study_with_a_page_has_the_texts_of_all_its_sections(name: str):
    study = studies()[name]
    files = [*study.folder.glob("*.py"), study.folder / "study.toml"]
    code = "".join(path.read_text() for path in files)
    unused = [each for each in study.order if f'"{each}"' not in code and each != "claims"]
    assert not unused
