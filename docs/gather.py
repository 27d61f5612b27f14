"""Pages that are collected from other sources: the limits of each layer, and the gallery."""

import re
from pathlib import Path

import fadeout

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
SCENARIOS = ROOT / "scenarios"
GRID = "::::::{grid} 1 1 2 2\n:gutter: 3"

LAYERS = {
    "Transport": [
        "models/tcp",
        "models/congestion-control",
        "models/multipath",
        "models/quic",
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
"""The pages with a section on limits, from the top layer to the bottom."""

LIMITS = re.compile(r"^## (?:(?:What is n|N)ot modelled|Limits)\n(.*?)(?=^## |\Z)", re.M | re.S)
TITLE = re.compile(r"^# (.+)$", re.M)

ORDER = (
    "clean-link",
    "lossy-link",
    "competing-flows",
    "on-off",
    "blockage",
    "multipath-wifi-lte",
    "multipath-outage",
    "inter-rat",
    "hspa-download",
    "lte-download",
    "n78-tdd",
    "drive-test",
    "mmwave-walk",
    "mmwave-vehicle",
    "n261-tdd",
    "city-download",
    "handover",
    "interruption",
    "daps",
    "ltm",
    "to-3g",
    "attach",
    "dual-connectivity",
    "en-dc",
    "motorway",
    "street-canyon",
)
"""The scenarios from simple to rich: links, one cell, several cells, several legs, vehicles."""

FIGURES = {
    "city-download": ["map", "completions"],
    "dual-connectivity": ["legs", "handover"],
    "en-dc": ["handover", "legs"],
    "handover": ["map", "handover-1"],
    "interruption": ["datagrams", "latency"],
    "lte-download": ["delay"],
    "motorway": ["map", "handover-1"],
    "mmwave-walk": ["sinr", "overview", "delay"],
    "multipath-outage": ["throughput"],
    "multipath-wifi-lte": ["throughput"],
    "street-canyon": ["map", "sinr"],
}
"""Figures of the scenarios that another figure than the overview shows best."""

STUDIES = {
    "blockage": ("curve", "Cost of a blockage, by its length"),
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
"""A figure of each study, and its caption."""


def limits() -> str:
    """Returns the limits of each layer, from the layers' own pages."""
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
    """Returns the section on limits of `page`, as a section of its own."""
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    title, found = TITLE.search(text), LIMITS.search(text)
    if title is None or found is None:
        if page.startswith("algorithms/"):
            return []
        raise ValueError(f"{page}.md has no section on its limits")
    folder = page.rpartition("/")[0]
    # Links of the page start from its folder.
    body = re.sub(r"\]\((?![a-z]+:|#|\.\./)", f"]({folder}/" if folder else "](", found[1].strip())
    body = re.sub(r"\{doc\}`(?!/)", f"{{doc}}`/{folder}/" if folder else "{doc}`/", body)
    return [f"### [{title[1]}]({page}.md)", body.replace("](../", "](")]


def gallery(folder: Path | None) -> str:
    """Returns every scenario of the repository, with figures drawn into `folder` if given."""
    parts = [
        "# Gallery",
        "Every figure with its command, from simple scenarios to rich ones. The figures of the "
        "scenarios were drawn when the documentation was built. The figures of the studies take "
        "minutes to hours, and are from the runs on the study's page.",
        "## Scenarios",
        GRID,
        *(scenario(path, folder) for path in ordered()),
        "::::::",
        "## Studies",
        GRID,
        *(study_card(name, *shown) for name, shown in STUDIES.items()),
        "::::::",
    ]
    return "\n\n".join(parts) + "\n"


def ordered() -> list[Path]:
    """Returns the scenario files in the order of the gallery."""
    there = {path.stem: path for path in SCENARIOS.glob("*.toml")}
    if there.keys() != set(ORDER):
        wrong = ", ".join(sorted(there.keys() ^ set(ORDER)))
        raise ValueError(f"docs/gather.py: ORDER and scenarios/ differ in {wrong}")
    return [there[name] for name in ORDER]


def scenario(path: Path, folder: Path | None) -> str:
    """Returns a card of the gallery: the question, the figures, the command, the file."""
    text = path.read_text(encoding="utf-8")
    comment = re.match(r"(?:#.*\n)+", text)
    lines = [line.lstrip("# ") for line in comment[0].splitlines()] if comment else []
    question = " ".join(lines).split(" Try:")[0].strip()
    if folder is None:
        title, figures = path.stem, []
    else:
        results = fadeout.run(path)
        title = results.manifest["scenario"]["title"]
        shown = FIGURES.get(path.stem, ["overview"])
        drawn = results.plot.save(folder / "gallery" / path.stem, shown)
        figures = [f"![{title}: {file.stem}](gallery/{path.stem}/{file.name})" for file in drawn]
    source = f"```{{literalinclude}} ../../scenarios/{path.name}\n:language: toml\n```"
    return "\n\n".join(
        [
            f":::::{{grid-item-card}} {title}",
            question,
            *figures,
            f"```console\n$ fadeout run {path.stem}\n```",
            f"::::{{dropdown}} scenarios/{path.name}\n{source}\n::::",
            ":::::",
        ]
    )


def study_card(name: str, figure: str, text: str) -> str:
    """Returns a card of the gallery for a study."""
    return (
        f":::::{{grid-item-card}} [{text}](../studies/{name}.md)\n\n"
        f"![{text}](../studies/results/{name}/figures/{figure}.png)\n\n"
        f"```console\n$ fadeout study {name}\n```\n:::::"
    )
