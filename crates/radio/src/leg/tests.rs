//! Tests of a leg without a cell or bearers. The tests provide slots, measurements, backlogs and
//! RLC queues.

mod rules;
mod uplink;

use super::*;
use crate::config::{
    Aggregation, BearerConfig, CellConfig, CellHarqConfig, ConfiguredGrant, ReportedAdaptation,
};
use crate::mac::{DrxConfig, LogicalChannel, RequestConfig};
use crate::phy::harq::FixedErrors;
use crate::phy::link_adaptation::OuterLoopConfig;
use crate::plan::Measurement;
use crate::rlc::{Pdu, RlcConfig, TransportBlock};
use crate::wire::BufferStatus;
use fadeout_core::DrbId;
use fadeout_core::{Hertz, NullProbe, Point, Rate};

const DOWN: Direction = Direction::Downlink;
const UP: Direction = Direction::Uplink;

fn millis(millis: u64) -> Time {
    Time::from_nanos(millis * 1_000_000)
}

fn plan(config: CellConfig) -> CellPlan {
    CellPlan::new(CellId(0), config).expect("a cell")
}

fn lte() -> CellConfig {
    CellConfig::lte(Point::default(), Hertz(2e9), 50)
}

/// Returns a cell in which every first transmission fails with this probability, and no
/// retransmission fails.
fn failing(first: f64) -> CellConfig {
    CellConfig {
        fixed_errors: Some(FixedErrors {
            first,
            retransmission: 0.0,
        }),
        ..lte()
    }
}

/// Leg in a primary cell, with the uplink requests of its UE.
struct Alone {
    leg: Leg,
    requests: UplinkRequests,
}

impl std::ops::Deref for Alone {
    type Target = Leg;
    fn deref(&self) -> &Leg {
        &self.leg
    }
}

impl std::ops::DerefMut for Alone {
    fn deref_mut(&mut self) -> &mut Leg {
        &mut self.leg
    }
}

impl Alone {
    fn new(config: LegConfig, nth: u64, plan: &CellPlan, seed: u64) -> Alone {
        Alone {
            requests: UplinkRequests::new(config.ue, nth, plan, seed),
            leg: Leg::new(config, (config.ue, nth), plan, seed),
        }
    }
    fn request(&mut self, plan: &CellPlan, now: Time) -> request::Request {
        self.leg.request(&mut self.requests, plan, now)
    }
    fn grant(&mut self, plan: &CellPlan, process: u8, block: Block, target: u64) {
        let block = (process, block);
        self.leg.grant(&mut self.requests, plan, block, target);
    }
    fn on_filled(
        &mut self,
        plan: &CellPlan,
        now: Time,
        process: u8,
        filled: (Option<ContentId>, u64),
    ) -> Option<Time> {
        let requests = &mut self.requests;
        self.leg.on_filled(requests, plan, now, process, filled)
    }
    fn on_report(&mut self, process: u8) {
        self.leg.on_report(&mut self.requests, process);
    }
    fn uplink_wanted(&self, plan: &CellPlan) -> u64 {
        self.leg.uplink_wanted(&self.requests, plan)
    }
    fn use_configured_grant(&mut self, plan: &CellPlan, now: Time, slot: u64) -> Option<(u64, u8)> {
        let requests = &mut self.requests;
        self.leg.use_configured_grant(requests, plan, now, slot)
    }
}

fn leg(plan: &CellPlan) -> Alone {
    let config = LegConfig {
        id: LegId(0),
        ue: UeId(0),
        number: 0,
        cell: CellId(0),
        rnti: Rnti(0),
        modulation: HighestModulation::default(),
    };
    Alone::new(config, 0, plan, 1)
}

fn shape(bytes: u32) -> Shape {
    Shape {
        scheme: 5,
        symbols: 14,
        units: 4,
        bytes,
        ..Shape::default()
    }
}

fn content() -> ContentId {
    Contents::new(1000).claim()
}

/// Sends a new downlink transport block in `slot`, and lets the UE decode it.
fn exchange(leg: &mut Leg, plan: &CellPlan, slot: u64) -> (u8, Decoding) {
    let block = (shape(500), 7);
    let process = leg
        .start_downlink(plan, (plan.frame.start_of(slot), slot), block, content())
        .expect("a process is free");
    leg.down.sent(process, slot, slot + 8);
    let decoding = leg
        .decode(plan, (DOWN, process), 0.0, &mut NullProbe)
        .expect("it was sent");
    (process, decoding)
}

#[test]
fn each_transmission_is_counted_and_only_further_ones_as_retransmissions() {
    let plan = plan(failing(1.0));
    let mut leg = leg(&plan);
    let (process, decoding) = exchange(&mut leg, &plan, 4);
    assert!(!decoding.is_ok && !decoding.is_lost);
    let counters = *leg.down.counters();
    assert_eq!((counters.blocks, counters.retransmissions), (1, 0));
    assert_eq!(leg.down.repetition(11, 11), None, "not before eight slots");
    assert_eq!(leg.down.repetition(12, 12), Some((process, shape(500))));
    leg.down.resume(process, 12);
    leg.down.sent(process, 12, 20);
    let again = leg.decode(&plan, (DOWN, process), 0.0, &mut NullProbe);
    assert!(again.is_some_and(|decoding| decoding.is_new));
    let (_, _) = exchange(&mut leg, &plan, 13);
    let counters = *leg.down.counters();
    assert_eq!(
        (
            counters.blocks,
            counters.retransmissions,
            counters.lost_blocks
        ),
        (3, 1, 0)
    );
    assert_eq!(*leg.up.counters(), BlockCounters::default());
}

#[test]
fn a_block_that_fails_in_its_last_transmission_is_lost_and_counted() {
    let plan = plan(CellConfig {
        harq: CellHarqConfig {
            most_transmissions: 1,
            ..CellHarqConfig::with_processes(8)
        },
        ..failing(1.0)
    });
    let mut leg = leg(&plan);
    let (process, decoding) = exchange(&mut leg, &plan, 0);
    assert!(decoding.is_lost);
    assert_eq!(leg.down.counters().lost_blocks, 1);
    assert!(leg.down.take_content(process).is_some());
    assert!(leg.down.is_idle());
}

#[test]
fn the_outer_loop_falls_by_its_step_and_rises_by_the_step_that_keeps_its_target() {
    let offset_with = |first: f64| {
        let reports = ReportedAdaptation {
            outer_loop: OuterLoopConfig {
                step_down_db: 0.5,
                target_error: 0.1,
                range_db: (-10.0, 10.0),
            },
            ..ReportedAdaptation::every(Span::from_millis(5), Span::from_millis(6))
        };
        let plan = plan(CellConfig {
            adaptation: Adaptation::Reports(reports),
            ..failing(first)
        });
        let mut leg = leg(&plan);
        let (process, _) = exchange(&mut leg, &plan, 0);
        let after_first = leg.down.outer_loop.offset_db();
        if first > 0.0 {
            // The retransmission succeeds and does not change the outer loop's offset.
            leg.down.resume(process, 8);
            leg.down.sent(process, 8, 16);
            leg.decode(&plan, (DOWN, process), 0.0, &mut NullProbe);
        }
        assert_eq!(leg.down.outer_loop.offset_db(), after_first);
        assert_eq!(leg.up.outer_loop.offset_db(), 0.0, "the other direction");
        after_first
    };
    assert_eq!(offset_with(1.0), -0.5);
    // At a BLER of 10 % the outer loop's offset has no drift. A failure lowers it by 0.5 dB, and a
    // success raises it by 0.5 / 9 dB.
    assert!((offset_with(0.0) - 0.5 / 9.0).abs() < 1e-12);
}

#[test]
fn a_scheme_follows_the_report_and_the_outer_loop() {
    let plan = plan(lte());
    let mut leg = leg(&plan);
    let mut asked = Vec::new();
    let mut scheme = |leg: &mut Leg, slot: u64, cqi: u8| {
        leg.downlink_scheme(&plan, slot, |measured, _, _| {
            asked.push(measured);
            (cqi, 0)
        })
    };
    let (good, cqi) = scheme(&mut leg, 11, 9).expect("in range");
    assert_eq!(cqi, 9);
    // A report comes every 5 ms and is 6 ms old at its first use. Each report is used until the
    // next one, so slot 15 still uses the first report.
    assert_eq!(scheme(&mut leg, 15, 1), Some((good, 9)));
    assert!(scheme(&mut leg, 16, 4).is_some_and(|(scheme, cqi)| scheme < good && cqi == 4));
    assert_eq!(scheme(&mut leg, 21, 0), None, "out of range");
    assert_eq!(asked, [5, 10, 15]);
    let config = OuterLoopConfig::default();
    for _ in 0..6 {
        leg.down.outer_loop.on_feedback(&config, false);
    }
    let lower = leg.downlink_scheme(&plan, 26, |_, _, _| (9, 0));
    assert!(lower.is_some_and(|(scheme, _)| scheme < good));
}

/// Uplink in which the UE's power suffices for a limited number of resource blocks.
struct Uplink {
    sinr_db: f64,
    blocks: u32,
}

impl UplinkAir for Uplink {
    fn measure(&mut self, _: u64, measurement: &mut Measurement) {
        measurement.sinr_db = self.sinr_db;
    }
    fn affordable_blocks(&self, available: u32) -> u32 {
        available.min(self.blocks)
    }
    fn spread_db(&self, blocks: u32) -> f64 {
        -fadeout_core::math::to_db(f64::from(blocks))
    }
}

#[test]
fn uplink_power_is_spread_over_as_many_units_as_it_suffices_for() {
    let plan = plan(lte());
    let choose = |blocks, wanted| {
        let mut air = Uplink {
            sinr_db: 30.0,
            blocks,
        };
        leg(&plan)
            .uplink_choice(&plan, 20, (14, 17, wanted), &mut air)
            .expect("in range")
    };
    // A unit has three resource blocks. With power for 8 resource blocks, the UE gets 2 units.
    let (all, few) = (choose(50, 1_000_000), choose(8, 1_000_000));
    assert_eq!((all.units, few.units), (17, 2));
    assert!(few.scheme > all.scheme, "more power in each");
    let small = choose(50, 20);
    assert_eq!(small.units, 1);
    assert!(small.scheme > all.scheme);
    let mut air = Uplink {
        sinr_db: -30.0,
        blocks: 50,
    };
    let out_of_range = leg(&plan).uplink_choice(&plan, 20, (14, 17, 100), &mut air);
    assert_eq!(out_of_range, None);
}

#[test]
fn when_every_process_is_busy_a_leg_waits_for_feedback() {
    let plan = plan(CellConfig {
        harq: CellHarqConfig {
            downlink_processes: 1,
            ..CellHarqConfig::with_processes(8)
        },
        ..failing(0.0)
    });
    let mut leg = leg(&plan);
    assert!(leg.may_send_new(&plan, 3));
    let block = (shape(500), 7);
    let process = leg.start_downlink(&plan, (millis(3), 3), block, content());
    let process = process.expect("it is free");
    leg.down.sent(process, 3, 11);
    assert!(!leg.may_send_new(&plan, 4));
    assert_eq!(leg.downlink_ready(&plan, 3, (100, None), false), NO_SLOT);
    assert_eq!(leg.downlink_resumes(), None);
    leg.decode(&plan, (DOWN, process), 0.0, &mut NullProbe);
    assert_eq!(leg.downlink_resumes(), Some(11));
    assert_eq!(leg.downlink_ready(&plan, 8, (100, None), false), 11);
    // Without data the leg waits for the next packet, so the result is no slot. An out-of-range leg
    // is tried again after 40 ms.
    assert_eq!(leg.downlink_ready(&plan, 8, (0, None), false), NO_SLOT);
    assert_eq!(
        leg.downlink_ready(&plan, 8, (0, Some(millis(20))), false),
        20
    );
    assert_eq!(leg.downlink_ready(&plan, 8, (100, None), true), 48);
}

#[test]
fn a_block_too_small_for_anything_is_followed_by_the_next_slot() {
    let leg = leg(&plan(lte()));
    assert_eq!(leg.ready_after_nothing(5, 20, 1000), 6);
    // A large transport block stays empty only if an RLC window is stalled, so the leg waits for
    // feedback.
    assert_eq!(leg.ready_after_nothing(5, 2000, 100_000), NO_SLOT);
}

#[test]
fn a_sleeping_ue_is_sent_nothing_new_until_it_listens() {
    let plan = plan(CellConfig {
        drx: Some(DrxConfig {
            cycle: Span::from_millis(40),
            on_duration: Span::from_millis(4),
            inactivity: Span::from_millis(10),
        }),
        ..failing(0.0)
    });
    let mut leg = leg(&plan);
    leg.drx_offset = Span::from_millis(7);
    assert!(!leg.may_send_new(&plan, 20));
    assert_eq!(leg.downlink_ready(&plan, 20, (100, None), false), 47);
    assert!(leg.may_send_new(&plan, 47));
    // New data in slot 50 keeps the UE awake for another 10 ms.
    exchange(&mut leg, &plan, 50);
    assert!(leg.may_send_new(&plan, 59) && !leg.may_send_new(&plan, 60));
}

#[test]
fn a_failed_leg_forgets_everything_and_is_without_service() {
    let plan = plan(failing(1.0));
    let mut leg = leg(&plan);
    exchange(&mut leg, &plan, 0);
    leg.request(&plan, millis(1));
    let mut lost = [Vec::new(), Vec::new()];
    leg.fail(millis(200), &mut lost);
    leg.requests.reset();
    assert_eq!(lost.map(|contents| contents.len()), [1, 0]);
    assert!(!leg.requests.is_heard() && leg.down.is_idle());
    assert_eq!(leg.awaken(&plan, millis(2), DOWN, 3), 200);
    assert!(leg.request(&plan, millis(2)).slot >= 200);
    // The transport block was sent before the failure, so its decoding has no result.
    let late = leg.decode(&plan, (DOWN, 0), 0.0, &mut NullProbe);
    assert_eq!(late, None);
}

#[test]
fn a_second_leg_has_streams_of_its_own() {
    let plan = plan(failing(0.5));
    let fates = |number| {
        let mut leg = leg(&plan);
        leg = Alone::new(
            LegConfig {
                number,
                ..leg.config
            },
            u64::from(number),
            &plan,
            1,
        );
        let mut draw = |n: u64| exchange(&mut leg, &plan, 9 * n).1.is_ok;
        (0..8).map(&mut draw).collect::<Vec<_>>()
    };
    assert_ne!(fates(0), fates(1));
}

/// RLC queues, each with its bytes of STATUS PDUs and its bytes of data.
struct Waiting(Vec<(u32, u32)>);

impl RlcQueues for Waiting {
    fn status(&self, bearer: DrbId, _: Option<u8>) -> u64 {
        u64::from(self.0[bearer.index()].0)
    }
    fn pull(
        &mut self,
        bearer: DrbId,
        _: Option<u8>,
        grant: u32,
        block: &mut TransportBlock,
    ) -> u32 {
        let (status, data) = &mut self.0[bearer.index()];
        let of_status = grant.min(*status);
        let of_data = (grant - of_status).min(*data);
        *status -= of_status;
        *data -= of_data;
        if of_status + of_data > 0 {
            block.pdus.push(Pdu::default());
        }
        of_status + of_data
    }
}

#[test]
fn status_goes_first_then_the_prioritised_rates_then_priority() {
    let plan = plan(lte());
    let mut leg = leg(&plan);
    let bearer = |priority, rate: Option<u64>| BearerConfig {
        channel: LogicalChannel {
            priority,
            prioritised_bit_rate: rate.map(Rate::from_bits_per_sec),
            bucket_size_duration: Span::from_millis(100),
        },
        ..BearerConfig::lte(UeId(0))
    };
    // A lower priority value is more urgent, regardless of the order in which bearers are added.
    leg.channels.add(DrbId(0), &bearer(9, Some(800_000)));
    leg.channels.add(DrbId(1), &bearer(3, Some(0)));
    leg.channels.add(DrbId(2), &bearer(9, Some(0)));
    assert!(leg.channels.bearers().eq([DrbId(1), DrbId(0), DrbId(2)]));
    assert_eq!(leg.channels.bearer(1), Some(DrbId(0)));
    let mut queues = Waiting(vec![(0, 9000), (0, 500), (60, 9000)]);
    let mut content = Content::default();
    // At a prioritised bit rate of 800 kbit/s, bearer 0 may send 5000 bytes after 50 ms. The
    // remaining bytes go to the bearers by priority.
    leg.channels
        .fill(millis(50), DOWN, 6000, &mut content, &mut queues);
    assert_eq!(queues.0, [(0, 9000 - 5440), (0, 0), (0, 9000)]);
    let runs: Vec<_> = content.runs().collect();
    let order = [DrbId(2), DrbId(0), DrbId(1), DrbId(0)];
    assert!(runs.iter().map(|(bearer, _)| *bearer).eq(order));
    assert_eq!(runs.last(), Some(&(DrbId(0), 3..4)));
}

#[test]
fn an_only_bearer_gets_the_whole_block() {
    let plan = plan(lte());
    let mut leg = leg(&plan);
    leg.channels.add(DrbId(0), &BearerConfig::lte(UeId(0)));
    let mut queues = Waiting(vec![(60, 9000)]);
    let mut content = Content::default();
    leg.channels
        .fill(Time::ZERO, UP, 1000, &mut content, &mut queues);
    assert_eq!(queues.0, [(0, 9000 - 940)]);
    assert_eq!(content.bearers, [(DrbId(0), 1)]);
}
