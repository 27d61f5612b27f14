//! Tests of a link's behaviour on packets, case by case.

use crate::common::{Bench, mbps, ms, us};
use fadeout_core::{Bytes, DropCause, Rate, Span, Time};
use fadeout_link::{
    BlockageConfig, BlockageEffect, BlockageInterval, Limit, LinkConfig, LossConfig, QueueConfig,
    RateConfig, RateStep, Trace,
};

/// Returns a link of 12 Mbit/s, on which a 1500-byte packet lasts one millisecond.
fn twelve() -> LinkConfig {
    LinkConfig {
        rate: RateConfig::Constant(mbps(12)),
        ..LinkConfig::default()
    }
}

fn drop_tail(limit: Limit) -> QueueConfig {
    QueueConfig {
        limit: Some(limit),
        counts_delay_line: false,
        ..QueueConfig::default()
    }
}

fn blocked(effect: BlockageEffect, start: Time, end: Time, rate: Rate) -> Option<BlockageConfig> {
    let intervals = vec![BlockageInterval {
        start,
        end,
        rate,
        loss_db: 0.0,
    }];
    Some(BlockageConfig { effect, intervals })
}

#[test]
fn a_packet_takes_its_transmission_time_and_the_delay() {
    let mut bench = Bench::new(LinkConfig {
        delay: Span::from_millis(5).into(),
        ..twelve()
    });
    bench.send(ms(10), 1500);
    bench.send(ms(10), 1500);
    bench.drain();
    assert_eq!(bench.arrived, [(ms(16), 0), (ms(17), 1)]);
}

#[test]
fn a_link_without_rate_limit_only_delays() {
    let mut bench = Bench::new(LinkConfig {
        delay: Span::from_millis(5).into(),
        ..LinkConfig::default()
    });
    bench.send(ms(1), 1500);
    bench.send(ms(1), 40);
    bench.drain();
    assert_eq!(bench.arrived, [(ms(6), 0), (ms(6), 1)]);
}

#[test]
fn a_million_packets_at_807_megabit_per_second_end_on_the_exact_nanosecond() {
    let rate = RateConfig::Constant(mbps(807));
    let mut bench = Bench::new(LinkConfig {
        rate,
        ..LinkConfig::default()
    });
    let n = 1_000_000_u64;
    for _ in 0..n {
        bench.send(Time::ZERO, 1500);
    }
    let exact = (n * 12_000 * 1_000).div_ceil(807);
    assert_eq!(bench.link.queue_delay(Time::ZERO), Span::from_nanos(exact));
    bench.drain();
    assert_eq!(
        bench.arrived.last(),
        Some(&(Time::from_nanos(exact), n as u32 - 1))
    );
}

#[test]
fn a_rate_far_above_a_packet_per_nanosecond_keeps_count() {
    // At 96 Tbit/s eight 1500-byte packets are sent in each nanosecond.
    let rate = RateConfig::Constant(mbps(96_000_000));
    let mut bench = Bench::new(LinkConfig {
        rate,
        ..LinkConfig::default()
    });
    for _ in 0..800 {
        bench.send(Time::ZERO, 1500);
    }
    bench.drain();
    assert_eq!(bench.arrived.last(), Some(&(Time::from_nanos(100), 799)));
}

#[test]
fn a_full_queue_drops_the_arrival() {
    let mut bench = Bench::new(LinkConfig {
        queue: drop_tail(Limit::Packets(2)),
        ..twelve()
    });
    for _ in 0..3 {
        bench.send(ms(0), 1500);
    }
    bench.send(ms(1), 1500);
    bench.drain();
    assert_eq!(bench.dropped(DropCause::QueueFull), [2]);
    assert_eq!(bench.arrived, [(ms(1), 0), (ms(2), 1), (ms(3), 3)]);
    assert!(bench.pool.is_empty());
}

#[test]
fn a_limit_in_bytes_counts_bytes() {
    let queue = drop_tail(Limit::Bytes(Bytes(3000)));
    let mut bench = Bench::new(LinkConfig { queue, ..twelve() });
    for size in [1500, 1000, 501, 500] {
        bench.send(ms(0), size);
    }
    assert_eq!(bench.dropped(DropCause::QueueFull), [2]);
    assert_eq!(bench.link.queued_bytes(ms(0)), Bytes(3000));
}

#[test]
fn a_limit_that_counts_the_delay_line_drops_what_would_overfill_it() {
    let limit = Some(Limit::Packets(3));
    let config = |counts_delay_line| LinkConfig {
        delay: Span::from_millis(10).into(),
        queue: QueueConfig {
            limit,
            counts_delay_line,
            ..QueueConfig::default()
        },
        ..twelve()
    };
    let mut bench = Bench::new(config(true));
    for n in 0..4 {
        bench.send(ms(2 * n), 1500);
    }
    // The first packet reaches the far end at 11 ms. So a packet that arrives at this instant fits
    // into the limit.
    bench.send(ms(11), 1500);
    assert_eq!(bench.dropped(DropCause::QueueFull), [3]);

    let mut bench = Bench::new(config(false));
    for n in 0..4 {
        bench.send(ms(2 * n), 1500);
    }
    assert!(bench.log.drops.is_empty());
}

#[test]
fn jitter_never_reorders() {
    let config = LinkConfig {
        delay: Span::from_millis(1).into(),
        jitter: Span::from_millis(20),
        ..twelve()
    };
    let mut bench = Bench::new(config);
    for n in 0..500 {
        bench.send(ms(2 * n), 1500);
    }
    bench.drain();
    assert!(
        bench
            .arrived
            .windows(2)
            .all(|w| w[0].0 <= w[1].0 && w[0].1 + 1 == w[1].1)
    );
    let extra = |&(at, n): &(Time, u32)| (at - ms(2 * u64::from(n) + 2)).as_secs_f64();
    let most = bench.arrived.iter().map(extra).fold(0.0, f64::max);
    // The largest of 500 draws up to 20 ms is below 19 ms with probability 0.95^500 < 1e-11.
    assert!((0.019..=0.020).contains(&most), "{most}");
}

#[test]
fn the_rate_changes_in_the_middle_of_a_packet() {
    let rate_step = |ms, rate| RateStep {
        at: Span::from_millis(ms),
        rate,
    };
    let steps = vec![
        rate_step(0, mbps(12)),
        rate_step(10, Rate::ZERO),
        rate_step(20, mbps(6)),
    ];
    let rate = RateConfig::Steps {
        steps,
        repeat_every: None,
    };
    let mut bench = Bench::new(LinkConfig {
        rate,
        ..LinkConfig::default()
    });
    bench.send(us(9_500), 1500);
    bench.drain();
    // Half of the packet is sent in the first half millisecond, and the remainder at half the rate
    // from 20 ms on.
    assert_eq!(bench.arrived, [(ms(21), 0)]);
}

#[test]
fn held_packets_wait_for_the_end_of_the_blockage() {
    let effect = BlockageEffect::Held { limit: None };
    let blockage = blocked(effect, us(1_500), ms(100), Rate::ZERO);
    let mut bench = Bench::new(LinkConfig {
        blockage,
        ..twelve()
    });
    for _ in 0..3 {
        bench.send(ms(0), 1500);
    }
    bench.drain();
    assert_eq!(
        bench.arrived,
        [(ms(1), 0), (us(100_500), 1), (us(101_500), 2)]
    );
}

#[test]
fn a_partial_blockage_slows_the_link() {
    let effect = BlockageEffect::Held { limit: None };
    let blockage = blocked(effect, ms(1), ms(100), mbps(3));
    let mut bench = Bench::new(LinkConfig {
        blockage,
        ..twelve()
    });
    bench.send(ms(0), 1500);
    bench.send(ms(0), 1500);
    bench.drain();
    assert_eq!(bench.arrived, [(ms(1), 0), (ms(5), 1)]);
}

#[test]
fn the_hold_limit_holds_only_during_the_blockage() {
    let effect = BlockageEffect::Held {
        limit: Some(Limit::Packets(1)),
    };
    let blockage = blocked(effect, ms(5), ms(10), Rate::ZERO);
    let mut bench = Bench::new(LinkConfig {
        blockage,
        ..twelve()
    });
    bench.send(ms(0), 1500);
    bench.send(ms(0), 1500);
    bench.send(ms(6), 1500);
    bench.send(ms(6), 1500);
    bench.send(ms(10), 1500);
    bench.send(ms(10), 1500);
    bench.drain();
    assert_eq!(bench.dropped(DropCause::HoldFull), [3]);
    assert_eq!(bench.arrived.len(), 5);
}

#[test]
fn an_unacknowledged_link_loses_what_it_sends_into_the_blockage() {
    let blockage = blocked(BlockageEffect::Lost, us(1_500), us(2_500), Rate::ZERO);
    let delay = Span::from_millis(4);
    let mut bench = Bench::new(LinkConfig {
        blockage,
        delay: delay.into(),
        ..twelve()
    });
    for _ in 0..5 {
        bench.send(ms(0), 1500);
    }
    bench.drain();
    // The transmitter continues at its rate, so the packets at 1-2 ms and 2-3 ms meet the blockage.
    assert_eq!(bench.dropped(DropCause::Blocked), [1, 2]);
    assert_eq!(
        bench.log.drops[0].time_s,
        ms(6),
        "noticed when it would have arrived"
    );
    assert_eq!(bench.arrived, [(ms(5), 0), (ms(8), 3), (ms(9), 4)]);
    assert!(bench.pool.is_empty());
}

#[test]
fn netem_like_blockage_drops_arrivals_and_lets_the_inside_go_on() {
    let blockage = blocked(BlockageEffect::DroppedOnArrival, ms(1), ms(3), Rate::ZERO);
    let mut bench = Bench::new(LinkConfig {
        blockage,
        ..twelve()
    });
    for _ in 0..3 {
        bench.send(ms(0), 1500);
    }
    bench.send(ms(1), 1500);
    bench.send(us(2_999), 1500);
    bench.send(ms(3), 1500);
    bench.drain();
    assert_eq!(bench.dropped(DropCause::Blocked), [3, 4]);
    assert_eq!(
        bench.arrived,
        [(ms(1), 0), (ms(2), 1), (ms(3), 2), (ms(4), 5)]
    );
}

#[test]
fn a_link_that_dies_keeps_its_packets_for_ever() {
    let effect = BlockageEffect::Held { limit: None };
    let blockage = blocked(effect, us(500), Time::NEVER, Rate::ZERO);
    let trace = RateConfig::Trace(Trace::parse(b"1\n").expect("a trace"));
    for rate in [RateConfig::Constant(mbps(12)), trace] {
        let blockage = blockage.clone();
        let mut bench = Bench::new(LinkConfig {
            rate,
            blockage,
            ..LinkConfig::default()
        });
        bench.send(ms(0), 1500);
        bench.send(ms(700), 1500);
        assert!(bench.link.wake_at().is_never());
        assert_eq!(bench.link.packets_inside(), 2);
    }
}

#[test]
fn small_packets_share_an_opportunity_of_a_trace() {
    let rate = RateConfig::Trace(Trace::parse(b"2\n5\n9\n10\n").expect("a trace"));
    let mut bench = Bench::new(LinkConfig {
        rate,
        ..LinkConfig::default()
    });
    for size in [500, 500, 1000, 1500] {
        bench.send(ms(0), size);
    }
    // At 2 ms two and a half packets are sent. At 5 ms the remainder of the third and 1000 bytes of
    // the fourth follow.
    bench.drain();
    assert_eq!(
        bench.arrived,
        [(ms(2), 0), (ms(2), 1), (ms(5), 2), (ms(9), 3)]
    );
    // The packet arrives when the opportunity at 9 ms has passed, so the remainder of that
    // opportunity is lost.
    bench.send(ms(9), 1500);
    bench.drain();
    assert_eq!(bench.arrived.last(), Some(&(ms(10), 4)));
}

#[test]
fn a_trace_played_once_sends_nothing_after_its_end() {
    let trace = Trace::parse(b"2\n5\n").expect("a trace").once();
    for late in [false, true] {
        let mut bench = Bench::new(LinkConfig {
            rate: RateConfig::Trace(trace.clone()),
            ..LinkConfig::default()
        });
        for _ in 0..3 {
            bench.send(ms(0), 1500);
        }
        bench.drain();
        assert_eq!(bench.arrived, [(ms(2), 0), (ms(5), 1)]);
        if late {
            bench.send(ms(700), 40);
        }
        assert!(bench.link.wake_at().is_never());
        assert_eq!(bench.link.packets_inside(), 1 + usize::from(late));
    }
}

#[test]
fn a_blocked_trace_wastes_its_opportunities() {
    let rate = RateConfig::Trace(Trace::parse(b"1\n").expect("a trace"));
    let effect = BlockageEffect::Held { limit: None };
    let blockage = blocked(effect, ms(2), ms(50), Rate::ZERO);
    let mut bench = Bench::new(LinkConfig {
        rate,
        blockage,
        ..LinkConfig::default()
    });
    for _ in 0..3 {
        bench.send(ms(0), 1500);
    }
    bench.drain();
    assert_eq!(bench.arrived, [(ms(1), 0), (ms(50), 1), (ms(51), 2)]);
}

#[test]
fn the_random_streams_do_not_depend_on_the_traffic() {
    let config = LinkConfig {
        loss: LossConfig::Independent { probability: 0.3 },
        queue: drop_tail(Limit::Packets(1)),
        ..twelve()
    };
    let lost = |gap: u64| {
        let mut bench = Bench::seeded(config.clone(), 9);
        for n in 0..200 {
            bench.send(us(n * gap), 1500);
        }
        bench.dropped(DropCause::Random)
    };
    assert_eq!(lost(10), lost(5_000));
    assert!(!lost(10).is_empty());
}

#[test]
fn queue_rows_tell_occupancy_and_delay_after_the_arrival() {
    let mut bench = Bench::new(twelve());
    bench.send(ms(0), 1500);
    bench.send(us(500), 1500);
    let row = bench.log.queues[1];
    assert_eq!((row.queued_packets, row.queued_bytes), (2, 3000));
    assert_eq!(row.delay_s, Span::from_micros(1_500));
}

#[test]
fn impossible_links_are_errors() {
    let build = |config| fadeout_link::Link::new(fadeout_core::LinkId(0), config, 1).err();
    let effect = BlockageEffect::Held { limit: None };
    let trace = || RateConfig::Trace(Trace::parse(b"1\n").expect("a trace"));
    let zero = RateConfig::Constant(Rate::ZERO);
    let cases = [
        (
            LinkConfig {
                rate: zero,
                ..twelve()
            },
            "the rate is always zero",
        ),
        (
            LinkConfig {
                queue: drop_tail(Limit::Packets(0)),
                ..twelve()
            },
            "the queue limit is zero",
        ),
        (
            LinkConfig {
                blockage: blocked(effect, ms(2), ms(1), Rate::ZERO),
                ..twelve()
            },
            "interval 0.002 s to 0.001 s",
        ),
        (
            LinkConfig {
                rate: trace(),
                blockage: blocked(effect, ms(1), ms(2), mbps(1)),
                ..twelve()
            },
            "a blockage slows a trace-driven link to 1 Mbit/s",
        ),
    ];
    for (config, expected) in cases {
        let message = build(config).expect("an impossible link").to_string();
        assert!(message.starts_with(expected), "{message}");
    }
}
