"""The page that simulates in the browser has the results of this machine.

`make check-playground` builds the page and runs these tests. They need `FADEOUT_PLAYGROUND`, the
folder of the page.
"""

import functools
import http.server
import os
import threading
from collections.abc import Iterator
from typing import Any

import pytest

import fadeout
from conftest import ROOT, needs_tool

pytestmark = [
    needs_tool("Chromium"),
    pytest.mark.skipif(
        "FADEOUT_PLAYGROUND" not in os.environ,
        reason="needs the built page; make check-playground builds it",
    ),
]

SLOWEST_MS = 120_000


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Server of files that prints nothing."""

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Prints nothing."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    folder = os.environ["FADEOUT_PLAYGROUND"]
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Quiet, directory=folder)
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/index.html"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def page(address: str) -> Iterator[Any]:
    from browser import Browser

    browser = Browser()
    browser.page.set_viewport_size({"width": 1280, "height": 1000})
    browser.page.goto(address)
    yield browser.page
    errors = browser.errors
    browser.close()
    assert errors == []


def finished(page: Any) -> str:
    """Waits for the end of the run, and returns its fingerprint."""
    page.wait_for_function(
        "document.querySelector('#fingerprint').textContent !== ''"
        " || document.querySelector('#status').className === 'error'",
        timeout=SLOWEST_MS,
    )
    assert page.locator("#status").get_attribute("class") != "error", page.inner_text("#status")
    return page.inner_text("#fingerprint")


def choose(page: Any, key: str, value: str) -> None:
    """Sets a control, and waits until its run has begun."""
    page.evaluate(
        "([key, value]) => {"
        " const input = document.querySelector(`[name='${key}']`);"
        " input.value = value;"
        " input.dispatchEvent(new Event('input'));"
        " document.querySelector('#fingerprint').textContent = '' }",
        [key, value],
    )
    page.wait_for_timeout(500)


def test_the_page_shows_the_fingerprint_of_the_command(page: Any):
    assert finished(page) == fadeout.run(ROOT / "scenarios/blockage.toml").fingerprint
    assert page.inner_text("#command") == "fadeout run blockage"
    assert page.locator("#charts canvas").count() == 3


def test_a_changed_control_has_the_fingerprint_of_the_command_that_the_page_shows(page: Any):
    choose(page, "duration", "10")
    choose(page, "flow.bulk.congestion-control", "bbr")
    found = finished(page)
    changes = {"duration": "10 s", "flow.bulk.congestion-control": "bbr"}
    assert found == fadeout.run(ROOT / "scenarios/blockage.toml", set=changes).fingerprint
    shown = page.inner_text("#command")
    assert "--set 'duration=\"10 s\"'" in shown
    assert "--set 'flow.bulk.congestion-control=\"bbr\"'" in shown


def test_each_control_has_valid_values_at_both_ends(page: Any):
    for name in ("A blocked link", "A phone in an LTE cell"):
        page.get_by_role("button", name=name).click()
        finished(page)
        for key, values in page.evaluate(
            "[...document.querySelectorAll('#controls [name]')].map((it) => [it.name,"
            " it.options ? [...it.options].map((one) => one.value) : [it.min, it.max]])"
        ):
            if key in ("duration", "link.radio.rate", "flow.download.application.size"):
                continue
            before = page.eval_on_selector(f"[name='{key}']", "it => it.value")
            for value in values:
                choose(page, key, value)
                finished(page)
            choose(page, key, before)


def test_a_cell_has_the_fingerprint_of_the_command(page: Any):
    page.get_by_role("button", name="A phone in an LTE cell").click()
    assert finished(page) == fadeout.run(ROOT / "scenarios/lte-download.toml").fingerprint
