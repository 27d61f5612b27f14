"""What the compiled module offers. `fadeout.run` and `fadeout.Results` are the friendly front."""

from collections.abc import Callable, Sequence
from typing import Any, TypedDict

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
    """The rows that sum up a run that was written into a folder."""

    def columns(self, table: str, names: Sequence[str]) -> str:
        """Columns of a table as JSON: each a list under its name."""

class FadeoutError(Exception): ...

class ScenarioError(FadeoutError):
    errors: list[ErrorDetail]

class ResultError(FadeoutError):
    path: str | None

class EngineBug(FadeoutError): ...

class Window:
    """The congestion window that the stack and the algorithm share."""

    cwnd: float
    """Congestion window in segments, from 1 to 10,000,000. The stack sends while its whole part
    exceeds what is in flight."""
    ssthresh: float
    """Slow-start threshold in segments, from 1 to 10,000,000, or infinite as until the first
    congestion."""
    pacing_rate_mbps: float | None
    """Rate to pace at; None leaves pacing to the connection's profile. It stays until changed."""

    @property
    def mss_bytes(self) -> int:
        """Maximum segment size: payload of a segment."""
    @property
    def time_s(self) -> float:
        """Simulated time of the call."""
    @property
    def in_slow_start(self) -> bool:
        """Whether `cwnd` is below `ssthresh`."""

class Ack:
    """What one ACK told the stack, after loss detection and recovery have run."""

    @property
    def time_s(self) -> float:
        """When it arrived."""
    @property
    def acked(self) -> int:
        """Segments newly acknowledged cumulatively."""
    @property
    def delivered_now(self) -> int:
        """Segments newly acknowledged, cumulatively or selectively."""
    @property
    def delivered_ce_now(self) -> int:
        """Of those, how many the receiver reports as marked congestion-experienced."""
    @property
    def lost_now(self) -> int:
        """Segments newly marked lost."""
    @property
    def rtt_s(self) -> float | None:
        """Round-trip time of this ACK; None where a retransmission makes it ambiguous."""
    @property
    def srtt_s(self) -> float | None:
        """Smoothed round-trip time; None before the first sample."""
    @property
    def min_rtt_s(self) -> float | None:
        """Smallest round-trip time of the last 5 minutes; None before the first sample."""
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
        """Next sequence number to send; with `snd_una_bytes` it tells rounds apart."""
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
        """Whether the window, not the application or the receiver, limited the sender."""
    @property
    def may_grow(self) -> bool:
        """Whether the window may be raised: not in recovery, and progress was made."""
    @property
    def is_growth_due(self) -> bool:
        """`may_grow and is_cwnd_limited`: what an algorithm that probes for bandwidth asks."""
    @property
    def ece(self) -> bool:
        """Whether it carried an ECN echo."""
    @property
    def is_paced(self) -> bool:
        """Whether the sender paces."""
    @property
    def pacing_rate_mbps(self) -> float | None:
        """The stack's pacing rate; None when it has no limit yet."""
    @property
    def state(self) -> str:
        """Recovery state: "open", "disorder", "cwr", "recovery" or "loss"."""

class RateSample:
    """A delivery-rate sample (draft-ietf-ccwg-bbr section 4.1)."""

    @property
    def segments_per_s(self) -> float | None:
        """The rate; None without a valid sample."""
    @property
    def delivered(self) -> int:
        """Segments delivered over `interval_s`."""
    @property
    def interval_s(self) -> float | None:
        """Over how long: the longer of the send and the ACK interval."""
    @property
    def prior_delivered(self) -> int:
        """The connection's `delivered` when the newest segment acknowledged was sent."""
    @property
    def is_app_limited(self) -> bool:
        """Whether that segment was sent while the application limited the sender."""
    @property
    def tx_in_flight(self) -> int:
        """Segments in flight when that segment was sent, itself included."""
    @property
    def lost(self) -> int:
        """Segments marked lost since that segment was sent."""
    @property
    def delivered_ce(self) -> int:
        """Of those delivered, how many carried congestion-experienced marks."""

class CongestionEvent:
    """The network is congested."""

    @property
    def time_s(self) -> float:
        """When it was detected."""
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
    """A segment with data that left."""

    @property
    def time_s(self) -> float:
        """When it left."""
    @property
    def seq_bytes(self) -> int:
        """Its first sequence number."""
    @property
    def length_bytes(self) -> int:
        """Its payload."""
    @property
    def in_flight(self) -> int:
        """Segments in flight, this one included."""
    @property
    def is_retransmission(self) -> bool:
        """Whether it was sent before."""

class LinkInfo:
    """What a link on the path tells of itself."""

    @property
    def kind(self) -> str:
        """ "rate", "blockage-predicted", "blockage-began" or "blockage-ended"."""
    @property
    def rate_mbps(self) -> float | None:
        """The link's rate from now on, for "rate"; None for a link without limit."""
    @property
    def starts_at_s(self) -> float | None:
        """When a predicted blockage begins. It may be wrong."""
    @property
    def lasts_s(self) -> float | None:
        """How long a predicted blockage lasts. It may be wrong."""

class MeasurementReport:
    """A measurement report as the base station of the serving cell has it."""

    @property
    def time_s(self) -> float:
        """When it arrived."""
    @property
    def ue(self) -> str:
        """The UE that sent it."""
    @property
    def event(self) -> str:
        """The event that it is about: "a1" to "a5"."""
    @property
    def serving(self) -> str:
        """The serving cell."""
    @property
    def serving_dbm(self) -> float:
        """Its filtered RSRP, dBm."""
    @property
    def cells(self) -> dict[str, float]:
        """Filtered RSRP, dBm, of each cell for which the event's condition holds: the strongest
        first, eight at most, none of an event about the serving cell."""
    @property
    def loads(self) -> dict[str, int]:
        """UEs in each cell that the UE measures."""
    @property
    def max_ues(self) -> int | None:
        """`max-ues` of the scenario: most UEs that a cell takes."""

class HandoverEnd:
    """A change of cell that has ended."""

    @property
    def time_s(self) -> float:
        """When it ended."""
    @property
    def ue(self) -> str:
        """The UE."""
    @property
    def source(self) -> str:
        """The cell that it was in."""
    @property
    def target(self) -> str:
        """The cell that it was to go to, or has come to after a failure."""
    @property
    def procedure(self) -> str:
        """As in the table `handovers`: "handover", "reestablishment" or "setup"."""
    @property
    def outcome(self) -> str:
        """As in the table `handovers`: "success", "failed", "cancelled" or "refused"."""

class Simulation:
    """A run that goes on when it is told to; `fadeout.Simulation` is the front."""

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
    ) -> None: ...
    @property
    def now_s(self) -> float:
        """Simulated time."""
    @property
    def duration_s(self) -> float:
        """Length of the run."""
    @property
    def next_s(self) -> float | None:
        """When the next event is; None when there is none before the end of the run."""
    def advance(self, until_s: float) -> tuple[str, BaseException, str] | None:
        """Simulates up to and including `until_s`; the message, the exception and the kind of a
        class of the user's own that raised."""
    def finish(self) -> Outcome:
        """Ends the run where it is."""

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
def geometry(
    text: str,
    *,
    source_name: str = "<string>",
    base_dir: str | None = None,
    overrides: Sequence[str] = (),
) -> bytes: ...
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
    said: Sequence[tuple[float, tuple[float, int, int, float, float]]],
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
def check_kernel(kernel: str, agent: str, delay_ns: int, count: int) -> str: ...
def catalog() -> str: ...
def schema() -> str: ...
def tables() -> str: ...
def build_info() -> dict[str, str]: ...
