//! A leg alone: slots, measurements, backlogs and RLC are made by hand.

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

/// Every first transmission fails with this chance, and no other one.
fn failing(first: f64) -> CellConfig {
    CellConfig {
        fixed_errors: Some(FixedErrors {
            first,
            retransmission: 0.0,
        }),
        ..lte()
    }
}

/// A leg in a primary cell, with how its UE gets at the uplink.
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
            leg: Leg::new(config, nth, plan, seed),
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

/// Sends a new downlink block in `slot` and lets the UE decode it.
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
    let with = |first: f64| {
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
            // The retransmission succeeds, and says nothing about the scheme.
            leg.down.resume(process, 8);
            leg.down.sent(process, 8, 16);
            leg.decode(&plan, (DOWN, process), 0.0, &mut NullProbe);
        }
        assert_eq!(leg.down.outer_loop.offset_db(), after_first);
        assert_eq!(leg.up.outer_loop.offset_db(), 0.0, "the other direction");
        after_first
    };
    assert_eq!(with(1.0), -0.5);
    // One error in ten leaves it where it is: 0.5 / 9 up.
    assert!((with(0.0) - 0.5 / 9.0).abs() < 1e-12);
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
    // Until the next report the old one holds; reports come every 5 ms and are 6 ms old.
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

/// An uplink whose power suffices for some resource blocks.
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
    // Units have three resource blocks.
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
    let far = leg(&plan).uplink_choice(&plan, 20, (14, 17, 100), &mut air);
    assert_eq!(far, None);
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
    // Without data it waits for the next packet, and out of range for 40 ms.
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
    // A large one that stays empty meets a closed window.
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
    // New data keeps it awake for 10 ms more.
    exchange(&mut leg, &plan, 50);
    assert!(leg.may_send_new(&plan, 59) && !leg.may_send_new(&plan, 60));
}

#[test]
fn a_ue_asks_at_its_opportunity_and_again_when_nobody_answers() {
    let plan = plan(CellConfig {
        requests: RequestConfig {
            offset: Some(3),
            prohibit: Span::from_millis(15),
            ..RequestConfig::every(10)
        },
        ..lte()
    });
    let mut leg = leg(&plan);
    assert!(!leg.requests.is_heard());
    let request = leg.request(&plan, millis(5));
    // Heard in slot 13; three slots later and the next one at the earliest answers.
    assert_eq!((request.slot, request.answered_from), (13, 17));
    assert!(leg.requests.is_heard());
    assert_eq!(leg.uplink_wanted(&plan), 256, "the first grant");
    let (at, generation) = leg.requests.arm_repeat().expect("it will ask again");
    assert_eq!(at, millis(113));
    assert!(leg.requests.fire_repeat(generation));
    assert_eq!(leg.requests.on_repeat(&plan, millis(100)), Repeat::Later);
    assert_eq!(leg.requests.on_repeat(&plan, at), Repeat::Ask);
    assert_eq!(leg.request(&plan, at).slot, 113);
    // sr-ProhibitTimer: the next opportunity is too soon.
    leg.requests.reset();
    assert_eq!(leg.request(&plan, at).slot, 133);
    assert_eq!(leg.requests.sent(), 3);
}

#[test]
fn a_ue_that_asked_often_in_vain_gives_the_link_up_and_a_grant_that_helps_starts_afresh() {
    let plan = plan(lte());
    for (takes, is_over) in [(None, true), (Some(content()), false)] {
        let mut leg = leg(&plan);
        let mut at = Time::ZERO;
        for asked in 1..=plan.config.requests.most {
            leg.request(&plan, at);
            if asked == 10 {
                // A block without room for data is no answer.
                leg.grant(
                    &plan,
                    0,
                    Block {
                        shape: shape(2),
                        cqi: 1,
                    },
                    900,
                );
                leg.on_filled(&plan, at, 0, (takes, 500));
            }
            at += Span::from_millis(200);
        }
        let expected = if is_over { Repeat::GiveUp } else { Repeat::Ask };
        assert_eq!(leg.requests.on_repeat(&plan, at), expected);
        leg.requests.reset();
        assert_eq!(leg.requests.on_repeat(&plan, at), Repeat::Ask);
    }
}

#[test]
fn a_report_tells_what_is_left_less_what_was_granted_since() {
    let plan = plan(failing(0.0));
    let mut leg = leg(&plan);
    leg.request(&plan, Time::ZERO);
    let block = |bytes| Block {
        shape: shape(bytes),
        cqi: 7,
    };
    leg.grant(&plan, 0, block(256), 20);
    assert!(!leg.may_be_granted(12, 20), "one block in a slot");
    assert_eq!(leg.uplink_wanted(&plan), 0, "answered");
    // It has 1000 bytes left, and reports the upper end of their range: 1132.
    let requested_at = leg.on_filled(&plan, millis(20), 0, (None, 1000));
    assert!(requested_at.is_some());
    let decoded_at = leg.send_uplink(&plan, (0, 20), 5.0);
    assert_eq!(decoded_at, Time::from_nanos(22_500_000));
    leg.grant(&plan, 1, block(132), 21);
    let decoding = leg.decode(&plan, (UP, 0), 0.0, &mut NullProbe);
    assert!(decoding.is_some_and(|decoding| decoding.is_new));
    leg.on_report(0);
    // Two bytes for the next report.
    assert_eq!(leg.uplink_wanted(&plan), 1000 + 2);
    assert_eq!(leg.uplink_resumes(&leg.requests, &plan, 0), Some(24));
    // A grant without anything to send is skipped, and the base station knows.
    leg.on_filled(&plan, millis(21), 1, (None, 0));
    leg.leg.skip_grant(&mut leg.requests, 1, 21);
    assert_eq!(leg.uplink_wanted(&plan), 0);
    assert!(!leg.requests.is_heard());
}

#[test]
fn a_report_knows_of_the_grants_that_are_yet_to_come_in_whichever_order_they_were_given() {
    let plan = plan(failing(0.0));
    let mut leg = leg(&plan);
    let block = |bytes| Block {
        shape: shape(bytes),
        cqi: 7,
    };
    // Granted first, but in another cell, whose slot comes later.
    leg.grant(&plan, 0, block(500), 24);
    leg.grant(&plan, 1, block(300), 20);
    leg.on_filled(&plan, millis(20), 1, (None, 1000));
    leg.send_uplink(&plan, (1, 20), 5.0);
    leg.on_report(1);
    let told = BufferStatus::Lte.reported(1000);
    assert_eq!(leg.uplink_wanted(&plan), told - 500 + 2);
    // The block that was granted first tells the latest.
    leg.on_filled(&plan, millis(24), 0, (None, 0));
    leg.send_uplink(&plan, (0, 24), 5.0);
    leg.on_report(0);
    assert_eq!(leg.uplink_wanted(&plan), 0);
}

#[test]
fn a_ue_that_asks_is_answered_by_its_primary_cell() {
    let plan = plan(failing(0.0));
    let mut leg = leg(&plan);
    let mut beside = Leg::new(leg.config, 1, &plan, 1);
    beside.carriers = Carriers::beside(LegId(0), &Aggregation::NONE);
    leg.request(&plan, Time::ZERO);
    assert_eq!(leg.uplink_wanted(&plan), 256);
    assert_eq!(beside.uplink_wanted(&leg.requests, &plan), 0);
    leg.requests.known = 1000;
    let wanted = beside.uplink_wanted(&leg.requests, &plan);
    assert_eq!(wanted, leg.uplink_wanted(&plan));
}

/// A leg with a bearer of `mode` gets a block of 372 bytes that comes back with `content` while
/// `left` bytes wait, and another one is on its way.
fn answered(plan: &CellPlan, mode: RlcConfig, content: Option<ContentId>, left: u64) -> Alone {
    answered_in(plan, 372, mode, content, left)
}

/// `answered` with blocks of `bytes`.
fn answered_in(
    plan: &CellPlan,
    bytes: u32,
    mode: RlcConfig,
    content: Option<ContentId>,
    left: u64,
) -> Alone {
    let mut leg = leg(plan);
    let bearer = BearerConfig {
        rlc: mode,
        ..BearerConfig::lte(UeId(0))
    };
    leg.channels.add(DrbId(0), &bearer);
    leg.request(plan, Time::ZERO);
    let block = |bytes| Block {
        shape: shape(bytes),
        cqi: 7,
    };
    leg.grant(plan, 0, block(bytes), 20);
    leg.on_filled(plan, millis(20), 0, (content, left));
    leg.send_uplink(plan, (0, 20), 5.0);
    leg.grant(plan, 1, block(bytes), 21);
    let decoding = leg.decode(plan, (UP, 0), 0.0, &mut NullProbe);
    assert!(decoding.is_some_and(|decoding| decoding.is_new));
    leg.on_report(0);
    leg
}

#[test]
fn a_block_that_was_too_small_for_what_is_not_cut_is_followed_by_a_larger_one() {
    let plan = plan(failing(0.0));
    let wanted = |mode, content, left| answered(&plan, mode, content, left).uplink_wanted(&plan);
    // What 493 bytes are taken for; 372 of them were granted since.
    let told = BufferStatus::Lte.reported(493);
    assert_eq!(wanted(RlcConfig::LTE_AM, None, 493), told - 372 + 2);
    assert_eq!(wanted(RlcConfig::TM, Some(content()), 493), told - 372 + 2);
    // The block on its way is no larger than the one that came back empty.
    assert_eq!(wanted(RlcConfig::TM, None, 493), told + 2);
    // Nothing of less than what was too small.
    assert_eq!(wanted(RlcConfig::TM, None, 300), 372 + 1);
}

#[test]
fn a_block_that_headers_fill_is_followed_by_a_larger_one() {
    // Ten bytes wait, and a grant of 4 bytes is on its way that will bring none of them either.
    let plan = plan(failing(0.0));
    let leg = |bytes, left| answered_in(&plan, bytes, RlcConfig::LTE_UM, None, left);
    assert_eq!(leg(9, 10).uplink_wanted(&plan), 9 + 1);
    assert_eq!(leg(4, 10).uplink_wanted(&plan), 10 - 4 + 2);
    assert!(leg(16, 10).requests.is_unfit(16) && !leg(16, 10).requests.is_unfit(17));
    // Nothing waited, or there is another reason.
    assert!(!leg(4, 0).requests.is_unfit(1) && !leg(17, 10).requests.is_unfit(1));
}

#[test]
fn what_came_back_empty_is_tried_again_once_data_came_or_nothing_larger_can_be_had() {
    let plan = plan(failing(0.0));
    let mut leg = answered(&plan, RlcConfig::TM, None, 493);
    assert!(leg.requests.is_unfit(372) && !leg.requests.is_unfit(373));
    leg.on_filled(&plan, millis(21), 1, (Some(content()), 493));
    leg.send_uplink(&plan, (1, 21), 5.0);
    leg.decode(&plan, (UP, 1), 0.0, &mut NullProbe);
    leg.on_report(1);
    assert!(!leg.requests.is_unfit(372));
    leg = answered(&plan, RlcConfig::TM, None, 493);
    leg.requests.forget_unfit();
    assert!(!leg.requests.is_unfit(1));
}

#[test]
fn the_largest_block_that_a_ue_can_be_granted_is_what_its_power_suffices_for() {
    let plan = plan(lte());
    let leg = leg(&plan);
    let most = |blocks| {
        let air = Uplink {
            sinr_db: 20.0,
            blocks,
        };
        leg.most_uplink_bytes(&plan, 9, &air)
    };
    // Groups of three resource blocks.
    assert_eq!(most(7), plan.up.bytes(14, 9, 2));
    assert_eq!(most(50), plan.up.bytes(14, 9, 17));
}

#[test]
fn a_configured_grant_needs_no_request() {
    let plan = plan(CellConfig {
        configured_grant: Some(ConfiguredGrant {
            period: 8,
            units: 3,
            scheme: 4,
        }),
        ..lte()
    });
    let mut leg = leg(&plan);
    leg.requests.occasion = 5;
    assert_eq!(leg.use_configured_grant(&plan, millis(6), 0), None);
    leg.requests.keep_occasions();
    assert_eq!(leg.use_configured_grant(&plan, millis(6), 0), Some((13, 0)));
    assert_eq!(leg.up.block(0).shape.units, 3);
    assert_eq!(
        leg.use_configured_grant(&plan, millis(6), 14),
        Some((21, 1))
    );
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
    // What arrives of it later is nobody's.
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

/// RLC queues with bytes of STATUS and of data.
struct Waiting(Vec<(u32, u32)>);

impl RlcQueues for Waiting {
    fn status(&self, bearer: DrbId) -> u64 {
        u64::from(self.0[bearer.index()].0)
    }
    fn pull(&mut self, bearer: DrbId, grant: u32, block: &mut TransportBlock) -> u32 {
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
    // The lower number is the more urgent, whatever the order in which they come.
    leg.channels.add(DrbId(0), &bearer(9, Some(800_000)));
    leg.channels.add(DrbId(1), &bearer(3, Some(0)));
    leg.channels.add(DrbId(2), &bearer(9, Some(0)));
    assert!(leg.channels.bearers().eq([DrbId(1), DrbId(0), DrbId(2)]));
    assert_eq!(leg.channels.bearer(1), Some(DrbId(0)));
    let mut queues = Waiting(vec![(0, 9000), (0, 500), (60, 9000)]);
    let mut content = Content::default();
    // 800 kbit/s for 50 ms: 5000 bytes.
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
