//! Tests of links whose rate the caller of a simulation changes.

use crate::common::{Bench, mbps, ms, us};
use fadeout_core::random::Stream;
use fadeout_core::{Rate, Span};
use fadeout_link::{
    BlockageConfig, BlockageEffect, CoDelConfig, Limit, LinkConfig, LinkError, QueueConfig,
    QueueDiscipline, RateConfig, RateStep,
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
