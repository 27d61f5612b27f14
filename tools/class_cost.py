"""Measures the cost of a congestion control in Python, compared with the same one built in.

    python tools/class_cost.py

Prints processor time for each ACK: the best of several runs. docs/custom-congestion-control.md has
the numbers of one machine.
"""

import time
from collections.abc import Callable

import fadeout
from fadeout import CongestionControl

SCENARIO = """
duration = "20 s"
[link.bottleneck]
from = "server"
to = "client"
rate = "200 Mbit/s"
delay = "10 ms"
queue.limit = "200 packets"
[flow.own]
from = "server"
to = "client"
congestion-control = "{}"
"""
RUNS = 7


class NewReno(CongestionControl):
    """A copy of the built-in `newreno`."""

    def on_ack(self, window, ack):  # noqa: ANN001, ANN201 - as a user writes it
        """Increases the window."""
        if not ack.is_growth_due or ack.acked == 0:
            return
        if window.in_slow_start:
            window.cwnd += 1
        else:
            window.cwnd += 1 / window.cwnd

    def on_congestion(self, window, event):  # noqa: ANN001, ANN201
        """Halves the window."""
        window.ssthresh = max(min(event.flight_size, window.cwnd) * 0.5, 2)


class Counting(NewReno):
    """NewReno that also counts ACKs."""

    acks = 0

    def on_ack(self, window, ack):  # noqa: ANN001, ANN201
        """Counts the ACK."""
        Counting.acks += 1
        super().on_ack(window, ack)


class WithEmptyCall(NewReno):
    """NewReno with one more method, which is called for each sent segment and does nothing."""

    def on_sent(self, window, sent):  # noqa: ANN001, ANN201
        """Does nothing."""


def main() -> None:
    """Measures and prints the costs."""
    own(Counting)
    built_in_s, expected = best(lambda: fadeout.run(SCENARIO.format("newreno")))
    python_s, results = best(lambda: own(NewReno))
    more_s, with_call = best(lambda: own(WithEmptyCall))
    assert expected.fingerprint == results.fingerprint == with_call.fingerprint
    sent = with_call.flows["sent_segments"].item()
    print(f"whole run, built-in newreno: {built_in_s / Counting.acks * 1e9:.0f} ns an ACK")
    print(f"whole run, NewReno in Python: {python_s / Counting.acks * 1e9:.0f} ns an ACK")
    print(f"a call that does nothing: {(more_s - python_s) / sent * 1e9:.0f} ns")


def own(cls: type) -> fadeout.Results:
    """Returns the processor time of a run with `cls`."""
    return fadeout.run(SCENARIO.format("own"), congestion_controls={"own": cls})


def best(run: Callable[[], fadeout.Results]) -> tuple[float, fadeout.Results]:
    """Returns the least processor time of several runs, and the value that each of them
    returned.
    """
    results = run()
    times = []
    for _ in range(RUNS):
        start = time.thread_time()
        run()
        times.append(time.thread_time() - start)
    return min(times), results


if __name__ == "__main__":
    main()
