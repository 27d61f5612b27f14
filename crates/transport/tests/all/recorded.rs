//! Tests that compare the ACKs of a receiver at the start of a transfer with those of a real Linux
//! 6.12 in `recorded/`. Each must have the same time, number and window.

use fadeout_core::random::Stream;
use fadeout_core::registry::{Parameters, Value};
use fadeout_core::{Ecn, EventQueue, FlowId, NullProbe, Segment, Span, Time, Wake};
use fadeout_transport::congestion::Congestion;
use fadeout_transport::tcp::{AppCommand, Outbox, TcpConfig, TcpEndpoint};
use std::path::Path;

/// Opening time of the connection by the recording's clock, 3 ms after a tick of 10 ms.
const START: Time = Time::from_nanos(5_003_000_000);
const DELAY: Span = Span::from_millis(40);
/// Transmission time of a byte at 30 Mbit/s, nanoseconds.
const NANOS_A_BYTE: f64 = 8e9 / 30e6;
const ETHERNET_HEADER: u32 = 14;

#[derive(Debug, Clone, Copy, PartialEq)]
struct Ack {
    micros: u64,
    number: u64,
    window: u64,
}

fn recorded(name: &str) -> Vec<Ack> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded");
    let text = std::fs::read_to_string(folder.join(format!("slow_start_{name}.csv")));
    let text = text.expect("the recording is beside this test");
    let rows = text.lines().filter(|line| line.starts_with('0'));
    rows.map(|row| {
        let cells: Vec<f64> = row
            .split(',')
            .map(|cell| cell.parse().expect("numbers"))
            .collect();
        Ack {
            micros: (cells[0] * 1e6).round() as u64,
            number: cells[1] as u64,
            window: cells[2] as u64,
        }
    })
    .collect()
}

#[derive(Clone, Copy)]
enum Event {
    /// Arrival of a packet at an end. The packet has a number.
    Arrival(u8, u32),
    Wake(u8, u32),
}

/// Returns the ACKs for the first `count` segments.
fn simulated(name: &str, count: usize) -> Vec<Ack> {
    let mut given = Parameters::default();
    let wide = Value::Number(f64::from(32 << 20));
    given.0.push(("maximum-receive-window".into(), wide));
    given
        .0
        .push(("timer-tick".into(), Value::Span(Span::from_millis(10))));
    let config = TcpConfig::new("linux", &given).expect("the profile exists");
    let mut ends = [name, "reno"].map(|name| {
        let random = Stream::new(1, "recorded", 0);
        let congestion = Congestion::new(name, &Parameters::default(), random);
        TcpEndpoint::new(&config, FlowId(0), congestion.expect("it is registered"))
    });
    let (mut events, mut out) = (EventQueue::new(), Outbox::default());
    let mut wakes = [Wake::default(), Wake::default()];
    let (mut free_at, mut acks) = (Time::ZERO, Vec::new());
    let mut packets: Vec<Segment> = Vec::new();
    ends[1].on_app(START, AppCommand::Listen, &mut out, &mut NullProbe);
    ends[0].on_app(START, AppCommand::WriteForever, &mut out, &mut NullProbe);
    ends[0].on_app(START, AppCommand::Connect, &mut out, &mut NullProbe);
    let (mut now, mut end) = (START, 0);
    loop {
        for outgoing in out.segments.drain(..) {
            let segment = outgoing.segment;
            let mut arrives_at = now + DELAY;
            if end == 0 {
                let wire = f64::from(segment.wire_len() + ETHERNET_HEADER);
                free_at = free_at.max(arrives_at) + Span::from_nanos((wire * NANOS_A_BYTE) as u64);
                arrives_at = free_at;
            } else {
                acks.push(Ack {
                    micros: now.since(START).as_micros(),
                    number: segment.ack,
                    window: segment.window,
                });
            }
            let packet = Event::Arrival(1 - end as u8, packets.len() as u32);
            packets.push(segment);
            events.schedule(arrives_at, packet);
        }
        out.clear();
        if acks.len() >= count {
            return acks;
        }
        let at = ends[end].wake_at();
        if !at.is_never()
            && let Some(generation) = wakes[end].arm(at)
        {
            events.schedule(at.max(now), Event::Wake(end as u8, generation));
        }
        let (at, event) = events.pop().expect("the transfer has no end");
        now = at;
        match event {
            Event::Arrival(to, number) => {
                end = usize::from(to);
                let segment = &packets[number as usize];
                ends[end].on_segment(now, segment, Ecn::NotEct, &mut out, &mut NullProbe);
            }
            Event::Wake(to, generation) => {
                end = usize::from(to);
                if wakes[end].fire(generation) {
                    ends[end].on_wake(now, &mut out, &mut NullProbe);
                }
            }
        }
    }
}

fn compare(name: &str, tolerance_us: u64) {
    let recorded = recorded(name);
    assert!(recorded.len() > 40);
    let simulated = simulated(name, recorded.len());
    for (n, (theirs, ours)) in recorded.iter().zip(&simulated).enumerate() {
        let same = Ack {
            micros: theirs.micros,
            ..*ours
        };
        assert_eq!(*theirs, same, "ACK {n}");
        let apart = theirs.micros.abs_diff(ours.micros);
        assert!(apart <= tolerance_us, "ACK {n}: {theirs:?}, {ours:?}");
    }
}

#[test]
fn a_receiver_acknowledges_a_cubic_start_as_the_kernel() {
    // The recording rounds each transmission to the nanosecond and its clock to the microsecond.
    compare("cubic", 5);
}

#[test]
fn a_receiver_acknowledges_a_bbr_start_as_the_kernel() {
    // The pacing rate differs by the rounding of BBR's integers, which is 25 us in the fourth round
    // trip.
    compare("bbr", 25);
}
