//! Observer of a congestion controller. The QUIC stack does not report these numbers.

use crate::clock::span;
use crate::clocks::{Duration, Instant};
use fadeout_core::Span;
use noq_proto::RttEstimator;
use noq_proto::congestion::{Controller, ControllerFactory, ControllerMetrics};
use std::any::Any;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// Round-trip times and packets of a path.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Seen {
    /// Number of round-trip time samples.
    pub(crate) samples: u64,
    /// Latest sample. Zero before the first.
    pub(crate) latest: Span,
    /// Smallest sample. `None` before the first.
    pub(crate) smallest: Option<Span>,
    /// Sum of all samples, seconds.
    pub(crate) sum_s: f64,
    /// Bytes in flight after the last ACK.
    pub(crate) in_flight_bytes: u64,
    /// Bytes of acknowledged packets.
    pub(crate) acked_bytes: u64,
    /// Largest acknowledged packet that elicits ACKs, and its round-trip time, during an ACK.
    /// `None` between ACKs.
    newest: Option<(u64, Span)>,
    /// Largest acknowledged packet of any kind. `None` before the first ACK.
    largest: Option<u64>,
}

/// State that an observer shares with the connection.
pub(crate) type Shared = Arc<Mutex<Seen>>;

/// States of the controllers that a factory has built, in order. The stack builds a controller for
/// each path that opens, and does not name the path.
#[derive(Debug, Clone, Default)]
pub(crate) struct Controllers(Arc<Mutex<VecDeque<Shared>>>);

impl Controllers {
    fn push(&self, shared: Shared) {
        let mut list = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        list.push_back(shared);
    }

    /// Forgets the controllers of a connection that was not accepted.
    pub(crate) fn clear(&self) {
        let mut list = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        list.clear();
    }

    /// Returns the state of the oldest controller, and removes it from the list. `None` if the list
    /// is empty.
    pub(crate) fn take_oldest(&self) -> Option<Shared> {
        let mut list = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        list.pop_front()
    }
}

/// Returns a copy of the shared state.
pub(crate) fn seen(shared: &Shared) -> Seen {
    *shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Controller whose calls are observed.
#[derive(Debug)]
pub(crate) struct Observed {
    inner: Box<dyn Controller>,
    seen: Shared,
}

impl Observed {
    fn record(&self, change: impl FnOnce(&mut Seen)) {
        change(&mut self.seen.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Controller for Observed {
    fn on_sent(&mut self, now: Instant, bytes: u64, last: u64) {
        self.inner.on_sent(now, bytes, last);
    }

    fn on_packet_sent(&mut self, now: Instant, bytes: u16, number: u64) {
        self.inner.on_packet_sent(now, bytes, number);
    }

    fn on_cwnd_limited(&mut self) {
        self.inner.on_cwnd_limited();
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        number: u64,
        is_app_limited: bool,
        rtt: &RttEstimator,
    ) {
        let sample = span(now.saturating_duration_since(sent));
        self.record(|seen| {
            seen.acked_bytes += bytes;
            seen.newest = seen.newest.max(Some((number, sample)));
        });
        self.inner
            .on_ack(now, sent, bytes, number, is_app_limited, rtt);
    }

    fn on_end_acks(
        &mut self,
        now: Instant,
        in_flight: u64,
        is_app_limited: bool,
        largest: Option<u64>,
    ) {
        self.record(|seen| {
            seen.in_flight_bytes = in_flight;
            // An ACK gives a sample if it acknowledges a larger number than before, and a packet
            // that elicits ACKs (RFC 9002 section 5.1). Only such packets have a call of `on_ack`.
            let is_larger = largest > seen.largest;
            seen.largest = largest;
            if let Some((_, sample)) = seen.newest.take()
                && is_larger
            {
                seen.samples += 1;
                seen.latest = sample;
                seen.smallest = Some(seen.smallest.map_or(sample, |it| it.min(sample)));
                seen.sum_s += sample.as_secs_f64();
            }
        });
        self.inner
            .on_end_acks(now, in_flight, is_app_limited, largest);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent: bool,
        is_ecn: bool,
        lost_bytes: u64,
        largest_lost: u64,
    ) {
        self.inner
            .on_congestion_event(now, sent, is_persistent, is_ecn, lost_bytes, largest_lost);
    }

    fn on_packet_lost(&mut self, bytes: u16, number: u64, now: Instant) {
        self.inner.on_packet_lost(bytes, number, now);
    }

    fn on_spurious_congestion_event(&mut self) {
        self.inner.on_spurious_congestion_event();
    }

    fn on_mtu_update(&mut self, mtu: u16) {
        self.inner.on_mtu_update(mtu);
    }

    fn on_ack_frequency_update(&mut self, threshold: u64, max_ack_delay: Duration) {
        self.inner.on_ack_frequency_update(threshold, max_ack_delay);
    }

    fn window(&self) -> u64 {
        self.inner.window()
    }

    fn metrics(&self) -> ControllerMetrics {
        self.inner.metrics()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Observed {
            inner: self.inner.clone_box(),
            seen: Arc::clone(&self.seen),
        })
    }

    fn initial_window(&self) -> u64 {
        self.inner.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// Factory of observed controllers.
pub(crate) struct ObservedFactory {
    pub(crate) inner: Arc<dyn ControllerFactory + Send + Sync>,
    pub(crate) built: Controllers,
}

impl ControllerFactory for ObservedFactory {
    fn build(self: Arc<Self>, now: Instant, mtu: u16) -> Box<dyn Controller> {
        let seen = Shared::default();
        self.built.push(Arc::clone(&seen));
        Box::new(Observed {
            inner: Arc::clone(&self.inner).build(now, mtu),
            seen,
        })
    }
}
