//! A cell alone: what its legs answer is written down beforehand.

use super::{Bid, CellMac, Demand, Grant, Served, Slot, Transmission};
use crate::config::{CellConfig, ConfiguredGrant, LegId, NO_SLOT, Rnti, Shape};
use crate::mac::SchedulerKind;
use crate::mac::scheduler::RoundRobinConfig;
use crate::plan::CellPlan;
use fadeout_core::{CellId, Direction, Hertz, Point, Time, UeId};

/// Legs that want `wanted` units of each slot, and of which some have a block to repeat.
#[derive(Default)]
struct Script {
    wanted: u32,
    /// The leg that repeats, and the units of its block.
    repeats: Option<(LegId, u32)>,
    /// Nothing is there when a block is to be filled.
    is_empty: bool,
    asked: Vec<(LegId, Slot)>,
    sent: Vec<(LegId, Transmission)>,
    granted: Vec<(LegId, u64, u32)>,
    used: Vec<(LegId, u64)>,
    woken: Vec<(Time, u32)>,
}

impl Script {
    fn demand(&mut self, leg: LegId, slot: Slot) -> Demand {
        self.asked.push((leg, slot));
        Demand {
            ready: NO_SLOT,
            bid: (self.wanted > 0 && slot.units > 0).then_some(Bid {
                scheme: 5,
                cqi: 7,
                wanted: self.wanted,
                rate: 1000.0,
            }),
        }
    }
}

impl Served for Script {
    fn repetition(&self, leg: LegId, _: Direction, _: u64, _: u64) -> Option<(u8, Shape)> {
        let (_, units) = self.repeats.filter(|&(repeating, _)| repeating == leg)?;
        let shape = Shape {
            symbols: 14,
            units,
            ..Shape::default()
        };
        Some((3, shape))
    }
    fn resume(&mut self, _: LegId, _: Direction, _: u8, _: u64) {
        self.repeats = None;
    }
    fn downlink_demand(&mut self, _: &CellPlan, leg: LegId, slot: Slot) -> Demand {
        self.demand(leg, slot)
    }
    fn fill_downlink(
        &mut self,
        _: &CellPlan,
        _: LegId,
        slot: u64,
        _: (Shape, u8),
    ) -> Result<u8, u64> {
        if self.is_empty { Err(slot + 4) } else { Ok(0) }
    }
    fn send_downlink(&mut self, leg: LegId, _: u8, transmission: Transmission) {
        self.sent.push((leg, transmission));
    }
    fn downlink_ready(&mut self, _: &CellPlan, _: LegId, _: u64) -> u64 {
        NO_SLOT
    }
    fn uplink_demand(&mut self, _: &CellPlan, leg: LegId, slot: Slot) -> Demand {
        self.demand(leg, slot)
    }
    fn grant(
        &mut self,
        _: &CellPlan,
        leg: LegId,
        (_, target): (u64, u64),
        (shape, _): (Shape, u8),
    ) -> Option<u8> {
        self.granted.push((leg, target, shape.units));
        Some(0)
    }
    fn uplink_ready(&mut self, _: &CellPlan, _: LegId, _: u64) -> u64 {
        NO_SLOT
    }
    fn send_uplink(&mut self, _: &CellPlan, leg: LegId, slot: u64, _: u8) {
        self.used.push((leg, slot));
    }
    fn wake(&mut self, at: Time, generation: u32) {
        self.woken.push((at, generation));
    }
}

/// A cell of 50 resource blocks, which are 17 units, with legs 10, 11, ...
fn cell(config: CellConfig, legs: u32) -> CellMac {
    let plan = CellPlan::new(CellId(0), config).expect("a cell");
    let mut cell = CellMac::new(plan, legs as usize);
    for ue in 0..legs {
        assert_eq!(cell.connect(LegId(10 + ue), UeId(ue)), Rnti(ue));
    }
    cell
}

fn lte() -> CellConfig {
    CellConfig {
        downlink_scheduler: SchedulerKind::RoundRobin(RoundRobinConfig),
        ..CellConfig::lte(Point::default(), Hertz(2e9), 50)
    }
}

const DOWN: Direction = Direction::Downlink;
const UP: Direction = Direction::Uplink;

fn millis(millis: u64) -> Time {
    Time::from_nanos(millis * 1_000_000)
}

#[test]
fn a_cell_whose_ues_have_nothing_asks_for_no_slot() {
    let mut cell = cell(lte(), 2);
    let mut legs = Script::default();
    cell.on_slot(millis(5), &mut legs);
    assert!(legs.asked.is_empty() && legs.woken.is_empty());
    assert_eq!((cell.slots(), cell.first_slot()), (1, 6));
}

#[test]
fn an_activated_leg_is_asked_in_its_slot_and_not_before() {
    let mut cell = cell(lte(), 2);
    let mut legs = Script::default();
    let (at, generation) = cell.activate(Rnti(1), DOWN, 9).expect("it wants a slot");
    assert_eq!(at, millis(9));
    // Another one for a later slot comes with the same wake-up.
    assert_eq!(cell.activate(Rnti(0), DOWN, 12), None);
    assert!(cell.fire(generation));
    cell.on_slot(at, &mut legs);
    let asked: Vec<_> = legs.asked.iter().map(|&(leg, _)| leg).collect();
    assert_eq!(asked, [LegId(11)]);
    // It has nothing more; the other is next.
    let woken: Vec<_> = legs.woken.iter().map(|&(at, _)| at).collect();
    assert_eq!(woken, [millis(12)]);
}

#[test]
fn a_slot_is_looked_at_once() {
    let mut cell = cell(lte(), 1);
    let mut legs = Script::default();
    cell.on_slot(millis(5), &mut legs);
    cell.activate(Rnti(0), DOWN, 5);
    cell.on_slot(millis(5), &mut legs);
    assert_eq!((legs.asked.len(), cell.slots()), (0, 1));
    // Whoever comes too late gets the next one.
    cell.on_slot(millis(6), &mut legs);
    assert_eq!((legs.asked.len(), cell.slots()), (1, 2));
}

#[test]
fn units_are_shared_and_never_more_than_there_are() {
    let mut cell = cell(lte(), 3);
    let mut legs = Script {
        wanted: 100,
        ..Script::default()
    };
    for ue in 0..3 {
        cell.activate(Rnti(ue), DOWN, 0);
    }
    cell.on_slot(Time::ZERO, &mut legs);
    let shares: f64 = legs.sent.iter().map(|(_, sent)| sent.share).sum();
    assert_eq!(legs.sent.len(), 3);
    assert!((shares - 1.0).abs() < 1e-12, "{shares}");
}

#[test]
fn a_repetition_goes_first_and_new_data_gets_the_rest() {
    let mut cell = cell(lte(), 2);
    let mut legs = Script {
        wanted: 100,
        repeats: Some((LegId(11), 10)),
        ..Script::default()
    };
    cell.activate(Rnti(0), DOWN, 0);
    cell.activate(Rnti(1), DOWN, 0);
    cell.on_slot(Time::ZERO, &mut legs);
    let (first, sent) = legs.sent[0];
    assert_eq!(first, LegId(11));
    assert!((sent.share - 10.0 / 17.0).abs() < 1e-12);
    let left: Vec<_> = legs.asked.iter().map(|&(_, slot)| slot.units).collect();
    assert_eq!(left, [7, 7]);
}

#[test]
fn a_leg_that_had_nothing_that_fits_comes_back_when_it_says() {
    let mut cell = cell(lte(), 1);
    let mut legs = Script {
        wanted: 1,
        is_empty: true,
        ..Script::default()
    };
    let (at, generation) = cell.activate(Rnti(0), DOWN, 2).expect("it wants a slot");
    assert!(cell.fire(generation));
    cell.on_slot(at, &mut legs);
    assert!(legs.sent.is_empty());
    assert_eq!(legs.woken.last().map(|&(at, _)| at), Some(millis(6)));
}

#[test]
fn an_uplink_slot_is_granted_four_before_and_used_when_it_comes() {
    let mut cell = cell(lte(), 1);
    let mut legs = Script {
        wanted: 6,
        ..Script::default()
    };
    let (at, generation) = cell.activate(Rnti(0), UP, 3).expect("it wants a slot");
    assert_eq!(at, millis(3));
    assert!(cell.fire(generation));
    cell.on_slot(at, &mut legs);
    assert_eq!(legs.granted, [(LegId(10), 7, 6)]);
    assert_eq!(legs.woken.first().map(|&(at, _)| at), Some(millis(7)));
    cell.on_slot(millis(7), &mut legs);
    assert_eq!(legs.used, [(LegId(10), 7)]);
}

#[test]
fn what_a_failed_leg_was_granted_is_void() {
    let mut cell = cell(lte(), 2);
    let mut legs = Script::default();
    for leg in [10, 11] {
        cell.keep(Grant {
            slot: 4,
            leg: LegId(leg),
            process: 0,
        });
    }
    cell.forget_grants(LegId(10));
    cell.on_slot(millis(4), &mut legs);
    assert_eq!(legs.used, [(LegId(11), 4)]);
}

#[test]
fn grants_stay_in_the_order_of_their_slots() {
    let mut cell = cell(lte(), 1);
    for slot in [5, 7, 6, 7, 3] {
        cell.keep(Grant {
            slot,
            leg: LegId(10),
            process: 0,
        });
    }
    let slots: Vec<u64> = cell.grants.iter().map(|grant| grant.slot).collect();
    assert_eq!(slots, [3, 5, 6, 7, 7]);
}

#[test]
fn configured_grants_keep_at_most_half_of_a_slot() {
    let config = CellConfig {
        configured_grant: Some(ConfiguredGrant {
            period: 4,
            units: 3,
            scheme: 4,
        }),
        ..lte()
    };
    let mut cell = cell(config, 4);
    // Half of 17 units is 8: two of three.
    assert!(cell.reserve_occasion(1) && cell.reserve_occasion(1));
    assert!(!cell.reserve_occasion(1));
    assert!(cell.reserve_occasion(2), "another slot has its own");
    assert_eq!(cell.uplink_units_left(5), 17 - 6);
    assert_eq!(cell.uplink_units_left(6), 17 - 3);
    assert_eq!(cell.uplink_units_left(7), 17);
}

#[test]
fn flexible_slots_are_halved_where_both_directions_want_them() {
    let config = CellConfig::nr(Point::default(), Hertz(28e9), 3, 66).expect("a cell");
    let mut cell = cell(config, 1);
    let all = cell.uplink_units_left(8);
    cell.activate(Rnti(0), DOWN, 8);
    assert_eq!(cell.uplink_units_left(8), all / 2);
    cell.use_uplink(8, 3);
    assert_eq!(cell.uplink_units_left(8), all / 2 - 3);
    // A downlink block that found no room needs more than its half.
    cell.blocked_units = all - 4;
    assert_eq!(cell.uplink_units_left(8), 1);
}
