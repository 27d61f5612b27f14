"""Runs in steps."""

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


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
        self._observed: dict[tuple[str, ...], _native.Observations] = {}
        self._settings: dict[str, _native.Setting] = {}

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

    def observe(
        self, names: Sequence[str], out: "npt.NDArray[np.float64] | None" = None
    ) -> "npt.NDArray[np.float64]":
        """Returns values of the run at the present simulated time::

            simulation.observe(["flow.download.srtt_s", "ue.phone.sinr_db", "link.core.delay_s"])

        A name is `KIND.NAME.VALUE`. `fadeout list observations` lists the values, which have the
        names and units of the columns of tables. A UE, a bearer or a cell without `/uplink` is its
        downlink. An observation changes nothing, also not the results.

        Names are looked up in the first call only. Later calls with the same names take less than
        a microsecond for a few values.

        Args:
            names: the names of the values.
            out: an array for the values, which is returned. Default: a new array.

        Returns:
            The values in the order of `names`, float64. True is 1. A value that does not exist yet
            is NaN, such as the SINR before the first transport block of the UE.

        Raises:
            ValueError: there is no such value, or `out` has another shape or type.
            RuntimeError: the simulation is finished, or in the middle of a step.
        """
        key = tuple(names)
        handles = self._observed.get(key)
        if handles is None:
            if isinstance(names, str):
                raise ValueError(f"names is the text {names!r}; expected a list of names")
            handles = self._observed[key] = self._native.observations(list(key))
        if out is None:
            import numpy as np

            out = np.empty(len(key))
        self._native.observe(handles, out)
        return out

    def set(self, name: str, value: float | str) -> None:
        """Changes a value of the run at the present simulated time::

            simulation.set("flow.download.pacing_rate_mbps", 20)
            simulation.set("ue.phone.cell", "east")

        `fadeout list observations` lists the values that can be set. A run with the same changes at
        the same times has the same results, bit for bit.

        Args:
            name: the name of the value, `KIND.NAME.VALUE`.
            value: the new value in the unit of the name. For the cell of a UE, the name of the cell
                or its number in the order of the scenario.

        Raises:
            ValueError: there is no such value, or `value` is out of its range.
            SettingError: the run cannot change the value now. The message gives the reason, such
                as a flow that has not started. Nothing has changed.
            RuntimeError: the simulation is finished, or in the middle of a step.
        """
        setting = self._settings.get(name)
        if setting is None:
            setting = self._settings[name] = self._native.setting(name)
        if isinstance(value, str):
            if not name.endswith(".cell"):
                raise ValueError(f"{name} is set to the text {value!r}; expected a number")
            value = self._native.cell_number(name, value)
        self._native.set(setting, value)

    def _check_own(self, raised: tuple[str, BaseException, str] | None) -> None:
        if raised is not None:
            message, error, kind = raised
            raise own_error(kind, message, self.finish()) from error

    @property
    def is_finished(self) -> bool:
        """True after `finish`, and after an exception of a user-written class or an `EngineBug`."""
        return self._native.is_finished

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
        results = Results.from_outcome(outcome)
        warn_of(outcome["remarks"], results)
        return results
