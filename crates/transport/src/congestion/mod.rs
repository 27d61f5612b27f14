//! Congestion control: the trait, what the stack tells an algorithm, and the closed set of them.
//!
//! Windows are in segments of one maximum segment size, as in the Linux kernel and in the papers'
//! formulas. The stack owns the [`Window`]: proportional rate reduction, undo and the response to
//! a timeout act on it too. An algorithm moves `cwnd` in [`CongestionControl::on_ack`] when
//! [`AckSample::may_grow`] says so and names the reduced target, `ssthresh`, in
//! [`CongestionControl::on_congestion`]. One that sets window and rate by its own model (BBR)
//! says so by [`CongestionControl::controls_window`], and the stack then leaves `cwnd` alone.

mod bbr;
mod bic;
mod compound;
mod copa;
pub mod coupling;
mod cubic;
mod dctcp;
mod highspeed;
mod htcp;
mod hybla;
pub(crate) mod hystart;
mod hystart_plus_plus;
mod illinois;
pub(crate) mod linux;
mod new_reno;
mod prague;
mod registry;
mod reno;
mod rounds;
mod rtw_tcp;
mod scalable;
mod tahoe;
mod vegas;
mod veno;
mod westwood;
mod x_tcp;
mod yeah;

#[cfg(test)]
mod battery;
#[cfg(test)]
mod closed_forms;
#[cfg(test)]
mod kernel_runs;
#[cfg(test)]
pub(crate) mod testing;

pub use registry::{CONGESTION_CONTROLS, Congestion, Custom};

use fadeout_core::{LinkInfo, Rate, Span, Time};

/// The congestion window that the stack and the algorithm share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Window {
    /// Congestion window in segments. The stack sends while the whole part exceeds what is in
    /// flight.
    pub cwnd: f64,
    /// Slow-start threshold in segments; infinite until the first congestion event.
    pub ssthresh: f64,
    /// Maximum segment size (payload bytes).
    pub mss: u32,
}

impl Window {
    /// Largest congestion window in segments, and the largest finite threshold. Ten million
    /// segments are a second at 100 Gbit/s.
    pub const LARGEST: f64 = 1e7;

    /// Whether the sender is in slow start (RFC 5681 section 3.1; at equality Linux avoids).
    #[inline]
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }
}

/// The sender's recovery state, by the names of the Linux kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RecoveryState {
    /// Nothing suspicious.
    #[default]
    Open,
    /// SACKs or duplicate ACKs, no loss inferred yet.
    Disorder,
    /// The window is being reduced for a reason other than loss (ECN, a repaired tail loss).
    Cwr,
    /// Fast recovery.
    Recovery,
    /// After a retransmission timeout.
    Loss,
}

impl RecoveryState {
    /// The name in results files.
    pub const fn name(self) -> &'static str {
        match self {
            RecoveryState::Open => "open",
            RecoveryState::Disorder => "disorder",
            RecoveryState::Cwr => "cwr",
            RecoveryState::Recovery => "recovery",
            RecoveryState::Loss => "loss",
        }
    }
}

/// A delivery-rate sample (draft-ietf-ccwg-bbr section 4.1; Linux `struct rate_sample`).
#[derive(Debug, Clone, Copy, Default)]
pub struct RateSample {
    /// Segments delivered over `interval`; meaningless when `interval` is `None`.
    pub delivered: u64,
    /// Over how long they were delivered: the longer of the send and the ACK interval.
    pub interval: Option<Span>,
    /// Connection's delivered count when the newest segment acknowledged was sent.
    pub prior_delivered: u64,
    /// Whether that segment was sent while the application limited the sender.
    pub is_app_limited: bool,
    /// Segments in flight when that segment was sent, itself included.
    pub tx_in_flight: u32,
    /// Segments marked lost since that segment was sent.
    pub lost: u32,
    /// Of those delivered, how many carried congestion-experienced marks.
    pub delivered_ce: u32,
}

impl RateSample {
    /// The rate in segments per second.
    pub fn segments_per_sec(&self) -> Option<f64> {
        let secs = self.interval?.as_secs_f64();
        (secs > 0.0).then(|| self.delivered as f64 / secs)
    }
}

/// An ACK before loss detection and recovery have run.
#[derive(Debug, Clone, Copy)]
pub struct AckArrival {
    /// When the ACK arrived.
    pub now: Time,
    /// First byte not acknowledged, this ACK included.
    pub snd_una: u64,
    /// Payload of a full segment, bytes.
    pub mss: u32,
    /// Round-trip time of this ACK, never from an ambiguous retransmission (Karn).
    pub rtt: Option<Span>,
    /// It advances and says nothing else: no other window, SACK or echo of a mark (Linux's fast path).
    pub is_plain: bool,
}

/// An ACK as congestion controls see it, after loss detection and recovery have run.
#[derive(Debug, Clone, Copy)]
pub struct AckSample {
    /// When the ACK arrived.
    pub now: Time,
    /// Segments newly acknowledged cumulatively.
    pub acked: u32,
    /// Segments newly acknowledged, cumulatively or selectively.
    pub delivered_now: u32,
    /// Of those, how many the receiver reports as marked congestion-experienced. With classic
    /// feedback (one echo bit) all of an ACK that carries the echo; exact with accurate feedback.
    pub delivered_ce_now: u32,
    /// Segments newly marked lost.
    pub lost_now: u32,
    /// Round-trip time of this ACK, never from an ambiguous retransmission (Karn).
    pub rtt: Option<Span>,
    /// Smoothed round-trip time, zero before the first sample.
    pub srtt: Span,
    /// Smallest round-trip time seen (windowed over 5 minutes), [`Span::MAX`] before the first.
    pub min_rtt: Span,
    /// Segments in flight now.
    pub in_flight: u32,
    /// Segments in flight before this ACK.
    pub prior_in_flight: u32,
    /// First sequence number not acknowledged (SND.UNA), after this ACK.
    pub snd_una: u64,
    /// Next sequence number to send (SND.NXT).
    pub snd_nxt: u64,
    /// Segments delivered since the connection began.
    pub delivered: u64,
    /// Segments lost since the connection began.
    pub lost: u64,
    /// Delivery-rate sample.
    pub rate: RateSample,
    /// Whether the window, not the application or the receiver, limited the sender.
    pub is_cwnd_limited: bool,
    /// Whether the algorithm may raise the window: not in recovery and progress was made.
    pub may_grow: bool,
    /// Whether the ACK carried an ECN echo.
    pub ece: bool,
    /// Whether the sender paces.
    pub is_paced: bool,
    /// The stack's pacing rate when the sender paces or would (Linux `sk_pacing_rate`).
    pub pacing_rate: Rate,
    /// Time until pacing lets the next segment go; zero when it may go now.
    pub departs_in: Span,
    /// Recovery state after this ACK.
    pub state: RecoveryState,
}

impl AckSample {
    /// Whether an algorithm that probes for bandwidth may raise its window on this ACK.
    #[inline]
    pub fn is_growth_due(&self) -> bool {
        self.may_grow && self.is_cwnd_limited
    }
}

/// Why the window must shrink. Reported once per episode.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CongestionKind {
    /// Loss inferred from acknowledgments: fast recovery begins.
    FastRecovery,
    /// The retransmission timer expired.
    Rto,
    /// ECN echo.
    Ecn,
    /// A loss that a tail loss probe repaired, or congestion in the sender's own host.
    Local,
}

/// A congestion event.
#[derive(Debug, Clone, Copy)]
pub struct CongestionEvent {
    /// When it was detected.
    pub now: Time,
    /// Kind of the event.
    pub kind: CongestionKind,
    /// Outstanding segments: sent and not cumulatively acknowledged (RFC 5681 FlightSize).
    pub flight_size: u32,
    /// Segments believed to be in the network (RFC 6675 pipe).
    pub in_flight: u32,
    /// First sequence number not acknowledged.
    pub snd_una: u64,
    /// Next sequence number to send.
    pub snd_nxt: u64,
}

impl CongestionEvent {
    /// The flight size that a reduction starts from, in segments: what limited transmit and late
    /// detection put out beyond the window does not count.
    ///
    /// Standard: RFC 5681 §3.2, step 2.
    pub fn flight_within(&self, window: &Window) -> f64 {
        f64::from(self.flight_size).min(window.cwnd)
    }
}

/// A segment with data that left, new or again.
#[derive(Debug, Clone, Copy)]
pub struct SentSample {
    /// When it left.
    pub now: Time,
    /// Its first sequence number.
    pub seq: u64,
    /// Its payload in bytes.
    pub len: u32,
    /// Segments in flight, this one included.
    pub in_flight: u32,
    /// Whether it was sent before.
    pub is_retransmission: bool,
}

/// How the peer reports congestion marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EcnFeedback {
    /// Not at all.
    #[default]
    None,
    /// One echo a window (RFC 3168): how many segments were marked stays unknown.
    Classic,
    /// The mark of each segment (RFC 8257 section 3.2).
    Dctcp,
    /// Counts of marked packets (RFC 9768).
    Accurate,
}

/// A congestion control algorithm.
///
/// The stack measures round-trip times and delivery rates, detects losses, recovers, paces and
/// undoes; the algorithm only decides how large the window, and if it wishes the rate, should be.
pub trait CongestionControl {
    /// The handshake is complete; `srtt` is its round-trip time when it was measured.
    fn on_established(&mut self, _window: &mut Window, _now: Time, _srtt: Option<Span>) {}

    /// An ACK was processed. Called once for every ACK that acknowledges something new, after
    /// recovery has run, in every state.
    fn on_ack(&mut self, window: &mut Window, ack: &AckSample);

    /// The network is congested, once per episode: set `window.ssthresh` to the target. The stack
    /// then brings `cwnd` there (by rate reduction) or to the loss window (after a timeout).
    fn on_congestion(&mut self, window: &mut Window, event: &CongestionEvent);

    /// Recovery ended without undo; `cwnd` already is what the stack made it.
    fn on_recovered(&mut self, _window: &mut Window, _now: Time) {}

    /// The reduction was spurious. `prior` is the window before it. The default is Linux's:
    /// neither `cwnd` nor `ssthresh` stays below what it was.
    fn on_spurious(&mut self, window: &mut Window, prior: &Window, _now: Time) {
        window.cwnd = window.cwnd.max(prior.cwnd);
        window.ssthresh = window.ssthresh.max(prior.ssthresh);
    }

    /// An ACK arrived; recovery has not looked at it yet (Linux `in_ack_event`).
    fn on_ack_arrival(&mut self, _arrival: &AckArrival) {}

    /// The retransmission timer expired, in an episode that was reported or not (Linux `set_state`);
    /// `lost` segments have been lost since the connection began. The window is one segment more than
    /// what is in flight.
    fn on_timeout(&mut self, _now: Time, _lost: u64) {}

    /// Sending starts again after everything was acknowledged, `idle` after the last send.
    fn on_idle_restart(&mut self, _window: &mut Window, _now: Time, _idle: Span) {}

    /// A segment with data left. Only a [`Custom`] algorithm is told: no built-in one looks.
    fn on_sent(&mut self, _window: &mut Window, _sent: &SentSample) {}

    /// The ECN feedback that the algorithm is made for; naming it switches that on. One that is
    /// made for accurate feedback also sends ECT(1) when it gets it.
    ///
    /// Standard: RFC 9331 §4.1.
    fn needs_ecn(&self) -> EcnFeedback {
        EcnFeedback::None
    }

    /// The handshake agreed on `feedback`. Called before [`CongestionControl::on_established`].
    fn on_ecn_agreed(&mut self, _feedback: EcnFeedback) {}

    /// A link on the path tells something of itself.
    fn on_link_info(&mut self, _window: &mut Window, _now: Time, _info: &LinkInfo) {}

    /// Whether a loss found at `now` belongs to an outage that window and timer, which is `rto`
    /// without backoff, sit out unchanged.
    fn holds(&self, _now: Time, _rto: Span) -> bool {
        false
    }

    /// How long the response to a loss waits for the link layer, in smoothed round-trip times.
    fn loss_delay_rtts(&self) -> Option<f64> {
        None
    }

    /// Whether the algorithm sets `cwnd` in every state itself; no rate reduction by the stack.
    fn controls_window(&self) -> bool {
        false
    }

    /// The rate to pace at; `None` leaves pacing to the connection's configuration.
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }

    /// Windows that the send buffer holds (Linux `sndbuf_expand`).
    fn buffered_windows(&self) -> u32 {
        2
    }

    /// The algorithm's own state in a word, for traces; empty when it has none.
    fn phase(&self) -> &'static str {
        ""
    }
}
