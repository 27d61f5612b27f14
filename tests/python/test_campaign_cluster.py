"""Campaigns on Dask: processes of this machine."""

import importlib.util
import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from conftest import SCENARIO
from fadeout import Campaign, ScenarioError
from fadeout.campaign import cluster as cluster_module
from fadeout.campaign.cluster import Cluster, read_cluster
from fadeout.campaign.tune import tune

LOSSY = SCENARIO.replace('"50 packets"', '"50 packets"\nloss = { probability = 0.01 }')

KILLS = int(os.environ.get("FADEOUT_KILLS", "3"))
"""Of workers; FADEOUT_KILLS=100 takes some minutes."""

DEADLY = """
import os

def deadly(results):
    if results.manifest["seed"] == 3:
        os._exit(1)
    return 1.0
"""


@pytest.fixture
def document(tmp_path: Path) -> dict[str, Any]:
    pytest.importorskip("distributed", reason="fadeout[cluster] is not installed")
    path = tmp_path / "lossy.toml"
    path.write_text(LOSSY)
    grid = {"flow.congestion-control": ["cubic", "newreno"]}
    return {"scenario": str(path), "grid": grid, "seeds": 6}


def test_the_table_is_the_same_at_home_and_on_dask(document: dict[str, Any], tmp_path: Path):
    home = Campaign(document, out=tmp_path / "home")
    home.run(jobs=1)
    away = Campaign(document, out=tmp_path / "away")
    away.run(executor=Cluster(workers=2))
    files = [c.export(tmp_path / f"{c.folder.name}.parquet") for c in (home, away)]
    assert files[0].read_bytes() == files[1].read_bytes()


def test_a_run_that_kills_its_worker_three_times_has_failed(
    document: dict[str, Any], tmp_path: Path
):
    (tmp_path / "deadly.py").write_text(DEADLY)
    document["metrics"] = [f"deadly={tmp_path}/deadly.py:deadly"]
    document["grid"] = {}
    campaign = Campaign(document, out=tmp_path / "c")
    campaign.run(executor=Cluster(workers=2))
    assert campaign.frame()["seed"].to_list() == [1, 2, 4, 5, 6]
    assert campaign.failures.select("seed", "kind").rows() == [(3, "worker")]


def test_workers_that_are_killed_at_any_moment_lose_nothing(
    document: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    distributed = pytest.importorskip("distributed")
    clusters: list[Any] = []

    class Watched(distributed.LocalCluster):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            clusters.append(self)

    monkeypatch.setattr(distributed, "LocalCluster", Watched)
    monkeypatch.setattr(cluster_module, "CHUNK_S", 0.05)
    moments = random.Random(int(os.environ.get("FADEOUT_SEED", "1")))
    killed: list[int] = []
    stop = Event()

    def kill() -> None:
        while len(killed) < KILLS and not stop.wait(moments.uniform(0, 1)):
            # A worker that is being started again has no process yet.
            alive = [worker.pid for worker in clusters[0].workers.values() if worker.pid]
            if alive:
                killed.append(moments.choice(alive))
                os.kill(killed[-1], signal.SIGKILL)

    document["set"] = {"duration": "10 s"}
    document["seeds"] = 0
    killer = Thread(target=kill)
    with Cluster(workers=2) as cluster:
        killer.start()
        try:
            while len(killed) < KILLS:
                document["seeds"] += 100
                Campaign(document, out=tmp_path / "c").run(executor=cluster)
        finally:
            stop.set()
            killer.join()
    campaign = Campaign(document, out=tmp_path / "c")
    # A run whose workers were killed three times in a row is named, and done by the same command.
    assert set(campaign.failures["kind"]) <= {"worker"}
    campaign.run(jobs=1)
    assert campaign.failures.is_empty()
    home = Campaign(document, out=tmp_path / "home")
    home.run(jobs=1)
    files = [c.export(tmp_path / f"{c.folder.name}.parquet") for c in (home, campaign)]
    assert files[0].read_bytes() == files[1].read_bytes()
    assert home.frame()["run"].n_unique() == 2 * document["seeds"]


def test_a_cluster_file_is_read_and_its_mistakes_are_named(tmp_path: Path):
    path = tmp_path / "cluster.toml"
    path.write_text('kind = "slurm"\nmaximum-jobs = 4\nqueue = "short"\n')
    found = read_cluster(path)
    assert (found.kind, found.workers, found.options) == ("slurm", 4, {"queue": "short"})
    for text, message in (
        ('kind = "slrm"', "did you mean 'slurm'"),
        ('kind = "local"\nworkers = 0', "above 0"),
        ("kind = ", "cluster.toml"),
    ):
        path.write_text(text)
        with pytest.raises(ScenarioError, match=message):
            read_cluster(path)


def test_another_machine_is_reached_by_tls_only(document: dict[str, Any], tmp_path: Path):
    cluster = Cluster("address", options={"address": "tcp://10.0.0.1:8786"})
    with pytest.raises(ScenarioError, match="without TLS"):
        Campaign(document, out=tmp_path / "c").run(executor=cluster)


def test_a_batch_system_is_given_jobs_that_connect_by_tls(
    document: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    if importlib.util.find_spec("dask_jobqueue") is None:
        pytest.skip("fadeout[cluster] is not installed")
    # A batch system of one machine: it runs the script at once. The script is removed after this.
    commands = tmp_path / "bin"
    commands.mkdir()
    (commands / "sbatch").write_text(
        f'#!/bin/bash\ncp "$1" {tmp_path}/job.sh\n'
        f"bash {tmp_path}/job.sh > {tmp_path}/job.log 2>&1 < /dev/null &\n"
        'echo "Submitted batch job $!"\n'
    )
    (commands / "scancel").write_text('#!/bin/bash\nkill "$1"\n')
    for command in commands.iterdir():
        command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{commands}:{os.environ['PATH']}")
    file = tmp_path / "cluster.toml"
    file.write_text(
        'kind = "slurm"\nmaximum-jobs = 1\ncores = 1\nmemory = "1 GB"\nwalltime = "00:05:00"\n'
    )
    # In a process of its own: dask-jobqueue leaves files open.
    command = [sys.executable, "-m", "fadeout", "sweep", document["scenario"], "--seeds", "12"]
    command += ["--out", "c", "--cluster", str(file), "--quiet"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert Campaign.open(tmp_path / "c").status().done == 12
    assert "tls://" in (tmp_path / "job.sh").read_text()


@pytest.mark.parametrize("module", ["distributed", "optuna"])
def test_a_package_that_is_missing_is_named_in_one_line(
    document: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str
):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ScenarioError, match=r"pip install 'fadeout\[\w+\]'$"):
        if module == "optuna":
            over = {"link.access.delay": "1..5 ms"}
            tune(document["scenario"], over, "goodput_mbps", out=tmp_path / "t")
        else:
            Campaign(document, out=tmp_path / "c").run(executor=Cluster())
