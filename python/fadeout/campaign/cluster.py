"""Runs on several machines, or in several processes of this one, by Dask.

    # cluster.toml
    kind = "slurm"
    maximum-jobs = 20
    cores = 8
    memory = "16 GB"
    walltime = "04:00:00"
    queue = "compute"

`kind` is `local` for processes of this machine, or one of dask-jobqueue: `slurm`, `pbs`, `sge`,
`lsf`, `htcondor` or `oar`. The other keys of these are arguments of its class. `address` connects
to a running scheduler. Every connection is TLS with keys of its own, as a machine has other users.
There is no dashboard and no web server. Workers need the same build of fadeout, and the files that
scenarios name. Workers write no files. Their results are returned, and written by the driver.
"""

import os
import shutil
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from queue import Empty, SimpleQueue
from socket import gethostname
from tempfile import gettempdir, mkdtemp
from time import monotonic
from typing import Any

from fadeout import _files, _names
from fadeout._native import FadeoutError, ScenarioError
from fadeout.campaign.engine import TICK_S, Work
from fadeout.campaign.parts import SUFFIX, is_left
from fadeout.campaign.work import Outcome

CHUNK_S = 1.0
"""Processor time of the runs that are sent together, in seconds."""

LONGEST_CHUNK_S = 2.0
"""Time after which a worker returns its results and the runs that it has not started, in
seconds.
"""

AHEAD = 2
"""Number of chunks for each thread of a worker: one in progress and one to follow."""

GATHER_S = 5.0
"""Longest wait for the next finished chunk, in seconds."""

DEATHS = 3
"""Number of workers that may die during a run before the run has failed."""

QUEUES = {
    "slurm": "SLURMCluster",
    "pbs": "PBSCluster",
    "sge": "SGECluster",
    "lsf": "LSFCluster",
    "htcondor": "HTCondorCluster",
    "oar": "OARCluster",
}


KEYS = {
    "local": ("memory_limit",),
    "address": ("address", "tls_ca_file", "tls_client_cert", "tls_client_key"),
}
"""Valid keys of these two kinds. Batch systems have the keys of Dask."""

SCRATCH = (
    'export DASK_TEMPORARY_DIRECTORY="$(mktemp -d)"',
    "trap 'rm -rf \"$DASK_TEMPORARY_DIRECTORY\"' EXIT",
)
"""Lines of a job that give its worker a folder of its own, as Dask imports files from there."""

ROLES = ("client", "scheduler", "worker")
"""Parts of a cluster that have a TLS key."""


def read_cluster(given: str | PathLike[str]) -> "Cluster":
    """Returns the cluster that a file describes. `local` stands for processes of this machine."""
    if str(given) == "local":
        return Cluster()
    path = Path(given)
    document = _files.read_toml(path, "a cluster's file")
    kind = document.pop("kind", "address" if "address" in document else None)
    kinds = ("local", "address", *QUEUES)
    if kind not in kinds:
        raise ScenarioError(f"{path}: {_names.unknown('kind of cluster', str(kind), kinds)}")
    workers = document.pop("maximum-jobs", document.pop("workers", None))
    if workers is not None and (type(workers) is not int or workers < 1):
        raise ScenarioError(f"{path}: maximum-jobs is {workers!r}; expected a whole number above 0")
    options = {key.replace("-", "_"): value for key, value in document.items()}
    for key in options:
        if key not in KEYS.get(kind, options):
            known = [each.replace("_", "-") for each in ("maximum_jobs", *KEYS[kind])]
            raise ScenarioError(f"{path}: {_names.unknown('key', key.replace('_', '-'), known)}")
    return Cluster(kind, workers, options)


@dataclass
class Cluster:
    """Executor that does the runs of a campaign with Dask:
    `campaign.run(executor=Cluster(workers=2))`.
    """

    kind: str = "local"
    workers: int | None = None
    """Largest number of processes of this machine, or of jobs of the batch system."""
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._stack = ExitStack()
        self._held: Any = None

    def drive(self, work: Work, tick: Callable[[], None]) -> None:
        """Runs everything. The driver may be killed and started again."""
        if self._held is not None:
            _Driver(self._held, work, tick).run()
            return
        with self._client() as client:
            _Driver(client, work, tick).run()

    def __enter__(self) -> "Cluster":
        """Starts the workers now, for several calls of `drive`."""
        self._held = self._stack.enter_context(self._client())
        return self

    def __exit__(self, *_error: object) -> None:
        self._held = None
        self._stack.close()

    @contextmanager
    def _client(self) -> Iterator[Any]:
        distributed = _distributed()
        import dask

        from fadeout.campaign import nodes

        with _own_folder(Path(gettempdir()), ".fadeout-dask.") as scratch:
            settings = {
                # The driver finds a run that kills its workers, so Dask must not give up first.
                "distributed.scheduler.allowed-failures": DEATHS - 1,
                "distributed.comm.timeouts.connect": "60s",
                "distributed.admin.system-monitor.gil.enabled": False,
                # Dask imports files from this folder. Its default folder may belong to another
                # user.
                "temporary-directory": str(scratch),
                **nodes.NO_ROUTES,
            }
            with (
                dask.config.set(settings),  # pyright: ignore[reportPrivateImportUsage]
                self._connected(distributed, scratch) as client,
            ):
                yield client

    @contextmanager
    def _connected(self, distributed: Any, scratch: Path) -> Iterator[Any]:  # noqa: ANN401
        if self.kind == "address":
            address = self._address()
            keys = {key: value for key, value in self.options.items() if key.startswith("tls_")}
            security = distributed.Security(require_encryption=True, **keys)
            with distributed.Client(address, security=security, set_as_default=False) as client:
                yield client
            return
        if self.kind == "local":
            from fadeout.campaign.nodes import LocalCluster

            workers = self.workers or os.cpu_count() or 1
            cluster = LocalCluster(workers, _keys(distributed), scratch, **self.options)
        else:
            cluster = self._batch(distributed)
        with cluster as started, distributed.Client(started, set_as_default=False) as client:
            yield client

    @contextmanager
    def _batch(self, distributed: Any) -> Iterator[Any]:  # noqa: ANN401 - an optional module
        from fadeout.campaign.nodes import WORKER_CLASS, SilentScheduler

        options = dict(self.options)
        place = Path(options.pop("shared_temp_directory", Path.cwd()))
        with _own_folder(place, ".fadeout-keys.") as keys:
            # The import replaces the handlers of these signals, which are then restored.
            handlers = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}
            try:
                import dask_jobqueue
            except ImportError:
                raise _missing("dask-jobqueue") from None
            for each, handler in handlers.items():
                signal.signal(each, handler)
            cls = getattr(dask_jobqueue, QUEUES[self.kind])
            given = _given(self.kind, options, "worker-extra-args")
            options["worker_extra_args"] = [*given, "--worker-class", WORKER_CLASS]
            if "local_directory" not in options:
                given = _given(self.kind, options, "job-script-prologue")
                options["job_script_prologue"] = [*SCRATCH, *given]
            cluster = cls(
                protocol="tls://",
                security=_security(distributed, keys),
                scheduler_cls=SilentScheduler,
                scheduler_options={"dashboard": False},
                **options,
            )
            # All jobs run while there is work. Dask alone asks for more jobs only if more chunks
            # wait than this driver sends ahead. A job that ends is started again.
            jobs = self.workers or 10
            cluster.adapt(minimum_jobs=jobs, maximum_jobs=jobs)
            with cluster:
                yield cluster

    def _address(self) -> str:
        """Address of a running scheduler."""
        address = str(self.options["address"])
        if not address.startswith("tls://"):
            raise ScenarioError(
                f"{address}: no connection to a scheduler without TLS, whose port every user of "
                "the machine may reach; expected tls://HOST:PORT with tls-ca-file, "
                "tls-client-cert and tls-client-key"
            )
        return address


class _Driver:
    """The driver, which sends chunks and receives their results."""

    def __init__(self, client: Any, engine: Work, tick: Callable[[], None]) -> None:  # noqa: ANN401
        self._client = client
        self._engine = engine
        self._tick = tick
        self._sent: dict[Any, list[Any]] = {}
        self._back: SimpleQueue[Any] = SimpleQueue()
        self._alone: list[Any] = []
        """Runs of chunks whose workers died. Each is tried alone, as Dask blames all runs that
        waited at a worker for its death.
        """
        self._tried: Any = None

    def run(self) -> None:
        engine = self._engine
        try:
            while not engine.is_finished:
                self._revive()
                self._send()
                # All finished chunks are taken now. One whose worker died is put back for a later
                # attempt.
                for future in list(self._come_back()):
                    self._take(future)
                self._tick()
        finally:
            self._client.cancel(list(self._sent))

    def _revive(self) -> None:
        """Restarts local workers that have ended. Dask does not restart a worker that dies while
        it starts.
        """
        from fadeout.campaign.nodes import LocalCluster

        cluster = self._client.cluster
        if isinstance(cluster, LocalCluster) and len(cluster.workers) < len(cluster.worker_spec):
            cluster.scale(len(cluster.worker_spec))

    def _come_back(self) -> Iterator[Any]:
        """Waits for a short time, and yields the chunks that have ended."""
        with suppress(Empty):
            yield self._back.get(timeout=TICK_S)
            while True:
                yield self._back.get_nowait()

    def _send(self) -> None:
        workers = self._client.scheduler_info(n_workers=-1)["workers"].values()
        threads = max(1, sum(worker["nthreads"] for worker in workers))
        if self._tried in self._sent:
            return
        if self._alone:
            if not self._sent:
                self._tried = self._submit([self._alone.pop()])
            return
        while len(self._sent) < AHEAD * threads:
            jobs = self._engine.take_some(CHUNK_S, 1000)
            if not jobs:
                return
            self._submit(jobs)

    def _submit(self, jobs: list[Any]) -> Any:  # noqa: ANN401 - of an optional module
        future = self._client.submit(do_chunk, self._engine.context, jobs, pure=False)
        self._sent[future] = jobs
        future.add_done_callback(self._back.put)
        return future

    def _take(self, future: Any) -> None:  # noqa: ANN401 - of an optional module
        from distributed.scheduler import KilledWorker

        jobs = self._sent.pop(future)
        try:
            outcomes, rest = future.result(timeout=GATHER_S)
        except TimeoutError:
            # The worker died with its results, and Dask repeats the chunk on another one.
            self._sent[future] = jobs
            self._back.put(future)
            return
        except KilledWorker:
            if future is not self._tried:
                self._alone += jobs
            else:
                reason = f"{DEATHS} workers died during this run"
                self._engine.give([Outcome(jobs[0], None, "worker", reason)])
            return
        except FadeoutError as error:
            self._engine.give_up(error)
            return
        future.release()
        self._engine.give(outcomes)
        self._engine.give_back(rest)


def do_chunk(context: Any, jobs: list[Any]) -> tuple[list[Outcome], list[Any]]:  # noqa: ANN401
    """Does runs for some time. Returns their outcomes, and the runs that were not started."""
    began = monotonic()
    outcomes: list[Outcome] = []
    for index, job in enumerate(jobs):
        if outcomes and monotonic() - began > LONGEST_CHUNK_S:
            return outcomes, jobs[index:]
        outcome = context.do(job, lambda: True)
        if outcome is not None:
            outcomes.append(outcome)
    return outcomes, []


@contextmanager
def _own_folder(place: Path, prefix: str) -> Iterator[Path]:
    """Yields a folder in `place` that only this user can open, and removes it at the end.

    The next driver removes the folder of a driver that was killed.
    """
    own = f".{gethostname()}-{os.getpid()}{SUFFIX}"
    for left in place.glob(f"{prefix}*.{gethostname()}-*{SUFFIX}"):
        if not left.name.endswith(own) and is_left(left):
            shutil.rmtree(left, ignore_errors=True)
    # `mkdtemp` makes the folder with mode 700.
    folder = Path(mkdtemp(prefix=prefix, suffix=own, dir=place))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _given(kind: str, options: Mapping[str, Any], key: str) -> Sequence[str]:
    """Returns the list under `key` in the cluster's file, or else in Dask's own settings."""
    import dask

    usual = dask.config.get(f"jobqueue.{kind}.{key}", None)  # pyright: ignore[reportPrivateImportUsage]
    return options.get(key.replace("-", "_"), usual) or ()


def _security(distributed: Any, folder: Path) -> Any:  # noqa: ANN401 - an optional module
    """Returns new keys for this driver and its workers, as files in `folder`."""
    keys = _keys(distributed)
    paths = {}
    for name in ("ca_file", *(f"{who}_{what}" for who in ROLES for what in ("cert", "key"))):
        path = (folder / f"{name}.pem").resolve()
        path.write_text(getattr(keys, f"tls_{name}"))
        paths[f"tls_{name}"] = str(path)
    return distributed.Security(require_encryption=True, **paths)


def _keys(distributed: Any) -> Any:  # noqa: ANN401 - an optional module
    """Returns new keys, in memory."""
    try:
        return distributed.Security.temporary()
    except ImportError:
        raise _missing("cryptography") from None


def _distributed() -> Any:  # noqa: ANN401 - an optional module
    try:
        import distributed
    except ImportError:
        raise _missing("distributed") from None
    return distributed


def _missing(module: str) -> ScenarioError:
    return ScenarioError(f"--cluster needs {module}: pip install 'fadeout[cluster]'")
