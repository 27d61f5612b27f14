"""The compiled module. `fadeout.run` and `fadeout.Results` are its interface."""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, TypedDict

import numpy as np
import numpy.typing as npt

class ErrorDetail(TypedDict):
    file: str
    line: int
    column: int
    message: str
    expected: str | None
    suggestion: str | None
    rendered: str

class Outcome(TypedDict):
    summary: str
    manifest: str
    fingerprint: str
    complete: bool
    remarks: list[str]
    tables: dict[str, bytes]
    captures: dict[str, bytes]
    rows: Rows | None
    out: str | None
    raised: tuple[str, BaseException, str] | None

class Rows:
    """The rows of the summary of a run that was written into a folder."""

    def columns(self, table: str, names: Sequence[str]) -> str:
        """Return columns of a table as JSON: a list for each name."""

class FadeoutError(Exception): ...

class ScenarioError(FadeoutError):
    errors: list[ErrorDetail]

class ResultError(FadeoutError):
    path: str | None

class PortError(FadeoutError): ...
class SettingError(FadeoutError): ...
class EngineBug(FadeoutError): ...

class Arrival:
    """A datagram that has arrived at an end of a port."""

    @property
    def bytes(self) -> bytes:
        """Payload, as the other end sent it."""
    @property
    def ecn(self) -> int:
        """ECN field of the IP header. The value 3 is a mark of congestion."""
    @property
    def time_s(self) -> float:
        """Time of the arrival in seconds."""
    @property
    def sent_s(self) -> float:
        """Time at which the other end sent the datagram, in seconds."""

class Observations:
    """Values to observe, with their names already looked up."""

class Setting:
    """A value that can be set, with its name already looked up."""

class Episodes:
    """Episodes of learning agents. `fadeout.gym` is their interface."""

    def __init__(
        self,
        count: int,
        agents: Sequence[tuple[str, str, float, str, list[str], int]],
        *,
        round_trips: float | None,
        interval_s: float,
        steps: int | None,
        threads: int,
    ) -> None: ...
    def check(self, simulation: Simulation) -> None:
        """Raise unless the flows and the observed values of all agents exist in a simulation, which
        is then finished for other callers.
        """
    def begin(self, place: int, simulation: Simulation) -> None:
        """Begin an episode with a simulation, which is then finished for other callers."""
    def step(self, actions: npt.NDArray[np.float64], stepped: npt.NDArray[np.uint8]) -> None:
        """Step the episodes whose place in `stepped` is not zero."""
    def read(
        self,
        observations: npt.NDArray[np.float32],
        rewards: npt.NDArray[np.float64],
        terminated: npt.NDArray[np.uint8],
        truncated: npt.NDArray[np.uint8],
        measured: npt.NDArray[np.float64],
    ) -> None:
        """Write the results of the latest step of all episodes."""

class Decider:
    """Measurements and decisions of an agent. `fadeout.gym.controller` is its interface."""

    def __init__(
        self,
        observation: list[str],
        history: int,
        *,
        action: str,
        step_size: float,
        round_trips: float | None,
        interval_s: float,
    ) -> None: ...
    def read(
        self,
        *,
        time_s: float,
        sent_segments: int,
        delivered_segments: int,
        lost_segments: int,
        rtt_sum_s: float,
        rtt_samples: int,
        min_rtt_s: float,
        mss_bytes: float,
        cwnd: float,
        in_flight: float,
        pacing_mbps: float,
        srtt_s: float,
    ) -> None:
        """End an interval with the counters and the state of the flow."""
    def observation(self) -> list[float]:
        """Return the observation. Empty before the first reading."""
    def decide(self, action: float | None = None) -> tuple[float | None, float | None]:
        """Return the pacing rate in Mbit/s and the window of an action, or those before the first
        one. None leaves a value as it is.
        """
    @property
    def interval_s(self) -> float:
        """Length of the next interval in seconds."""

class PortEnd:
    """An end of a flow with a port. `fadeout.PortEnd` is its interface."""

    @property
    def node(self) -> str:
        """Name of the node."""
    @property
    def address(self) -> tuple[str, int]:
        """IP address and UDP port of the end, as in captures."""
    @property
    def largest_bytes(self) -> int:
        """Payload of the largest datagram that the end may send."""

class Window:
    """The congestion window that the stack and the algorithm share."""

    cwnd: float
    """Congestion window in segments, from 1 to 10,000,000. The stack sends while the integer part
    exceeds the segments in flight.
    """
    ssthresh: float
    """Slow-start threshold in segments, from 1 to 10,000,000, or infinite as until the first
    congestion."""
    pacing_rate_mbps: float | None
    """Pacing rate. None leaves pacing to the connection's profile. It stays until changed."""

    @property
    def mss_bytes(self) -> int:
        """Maximum segment size: payload of a segment."""
    @property
    def time_s(self) -> float:
        """Simulated time of the call in seconds."""
    @property
    def in_slow_start(self) -> bool:
        """True if `cwnd` is below `ssthresh`."""

class Ack:
    """An ACK, as the stack sees it after loss detection and recovery."""

    @property
    def time_s(self) -> float:
        """Time at which the ACK arrived, in seconds."""
    @property
    def acked(self) -> int:
        """Segments newly acknowledged cumulatively."""
    @property
    def delivered_now(self) -> int:
        """Segments newly acknowledged, cumulatively or selectively."""
    @property
    def delivered_ce_now(self) -> int:
        """Segments newly acknowledged that the receiver reports as marked
        congestion-experienced.
        """
    @property
    def lost_now(self) -> int:
        """Segments newly marked lost."""
    @property
    def rtt_s(self) -> float | None:
        """Round-trip time of this ACK. None if a retransmission makes it ambiguous."""
    @property
    def srtt_s(self) -> float | None:
        """Smoothed round-trip time. None before the first sample."""
    @property
    def min_rtt_s(self) -> float | None:
        """Smallest round-trip time of the last 5 minutes. None before the first sample."""
    @property
    def in_flight(self) -> int:
        """Segments in flight now."""
    @property
    def prior_in_flight(self) -> int:
        """Segments in flight before this ACK."""
    @property
    def snd_una_bytes(self) -> int:
        """First sequence number not acknowledged."""
    @property
    def snd_nxt_bytes(self) -> int:
        """Next sequence number to send. With `snd_una_bytes` it separates rounds."""
    @property
    def delivered(self) -> int:
        """Segments delivered since the connection began."""
    @property
    def lost(self) -> int:
        """Segments lost since the connection began."""
    @property
    def rate(self) -> RateSample:
        """Delivery-rate sample."""
    @property
    def is_cwnd_limited(self) -> bool:
        """True if the window limited the sender, and not the application or the receiver."""
    @property
    def may_grow(self) -> bool:
        """True if the window may be increased: not in recovery, and with progress."""
    @property
    def is_growth_due(self) -> bool:
        """`may_grow and is_cwnd_limited`: the condition for an algorithm that probes for
        bandwidth.
        """
    @property
    def ece(self) -> bool:
        """True if the ACK carried an ECN echo."""
    @property
    def is_paced(self) -> bool:
        """True if the sender paces."""
    @property
    def pacing_rate_mbps(self) -> float | None:
        """Pacing rate of the stack. None while it has no limit."""
    @property
    def state(self) -> str:
        """Recovery state: "open", "disorder", "cwr", "recovery" or "loss"."""

class RateSample:
    """A delivery-rate sample (draft-ietf-ccwg-bbr section 4.1)."""

    @property
    def segments_per_s(self) -> float | None:
        """Delivery rate. None without a valid sample."""
    @property
    def delivered(self) -> int:
        """Segments delivered over `interval_s`."""
    @property
    def interval_s(self) -> float | None:
        """Length of the interval: the longer of the send interval and the ACK interval."""
    @property
    def prior_delivered(self) -> int:
        """Value of the connection's `delivered` when the newest acknowledged segment was sent."""
    @property
    def is_app_limited(self) -> bool:
        """True if the newest acknowledged segment was sent while the application limited the
        sender.
        """
    @property
    def tx_in_flight(self) -> int:
        """Segments in flight when the newest acknowledged segment was sent, itself included."""
    @property
    def lost(self) -> int:
        """Segments marked lost since the newest acknowledged segment was sent."""
    @property
    def delivered_ce(self) -> int:
        """Delivered segments that carried congestion-experienced marks."""

class CongestionEvent:
    """A detection of congestion."""

    @property
    def time_s(self) -> float:
        """Time at which congestion was detected, in seconds."""
    @property
    def kind(self) -> str:
        """ "loss" (fast recovery begins), "timeout", "ecn" or "local" (a repaired tail loss)."""
    @property
    def flight_size(self) -> int:
        """Segments sent and not cumulatively acknowledged (RFC 5681 FlightSize)."""
    @property
    def in_flight(self) -> int:
        """Segments believed to be in the network (RFC 6675 pipe)."""
    @property
    def snd_una_bytes(self) -> int:
        """First sequence number not acknowledged."""
    @property
    def snd_nxt_bytes(self) -> int:
        """Next sequence number to send."""

class Sent:
    """A data segment that was sent."""

    @property
    def time_s(self) -> float:
        """Time at which the segment was sent, in seconds."""
    @property
    def seq_bytes(self) -> int:
        """First sequence number of the segment."""
    @property
    def length_bytes(self) -> int:
        """Payload of the segment."""
    @property
    def in_flight(self) -> int:
        """Segments in flight, this one included."""
    @property
    def is_retransmission(self) -> bool:
        """True if the segment was sent before."""

class LinkInfo:
    """A notice of a link on the path."""

    @property
    def kind(self) -> str:
        """ "rate", "blockage-predicted", "blockage-began" or "blockage-ended"."""
    @property
    def rate_mbps(self) -> float | None:
        """Rate of the link from now on, for "rate". None for a link without limit."""
    @property
    def starts_at_s(self) -> float | None:
        """Time at which a predicted blockage begins. The prediction may be wrong."""
    @property
    def lasts_s(self) -> float | None:
        """Length of a predicted blockage. The prediction may be wrong."""

class MeasurementReport:
    """A measurement report, as the base station of the serving cell received it."""

    @property
    def time_s(self) -> float:
        """Time at which the report arrived, in seconds."""
    @property
    def ue(self) -> str:
        """UE that sent the report."""
    @property
    def event(self) -> str:
        """Measurement event of the report, such as "a3"."""
    @property
    def serving(self) -> str:
        """Name of the serving cell."""
    @property
    def serving_dbm(self) -> float:
        """Filtered RSRP of the serving cell, dBm."""
    @property
    def cells(self) -> dict[str, float]:
        """Filtered RSRP, dBm, of each cell that fulfils the event's condition, strongest first. At
        most eight cells, and none for an event about the serving cell.
        """
    @property
    def loads(self) -> dict[str, int]:
        """Number of UEs in each cell that the UE measures."""
    @property
    def max_ues(self) -> int | None:
        """Largest number of UEs that a cell accepts: `max-ues` of the scenario."""

class HandoverEnd:
    """A change of cell that has ended."""

    @property
    def time_s(self) -> float:
        """Time at which the change ended, in seconds."""
    @property
    def ue(self) -> str:
        """UE that changed cell."""
    @property
    def source(self) -> str:
        """Cell that the UE left."""
    @property
    def target(self) -> str:
        """Cell that the UE was to enter, or that it entered after a failure."""
    @property
    def procedure(self) -> str:
        """Procedure as in the table `handovers`, such as "handover" or "reestablishment"."""
    @property
    def outcome(self) -> str:
        """Outcome as in the table `handovers`: "success", "failed", "cancelled" or "refused"."""

class Simulation:
    """A run in steps. `fadeout.Simulation` is its interface."""

    def __init__(
        self,
        text: str,
        *,
        source_name: str = "<string>",
        base_dir: str | None = None,
        overrides: Sequence[str] = (),
        seed: int | None = None,
        out: str | None = None,
        force: bool = False,
        congestion_controls: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] | None = None,
        handover_policies: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] | None = None,
        allow_programs: bool = False,
        tables: bool = True,
    ) -> None: ...
    @property
    def now_s(self) -> float:
        """Simulated time in seconds."""
    @property
    def is_finished(self) -> bool:
        """True if the simulation is finished."""
    @property
    def duration_s(self) -> float:
        """Length of the run in seconds."""
    @property
    def next_s(self) -> float | None:
        """Time of the next event. None if there is none before the end of the run."""
    def advance(self, until_s: float) -> tuple[str, BaseException, str] | None:
        """Simulate up to and including `until_s`. Return the message, exception and kind if a
        user-written class raised an exception.
        """
    def observations(self, names: list[str]) -> Observations:
        """Look up the names of values to observe."""
    def observe(self, what: Observations, out: npt.NDArray[np.float64]) -> None:
        """Write the present values to an array of as many floats."""
    def setting(self, name: str) -> Setting:
        """Look up the name of a value that can be set."""
    def set(self, setting: Setting, value: float) -> None:
        """Set a value at the present time."""
    def cell_number(self, name: str, cell: str) -> int:
        """Return the number of a cell. `name` is the name of the value to set."""
    def radio_names(self) -> tuple[list[str], list[str]]:
        """Return the names of the UEs and of the cells, in the order of their numbers."""
    def ports(self) -> list[str]:
        """Names of the flows with a port."""
    def port(self, flow: str) -> tuple[PortEnd, PortEnd]:
        """Return the ends of a flow with a port, first the one at its node `from`."""
    def send(self, end: PortEnd, payload: bytes, ecn: int) -> None:
        """Send a datagram from an end, now."""
    def receive(self, end: PortEnd) -> list[Arrival]:
        """Return the datagrams that have arrived at an end since the last call."""
    def advance_to_arrival(
        self, until_s: float
    ) -> tuple[float | None, tuple[str, BaseException, str] | None]:
        """Simulate up to the first arrival at a port. Return its time, and the message, exception
        and kind if a user-written class raised an exception.
        """
    def finish(self) -> Outcome:
        """End the run at the present time."""

def run(
    text: str,
    *,
    source_name: str = "<string>",
    base_dir: str | None = None,
    overrides: Sequence[str] = (),
    seed: int | None = None,
    out: str | None = None,
    force: bool = False,
    progress: Callable[[dict[str, Any]], bool | None] | None = None,
    tables: bool = True,
    advice: bool = True,
    congestion_controls: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] | None = None,
    handover_policies: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] | None = None,
    allow_programs: bool = False,
    threads: int | None = None,
) -> Outcome: ...
def save(
    out: str,
    force: bool,
    manifest: str,
    summary: str,
    tables: dict[str, bytes],
    captures: dict[str, bytes],
) -> str: ...
def check(
    text: str,
    *,
    source_name: str = "<string>",
    base_dir: str | None = None,
    overrides: Sequence[str] = (),
    congestion_controls: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] | None = None,
    handover_policies: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] | None = None,
) -> None: ...
def resolve(
    text: str,
    *,
    source_name: str = "<string>",
    base_dir: str | None = None,
    overrides: Sequence[str] = (),
    congestion_controls: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] | None = None,
    handover_policies: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] | None = None,
) -> str: ...
def mistake_of_file(
    text: str,
    message: str,
    *,
    source_name: str,
    overrides: Sequence[str],
    table: str,
    name: str,
    key: str,
) -> ScenarioError: ...
def geometry(
    text: str,
    *,
    source_name: str = "<string>",
    base_dir: str | None = None,
    overrides: Sequence[str] = (),
) -> bytes: ...
def read_capture(path: str | PathLike[str]) -> dict[str, Any]: ...
def tracks(
    text: str,
    *,
    every_ns: int,
    source_name: str = "<string>",
    base_dir: str | None = None,
    overrides: Sequence[str] = (),
) -> tuple[bytes, bytes]: ...

class Predictor:
    def __init__(
        self,
        *,
        beam_width_deg: float | None,
        resolution_m: float,
        learning: int,
        report_period_s: float,
        horizon_s: float,
        place_error_m: float,
        speed_error: float,
        missed: float,
        false_alarms: float,
        seed: int,
    ) -> None: ...
    def stand(self, cell: int, mast: tuple[float, float]) -> None: ...
    def report(
        self,
        who: tuple[float, int, int],
        place: tuple[float, float],
        speed: tuple[float, float],
        is_cut: bool,
        serves: bool,
    ) -> tuple[float, int, int, float, float] | None: ...

def score_predictions(
    received: Sequence[tuple[float, tuple[float, int, int, float, float]]],
    cuts: Sequence[tuple[int, int, float, float]],
) -> tuple[
    int,
    int,
    float | None,
    float | None,
    float | None,
    float | None,
    float | None,
    float | None,
]: ...
def packetdrill(text: str, name: str, symbols: list[tuple[str, str]] = ...) -> str: ...
def kernel_folder() -> str: ...
def kernels() -> str: ...
def kernel_agent() -> str: ...
def kernel_agent_file() -> str: ...
def kernel_clock() -> str: ...
def kernel_tcp_keys() -> list[str]: ...
def check_kernel(kernel: str, agent: str, delay_ns: int, count: int) -> str: ...
def catalog() -> str: ...
def schema() -> str: ...
def tables() -> str: ...
def observation_list() -> str: ...
def feature_list() -> str: ...
def build_info() -> dict[str, str]: ...
