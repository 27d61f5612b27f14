"""The output of the command fits the terminal, and no name or number is cut."""

import io
import re
import shlex
from itertools import pairwise
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from fadeout import _lexicon
from fadeout._quantities import range_text
from fadeout.cli import console, errors, table
from fadeout.cli.app import MODULES, app
from fadeout.cli.help import WORD, wrap_command

WIDTHS = [40, 80, 120]

COMMANDS = [
    *([name] for name in MODULES),
    *(["campaign", name] for name in ("run", "status", "show", "compare", "export", "repeat")),
    *(["kernel", name] for name in ("build", "list", "test")),
]

ROWS = (
    ("flow", "congestion control", "goodput Mbit/s", "retransmitted segments", "mean RTT ms"),
    ("phone/downlink", "cubic", "562.64", "1,234,567", "44.0"),
    ("phone/uplink", "newreno", "0.31", "3", "1,044.0"),
)


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def terminal(monkeypatch: pytest.MonkeyPatch, width: int, *, colour: bool = False) -> Screen:
    """Makes a terminal of that width both outputs of the command."""
    screen = Screen()
    system = "standard" if colour else None

    def console_of_width() -> Console:
        return Console(
            file=screen, width=width, force_terminal=True, color_system=system, emoji=False
        )

    for module, name in ((table, "out"), (console, "out"), (console, "err"), (errors, "err")):
        monkeypatch.setattr(module, name, console_of_width)
    return screen


def printed(monkeypatch: pytest.MonkeyPatch, made: table.Table, width: int) -> list[str]:
    screen = terminal(monkeypatch, width)
    table.print_table(made)
    return screen.getvalue().splitlines()


def made_table(*rows: tuple[str, ...]) -> table.Table:
    made = table.new_table(*ROWS[0], numbers=ROWS[0][2:])
    for row in rows or ROWS[1:]:
        made.add_row(*row)
    return made


@pytest.mark.parametrize("width", WIDTHS)
def test_no_name_and_no_number_of_a_table_is_cut(monkeypatch, width: int):
    lines = printed(monkeypatch, made_table(), width)
    assert [line for line in lines if len(line) > width] == []
    text = "\n".join(lines)
    assert "…" not in text
    for cell in (cell for row in ROWS[1:] for cell in row):
        assert cell in text
    for word in " ".join(ROWS[0]).split():
        assert word in text


def test_a_wide_table_is_upright_and_a_narrow_one_on_its_side(monkeypatch):
    wide = printed(monkeypatch, made_table(), 120)
    assert [line for line in wide if "congestion control   goodput Mbit/s" in line]
    middle = printed(monkeypatch, made_table(), 80)
    assert [line.split() for line in middle if "phone/uplink" in line] == [list(ROWS[2])]
    narrow = printed(monkeypatch, made_table(), 40)
    assert [line.split() for line in narrow if "goodput" in line] == [
        ["goodput", "Mbit/s", "562.64", "0.31"]
    ] or len([line for line in narrow if "goodput Mbit/s" in line]) == 2


def test_a_name_longer_than_the_terminal_goes_on_in_the_next_line(monkeypatch):
    name = "a" * 30 + "b" * 30
    lines = printed(monkeypatch, made_table((name, *ROWS[1][1:])), 40)
    assert [line for line in lines if len(line) > 40] == []
    letters = "".join(re.sub(r"[^ab]", "", line) for line in lines if "aa" in line or "bb" in line)
    assert letters == name


def test_brackets_in_a_table_are_no_markup(monkeypatch):
    text = "[bold] [0.1, 0.2]"
    assert text in "\n".join(printed(monkeypatch, made_table((text, *ROWS[1][1:])), 120))


def test_a_pipe_gets_one_line_for_each_row(capsys, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    table.print_table(made_table())
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert "retransmitted segments" in lines[0]


def test_a_pipe_is_as_wide_as_the_environment_says(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    table.print_table(made_table())
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 40
    monkeypatch.setenv("COLUMNS", "wide")
    table.print_table(made_table())
    assert max(map(len, capsys.readouterr().out.splitlines())) > 40


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("hang", [False, True])
def test_no_word_of_a_list_is_cut(monkeypatch, width: int, hang: bool):
    screen = terminal(monkeypatch, width)
    source = "draft-briscoe-iccrg-prague-congestion-control"
    entries = [
        console.Entry("a-name-of-24-characters", "A sentence with some words.", source),
        console.Entry("b", "Another."),
    ]
    console.print_entries(entries, hang=hang)
    text = screen.getvalue()
    assert [line for line in text.splitlines() if len(line.rstrip()) > width] == []
    assert "…" not in text
    assert "a-name-of-24-characters" in text
    assert source in "".join(text.split())


def test_a_sentence_in_a_table_begins_beside_its_name(monkeypatch):
    made = table.new_table("key", "meaning")
    made.add_row("a", "some words " * 12)
    lines = printed(monkeypatch, made, 40)
    assert [line.split()[1] for line in lines if line.startswith(" a ")] == ["some"]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("command", [[], *COMMANDS], ids=" ".join)
def test_help_fits_and_no_paragraph_is_wrapped_twice(
    cli: CliRunner, command: list[str], width: int
):
    shown = cli.invoke(app, [*command, "--help"], env={"COLUMNS": str(width)})
    assert shown.exit_code == 0, shown.output
    # A path or a quoted value that is longer than the line is not broken.
    wide = [line for line in shown.stdout.splitlines() if len(line) > width]
    assert [line for line in wide if len(WORD.findall(line.removesuffix(" \\"))) > 1] == []
    assert "…" not in shown.stdout
    lines = shown.stdout.splitlines()
    for before, line in pairwise(lines):
        # A sentence goes on in the next line only if its first word had no room.
        if before and line and line[0] == before[0] == " " and _indent(before) == _indent(line):
            first = line.split()[0]
            is_prose = before[-1].isalpha() and line.strip()[0].islower() and width > 40
            if is_prose and "  " not in before.strip() and not before.endswith("\\"):
                assert len(before) + 1 + len(first) > min(width, 100), (before, line)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("sweep", "fadeout[cluster]"),
        ("tune", "fadeout[tune]"),
        ("run", "[mobility-management]"),
        ("run", "--congestion-control NAME=FILE.py:CLASS"),
        ("run", "flow.congestion-control=newreno"),
        ("run", "OUT/program-NODE.txt"),
    ],
)
def test_help_loses_no_brackets_and_no_names(cli: CliRunner, command: str, text: str):
    assert text in cli.invoke(app, [command, "--help"], env={"COLUMNS": "80"}).stdout


def test_the_list_of_commands_has_whole_descriptions(cli: CliRunner):
    shown = " ".join(cli.invoke(app, ["--help"], env={"COLUMNS": "80"}).stdout.split())
    assert "Run a scenario, write its tables and figures, and print a summary." in shown


def test_a_wrapped_command_can_be_pasted():
    command = "fadeout tune my.toml --over link.a.limit='10..1000 packets:log' --out \"a b\" -j 4"
    for width in WIDTHS:
        lines = wrap_command(command, width)
        assert shlex.split("\n".join(lines).replace("\\\n", " ")) == shlex.split(command)
        assert all(line.endswith(" \\") for line in lines[:-1])


def test_help_has_colours_on_a_terminal_alone(cli: CliRunner):
    assert "\x1b[" in cli.invoke(app, ["run", "--help"], color=True).stdout
    assert "\x1b[" not in cli.invoke(app, ["run", "--help"]).stdout
    plain = cli.invoke(app, ["run", "--help"], color=True, env={"NO_COLOR": "1"})
    assert "\x1b[" not in plain.stdout


WRONG = """\
duration = "1 s"

[link.a]
from = "x"
to = "y"
rate = "1 Mbit/s"
delay = "1 ms"
colour = 3
"""


@pytest.mark.parametrize("width", WIDTHS)
def test_errors_are_coloured_and_wrapped_on_a_terminal(
    monkeypatch, cli: CliRunner, tmp_path: Path, width: int
):
    path = tmp_path / "wrong.toml"
    path.write_text(WRONG)
    monkeypatch.chdir(tmp_path)
    screen = terminal(monkeypatch, width, colour=True)
    assert cli.invoke(app, ["check", "wrong.toml"]).exit_code == 2
    text = screen.getvalue()
    assert "\x1b[1;31merror:\x1b[0m" in text
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
    assert [line for line in plain.splitlines() if len(line) > width] == []
    assert "unknown key `colour`" in " ".join(plain.split())
    assert "keeps-order" in plain


def test_errors_in_a_pipe_have_no_colours(cli: CliRunner, tmp_path: Path):
    path = tmp_path / "wrong.toml"
    path.write_text(WRONG)
    assert "\x1b" not in cli.invoke(app, ["check", str(path)]).stderr


@pytest.mark.parametrize(
    ("low", "high", "unit", "text"),
    [
        (1, 2**50, "bytes", "1 byte to 1 PiB"),
        (4608, 2**40, "bytes", "4,608 bytes to 1 TiB"),
        (1500.0, 1e12, "bytes", "1,500 bytes to 1 TB"),
        (16, 65_535, "bytes", "16 to 65,535 bytes"),
        (1000.0, 1e12, "bit/s", "1 kbit/s to 1 Tbit/s"),
        (0, 2**40, "", "0 to 1,099,511,627,776"),
        (0.001, 10.0, "1/segments", "0.001 to 10 1/segments"),
        (-200.0, 50.0, "dBm", "-200 to 50 dBm"),
    ],
)
def test_ranges_are_in_units_of_people(low: float, high: float, unit: str, text: str):
    assert range_text(low, high, unit) == text


def test_no_range_of_a_parameter_has_an_exponent():
    for kind in _lexicon.catalog().values():
        for entry in kind["entries"]:
            for parameter in entry["parameters"]:
                if "range" in parameter:
                    low, high = parameter["range"]
                    shown = range_text(low, high, parameter.get("unit") or "")
                    assert "e+" not in shown, (entry["name"], parameter["name"], shown)
