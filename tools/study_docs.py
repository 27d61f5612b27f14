"""Copies the reports of studies in out/, with their figures, into the documentation."""

import argparse
import json
import shutil
from pathlib import Path

ROOT = Path(__file__).parents[1]


def copy(name: str) -> None:
    """Copies the report of the study called `name`."""
    study = ROOT / "out" / f"study-{name}"
    if not (study / "report.md").is_file():
        raise SystemExit(f"{study}: no report; `fadeout study {name} --out {study}` writes it")
    if json.loads((study / "results.json").read_text(encoding="utf-8")).get("is_incomplete"):
        raise SystemExit(f"{study}: the study was stopped; repeat `fadeout study {name}`")
    target = ROOT / "docs" / "studies" / "results" / name
    shutil.rmtree(target, ignore_errors=True)
    (target / "figures").mkdir(parents=True)
    for figure in sorted((study / "figures").glob("*.png")):
        shutil.copy(figure, target / "figures" / figure.name)

    # The page has its own title, so the headings of the report go one level down.
    lines = (study / "report.md").read_text(encoding="utf-8").splitlines()[1:]
    text = "\n".join(f"#{line}" if line.startswith("#") else line for line in lines)
    text = text.replace("(figures/", f"(results/{name}/figures/")
    (target / "report.md").write_text("## Results\n" + text + "\n", encoding="utf-8")
    print(f"written: {target}")


# Figures that the README shows.
IMAGES = {"blockage": "window-3.png"}

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("study", nargs="+", help="name of a study, such as blockage")
for study in parser.parse_args().study:
    copy(study)
    if study in IMAGES:
        source = ROOT / "out" / f"study-{study}" / "figures" / IMAGES[study]
        (ROOT / "docs" / "images").mkdir(exist_ok=True)
        shutil.copy(source, ROOT / "docs" / "images" / f"{study}.png")
