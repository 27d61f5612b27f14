//! Tests of transport blocks against closed forms: capacity, delay, and the wait for a broken
//! block.

use crate::common::{Bench, ms, us};
use fadeout_core::math;
use fadeout_core::random::Stream;
use fadeout_core::{Bytes, Rate, Span, Time};
use fadeout_link::{
    BlockConfig, BlockageConfig, BlockageEffect, BlockageInterval, Limit, LinkConfig, QueueConfig,
    RateConfig, RateStep,
};

/// Returns a link that carries blocks of `bits` in 2 ms.
fn link(bits: u64, blocks: BlockConfig) -> LinkConfig {
    LinkConfig {
        rate: RateConfig::Constant(Rate::from_bits_per_sec(bits * 500)),
        blocks: Some(blocks),
        ..LinkConfig::default()
    }
}

/// Sends packets of 40 bytes, each alone on the link. Returns the time from the start of its block
/// to its arrival, for each packet.
fn delays(blocks: BlockConfig, count: u64) -> Vec<f64> {
    // Each block contains one packet. The packets are a second apart, longer than nine
    // retransmissions take.
    let mut bench = Bench::seeded(link(3565, blocks), 5);
    for number in 0..count {
        bench.send(Time::ZERO + Span::from_secs(number), 40);
    }
    bench.drain();
    let arrived = bench.arrived.iter().enumerate();
    arrived
        .map(|(number, (at, packet))| {
            assert_eq!(number, *packet as usize);
            let sent = Time::ZERO + Span::from_secs(number as u64);
            // A packet sent at the start of an interval waits for the next interval.
            at.since(sent).as_secs_f64() * 1e3 - 2.0
        })
        .collect()
}

#[test]
fn a_packet_waits_for_the_next_interval_and_is_there_at_its_end() {
    let mut bench = Bench::new(link(3565, BlockConfig::default()));
    bench.send(us(300), 40);
    // This packet joins the block that the first one waits for.
    bench.send(us(1999), 40);
    // This packet misses the block, which begins at the same instant.
    bench.send(us(2000), 40);
    bench.drain();
    assert_eq!(bench.arrived, [(ms(4), 0), (ms(4), 1), (ms(6), 2)]);
}

#[test]
fn a_packet_larger_than_a_block_ends_in_the_block_that_has_its_last_bit() {
    // 12000 bits fill three blocks of 3565 bits and 1305 bits of a fourth. The fourth block also
    // holds the next packet's 320 bits, and the beginning of the third packet's 12000.
    let mut bench = Bench::new(link(3565, BlockConfig::default()));
    for size in [1500, 40, 1500] {
        bench.send(us(1), size);
    }
    bench.drain();
    // The seventh block contains bit 24320.
    assert_eq!(bench.arrived, [(ms(10), 0), (ms(10), 1), (ms(16), 2)]);
}

#[test]
fn blocks_without_errors_carry_the_rate_to_the_bit() {
    // With 1001 bits in a block, no packet ends at the end of a block.
    let mut bench = Bench::new(link(1001, BlockConfig::default()));
    for _ in 0..1000 {
        bench.send(Time::ZERO, 1500);
    }
    bench.drain();
    for (number, (at, _)) in bench.arrived.iter().enumerate() {
        let block = ((number as u64 + 1) * 12_000).div_ceil(1001);
        assert_eq!(*at, ms(2 + 2 * block));
    }
}

#[test]
fn each_harq_round_adds_one_round_trip_with_the_block_error_rate() {
    let blocks = BlockConfig {
        error: 0.1,
        transmissions: 64,
        ..BlockConfig::default()
    };
    let count = 40_000;
    let delays = delays(blocks, count);
    for rounds in 0..3 {
        let expected = 0.9 * math::pow(0.1, f64::from(rounds));
        let delay = 2.0 + 12.0 * f64::from(rounds);
        let share = delays.iter().filter(|d| (*d - delay).abs() < 1e-6).count() as f64;
        // The limit is five standard errors of a binomial share.
        let error = (expected * (1.0 - expected) / count as f64).sqrt();
        assert!((share / count as f64 - expected).abs() < 5.0 * error);
    }
    let mean = delays.iter().sum::<f64>() / count as f64;
    // The mean is 2 ms, and 12 ms for each of p / (1 - p) further rounds, whose deviation is
    // sqrt(p) / (1 - p).
    let (expected, deviation) = (2.0 + 12.0 / 9.0, 12.0 * 0.1_f64.sqrt() / 0.9);
    assert!((mean - expected).abs() < 5.0 * deviation / (count as f64).sqrt());
}

#[test]
fn what_harq_leaves_broken_comes_after_the_delay_of_rlc() {
    // Each block has one transmission. RLC retransmits a block that is broken or wrongly counted as
    // intact.
    let blocks = BlockConfig {
        error: 0.02,
        transmissions: 1,
        residual_error: 0.01,
        ..BlockConfig::default()
    };
    let count = 40_000;
    let delays = delays(blocks, count);
    let wrong: f64 = 1.0 - 0.98 * 0.99;
    for repeats in 0..2 {
        let expected = (1.0 - wrong) * math::pow(wrong, f64::from(repeats));
        let delay = 2.0 + 100.0 * f64::from(repeats);
        let share = delays.iter().filter(|d| (*d - delay).abs() < 1e-6).count() as f64;
        // The limit is five standard errors of a binomial share.
        let error = (expected * (1.0 - expected) / count as f64).sqrt();
        assert!((share / count as f64 - expected).abs() < 5.0 * error);
    }
}

#[test]
fn a_backlog_goes_at_the_rate_less_what_is_repeated() {
    for (error, transmissions, residual_error) in [(0.1, 4, 0.001), (0.3, 2, 0.05), (0.0, 1, 0.2)] {
        let blocks = BlockConfig {
            error,
            transmissions,
            residual_error,
            ..BlockConfig::default()
        };
        let bits = 3000;
        let mut bench = Bench::seeded(link(bits, blocks), 3);
        let packets: u64 = 100_000;
        for _ in 0..packets {
            bench.send(Time::ZERO, 1500);
        }
        bench.drain();
        let (end, _) = bench.arrived.last().expect("all arrive");
        let rate = (packets * 12_000) as f64 / end.as_secs_f64();
        // A transmission is correct with probability (1 - p) (1 - q) in any HARQ round.
        let right = (1.0 - error) * (1.0 - residual_error);
        let expected = bits as f64 * 500.0 * right;
        // The number of transmissions of a block is at worst geometric, whose deviation over mean
        // is below 1. The limit is five standard errors over the 400 000 blocks, plus the wait for
        // the last block.
        assert!((rate / expected - 1.0).abs() < 5.0 / 400_000_f64.sqrt() + 0.001);
        let (_, order): (Vec<Time>, Vec<u32>) = bench.arrived.iter().copied().unzip();
        assert!(order.is_sorted(), "packets keep their order");
    }
}

#[test]
fn what_follows_a_broken_block_waits_for_it_and_is_there_at_once() {
    // Half of the transmissions of blocks fail. Each interval has one packet, in a block of its
    // own.
    let blocks = BlockConfig {
        error: 0.5,
        transmissions: 64,
        ..BlockConfig::default()
    };
    let mut bench = Bench::new(link(320, blocks));
    for number in 0..2000 {
        bench.send(us(2000 * number + 1), 40);
    }
    bench.drain();
    let bursts: Vec<usize> = bench
        .arrived
        .chunk_by(|(one, _), (other, _)| one == other)
        .map(<[_]>::len)
        .collect();
    // Without broken blocks no two packets would arrive at one instant, because a block holds one
    // packet.
    assert!(bursts.iter().any(|&burst| burst > 3), "{bursts:?}");
    assert!(bench.arrived.is_sorted_by_key(|&(at, number)| (at, number)));
}

#[test]
fn a_packet_counts_against_the_limit_until_it_is_through() {
    // Almost every block fails at first, and waits for its retransmission.
    let blocks = BlockConfig {
        residual_error: 0.9,
        ..BlockConfig::default()
    };
    let mut config = link(3565, blocks);
    config.queue = QueueConfig {
        limit: Some(Limit::Bytes(Bytes(100))),
        ..QueueConfig::default()
    };
    let mut bench = Bench::new(config);
    for number in 0..3 {
        bench.send(ms(10 * number), 40);
    }
    assert_eq!(bench.link.queued_packets(ms(20)), 2);
    assert_eq!(bench.link.stats().dropped_total(), 1);
    bench.drain();
    assert_eq!(bench.arrived.len(), 2);
}

#[test]
fn nothing_is_sent_before_the_link_opens() {
    let mut bench = Bench::new(link(3565, BlockConfig::default()));
    bench.link.open_at(us(2_000_500));
    bench.send(us(100), 40);
    bench.send(ms(1999), 40);
    bench.send(ms(3000), 40);
    bench.drain();
    let expected = [(ms(2004), 0), (ms(2004), 1), (ms(3004), 2)];
    assert_eq!(bench.arrived, expected);
}

#[test]
fn a_block_carries_what_a_varying_rate_gives_in_its_interval() {
    let mbps = |mbps: u64| Rate::from_bits_per_sec(mbps * 1_000_000);
    let rate_step = |ms, rate| RateStep {
        at: Span::from_millis(ms),
        rate,
    };
    // The rate is on in the second millisecond of every 3 ms. Only every other on-time begins at
    // the start of a 2 ms interval.
    let mut config = link(0, BlockConfig::default());
    config.rate = RateConfig::Steps {
        steps: vec![
            rate_step(0, Rate::ZERO),
            rate_step(1, mbps(12)),
            rate_step(2, Rate::ZERO),
        ],
        repeat_every: Some(Span::from_millis(3)),
    };
    let mut bench = Bench::new(config);
    for _ in 0..2000 {
        bench.send(Time::ZERO, 1500);
    }
    bench.drain();
    // From 4 ms on there is one packet in each millisecond that is on: in [4, 5), [7, 8), and so
    // on.
    for (number, (at, _)) in bench.arrived.iter().enumerate() {
        let sent = 5 + 3 * number as u64;
        assert_eq!(*at, ms(sent.next_multiple_of(2)));
    }
}

#[test]
fn a_blockage_that_holds_stops_blocks_and_one_that_loses_loses_them() {
    for (effect, arrived) in [
        (
            BlockageEffect::Held { limit: None },
            vec![(ms(4), 0), (ms(22), 1)],
        ),
        (BlockageEffect::Lost, vec![(ms(4), 0)]),
    ] {
        let mut config = link(3565, BlockConfig::default());
        config.blockage = Some(BlockageConfig {
            effect,
            intervals: vec![BlockageInterval {
                start: ms(10),
                end: ms(20),
                rate: Rate::ZERO,
                loss_db: 0.0,
            }],
        });
        let mut bench = Bench::new(config);
        bench.send(us(1), 40);
        bench.send(us(9001), 40);
        bench.drain();
        assert_eq!(bench.arrived, arrived);
    }
}

#[test]
fn errors_have_streams_of_their_own() {
    let times = |error, jitter| {
        let mut config = link(
            3565,
            BlockConfig {
                error,
                ..BlockConfig::default()
            },
        );
        config.jitter = Span::from_micros(jitter);
        let mut bench = Bench::new(config);
        let mut random = Stream::new(1, "arrivals", 0);
        let mut now = Time::ZERO;
        for _ in 0..1000 {
            bench.send(now, 40);
            now += Span::from_secs_f64(random.uniform_in(0.1, 0.2));
        }
        bench.drain();
        bench.arrived
    };
    // The same packets are late with and without jitter, because the draws are independent.
    let (plain, jittered) = (times(0.1, 0), times(0.1, 900));
    for ((one, _), (other, _)) in plain.iter().zip(&jittered) {
        assert!(other.since(*one) <= Span::from_micros(900));
    }
}

#[test]
fn parameters_out_of_range_are_errors() {
    let fails = |blocks: BlockConfig, bits| {
        let refused = fadeout_link::Link::new(fadeout_core::LinkId(0), link(bits, blocks), 1);
        refused.expect_err("out of range").to_string()
    };
    let good = BlockConfig::default();
    let refusal_with = |change: fn(&mut BlockConfig)| {
        let mut blocks = good;
        change(&mut blocks);
        fails(blocks, 3565)
    };
    assert!(refusal_with(|b| b.error = 1.0).contains("at most 0.9"));
    assert!(refusal_with(|b| b.error = f64::NAN).contains("at least 0 and at most 0.9"));
    assert!(refusal_with(|b| b.residual_error = -0.1).contains("at least 0 and at most 0.9"));
    assert!(refusal_with(|b| b.interval = Span::ZERO).contains("at least 100 us and at most 1 s"));
    assert!(refusal_with(|b| b.processes = 0).contains("at least 1 and at most 16"));
    assert!(refusal_with(|b| b.processes = 17).contains("at least 1 and at most 16"));
    assert!(refusal_with(|b| b.transmissions = 0).contains("at least 1 and at most 64"));
    assert!(fails(good, 0).contains("positive rate"));
    assert!(fails(good, 1).contains("0.001 Mbit/s"));
}
