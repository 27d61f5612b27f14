//! Tests of handover between LTE and NR.

use super::street::{cell, rlc};
use super::{any_case, walk_in_any_order};
use fadeout_core::random::Stream;
use fadeout_core::{HandoverOutcome, Procedure, RadioDropCause, RrcEvent};
use fadeout_radio::access::{DataForwarding, EventKind, MeasurementEvent};
use fadeout_testkit::Cases;

/// Checks losses on a street with cells of both generations. Some UEs begin in LTE, others in NR.
#[test]
fn between_lte_and_nr_only_a_lost_connection_loses_what_is_acknowledged_and_forwarded() {
    let (mut changes, mut failures, mut lost) = ([0; 2], 0, 0);
    let cases = Cases::new(60).first(12);
    cases.run(|seed| {
        let mut random = Stream::new(seed, "handover.generations", 0);
        let begins_in_nr = random.chance(0.5);
        let is_acknowledged = random.chance(0.7);
        let rlc = rlc(begins_in_nr, is_acknowledged);
        let mut case = any_case((&mut random, 0.5), rlc, begins_in_nr);
        let is_nr = |n: usize| n.is_multiple_of(2) == begins_in_nr;
        for (n, of) in case.config.cells.iter_mut().enumerate() {
            *of = cell(is_nr(n), of.site.x, of.power.0);
        }
        let a3 = case.mobility.events[0];
        // LTE and NR cells differ in resource blocks and carriers, so their RSRP levels differ too.
        // A random threshold is crossed in cells of both generations.
        let threshold = random.uniform_in(-110.0, -80.0);
        let kind = match random.chance(0.5) {
            true => EventKind::B2 {
                serving: threshold,
                neighbour: threshold,
            },
            false => EventKind::B1 { threshold },
        };
        case.mobility.events.push(MeasurementEvent { kind, ..a3 });
        if !is_acknowledged && random.chance(0.5) {
            case.mobility.data = DataForwarding::Dropped;
        }
        let outcomes = walk_in_any_order(case, seed);
        for row in &outcomes.rows.handovers {
            let is_well = row.outcome == HandoverOutcome::Success;
            if is_well && row.procedure == Procedure::Handover {
                changes[usize::from(is_nr(row.target.index()))] += 1;
            }
            failures += u32::from(!is_well);
        }
        lost += outcomes.rows.drops.len();
        let mut steps = outcomes.rows.steps.iter();
        if is_acknowledged && !steps.any(|row| row.event == RrcEvent::Released) {
            // NR's PDCP gives up packets that take longer than t-Reordering, so only that cause is
            // allowed.
            let mut drops = outcomes.rows.drops.iter();
            let other = drops.find(|row| row.cause != RadioDropCause::Reordering);
            assert!(other.is_none(), "seed {seed}: {other:?}");
        }
    });
    assert!(
        !cases.is_whole() || changes.iter().all(|&of| of > 50) && failures > 5 && lost > 50,
        "{changes:?} to LTE and NR, {failures} not well, {lost} packets lost"
    );
}
