"""The first two minutes: an example by its name, a table, two sentences, a figure."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

import fadeout
from conftest import ROOT, SCENARIO
from fadeout import _overview, _quantities, _sentences
from fadeout.cli import complete
from fadeout.cli.app import app

SHORT = ["--set", 'duration="1 s"', "--no-figures", "--no-report"]


def test_the_readme_and_the_home_page_show_what_the_first_command_prints(cli: CliRunner):
    shown = cli.invoke(app, ["run", "blockage"], env={"COLUMNS": "80"})
    assert shown.exit_code == 0, shown.output
    indented = "".join(f"    {line}\n" for line in shown.stdout.splitlines())
    assert indented in (ROOT / "README.md").read_text()
    assert shown.stdout in (ROOT / "docs" / "index.md").read_text()
    assert Path("out/blockage/figures/overview.png").is_file()
    assert Path("out/blockage/report.html").is_file()


def test_an_example_runs_by_its_name_without_a_file(cli: CliRunner):
    done = cli.invoke(app, ["run", "drive-test", *SHORT])
    assert done.exit_code == 0, done.output
    assert "results: out/drive-test\n" in done.stdout
    assert "fadeout new drive-test" in done.stdout
    assert cli.invoke(app, ["check", "drive-test", "blockage"]).stdout.count(": ok") == 2


def test_a_file_gets_no_report_unless_it_is_asked_for(cli: CliRunner):
    Path("mine.toml").write_text(SCENARIO)
    assert "report:" not in cli.invoke(app, ["run", "mine.toml", "--no-figures"]).stdout
    done = cli.invoke(app, ["run", "mine.toml", "--no-figures", "--report", "--out", "other"])
    assert "report: other/report.html" in done.stdout


def test_a_file_with_the_name_comes_first(cli: CliRunner):
    Path("clean-link").write_text(SCENARIO)
    done = cli.invoke(app, ["run", "clean-link", *SHORT])
    assert done.exit_code == 0, done.output
    assert "download" in done.stdout
    assert "fadeout new" not in done.stdout


def test_a_file_beside_the_name_of_an_example_is_named(cli: CliRunner):
    Path("clean-link.toml").write_text(SCENARIO)
    done = cli.invoke(app, ["check", "clean-link"])
    assert done.exit_code == 0
    assert "clean-link.toml means the file here" in done.stderr


def test_a_misspelt_example_is_suggested(cli: CliRunner):
    done = cli.invoke(app, ["run", "blokage"])
    assert done.exit_code == 1
    assert "did you mean the example blockage?" in done.stderr


def test_a_sweep_takes_the_name_of_an_example(cli: CliRunner):
    command = ["sweep", "clean-link", "--seeds", "1", "--set", "duration=1 s", "--jobs", "1"]
    done = cli.invoke(app, [*command, "--out", "c"])
    assert done.exit_code == 0, done.output


def test_names_of_examples_and_files_are_completed(cli: CliRunner):
    Path("blocks.toml").write_text("")
    Path("blocks").mkdir()
    found = [name for name, _ in complete.scenarios("block")]
    assert found == ["blockage", "blocks.toml", "blocks/"]
    assert complete.scenarios("nowhere/x") == []


LINK = """
title = "A link"
duration = "5 s"
[link.a]
from = "x"
to = "y"
rate = "10 Mbit/s"
delay = "10 ms"
reverse = { rate = "2 Mbit/s", delay = "10 ms" }
"""


def test_the_sentences_have_the_numbers_of_the_tables():
    results = fadeout.run(LINK + '[flow.f]\nfrom = "x"\nto = "y"\n')
    (flow,) = results.flows.iter_rows(named=True)
    first, second = _sentences.sentences(results)
    assert first == "A link."
    share = round(100 * flow["goodput_mbps"] / 10)
    longer_ms = 1e3 * (flow["mean_rtt_s"] - flow["min_rtt_s"])
    assert f"got {flow['goodput_mbps']:.2f} Mbit/s, {share} % of the link's 10 Mbit/s" in second
    assert f"{longer_ms:.1f} ms longer than the shortest" in second


@pytest.mark.parametrize(
    ("flows", "expected"),
    [
        ("", "The scenario has no flow."),
        (
            '[flow.f]\nfrom = "x"\nto = "y"\n'
            'application = { kind = "transfer", size = "100 kB" }\n',
            "The flow f delivered 0.1 MB in ",
        ),
        ('[flow.f]\nfrom = "y"\nto = "x"\n', "In 5 s the flow f got "),
        ('[flow.f]\nfrom = "x"\nto = "y"\ncount = 2\n', "The 2 flows got "),
        ('[flow.f]\nfrom = "x"\nto = "y"\nstart = "5 s"\n', "In 5 s the flow f delivered nothing."),
        (
            '[flow.f]\nfrom = "x"\nto = "y"\napplication = "packet-stream"\n',
            "The receiver of f missed 0 of ",
        ),
    ],
    ids=["none", "transfer", "upload", "two", "late", "datagrams"],
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_there_are_two_sentences_for_every_kind_of_flow(flows: str, expected: str):
    sentences = _sentences.sentences(fadeout.run(LINK + flows))
    assert len(sentences) == 2
    assert sentences[1].startswith(expected)
    assert sentences[1].endswith(".")


def test_a_share_is_given_of_one_constant_rate_alone():
    link = {"from": "x", "to": "y", "rate": "20 Mbit/s", "reverse": {"rate": "unlimited"}}
    flow = {"f": {"from": "x", "to": "y"}}
    assert _sentences.bottleneck_mbps({"link": {"a": link}, "flow": flow}, "f") == 20
    back = {"f": {"from": "y", "to": "x"}}
    assert _sentences.bottleneck_mbps({"link": {"a": link}, "flow": back}, "f") is None
    assert _sentences.bottleneck_mbps({"link": {"a": link, "b": link}, "flow": flow}, "f") is None
    radio = {"link": {"a": link}, "cell": {"c": {}}, "flow": flow}
    assert _sentences.bottleneck_mbps(radio, "f") is None
    varying = {**link, "rate": {"steps": []}}
    assert _sentences.bottleneck_mbps({"link": {"a": varying}, "flow": flow}, "f") is None
    beside = {"g": back["f"], "f": flow["f"]}
    assert _sentences.bottleneck_mbps({"link": {"a": link}, "flow": beside}, "f") == 20


@pytest.mark.parametrize(
    ("text", "bits"),
    [("807 Mbit/s", 807e6), ("1.5 Gbit/s", 1.5e9), ("8 bit/s", 8), ("unlimited", None)],
)
def test_rates_are_read(text: str, bits: float | None):
    assert _quantities.bits_per_second(text) == bits


def test_a_rate_above_a_gigabit_has_commas_in_tables_and_sentences():
    link = LINK.replace('rate = "10 Mbit/s"', 'rate = "4 Gbit/s"').replace("2 Mbit/s", "1 Gbit/s")
    results = fadeout.run(link + '[flow.f]\nfrom = "x"\nto = "y"\n', set={"duration": "1 s"})
    rate = f"{results.flows['goodput_mbps'][0]:,.2f}"
    assert "," in rate
    assert rate in next(_overview.sections(results)).rows[0]
    assert f"{rate} Mbit/s" in " ".join(_sentences.sentences(results))
