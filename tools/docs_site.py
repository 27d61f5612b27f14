"""Puts the built documentation into a site of several versions.

`make docs-site` builds the pages first. Each version is a folder of the site. `versions.js` lists
the folders for the version switch of the pages (docs/static/version-switch.js), and `index.html`
leads to the newest release. Folders of other versions stay as they are.
"""

import argparse
import re
import shutil
from pathlib import Path

HTML = Path(__file__).resolve().parents[1] / "docs/_build/html"
"""Pages that `make docs` builds."""
VERSION = re.compile(r"v(\d+)\.(\d+)\.(\d+)")
INDEX = """<!doctype html>
<meta charset="utf-8">
<title>fadeout</title>
<meta http-equiv="refresh" content="0; url={newest}/">
<a href="{newest}/">fadeout {newest}</a>
"""


def rank(name: str) -> tuple[int, ...]:
    """Returns the rank of a version. Releases are before branches, and new ones before old ones."""
    match = VERSION.fullmatch(name)
    return (0, *(-int(part) for part in match.groups())) if match else (1,)


def write_index(site: Path) -> list[str]:
    """Writes the list of versions and the first page. Returns the versions, the newest first."""
    folders = (path.parent.name for path in site.glob("*/index.html"))
    names = sorted(sorted(folders), key=rank)
    if not names:
        raise SystemExit(f"{site}: there is no version; expected folders with an index.html")
    listed = ", ".join(f'"{name}"' for name in names)
    (site / "versions.js").write_text(f"window.fadeoutVersions = [{listed}];\n", encoding="utf-8")
    (site / "index.html").write_text(INDEX.format(newest=names[0]), encoding="utf-8")
    # GitHub's pages ignore folders that begin with `_` without this file.
    (site / ".nojekyll").touch()
    return names


def add(site: Path, version: str) -> None:
    """Copies the built pages into the folder of a version."""
    if not (HTML / "index.html").is_file():
        raise SystemExit(f"{HTML}: there are no pages; expected those of make docs")
    shutil.rmtree(site / version, ignore_errors=True)
    shutil.copytree(HTML, site / version, ignore=shutil.ignore_patterns(".doctrees"))


def main() -> None:
    """Adds a version to the site, or lists the versions anew."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("site", type=Path, help="Folder of the site.")
    parser.add_argument("--version", default="main", help="Name of the version. Default: main.")
    parser.add_argument("--list", action="store_true", help="Add nothing, list the versions.")
    arguments = parser.parse_args()
    if not re.fullmatch(r"[\w.-]+", arguments.version):
        parser.error(f"--version {arguments.version}: expected letters, digits, dots and hyphens")
    if not arguments.list:
        add(arguments.site, arguments.version)
    print(f"{arguments.site}: {', '.join(write_index(arguments.site))}")


if __name__ == "__main__":
    main()
