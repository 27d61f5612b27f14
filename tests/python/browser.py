"""Debian's Chromium without a window, driven through Playwright."""

import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import ConsoleMessage

SLOWEST_S = 300.0
"""Time after which an answer of the browser no longer comes."""


class Browser:
    """One browser with one page. It records errors of the console and requests."""

    def __init__(self) -> None:
        from playwright.sync_api import sync_playwright

        program = shutil.which("chromium") or shutil.which("chromium-browser")
        assert program is not None, "needs_tool('Chromium') skips tests without it"
        self._driver = sync_playwright().start()
        self._browser = self._driver.chromium.launch(
            executable_path=program,
            args=["--no-sandbox", "--disable-dev-shm-usage"],
            timeout=SLOWEST_S * 1e3,
        )
        self.page = self._browser.new_page()
        self.page.set_default_timeout(SLOWEST_S * 1e3)
        self._session = self.page.context.new_cdp_session(self.page)
        self._session.send("Performance.enable", {"timeDomain": "threadTicks"})
        self.errors: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", self._record)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url[:200]))

    def close(self) -> None:
        """Ends the browser."""
        self._browser.close()
        self._driver.stop()

    def _record(self, message: "ConsoleMessage") -> None:
        if message.type in ("error", "warning"):
            self.errors.append(message.text)

    def open(self, path: Path, *, width: int = 1280, height: int = 900, hash: str = "") -> None:  # noqa: A002
        """Opens a file in a window of a size in pixels, and waits until its script is ready."""
        self.page.set_viewport_size({"width": width, "height": height})
        # A change of the hash alone would not load the page again.
        self.page.goto("about:blank")
        self.errors.clear()
        self.requests.clear()
        self.page.goto(path.resolve().as_uri() + hash)
        self.wait("document.documentElement?.dataset.ready === 'yes'")

    def wait(self, expression: str) -> None:
        """Waits until an expression is true."""
        # `wait_for_function` evaluates text in the page, which the page's policy forbids.
        end = time.monotonic() + SLOWEST_S
        while not self.value(expression):
            assert time.monotonic() < end, f"never true: {expression}; {self.errors}"
            self.page.wait_for_timeout(50)

    def value(self, expression: str) -> Any:
        """Returns the value of a JavaScript expression."""
        return self.page.evaluate(expression)

    def press(self, *keys: str) -> None:
        """Presses keys, as a keyboard does. A name such as `Shift+Tab` has a modifier."""
        for key in keys:
            self.page.keyboard.press(key)

    def cpu_seconds(self) -> float:
        """Returns the processor time of the page's main thread.

        This time is that of script, layout and painting. Other programs do not change it.
        """
        metrics = self._session.send("Performance.getMetrics")["metrics"]
        return next(one["value"] for one in metrics if one["name"] == "TaskDuration")
