import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from check_wheel import LARGEST_MB, size_mb
from conftest import ROOT, SCENARIO
from fadeout.validate.recordings import recorded

pytestmark = [
    pytest.mark.packaging,
    pytest.mark.skipif(
        "FADEOUT_PACKAGING" not in os.environ,
        reason="builds a wheel and downloads what it needs; set FADEOUT_PACKAGING=1",
    ),
]


def call(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        # The build of `make build` has this interpreter, too. Another one would compile it again.
        env={**os.environ, "PYO3_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command}:\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_a_wheel_works_in_an_empty_environment(tmp_path: Path):
    maturin = Path(sys.executable).with_name("maturin")
    # The profile of the other tests builds the same files as the one of `make wheel`.
    call(maturin, "build", "--profile", "dev", "--out", tmp_path / "dist", cwd=ROOT)
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    venv.create(tmp_path / "env", with_pip=True)
    binaries = tmp_path / "env" / "bin"
    call(binaries / "pip", "install", "--quiet", wheel, cwd=tmp_path)
    # Without extras a run has results and no figures.
    (packages,) = (tmp_path / "env").glob("lib/python*/site-packages")
    assert size_mb(packages) < LARGEST_MB
    (tmp_path / "small.toml").write_text(SCENARIO)
    call(binaries / "fadeout", "run", "small.toml", "--out", "base", cwd=tmp_path)
    assert not (tmp_path / "base" / "figures").exists()
    # A plain series needs no conversion, so that its scenario runs without the extra `data`.
    call(binaries / "fadeout", "check", "drive-test", cwd=tmp_path)

    call(binaries / "pip", "install", "--quiet", f"{wheel}[study]", cwd=tmp_path)
    assert "fadeout 0." in call(binaries / "fadeout", "--version", cwd=tmp_path)
    assert "blockage" in call(binaries / "fadeout", "list", "studies", cwd=tmp_path)
    call(binaries / "fadeout", "run", "small.toml", "--out", "run", cwd=tmp_path)
    assert (tmp_path / "run" / "figures" / "overview.png").is_file()
    call(binaries / "fadeout", "report", "run", cwd=tmp_path)
    assert "uPlot" in (tmp_path / "run" / "report.html").read_text("utf-8")
    files = (
        "import fadeout.validate.recordings as v, fadeout.study as s; print(len(v.recorded())); "
        "print((s.studies()['blockage'].folder / 'scenario.toml').is_file())"
    )
    assert call(binaries / "python", "-c", files, cwd=tmp_path).split() == [
        str(len(recorded())),
        "True",
    ]
