"""Comparison of a policy with built-in congestion controls: a table, and a figure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fadeout import _names
from fadeout._run import ScenarioText, Source, read_source, run
from fadeout.congestion import CongestionControl
from fadeout.gym._worlds import tables_of
from fadeout.statistics import Estimate, estimate, interval_text

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

    from fadeout.results import Results

POLICY = "policy"
"""The name of the policy in tables and figures."""


@dataclass(frozen=True)
class Row:
    """The results of a congestion control in a scenario, over all seeds."""

    scenario: str
    """The name of the scenario."""
    scheme: str
    """The name of the congestion control. "policy" for the policy."""
    goodput_mbps: Estimate
    """The delivered payload per second of the flow."""
    p95_rtt_ms: Estimate
    """The 95th percentile of the samples of the round-trip time."""
    rtt_ratio: Estimate
    """The mean round-trip time divided by the smallest one."""
    retransmitted_ratio: Estimate
    """The share of retransmitted segments among all segments."""

    def columns(self) -> dict[str, Any]:
        """Returns the columns of a table: means, and half-widths of 95 % intervals."""
        found: dict[str, Any] = {"scenario": self.scenario, "scheme": self.scheme}
        for name in ("goodput_mbps", "p95_rtt_ms", "rtt_ratio", "retransmitted_ratio"):
            value: Estimate = getattr(self, name)
            found |= {name: value.mean, f"{name}_ci95": value.ci95}
        return found


@dataclass(frozen=True)
class Evaluation:
    """Results of a policy and of other congestion controls."""

    rows: Sequence[Row]
    """A row for each scenario and congestion control."""

    @property
    def table(self) -> "pl.DataFrame":
        """All rows, with half-widths of 95 % intervals. Null if there are too few seeds."""
        import polars as pl

        return pl.DataFrame([row.columns() for row in self.rows], infer_schema_length=None)

    def __str__(self) -> str:
        head = ("scenario", "scheme", "goodput Mbit/s", "95 % RTT ms", "RTT ratio", "resent")
        cells = [head] + [
            (
                row.scenario,
                row.scheme,
                _text(row.goodput_mbps),
                _text(row.p95_rtt_ms),
                _text(row.rtt_ratio),
                _text(row.retransmitted_ratio),
            )
            for row in self.rows
        ]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = ["  ".join(map(str.ljust, line, widths)).rstrip() for line in cells]
        return "\n".join(lines)

    def plot(self, scenario: str | None = None) -> "Figure":
        """Draws goodput over the 95th percentile of the round-trip time, one mark a scheme.

        The horizontal axis is reversed, so better schemes are at the upper right. The form is that
        of Pantheon (Yan et al., USENIX ATC 2018, figure 3), with round-trip times in place of
        one-way delays. Bars are 95 % intervals.

        Args:
            scenario: the name of a scenario. Default: the first one.

        Raises:
            ValueError: there is no such scenario.
        """
        from matplotlib.figure import Figure

        names = list(dict.fromkeys(row.scenario for row in self.rows))
        chosen = names[0] if scenario is None else scenario
        if chosen not in names:
            raise ValueError(_names.unknown("scenario", chosen, names))
        figure = Figure(figsize=(4.4, 3.2), layout="constrained")
        ax = figure.subplots()
        for number, row in enumerate(row for row in self.rows if row.scenario == chosen):
            is_policy = row.scheme == POLICY
            ax.errorbar(
                row.p95_rtt_ms.mean,
                row.goodput_mbps.mean,
                xerr=row.p95_rtt_ms.ci95,
                yerr=row.goodput_mbps.ci95,
                fmt="*" if is_policy else "o",
                markersize=11 if is_policy else 6,
                color=f"C{number}",
                capsize=2,
                label=row.scheme,
            )
        ax.set_xscale("log")
        ax.invert_xaxis()
        ax.set_ylim(0, 1.1 * ax.get_ylim()[1])
        ax.margins(x=0.15)
        from matplotlib.ticker import LogLocator, NullFormatter, ScalarFormatter

        ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        ax.xaxis.set_major_formatter(ScalarFormatter())
        ax.xaxis.set_minor_formatter(NullFormatter())
        ax.set_xlabel("95th percentile of the round-trip time (ms), reversed")
        ax.set_ylabel("goodput (Mbit/s)")
        ax.set_title(chosen)
        ax.grid(alpha=0.3)
        ax.legend(fontsize=8, loc="lower left")
        return figure


def _text(value: Estimate) -> str:
    return interval_text(value.mean, value.ci95)


def evaluate(
    policy: type[CongestionControl] | Callable[..., Any],
    bench: Source | Mapping[str, Source],
    *,
    baselines: Sequence[str] = ("cubic",),
    seeds: Sequence[int] = (1, 2, 3, 4, 5),
    flow: str | None = None,
    set: Mapping[str, Any] | None = None,  # noqa: A002 - the name of `fadeout.run`
) -> Evaluation:
    """Runs a policy and built-in congestion controls in the same scenarios with the same seeds.

    Args:
        policy: the class of `fadeout.gym.controller`, or any congestion control class.
        bench: a scenario, or scenarios by their names. A dict with the key "flow" is one scenario.
        baselines: names of built-in congestion controls.
        seeds: the seeds of the runs. Fewer than five have no intervals.
        flow: the name of the flow. Default: the first flow of each scenario.
        set: values in place of the scenarios', by their dotted key.

    Returns:
        The results. `print` shows one table.

    Raises:
        ScenarioError: a scenario, a name or a class is wrong.
        ValueError: there is no such flow, or no seed.
        CongestionControlError: the policy raised an exception.
    """
    if not seeds:
        raise ValueError("seeds is empty; expected at least one seed")
    if POLICY in baselines:
        raise ValueError(f"baselines has {POLICY!r}, the name of the policy; expected other names")
    is_named = isinstance(bench, Mapping) and "flow" not in bench
    scenarios: Mapping[str, Source] = bench if is_named else {_name_of(bench): bench}  # pyright: ignore[reportAssignmentType]
    rows = []
    for name, scenario in scenarios.items():
        source = read_source(scenario)
        named = _first_flow(source) if flow is None else flow
        for scheme in (POLICY, *baselines):
            runs = [_measure(source, scheme, policy, seed, named, set or {}) for seed in seeds]
            rows.append(
                Row(name, scheme, *(estimate(values) for values in zip(*runs, strict=True)))
            )
    return Evaluation(rows)


def _name_of(scenario: Any) -> str:  # noqa: ANN401 - any source
    name = read_source(scenario).name
    return "scenario" if name.startswith("<") else name


def _measure(
    source: ScenarioText,
    scheme: str,
    policy: Callable[..., Any],
    seed: int,
    flow: str,
    replace: Mapping[str, Any],
) -> tuple[float, float, float, float]:
    """Returns the values of a `Row` for one run: goodput, 95th percentile, ratio and share."""
    results: Results = run(
        source,
        seed=seed,
        set={
            **replace,
            "probe.congestion": "every-ack",
            f"flow.{flow}.congestion-control": scheme,
        },
        congestion_controls={POLICY: policy} if scheme == POLICY else None,
    )
    row = next((it for it in results.flows.iter_rows(named=True) if it["flow"] == flow), None)
    if row is None:
        raise ValueError(_names.unknown("flow", flow, results.flows["flow"]))
    import polars as pl

    samples = results.congestion.filter(
        (pl.col("flow").cast(pl.String) == flow) & (pl.col("rtt_s") > 0)
    )["rtt_s"].to_numpy()
    p95_ms = float(np.percentile(samples, 95)) * 1e3 if len(samples) else float("nan")
    least_s, mean_s = row["min_rtt_s"], row["mean_rtt_s"]
    return (
        row["goodput_mbps"],
        p95_ms,
        mean_s / least_s if least_s else float("nan"),
        row["retransmitted_segments"] / max(1, row["sent_segments"]),
    )


def _first_flow(source: ScenarioText) -> str:
    """Returns the name of the first flow of a scenario."""
    flows = tables_of(source).get("flow")
    if not isinstance(flows, Mapping) or not flows:
        raise ValueError("the scenario has no flow; expected one with a flow of TCP")
    return next(iter(flows))
