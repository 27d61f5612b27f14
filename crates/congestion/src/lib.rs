#![doc = include_str!("../README.md")]
//!
//! # The interface
//!
//! Windows are in segments of one maximum segment size, as in the Linux kernel and in the papers'
//! formulas. The stack owns the [`Window`]: proportional rate reduction, undo and the response to a
//! timeout act on it too. An algorithm raises `cwnd` in [`CongestionControl::on_ack`] if
//! [`AckSample::may_grow`] is true. It sets the reduced target, `ssthresh`, in
//! [`CongestionControl::on_congestion`]. An algorithm that computes window and rate from its own
//! model (BBR) returns true from [`CongestionControl::controls_window`]. The stack then does not
//! change `cwnd`.

mod bbr;
mod bic;
mod compound;
mod copa;
pub mod coupling;
mod cubic;
mod dctcp;
mod held;
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

pub use held::Held;
pub use registry::{CONGESTION_CONTROLS, Congestion, Custom};

use fadeout_core::{LinkInfo, Rate, Span, Time};

/// The congestion window that the stack and the algorithm share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Window {
    /// Congestion window in segments. The stack sends while the whole part exceeds the segments in
    /// flight.
    pub cwnd: f64,
    /// Slow-start threshold in segments. Infinite until the first congestion event.
    pub ssthresh: f64,
    /// Maximum segment size (payload bytes).
    pub mss: u32,
}

impl Window {
    /// Largest congestion window in segments, and the largest finite threshold. At 100 Gbit/s ten
    /// million segments take more than a second.
    pub const LARGEST: f64 = 1e7;

    /// Returns true if the sender is in slow start. If `cwnd` equals `ssthresh`, the sender is in
    /// congestion avoidance, as in Linux.
    ///
    /// Standard: RFC 5681 §3.1.
    #[inline]
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }
}

/// Recovery state of the sender, named as in the Linux kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RecoveryState {
    /// No sign of loss or congestion.
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
    /// Returns the name in results files.
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
    /// Number of segments delivered over `interval`. Undefined if `interval` is `None`.
    pub delivered: u64,
    /// Time over which the segments were delivered, the longer of the send and the ACK interval.
    /// `None` if the sample is not valid.
    pub interval: Option<Span>,
    /// Connection's delivered count when the newest segment acknowledged was sent.
    pub prior_delivered: u64,
    /// True if the application limited the sender when the newest acknowledged segment was sent.
    pub is_app_limited: bool,
    /// Segments in flight when the newest acknowledged segment was sent, itself included.
    pub tx_in_flight: u32,
    /// Segments marked lost since the newest acknowledged segment was sent.
    pub lost: u32,
    /// Number of delivered segments that carried congestion-experienced marks.
    pub delivered_ce: u32,
}

impl RateSample {
    /// Returns the rate in segments per second. `None` without an interval.
    pub fn segments_per_sec(&self) -> Option<f64> {
        let secs = self.interval?.as_secs_f64();
        (secs > 0.0).then(|| self.delivered as f64 / secs)
    }
}

/// ACK before loss detection and recovery have processed it.
#[derive(Debug, Clone, Copy)]
pub struct AckArrival {
    /// Arrival time of the ACK.
    pub now: Time,
    /// First byte not acknowledged, after this ACK.
    pub snd_una: u64,
    /// Payload of a full segment, bytes.
    pub mss: u32,
    /// Round-trip time of this ACK. `None` if it would come from an ambiguous retransmission
    /// (Karn).
    pub rtt: Option<Span>,
    /// True if the ACK only advances SND.UNA. Such an ACK has no window change, SACK block or ECN
    /// echo (Linux's fast path).
    pub is_plain: bool,
}

/// ACK after loss detection and recovery have processed it, as congestion controls see it.
#[derive(Debug, Clone, Copy)]
pub struct AckSample {
    /// Arrival time of the ACK.
    pub now: Time,
    /// Segments newly acknowledged cumulatively.
    pub acked: u32,
    /// Segments newly acknowledged, cumulatively or selectively.
    pub delivered_now: u32,
    /// Number of delivered segments that the receiver reports as marked congestion-experienced.
    /// With classic feedback (one echo bit) all segments of an ACK that carries the echo. Exact
    /// with accurate feedback.
    pub delivered_ce_now: u32,
    /// Segments newly marked lost.
    pub lost_now: u32,
    /// Round-trip time of this ACK. `None` if it would come from an ambiguous retransmission
    /// (Karn).
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
    /// True if the window, not the application or the receiver, limited the sender.
    pub is_cwnd_limited: bool,
    /// True if the algorithm may raise the window, because progress was made outside recovery.
    pub may_grow: bool,
    /// True if the ACK carried an ECN echo.
    pub ece: bool,
    /// True if the sender paces.
    pub is_paced: bool,
    /// Pacing rate of the stack when the sender paces or would pace (Linux `sk_pacing_rate`).
    pub pacing_rate: Rate,
    /// Time until pacing allows the next segment to be sent. Zero if pacing allows it now.
    pub departs_in: Span,
    /// Recovery state after this ACK.
    pub state: RecoveryState,
}

impl AckSample {
    /// Returns an ACK of `acked` segments after the round-trip time `rtt`. Its sender is in the
    /// Open state, does not pace, and is limited by its window. Counts of the connection are zero.
    pub fn new(now: Time, acked: u32, rtt: Span) -> AckSample {
        AckSample {
            now,
            acked,
            delivered_now: acked,
            delivered_ce_now: 0,
            lost_now: 0,
            rtt: Some(rtt),
            srtt: rtt,
            min_rtt: rtt,
            in_flight: 0,
            prior_in_flight: acked,
            snd_una: 0,
            snd_nxt: 0,
            delivered: 0,
            lost: 0,
            rate: RateSample::default(),
            is_cwnd_limited: true,
            may_grow: true,
            ece: false,
            is_paced: false,
            pacing_rate: Rate::from_bits_per_sec(0),
            departs_in: Span::ZERO,
            state: RecoveryState::Open,
        }
    }

    /// Returns true if an algorithm that probes for bandwidth may raise its window on this ACK.
    #[inline]
    pub fn is_growth_due(&self) -> bool {
        self.may_grow && self.is_cwnd_limited
    }
}

/// Reason to shrink the window. Reported once per episode.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CongestionKind {
    /// Loss inferred from acknowledgments: fast recovery begins.
    FastRecovery,
    /// The retransmission timer expired.
    Rto,
    /// The peer echoed a congestion mark (ECN).
    Ecn,
    /// A loss that a tail loss probe repaired, or congestion in the sender's own host.
    Local,
}

/// A congestion event.
#[derive(Debug, Clone, Copy)]
pub struct CongestionEvent {
    /// Time at which the congestion was detected.
    pub now: Time,
    /// Reason to shrink the window.
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
    /// Returns the flight size that a reduction starts from, in segments. Segments sent beyond the
    /// window by limited transmit or late detection do not count.
    ///
    /// Standard: RFC 5681 §3.2, step 2.
    pub fn flight_within(&self, window: &Window) -> f64 {
        f64::from(self.flight_size).min(window.cwnd)
    }
}

/// Data segment that was sent, either new or retransmitted.
#[derive(Debug, Clone, Copy)]
pub struct SentSample {
    /// Time at which the segment was sent.
    pub now: Time,
    /// First sequence number of the segment.
    pub seq: u64,
    /// Payload in bytes.
    pub len: u32,
    /// Segments in flight, including this one.
    pub in_flight: u32,
    /// True if the segment was sent before.
    pub is_retransmission: bool,
}

/// Model of a path from which BBR computes rate and window.
///
/// Source: draft-ietf-ccwg-bbr section 2.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PathModel {
    /// Estimate of the bandwidth, in segments per second.
    pub bandwidth: f64,
    /// Estimate of the round-trip time without queues. `None` before the first sample.
    pub min_rtt: Option<Span>,
    /// Ratio of the pacing rate to the bandwidth.
    pub pacing_gain: f64,
    /// Ratio of the target window to the bandwidth-delay product.
    pub cwnd_gain: f64,
}

/// Form in which the peer reports congestion marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EcnFeedback {
    /// The peer does not report marks.
    #[default]
    None,
    /// The peer echoes marks once per window (RFC 3168). The number of marked segments is unknown.
    Classic,
    /// The peer reports the mark of each segment (RFC 8257 section 3.2).
    Dctcp,
    /// The peer reports the number of marked packets (RFC 9768).
    Accurate,
}

/// A congestion control algorithm.
///
/// The stack measures round-trip times and delivery rates, detects losses, recovers, paces and
/// undoes. The algorithm only decides the size of the window, and the rate if it controls that.
pub trait CongestionControl {
    /// Initialises the algorithm after the handshake. `srtt` is the round-trip time of the
    /// handshake. `None` if it was not measured.
    fn on_established(&mut self, _window: &mut Window, _now: Time, _srtt: Option<Span>) {}

    /// Processes an ACK after recovery has run. Called in every state, once for every ACK that
    /// acknowledges new data.
    fn on_ack(&mut self, window: &mut Window, ack: &AckSample);

    /// Reacts to congestion, once per episode: sets `window.ssthresh` to the target. The stack then
    /// reduces `cwnd` to this target (by rate reduction) or to the loss window (after a timeout).
    fn on_congestion(&mut self, window: &mut Window, event: &CongestionEvent);

    /// Reacts to the end of recovery without undo. The stack has already set `cwnd`.
    fn on_recovered(&mut self, _window: &mut Window, _now: Time) {}

    /// Reacts to a spurious reduction. `prior` is the window before the reduction. By default
    /// `cwnd` and `ssthresh` are raised to at least their prior values, as in Linux.
    fn on_spurious(&mut self, window: &mut Window, prior: &Window, _now: Time) {
        window.cwnd = window.cwnd.max(prior.cwnd);
        window.ssthresh = window.ssthresh.max(prior.ssthresh);
    }

    /// Processes an ACK before recovery does (Linux `in_ack_event`).
    fn on_ack_arrival(&mut self, _arrival: &AckArrival) {}

    /// Reacts to an expiry of the retransmission timer, also during a recovery that was already
    /// reported (Linux `set_state`). `lost` segments have been lost since the connection began. The
    /// stack has set the window to the segments in flight plus one.
    fn on_timeout(&mut self, _now: Time, _lost: u64) {}

    /// Reacts to a restart after an idle period. All data was acknowledged, and the last segment
    /// was sent `idle` ago.
    fn on_idle_restart(&mut self, _window: &mut Window, _now: Time, _idle: Span) {}

    /// Processes the transmission of a data segment. Only a [`Custom`] algorithm is called, because
    /// no built-in algorithm needs this call.
    fn on_sent(&mut self, _window: &mut Window, _sent: &SentSample) {}

    /// Returns the ECN feedback that the algorithm needs, which switches that feedback on. An
    /// algorithm for accurate feedback also sends ECT(1) when both ends agree on it.
    ///
    /// Standard: RFC 9331 §4.1.
    fn needs_ecn(&self) -> EcnFeedback {
        EcnFeedback::None
    }

    /// Records that the handshake agreed on `feedback`. Called before
    /// [`CongestionControl::on_established`].
    fn on_ecn_agreed(&mut self, _feedback: EcnFeedback) {}

    /// Processes information from a link on the path.
    fn on_link_info(&mut self, _window: &mut Window, _now: Time, _info: &LinkInfo) {}

    /// Returns true if a loss detected at `now` was caused by an outage of the link. Window and
    /// timer then stay unchanged. `rto` is the timeout without backoff.
    fn holds(&self, _now: Time, _rto: Span) -> bool {
        false
    }

    /// Returns how long the response to a loss is delayed so that the link layer can repair it, in
    /// smoothed round-trip times. `None` for no delay.
    fn loss_delay_rtts(&self) -> Option<f64> {
        None
    }

    /// Returns true if the algorithm itself sets `cwnd` in every state, without rate reduction by
    /// the stack.
    fn controls_window(&self) -> bool {
        false
    }

    /// Returns the pacing rate that the algorithm sets. `None` if the connection's configuration
    /// decides about pacing.
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }

    /// Returns the size of the send buffer in windows (Linux `sndbuf_expand`).
    fn buffered_windows(&self) -> u32 {
        2
    }

    /// Returns the algorithm's own state in a word, for traces. Empty if it has none.
    fn phase(&self) -> &'static str {
        ""
    }

    /// Returns the algorithm's model of the path, for traces. `None` if it has none.
    fn path_model(&self) -> Option<PathModel> {
        None
    }
}
