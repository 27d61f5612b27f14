"""User-written congestion controls, as classes.

    from fadeout import CongestionControl, run

    class Aimd(CongestionControl):
        def __init__(self, increase=1.0, decrease=0.5):
            self.increase, self.decrease = increase, decrease

        def on_ack(self, window, ack):
            if ack.is_growth_due:
                slow = window.in_slow_start
                share = 1 if slow else self.increase / window.cwnd
                window.cwnd += share * ack.delivered_now

        def on_congestion(self, window, event):
            flight = min(event.flight_size, window.cwnd)
            window.ssthresh = max(flight * self.decrease, 2)

    run("my.toml", congestion_controls={"aimd": Aimd})

A flow with `congestion-control = "aimd"` runs it, with an instance of its own at each end of
each flow or path. `congestion-control = { name = "aimd", increase = 2 }` calls `Aimd(increase=2)`.
"""

from collections.abc import Callable, Mapping
from typing import Any

from fadeout._instances import Maker, OwnError, OwnKind
from fadeout._native import (
    Ack,
    CongestionEvent,
    LinkInfo,
    RateSample,
    ScenarioError,
    Sent,
    Window,
)

__all__ = [
    "Ack",
    "CongestionControl",
    "CongestionControlError",
    "CongestionEvent",
    "LinkInfo",
    "RateSample",
    "Sent",
    "Window",
]


class CongestionControl:
    """Base class of a congestion control. Inheriting is optional, as only the methods' names count.

    The stack measures round-trip times and delivery rates, detects losses, recovers, paces and
    undoes. The class sets `window.cwnd` and `window.ssthresh`. Windows and counts are in segments.
    A method that is not overridden costs no time.
    """

    controls_window: bool = False
    """True if `on_ack` sets `cwnd` in every state. The stack then does not reduce the window in
    recovery, which suits algorithms with a model of the path, such as BBR.
    """

    ecn: str = "none"
    """ECN feedback that the algorithm needs, which switches it on: "none", "classic" (RFC 3168),
    "dctcp" (RFC 8257) or "accurate" (RFC 9768).
    """

    def on_ack(self, window: Window, ack: Ack) -> None:
        """Processes an ACK that acknowledges new data. Required.

        The stack calls this method in every state, after the recovery code. `ack.is_growth_due`
        says whether an algorithm that probes for bandwidth may increase `window.cwnd` now.
        """
        raise NotImplementedError

    def on_congestion(self, window: Window, event: CongestionEvent) -> None:
        """Sets `window.ssthresh` to the window after the reduction. Required. Called once in an
        episode.

        The stack then moves `cwnd` there, or to one segment after a timeout.
        """
        raise NotImplementedError

    def on_established(self, window: Window, srtt_s: float | None) -> None:
        """Processes the end of the handshake, which took `srtt_s` if that was measured."""

    def on_recovered(self, window: Window, time_s: float) -> None:
        """Processes the end of a recovery that was not undone. The stack has set `cwnd` already."""

    def on_spurious(self, window: Window, prior: Window) -> None:
        """Undoes a spurious reduction. `prior` is the window before the reduction.

        Without this method, `cwnd` and `ssthresh` return at least to their values before, as in
        Linux.
        """
        window.cwnd = max(window.cwnd, prior.cwnd)
        window.ssthresh = max(window.ssthresh, prior.ssthresh)

    def on_idle_restart(self, window: Window, idle_s: float) -> None:
        """Processes a restart with nothing in flight, `idle_s` after the last segment was sent."""

    def on_link_info(self, window: Window, info: LinkInfo) -> None:
        """Processes a notice of a link on the path, for a flow with `link-info`."""

    def on_sent(self, window: Window, sent: Sent) -> None:
        """Processes the sending of a data segment, new or retransmitted."""


class CongestionControlError(OwnError):
    """A method of a user-written congestion control raised an exception, which ended the run.

    The exception, with its traceback, is `__cause__`. `results` has the results until then.
    """


REQUIRED = ("on_ack", "on_congestion")
OPTIONAL = (
    "on_established",
    "on_recovered",
    "on_spurious",
    "on_idle_restart",
    "on_link_info",
    "on_sent",
)
FEEDBACK = ("none", "classic", "dctcp", "accurate")


def _says(name: str, label: str, instance: Any) -> dict[str, Any]:  # noqa: ANN401 - any class
    """Returns the properties that the class declares."""
    ecn = getattr(instance, "ecn", "none")
    if ecn not in FEEDBACK:
        raise ScenarioError(
            f"congestion control '{name}': {label}.ecn is {ecn!r}; "
            f"expected one of {', '.join(FEEDBACK)}"
        )
    return {"ecn": ecn, "controls_window": bool(getattr(instance, "controls_window", False))}


KIND = OwnKind(
    "congestion-control", "congestion_controls", CongestionControl, REQUIRED, OPTIONAL, _says
)


def makers(given: Mapping[str, Callable[..., Any]] | None) -> dict[str, Maker]:
    """Returns the functions that make the instances of each class, after checks of names and
    classes.
    """
    return KIND.makers(given)
