//! Handover without random access on random walks.

use super::may_reorder;
use super::street::{books_close_in, case, rlc, run};
use fadeout_core::random::Stream;
use fadeout_core::{HandoverOutcome, Point, Procedure, RrcEvent, Span};
use fadeout_radio::access::{FirstGrant, RachLess, TargetTiming};
use fadeout_testkit::Cases;

#[test]
fn only_a_lost_connection_loses_anything_and_where_nothing_fails_all_is_in_order() {
    let (mut skipped, mut by_access, mut failed, mut ordered) = (0, 0, 0, 0);
    // A case costs some 60 ms.
    let cases = Cases::new(60);
    cases.run(|seed| {
        let mut random = Stream::new(seed, "handover.rach-less", 0);
        let is_nr = random.chance(0.5);
        let mut case = case(&mut random, rlc(is_nr, true), is_nr);
        if is_nr {
            case.mobility.stations = vec![3; case.config.cells.len()];
        }
        let timing = match random.chance(0.3) {
            // Of three cells two stand at one place.
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
        let loses_markers = case.loses_markers;
        let outcomes = run(case, seed, Span::from_millis(3), Span::from_secs(12));
        let is_ordered = !may_reorder(&outcomes, loses_markers);
        books_close_in((&outcomes, is_ordered), seed);
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
        let mut steps = outcomes.rows.steps.iter();
        if !steps.any(|row| row.event == RrcEvent::Released) {
            let drops = &outcomes.rows.drops;
            assert!(drops.is_empty(), "seed {seed}: {:?}", drops[0]);
        }
    });
    assert!(
        !cases.is_whole() || skipped > 100 && by_access > 10 && failed > 10 && ordered > 10,
        "{skipped} skipped, {by_access} by random access, {failed} failed, {ordered} in order"
    );
}
