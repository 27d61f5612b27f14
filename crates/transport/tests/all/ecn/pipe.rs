//! Two endpoints with a bottleneck towards the receiver, which marks packets above a threshold. The
//! return path has no bottleneck.

use fadeout_core::random::Stream;
use fadeout_core::registry::{Parameters, Value};
use fadeout_core::{Bytes, Ecn, FlowId, NullProbe, Rate, Segment, Span, Time};
use fadeout_transport::congestion::Congestion;
use fadeout_transport::tcp::{AppCommand, Outbox, TcpConfig, TcpEndpoint};
use std::collections::VecDeque;

/// Properties of the bottleneck.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Path {
    pub(crate) rate: Rate,
    pub(crate) one_way: Span,
    /// Number of waiting packets above which ECN-capable arrivals are marked.
    pub(crate) mark_above: usize,
    /// Number of waiting packets above which arrivals are dropped.
    pub(crate) limit: usize,
}

/// Results of an endless transfer.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) delivered_mbps: f64,
    pub(crate) mean_queue: f64,
    pub(crate) dropped: u64,
    pub(crate) marked: u64,
    /// Every acknowledgment as the sender received it.
    pub(crate) acks: Vec<Segment>,
    /// ECN fields of the sent data packets.
    pub(crate) sent: Vec<Ecn>,
    /// Sequence numbers of the received data packets in order, and true for marked ones.
    pub(crate) received: Vec<(u64, bool)>,
    pub(crate) mean_cwnd: f64,
}

/// Returns a configuration of the Linux profile with this value of `ecn`.
pub(crate) fn with_ecn(ecn: &str) -> TcpConfig {
    let given = Parameters(vec![("ecn".to_owned(), Value::Choice(ecn.to_owned()))]);
    TcpConfig::new("linux", &given).expect("the linux profile exists")
}

/// Runs `control` from a sender configured as `sender` to a receiver configured as `receiver`.
pub(crate) fn run(
    path: Path,
    control: &str,
    parameters: &Parameters,
    (sender, receiver): (&TcpConfig, &TcpConfig),
    duration: Span,
) -> Report {
    let new = |config: &TcpConfig| {
        let congestion = Congestion::new(control, parameters, Stream::new(1, "congestion", 0))
            .expect("the congestion control exists");
        TcpEndpoint::new(config, FlowId(0), congestion)
    };
    let (mut client, mut server) = (new(sender), new(receiver));
    let (mut out, mut probe) = (Outbox::default(), NullProbe);
    let mut data: VecDeque<(Time, Time, Segment, Ecn)> = VecDeque::new();
    let mut acks: VecDeque<(Time, Segment, Ecn)> = VecDeque::new();
    let mut free_at = Time::ZERO;
    let mut report = Report::default();
    let (mut bytes, mut queue_sum, mut cwnd_sum) = (0, 0, 0.0);
    server.on_app(Time::ZERO, AppCommand::Listen, &mut out, &mut probe);
    client.on_app(Time::ZERO, AppCommand::Connect, &mut out, &mut probe);
    client.on_app(Time::ZERO, AppCommand::WriteForever, &mut out, &mut probe);
    let end = Time::ZERO + duration;
    let mut now = Time::ZERO;
    loop {
        for outgoing in out.segments.drain(..) {
            let (segment, mut ecn) = (outgoing.segment, outgoing.ecn);
            let waiting = data.iter().filter(|(leaves, ..)| *leaves > now).count();
            if segment.len > 0 {
                report.sent.push(ecn);
                queue_sum += waiting;
            }
            if waiting >= path.limit {
                report.dropped += 1;
                continue;
            }
            if waiting > path.mark_above && ecn != Ecn::NotEct {
                ecn = Ecn::Ce;
                report.marked += 1;
            }
            let wire = Bytes(u64::from(segment.wire_len()));
            free_at = free_at.max(now) + path.rate.time_to_send(wire);
            data.push_back((free_at, free_at + path.one_way, segment, ecn));
        }
        out.clear();
        let arrives = data.front().map_or(Time::NEVER, |packet| packet.1);
        let acked = acks.front().map_or(Time::NEVER, |packet| packet.0);
        let next = [arrives, acked, client.wake_at(), server.wake_at()];
        now = *next.iter().min().expect("there are four");
        if now >= end {
            break;
        }
        let mut back = Outbox::default();
        if now == arrives {
            let (.., segment, ecn) = data.pop_front().expect("the front was seen");
            if segment.len > 0 {
                report.received.push((segment.seq, ecn == Ecn::Ce));
            }
            server.on_segment(now, &segment, ecn, &mut back, &mut probe);
        } else if now == acked {
            let (_, segment, ecn) = acks.pop_front().expect("the front was seen");
            report.acks.push(segment);
            client.on_segment(now, &segment, ecn, &mut out, &mut probe);
            cwnd_sum += client.window().cwnd;
        } else if now == server.wake_at() {
            server.on_wake(now, &mut back, &mut probe);
        } else {
            client.on_wake(now, &mut out, &mut probe);
        }
        bytes += back.delivered_bytes;
        for outgoing in back.segments.drain(..) {
            acks.push_back((now + path.one_way, outgoing.segment, outgoing.ecn));
        }
    }
    report.delivered_mbps = bytes as f64 * 8.0 / duration.as_secs_f64() / 1e6;
    report.mean_queue = queue_sum as f64 / report.sent.len().max(1) as f64;
    report.mean_cwnd = cwnd_sum / report.acks.len().max(1) as f64;
    report
}
