//! Tests of handover without random access on random walks.

use super::street::{case, rlc};
use super::{loses_only_with_the_connection, walk};
use fadeout_core::random::Stream;
use fadeout_core::{HandoverOutcome, Point, Procedure, Span};
use fadeout_radio::access::{FirstGrant, RachLess, TargetTiming};
use fadeout_testkit::Cases;

#[test]
fn only_a_lost_connection_loses_anything_and_where_nothing_fails_all_is_in_order() {
    let (mut skipped, mut by_access, mut failed, mut ordered) = (0, 0, 0, 0);
    // A case takes about 60 ms, so a usual run has only the first 20 cases.
    let cases = Cases::new(60).first(12);
    cases.run(|seed| {
        let mut random = Stream::new(seed, "handover.rach-less", 0);
        let is_nr = random.chance(0.5);
        let mut case = case(&mut random, rlc(is_nr, true), is_nr);
        if is_nr {
            case.mobility.stations = vec![3; case.config.cells.len()];
        }
        let timing = match random.chance(0.3) {
            // Two of the three cells are at the same position.
            true => {
                let first = case.config.cells[0].site;
                case.config.cells[1].site = Point::new(first.x, first.y, first.z);
                TargetTiming::Source
            }
            false => TargetTiming::Zero,
        };
        let interval = Span::from_millis(2 + random.below(9));
        case.mobility.rach_less = Some(RachLess {
            timing,
            grant: match random.chance(0.5) {
                true => FirstGrant::Preallocated(interval),
                false => FirstGrant::Pdcch(interval),
            },
        });
        let (outcomes, is_ordered) = walk(case, seed);
        ordered += u32::from(is_ordered);
        for row in &outcomes.rows.handovers {
            if row.procedure != Procedure::Handover {
                continue;
            }
            match (row.outcome, row.preambles) {
                (HandoverOutcome::Success, 0) => skipped += 1,
                (HandoverOutcome::Success, _) => by_access += 1,
                _ => failed += 1,
            }
        }
        loses_only_with_the_connection(&outcomes, seed);
    });
    assert!(
        !cases.is_whole() || skipped > 100 && by_access > 10 && failed > 10 && ordered > 10,
        "{skipped} skipped, {by_access} by random access, {failed} failed, {ordered} in order"
    );
}
