//! Builders of windows, ACKs and congestion events for the unit tests of the algorithms.

mod pipe;

pub(super) use pipe::Pipe;

use super::{AckSample, CongestionControl, CongestionEvent, CongestionKind, Window};
use fadeout_core::random::Stream;
use fadeout_core::registry::{Parameters, Registered, Settings, Value};
use fadeout_core::{Rate, Span, Time};

/// Returns a window of `cwnd` segments with the slow-start threshold `ssthresh`.
pub(crate) fn window(cwnd: f64, ssthresh: f64) -> Window {
    Window {
        cwnd,
        ssthresh,
        mss: 1448,
    }
}

/// Builds an algorithm with these parameters. The other parameters keep their defaults.
pub(crate) fn build<A: Registered<Stream>>(parameters: &[(&str, Value)]) -> A {
    let given = Parameters(
        parameters
            .iter()
            .map(|(name, value)| (name.to_string(), value.clone()))
            .collect(),
    );
    A::from_settings(&Settings::new(&A::ENTRY, &given), Stream::new(1, "test", 0))
}

/// Returns the value `name` for a parameter that is a choice.
pub(crate) fn choice(name: &str) -> Value {
    Value::Choice(name.to_string())
}

/// Returns an ACK at `now` for `acked` segments. The sender is in the Open state and limited by its
/// window.
pub(crate) fn ack(now: Time, acked: u32) -> AckSample {
    AckSample {
        rtt: None,
        in_flight: 10,
        prior_in_flight: 10 + acked,
        pacing_rate: Rate::from_bits_per_sec(100_000_000),
        ..AckSample::new(now, acked, Span::from_millis(100))
    }
}

/// Returns an ACK with a round-trip time in milliseconds.
pub(crate) fn ack_with_rtt(now: Time, acked: u32, rtt_ms: f64) -> AckSample {
    AckSample {
        rtt: Some(Span::from_secs_f64(rtt_ms / 1e3)),
        ..ack(now, acked)
    }
}

/// Returns a congestion event with `flight` segments outstanding.
pub(crate) fn congestion(now: Time, kind: CongestionKind, flight: u32) -> CongestionEvent {
    CongestionEvent {
        now,
        kind,
        flight_size: flight,
        in_flight: flight,
        snd_una: 0,
        snd_nxt: 0,
    }
}

/// Begins fast recovery with a whole window outstanding. Returns the new threshold.
pub(crate) fn lose<C: CongestionControl>(control: &mut C, window: &mut Window, now: Time) -> f64 {
    let flight = window.cwnd as u32;
    control.on_congestion(
        window,
        &congestion(now, CongestionKind::FastRecovery, flight),
    );
    window.ssthresh
}

/// Returns the time after `ms` milliseconds.
pub(crate) fn at_ms(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}
