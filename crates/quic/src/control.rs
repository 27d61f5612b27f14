//! A congestion control of TCP as the controller of a QUIC connection.
//!
//! A packet of QUIC takes the place of a segment. Bytes sent take the place of sequence numbers.
//! The adapter takes the place of TCP's stack around an algorithm. It measures delivery rates,
//! begins and ends recoveries, and sets the window to the threshold, with the rules of RFC 9002.

use crate::clock::Clock;
use crate::clocks::Instant;
use crate::delivery::{Acked, Delivery};
use fadeout_core::{Rate, Span, Time};
use fadeout_transport::congestion::{
    AckArrival, AckSample, Congestion, CongestionControl, CongestionEvent, CongestionKind,
    EcnFeedback, RecoveryState, Window,
};
use noq_proto::RttEstimator;
use noq_proto::congestion::{Controller, ControllerFactory, ControllerMetrics};
use std::any::Any;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Smallest congestion window, packets (kMinimumWindow).
///
/// Standard: RFC 9002 §7.2.
const SMALLEST_WINDOW: f64 = 2.0;

/// Returns the initial window, bytes.
///
/// Standard: RFC 9002 §7.2.
fn initial_window(mtu: u32) -> u64 {
    let mtu = u64::from(mtu);
    (10 * mtu).min((2 * mtu).max(14_720))
}

/// Constructor of a connection's congestion control.
pub(crate) type Make = Arc<dyn Fn() -> Congestion + Send + Sync>;

/// Factory of adapters.
pub(crate) struct AdapterFactory {
    pub(crate) make: Make,
    pub(crate) clock: Clock,
}

impl ControllerFactory for AdapterFactory {
    fn build(self: Arc<Self>, _: Instant, mtu: u16) -> Box<dyn Controller> {
        let make = Arc::clone(&self.make);
        Box::new(Adapter::new(make, self.clock, u32::from(mtu)))
    }
}

/// Congestion control of TCP in a QUIC connection.
struct Adapter {
    /// The algorithm. The mutex is never locked by two threads. It is there because the stack
    /// demands a controller that threads may share.
    control: Mutex<Congestion>,
    make: Make,
    clock: Clock,
    window: Window,
    /// Window before the last reduction.
    prior: Window,
    delivery: Delivery,
    /// Packets that the present ACK acknowledges.
    acked: Acked,
    /// Start of the present recovery. `None` outside of recovery.
    recovery: Option<Time>,
    /// Start of the latest recovery, also after its end. The stack finds losses after it has
    /// processed an ACK, and that ACK may have ended the recovery of the lost packets.
    reduced_at: Option<Time>,
    state: RecoveryState,
    /// True after the first ACK.
    is_established: bool,
    srtt: Span,
    min_rtt: Span,
    /// Number of lost packets at the last ACK.
    lost_before: u64,
    last_sent_at: Time,
}

impl fmt::Debug for Adapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Adapter")
            .field("window", &self.window)
            .finish_non_exhaustive()
    }
}

/// Borrows the algorithm. A method would borrow the window, too, which the calls also need.
macro_rules! control {
    ($adapter:expr) => {
        $adapter
            .control
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner)
    };
}

impl Adapter {
    fn new(make: Make, clock: Clock, mtu: u32) -> Adapter {
        let window = Window {
            cwnd: initial_window(mtu) as f64 / f64::from(mtu),
            ssthresh: f64::INFINITY,
            mss: mtu,
        };
        let mut control = make();
        if control.needs_ecn() != EcnFeedback::None {
            control.on_ecn_agreed(EcnFeedback::Classic);
        }
        Adapter {
            control: Mutex::new(control),
            make,
            clock,
            window,
            prior: window,
            delivery: Delivery::new(),
            acked: Acked::default(),
            recovery: None,
            reduced_at: None,
            state: RecoveryState::Open,
            is_established: false,
            srtt: Span::ZERO,
            min_rtt: Span::MAX,
            lost_before: 0,
            last_sent_at: Time::ZERO,
        }
    }

    fn window_bytes(&self) -> u64 {
        (self.window.cwnd.max(SMALLEST_WINDOW) * f64::from(self.window.mss)) as u64
    }

    /// Returns the number of packets lost since the last ACK.
    fn lost_since_ack(&self) -> u32 {
        u32::try_from(self.delivery.lost() - self.lost_before).unwrap_or(u32::MAX)
    }

    /// Smooths the round-trip time with a sample.
    ///
    /// Standard: RFC 9002 §5.3.
    fn on_rtt(&mut self, rtt: Span) {
        self.min_rtt = self.min_rtt.min(rtt);
        self.srtt = if self.srtt.is_zero() {
            rtt
        } else {
            (self.srtt.saturating_mul(7) + rtt) / 8
        };
    }

    /// Returns the rate of the algorithm, or else that of the stack: 1.25 windows in a round-trip
    /// time.
    ///
    /// Standard: RFC 9002 §7.7.
    fn pacing_rate(&mut self) -> Rate {
        let own = control!(self).pacing_rate();
        own.unwrap_or_else(|| {
            let bits = 8.0 * 1.25 * self.window_bytes() as f64;
            match self.srtt.is_zero() {
                true => Rate::UNLIMITED,
                false => Rate::from_bits_per_sec((bits / self.srtt.as_secs_f64()) as u64),
            }
        })
    }

    fn ack_sample(&mut self, now: Time, acked: &Acked, is_app_limited: bool) -> AckSample {
        let rate = self.delivery.sample(acked, is_app_limited, self.min_rtt);
        let lost_now = self.lost_since_ack();
        let lost = self.delivery.lost();
        self.lost_before = lost;
        let pacing_rate = self.pacing_rate();
        AckSample {
            now,
            acked: acked.later_packets,
            delivered_now: acked.packets,
            delivered_ce_now: 0,
            lost_now,
            rtt: acked.rtt,
            srtt: self.srtt,
            min_rtt: self.min_rtt,
            in_flight: self.delivery.in_flight(),
            prior_in_flight: acked.prior_in_flight,
            snd_una: self.delivery.oldest_position(),
            snd_nxt: self.delivery.next_position(),
            delivered: self.delivery.delivered(),
            lost,
            rate,
            is_cwnd_limited: !is_app_limited,
            may_grow: acked.later_packets > 0,
            ece: false,
            is_paced: true,
            pacing_rate,
            departs_in: Span::ZERO,
            state: self.state,
        }
    }
}

impl Controller for Adapter {
    fn on_packet_sent(&mut self, now: Instant, bytes: u16, number: u64) {
        let now = self.clock.time(now);
        if self.is_established && self.delivery.in_flight() == 0 {
            let idle = now.since(self.last_sent_at);
            control!(self).on_idle_restart(&mut self.window, now, idle);
        }
        self.last_sent_at = now;
        self.delivery.on_sent(now, number, u64::from(bytes));
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        _: u64,
        number: u64,
        _: bool,
        _: &RttEstimator,
    ) {
        let times = (self.clock.time(now), self.clock.time(sent));
        self.delivery
            .on_acked(times, number, self.recovery, &mut self.acked);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, is_app_limited: bool, _: Option<u64>) {
        let now = self.clock.time(now);
        let acked = std::mem::take(&mut self.acked);
        self.delivery.forget_beyond(in_flight);
        if acked.packets == 0 {
            return;
        }
        if let Some(rtt) = acked.rtt {
            self.on_rtt(rtt);
        }
        if !self.is_established {
            self.is_established = true;
            let srtt = (!self.srtt.is_zero()).then_some(self.srtt);
            control!(self).on_established(&mut self.window, now, srtt);
        }
        // A packet that was sent in the recovery ends it (RFC 9002 section 7.3.2).
        if self.recovery.is_some() && acked.later_packets > 0 {
            self.recovery = None;
            self.state = RecoveryState::Open;
            control!(self).on_recovered(&mut self.window, now);
        }
        let sample = self.ack_sample(now, &acked, is_app_limited);
        let arrival = AckArrival {
            now,
            snd_una: sample.snd_una,
            mss: self.window.mss,
            rtt: acked.rtt,
            is_plain: false,
        };
        let control = control!(self);
        control.on_ack_arrival(&arrival);
        control.on_ack(&mut self.window, &sample);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent: bool,
        is_ecn: bool,
        _: u64,
        _: u64,
    ) {
        let (now, sent) = (self.clock.time(now), self.clock.time(sent));
        // One reduction answers all losses of packets sent before it (RFC 9002 section 7.3.1).
        let is_new = self.reduced_at.is_none_or(|start| sent > start);
        if !is_new && !is_persistent {
            return;
        }
        let kind = match (is_persistent, is_ecn) {
            (true, _) => CongestionKind::Rto,
            (false, true) => CongestionKind::Ecn,
            (false, false) => CongestionKind::FastRecovery,
        };
        let in_flight = self.delivery.in_flight();
        let event = CongestionEvent {
            now,
            kind,
            flight_size: in_flight.saturating_add(self.lost_since_ack()),
            in_flight,
            snd_una: self.delivery.oldest_position(),
            snd_nxt: self.delivery.next_position(),
        };
        self.prior = self.window;
        (self.recovery, self.reduced_at) = (Some(now), Some(now));
        self.state = match is_persistent {
            true => RecoveryState::Loss,
            false => RecoveryState::Recovery,
        };
        let control = control!(self);
        if is_new {
            control.on_congestion(&mut self.window, &event);
        }
        if !control.controls_window() {
            // The window falls at once (RFC 9002 section 7.3.2), and to its minimum in persistent
            // congestion (section 7.6.2).
            self.window.ssthresh = self.window.ssthresh.max(SMALLEST_WINDOW);
            self.window.cwnd = match is_persistent {
                true => SMALLEST_WINDOW,
                false => self.window.ssthresh,
            };
        }
        if is_persistent {
            control.on_timeout(now, self.delivery.lost());
        }
    }

    fn on_packet_lost(&mut self, _: u16, number: u64, _: Instant) {
        self.delivery.on_lost(number);
    }

    fn on_spurious_congestion_event(&mut self) {
        // The stack gives no time. It calls the controller while it processes an ACK, and the
        // last packet was sent earlier.
        let (prior, now) = (self.prior, self.last_sent_at);
        control!(self).on_spurious(&mut self.window, &prior, now);
        (self.recovery, self.reduced_at) = (None, None);
        self.state = RecoveryState::Open;
    }

    fn on_mtu_update(&mut self, mtu: u16) {
        // The window keeps its bytes.
        let factor = f64::from(self.window.mss) / f64::from(mtu);
        for window in [&mut self.window, &mut self.prior] {
            window.cwnd *= factor;
            window.ssthresh *= factor;
            window.mss = u32::from(mtu);
        }
    }

    fn window(&self) -> u64 {
        self.window_bytes()
    }

    fn metrics(&self) -> ControllerMetrics {
        let control = self.control.lock();
        let control = control.unwrap_or_else(PoisonError::into_inner);
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = self.window_bytes();
        metrics.ssthresh = (self.window.ssthresh.is_finite())
            .then(|| (self.window.ssthresh * f64::from(self.window.mss)) as u64);
        metrics.pacing_rate = (control.pacing_rate())
            .filter(|rate| !rate.is_unlimited())
            .map(|rate| (rate.as_bytes_per_sec_f64() as u64).max(1));
        metrics
    }

    /// Returns a new controller, which begins as at the start of a connection.
    fn clone_box(&self) -> Box<dyn Controller> {
        let make = Arc::clone(&self.make);
        Box::new(Adapter::new(make, self.clock, self.window.mss))
    }

    fn initial_window(&self) -> u64 {
        initial_window(self.window.mss)
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// Returns the reason why a congestion control cannot run over QUIC. `None` if it can.
pub(crate) fn refusal(control: &Congestion) -> Option<&'static str> {
    match control.needs_ecn() {
        EcnFeedback::Dctcp | EcnFeedback::Accurate => {
            return Some("it needs the number of marked packets in each ACK");
        }
        EcnFeedback::None | EcnFeedback::Classic => {}
    }
    if matches!(control, Congestion::Tahoe(_)) {
        return Some("its response to a loss is part of TCP's stack");
    }
    if control.loss_delay_rtts().is_some() {
        return Some("it delays the response to a loss, and the QUIC stack does not");
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clocks::Duration;
    use fadeout_core::random::Stream;
    use fadeout_core::registry::Parameters;

    fn adapter(name: &'static str) -> Adapter {
        let make = move || {
            let control = Congestion::new(name, Parameters::NONE, Stream::new(1, "test", 0));
            control.expect("it is registered")
        };
        Adapter::new(Arc::new(make), Clock::new(), 1200)
    }

    fn at(adapter: &Adapter, ms: u64) -> Instant {
        adapter.clock.instant(Time::ZERO) + Duration::from_millis(ms)
    }

    #[test]
    fn the_initial_window_is_ten_datagrams_within_the_rfcs_bounds() {
        assert_eq!(initial_window(1200), 12_000);
        assert_eq!(initial_window(1472), 14_720);
        assert_eq!(initial_window(1500), 14_720);
        assert_eq!(initial_window(9000), 18_000);
    }

    /// Returns a controller that sent ten packets at once and lost the first of them 40 ms later,
    /// with these two times.
    fn after_a_loss() -> (Adapter, Instant, Instant) {
        let mut it = adapter("reno");
        let (sent, later) = (at(&it, 0), at(&it, 40));
        for number in 0..10 {
            it.on_packet_sent(sent, 1200, number);
        }
        assert_eq!(it.window(), 12_000);
        it.on_packet_lost(1200, 0, later);
        it.on_congestion_event(later, sent, false, false, 1200, 0);
        assert_eq!(it.window(), 6_000);
        (it, sent, later)
    }

    #[test]
    fn packets_lost_in_one_round_trip_reduce_the_window_once() {
        let (mut it, sent, later) = after_a_loss();
        it.on_packet_lost(1200, 1, later);
        it.on_congestion_event(at(&it, 41), sent, false, false, 1200, 1);
        assert_eq!(it.window(), 6_000);
        // A packet sent in the recovery is lost, too.
        it.on_packet_sent(at(&it, 50), 1200, 10);
        it.on_packet_lost(1200, 10, at(&it, 90));
        it.on_congestion_event(at(&it, 90), at(&it, 50), false, false, 1200, 10);
        assert!(it.window() < 6_000);
    }

    #[test]
    fn an_ack_that_ends_a_recovery_may_show_more_losses_of_it() {
        let (mut it, sent, _) = after_a_loss();
        let (sent_later, end) = (at(&it, 41), at(&it, 81));
        it.on_packet_sent(sent_later, 1200, 10);
        // Only the stack can construct the estimator that `on_ack` takes.
        let times = (it.clock.time(end), it.clock.time(sent_later));
        let recovery = it.recovery;
        it.delivery.on_acked(times, 10, recovery, &mut it.acked);
        it.on_end_acks(end, 10_800, false, Some(10));
        assert_eq!(it.recovery, None);
        let before = it.window();
        it.on_packet_lost(1200, 1, end);
        it.on_congestion_event(end, sent, false, false, 1200, 1);
        assert_eq!(it.window(), before);
    }

    #[test]
    fn persistent_congestion_leaves_two_packets() {
        let mut it = adapter("cubic");
        let sent = at(&it, 0);
        it.on_packet_sent(sent, 1200, 0);
        it.on_packet_lost(1200, 0, at(&it, 900));
        it.on_congestion_event(at(&it, 900), sent, true, false, 1200, 0);
        assert_eq!(it.window(), 2_400);
    }

    #[test]
    fn a_larger_mtu_keeps_the_bytes_of_the_window() {
        let mut it = adapter("cubic");
        it.on_mtu_update(1472);
        // The window is within a byte, because it is stored in packets.
        assert!(it.window().abs_diff(12_000) <= 1, "{}", it.window());
    }

    #[test]
    fn algorithms_that_need_more_than_the_stack_reports_are_refused() {
        for name in ["dctcp", "prague", "tahoe"] {
            let it = adapter(name);
            let control = it.control.into_inner().expect("nobody panics");
            assert!(refusal(&control).is_some(), "{name}");
        }
        for name in ["reno", "cubic", "copa", "vegas", "westwood"] {
            let control = adapter(name).control.into_inner().expect("nobody panics");
            assert_eq!(refusal(&control), None, "{name}");
        }
    }
}
