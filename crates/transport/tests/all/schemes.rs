//! Tests of the schemes for failing links, with one sender and a peer that the test plays.

use fadeout_core::random::Stream;
use fadeout_core::registry::{Parameters, Value};
use fadeout_core::{
    Bytes, Ecn, Flags, FlowId, LinkInfo, NullProbe, SackBlock, Segment, Span, Time,
};
use fadeout_transport::congestion::Congestion;
use fadeout_transport::tcp::{AppCommand, Outbox, TcpConfig, TcpEndpoint};

const MSS: u64 = 1000;

/// A connected sender at a round-trip time of 50 ms with endless data.
struct Sender {
    tcp: TcpEndpoint,
    now: Time,
    window: u64,
    /// First sequence numbers of the data segments sent in the last step.
    sent: Vec<u64>,
}

impl Sender {
    fn new(given: &[(&str, Value)]) -> Sender {
        let given = given
            .iter()
            .map(|(key, value)| ((*key).to_owned(), value.clone()));
        let mut parameters: Vec<(String, Value)> = given.collect();
        parameters.push(("mss".to_owned(), Value::Number(MSS as f64)));
        parameters.push(("timestamps".to_owned(), Value::Bool(false)));
        let config = TcpConfig::new("rfc", &Parameters(parameters)).expect("the profile exists");
        let random = Stream::new(1, "congestion", 0);
        let none = Parameters::default();
        let congestion = Congestion::new("newreno", &none, random).expect("it exists");
        let mut sender = Sender {
            tcp: TcpEndpoint::new(&config, FlowId(0), congestion),
            now: Time::ZERO,
            window: 1_000_000,
            sent: Vec::new(),
        };
        sender.app(AppCommand::Connect);
        sender.now += Span::from_millis(50);
        let answer = Segment {
            ack: 1,
            flags: Flags::SYN | Flags::ACK,
            mss: MSS as u16,
            sack_permitted: true,
            window: sender.window,
            ..Segment::default()
        };
        sender.receive(&answer);
        sender.app(AppCommand::Write(Bytes(1 << 30)));
        sender
    }

    fn call_endpoint(&mut self, act: impl FnOnce(&mut TcpEndpoint, Time, &mut Outbox)) {
        let mut out = Outbox::default();
        act(&mut self.tcp, self.now, &mut out);
        let data = out.segments.iter().filter(|sent| sent.segment.len > 0);
        self.sent = data.map(|sent| sent.segment.seq).collect();
    }

    fn app(&mut self, command: AppCommand) {
        self.call_endpoint(|tcp, now, out| tcp.on_app(now, command, out, &mut NullProbe));
    }

    fn receive(&mut self, segment: &Segment) {
        self.call_endpoint(|tcp, now, out| {
            tcp.on_segment(now, segment, Ecn::NotEct, out, &mut NullProbe);
        });
    }

    /// Acknowledges the first `segments` segments, with an optional SACK block of later ones.
    fn ack(&mut self, segments: u64, sack: Option<(u64, u64)>) {
        let mut segment = Segment {
            seq: 1,
            ack: 1 + segments * MSS,
            flags: Flags::ACK,
            window: self.window,
            ..Segment::default()
        };
        if let Some((from, to)) = sack {
            segment.sack.push(SackBlock {
                start: 1 + from * MSS,
                end: 1 + to * MSS,
            });
        }
        self.receive(&segment);
    }

    fn report_link_info(&mut self, info: LinkInfo) {
        self.call_endpoint(|tcp, now, out| tcp.on_link_info(now, &info, out, &mut NullProbe));
    }

    /// Waits until `until`. Returns the times at which data was sent.
    fn wait(&mut self, until: Time) -> Vec<Time> {
        let mut times = Vec::new();
        while self.tcp.wake_at() <= until {
            self.now = self.tcp.wake_at().max(self.now);
            self.call_endpoint(|tcp, now, out| tcp.on_wake(now, out, &mut NullProbe));
            if !self.sent.is_empty() {
                times.push(self.now);
            }
        }
        self.now = until;
        times
    }

    fn cwnd(&self) -> f64 {
        self.tcp.window().cwnd
    }
}

fn choice(name: &str) -> Value {
    Value::Choice(name.to_owned())
}

#[test]
fn dcr_waits_a_round_trip_before_it_reduces() {
    // Reference vector DC-1: the hole is filled after 40 ms of 50 ms, or not.
    for is_filled in [true, false] {
        let mut sender = Sender::new(&[("loss-response", choice("dcr"))]);
        sender.now += Span::from_millis(50);
        let before = sender.cwnd();
        for sacked in 2..=6 {
            sender.ack(0, Some((1, sacked)));
        }
        assert_eq!(sender.cwnd(), before, "the window stays while it waits");
        assert_eq!(sender.sent.len(), 1, "a duplicate lets one new segment out");
        let first = sender.now;
        sender.wait(first + Span::from_millis(40));
        if is_filled {
            sender.ack(6, None);
        }
        sender.wait(first + Span::from_millis(60));
        let is_reduced = sender.tcp.window().ssthresh.is_finite();
        assert_eq!(is_reduced, !is_filled);
        if is_reduced {
            assert_eq!(sender.tcp.window().ssthresh, before / 2.0);
        }
    }
}

#[test]
fn tcp_feedback_sleeps_through_an_outage_with_the_state_it_had() {
    // Reference vector TF-1, except for the remaining time of the timer. The timer restarts,
    // because the first segment is retransmitted.
    let mut sender = Sender::new(&[("outage-response", choice("feedback"))]);
    sender.now += Span::from_millis(50);
    sender.ack(5, None);
    let (cwnd, row) = (sender.cwnd(), sender.tcp.congestion_row(sender.now));
    sender.report_link_info(LinkInfo::BlockageBegan);
    let slept = sender.wait(sender.now + Span::from_secs(4));
    assert!(slept.is_empty(), "sent at {slept:?}");
    sender.report_link_info(LinkInfo::BlockageEnded);
    assert_eq!(
        sender.sent.first(),
        Some(&(1 + 5 * MSS)),
        "the head goes again"
    );
    assert_eq!(sender.cwnd(), cwnd);
    let after = sender.tcp.congestion_row(sender.now);
    assert_eq!(after.rto_s, row.rto_s, "no backoff");
    assert_eq!(sender.tcp.statistics().timeouts, 0);
}

#[test]
fn a_snooze_without_word_of_the_end_ends_by_its_own_timer() {
    let mut sender = Sender::new(&[("outage-response", choice("feedback"))]);
    sender.report_link_info(LinkInfo::BlockageBegan);
    let began = sender.now;
    let sent = sender.wait(began + Span::from_secs(6));
    assert_eq!(sent.first(), Some(&(began + Span::from_secs(5))));
}

#[test]
fn elfn_probes_every_two_seconds_until_an_answer_comes() {
    // Reference vector EL-1 of ELFN.
    let mut sender = Sender::new(&[("outage-response", choice("elfn"))]);
    let cwnd = sender.cwnd();
    sender.report_link_info(LinkInfo::BlockageBegan);
    let began = sender.now;
    let probes = sender.wait(began + Span::from_millis(6040));
    assert_eq!(probes, [2, 4, 6].map(|s| began + Span::from_secs(s)));
    sender.ack(1, None);
    assert_eq!(sender.cwnd(), cwnd, "the window stays");
    assert_eq!(sender.sent.first(), Some(&(1 + MSS)), "the rest goes again");
}

#[test]
fn a_closed_window_keeps_the_congestion_window() {
    // Reference vector FZ-1: probes back off, and three ACKs open the window.
    let mut sender = Sender::new(&[("outage-response", choice("freeze"))]);
    sender.now += Span::from_millis(50);
    let open = std::mem::replace(&mut sender.window, 0);
    sender.ack(0, None);
    let cwnd = sender.cwnd();
    let began = sender.now;
    let probes = sender.wait(began + Span::from_secs(8));
    let gaps: Vec<u64> = probes
        .windows(2)
        .map(|pair| (pair[1] - pair[0]).as_millis())
        .collect();
    assert_eq!(gaps, [2000, 4000], "{probes:?}");
    assert_eq!(sender.cwnd(), cwnd);
    sender.window = open;
    let mut sent = Vec::new();
    for _ in 0..3 {
        sender.ack(0, None);
        sent.append(&mut sender.sent);
    }
    assert_eq!(sent.first(), Some(&1), "what is outstanding goes again");
    assert_eq!(sender.cwnd(), cwnd);
    assert_eq!(sender.tcp.statistics().timeouts, 0);
}
