"""Arrays of numbers in a page, as one compressed block of bytes."""

import base64
import gzip
from typing import Any

import numpy as np

Place = dict[str, Any]
"""Offset, number of values and type of an array in the block, for the script of the page."""


class Blob:
    """Block of arrays. Each array is stored without loss, in the form that the script reads."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def doubles(self, values: Any) -> Place:  # noqa: ANN401 - any sequence of numbers
        """Adds 64-bit floating-point numbers, and returns their place."""
        return self._add(np.asarray(values, dtype="<f8"), "f8")

    def shorts(self, values: Any) -> Place:  # noqa: ANN401 - any sequence of numbers
        """Adds 16-bit integers, and returns their place."""
        return self._add(np.asarray(values, dtype="<i2"), "i2")

    def frames(self, values: np.ndarray) -> Place:
        """Adds 16-bit integers by frame and object as differences between frames."""
        # Differences wrap around, so each value can be restored.
        steps = np.diff(values.astype("<i2"), axis=0, prepend=np.zeros_like(values[:1], "<i2"))
        return self._add(steps.astype("<i2"), "i2")

    def text(self) -> str:
        """Returns the whole block as base64 of its gzip form."""
        # A fixed time keeps two reports of one run equal.
        packed = gzip.compress(b"".join(self._parts), compresslevel=9, mtime=0)
        return base64.b64encode(packed).decode("ascii")

    def _add(self, array: np.ndarray, kind: str) -> Place:
        flat = np.ascontiguousarray(array).reshape(-1)
        # Bytes of equal significance lie together, which compresses several times better.
        planes = flat.view(np.uint8).reshape(-1, flat.itemsize).T
        content = np.ascontiguousarray(planes).tobytes()
        place = {"offset": self._size, "count": int(flat.size), "type": kind}
        self._parts.append(content)
        self._size += len(content)
        return place
