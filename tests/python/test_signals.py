"""Signals at any moment of a command, and standard streams that are closed."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conftest import SCENARIO

MOMENTS = int(os.environ.get("FADEOUT_SIGNALS", "4"))
"""Number of random moments for each signal. FADEOUT_SIGNALS=100 takes some minutes."""

STOPS = [signal.SIGTERM, signal.SIGHUP, signal.SIGINT]

COMMAND = [sys.executable, "-m", "fadeout"]

# Runs the command, which sends itself a signal when the named module is imported.
AT_IMPORT = """
import os, sys
module, number = sys.argv[1], int(sys.argv[2])
del sys.argv[1:3]

class Sender:
    def find_spec(self, name, path=None, target=None):
        if name == module:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), number)

sys.meta_path.insert(0, Sender())
from fadeout.cli import main
main()
"""

# Sends itself a signal while the second figure is drawn. In a finaliser the exception is lost.
AT_FIGURE = """
import os, sys
how, number = sys.argv[1], int(sys.argv[2])
del sys.argv[1:3]
sys.unraisablehook = lambda _: None
from matplotlib.figure import Figure
drawn, save = [], Figure.savefig

class Finaliser:
    def __del__(self):
        os.kill(os.getpid(), number)

def savefig(self, *args, **kwargs):
    save(self, *args, **kwargs)
    drawn.append(self)
    if len(drawn) == 2:
        os.kill(os.getpid(), number) if how == "plainly" else Finaliser()

Figure.savefig = savefig
from fadeout.cli import main
main()
"""

# Sends itself a signal at the end of the run, when nothing reads signals any more.
AT_END = """
import os, sys
number = int(sys.argv[1])
del sys.argv[1]
import fadeout
run = fadeout.run

def run_then_signal(*args, **kwargs):
    results = run(*args, **kwargs)
    os.kill(os.getpid(), number)
    return results

fadeout.run = run_then_signal
from fadeout.cli import main
main()
"""


def hear() -> None:
    # Under nohup, or in the background, the command would ignore some of them.
    for number in STOPS:
        signal.signal(number, signal.SIG_DFL)


def run(program: str, *words: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", program, *map(str, words)]
    return subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, check=False, preexec_fn=hear, timeout=300
    )


@pytest.mark.parametrize("number", STOPS)
@pytest.mark.parametrize("module", ["fadeout.cli.app", "rich.console", "fadeout.cli.list"])
def test_a_signal_while_the_command_is_loaded_ends_it_with_its_status(
    tmp_path: Path, module: str, number: signal.Signals
):
    done = run(AT_IMPORT, module, number, "list", "tables", cwd=tmp_path)
    assert done.returncode == 128 + number, done.stderr
    assert done.stderr == "stopped\n"


@pytest.mark.parametrize("module", ["polars", "matplotlib"])
def test_a_signal_while_a_library_is_loaded_ends_the_command_with_its_status(
    tmp_path: Path, scenario: Path, module: str
):
    done = run(AT_IMPORT, module, signal.SIGTERM, "run", scenario, cwd=tmp_path)
    assert done.returncode == 128 + signal.SIGTERM, done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("number", STOPS)
def test_a_signal_at_any_moment_ends_the_command_with_its_status(
    tmp_path: Path, number: signal.Signals
):
    began = time.monotonic()
    subprocess.run([*COMMAND, "list", "tables"], capture_output=True, check=True)
    whole_s = time.monotonic() - began
    moments = random.Random(int(os.environ.get("FADEOUT_SEED", "1")))
    for _ in range(MOMENTS):
        with subprocess.Popen(
            [*COMMAND, "list", "tables"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=hear,
        ) as process:
            time.sleep(moments.uniform(0, whole_s))
            process.send_signal(number)
            _, errors = process.communicate(timeout=60)
        # Before the command's first line, the signal itself ends the process, and a shell reports
        # the same number. Python's own start handles Ctrl-C in its own way: its traceback has no
        # file of fadeout.
        is_start = "Traceback" in errors and "/fadeout/" not in errors
        is_before = process.returncode == -number or is_start
        assert is_before or process.returncode in (0, 128 + number), errors
        assert is_before or "Traceback" not in errors


# One handler serves all signals, so each signal is sent once here.
@pytest.mark.parametrize(
    ("how", "number"),
    [
        ("plainly", signal.SIGTERM),
        ("plainly", signal.SIGINT),
        ("in a finaliser", signal.SIGHUP),
    ],
)
def test_a_signal_while_figures_are_drawn_is_obeyed(
    tmp_path: Path, scenario: Path, how: str, number: signal.Signals
):
    done = run(AT_FIGURE, how, number, "run", scenario, "--out", "x", cwd=tmp_path)
    assert done.returncode == 128 + number, done.stderr
    assert "Traceback" not in done.stderr
    figures = {path.name for path in (tmp_path / "x/figures").iterdir()}
    # The figure whose exception was lost is complete, and there is no incomplete figure.
    assert len(figures) == (1 if how == "plainly" else 2)
    assert not [name for name in figures if name.startswith(".")]
    assert (tmp_path / "x/manifest.json").is_file()


@pytest.mark.parametrize("number", [signal.SIGINT])
def test_a_signal_after_the_last_step_leaves_the_run_whole_and_draws_nothing(
    tmp_path: Path, scenario: Path, number: signal.Signals
):
    done = run(AT_END, number, "run", scenario, "--out", "x", cwd=tmp_path)
    assert done.returncode == 128 + number, done.stderr
    assert "stopped at 2 s; all is kept; fadeout plot x draws its figures" in done.stderr
    assert not (tmp_path / "x/figures").exists()


SHORT = SCENARIO.replace('"2 s"', '"0.2 s"')

COMMANDS = [
    ["list", "tables"],
    ["--help"],
    ["run", "--help"],
    ["--version"],
    ["schema"],
    ["check", "short.toml"],
    ["check", "nothing.toml"],
    ["lst"],
    ["run", "short.toml", "--no-figures", "--out", "RUN"],
    ["sweep", "short.toml", "--seeds", "2", "--out", "SWEEP"],
]


def shell(line: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Returns the outcome of a line of bash that calls this `fadeout`."""
    head = f'fadeout() {{ "{sys.executable}" -m fadeout "$@"; }}; '
    return subprocess.run(
        ["bash", "-c", head + line], cwd=cwd, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_closed_or_broken_stream_is_no_traceback(tmp_path: Path, words: list[str]):
    (tmp_path / "short.toml").write_text(SHORT)
    usual = 0
    for number, redirection in enumerate(("", ">&-", "2>&-", ">&- 2>&- <&-", "2> /dev/full")):
        line = " ".join(words).replace("RUN", f"r{number}").replace("SWEEP", f"s{number}")
        done = shell(f"fadeout {line} {redirection}", tmp_path)
        usual = usual if redirection else done.returncode
        assert done.returncode == usual, (redirection, done.stderr)
        assert "Traceback" not in done.stderr + done.stdout
        assert "Exception ignored" not in done.stderr + done.stdout
    # The files are complete although nobody read the output.
    for folder in tmp_path.glob("r?"):
        assert (folder / "manifest.json").is_file()


@pytest.mark.parametrize("words", COMMANDS[:5], ids=" ".join)
def test_a_reader_that_leaves_ends_the_command_in_silence(tmp_path: Path, words: list[str]):
    line = " ".join(words)
    # The reader ends before the first byte, or after the first line.
    for reader in ("true", "head -1 > /dev/null"):
        done = shell(f"fadeout {line} | {reader}; exit ${{PIPESTATUS[0]}}", tmp_path)
        assert done.returncode in (0, 1), done.stderr
        assert done.stderr == ""


def test_a_full_disk_behind_standard_output_is_a_line(tmp_path: Path):
    for words in (["list", "tables"], ["--version"]):
        done = shell(f"fadeout {' '.join(words)} > /dev/full", tmp_path)
        assert done.returncode == 1
        assert "No space left" in done.stderr
        assert "Traceback" not in done.stderr
        assert "Exception ignored" not in done.stderr
