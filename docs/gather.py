"""Pages that are put together: what is not modelled, the gallery, the Python reference."""

import inspect
import re
import sys
from pathlib import Path
from types import ModuleType

from sphinx.pycode import ModuleAnalyzer

import fadeout
from fadeout import campaign, congestion, plot, predictions, study

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
SCENARIOS = ROOT / "scenarios"
GRID = "::::::{grid} 1 1 2 2\n:gutter: 3"

LAYERS = {
    "Transport": [
        "models/tcp",
        "models/congestion-control",
        "models/multipath",
        "models/traffic",
    ],
    "Links and queues": ["models/links", "models/queues", "models/blockage", "models/rabs"],
    "Channel": [
        "models/deployment",
        "models/channel",
        "models/antennas",
        "models/mobility",
        "models/vehicles",
    ],
    "Radio access": [
        "models/radio-access",
        "models/handover",
        "models/phy",
        "models/mac",
        "models/rlc",
        "models/pdcp",
    ],
    "Captures": ["radio-captures"],
}
"""The pages that say what they leave out, from top to bottom."""

LIMITS = re.compile(r"^## (?:(?:What is n|N)ot modelled|Limits)\n(.*?)(?=^## |\Z)", re.M | re.S)
TITLE = re.compile(r"^# (.+)$", re.M)

FIGURES = {
    "city-download": ["map", "completions"],
    "dual-connectivity": ["legs", "handover"],
    "en-dc": ["handover", "legs"],
    "handover": ["handover"],
    "interruption": ["datagrams", "latency"],
    "lte-download": ["delay"],
    "motorway": ["map", "handover"],
    "mmwave-walk": ["sinr", "overview", "delay"],
    "multipath-outage": ["throughput"],
    "multipath-wifi-lte": ["throughput"],
    "street-canyon": ["map", "sinr"],
}
"""Figures of the scenarios that say most in another than the overview."""

STUDIES = {
    "blockage": ("curve", "What a blockage costs, by its length"),
    "calibration": ("tr38901", "Coupling loss and geometry beside 3GPP's calibration"),
    "congestion-controls": ("overview", "Congestion controls on five links"),
    "fallback": ("silence", "Remedies of a broken 38 GHz beam, by the length of blockages"),
    "link-retransmission": ("bulk", "TCP over 28 GHz with and without retransmissions of the link"),
    "mobility": (
        "speeds",
        "Handover failures and ping-pongs among macro cells and picos, by speed",
    ),
    "multipath": ("distance", "28 GHz with LTE or 73 GHz, by distance"),
    "slow-start": ("table1", "Downloads over LTE with short intervals"),
    "vehicular": ("throughput", "Cars under 28 GHz: throughput of several senders over load"),
}
"""A figure of each study, and what it shows."""


def limits() -> str:
    """What each layer leaves out, from the layers' own pages."""
    parts = []
    for layer, pages in LAYERS.items():
        parts.append(f"## {layer}")
        for page in pages:
            parts += left_out(page)
    parts.append("## Single algorithms")
    for path in sorted((DOCS / "algorithms").glob("*.md")):
        parts += left_out(f"algorithms/{path.stem}")
    return "\n\n".join(parts) + "\n"


def left_out(page: str) -> list[str]:
    """The section of `page` on what is not modelled, as a section of its own."""
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    title, found = TITLE.search(text), LIMITS.search(text)
    if title is None or found is None:
        if page.startswith("algorithms/"):
            return []
        raise ValueError(f"{page}.md does not say what is not modelled")
    folder = page.rpartition("/")[0]
    # Links of the page start from its folder.
    body = re.sub(r"\]\((?![a-z]+:|#|\.\./)", f"]({folder}/" if folder else "](", found[1].strip())
    body = re.sub(r"\{doc\}`(?!/)", f"{{doc}}`/{folder}/" if folder else "{doc}`/", body)
    return [f"### [{title[1]}]({page}.md)", body.replace("](../", "](")]


def gallery(folder: Path) -> str:
    """Every scenario of the repository with its figures, drawn anew into `folder`."""
    parts = [
        "# Gallery",
        "Every figure with what makes it. Those of the scenarios were drawn when the documentation "
        "was built; those of the studies take minutes to hours, and are from the runs that the "
        "study's page shows.",
        "## Scenarios",
        GRID,
        *(scenario(path, folder / "gallery") for path in sorted(SCENARIOS.glob("*.toml"))),
        "::::::",
        "## Studies",
        GRID,
        *(study_card(name, *shown) for name, shown in STUDIES.items()),
        "::::::",
    ]
    return "\n\n".join(parts) + "\n"


def scenario(path: Path, folder: Path) -> str:
    """A card of the gallery: the question, the figures, the command, the file."""
    text = path.read_text(encoding="utf-8")
    comment = re.match(r"(?:#.*\n)+", text)
    lines = [line.lstrip("# ") for line in comment[0].splitlines()] if comment else []
    question = " ".join(lines).split(" Try:")[0].strip()
    results = fadeout.run(path)
    title = results.manifest["scenario"]["title"]
    drawn = results.plot.save(folder / path.stem, FIGURES.get(path.stem, ["overview"]))
    figures = [f"![{title}: {file.stem}](gallery/{path.stem}/{file.name})" for file in drawn]
    source = f"```{{literalinclude}} ../../scenarios/{path.name}\n:language: toml\n```"
    return "\n\n".join(
        [
            f":::::{{grid-item-card}} {title}",
            question,
            *figures,
            f"```console\n$ fadeout run scenarios/{path.name}\n```",
            f"::::{{dropdown}} scenarios/{path.name}\n{source}\n::::",
            ":::::",
        ]
    )


def study_card(name: str, figure: str, text: str) -> str:
    """A card of the gallery for a study."""
    return (
        f":::::{{grid-item-card}} [{text}](../studies/{name}.md)\n\n"
        f"![{text}](../studies/results/{name}/figures/{figure}.png)\n\n"
        f"```console\n$ fadeout study {name}\n```\n:::::"
    )


def api() -> str:
    """The Python reference, from the docstrings of everything public."""
    parts = [
        "# Python reference",
        "Everything public, from its docstrings. Tables of results are attributes of `Results`; "
        "their columns are on [a page of their own](tables.md). Names that begin with an "
        "underscore may change at any time.",
        "## fadeout",
        *members(fadeout, fadeout.__all__),
        "## Figures",
        "`results.plot` is one of these.",
        *members(plot, plot.__all__),
        "## Predictions",
        "When paths of a run will be cut, from what its cars reported.",
        *members(predictions, predictions.__all__),
        "## Campaigns",
        *members(campaign, [n for n in campaign.__all__ if n not in fadeout.__all__]),
        "## What a congestion control sees",
        *members(congestion, [n for n in congestion.__all__ if n not in fadeout.__all__]),
        "## Studies",
        "[Writing a study](../studies/writing.md) shows how they fit together.",
        *members(study, study.__all__),
    ]
    return "\n\n".join(parts) + "\n"


def members(module: ModuleType, names: list[str]) -> list[str]:
    """Directives for what `module` exports under `names`."""
    found = []
    for name in names:
        if name.startswith("__"):
            continue
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
        found.append(f"```{{eval-rst}}\n.. {kind}:: {where}.{name}{options}\n```")
    return found


def described_in(package: str, name: str) -> str:
    """The module of `package` that says what its constant `name` is."""
    for module in [package, *(key for key in sys.modules if key.startswith(f"{package}."))]:
        if ("", name) in ModuleAnalyzer.for_module(module).find_attr_docs():
            return module
    raise ValueError(f"{package}.{name} has no docstring")
