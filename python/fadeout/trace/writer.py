"""Writes a Perfetto trace: tracks, slices, instants, counters and arrows."""

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import IO, Any

Value = bool | int | float | str

MISSING = "a trace needs the package perfetto: pip install 'fadeout[trace]'"

SEQUENCE = 1
"""Number of the only packet sequence of the file."""

BATCH = 1_000
"""Number of packets that are serialised at once, which is faster."""

FIRST_ID = 1
"""Number of the first track and the first interned string. Zero is reserved."""


class Writer:
    """Writes events to a file in batches, so that the memory does not grow with their number.

    Each name is written once and then referred to by a number. Times are simulated nanoseconds.
    """

    def __init__(self, file: IO[bytes]) -> None:
        """Writes the start of the trace.

        Raises:
            ImportError: the package `perfetto` is missing.
        """
        try:
            builder = import_module("perfetto.trace_builder.proto_builder")
        except ModuleNotFoundError as error:
            if error.name is not None and error.name.partition(".")[0] in ("perfetto", "google"):
                raise ImportError(MISSING) from None
            raise
        # The messages are made from descriptors when they are loaded, so no tool knows their types.
        self._builder: Any = builder
        self._file = file
        self._batch: Any = builder.TraceProtoBuilder()
        self._packets = 0
        self._tracks: dict[tuple[str, ...], int] = {}
        self._names: dict[str, int] = {}
        self._keys: dict[str, int] = {}
        self._categories: dict[str, int] = {}
        self._ends: dict[int, int] = {}
        self.events = 0
        """Number of slices, instants and counter values."""
        packet = self._packet()
        packet.sequence_flags = packet.SEQ_INCREMENTAL_STATE_CLEARED

    def flush(self) -> None:
        """Writes the packets that are still in memory."""
        self._file.write(self._batch.serialize())
        self._batch = self._builder.TraceProtoBuilder()
        self._packets = 0

    def track(self, *path: str, unit: str | None = None, doc: str = "") -> int:
        """Returns the number of the track with the names `path` from the top. The first call for a
        path writes the track.

        Args:
            path: names of the groups, and of the track.
            unit: the unit if the track is a counter. `None` for a track of slices and instants.
            doc: a description for the viewer.
        """
        if path in self._tracks:
            return self._tracks[path]
        *above, name = path
        parent = self.track(*above) if above else 0
        number = self._tracks[path] = FIRST_ID + len(self._tracks)
        packet = self._packet()
        described = packet.track_descriptor
        described.uuid = number
        described.name = name
        if parent:
            described.parent_uuid = parent
        if doc:
            described.description = doc
        if unit is not None:
            described.counter.unit_name = unit
        described.child_ordering = described.LEXICOGRAPHIC
        # Two links of one name would become one row without it.
        described.sibling_merge_behavior = described.SIBLING_MERGE_BEHAVIOR_NONE
        return number

    def free_track(self, path: tuple[str, ...], times: range) -> int:
        """Returns a track for a slice over `times`.

        The track is `path`, or one with a number in its name if the latest slice of `path` has not
        ended. Overlapping slices of one track must be nested.
        """
        number = 1
        while True:
            title = path[-1] if number == 1 else f"{path[-1]} ({number})"
            track = self.track(*path[:-1], title)
            if self._ends.get(track, times.start) <= times.start:
                self._ends[track] = times.stop
                return track
            number += 1

    def slice(
        self,
        track: int,
        name: str,
        times: range,
        category: str,
        values: Mapping[str, Value | None],
        starts: Iterable[int] = (),
        ends: Iterable[int] = (),
    ) -> None:
        """Writes a slice over the nanoseconds `times`.

        Args:
            starts: arrows that go on from the slice.
            ends: arrows that end at the slice.
        """
        event = self._event(track, times.start, category)
        event.track_event.type = event.track_event.TYPE_SLICE_BEGIN
        self._write(event, name, values, starts, ends)
        packet = self._packet()
        packet.timestamp = times.stop
        packet.track_event.type = packet.track_event.TYPE_SLICE_END
        packet.track_event.track_uuid = track

    def instant(
        self,
        track: int,
        name: str,
        time: int,
        category: str,
        values: Mapping[str, Value | None],
        starts: Iterable[int] = (),
        ends: Iterable[int] = (),
    ) -> None:
        """Writes an event without a duration."""
        event = self._event(track, time, category)
        event.track_event.type = event.track_event.TYPE_INSTANT
        self._write(event, name, values, starts, ends)

    def value(self, track: int, time: int, value: float) -> None:
        """Writes a value of a counter."""
        packet = self._packet()
        packet.timestamp = time
        event = packet.track_event
        event.type = event.TYPE_COUNTER
        event.track_uuid = track
        event.double_counter_value = value
        self.events += 1

    def _packet(self) -> Any:  # noqa: ANN401 - a message of perfetto
        if self._packets == BATCH:
            self.flush()
        self._packets += 1
        packet = self._batch.add_packet()
        packet.trusted_packet_sequence_id = SEQUENCE
        packet.sequence_flags = packet.SEQ_NEEDS_INCREMENTAL_STATE
        return packet

    def _event(self, track: int, time: int, category: str) -> Any:  # noqa: ANN401
        packet = self._packet()
        packet.timestamp = time
        packet.track_event.track_uuid = track
        number = self._categories.get(category)
        if number is None:
            number = self._categories[category] = FIRST_ID + len(self._categories)
            packet.interned_data.event_categories.add(iid=number, name=category)
        packet.track_event.category_iids.append(number)
        return packet

    def _write(
        self,
        packet: Any,  # noqa: ANN401
        name: str,
        values: Mapping[str, Value | None],
        starts: Iterable[int],
        ends: Iterable[int],
    ) -> None:
        """Writes an event with its name, its values and its arrows."""
        event = packet.track_event
        number = self._names.get(name)
        if number is None:
            number = self._names[name] = FIRST_ID + len(self._names)
            packet.interned_data.event_names.add(iid=number, name=name)
        event.name_iid = number
        for key, value in values.items():
            if value is None or value != value:
                continue
            number = self._keys.get(key)
            if number is None:
                number = self._keys[key] = FIRST_ID + len(self._keys)
                packet.interned_data.debug_annotation_names.add(iid=number, name=key)
            annotation = event.debug_annotations.add(name_iid=number)
            if isinstance(value, bool):
                annotation.bool_value = value
            elif isinstance(value, int):
                annotation.int_value = value
            elif isinstance(value, float):
                annotation.double_value = value
            else:
                annotation.string_value = value
        event.flow_ids.extend(starts)
        event.terminating_flow_ids.extend(ends)
        self.events += 1
