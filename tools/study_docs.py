"""Copy the report of a blockage study, with its figures, into the documentation."""

import shutil
import sys
from pathlib import Path

study = Path(sys.argv[1])
docs = Path(__file__).parents[1] / "docs"
target = docs / "studies" / "results"
shutil.rmtree(target, ignore_errors=True)
(target / "figures").mkdir(parents=True)
for figure in sorted((study / "figures").glob("*.png")):
    shutil.copy(figure, target / "figures" / figure.name)

# The page has its own title, and the report's headings go one level down.
lines = (study / "report.md").read_text(encoding="utf-8").splitlines()[1:]
text = "\n".join(f"#{line}" if line.startswith("#") else line for line in lines)
text = text.replace("(figures/", "(results/figures/")
(target / "report.md").write_text("## Results\n" + text + "\n", encoding="utf-8")

(docs / "images").mkdir(exist_ok=True)
shutil.copy(study / "figures" / "window-3.png", docs / "images" / "blockage.png")
print(f"written: {target}")
