//! Tests of links whose rate or queue the caller of a simulation changes.

use crate::common::{Bench, mbps, ms, us};
use fadeout_core::aqm::{Threshold, ThresholdError};
use fadeout_core::random::Stream;
use fadeout_core::{Ecn, FlowId, Packet, Rate, Segment, Span, Time};
use fadeout_link::{
    BlockageConfig, BlockageEffect, CoDelConfig, DualPi2Config, FqCoDelConfig, Limit, LinkConfig,
    LinkError, PieConfig, QueueConfig, QueueDiscipline, RateConfig, RateStep, RedConfig,
    RedParameters,
};
use fadeout_testkit::Cases;

fn config(rate: RateConfig, discipline: QueueDiscipline) -> LinkConfig {
    LinkConfig {
        rate,
        delay: Span::from_millis(3).into(),
        queue: QueueConfig {
            limit: Some(Limit::Packets(20)),
            discipline,
            ..QueueConfig::default()
        },
        ..LinkConfig::default()
    }
}

/// Sends packets over a link whose rate changes at given times, in ms. The rate is set from outside
/// or given as steps. Returns the link after its last packet.
fn carried(rates: &[(u64, Rate)], packets: &[(u64, u32)], is_set: bool, is_managed: bool) -> Bench {
    let discipline = match is_managed {
        true => QueueDiscipline::CoDel(CoDelConfig::default()),
        false => QueueDiscipline::default(),
    };
    let step = |&(at, rate): &(u64, Rate)| RateStep {
        at: Span::from_millis(at),
        rate,
    };
    let rate = match is_set {
        true => RateConfig::Constant(rates[0].1),
        false => RateConfig::Steps {
            steps: rates.iter().map(step).collect(),
            repeat_every: None,
        },
    };
    let mut bench = Bench::new(config(rate, discipline));
    let mut changes = rates[1..].iter().filter(|_| is_set).peekable();
    for &(at, size) in packets {
        while let Some(&(change, rate)) = changes.next_if(|(change, _)| ms(*change) <= us(at)) {
            bench.run_until(ms(change));
            bench.link.set_rate(ms(change), rate).expect("a plain link");
        }
        bench.send(us(at), size);
    }
    for &(change, rate) in changes {
        bench.run_until(ms(change));
        bench.link.set_rate(ms(change), rate).expect("a plain link");
    }
    bench.drain();
    bench
}

#[test]
fn a_rate_that_is_set_carries_packets_as_the_same_rate_in_steps() {
    Cases::new(300).run(|case| {
        let mut random = Stream::new(case, "rates that are set", 0);
        let mut at = 0;
        let mut rates = vec![(0, mbps(1 + random.below(20)))];
        for _ in 0..random.below(6) {
            at += 1 + random.below(15);
            rates.push((at, mbps(1 + random.below(20))));
        }
        let mut sent_at = 0;
        let packets: Vec<(u64, u32)> = (0..60)
            .map(|_| {
                sent_at += random.below(1_500);
                (sent_at, 100 + random.below(1_400) as u32)
            })
            .collect();
        for is_managed in [false, true] {
            let set = carried(&rates, &packets, true, is_managed);
            let steps = carried(&rates, &packets, false, is_managed);
            assert_eq!(set.arrived.len(), steps.arrived.len());
            for (one, other) in set.arrived.iter().zip(&steps.arrived) {
                assert_eq!(one.1, other.1, "the order of packets");
                // At a change the rest of the packet in transmission is rounded up to a nanosecond
                // at the rate before. At the rate after, this is up to 20 ns.
                let apart = one.0.since(other.0).max(other.0.since(one.0));
                let most = Span::from_nanos(21 * rates.len() as u64);
                assert!(apart <= most, "{one:?} beside {other:?}");
            }
        }
    });
}

#[test]
fn the_packet_in_transmission_keeps_what_is_sent() {
    // A packet of 1500 bytes takes 1 ms at 12 Mbit/s. A quarter is sent at the change.
    let mut bench = Bench::new(LinkConfig {
        rate: RateConfig::Constant(mbps(12)),
        ..LinkConfig::default()
    });
    bench.send(ms(0), 1500);
    bench.send(ms(0), 1500);
    bench.run_until(us(250));
    bench.link.set_rate(us(250), mbps(3)).expect("a plain link");
    assert_eq!(bench.link.constant_rate(), Some(mbps(3)));
    bench.drain();
    assert_eq!(bench.arrived, [(us(3_250), 0), (us(7_250), 1)]);
}

#[test]
fn a_link_whose_rate_is_not_constant_refuses_and_stays_as_it_is() {
    let step = |at, rate| RateStep {
        at: Span::from_millis(at),
        rate,
    };
    let varied = LinkConfig {
        rate: RateConfig::Steps {
            steps: vec![step(0, mbps(1)), step(5, mbps(2))],
            repeat_every: None,
        },
        ..LinkConfig::default()
    };
    let blocked = LinkConfig {
        rate: RateConfig::Constant(mbps(1)),
        blockage: Some(BlockageConfig {
            intervals: Vec::new(),
            effect: BlockageEffect::Lost,
        }),
        ..LinkConfig::default()
    };
    for config in [varied, blocked] {
        let mut bench = Bench::new(config);
        bench.send(ms(0), 1500);
        let refused = bench.link.set_rate(ms(1), mbps(7));
        assert!(
            matches!(refused, Err(LinkError::Unsteerable(_))),
            "{refused:?}"
        );
        assert_eq!(bench.link.constant_rate(), None);
        bench.drain();
        assert_eq!(bench.arrived.len(), 1);
    }
    let mut bench = Bench::new(LinkConfig {
        rate: RateConfig::Constant(mbps(1)),
        ..LinkConfig::default()
    });
    let slow = bench.link.set_rate(ms(1), Rate::from_bits_per_sec(999));
    assert!(matches!(slow, Err(LinkError::RateTooSmall(_))), "{slow:?}");
    assert_eq!(bench.link.constant_rate(), Some(mbps(1)));
}

/// Sends the same packets of a case over a link of 8 Mbit/s that they overload. Returns the bench
/// after its last packet. `set` is a threshold that the link gets before the first packet.
fn overloaded(case: u64, discipline: QueueDiscipline, set: Option<Threshold>) -> Bench {
    let mut bench = Bench::new(LinkConfig {
        queue: QueueConfig {
            limit: Some(Limit::Packets(200)),
            discipline,
            ..QueueConfig::default()
        },
        ..config(RateConfig::Constant(mbps(8)), discipline)
    });
    if let Some(threshold) = set {
        let is_set = bench.link.set_threshold(Time::ZERO, threshold);
        is_set.expect("the discipline has the threshold");
    }
    let mut random = Stream::new(case, "thresholds that are set", 0);
    let mut at = 10_000;
    for number in 0..1_500 {
        at += random.below(1_600);
        bench.run_until(us(at));
        let packet = Packet {
            flow: FlowId(number % 3),
            ecn: [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1][random.below(3) as usize],
            segment: Segment {
                len: 400 + random.below(1_000) as u32,
                ..Segment::default()
            },
            ..Packet::default()
        };
        bench.insert(us(at), packet);
    }
    bench.drain();
    bench
}

/// Returns disciplines with their defaults, a threshold, and the discipline with this threshold as
/// its parameter.
fn thresholds() -> Vec<(QueueDiscipline, Threshold, QueueDiscipline)> {
    let target = Span::from_millis(9);
    let codel = |target| CoDelConfig {
        target,
        ..CoDelConfig::default()
    };
    let fq_codel = |target| FqCoDelConfig {
        codel: codel(target),
        ..FqCoDelConfig::default()
    };
    let pie = |target| PieConfig {
        target,
        ..PieConfig::default()
    };
    // A third of this round-trip time is shorter than both targets, so the updates keep their
    // distance and the two links their grid.
    let dual = |target, l4s_min_threshold| DualPi2Config {
        target,
        l4s_min_threshold,
        max_rtt: Span::from_millis(18),
        ..DualPi2Config::default()
    };
    let red = |min_threshold, max_threshold| {
        let parameters = RedParameters {
            min_threshold,
            max_threshold,
            weight: 0.05,
            ..RedParameters::default()
        };
        QueueDiscipline::Red(RedConfig::on(mbps(8), parameters))
    };
    let of_codel = |target| QueueDiscipline::CoDel(codel(target));
    let of_fq_codel = |target| QueueDiscipline::FqCoDel(fq_codel(target));
    let of_pie = |target| QueueDiscipline::Pie(pie(target));
    let of_dual = |target, marking| QueueDiscipline::DualPi2(dual(target, marking));
    let ms = Span::from_millis;
    let to_target = Threshold::Target(target);
    vec![
        (of_codel(ms(5)), to_target, of_codel(target)),
        (of_fq_codel(ms(5)), to_target, of_fq_codel(target)),
        (of_pie(ms(15)), to_target, of_pie(target)),
        (of_dual(ms(15), ms(1)), to_target, of_dual(target, ms(1))),
        (
            of_dual(ms(15), ms(1)),
            Threshold::Marking(ms(7)),
            of_dual(ms(15), ms(7)),
        ),
        (red(5.0, 15.0), Threshold::Minimum(9.0), red(9.0, 15.0)),
        (red(5.0, 15.0), Threshold::Maximum(40.0), red(5.0, 40.0)),
    ]
}

#[test]
fn a_threshold_that_is_set_drops_and_marks_as_one_that_is_given() {
    for (before, threshold, given) in thresholds() {
        let mut differs = false;
        for case in 0..4 {
            let set = overloaded(case, before, Some(threshold));
            let same = overloaded(case, given, None);
            assert_eq!(set.arrived, same.arrived, "{threshold:?} of {before:?}");
            let marks = |bench: &Bench| bench.link.stats().packets_marked;
            assert_eq!(marks(&set), marks(&same), "{threshold:?} of {before:?}");
            let unset = overloaded(case, before, None);
            differs |= unset.arrived != set.arrived || marks(&unset) != marks(&set);
        }
        assert!(differs, "{threshold:?} changes nothing of {before:?}");
    }
}

#[test]
fn a_queue_without_the_threshold_refuses_it_and_stays_as_it_is() {
    let short = Threshold::Target(Span::from_nanos(1));
    let dual = QueueDiscipline::DualPi2(DualPi2Config::default());
    let parameters = RedParameters::default();
    let red = QueueDiscipline::Red(RedConfig::on(mbps(8), parameters));
    let codel = QueueDiscipline::CoDel(CoDelConfig::default());
    for (discipline, threshold, expected) in [
        (QueueDiscipline::default(), short, "Absent"),
        (codel, Threshold::Minimum(1.0), "Absent"),
        (red, short, "Absent"),
        (dual, Threshold::Maximum(1.0), "Absent"),
        (dual, short, "expected at least 100 us"),
        (
            red,
            Threshold::Minimum(15.0),
            "more than the `min-threshold` of 15",
        ),
    ] {
        let mut bench = Bench::new(config(RateConfig::Constant(mbps(8)), discipline));
        let refused = bench.link.set_threshold(ms(0), threshold);
        let found = match refused.expect_err("it has no such threshold") {
            ThresholdError::Absent => "Absent".to_owned(),
            ThresholdError::OutOfRange(error) => error.to_string(),
        };
        assert!(found.contains(expected), "{found}");
    }
}
