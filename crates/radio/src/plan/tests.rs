//! Tests of the slots, grants and transport blocks that follow from the configuration of a cell.

use super::*;
use crate::phy::frame::Duplex;
use crate::phy::lte_tdd::LteTdd;
use fadeout_core::{Hertz, Point};

fn plan(duplex: Duplex) -> CellPlan {
    let config = CellConfig {
        duplex,
        ..CellConfig::lte(Point::default(), Hertz(2e9), 50)
    };
    CellPlan::new(CellId(0), config).expect("a cell")
}

fn tdd(configuration: u8, special: u8) -> CellPlan {
    let tdd = LteTdd::new(configuration).expect("0 to 6");
    let config = CellConfig {
        duplex: Duplex::Tdd(tdd.pattern(special).expect("0 to 10")),
        timing: Timing::lte_tdd(tdd),
        ..CellConfig::lte(Point::default(), Hertz(2e9), 50)
    };
    CellPlan::new(CellId(0), config).expect("a cell")
}

#[test]
fn reports_on_sub_bands_take_the_resource_blocks_that_they_have() {
    for duplex in [
        Duplex::Fdd,
        LteTdd::new(2)
            .and_then(|tdd| tdd.pattern(7))
            .map(Duplex::Tdd)
            .expect("a pattern"),
    ] {
        let config = CellConfig {
            duplex,
            cqi_sub_band: Some(6),
            ..CellConfig::lte(Point::default(), Hertz(2e9), 50)
        };
        let plan = CellPlan::new(CellId(0), config).expect("a cell");
        // Each report of seven UEs occupies one resource block every 5 ms. Resource blocks are
        // allocated in groups of three.
        let uplink = (0..3000).filter(|&slot| plan.data_symbols(slot).up > 0);
        let units: u32 = uplink.map(|slot| plan.report_units(slot, 7)).sum();
        assert_eq!(units, 3000 / 5 * 7 / 3);
        assert_eq!(plan.report_units(3, 0), 0);
    }
}

#[test]
fn fdd_grants_one_slot_four_later() {
    let cell = plan(Duplex::Fdd);
    assert!(cell.targets(17).eq([21]));
    assert_eq!(cell.granting_from(17), 17);
}

#[test]
fn the_largest_block_is_that_of_the_longest_slot_with_the_highest_scheme_there_can_be() {
    let (down, up) = (Direction::Downlink, Direction::Uplink);
    let tdd = tdd(1, 7);
    let highest = tdd.down.schemes().end - 1;
    assert_eq!(
        tdd.largest_room(down, None),
        tdd.down.bytes(14, highest, 17)
    );
    assert_eq!(tdd.most_bytes(down, 3, 5), tdd.down.bytes(14, 3, 5));
    // An LTE buffer status report occupies two bytes of the block, so the payload is two bytes
    // smaller.
    let up_most = tdd.up.schemes().map(|scheme| tdd.up.bytes(14, scheme, 17));
    assert_eq!(Some(tdd.largest_room(up, None) + 2), up_most.max());
    // If the SINR is given, the outer loop adds at most 10 dB. At CQI 0, the UE stays out of range.
    let given = |sinr_db| tdd.largest_room(up, Some(sinr_db));
    assert!(given(-5.0) < given(0.0) && given(0.0) < tdd.largest_room(up, None));
    assert_eq!(given(-12.0), 0);
    let fixed = CellConfig {
        adaptation: Adaptation::FixedScheme {
            index: 4,
            table: crate::phy::mcs::McsTable::Qam64,
        },
        ..tdd.config.clone()
    };
    let fixed = CellPlan::new(CellId(0), fixed).expect("a cell");
    assert_eq!(
        fixed.largest_room(down, Some(-12.0)),
        fixed.down.bytes(14, 4, 17)
    );
}

#[test]
fn every_uplink_slot_of_a_pattern_is_granted_once() {
    for configuration in 0..7 {
        let cell = tdd(configuration, 7);
        let mut targets: Vec<u64> = (20..120).flat_map(|slot| cell.targets(slot)).collect();
        targets.sort_unstable();
        let expected: Vec<u64> = (targets[0]..=targets[targets.len() - 1])
            .filter(|&slot| cell.uplink_symbols(slot) > 0)
            .collect();
        assert_eq!(targets, expected, "configuration {configuration}");
        for slot in 20..40 {
            let granting = cell.granting_from(slot);
            assert!(granting < slot + 10 && cell.targets(granting).next().is_some());
        }
    }
}
#[test]
fn special_subframes_carry_three_quarters_of_the_blocks_or_nothing() {
    // In special subframes, 75 % of the resource blocks count, or 37.5 % if the downlink has six
    // symbols (TS 36.213 clause 7.1.7). A downlink of three symbols carries control alone. 50
    // blocks count as 37 or 18, which gives 10,680 or 5160 bits at I_TBS 14.
    let down = |special| {
        let cell = tdd(1, special);
        let symbols = cell.data_symbols(11);
        assert_eq!(symbols.up, 0);
        cell.down.bytes(symbols.down, 15, 17)
    };
    assert_eq!([down(7), down(4)], [10_680 / 8; 2]);
    assert_eq!([down(9), down(10)], [5160 / 8; 2]);
    assert_eq!([down(0), down(5)], [0; 2]);
}

#[test]
fn shared_symbols_are_counted_once_less_control_and_feedback() {
    use crate::phy::numerology::{CyclicPrefix, Numerology};
    use crate::phy::tdd::{Flexible, TddPattern, UlDlPattern};
    use fadeout_core::Span;
    let counts = UlDlPattern {
        period: Span::from_micros(500),
        downlink_slots: 1,
        downlink_symbols: 4,
        uplink_slots: 1,
        uplink_symbols: 1,
    };
    let mu = Numerology::new(3, CyclicPrefix::Normal).expect("a numerology");
    let pattern = TddPattern::by_counts(mu, &[counts], Flexible::Shared(2)).expect("a pattern");
    let nr = CellConfig::nr(Point::default(), Hertz(28e9), 3, 66).expect("a cell");
    let config = CellConfig {
        duplex: Duplex::Tdd(pattern),
        ..nr
    };
    let cell = CellPlan::new(CellId(0), config).expect("a cell");
    assert!(cell.divides_slots());
    let symbols = |slot| {
        let it = cell.data_symbols(slot);
        (it.down, it.up, it.both, it.shared())
    };
    // Control takes one symbol, and feedback takes the last two. Slots 1 and 2 have ten and
    // thirteen flexible symbols. Two of these are guard symbols.
    assert_eq!(symbols(0), (13, 0, 13, 0));
    assert_eq!(symbols(1), (9, 6, 9, 6));
    assert_eq!(symbols(2), (9, 9, 9, 9));
    assert_eq!(symbols(7), (0, 12, 12, 0));
}
