"""Dask's scheduler and workers without web servers, and a cluster of processes of this machine.

Dask's own classes listen for HTTP even without a dashboard, and anybody who reaches the port can
read the data of the runs. This module needs `fadeout[cluster]`.
"""

from logging import CRITICAL
from pathlib import Path
from typing import Any

from distributed import Nanny, Scheduler, Security, SpecCluster, Worker

WORKER_CLASS = f"{__name__}.SilentWorker"
"""The worker's class, for the command line of Dask's worker."""

NO_ROUTES = {
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
}
"""Dask's settings that remove all routes of its web servers."""


class SilentScheduler(Scheduler):
    """A scheduler that answers no HTTP."""

    def start_http_server(self, *_args: Any, **_settings: Any) -> None:  # noqa: ANN401
        """Starts nothing."""


class SilentWorker(Worker):
    """A worker that answers no HTTP."""

    def start_http_server(self, *_args: Any, **_settings: Any) -> None:  # noqa: ANN401
        """Starts nothing."""


class LocalCluster(SpecCluster):
    """Workers with one thread each in processes of this machine.

    Every connection is TLS in both directions with keys of this cluster alone. Any user of the
    machine can open ports of the loopback, and anybody who talks to a scheduler can run code on it.
    """

    def __init__(
        self,
        workers: int,
        security: Security,
        folder: Path,
        memory_limit: str | float | None = None,
    ) -> None:
        """Makes a cluster. `folder` belongs to this user alone, as workers import files in it.

        `memory_limit` is in bytes or a text such as "4 GB". By default workers share the memory.
        """
        place = {"protocol": "tls://", "host": "127.0.0.1", "security": security}
        worker = {
            "cls": Nanny,
            "options": {
                **place,
                "worker_class": SilentWorker,
                "nthreads": 1,
                "memory_limit": 1 / workers if memory_limit is None else memory_limit,
                "local_directory": str(folder),
                "silence_logs": CRITICAL,
                "dashboard": False,
            },
        }
        super().__init__(
            scheduler={"cls": SilentScheduler, "options": {**place, "port": 0, "dashboard": False}},
            worker=worker,
            workers=dict.fromkeys(range(workers), worker),
            security=security,
            silence_logs=CRITICAL,  # pyright: ignore[reportArgumentType]
        )
