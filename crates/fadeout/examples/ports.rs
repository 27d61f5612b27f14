//! A user's own protocol over a radio link: a sender repeats each numbered datagram until the
//! receiver confirms it (stop and wait).
//!
//! `cargo run -p fadeout --example ports`

use fadeout::{Destination, Ecn, PortEnd, PortError, Simulation, Span, Time};

const SCENARIO: &str = r#"
duration = "5 s"
[link.radio]
from = "server"
to = "phone"
rate = "5 Mbit/s"
delay = "10 ms"
loss = { probability = 0.1 }
[flow.own]
from = "server"
to = "phone"
transport = "port"
"#;

/// Time without an answer after which the sender repeats a datagram. The round trip is 22 ms.
const TIMEOUT: Span = Span::from_millis(50);

/// Sender of the datagrams.
struct Sender {
    end: PortEnd,
    /// Number of the datagram that the receiver has not confirmed.
    number: u64,
    repeat_at: Time,
    repeats: u64,
}

impl Sender {
    fn send(&mut self, simulation: &mut Simulation) -> Result<(), PortError> {
        let mut bytes = self.number.to_be_bytes().to_vec();
        bytes.resize(1200, 0);
        self.repeat_at = simulation.now() + TIMEOUT;
        simulation.send(self.end, bytes, Ecn::NotEct)
    }

    /// Sends the next datagram if the answer confirms the present one.
    fn on_answer(&mut self, simulation: &mut Simulation, answer: &[u8]) -> Result<(), PortError> {
        if answer == self.number.to_be_bytes() {
            self.number += 1;
            self.send(simulation)?;
        }
        Ok(())
    }
}

/// Returns the number of confirmed datagrams after 4 s, and the number of repeats.
fn transfer() -> Result<(u64, u64), Box<dyn std::error::Error>> {
    let scenario = fadeout::parse(SCENARIO, &[])?;
    let mut simulation = Simulation::new(scenario, Destination::Nowhere)?;
    let [end, receiver] = simulation.port("own")?;
    let mut sender = Sender {
        end,
        number: 0,
        repeat_at: Time::ZERO,
        repeats: 0,
    };
    sender.send(&mut simulation)?;
    while simulation.now() < Time::ZERO + Span::from_secs(4) {
        if simulation.advance_to_arrival(sender.repeat_at).is_none() {
            sender.repeats += 1;
            sender.send(&mut simulation)?;
        }
        while let Some(arrival) = simulation.take_arrival(receiver) {
            simulation.send(receiver, arrival.bytes[..8].to_vec(), Ecn::NotEct)?;
        }
        while let Some(arrival) = simulation.take_arrival(end) {
            sender.on_answer(&mut simulation, &arrival.bytes)?;
        }
    }
    Ok((sender.number, sender.repeats))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (confirmed, repeats) = transfer()?;
    println!("{confirmed} datagrams were confirmed after {repeats} repeats");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::transfer;

    #[test]
    fn stop_and_wait_repeats_what_the_link_lost() {
        let (confirmed, repeats) = transfer().expect("a valid scenario");
        // Without loss, a datagram takes 22 ms, and 4 s contain 181 datagrams. One in ten is lost.
        assert!((120..181).contains(&confirmed), "{confirmed}");
        // The reverse direction loses nothing, so a repeat follows 0.1 of all transmissions. Four
        // standard deviations of a binomial count of some 150 are 15.
        assert!((3..32).contains(&repeats), "{repeats}");
    }
}
