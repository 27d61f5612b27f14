"""The page: one file with its style, its script and its data, and nothing from outside."""

import base64
import hashlib
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

from fadeout.report import html

STYLES = ("uPlot.min.css", "report.css")
SCRIPTS = ("uPlot.iife.min.js", "core.js", "charts.js", "map.js", "player.js")


@cache
def static(name: str) -> str:
    """Returns the text of a file beside this one."""
    return (files("fadeout.report") / "static" / name).read_text(encoding="utf-8")


def page(title: str, body: str, data: dict[str, Any], blob: str) -> str:
    """Returns the HTML of a report.

    The policy in its head allows only the script and style of this page, by their checksums. So
    no text of a run can become code, and the page cannot load anything.
    """
    licence = static("uPlot.LICENSE").replace("*/", "* /")
    style = "\n".join(static(name) for name in STYLES)
    script = "\n".join([f"/*\n{licence}\n*/", *(static(name) for name in SCRIPTS)])
    policy = (
        "default-src 'none'; img-src data: blob:; base-uri 'none'; form-action 'none'; "
        f"script-src {_checksum(script)}; style-src {_checksum(style)}"
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(title)}</title>\n"
        '<link rel="icon" href="data:,">\n'
        f"<style>{style}</style>\n</head>\n<body>\n{body}\n"
        f'<script type="application/json" id="data">{html.data(data)}</script>\n'
        f'<script type="text/plain" id="blob">{blob}</script>\n'
        f"<script>{script}</script>\n</body>\n</html>\n"
    )


def _checksum(content: str) -> str:
    digest = hashlib.sha256(content.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"
