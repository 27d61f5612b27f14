//! A user's own congestion control: additive increase and multiplicative decrease with any
//! constants. It competes with CUBIC on the same bottleneck.
//!
//! `cargo run -p fadeout --example congestion_control`

use fadeout::congestion::{
    AckSample, Congestion, CongestionControl, CongestionEvent, Custom, Window,
};
use fadeout::{Destination, Flow, Simulation, Time};

/// Adds `increase` segments to the window each round trip. Keeps the share `decrease` of the window
/// after a loss.
struct Aimd {
    increase: f64,
    decrease: f64,
}

impl CongestionControl for Aimd {
    fn on_ack(&mut self, window: &mut Window, ack: &AckSample) {
        if !ack.is_growth_due() {
            return;
        }
        let acked = f64::from(ack.delivered_now);
        window.cwnd += if window.in_slow_start() {
            acked
        } else {
            self.increase * acked / window.cwnd
        };
    }

    fn on_congestion(&mut self, window: &mut Window, event: &CongestionEvent) {
        window.ssthresh = (event.flight_within(window) * self.decrease).max(2.0);
    }
}

const SCENARIO: &str = r#"
duration = "30 s"
[link.bottleneck]
from = "server"
to = "client"
rate = "20 Mbit/s"
delay = "20 ms"
queue = { limit = "100 packets" }
[flow.own]
from = "server"
to = "client"
[flow.cubic]
from = "server"
to = "client"
congestion-control = "cubic"
"#;

/// Returns the rates of the user's algorithm and of CUBIC, Mbit/s.
fn compete(increase: f64, decrease: f64) -> (f64, f64) {
    let scenario = fadeout::parse(SCENARIO, &[]).expect("a valid scenario");
    let mut choose = |flow: &Flow| {
        (flow.name == "own")
            .then(|| Congestion::Custom(Custom(Box::new(Aimd { increase, decrease }))))
    };
    let mut simulation =
        Simulation::with_congestion(scenario, Destination::Nowhere, &mut choose).expect("a world");
    simulation.advance(Time::NEVER);
    let summary = simulation.summary();
    let goodput = |flow: usize| summary["flows"][flow]["goodput_mbps"].as_f64();
    (
        goodput(0).expect("a goodput"),
        goodput(1).expect("a goodput"),
    )
}

fn main() {
    for (increase, decrease) in [(1.0, 0.5), (4.0, 0.8)] {
        let (own, cubic) = compete(increase, decrease);
        println!("AIMD({increase}, {decrease}): {own:.2} Mbit/s, CUBIC: {cubic:.2} Mbit/s");
    }
}

#[cfg(test)]
mod tests {
    use super::compete;

    #[test]
    fn ones_own_algorithm_fills_the_link_and_its_constants_matter() {
        let (gentle, cubic) = compete(1.0, 0.5);
        // The headers leave 19.1 Mbit/s for data.
        assert!(gentle + cubic > 17.5, "{gentle} and {cubic}");
        let (greedy, _) = compete(4.0, 0.8);
        assert!(greedy > gentle, "{greedy} against {gentle}");
    }
}
