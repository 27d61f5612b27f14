"""A congestion control of your own, as a class.

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

A flow with `congestion-control = "aimd"` then runs it, with an instance of its own at each end of
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
    """Base of a congestion control. Inheriting is optional; the methods' names are what counts.

    The stack measures round-trip times and delivery rates, detects losses, recovers, paces and
    undoes. The class decides how large `window.cwnd` should be, and `window.ssthresh`. Windows and
    counts are in segments. A method that is not overridden costs nothing.
    """

    controls_window: bool = False
    """Whether `on_ack` sets `cwnd` in every state. The stack then does not reduce it by itself in
    recovery, which suits algorithms with a model of the path, as BBR."""

    ecn: str = "none"
    """Feedback on congestion marks that it needs, switched on by naming it: "none", "classic"
    (RFC 3168), "dctcp" (RFC 8257) or "accurate" (RFC 9768)."""

    def on_ack(self, window: Window, ack: Ack) -> None:
        """Take an ACK that acknowledges something new. Required.

        It comes after recovery has run, in every state; `ack.is_growth_due` says whether an
        algorithm that probes for bandwidth may raise `window.cwnd` now.
        """
        raise NotImplementedError

    def on_congestion(self, window: Window, event: CongestionEvent) -> None:
        """Set `window.ssthresh` to the window to go down to. Required; called once an episode.

        The stack brings `cwnd` there, or to one segment after a timeout.
        """
        raise NotImplementedError

    def on_established(self, window: Window, srtt_s: float | None) -> None:
        """Begin: the handshake is complete, and took `srtt_s` if that was measured."""

    def on_recovered(self, window: Window, time_s: float) -> None:
        """Recovery ended, and was not undone; `cwnd` already is what the stack made it."""

    def on_spurious(self, window: Window, prior: Window) -> None:
        """Undo a reduction that was a mistake; `prior` is the window before it.

        Without it neither `cwnd` nor `ssthresh` stays below what it was, as in Linux.
        """
        window.cwnd = max(window.cwnd, prior.cwnd)
        window.ssthresh = max(window.ssthresh, prior.ssthresh)

    def on_idle_restart(self, window: Window, idle_s: float) -> None:
        """Send again with nothing in flight, `idle_s` after the last segment left."""

    def on_link_info(self, window: Window, info: LinkInfo) -> None:
        """Take what a link on the path tells of itself, on a flow with `link-info`."""

    def on_sent(self, window: Window, sent: Sent) -> None:
        """A segment with data left, new or again."""


class CongestionControlError(OwnError):
    """A method of a congestion control of your own raised, which ended the run.

    Its own exception, with the traceback, is `__cause__`. `results` has what was recorded until
    then.
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
    """What the class says of itself."""
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
    """What makes the instances of each class, after the names and the classes were checked."""
    return KIND.makers(given)
