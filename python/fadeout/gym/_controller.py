"""A policy as a congestion control of ordinary runs and campaigns."""

import json
from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from fadeout.congestion import Ack, CongestionControl, CongestionEvent, Sent, Window
from fadeout.gym._agents import Agents, agents_of

Policy = Callable[[np.ndarray], Any]
"""A function from an observation to an action, both arrays."""

SETTINGS_KEY = "fadeout"
"""Key in an ONNX file's metadata. Its value is a JSON object with arguments of `controller`."""


def controller(
    policy: str | PathLike[str] | Policy,
    *,
    preset: str | None = None,
    observation: Sequence[str] | None = None,
    history: int | None = None,
    interval: str | float | None = None,
    action: str | None = None,
    step_size: float | None = None,
) -> type[CongestionControl]:
    """Returns a policy as a class for `fadeout.run(congestion_controls={"mine": ...})`::

        Learned = fadeout.gym.controller("policy.onnx", preset="aurora", step_size=0.25)
        fadeout.run("walk.toml", set={"flow.congestion-control": "learned"},
                    congestion_controls={"learned": Learned})

    In a file, the class serves the command: `fadeout sweep walk.toml --congestion-control
    learned=my_policy.py:Learned`. The class decides at the first ACK after the end of an interval.
    The environment decides exactly at the end. Each end of a flow has an instance.

    Args:
        policy: the path of an ONNX file, or a function from an observation to an action. The file
            has one input, a batch of observations, and its first output is the actions. An action
            outside of its space is limited to it. An ONNX file needs `onnxruntime`.
        preset: the preset of the environment in which the policy was trained. Default: the value
            in the metadata of the file, or "aurora". The same holds for the other arguments.
        observation: as for `CongestionControlEnv`. A congestion control sees features only.
        history: as for `CongestionControlEnv`.
        interval: as for `CongestionControlEnv`.
        action: "rate-factor" or "window". "window-power" changes the window of another congestion
            control, so a controller cannot have it.
        step_size: as for `CongestionControlEnv`.

    Raises:
        ValueError: a name is unknown, or the policy has other sizes.
        ImportError: onnxruntime is missing.
        OSError: the file cannot be read.
    """
    given = {
        "preset": preset,
        "observation": observation,
        "history": history,
        "interval": interval,
        "action": action,
        "step_size": step_size,
    }
    decide, stored = (policy, {}) if callable(policy) else _load(Path(policy))
    unknown = [key for key in stored if key not in given]
    if unknown:
        raise ValueError(f"{policy}: unknown key {unknown[0]!r} in its metadata {SETTINGS_KEY!r}")
    settings = stored | {key: value for key, value in given.items() if value is not None}
    agents = agents_of(
        ["flow"],
        preset=settings.get("preset", "aurora"),
        observation=settings.get("observation"),
        history=settings.get("history"),
        action=settings.get("action"),
        step_size=settings.get("step_size", 0.025),
        reward=None,
        interval=settings.get("interval"),
        steps=None,
    )
    if agents.action == "window-power":
        raise ValueError(
            'the action "window-power" changes the window of another congestion control; expected '
            '"rate-factor" or "window", or an evaluation in the environment'
        )
    of_runs = [name for name in agents.observation if "." in name]
    if of_runs:
        raise ValueError(
            f"the policy observes {of_runs[0]!r}, and a congestion control sees features only; "
            "expected features, or an evaluation in the environment"
        )
    agents.decider()  # Raises if a feature is unknown.
    _try(decide, agents, str(policy))

    class Controller(_Controller):
        """A policy as a congestion control."""

        def __init__(self) -> None:
            super().__init__(decide, agents)

    return Controller


def _try(decide: Policy, agents: Agents, label: str) -> None:
    """Raises unless the policy accepts an observation and returns one action."""
    try:
        action = np.asarray(decide(np.ones(agents.values, np.float32)), np.float64)
    except Exception as error:
        raise ValueError(
            f"{label}: the policy does not accept an observation of {agents.values} values: {error}"
        ) from error
    if action.size != 1:
        raise ValueError(f"{label}: the policy returns {action.size} values; expected one action")


def _load(path: Path) -> tuple[Policy, dict[str, Any]]:
    """Returns the function and the settings of an ONNX file."""
    try:
        import onnxruntime
    except ImportError as error:
        raise ImportError(
            'a policy in a file needs onnxruntime; install it with pip install "fadeout[gym]"'
        ) from error
    data = path.read_bytes()
    options = onnxruntime.SessionOptions()
    # One thread has the same sums on every number of processors, and is faster for small policies.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    try:
        session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise ValueError(f"{path} is no ONNX file: {error}") from error
    inputs = session.get_inputs()
    if len(inputs) != 1:
        raise ValueError(f"{path} has {len(inputs)} inputs; expected one, the observations")
    name, output = inputs[0].name, session.get_outputs()[0].name
    stored = session.get_modelmeta().custom_metadata_map.get(SETTINGS_KEY, "{}")
    try:
        settings = dict(json.loads(stored))
    except ValueError as error:
        raise ValueError(f"{path}: its metadata {SETTINGS_KEY!r} is no JSON object") from error

    def decide(observation: np.ndarray) -> np.ndarray:
        return np.asarray(session.run([output], {name: observation[None]})[0])

    return decide, settings


class _Controller(CongestionControl):
    """An instance of a policy at an end of a flow.

    The compiled module measures and carries out actions with the code of the environments.
    """

    controls_window = True

    def __init__(self, decide: Policy, agents: Agents) -> None:
        self._decide, self._decider = decide, agents.decider()
        self._ends_s: float | None = None
        self._sent = self._delivered = self._lost = self._samples = 0
        self._rtt_sum_s = 0.0
        self._cwnd = 10.0

    def on_sent(self, window: Window, sent: Sent) -> None:  # noqa: ARG002
        """Counts a segment."""
        self._sent += 1

    def on_ack(self, window: Window, ack: Ack) -> None:
        """Counts, and decides at the end of an interval."""
        self._delivered += ack.delivered_now
        self._lost += ack.lost_now
        if ack.rtt_s is not None:
            self._rtt_sum_s += ack.rtt_s
            self._samples += 1
        if self._ends_s is None:
            # As in the environment, the first interval begins with the first round-trip time.
            if ack.srtt_s is not None:
                self._read(window, ack)
                self._steer(window, None)
        elif ack.time_s >= self._ends_s:
            self._read(window, ack)
            observation = np.array(self._decider.observation(), np.float32)
            action = float(np.asarray(self._decide(observation)).reshape(-1)[0])
            if action != action:
                raise ValueError(f"the policy's action is NaN for the observation {observation}")
            self._steer(window, min(max(action, -1.0), 1.0))
        window.cwnd = self._cwnd

    def on_congestion(self, window: Window, event: CongestionEvent) -> None:  # noqa: ARG002
        """Keeps the window."""
        window.ssthresh = max(2.0, self._cwnd)

    def on_established(self, window: Window, srtt_s: float | None) -> None:  # noqa: ARG002
        """Takes over the initial window."""
        self._cwnd = window.cwnd

    def _read(self, window: Window, ack: Ack) -> None:
        """Ends an interval and begins the next."""
        self._decider.read(
            time_s=ack.time_s,
            sent_segments=self._sent,
            delivered_segments=self._delivered,
            lost_segments=self._lost,
            rtt_sum_s=self._rtt_sum_s,
            rtt_samples=self._samples,
            min_rtt_s=ack.min_rtt_s or 0.0,
            mss_bytes=window.mss_bytes,
            cwnd=window.cwnd,
            in_flight=ack.in_flight,
            pacing_mbps=ack.pacing_rate_mbps or 0.0,
            srtt_s=ack.srtt_s or 0.0,
        )
        self._ends_s = ack.time_s + self._decider.interval_s

    def _steer(self, window: Window, action: float | None) -> None:
        """Carries out an action, or takes over the rate and the window before the first one."""
        rate_mbps, cwnd = self._decider.decide(action)
        if rate_mbps is not None:
            window.pacing_rate_mbps = rate_mbps
        if cwnd is not None:
            self._cwnd = cwnd
