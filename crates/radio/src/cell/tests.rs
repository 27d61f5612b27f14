//! Tests of a cell without legs. The test answers the requests of the cell with constants.

use super::{Bid, CellMac, Demand, Grant, GrantSlots, LegPart, Served, Slot, Transmission};
use crate::config::{CellConfig, ConfiguredGrant, Division, LegId, NO_SLOT, Rnti, Shape};
use crate::mac::MacSchedulerKind;
use crate::mac::scheduler::RoundRobinConfig;
use crate::phy::frame::Duplex;
use crate::phy::numerology::{CyclicPrefix, Numerology};
use crate::phy::tdd::{Flexible, TddPattern, UlDlPattern};
use crate::plan::{BandCqi, CellPlan};
use fadeout_core::{CellId, Direction, Hertz, Point, Span, Time, UeId};

/// Legs that each need `wanted` units of each slot. Some legs also have a block to retransmit.
#[derive(Default)]
pub(super) struct Script {
    wanted: u32,
    /// Number of changes of each UE.
    pub(super) changes: u32,
    /// Slot before which each demand holds.
    holds_before: u64,
    /// Legs that retransmit, with the symbols and units of their blocks.
    repeats: Vec<(LegId, u8, u32)>,
    /// True if a leg has no data when a block is filled.
    is_empty: bool,
    asked: Vec<(LegId, Slot)>,
    sent: Vec<(LegId, Transmission)>,
    granted: Vec<(LegId, u64, u32)>,
    used: Vec<(LegId, u64)>,
    woken: Vec<(Time, u32)>,
}

impl Script {
    /// Returns a script in which each demand holds before this slot.
    pub(super) fn holding_before(slot: u64) -> Script {
        Script {
            holds_before: slot,
            ..Script::default()
        }
    }

    fn demand(&mut self, leg: LegId, slot: Slot) -> Demand {
        self.asked.push((leg, slot));
        Demand {
            ready: NO_SLOT,
            bid: (self.wanted > 0 && slot.units > 0).then_some(Bid {
                scheme: 5,
                cqi: 7,
                wanted: self.wanted,
                whole: self.wanted,
                rate: 1000.0,
                reported: 1.0,
                backlog: 100,
            }),
        }
    }
}

impl Served for Script {
    fn prefetch(&self, _: LegId, _: LegPart) {}
    fn changes(&self, _: UeId) -> u32 {
        self.changes
    }
    fn downlink_holds_before(&self, _: &CellPlan, _: LegId) -> u64 {
        self.holds_before
    }
    fn repetition(&self, leg: LegId, _: Direction, _: u64, _: u64) -> Option<(u8, Shape)> {
        let &(_, symbols, units) = self.repeats.iter().find(|block| block.0 == leg)?;
        let shape = Shape {
            symbols,
            units,
            ..Shape::default()
        };
        Some((3, shape))
    }
    fn resume(&mut self, leg: LegId, _: Direction, _: u8, _: u64) {
        self.repeats.retain(|block| block.0 != leg);
    }
    fn downlink_demand(&mut self, _: &CellPlan, leg: LegId, slot: Slot) -> Demand {
        self.demand(leg, slot)
    }
    fn sub_band_cqi(&self, _: LegId) -> &BandCqi {
        &[7; _]
    }
    fn scheme_over(&self, _: &CellPlan, _: LegId, _: &[u8]) -> Option<(u8, u8)> {
        Some((5, 7))
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
        GrantSlots { target, .. }: GrantSlots,
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

/// Returns a cell of 50 resource blocks, which are 17 units, with legs 10, 11, ...
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
        downlink_scheduler: MacSchedulerKind::RoundRobin(RoundRobinConfig),
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
    // The second UE's slot is later than the pending wake-up, so no second wake-up is armed.
    assert_eq!(cell.activate(Rnti(0), DOWN, 12), None);
    assert!(cell.fire(generation));
    cell.on_slot(at, &mut legs);
    let asked: Vec<_> = legs.asked.iter().map(|&(leg, _)| leg).collect();
    assert_eq!(asked, [LegId(11)]);
    // The first UE has no more data, so the next wake-up is for the second UE.
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
    // A UE that becomes active after its slot was scheduled gets the next slot.
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
        repeats: vec![(LegId(11), 1, 10)],
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
        cell.use_configured_grant(Grant {
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
    for (process, slot) in [5, 7, 6, 7, 3].into_iter().enumerate() {
        cell.use_configured_grant(Grant {
            slot,
            leg: LegId(10),
            process: process as u8,
        });
    }
    let grants: Vec<_> = cell.grants.iter().map(|g| (g.slot, g.process)).collect();
    assert_eq!(grants, [(3, 4), (5, 0), (6, 2), (7, 1), (7, 3)]);
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
    // Half of 17 units is 8. Two occasions of three units can therefore be reserved, but a third
    // cannot.
    assert!(cell.reserve_occasion(1) && cell.reserve_occasion(1));
    assert!(!cell.reserve_occasion(1));
    assert!(cell.reserve_occasion(2), "another slot has its own");
    assert_eq!(cell.uplink_units_left(5), 17 - 6);
    assert_eq!(cell.uplink_units_left(6), 17 - 3);
    assert_eq!(cell.uplink_units_left(7), 17);
}

#[test]
fn flexible_slots_are_halved_where_both_directions_want_them() {
    let config = CellConfig {
        division: Division::Halves,
        ..nr()
    };
    let mut cell = cell(config, 1);
    let all = cell.uplink_units_left(8);
    cell.activate(Rnti(0), DOWN, 8);
    assert_eq!(cell.uplink_units_left(8), all / 2);
    cell.use_uplink(8, 3);
    assert_eq!(cell.uplink_units_left(8), all / 2 - 3);
    // A downlink retransmission that did not fit needs more than half of the slot. The uplink gets
    // the remaining units.
    cell.blocked_units = all - 4;
    assert_eq!(cell.uplink_units_left(8), 1);
}

fn nr() -> CellConfig {
    CellConfig::nr(Point::default(), Hertz(28e9), 3, 66).expect("a cell")
}

#[test]
fn a_leg_that_has_something_earlier_than_it_thought_is_looked_at_then() {
    let mut cell = cell(lte(), 1);
    cell.activate(Rnti(0), DOWN, 9);
    assert_eq!(cell.activate(Rnti(0), DOWN, 12), None, "it is asked before");
    let (at, _) = cell.activate(Rnti(0), DOWN, 4).expect("earlier");
    assert_eq!(at, millis(4));
}

#[test]
fn what_is_granted_for_a_later_slot_waits_for_it() {
    let mut cell = cell(lte(), 1);
    let mut legs = Script::default();
    cell.use_configured_grant(Grant {
        slot: 7,
        leg: LegId(10),
        process: 0,
    });
    cell.on_slot(millis(6), &mut legs);
    assert!(legs.used.is_empty());
    cell.on_slot(millis(7), &mut legs);
    assert_eq!(legs.used, [(LegId(10), 7)]);
}

#[test]
fn a_block_is_not_repeated_before_its_leg_is_ready() {
    let mut cell = cell(lte(), 2);
    let mut legs = Script {
        repeats: vec![(LegId(10), 1, 3), (LegId(11), 1, 3)],
        ..Script::default()
    };
    cell.activate(Rnti(0), DOWN, 0);
    cell.activate(Rnti(1), DOWN, 2);
    let sent = [0, 1, 2].map(|slot| {
        cell.on_slot(millis(slot), &mut legs);
        legs.sent.len()
    });
    assert_eq!(sent, [1, 1, 2]);
}

/// Checks that retransmissions count toward the limit of UEs per slot, and are sent before new
/// data.
#[test]
fn no_more_ues_are_served_in_a_slot_than_the_cell_has_room_for() {
    let config = CellConfig {
        most_ues: 2,
        ..lte()
    };
    for direction in [DOWN, UP] {
        for repeating in [1, 2, 3] {
            let mut cell = cell(config.clone(), 4);
            let mut legs = Script {
                wanted: 1,
                repeats: (0..repeating).map(|n| (LegId(11 + n), 1, 2)).collect(),
                ..Script::default()
            };
            for ue in 0..4 {
                cell.activate(Rnti(ue), direction, 0);
            }
            cell.on_slot(Time::ZERO, &mut legs);
            let again = repeating as usize - legs.repeats.len();
            assert_eq!(again, repeating.min(2) as usize, "{direction:?}");
            let new = match direction {
                Direction::Downlink => legs.sent.len() - again,
                Direction::Uplink => legs.granted.len(),
            };
            assert_eq!(again + new, 2, "{direction:?}, {repeating} repeat");
        }
    }
}

#[test]
fn a_block_of_more_symbols_than_the_slot_has_is_not_repeated_in_it() {
    let mut cell = cell(lte(), 1);
    let mut legs = Script {
        repeats: vec![(LegId(10), 15, 3)],
        ..Script::default()
    };
    cell.activate(Rnti(0), DOWN, 0);
    cell.on_slot(Time::ZERO, &mut legs);
    assert!(legs.sent.is_empty());
    cell.activate(Rnti(0), UP, 1);
    cell.on_slot(millis(1), &mut legs);
    assert!(legs.granted.is_empty() && legs.repeats.len() == 1);
    assert_eq!(cell.uplink_used(5), 0);
}

#[test]
fn a_block_that_finds_no_room_in_the_uplink_is_tried_in_the_next_slot() {
    let mut cell = cell(lte(), 1);
    let mut legs = Script {
        repeats: vec![(LegId(10), 1, 18)],
        ..Script::default()
    };
    cell.activate(Rnti(0), UP, 3);
    let mut woken = Vec::new();
    let active = std::mem::take(&mut cell.up.active);
    for &rnti in &active {
        assert!(!cell.repeat_uplink(rnti, (3, 7), true, &mut legs));
        woken.push(cell.up.ready[rnti.index()]);
    }
    assert_eq!(woken, [4]);
}

/// Uses a pattern whose last downlink slot grants a short uplink slot and then full uplink slots.
/// The retransmission is granted in a full uplink slot.
#[test]
fn a_block_that_does_not_fit_into_the_first_of_several_slots_goes_into_another() {
    let counts = UlDlPattern {
        period: Span::from_micros(2500),
        downlink_slots: 14,
        downlink_symbols: 0,
        uplink_slots: 2,
        uplink_symbols: 4,
    };
    let mu = Numerology::new(3, CyclicPrefix::Normal).expect("a numerology");
    let pattern = TddPattern::by_counts(mu, &[counts], Flexible::Guard);
    let mut cell = cell(
        CellConfig {
            duplex: Duplex::Tdd(pattern.expect("a pattern")),
            ..nr()
        },
        1,
    );
    let slot = (0..20).find(|&slot| cell.plan.targets(slot).count() > 1);
    let slot = slot.expect("one that grants several");
    let targets: Vec<u64> = cell.plan.targets(slot).collect();
    let [short, whole] = [targets[0], targets[1]].map(|target| cell.plan.uplink_symbols(target));
    assert!(short < whole, "{short} and {whole} symbols");
    let mut legs = Script {
        repeats: vec![(LegId(10), whole, 3)],
        ..Script::default()
    };
    cell.activate(Rnti(0), UP, slot);
    cell.on_slot(cell.plan.frame.start_of(slot), &mut legs);
    assert!(legs.repeats.is_empty(), "it is sent again");
    cell.on_slot(cell.plan.frame.start_of(targets[1]), &mut legs);
    assert_eq!(legs.used, [(LegId(10), targets[1])]);
}

/// Uses time sharing, in which a unit is a symbol.
#[test]
fn a_repetition_leaves_the_rest_of_a_flexible_slot_to_others() {
    let mut cell = cell(nr(), 2);
    let symbols = cell.downlink_symbols(8);
    assert!(symbols > 4);
    let mut legs = Script {
        repeats: vec![(LegId(10), symbols, 4)],
        ..Script::default()
    };
    for ue in 0..2 {
        cell.activate(Rnti(ue), DOWN, 8);
    }
    cell.on_slot(cell.plan.frame.start_of(8), &mut legs);
    assert_eq!(legs.sent.len(), 1);
    for (_, slot) in legs.asked {
        assert_eq!(
            (slot.symbols, slot.units),
            (symbols - 4, u32::from(symbols) - 4)
        );
    }
}

#[test]
fn the_downlink_of_a_flexible_slot_is_what_uplink_grants_have_left() {
    let all = cell(nr(), 1).downlink_symbols(8);
    let least = cell(nr(), 1).plan.down.least_units();
    for (left, is_asked) in [(0, false), (least - 1, false), (least, true)] {
        let mut cell = cell(nr(), 1);
        cell.use_uplink(8, u32::from(all) - left);
        assert_eq!(u32::from(cell.downlink_symbols(8)), left);
        cell.activate(Rnti(0), DOWN, 8);
        let mut legs = Script::default();
        cell.on_slot(cell.plan.frame.start_of(8), &mut legs);
        assert_eq!(!legs.asked.is_empty(), is_asked, "{left} symbols are left");
    }
}

#[test]
fn configured_grants_keep_at_most_a_quarter_of_a_flexible_slot() {
    let config = CellConfig {
        configured_grant: Some(ConfiguredGrant {
            period: 4,
            units: 1,
            scheme: 4,
        }),
        ..nr()
    };
    let mut cell = cell(config, 1);
    let units = cell.plan.up.units(cell.plan.frame.symbols());
    let kept = (0..100).take_while(|_| cell.reserve_occasion(0)).count();
    assert_eq!(kept as u32, units / 4);
}

#[test]
fn a_repetition_may_have_what_neither_grants_nor_occasions_keep() {
    let config = CellConfig {
        configured_grant: Some(ConfiguredGrant {
            period: 4,
            units: 3,
            scheme: 4,
        }),
        ..lte()
    };
    let mut cell = cell(config, 1);
    assert!(cell.reserve_occasion(1));
    cell.use_uplink(5, 4);
    assert_eq!(cell.uplink_units_for_repetition(5), 17 - 3 - 4);
}
