"""The Python reference: one page for each topic, from the docstrings of all public names."""

import inspect
import sys
from importlib.util import find_spec
from types import ModuleType
from typing import NamedTuple

from sphinx.pycode import ModuleAnalyzer

import fadeout
from fadeout import campaign, congestion, handover_policy, plot, predictions, report, study, trace


class Topic(NamedTuple):
    """A page of the reference."""

    page: str
    title: str
    summary: str
    """The first paragraph of the page, and its line in the list of pages."""
    names: tuple[str, ...]
    """Names of `fadeout` on the page."""
    module: ModuleType | None = None
    """Module whose other public names are on the page too."""


TOPICS: tuple[Topic, ...] = (
    Topic(
        "api-run",
        "Running scenarios",
        "Check a scenario, run it at once, or run it in steps. [Observations and "
        "settings](observations.md) lists the values that a run in steps observes and sets.",
        ("run", "check", "Simulation", "Interrupted"),
    ),
    Topic(
        "api-results",
        "Results",
        "Tables of results are attributes of `Results`. [Their columns](tables.md) are on a page "
        "of their own. The functions make further tables from a run.",
        ("Results", "by_ue", "by_cell", "losses", "leg_shares", "handover_metrics"),
    ),
    Topic(
        "api-ports",
        "Ports",
        "Datagrams between a program and a simulation. "
        "[A guide](../howto/own-protocol.md) shows their use.",
        ("PortEnd", "Arrival", "asyncio_loop"),
    ),
    Topic("api-figures", "Figures", "`results.plot` is a `Plots` object.", (), plot),
    Topic(
        "api-reports",
        "Reports",
        "One HTML file of a run or a campaign. [A guide](../howto/report.md) shows its use.",
        (),
        report,
    ),
    Topic(
        "api-traces",
        "Traces for Perfetto",
        "A run as a file for the viewer Perfetto. [A guide](../howto/perfetto.md) shows its use.",
        (),
        trace,
    ),
    Topic(
        "api-campaigns",
        "Campaigns",
        "Many runs over points and seeds. [Campaigns](../campaigns.md) explains them.",
        ("sweep", "Campaign"),
        campaign,
    ),
    Topic(
        "api-congestion",
        "Congestion controls",
        "The base class of your own congestion control, and the objects that its methods get. "
        "[A guide](../custom-congestion-control.md) has an example.",
        ("CongestionControl",),
        congestion,
    ),
    Topic(
        "api-handover",
        "Handover policies",
        "The base class of your own handover policy, and the objects that its methods get. "
        "[A guide](../custom-handover-policy.md) has an example.",
        ("HandoverPolicy",),
        handover_policy,
    ),
    Topic(
        "api-geometry",
        "Places and sights",
        "Positions, movement, and the state of paths, without a run.",
        ("geometry", "tracks", "sights"),
    ),
    Topic(
        "api-predictions",
        "Predictions of blockages",
        "The times at which paths of a run will be cut, predicted from the reports of its cars.",
        (),
        predictions,
    ),
    Topic(
        "api-errors",
        "Errors",
        "Every error of the package is a `FadeoutError`.",
        (
            "FadeoutError",
            "ScenarioError",
            "ResultError",
            "CongestionControlError",
            "HandoverPolicyError",
            "PortError",
            "SettingError",
            "EngineBug",
        ),
    ),
    Topic(
        "api-studies",
        "Studies",
        "The framework of studies. [Writing a study](../studies/writing.md) shows its use.",
        (),
        study,
    ),
)


# The build of the documentation has Gymnasium. A test without it makes the other pages.
if find_spec("gymnasium") is not None:
    from fadeout import gym

    TOPICS += (
        Topic(
            "api-gym",
            "Learning",
            "Environments for reinforcement learning, and policies as congestion controls. "
            "[A guide](../howto/learning.md) shows their use.",
            (),
            gym,
        ),
    )


def pages() -> dict[str, str]:
    """Returns the text of each page of the reference, by its name."""
    listed = {name for topic in TOPICS for name in topic.names}
    missing = set(fadeout.__all__) - listed - {"__version__"}
    if missing:
        raise ValueError(f"docs/reference.py: no topic names {', '.join(sorted(missing))}")
    return {"api": contents()} | {topic.page: page(topic, listed) for topic in TOPICS}


def contents() -> str:
    """Returns the first page: the list of the others."""
    rows = [f"| [{topic.title}]({topic.page}.md) | {topic.summary} |" for topic in TOPICS]
    tree = "\n".join(topic.page for topic in TOPICS)
    return "\n\n".join(
        [
            "# Python reference",
            "Everything public, from its docstrings. Names that begin with an underscore may "
            "change at any time.",
            "\n".join(["| page | contents |", "|---|---|", *rows]),
            f"```{{toctree}}\n:hidden:\n\n{tree}\n```\n",
        ]
    )


def page(topic: Topic, listed: set[str]) -> str:
    """Returns a page: the names of its topic, then the other names of its module."""
    parts = [f"# {topic.title}", topic.summary]
    parts += [directive(fadeout, name) for name in topic.names]
    if topic.module is not None:
        others = [name for name in topic.module.__all__ if name not in listed]
        parts += [directive(topic.module, name) for name in others]
    return "\n\n".join(parts) + "\n"


def directive(module: ModuleType, name: str) -> str:
    """Returns the directive that documents `name` of `module`."""
    value = getattr(module, name)
    where, options = module.__name__, ""
    if inspect.isclass(value):
        kind = "autoexception" if issubclass(value, BaseException) else "autoclass"
        options = "\n   :members:"
    elif callable(value):
        kind = "autofunction"
    elif inspect.ismodule(value):
        kind, options = "automodule", "\n   :members:"
    else:
        kind, where, options = "autodata", described_in(where, name), "\n   :no-value:"
    return f"```{{eval-rst}}\n.. {kind}:: {where}.{name}{options}\n```"


def described_in(package: str, name: str) -> str:
    """Returns the module of `package` with the docstring of its constant `name`."""
    for module in [package, *(key for key in sys.modules if key.startswith(f"{package}."))]:
        if ("", name) in ModuleAnalyzer.for_module(module).find_attr_docs():
            return module
    raise ValueError(f"{package}.{name} has no docstring")
