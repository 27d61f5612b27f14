//! Mean windows of all congestion controls on a path that loses one packet in a thousand at equal
//! distances, with a constant round-trip time.
//!
//! `cargo run -p fadeout-congestion --example periodic_loss`

use fadeout_congestion::{
    AckSample, CONGESTION_CONTROLS, Congestion, CongestionControl, CongestionEvent, CongestionKind,
    RateSample, Window,
};
use fadeout_core::random::Stream;
use fadeout_core::registry::Parameters;
use fadeout_core::{Rate, Span, Time};

const RTT: Span = Span::from_millis(100);
/// Number of packets from one loss to the next.
const PERIOD: u64 = 1_000;

/// Connection that sends one window each round trip.
struct Connection {
    control: Congestion,
    window: Window,
    now: Time,
    delivered: u64,
}

impl Connection {
    fn new(name: &str) -> Connection {
        let random = Stream::new(1, "control", 0);
        let mut connection = Connection {
            control: Congestion::new(name, &Parameters::default(), random)
                .expect("a registered name"),
            window: Window {
                cwnd: 10.0,
                ssthresh: f64::INFINITY,
                mss: 1448,
            },
            now: Time::ZERO,
            delivered: 0,
        };
        let window = &mut connection.window;
        (connection.control).on_established(window, Time::ZERO, Some(RTT));
        connection
    }

    /// Sends one window and gets an ACK for each of its segments. Returns the segments sent.
    fn round_trip(&mut self) -> u64 {
        let sent = (self.window.cwnd as u64).max(1);
        let before = self.delivered;
        for segment in 0..sent {
            // The ACKs of a window are spread over the round trip.
            let at = self.now + RTT * (segment + 1) / sent;
            self.on_ack(at, sent as u32, before);
        }
        self.now += RTT;
        if self.delivered / PERIOD > before / PERIOD {
            self.lose(sent as u32);
        }
        sent
    }

    fn on_ack(&mut self, at: Time, in_flight: u32, before: u64) {
        self.delivered += 1;
        let bits = f64::from(in_flight) * 8.0 * f64::from(self.window.mss);
        let sample = AckSample {
            in_flight,
            prior_in_flight: in_flight,
            snd_una: self.delivered * u64::from(self.window.mss),
            snd_nxt: (self.delivered + u64::from(in_flight)) * u64::from(self.window.mss),
            delivered: self.delivered,
            pacing_rate: Rate::from_bits_per_sec((bits / RTT.as_secs_f64()) as u64),
            rate: RateSample {
                delivered: u64::from(in_flight),
                interval: Some(RTT),
                prior_delivered: before,
                tx_in_flight: in_flight,
                ..RateSample::default()
            },
            ..AckSample::new(at, 1, RTT)
        };
        self.control.on_ack(&mut self.window, &sample);
    }

    /// Reports a loss. Recovery is instantaneous, and the window is its target afterwards.
    fn lose(&mut self, in_flight: u32) {
        let event = CongestionEvent {
            now: self.now,
            kind: CongestionKind::FastRecovery,
            flight_size: in_flight,
            in_flight,
            snd_una: self.delivered * u64::from(self.window.mss),
            snd_nxt: (self.delivered + u64::from(in_flight)) * u64::from(self.window.mss),
        };
        self.control.on_congestion(&mut self.window, &event);
        if !self.control.controls_window() {
            self.window.cwnd = self.window.ssthresh;
        }
        self.control.on_recovered(&mut self.window, self.now);
    }
}

/// Returns the mean window over `rounds` round trips in segments, after as many to settle.
fn mean_window(name: &str, rounds: u64) -> f64 {
    let mut connection = Connection::new(name);
    // A path has a limit. Without one, a control that ignores losses grows without end.
    let mut round_trip = || {
        let sent = connection.round_trip();
        connection.window.cwnd = connection.window.cwnd.min(2_000.0);
        sent
    };
    for _ in 0..rounds {
        round_trip();
    }
    (0..rounds).map(|_| round_trip()).sum::<u64>() as f64 / rounds as f64
}

fn main() {
    println!("control      mean window, segments");
    for entry in CONGESTION_CONTROLS {
        println!("{:12} {:8.1}", entry.name, mean_window(entry.name, 3_000));
    }
}

#[cfg(test)]
mod tests {
    use super::mean_window;

    #[test]
    fn the_mean_window_of_reno_is_that_of_the_square_root_law() {
        // Mathis et al.: sqrt(3 / (2 p)) for one ACK a segment. The window is a whole number here,
        // and a loss is found at the end of its window, which makes it 4 % larger.
        let law = (1.5_f64 * 1_000.0).sqrt();
        let ratio = mean_window("reno", 3_000) / law;
        assert!((0.9..1.1).contains(&ratio), "{ratio}");
    }
}
