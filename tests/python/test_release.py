"""Parts of a release: versions, upgrade notes, and the site of the documentation."""

import json
import re
import subprocess
import sys
import tomllib

import pytest

import docs_site
from conftest import ROOT, needs_tool

LIMITS = ROOT / "crates/scenario/src/keys/limits.rs"


def version() -> str:
    return tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]


def test_every_file_with_a_version_has_the_same_one():
    crates = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["dependencies"]
    of_crates = {one["version"] for one in crates.values() if "path" in one and "version" in one}
    assert of_crates == {f"={version()}"}
    assert f"\nversion: {version()}\n" in (ROOT / "CITATION.cff").read_text()


def test_the_upgrade_notes_name_every_renamed_key():
    table = LIMITS.read_text().partition("RENAMED: ")[2].partition("];")[0]
    pairs = re.findall(r'\("([\w-]+)", "([\w-]+)"\)', table)
    assert pairs
    notes = (ROOT / "docs/upgrading.md").read_text()
    for before, now in pairs:
        assert f"| `{before}` | `{now}` |" in notes


def test_the_newest_release_is_the_first_version_of_the_site(tmp_path):
    for name in ("main", "v0.2.0", "v0.10.0", "v0.9.1"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "index.html").touch()
    (tmp_path / "no-version").mkdir()
    names = ["v0.10.0", "v0.9.1", "v0.2.0", "main"]
    assert docs_site.write_index(tmp_path) == names
    listed = (tmp_path / "versions.js").read_text()
    assert json.loads(listed.partition("= ")[2].rstrip(";\n")) == names
    assert "url=v0.10.0/" in (tmp_path / "index.html").read_text()


def test_a_folder_without_versions_is_an_error(tmp_path):
    with pytest.raises(SystemExit, match="there is no version"):
        docs_site.write_index(tmp_path)


@needs_tool("Chromium")
def test_the_version_switch_opens_the_same_page_of_another_version(tmp_path):
    # Only pages of a site have the switch, and a version may lack a page.
    script = (ROOT / "docs/static/version-switch.js").read_text()
    page = (
        "<body><a class='sidebar-brand'></a>"
        "<script src='{up}_static/version-switch.js'></script></body>"
    )
    for name in ("main", "v0.2.0"):
        (tmp_path / name / "_static").mkdir(parents=True)
        (tmp_path / name / "_static/version-switch.js").write_text(script)
        (tmp_path / name / "index.html").write_text(page.format(up=""))
        (tmp_path / name / "models").mkdir()
        (tmp_path / name / "models/tcp.html").write_text(page.format(up="../"))
    (tmp_path / "main/only.html").write_text(page.format(up=""))
    docs_site.write_index(tmp_path)
    server = subprocess.Popen(
        [sys.executable, "-m", "http.server", "0", "--bind", "127.0.0.1"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={"PYTHONUNBUFFERED": "1"},
        text=True,
    )
    from browser import Browser

    browser = Browser()
    try:
        assert server.stdout is not None
        (port,) = re.findall(r"port (\d+)", server.stdout.readline())
        site = f"http://127.0.0.1:{port}"
        for start, end in (("models/tcp.html", "models/tcp.html"), ("only.html", "index.html")):
            browser.page.goto(f"{site}/main/{start}")
            browser.page.wait_for_selector("#version-switch")
            browser.page.select_option("#version-switch", "v0.2.0")
            browser.page.wait_for_url(f"{site}/v0.2.0/{end}")
    finally:
        browser.close()
        server.kill()
        server.communicate()
