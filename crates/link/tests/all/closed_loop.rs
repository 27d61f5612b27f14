//! Tests of disciplines with sources that respond, and of the resulting delay, rate and fairness.
//!
//! The sources have only the response that the RFCs assume. A classic source halves its window at
//! most once in a round trip, on a loss or mark. A scalable source reduces it by half a packet for
//! each mark. Both add a packet in each round trip. A loss is noticed one round trip later.

use crate::common::{Log, mbps};
use fadeout_core::{
    Ecn, EndpointId, FlowId, LinkId, Packet, PacketPool, Rate, Segment, Span, Time,
};
use fadeout_link::{
    CoDelConfig, DualPi2Config, DualPi2Scheduler, FqCoDelConfig, Limit, Link, LinkConfig,
    PieConfig, QueueConfig, QueueDiscipline, RateConfig, RedConfig, RedParameters,
};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    /// Source that halves its window on a signal. It is ECN-capable or not.
    Classic(Ecn),
    /// Source that reduces its window by half a packet for each mark.
    Scalable,
    /// Source that sends a small packet in every round trip, without any response.
    Sparse,
}

#[derive(Debug)]
struct Source {
    kind: Kind,
    rtt: Span,
    window: f64,
    in_flight: u32,
    is_slow_start: bool,
    deaf_until: Time,
    /// Queueing delays in seconds of the packets that arrive after the warm-up.
    delays: Vec<f64>,
}

impl Source {
    fn signal(&mut self, now: Time, is_loss: bool) {
        self.is_slow_start = false;
        if self.kind == Kind::Scalable && !is_loss {
            self.window = (self.window - 0.5).max(2.0);
        } else if now >= self.deaf_until {
            self.window = (self.window / 2.0).max(2.0);
            self.deaf_until = now + self.rtt;
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Notice {
    Delivered { is_marked: bool },
    Lost,
    Tick,
}

const WARM_UP: Time = Time::from_nanos(20_000_000_000);
const END: Time = Time::from_nanos(120_000_000_000);

struct Outcome {
    sources: Vec<Source>,
    utilisation: f64,
    marked: u64,
    dropped: u64,
}

impl Outcome {
    fn mean_delay_ms(&self, n: usize) -> f64 {
        let delays = &self.sources[n].delays;
        1e3 * delays.iter().sum::<f64>() / delays.len() as f64
    }

    fn percentile_delay_ms(&self, n: usize, share: f64) -> f64 {
        let mut delays = self.sources[n].delays.clone();
        delays.sort_by(f64::total_cmp);
        1e3 * delays[(share * (delays.len() - 1) as f64) as usize]
    }

    fn packets(&self, n: usize) -> f64 {
        self.sources[n].delays.len() as f64
    }

    fn describe(&self, name: &str) {
        let describe_flow = |n: usize| {
            format!(
                "{:.2}/{:.2} ms {:.0} packets",
                self.mean_delay_ms(n),
                self.percentile_delay_ms(n, 0.99),
                self.packets(n)
            )
        };
        let flows: Vec<_> = (0..self.sources.len()).map(describe_flow).collect();
        println!(
            "{name}: utilisation {:.3}, {} marked, {} dropped; mean/99th delay {}",
            self.utilisation,
            self.marked,
            self.dropped,
            flows.join(", ")
        );
    }
}

fn run(rate: Rate, discipline: QueueDiscipline, flows: &[(Kind, u64)]) -> Outcome {
    let config = LinkConfig {
        rate: RateConfig::Constant(rate),
        queue: QueueConfig {
            limit: Some(Limit::Packets(1_000)),
            discipline,
            ..QueueConfig::default()
        },
        ..LinkConfig::default()
    };
    let mut link = Link::new(LinkId(0), config, 1).expect("a valid link");
    let (mut pool, mut log) = (PacketPool::new(), Log::default());
    let mut sources: Vec<Source> = flows
        .iter()
        .map(|&(kind, rtt_ms)| Source {
            kind,
            rtt: Span::from_millis(rtt_ms),
            window: 10.0,
            in_flight: 0,
            is_slow_start: true,
            deaf_until: Time::ZERO,
            delays: Vec::new(),
        })
        .collect();
    let mut notices = BinaryHeap::new();
    for n in 0..sources.len() {
        // Start times differ, so that the flows are not synchronised.
        let start = Time::ZERO + Span::from_micros(1_700 * n as u64);
        notices.push(Reverse((start, n as u32, Notice::Tick)));
    }
    let (mut out, mut carried) = (Vec::new(), 0);
    loop {
        let noticed_at = notices.peek().map_or(Time::NEVER, |Reverse((at, ..))| *at);
        let now = noticed_at.min(link.wake_at());
        if now > END {
            break;
        }
        if link.wake_at() <= now {
            link.on_wake(now, &mut pool, &mut out, &mut log);
            for id in out.drain(..) {
                let packet = pool.remove(id);
                let source = &mut sources[packet.flow.index()];
                let size = packet.size();
                if now > WARM_UP {
                    carried += size.0;
                    let sent = rate.time_to_send(size).as_secs_f64();
                    source
                        .delays
                        .push((now - packet.sent_at).as_secs_f64() - sent);
                }
                let is_marked = packet.ecn == Ecn::Ce;
                notices.push(Reverse((
                    now + source.rtt,
                    packet.flow.0,
                    Notice::Delivered { is_marked },
                )));
            }
        } else if let Some(Reverse((_, n, notice))) = notices.pop() {
            let source = &mut sources[n as usize];
            match notice {
                Notice::Tick => {}
                _ if source.kind == Kind::Sparse => {}
                Notice::Lost => {
                    source.in_flight -= 1;
                    source.signal(now, true);
                }
                Notice::Delivered { is_marked } => {
                    source.in_flight -= 1;
                    source.window += if source.is_slow_start {
                        1.0
                    } else {
                        1.0 / source.window
                    };
                    if is_marked {
                        source.signal(now, false);
                    }
                }
            }
            let (ecn, len) = match source.kind {
                Kind::Classic(ecn) => (ecn, 1460),
                Kind::Scalable => (Ecn::Ect1, 1460),
                Kind::Sparse => (Ecn::NotEct, 100),
            };
            let room = if source.kind == Kind::Sparse {
                if notice == Notice::Tick {
                    notices.push(Reverse((now + source.rtt, n, Notice::Tick)));
                }
                u32::from(notice == Notice::Tick)
            } else {
                (source.window as u32).saturating_sub(source.in_flight)
            };
            for _ in 0..room {
                sources[n as usize].in_flight += 1;
                let segment = Segment {
                    len,
                    ..Segment::default()
                };
                let packet = pool.insert(Packet {
                    flow: FlowId(n),
                    to: EndpointId(n),
                    ecn,
                    sent_at: now,
                    segment,
                    ..Packet::default()
                });
                link.on_packet(now, packet, &mut pool, &mut log);
            }
        }
        for drop in log.drops.drain(..) {
            let source = &sources[drop.flow.index()];
            notices.push(Reverse((now + source.rtt, drop.flow.0, Notice::Lost)));
        }
        log.queues.clear();
    }
    let possible = rate.as_bytes_per_sec_f64() * (END - WARM_UP).as_secs_f64();
    Outcome {
        sources,
        utilisation: carried as f64 / possible,
        marked: link.stats().packets_marked,
        dropped: link.stats().dropped_total(),
    }
}

const RENO: Kind = Kind::Classic(Ecn::NotEct);
const RENO_ECN: Kind = Kind::Classic(Ecn::Ect0);

const TEN: Rate = Rate::from_bits_per_sec(10_000_000);

/// Runs four flows with a round trip of 50 ms on 10 Mbit/s, ECN-capable or not.
fn four(discipline: QueueDiscipline, kind: Kind) -> Outcome {
    let outcome = run(TEN, discipline, &[(kind, 50); 4]);
    outcome.describe(&format!("{discipline:?}, four flows"));
    outcome
}

/// Returns the mean over the flows of their mean delays.
fn mean_ms(outcome: &Outcome) -> f64 {
    let n = outcome.sources.len();
    (0..n).map(|flow| outcome.mean_delay_ms(flow)).sum::<f64>() / n as f64
}

#[test]
fn drop_tail_fills_its_queue() {
    // The full queue contains a thousand packets of 1.2 ms each, so the delay is up to 1.2 s.
    assert!(four(QueueDiscipline::default(), RENO).percentile_delay_ms(0, 0.99) > 1_100.0);
}

#[test]
fn codel_keeps_the_delay_at_a_small_multiple_of_its_target() {
    let discipline = QueueDiscipline::CoDel(CoDelConfig::default());
    for kind in [RENO, RENO_ECN] {
        let outcome = four(discipline, kind);
        // CoDel keeps the minimum over an interval at 5 ms. Sawtooths with that minimum have a mean
        // of one to two targets.
        assert!(
            (5.0..10.0).contains(&mean_ms(&outcome)),
            "{}",
            mean_ms(&outcome)
        );
        assert!(outcome.utilisation > 0.95);
        assert_eq!(outcome.dropped > 0, kind == RENO, "marks replace all drops");
    }
}

#[test]
fn pie_steers_the_delay_to_its_target() {
    for kind in [RENO, RENO_ECN] {
        let outcome = four(QueueDiscipline::Pie(PieConfig::default()), kind);
        // The target is 15 ms. The sawtooths of the four flows add a few milliseconds.
        assert!(
            (13.0..20.0).contains(&mean_ms(&outcome)),
            "{}",
            mean_ms(&outcome)
        );
        assert!(outcome.utilisation > 0.98);
    }
}

#[test]
fn red_keeps_the_average_queue_between_its_thresholds() {
    let red = RedConfig::on(TEN, RedParameters::default());
    let outcome = four(QueueDiscipline::Red(red), RENO);
    // The thresholds are 5 and 15 packets of 1.2 ms each, so the mean delay is between 6 and 18 ms.
    assert!(
        (6.0..18.0).contains(&mean_ms(&outcome)),
        "{}",
        mean_ms(&outcome)
    );
    assert!(outcome.utilisation > 0.9);
}

#[test]
fn fq_codel_shares_equally_and_passes_a_sparse_flow_at_once() {
    let discipline = QueueDiscipline::FqCoDel(FqCoDelConfig::default());
    let outcome = four(discipline, RENO);
    let packets: Vec<f64> = (0..4).map(|n| outcome.packets(n)).collect();
    let least = packets.iter().copied().fold(f64::MAX, f64::min);
    let most = packets.iter().copied().fold(0.0, f64::max);
    assert!(most / least < 1.01, "{packets:?}");

    let flows = [(RENO, 20), (RENO, 100), (Kind::Sparse, 20)];
    let outcome = run(TEN, discipline, &flows);
    outcome.describe("FQ-CoDel, 20 ms, 100 ms and sparse");
    // A packet of the sparse flow waits for the packet in transmission, 1.2 ms, and sometimes for a
    // packet of another new flow. So its delay stays below 2.4 ms.
    assert!(outcome.percentile_delay_ms(2, 0.99) < 2.4);
    assert!(outcome.mean_delay_ms(2) < 1.2);
}

#[test]
fn dualpi2_gives_scalable_traffic_its_share_at_a_delay_below_a_millisecond() {
    let flows = [(RENO, 20), (Kind::Scalable, 20)];
    let fifty = mbps(50);
    for scheduler in [
        DualPi2Scheduler::WeightedRoundRobin,
        DualPi2Scheduler::TimeShifted,
    ] {
        let config = DualPi2Config {
            scheduler,
            ..DualPi2Config::default()
        };
        let outcome = run(fifty, QueueDiscipline::DualPi2(config), &flows);
        outcome.describe(&format!("DualPI2, {scheduler:?}, classic and scalable"));
        assert!(outcome.utilisation > 0.98);
        assert!(outcome.percentile_delay_ms(1, 0.99) < 1.0);
        assert!((10.0..20.0).contains(&outcome.mean_delay_ms(0)));
        // Both flows have equal windows (RFC 9332 section 2.1). The round trip of the classic flow
        // is longer by its queue, so its rate is lower by the same factor.
        let windows = [0, 1].map(|n| {
            let rtt_ms = 20.0 + outcome.mean_delay_ms(n);
            outcome.packets(n) * rtt_ms
        });
        let ratio = windows[1] / windows[0];
        assert!((0.67..1.5).contains(&ratio), "{ratio}");
    }
    // In a single queue the scalable flow displaces the classic one.
    let single = run(
        fifty,
        QueueDiscipline::Pie(PieConfig::default()),
        &[(RENO_ECN, 20), (Kind::Scalable, 20)],
    );
    single.describe("PIE, classic and scalable");
    assert!(single.packets(1) / single.packets(0) > 5.0);
}

#[test]
fn scalable_flows_alone_stay_at_the_threshold() {
    let dual = QueueDiscipline::DualPi2(DualPi2Config::default());
    let outcome = run(mbps(50), dual, &[(Kind::Scalable, 20); 2]);
    outcome.describe("DualPI2, two scalable");
    // The marking ramp ends at 1.2 ms, so the delay stays below 1.3 ms.
    assert!(outcome.percentile_delay_ms(0, 0.99) < 1.3);
    assert!(outcome.utilisation > 0.85);
    assert_eq!(outcome.dropped, 0);
}
