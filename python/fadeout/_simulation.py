"""Runs in steps."""

from os import PathLike
from pathlib import Path

from fadeout import _native, congestion, handover_policy
from fadeout._run import (
    CongestionControls,
    HandoverPolicies,
    Overrides,
    Source,
    override_list,
    own_error,
    read_source,
    warn_of,
    with_traces,
)
from fadeout.results import Results


class Simulation:
    """A run in steps::

        simulation = fadeout.Simulation("scenarios/blockage.toml", seed=7)
        while simulation.now_s < simulation.duration_s:
            simulation.advance(simulation.now_s + 0.1)
        results = simulation.finish()

    A run in steps has the same bits as the same run at once, whatever the steps. It does not go on
    while a step is under way: a call from another thread, or from a method of a congestion control
    that the step has called, raises RuntimeError.
    """

    def __init__(
        self,
        source: Source,
        *,
        seed: int | None = None,
        set: Overrides | None = None,  # noqa: A002
        out: str | PathLike[str] | None = None,
        force: bool = False,
        congestion_controls: CongestionControls | None = None,
        handover_policies: HandoverPolicies | None = None,
        allow_programs: bool = False,
    ) -> None:
        """Build the world of a scenario. Nothing has happened yet.

        Args:
            source: the path of a scenario file, its TOML text, or the same as a dict.
            seed: replaces the scenario's seed.
            set: replaces values of the scenario, as in `fadeout.run`.
            out: folder to write the results to, as Parquet. Without it they stay in memory.
            force: replace the run that `out` already holds.
            congestion_controls: classes of your own by the name that the scenario's flows use.
            handover_policies: a class of your own by the name that [mobility-management] uses.
            allow_programs: nodes may run the `command` that the scenario gives them.

        Raises:
            ScenarioError: the scenario is wrong, or a class of your own is.
            ResultError: the results cannot be written, or `out` exists and `force` is not set.
            OSError: the scenario cannot be read.
        """
        text, name, base_dir = read_source(source)
        self._native = _native.Simulation(
            text,
            source_name=name,
            base_dir=base_dir,
            overrides=with_traces(text, name, base_dir, override_list(set)),
            seed=seed,
            out=None if out is None else str(Path(out)),
            force=force,
            congestion_controls=congestion.makers(congestion_controls),
            handover_policies=handover_policy.makers(handover_policies),
            allow_programs=allow_programs,
        )

    @property
    def now_s(self) -> float:
        """Simulated time."""
        return self._native.now_s

    @property
    def duration_s(self) -> float:
        """Length of the run."""
        return self._native.duration_s

    @property
    def next_s(self) -> float | None:
        """When the next event is; None when there is none before the end of the run."""
        return self._native.next_s

    def advance(self, until_s: float) -> None:
        """Simulate up to and including `until_s`, and no further than the end of the run.

        Args:
            until_s: simulated time; `math.inf` for all that is left.

        Raises:
            ValueError: `until_s` is before `now_s`, or no number.
            CongestionControlError: a method of a class of your own raised; its exception is the
                cause, and `.results` has what was recorded until then. The simulation is finished.
            HandoverPolicyError: the same of a policy of handover.
            RuntimeError: the simulation is finished, or in the middle of a step.
        """
        raised = self._native.advance(until_s)
        if raised is not None:
            message, error, kind = raised
            raise own_error(kind, message, self.finish()) from error

    def finish(self) -> Results:
        """End the run where it is, and return its results.

        They are those of the whole run when `now_s` is `duration_s`; otherwise
        `Results.is_complete` is False.

        Raises:
            ResultError: the results cannot be written.
            RuntimeError: the simulation is finished, or in the middle of a step.
        """
        outcome = self._native.finish()
        results = Results.from_outcome(outcome)
        warn_of(outcome["remarks"], results)
        return results
