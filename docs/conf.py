"""Sphinx configuration. The reference pages are generated from the program itself."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import generate

from fadeout import __version__

generate.write_all(Path(__file__).parent / "generated")

project = "fadeout"
author = "The fadeout authors"
copyright = "2026, the fadeout authors"
release = __version__
extensions = ["myst_parser"]
myst_enable_extensions = ["attrs_inline", "colon_fence", "dollarmath"]
myst_heading_anchors = 3
# The last two are included by other pages.
exclude_patterns = ["_build", "generated/validation.md", "studies/results"]
html_theme = "furo"
html_title = f"fadeout {release}"
