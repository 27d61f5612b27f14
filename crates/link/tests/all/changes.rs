//! Tests of links whose rate and delay change, and of packets that overtake each other.

use crate::common::{Bench, mbps, ms, us};
use fadeout_core::{Rate, Span};
use fadeout_link::{
    BlockConfig, BlockageConfig, BlockageEffect, BlockageInterval, Changes, DelayConfig, DelayStep,
    Link, LinkConfig, QueueConfig, QueueDiscipline, RateConfig, RateStep, Trace,
};

/// Returns a rate of 12 Mbit/s, a full packet each millisecond, and of 6 Mbit/s from 10 ms on.
fn halved() -> RateConfig {
    rates(&[(0, mbps(12)), (10, mbps(6))])
}

fn rates(steps: &[(u64, Rate)]) -> RateConfig {
    let rate_step = |&(at, rate)| RateStep {
        at: Span::from_millis(at),
        rate,
    };
    RateConfig::Steps {
        steps: steps.iter().map(rate_step).collect(),
        repeat_every: None,
    }
}

fn delays(steps: &[(u64, u64)]) -> DelayConfig {
    let delay_step = |&(at, delay)| DelayStep {
        at: Span::from_millis(at),
        delay: Span::from_millis(delay),
    };
    DelayConfig::Steps {
        steps: steps.iter().map(delay_step).collect(),
        repeat_every: None,
    }
}

#[test]
fn what_is_queued_is_sent_at_the_new_rate() {
    let mut bench = Bench::new(LinkConfig {
        rate: halved(),
        ..LinkConfig::default()
    });
    for _ in 0..2 {
        bench.send(us(9_500), 1500);
    }
    bench.drain();
    // Half of the first packet is sent in the remaining half millisecond.
    assert_eq!(bench.arrived, [(ms(11), 0), (ms(13), 1)]);
}

#[test]
fn what_arrived_before_keeps_the_rate_of_its_arrival() {
    let mut bench = Bench::new(LinkConfig {
        rate: halved(),
        changes: Changes::ForArrivals,
        ..LinkConfig::default()
    });
    for _ in 0..2 {
        bench.send(us(9_500), 1500);
    }
    bench.send(ms(10), 1500);
    bench.drain();
    let expected = [(us(10_500), 0), (us(11_500), 1), (us(13_500), 2)];
    assert_eq!(bench.arrived, expected);
}

#[test]
fn a_shorter_delay_lets_a_packet_catch_up_or_overtake() {
    let arrivals = |keeps_order| {
        let mut bench = Bench::new(LinkConfig {
            delay: delays(&[(0, 20), (5, 2)]),
            keeps_order,
            ..LinkConfig::default()
        });
        bench.send(ms(4), 100);
        bench.send(ms(6), 100);
        bench.send(ms(30), 100);
        bench.drain();
        bench.arrived
    };
    assert_eq!(arrivals(true), [(ms(24), 0), (ms(24), 1), (ms(32), 2)]);
    assert_eq!(arrivals(false), [(ms(8), 1), (ms(24), 0), (ms(32), 2)]);
}

#[test]
fn a_packet_that_leaves_after_the_change_has_the_new_delay() {
    let mut bench = Bench::new(LinkConfig {
        rate: RateConfig::Constant(mbps(12)),
        delay: delays(&[(0, 2), (5, 20)]),
        ..LinkConfig::default()
    });
    bench.send(us(4_500), 1500);
    bench.drain();
    assert_eq!(bench.arrived, [(us(25_500), 0)]);
}

/// The formula of netem with a rate: arrival = max(arrival before, now + delay) + size / rate.
#[test]
fn with_netems_changes_the_delay_line_stands_before_the_transmitter() {
    let mut bench = Bench::new(LinkConfig {
        rate: RateConfig::Constant(mbps(12)),
        delay: delays(&[(0, 2), (5, 4), (10, 1)]),
        changes: Changes::ForArrivals,
        ..LinkConfig::default()
    });
    for _ in 0..3 {
        bench.send(us(4_500), 1500);
    }
    bench.send(us(5_000), 1500);
    bench.send(us(20_000), 1500);
    bench.drain();
    let expected = [
        (us(7_500), 0),
        (us(8_500), 1),
        (us(9_500), 2),
        // The packet's delay of 4 ms ends before the transmitter is free.
        (us(10_500), 3),
        (us(22_000), 4),
    ];
    assert_eq!(bench.arrived, expected);
}

#[test]
fn jitter_overtakes_where_the_order_is_not_kept() {
    let order = |keeps_order| {
        let mut bench = Bench::new(LinkConfig {
            jitter: Span::from_millis(10),
            keeps_order,
            ..LinkConfig::default()
        });
        for n in 0..100 {
            bench.send(us(100 * n), 100);
        }
        bench.drain();
        let order: Vec<u32> = bench.arrived.iter().map(|arrival| arrival.1).collect();
        assert_eq!(order.len(), 100);
        order
    };
    assert!(order(true).is_sorted());
    assert!(!order(false).is_sorted());
}

#[test]
fn packets_keep_the_rate_of_their_arrival_only_where_there_is_one() {
    let refused = |config: LinkConfig| {
        let config = LinkConfig {
            changes: Changes::ForArrivals,
            ..config
        };
        Link::new(fadeout_core::LinkId(0), config, 1)
            .expect_err("nothing keeps the rate of its arrival here")
            .to_string()
    };
    let of_rate = |rate| LinkConfig {
        rate,
        ..LinkConfig::default()
    };
    assert_eq!(
        refused(of_rate(rates(&[(0, mbps(1)), (5, Rate::ZERO)]))),
        "packets keep the rate of their arrival on a link with a rate of zero at times; expected \
         rates above zero"
    );
    let trace = Trace::parse(b"1").expect("a trace");
    assert!(refused(of_rate(RateConfig::Trace(trace))).contains("opportunities"));
    assert!(
        refused(LinkConfig {
            blocks: Some(BlockConfig::default()),
            ..of_rate(RateConfig::Constant(mbps(1)))
        })
        .contains("blocks")
    );
    let blockage = BlockageConfig {
        effect: BlockageEffect::Held { limit: None },
        intervals: vec![BlockageInterval {
            start: ms(1),
            end: ms(2),
            rate: Rate::ZERO,
            loss_db: 0.0,
        }],
    };
    assert!(
        refused(LinkConfig {
            blockage: Some(blockage),
            ..of_rate(RateConfig::Constant(mbps(1)))
        })
        .contains("hold packets")
    );
    let codel = QueueDiscipline::new("codel", &Default::default(), mbps(1));
    assert!(
        refused(LinkConfig {
            queue: QueueConfig {
                discipline: codel.expect("a registered name"),
                ..QueueConfig::default()
            },
            ..LinkConfig::default()
        })
        .ends_with("expected drop-tail")
    );
}
