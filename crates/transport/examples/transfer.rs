//! A transfer of 1 MB over a path of 10 Mbit/s that loses 1 % of all packets in both directions.
//!
//! `cargo run -p fadeout-transport --example transfer`

use fadeout_core::random::Stream;
use fadeout_core::registry::Parameters;
use fadeout_core::{Bytes, EventQueue, FlowEnd, FlowId, NullProbe, Rate, Span, Time};
use fadeout_transport::congestion::Congestion;
use fadeout_transport::tcp::{AppCommand, Outbox, Outgoing, TcpConfig, TcpEndpoint};

const SIZE: u64 = 1_000_000;
const DELAY: Span = Span::from_millis(20);
const LOSS: f64 = 0.01;
/// Bytes of the IP and TCP headers of a segment with timestamps.
const HEADERS: u64 = 52;

#[derive(Clone, Copy)]
enum Event {
    /// A packet arrives at an end. The packet has this number.
    Arrival { end: u8, number: u32 },
    /// A timer of an end may have expired.
    Wake { end: u8 },
}

/// Two endpoints and the path between them. End 0 sends the data.
struct Path {
    ends: [TcpEndpoint; 2],
    events: EventQueue<Event>,
    /// All packets that the path did not lose.
    packets: Vec<Outgoing>,
    /// Times at which the links of both directions have sent all packets given to them.
    idle_at: [Time; 2],
    loss: Stream,
    delivered: u64,
}

impl Path {
    fn new(control: &str, seed: u64) -> Path {
        let end = |number: u64| {
            let random = Stream::new(seed, "control", number);
            let control = Congestion::new(control, &Parameters::default(), random);
            TcpEndpoint::new(
                &TcpConfig::linux(),
                FlowId(0),
                control.expect("a known name"),
            )
        };
        Path {
            ends: [end(0), end(1).with_end(FlowEnd::Receiver)],
            events: EventQueue::new(),
            packets: Vec::new(),
            idle_at: [Time::ZERO; 2],
            loss: Stream::new(seed, "loss", 0),
            delivered: 0,
        }
    }

    /// Puts the segments of an end on its link, and schedules the end's timer.
    fn process_output(&mut self, now: Time, end: usize, out: &mut Outbox) {
        for outgoing in &out.segments {
            let size = Bytes(u64::from(outgoing.segment.len) + HEADERS);
            let start = self.idle_at[end].max(now);
            self.idle_at[end] = start + Rate::from_bits_per_sec(10_000_000).time_to_send(size);
            if !self.loss.chance(LOSS) {
                let arrival = Event::Arrival {
                    end: 1 - end as u8,
                    number: self.packets.len() as u32,
                };
                self.packets.push(*outgoing);
                self.events.schedule(self.idle_at[end] + DELAY, arrival);
            }
        }
        if end == 1 {
            self.delivered += out.delivered_bytes;
        }
        out.clear();
        let wake_at = self.ends[end].wake_at();
        if wake_at < Time::NEVER {
            self.events
                .schedule(wake_at.max(now), Event::Wake { end: end as u8 });
        }
    }

    /// Transfers the data. Returns the time at which the last byte arrived.
    fn transfer(&mut self) -> Time {
        let (mut out, mut probe) = (Outbox::default(), NullProbe);
        self.ends[1].on_app(Time::ZERO, AppCommand::Listen, &mut out, &mut probe);
        for command in [AppCommand::Connect, AppCommand::Write(Bytes(SIZE))] {
            self.ends[0].on_app(Time::ZERO, command, &mut out, &mut probe);
        }
        self.process_output(Time::ZERO, 0, &mut out);
        loop {
            let (now, event) = self.events.pop().expect("a timer runs until the end");
            let (Event::Arrival { end, .. } | Event::Wake { end }) = event;
            let end = usize::from(end);
            match event {
                Event::Arrival { number, .. } => {
                    let Outgoing { segment, ecn } = self.packets[number as usize];
                    self.ends[end].on_segment(now, &segment, ecn, &mut out, &mut probe);
                }
                // A stale wake-up has no effect.
                Event::Wake { .. } => self.ends[end].on_wake(now, &mut out, &mut probe),
            }
            self.process_output(now, end, &mut out);
            if self.delivered == SIZE {
                return now;
            }
        }
    }
}

fn main() {
    for control in ["reno", "cubic", "bbr", "copa"] {
        let mut path = Path::new(control, 1);
        let took = path.transfer().since(Time::ZERO);
        let sent = path.ends[0].statistics();
        println!(
            "{control:6} {:.3} s, {} segments retransmitted",
            took.as_secs_f64(),
            sent.retransmitted_segments
        );
    }
}

#[cfg(test)]
mod tests {
    use super::{Path, SIZE};

    #[test]
    fn all_data_arrives_in_order_whatever_the_path_loses() {
        for seed in 1..20 {
            let mut path = Path::new("cubic", seed);
            path.transfer();
            assert_eq!(path.delivered, SIZE, "seed {seed}");
        }
    }
}
