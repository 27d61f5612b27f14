//! Tests of every discipline on random links. A discipline that never acts gives each packet the
//! departure that drop-tail computes on arrival. A discipline that acts reports every packet that
//! it drops.

use crate::common::Bench;
use fadeout_core::registry::Parameters;
use fadeout_core::{Bytes, Ecn, EndpointId, FlowId, Packet, Rate, Segment, Span, Time};
use fadeout_link::{
    BlockConfig, BlockageConfig, BlockageEffect, BlockageInterval, Changes, CoDelConfig,
    DualPi2Config, FqCoDelConfig, Limit, LinkConfig, LossConfig, PieConfig, QUEUE_DISCIPLINES,
    QueueConfig, QueueDiscipline, RateConfig, RateStep, RedConfig, RedParameters, Trace,
};
use proptest::prelude::*;

/// Target that no delay reaches.
const FAR: Span = Span::from_secs(1_000_000);

/// Returns every discipline, configured so that it neither drops nor marks nor reorders.
fn idle_disciplines() -> Vec<QueueDiscipline> {
    let codel = CoDelConfig {
        target: FAR,
        ..CoDelConfig::default()
    };
    vec![
        QueueDiscipline::CoDel(codel),
        QueueDiscipline::FqCoDel(FqCoDelConfig {
            codel,
            flows: 1,
            ..FqCoDelConfig::default()
        }),
        QueueDiscipline::Red(RedConfig::on(
            Rate::UNLIMITED,
            RedParameters {
                min_threshold: 1e9,
                max_threshold: 2e9,
                ..RedParameters::default()
            },
        )),
        QueueDiscipline::Pie(PieConfig {
            target: FAR,
            ..PieConfig::default()
        }),
        QueueDiscipline::DualPi2(DualPi2Config {
            target: FAR,
            ..DualPi2Config::default()
        }),
    ]
}

fn rates() -> impl Strategy<Value = RateConfig> {
    let rate = prop_oneof![1 => Just(0_u64), 4 => 1_000_000..3_000_000_000_u64];
    let steps = prop::collection::vec((10_000..400_000_u64, rate), 1..6)
        .prop_filter("something is sent", |steps| steps.iter().any(|s| s.1 > 0))
        .prop_map(|steps| {
            let mut at = 0;
            let mut list = Vec::new();
            for (length, rate) in steps {
                list.push(RateStep {
                    at: Span::from_nanos(at),
                    rate: Rate::from_bits_per_sec(rate),
                });
                at += length;
            }
            RateConfig::Steps {
                steps: list,
                repeat_every: Some(Span::from_nanos(at)),
            }
        });
    let trace = prop::collection::vec(0..3_u64, 1..20).prop_map(|gaps| {
        let mut at = 0;
        let mut text = String::new();
        for gap in gaps {
            at += gap;
            text += &format!("{at}\n");
        }
        text += &format!("{}\n", at + 1);
        RateConfig::Trace(Trace::parse(text.as_bytes()).expect("a trace"))
    });
    prop_oneof![
        Just(RateConfig::Constant(Rate::UNLIMITED)),
        Just(RateConfig::Constant(Rate::from_bits_per_sec(
            96_000_000_000_000
        ))),
        (1_000_000..3_000_000_000_u64)
            .prop_map(|rate| RateConfig::Constant(Rate::from_bits_per_sec(rate))),
        steps,
        trace,
    ]
}

/// Returns random transmissions bit by bit, or in blocks that may be broken.
fn blocks() -> impl Strategy<Value = Option<BlockConfig>> {
    let config = (100_000..400_000_u64, 1..8_u32, 0.0..0.5, 1..4_u32, 0.0..0.2);
    let some = config.prop_map(
        |(interval, processes, error, transmissions, residual_error)| BlockConfig {
            interval: Span::from_nanos(interval),
            processes,
            error,
            transmissions,
            residual_error,
            repeat_after: Span::from_millis(1),
        },
    );
    prop_oneof![3 => Just(None), 2 => some.prop_map(Some)]
}

fn configs() -> impl Strategy<Value = LinkConfig> {
    let effect = prop_oneof![
        Just(BlockageEffect::Held { limit: None }),
        Just(BlockageEffect::Held {
            limit: Some(Limit::Packets(3))
        }),
        Just(BlockageEffect::Lost),
        Just(BlockageEffect::DroppedOnArrival),
    ];
    let intervals = prop::collection::vec((1..500_000_u64, 1..300_000_u64), 0..6);
    let limit = prop_oneof![
        Just(None),
        (1..40_u32).prop_map(|n| Some(Limit::Packets(n))),
        (1500..40_000_u64).prop_map(|n| Some(Limit::Bytes(Bytes(n)))),
    ];
    let loss = prop_oneof![Just(0.0), Just(0.1)];
    let delay_line = (
        0..300_000_u64,
        prop_oneof![Just(0), 0..200_000_u64],
        any::<bool>(),
    );
    let framing = prop_oneof![Just(0_u64), Just(14)];
    let rates = (rates(), blocks());
    (rates, effect, intervals, limit, loss, delay_line, framing).prop_map(
        |((rate, blocks), effect, intervals, limit, probability, line, framing)| {
            let mut at = 0;
            let mut list = Vec::new();
            for (gap, length) in intervals {
                let start = Time::from_nanos(at + gap);
                at += gap + length;
                list.push(BlockageInterval {
                    start,
                    end: Time::from_nanos(at),
                    rate: Rate::ZERO,
                    loss_db: 0.0,
                });
            }
            LinkConfig {
                yields: false,
                rate,
                blocks,
                delay: Span::from_nanos(line.0).into(),
                keeps_order: true,
                changes: Changes::AtOnce,
                jitter: Span::from_nanos(line.1),
                framing: Bytes(framing),
                queue: QueueConfig {
                    limit,
                    counts_delay_line: line.2,
                    ..QueueConfig::default()
                },
                loss: LossConfig::Independent { probability },
                blockage: Some(BlockageConfig {
                    effect,
                    intervals: list,
                }),
            }
        },
    )
}

/// Runs a link. Returns arrivals with the packets' numbers, drops, and queue rows.
fn run(config: &LinkConfig, arrivals: &[(u64, u32)], is_wake_first: bool) -> [Vec<u64>; 3] {
    let mut bench = Bench::new(config.clone());
    let mut now = Time::ZERO;
    let mut seen = Vec::new();
    for (number, &(gap, size)) in arrivals.iter().enumerate() {
        now += Span::from_nanos(gap);
        // An event due at the instant of an arrival may be processed before or after it.
        let just_before = now.saturating_sub(Span::from_nanos(1));
        bench.run_until(if is_wake_first { now } else { just_before });
        let segment = Segment {
            len: size - 40,
            seq: number as u64,
            ..Segment::default()
        };
        let packet = Packet {
            flow: FlowId(number as u32),
            segment,
            ..Packet::default()
        };
        bench.insert(now, packet);
        seen.extend([
            bench.link.queued_packets(now),
            bench.link.queued_bytes(now).0,
            bench.link.queue_delay(now).as_nanos(),
        ]);
        bench.assert_conserved();
    }
    for row in &bench.log.queues {
        seen.extend([
            u64::from(row.queued_packets),
            row.queued_bytes,
            row.delay_s.as_nanos(),
        ]);
    }
    bench.drain();
    let arrived = bench
        .arrived
        .iter()
        .flat_map(|(at, n)| [at.as_nanos(), u64::from(*n)]);
    let drops = &bench.log.drops;
    let dropped = drops.iter().flat_map(|row| {
        [
            row.time_s.as_nanos(),
            u64::from(row.flow.0),
            row.cause as u64,
        ]
    });
    [arrived.collect(), dropped.collect(), seen]
}

proptest! {
    #![proptest_config(fadeout_testkit::Cases::new(2000).proptest())]

    #[test]
    fn a_discipline_that_never_acts_gives_the_departures_of_drop_tail(
        config in configs(),
        arrivals in prop::collection::vec((0..40_000_u64, 40..1501_u32), 1..120),
        stretch in prop_oneof![Just(1_u64), Just(40)],
        is_wake_first in any::<bool>(),
    ) {
        let arrivals: Vec<_> =
            arrivals.iter().map(|&(gap, size)| (gap * stretch, size)).collect();
        let expected = run(&config, &arrivals, is_wake_first);
        for discipline in idle_disciplines() {
            let mut config = config.clone();
            config.queue.discipline = discipline;
            // FQ-CoDel drops a waiting packet instead of the arrival, so its limit cannot be
            // compared.
            if matches!(discipline, QueueDiscipline::FqCoDel(_)) && config.queue.limit.is_some() {
                continue;
            }
            let found = run(&config, &arrivals, is_wake_first);
            prop_assert_eq!(&found, &expected, "{:?}", discipline);
        }
    }

    #[test]
    fn packets_are_conserved_and_the_limit_holds_whatever_a_discipline_does(
        config in configs(),
        arrivals in prop::collection::vec(
            (0..400_000_u64, 40..1501_u32, 0..4_u32, 0..4_usize),
            1..200,
        ),
    ) {
        for entry in QUEUE_DISCIPLINES {
            let mut config = config.clone();
            let rate = Rate::from_bits_per_sec(10_000_000);
            config.queue.discipline =
                QueueDiscipline::new(entry.name, &Parameters::default(), rate)
                    .expect("a registered name");
            let limit = config.queue.limit;
            let mut bench = Bench::new(config);
            let mut now = Time::ZERO;
            for &(gap, size, flow, ecn) in &arrivals {
                now += Span::from_nanos(gap);
                bench.run_until(now);
                let packet = Packet {
                    flow: FlowId(flow),
                    to: EndpointId(flow),
                    ecn: [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce][ecn],
                    segment: Segment { len: size - 40, ..Segment::default() },
                    ..Packet::default()
                };
                bench.insert(now, packet);
                let (packets, bytes) =
                    (bench.link.queued_packets(now), bench.link.queued_bytes(now));
                match limit {
                    Some(Limit::Packets(most)) => prop_assert!(packets <= u64::from(most)),
                    Some(Limit::Bytes(most)) => prop_assert!(bytes <= most),
                    None => {}
                }
                prop_assert_eq!(packets == 0, bytes == Bytes(0));
                bench.assert_conserved();
            }
            bench.drain();
            prop_assert!(bench.pool.is_empty(), "{} kept a packet", entry.name);
            prop_assert_eq!(bench.link.queued_packets(now), 0);
            prop_assert!(bench.arrived.windows(2).all(|pair| pair[0].0 <= pair[1].0));
        }
    }
}
