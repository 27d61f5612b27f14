"""A run, as a worker does it on any machine."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from fadeout import _native, congestion, handover_policy
from fadeout._native import EngineBug, FadeoutError, ResultError
from fadeout._own import POLICY_OPTION
from fadeout._run import ScenarioText, with_traces
from fadeout.campaign.jobs import Job, load_controls
from fadeout.campaign.metrics import Metric, MetricError, default_values
from fadeout.campaign.spec import Control
from fadeout.results import Results, read_stream

MayGoOn = Callable[[], bool]


@dataclass(frozen=True)
class Context:
    """The settings that the runs of a campaign have in common, which can be sent to another
    machine.
    """

    scenarios: Mapping[str, ScenarioText]
    metrics: tuple[Metric, ...] = ()
    tables: tuple[str, ...] = ()
    controls: Mapping[str, Control] = field(default_factory=dict)
    policies: Mapping[str, Control] = field(default_factory=dict)
    run_timeout_s: float | None = None

    @cached_property
    def makers(self) -> dict[str, Any]:
        """User-written congestion controls."""
        return congestion.makers(load_controls(self.controls))

    @cached_property
    def policy_makers(self) -> dict[str, Any]:
        """User-written handover policies."""
        return handover_policy.makers(load_controls(self.policies, POLICY_OPTION))

    @cached_property
    def extra(self) -> tuple[Metric, ...]:
        """The metrics that a run has only on request."""
        return tuple(metric for metric in self.metrics if not metric.is_default)

    @cached_property
    def identity(self) -> str:
        """Name of the values that are read from a run in addition to the default metrics."""
        wanted = [metric.identity for metric in self.extra]
        return "\n".join(sorted([*wanted, *(f"table {name}" for name in self.tables)]))

    def do(self, job: Job, may_go_on: MayGoOn) -> "Outcome | None":
        """Does a run. Returns None if the run was stopped."""
        return do(self, job, may_go_on)

    @property
    def needs_tables(self) -> bool:
        """True if runs keep their tables over time."""
        return bool(self.tables) or any(metric.needs_tables for metric in self.extra)


@dataclass(frozen=True)
class Outcome:
    """The outcome of a run: a row, or the reason for its failure."""

    job: Job
    row: dict[str, Any] | None
    kind: str = ""
    """The kind of failure."""
    reason: str = ""
    cost_s: float = 0.0
    tables: dict[str, bytes] = field(default_factory=dict)

    def failure(self) -> dict[str, Any]:
        """Returns the failure as a row."""
        job = self.job
        return {
            "run": job.run,
            "point": job.point,
            "seed": job.seed,
            "kind": self.kind,
            "reason": self.reason,
            "cost_s": self.cost_s,
        }


def do(context: Context, job: Job, may_go_on: MayGoOn) -> Outcome | None:
    """Does a run. Returns None if the run was stopped.

    Errors that affect every run, such as a table that the scenario does not record, are raised.
    """
    source = context.scenarios[job.scenario]
    is_late = False
    limit = context.run_timeout_s

    def progress(state: dict[str, Any]) -> bool:
        nonlocal is_late
        is_late = limit is not None and state["wall_s"] > limit
        return not is_late and may_go_on()

    began = time.thread_time()
    try:
        found = _native.run(
            source.text,
            source_name=source.name,
            base_dir=source.base_dir,
            overrides=with_traces(*source, job.overrides),
            seed=job.seed,
            progress=progress,
            tables=context.needs_tables,
            # Advice would be the same for every run of the campaign.
            advice=False,
            congestion_controls=context.makers,
            handover_policies=context.policy_makers,
            # One thread a run, as each processor has a run of its own.
            threads=1,
        )
        if not found["complete"] and found["raised"] is None:
            if is_late:
                reason = f"it took longer than {limit:g} s"
                return Outcome(job, None, "timeout", reason, time.thread_time() - began)
            return None
        if found["raised"] is not None:
            reason, _, kind = found["raised"]
            is_policy = kind == handover_policy.KIND.kind
            name = "HandoverPolicyError" if is_policy else "CongestionControlError"
            return Outcome(job, None, name, reason, time.thread_time() - began)
        row, tables = _read(context, job, found)
    except MetricError as error:
        return Outcome(job, None, "metric", str(error), time.thread_time() - began)
    except ResultError:
        raise
    except (EngineBug, FadeoutError) as error:
        return Outcome(job, None, type(error).__name__, str(error), time.thread_time() - began)
    cost_s = time.thread_time() - began
    row["cost_s"] = cost_s
    return Outcome(job, row, cost_s=cost_s, tables=tables)


def _read(
    context: Context, job: Job, found: "_native.Outcome"
) -> tuple[dict[str, Any], dict[str, bytes]]:
    flows = read_stream(found["tables"].get("flows"), "flows")
    row: dict[str, Any] = {
        "run": job.run,
        "point": job.point,
        "seed": job.seed,
        "fingerprint": found["fingerprint"],
        "cost_s": 0.0,
        "metrics": context.identity,
        **default_values(flows),
    }
    if context.extra:
        results = Results.from_outcome(found)
        row |= {metric.name: metric.read(results) for metric in context.extra}
    missing = [name for name in context.tables if name not in found["tables"]]
    if missing:
        raise ResultError(f"the scenario does not record '{missing[0]}': name it in its probes")
    return row, {name: found["tables"][name] for name in context.tables}
