"""Campaigns on Dask: processes of this machine."""

import importlib.util
import json
import os
import random
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from conftest import CONTROLS
from fadeout import Campaign, ScenarioError
from fadeout.campaign import cluster as cluster_module
from fadeout.campaign.cluster import Cluster, read_cluster
from fadeout.campaign.tune import tune

KILLS = int(os.environ.get("FADEOUT_KILLS", "3"))
"""Number of workers that are killed. FADEOUT_KILLS=100 takes some minutes."""

DEADLY = """
import os

def deadly(results):
    if results.manifest["seed"] == 3:
        os._exit(1)
    return 1.0
"""


@pytest.fixture
def document(lossy: Path) -> dict[str, Any]:
    pytest.importorskip("distributed", reason="fadeout[cluster] is not installed")
    return {"scenario": str(lossy), "grid": CONTROLS, "seeds": 6}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """Yields a local cluster. Tests that kill workers have their own."""
    distributed_module()
    with Cluster(workers=2) as cluster:
        yield cluster


def test_the_table_is_the_same_at_home_and_on_dask(
    document: dict[str, Any], tmp_path: Path, cluster: Cluster
):
    home = Campaign(document, out=tmp_path / "home")
    home.run(jobs=1)
    away = Campaign(document, out=tmp_path / "away")
    away.run(executor=cluster)
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
    monkeypatch.setattr(cluster_module, "CHUNK_S", 0.05)
    moments = random.Random(int(os.environ.get("FADEOUT_SEED", "1")))
    killed: list[int] = []
    stop = Event()

    def kill() -> None:
        while len(killed) < KILLS and not stop.wait(moments.uniform(0, 1)):
            # A worker that restarts has no process yet.
            workers = cluster._held.cluster.workers.values()
            alive = [worker.pid for worker in workers if worker.pid]
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
                document["seeds"] += 50
                Campaign(document, out=tmp_path / "c").run(executor=cluster)
        finally:
            stop.set()
            killer.join()
    campaign = Campaign(document, out=tmp_path / "c")
    # A run whose workers were killed three times in a row has failed. The same command then does
    # it.
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
        ('kind = "local"\nmemory-limt = "1 GB"', "did you mean 'memory-limit'"),
        ('kind = "local"\nprotocol = "tcp"', "cluster.toml: unknown key"),
        ('address = "tls://a:1"\nsecurity = false', "cluster.toml: unknown key"),
        ("kind = ", "cluster.toml"),
    ):
        path.write_text(text)
        with pytest.raises(ScenarioError, match=message):
            read_cluster(path)


@pytest.mark.parametrize("host", ["10.0.0.1", "127.0.0.1", "localhost"])
def test_a_scheduler_is_reached_by_tls_only(document: dict[str, Any], tmp_path: Path, host: str):
    cluster = Cluster("address", options={"address": f"tcp://{host}:8786"})
    with pytest.raises(ScenarioError, match="without TLS"):
        Campaign(document, out=tmp_path / "c").run(executor=cluster)


def test_a_scheduler_that_runs_does_the_runs(document: dict[str, Any], tmp_path: Path):
    from distributed import Security

    from fadeout.campaign.nodes import LocalCluster

    keys = tmp_path / "keys"
    keys.mkdir()
    security = cluster_module._security(distributed_module(), keys)
    assert isinstance(security, Security)
    cluster: Any = LocalCluster(1, security, tmp_path)
    with cluster as running:
        options = {"address": running.scheduler_address, "tls_ca_file": security.tls_ca_file}
        options |= {
            "tls_client_cert": security.tls_client_cert,
            "tls_client_key": security.tls_client_key,
        }
        campaign = Campaign(document, out=tmp_path / "c")
        campaign.run(executor=Cluster("address", options=options))
        assert campaign.status().done == 12
        # The cluster of the other process did the runs.
        assert running.scheduler.tasks == {}
        assert running.scheduler.transition_counter > 0


def distributed_module() -> Any:
    return pytest.importorskip("distributed", reason="fadeout[cluster] is not installed")


INTRUDER = """
import asyncio, json, os, sys
import distributed, distributed.protocol, distributed.comm.tcp, distributed.client
from distributed import Client, Security

address, user, keys = json.loads(sys.argv[1])
if keys is None:
    security = None
else:
    # Of the cluster, or the intruder's own.
    security = Security(require_encryption=True, **keys) if keys else Security.temporary()
if user is not None:
    # Imports go on working, the user is another one.
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)
try:
    with Client(address, security=security, timeout=4, set_as_default=False) as client:
        print("ran as", client.submit(os.getuid).result(timeout=20))
except (OSError, TimeoutError, ValueError, TypeError, RuntimeError) as error:
    print("refused:", type(error).__name__)
"""

NOBODY = 65_534


def intrude(address: str, keys: dict[str, str] | None, user: int | None) -> str:
    """Returns the output of an attempt to run code at `address` as another user."""
    arguments = json.dumps([address, user, keys])
    command = [sys.executable, "-W", "ignore", "-c", INTRUDER, arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    return done.stdout.strip() or done.stderr


def addresses(client: Any) -> list[str]:
    """Returns the addresses of the scheduler, of the workers, and of the nanny of each worker."""
    info = client.scheduler_info(n_workers=-1)
    workers = info["workers"].values()
    watchers = [worker["nanny"] for worker in workers]
    return [info["address"], *info["workers"], *watchers]


@pytest.fixture
def local(cluster: Cluster) -> Any:
    """Returns the client of the local cluster."""
    return cluster._held


def test_another_user_of_the_machine_runs_no_code_on_a_local_cluster(local: Any):
    user = NOBODY if os.geteuid() == 0 else None
    keys = {
        name: getattr(local.security, name)
        for name in ("tls_ca_file", "tls_client_cert", "tls_client_key")
    }
    scheduler = local.scheduler_info()["address"]
    # Code of a client with the keys of the cluster would run. No other user has the keys.
    assert intrude(scheduler, keys, user) == f"ran as {os.getuid()}"
    guesses = [(scheduler, None), (scheduler, {}), (scheduler.replace("tls://", "tcp://"), None)]
    # Each of them waits some seconds for an answer, so they wait at the same time.
    with ThreadPoolExecutor() as threads:
        answers = threads.map(lambda guess: intrude(guess[0], guess[1], user), guesses)
        for guess, answer in zip(guesses, answers, strict=True):
            assert answer.startswith("refused: "), guess


def test_every_port_of_a_local_cluster_asks_for_a_certificate_and_none_answers_http(local: Any):
    psutil = pytest.importorskip("psutil")
    known = {int(each.rpartition(":")[2]) for each in addresses(local)}
    assert len(known) == 5
    here = psutil.Process()
    listening = {
        place.laddr
        for process in (here, *here.children(recursive=True))
        for place in process.net_connections(kind="inet")
        if place.status == psutil.CONN_LISTEN
    }
    assert {place.port for place in listening} == known
    assert {place.ip for place in listening} == {"127.0.0.1"}
    for place in listening:
        assert answer_to_http(place.port, has_tls=False) == b""
        assert answer_to_http(place.port, has_tls=True) == b""


def answer_to_http(port: int, *, has_tls: bool) -> bytes:
    """Returns the answer to an HTTP request without a certificate."""
    try:
        with ExitStack() as stack:
            connection = stack.enter_context(socket.create_connection(("127.0.0.1", port), 5))
            if has_tls:
                context = ssl.create_default_context()
                context.check_hostname = False
                context.verify_mode = ssl.CERT_NONE
                connection = stack.enter_context(context.wrap_socket(connection))
            connection.sendall(b"GET /info/main/workers.html HTTP/1.1\r\nHost: localhost\r\n\r\n")
            return connection.recv(4096)
    except OSError:
        return b""


def test_what_workers_import_lies_in_a_folder_of_this_user_alone(local: Any):
    places = {
        *local.run(lambda dask_worker: dask_worker.local_directory).values(),
        local.run_on_scheduler(lambda dask_scheduler: dask_scheduler.local_directory),
    }
    private = {Path(place).parents[1] for place in places}
    assert len(private) == 1
    about = private.pop().stat()
    assert about.st_mode & 0o077 == 0
    assert about.st_uid == os.getuid()


def test_a_batch_system_is_given_jobs_that_connect_by_tls(
    document: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    if importlib.util.find_spec("dask_jobqueue") is None:
        pytest.skip("fadeout[cluster] is not installed")
    # A batch system of one machine, which runs the script at once. The script is then removed.
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
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    file = tmp_path / "cluster.toml"
    file.write_text(
        'kind = "slurm"\nmaximum-jobs = 1\ncores = 1\nmemory = "1 GB"\nwalltime = "00:05:00"\n'
    )
    # In a process of its own, as dask-jobqueue leaves files open.
    command = [sys.executable, "-m", "fadeout", "sweep", document["scenario"], "--seeds", "12"]
    command += ["--out", "c", "--cluster", str(file), "--quiet"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert Campaign.open(tmp_path / "c").status().done == 12
    job = (tmp_path / "job.sh").read_text()
    assert "tls://" in job
    assert "--worker-class fadeout.campaign.nodes.SilentWorker" in job
    # The worker's files for import are in a folder of its own, which is removed with the job.
    assert "DASK_TEMPORARY_DIRECTORY" in job
    for _ in range(100):
        if not any(scratch.iterdir()):
            break
        time.sleep(0.1)
    assert list(scratch.iterdir()) == []


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
