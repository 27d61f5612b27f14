"""Chromium without a window, driven over its DevTools protocol through pipes."""

import base64
import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

SLOWEST_S = 300.0
"""Time after which an answer of the browser no longer comes."""


class Browser:
    """One browser with one page. It records errors of the console and requests."""

    def __init__(self, folder: Path) -> None:
        program = shutil.which("chromium") or shutil.which("chromium-browser")
        assert program is not None, "needs_tool('Chromium') skips tests without it"
        # The browser reads commands from descriptor 3 and writes answers to descriptor 4.
        ours_read, theirs_write = os.pipe()
        theirs_read, ours_write = os.pipe()
        command = [
            program,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
            f"--user-data-dir={folder / 'browser'}",
            "--remote-debugging-pipe",
            "about:blank",
        ]
        shell = f'exec 3<&{theirs_read} 4>&{theirs_write}; exec "$@"'
        self._process = subprocess.Popen(
            ["bash", "-c", shell, "browser", *command],
            pass_fds=(theirs_read, theirs_write),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_read)
        os.close(theirs_write)
        self._to, self._from = ours_write, ours_read
        self._left = b""
        self._number = 0
        self._session: str | None = None
        self.errors: list[str] = []
        self.requests: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def close(self) -> None:
        """Ends the browser."""
        os.close(self._to)
        os.close(self._from)
        self._process.terminate()
        self._process.wait(timeout=SLOWEST_S)

    def call(self, method: str, **given: Any) -> dict[str, Any]:
        """Returns the result of a command of the protocol."""
        self._number += 1
        number = self._number
        message: dict[str, Any] = {"id": number, "method": method, "params": given}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]
            self._record(answer)

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._left:
            read = os.read(self._from, 1 << 20)
            assert read, "the browser ended"
            self._left += read
        first, _, self._left = self._left.partition(b"\0")
        return json.loads(first)

    def _record(self, event: dict[str, Any]) -> None:
        given = event.get("params", {})
        match event.get("method"):
            case "Runtime.exceptionThrown":
                self.errors.append(json.dumps(given["exceptionDetails"])[:800])
            case "Runtime.consoleAPICalled" if given["type"] in ("error", "warning"):
                self.errors.append(json.dumps(given["args"])[:800])
            case "Log.entryAdded" if given["entry"]["level"] in ("error", "warning"):
                self.errors.append(given["entry"]["text"])
            case "Network.requestWillBeSent":
                self.requests.append(given["request"]["url"][:200])

    def open(self, path: Path, *, width: int = 1280, height: int = 900, hash: str = "") -> None:  # noqa: A002
        """Opens a file, and waits until its script is ready."""
        self.size(width, height)
        self.errors.clear()
        self.requests.clear()
        # A change of the hash alone would not load the page again.
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=path.resolve().as_uri() + hash)
        self.wait("document.documentElement?.dataset.ready === 'yes'")

    def size(self, width: int, height: int) -> None:
        """Sets the size of the window in pixels."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def wait(self, expression: str) -> None:
        """Waits until an expression is true."""
        end = time.monotonic() + SLOWEST_S
        while not self.value(expression):
            assert time.monotonic() < end, f"never true: {expression}; {self.errors}"
            time.sleep(0.05)

    def value(self, expression: str) -> Any:
        """Returns the value of a JavaScript expression."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def press(self, key: str, *, shift: bool = False) -> None:
        """Presses a key, as a keyboard does."""
        text = {"Space": " ", "Enter": "\r"}.get(key, key if len(key) == 1 else "")
        name = {"Space": " "}.get(key, key)
        code = {"Tab": 9, "Enter": 13, "Space": 32}.get(key, 0)
        common = {
            "key": name,
            "modifiers": 8 if shift else 0,
            "windowsVirtualKeyCode": code,
        }
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **common)
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def mouse(self, kind: str, x: float, y: float, **given: Any) -> None:
        """Sends an event of the mouse: `mouseMoved`, `mousePressed` or `mouseReleased`."""
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **given)

    def picture(self, path: Path, *, is_whole: bool = True) -> None:
        """Writes a picture of the page."""
        found = self.call("Page.captureScreenshot", captureBeyondViewport=is_whole)
        path.write_bytes(base64.b64decode(found["data"]))

    def pdf(self, path: Path) -> None:
        """Prints the page."""
        found = self.call("Page.printToPDF", printBackground=True, preferCSSPageSize=True)
        path.write_bytes(base64.b64decode(found["data"]))
