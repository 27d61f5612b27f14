//! Tests of random links and arrivals against a slow model that knows the whole busy period.
//!
//! The model integrates the rate from the start of the busy period in exact integers. It finds the
//! first nanosecond at which the work of all packets up to this one is done. Its queue is a plain
//! list. It shares no code with the link.

use crate::common::Bench;
use fadeout_core::{Bytes, DropCause, Rate, Span, Time};
use fadeout_link::{
    Arrivals, BlockageConfig, BlockageEffect, BlockageInterval, Changes, DelayConfig, DelayStep,
    Limit, LinkConfig, LossConfig, QueueConfig, RateConfig, RateStep,
};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

#[derive(Debug, Clone)]
struct Case {
    /// Length in ns and rate in bit/s of each step. The steps repeat.
    steps: Vec<(u64, u64)>,
    /// Gap before each blockage in ns, length of the blockage in ns, and rate of the link during
    /// the blockage in bit/s.
    blockages: Vec<(u64, u64, u64)>,
    effect: BlockageEffect,
    /// Gap before each packet in ns, and its size.
    arrivals: Vec<(u64, u32)>,
    limit: Limit,
    /// Length and delay of each step in ns. The steps repeat.
    delays: Vec<(u64, u64)>,
    keeps_order: bool,
    changes: Changes,
    /// Ordinals of lost arrivals.
    lost: Vec<u64>,
    counts_delay_line: bool,
}

fn case() -> impl Strategy<Value = Case> {
    let rate = prop_oneof![1 => Just(0_u64), 4 => 1_000_000..3_000_000_000_u64];
    let steps = prop::collection::vec((10_000..400_000_u64, rate.clone()), 1..6)
        .prop_filter("something is sent", |steps| {
            steps.iter().any(|step| step.1 > 0)
        });
    let delays = prop::collection::vec((10_000..400_000_u64, 0..300_000_u64), 1..4);
    let lost = prop::collection::btree_set(1..121_u64, 0..20);
    let blockages = prop::collection::vec((1..500_000_u64, 1..300_000_u64, rate), 0..6);
    let effect = prop_oneof![
        Just(BlockageEffect::Held { limit: None }),
        Just(BlockageEffect::Held {
            limit: Some(Limit::Packets(3))
        }),
        Just(BlockageEffect::Lost),
        Just(BlockageEffect::DroppedOnArrival),
    ];
    let arrivals = prop::collection::vec((0..40_000_u64, 40..1501_u32), 1..120);
    let limit = prop_oneof![
        (1..40_u32).prop_map(Limit::Packets),
        (1500..40_000_u64).prop_map(|n| Limit::Bytes(Bytes(n))),
    ];
    let changes = prop_oneof![Just(Changes::AtOnce), Just(Changes::ForArrivals)];
    (
        (steps, blockages, effect, arrivals, limit),
        (delays, any::<bool>(), changes, lost, any::<bool>()),
    )
        .prop_map(
            |(
                (steps, blockages, effect, arrivals, limit),
                (delays, keeps_order, changes, lost, counts_delay_line),
            )| {
                Case {
                    steps,
                    blockages,
                    effect,
                    arrivals,
                    limit,
                    delays,
                    keeps_order,
                    changes,
                    lost: lost.into_iter().collect(),
                    counts_delay_line,
                }
                .allowed()
            },
        )
}

/// Returns cases of links with constant rate and delay that lose no packets.
fn plain_case() -> impl Strategy<Value = Case> {
    (case(), 1_000_000..3_000_000_000_u64).prop_map(|(case, rate)| Case {
        // The model looks at each step, so a step is long.
        steps: vec![(1_000_000_000, rate)],
        blockages: Vec::new(),
        delays: vec![case.delays[0]],
        keeps_order: true,
        changes: Changes::AtOnce,
        lost: Vec::new(),
        counts_delay_line: false,
        ..case
    })
}

/// Returns the value at nanosecond `t` of repeating steps, and the end of that step.
fn step_at(steps: &[(u64, u64)], t: u64) -> (u64, u64) {
    let period: u64 = steps.iter().map(|step| step.0).sum();
    let mut left = t % period;
    for &(length, value) in steps {
        if left < length {
            return (value, t + length - left);
        }
        left -= length;
    }
    unreachable!("the steps fill their period")
}

impl Case {
    /// Removes settings that exclude packets that keep the rate of their arrival.
    fn allowed(mut self) -> Case {
        if self.changes == Changes::ForArrivals {
            for step in &mut self.steps {
                step.1 = step.1.max(1_000_000);
            }
            for blockage in &mut self.blockages {
                blockage.2 = 0;
            }
            if matches!(self.effect, BlockageEffect::Held { .. }) {
                self.effect = BlockageEffect::DroppedOnArrival;
            }
        }
        self
    }

    fn intervals(&self) -> Vec<BlockageInterval> {
        let mut at = 0;
        let mut list = Vec::new();
        for &(gap, length, rate) in &self.blockages {
            let (start, end) = (
                Time::from_nanos(at + gap),
                Time::from_nanos(at + gap + length),
            );
            at += gap + length;
            let rate = Rate::from_bits_per_sec(rate);
            list.push(BlockageInterval {
                start,
                end,
                rate,
                loss_db: 0.0,
            });
        }
        list
    }

    fn config(&self) -> LinkConfig {
        let starts = |lengths: &[(u64, u64)]| {
            let mut at = 0;
            let mut starts = Vec::new();
            for &(length, value) in lengths {
                starts.push((Span::from_nanos(at), value));
                at += length;
            }
            (starts, Some(Span::from_nanos(at)))
        };
        let (rates, rates_repeat) = starts(&self.steps);
        let rates = rates.into_iter().map(|(at, bits)| RateStep {
            at,
            rate: Rate::from_bits_per_sec(bits),
        });
        let (delays, delays_repeat) = starts(&self.delays);
        let delays = delays.into_iter().map(|(at, nanos)| DelayStep {
            at,
            delay: Span::from_nanos(nanos),
        });
        let rate = match self.steps[..] {
            [(_, bits)] => RateConfig::Constant(Rate::from_bits_per_sec(bits)),
            _ => RateConfig::Steps {
                steps: rates.collect(),
                repeat_every: rates_repeat,
            },
        };
        let delay = match self.delays[..] {
            [(_, nanos)] => DelayConfig::Constant(Span::from_nanos(nanos)),
            _ => DelayConfig::Steps {
                steps: delays.collect(),
                repeat_every: delays_repeat,
            },
        };
        let loss = match self.lost.is_empty() {
            true => LossConfig::None,
            false => LossConfig::Arrivals(Arrivals::new(self.lost.clone()).expect("in order")),
        };
        LinkConfig {
            rate,
            delay,
            keeps_order: self.keeps_order,
            changes: self.changes,
            loss,
            queue: QueueConfig {
                limit: Some(self.limit),
                counts_delay_line: self.counts_delay_line,
                ..QueueConfig::default()
            },
            blockage: (!self.blockages.is_empty()).then(|| BlockageConfig {
                effect: self.effect,
                intervals: self.intervals(),
            }),
            ..LinkConfig::default()
        }
    }

    /// Returns the rate at nanosecond `t`, and the next instant at which it may change.
    fn rate_at(&self, t: u64) -> (u64, u64) {
        let (mut rate, mut until) = step_at(&self.steps, t);
        for interval in self.intervals() {
            let (start, end) = (interval.start.as_nanos(), interval.end.as_nanos());
            let cap = interval.rate.as_bits_per_sec();
            let felt = matches!(self.effect, BlockageEffect::Held { .. }) || cap > 0;
            if t < start {
                until = until.min(start);
            } else if t < end {
                until = until.min(end);
                rate = if felt { rate.min(cap) } else { rate };
            }
        }
        (rate, until)
    }

    /// Returns the first nanosecond at which `work` bit-nanoseconds have been done from `start` on.
    fn done_at(&self, start: u64, work: u128) -> u64 {
        let (mut at, mut done) = (start, 0);
        while done < work {
            let (rate, until) = self.rate_at(at);
            let capacity = u128::from(rate) * u128::from(until - at);
            if done + capacity >= work {
                return at + (work - done).div_ceil(u128::from(rate)) as u64;
            }
            done += capacity;
            at = until;
        }
        at
    }

    fn is_blocked(&self, first: u64, last: u64) -> bool {
        self.intervals().iter().any(|interval| {
            interval.rate.is_zero()
                && interval.start.as_nanos() <= last
                && interval.end.as_nanos() > first
        })
    }
}

#[derive(Debug, Default, PartialEq)]
struct Outcome {
    arrived: Vec<(Time, u32)>,
    dropped: Vec<(u32, DropCause)>,
}

/// State of the model's transmitter.
#[derive(Default)]
struct Busy {
    since: u64,
    work: u128,
    free_at: u64,
    /// Rate and delay of the previous packet, if packets keep those of their arrival.
    before: (u64, u64),
}

impl Busy {
    /// Returns first instant, end and arrival of a packet of `size` bytes that is admitted at
    /// `now`.
    fn carry(&mut self, case: &Case, now: u64, size: u32) -> (u64, u64, u64) {
        let work = u128::from(size) * 8_000_000_000;
        if case.changes == Changes::ForArrivals {
            let (rate, delay) = (step_at(&case.steps, now).0, step_at(&case.delays, now).0);
            if case.keeps_order {
                // `free_at` includes no delay. Earlier packets reach the far end at `free_at` plus
                // the previous delay, and this packet arrives no earlier.
                self.free_at = (self.free_at + self.before.1).saturating_sub(delay);
            }
            if self.free_at <= now
                || self.before != (rate, delay) && case.keeps_order
                || self.before.0 != rate
            {
                (self.since, self.work) = (self.free_at.max(now), 0);
            }
            self.before = (rate, delay);
            let first = self.free_at.max(now);
            self.work += work;
            self.free_at = self.since + self.work.div_ceil(u128::from(rate)) as u64;
            return (first, self.free_at, self.free_at + delay);
        }
        if self.free_at <= now {
            (self.since, self.work) = (now, 0);
        }
        let first = self.free_at.max(now);
        self.work += work;
        self.free_at = case.done_at(self.since, self.work);
        let delay = step_at(&case.delays, self.free_at).0;
        (first, self.free_at, self.free_at + delay)
    }
}

fn model(case: &Case) -> Outcome {
    let mut outcome = Outcome::default();
    let mut inside: Vec<(u64, u32)> = Vec::new();
    let (mut now, mut busy) = (0, Busy::default());
    // Latest times so far: the departure of a packet from the queue, and the arrival at the far
    // end.
    let (mut left, mut latest) = (0, 0);
    for (n, &(gap, size)) in case.arrivals.iter().enumerate() {
        now += gap;
        let n = n as u32;
        inside.retain(|&(leaves, _)| leaves > now);
        let bytes: u64 = inside.iter().map(|&(_, size)| u64::from(size)).sum();
        let fits = |limit| match limit {
            Limit::Packets(most) => inside.len() < most as usize,
            Limit::Bytes(most) => bytes + u64::from(size) <= most.0,
        };
        let blocked = case.is_blocked(now, now);
        let cause = match case.effect {
            BlockageEffect::DroppedOnArrival if blocked => Some(DropCause::Blocked),
            _ if case.lost.contains(&(u64::from(n) + 1)) => Some(DropCause::Random),
            BlockageEffect::Held { limit: Some(limit) } if blocked && !fits(limit) => {
                Some(DropCause::HoldFull)
            }
            _ if !fits(case.limit) => Some(DropCause::QueueFull),
            _ => None,
        };
        if let Some(cause) = cause {
            outcome.dropped.push((n, cause));
            continue;
        }
        let (first, departs, mut arrives) = busy.carry(case, now, size);
        let mut leaves = if case.counts_delay_line {
            arrives
        } else {
            departs
        };
        if case.keeps_order {
            (left, latest) = (left.max(leaves), latest.max(arrives));
            (leaves, arrives) = (left, latest);
        }
        inside.push((leaves, size));
        let last = first.max(departs.saturating_sub(1));
        if case.effect == BlockageEffect::Lost && case.is_blocked(first, last) {
            outcome.dropped.push((n, DropCause::Blocked));
        } else {
            outcome.arrived.push((Time::from_nanos(arrives), n));
        }
    }
    outcome.dropped.sort_by_key(|drop| drop.0);
    outcome.arrived.sort();
    outcome
}

fn check(case: &Case) -> Result<(), TestCaseError> {
    let mut bench = Bench::new(case.config());
    let mut now = Time::ZERO;
    for &(gap, size) in &case.arrivals {
        now += Span::from_nanos(gap);
        bench.send(now, size);
        match case.limit {
            Limit::Packets(most) => {
                prop_assert!(bench.link.queued_packets(now) <= u64::from(most));
            }
            Limit::Bytes(most) => prop_assert!(bench.link.queued_bytes(now) <= most),
        }
        bench.assert_conserved();
    }
    bench.drain();
    let mut dropped: Vec<_> = bench
        .log
        .drops
        .iter()
        .map(|row| (row.flow.0, row.cause))
        .collect();
    dropped.sort_by_key(|drop| drop.0);
    prop_assert_eq!(
        Outcome {
            arrived: bench.arrived,
            dropped
        },
        model(case)
    );
    prop_assert!(bench.pool.is_empty());
    Ok(())
}

proptest! {
    #![proptest_config(fadeout_testkit::Cases::new(2000).proptest())]

    #[test]
    fn departures_drops_and_order_equal_the_slow_models(case in case()) {
        check(&case)?;
    }

    #[test]
    fn a_plain_link_equals_the_slow_model(case in plain_case()) {
        check(&case)?;
    }
}
