"""Runs in steps."""

from os import PathLike
from pathlib import Path

from fadeout import _native, congestion, handover_policy
from fadeout._port import PortEnd
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

    A run in steps has the same results as the same run at once, bit for bit. A call during a step,
    from another thread or from a method of a congestion control, raises RuntimeError.
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
        """Builds the world of a scenario, at the start of the run.

        Args:
            source: the path of a scenario file, its TOML text, or the scenario as a dict.
            seed: the seed, in place of the scenario's.
            set: values in place of the scenario's, as in `fadeout.run`.
            out: the folder for the results, as Parquet. Default: the results stay in memory.
            force: replace a run in `out`.
            congestion_controls: user-written classes by the name that the scenario's flows use.
            handover_policies: a user-written class by the name that [mobility-management] uses.
            allow_programs: let nodes run the `command` that the scenario gives them.

        Raises:
            ScenarioError: the scenario, or a user-written class, is wrong.
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
        self._is_finished = False

    @property
    def now_s(self) -> float:
        """The simulated time in seconds."""
        return self._native.now_s

    @property
    def duration_s(self) -> float:
        """The length of the run in seconds."""
        return self._native.duration_s

    @property
    def next_s(self) -> float | None:
        """The time of the next event. None if there is none before the end of the run."""
        return self._native.next_s

    def advance(self, until_s: float) -> None:
        """Simulates up to and including `until_s`, at most to the end of the run.

        Args:
            until_s: simulated time in seconds. `math.inf` simulates to the end.

        Raises:
            ValueError: `until_s` is before `now_s`, or not a number.
            CongestionControlError: a method of a user-written congestion control raised an
                exception, which is the cause. `.results` has the results until then. The
                simulation is finished.
            HandoverPolicyError: a method of a user-written handover policy raised an exception,
                which is the cause. `.results` has the results until then. The simulation is
                finished.
            RuntimeError: the simulation is finished, or in the middle of a step.
        """
        self._check_own(self._native.advance(until_s))

    def _check_own(self, raised: tuple[str, BaseException, str] | None) -> None:
        if raised is not None:
            message, error, kind = raised
            raise own_error(kind, message, self.finish()) from error

    @property
    def is_finished(self) -> bool:
        """True after `finish`, and after an exception of a user-written class."""
        return self._is_finished

    @property
    def ports(self) -> list[str]:
        """The names of the flows with `transport = "port"`, in the order of the scenario."""
        return self._native.ports()

    def port(self, flow: str) -> tuple[PortEnd, PortEnd]:
        """Returns the two ends of a flow with `transport = "port"`.

        Args:
            flow: the name of the flow.

        Returns:
            The end at the node `from` of the flow, and the end at its node `to`. Each can send to
            the other.

        Raises:
            ValueError: there is no such flow, or it has another transport.
            RuntimeError: the simulation is finished, or in the middle of a step.
        """
        one, other = self._native.port(flow)
        return PortEnd(self._native, one), PortEnd(self._native, other)

    def advance_to_arrival(self, until_s: float) -> float | None:
        """Simulates to the first arrival at an end of a port, at most up to `until_s`.

        Datagrams that arrived before the call do not end it, even if they were not received. Call
        `receive` of each end first. Several datagrams may arrive at the same time, and some of them
        only in the next call.

        Args:
            until_s: simulated time in seconds. `math.inf` simulates to the end.

        Returns:
            The time of the arrival in seconds, which is now the present time. None if nothing
            arrived by `until_s`.

        Raises:
            ValueError: `until_s` is before `now_s`, or not a number.
            CongestionControlError: as for `advance`.
            HandoverPolicyError: as for `advance`.
            RuntimeError: the simulation is finished, or in the middle of a step.
        """
        arrived_s, raised = self._native.advance_to_arrival(until_s)
        self._check_own(raised)
        return arrived_s

    def finish(self) -> Results:
        """Ends the run at the present time, and returns its results.

        `Results.is_complete` is True only if `now_s` is `duration_s`.

        Raises:
            ResultError: the results cannot be written.
            RuntimeError: the simulation is finished, or in the middle of a step.
        """
        outcome = self._native.finish()
        self._is_finished = True
        results = Results.from_outcome(outcome)
        warn_of(outcome["remarks"], results)
        return results
