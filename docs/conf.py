"""Sphinx configuration. The reference pages are generated from the program itself."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))


import generate
from fadeout import __version__

# `make test` builds with `-t check`. The tests run the pages and compare with Linux, so the build
# need not repeat either.
is_check = tags.has("check")  # noqa: F821  (Sphinx defines it)
generate.write_all(Path(__file__).parent / "generated", runs=not is_check)

project = "fadeout"
author = "The fadeout authors"
copyright = "2026, the fadeout authors"
release = __version__
# The last three are modules in this folder.
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_design",
    "docstrings",
    "mathml",
    "executed",
]
myst_enable_extensions = ["amsmath", "attrs_inline", "colon_fence", "dollarmath"]
myst_heading_anchors = 3
# These pages are only included by others.
exclude_patterns = [
    "_build",
    "generated/headline.md",
    "generated/limits.md",
    "generated/measured.md",
    "generated/validation.md",
    "releases",
    "studies/results",
]
executed_runs = not is_check
# Single backticks in docstrings mark names.
default_role = "code"
autodoc_typehints_format = "short"
python_maximum_signature_line_length = 130
autodoc_member_order = "bysource"
napoleon_custom_sections = ["Standard"]
html_theme = "furo"
html_title = f"fadeout {release}"
html_static_path = ["static"]
html_css_files = ["fadeout.css"]
html_js_files = ["version-switch.js"]
# The page that simulates in the browser: `make playground` builds it.
html_extra_path = ["_build/extra"] if (Path(__file__).parent / "_build" / "extra").is_dir() else []
html_math_renderer = "mathml"
pygments_style = "default"
