//! Tests of L1/L2-triggered mobility on random walks. MAC switches UEs among cells of one base
//! station, and some switches fail.

use super::street::{Case, case, rlc};
use super::{loses_only_with_the_connection, walk, walk_in_any_order};
use fadeout_core::random::Stream;
use fadeout_core::{Decibel, HandoverOutcome, Procedure, Span};
use fadeout_radio::access::{
    CellChange, ConditionalConfig, EarlySync, EventKind, LtmConfig, MeasurementEvent,
};
use fadeout_radio::pdcp::Delivery;
use fadeout_testkit::Cases;

/// Changes a case so that candidate cells are prepared early. The network switches cells if another
/// cell is better by a random margin.
pub(super) fn switched(random: &mut Stream, mut case: Case) -> Case {
    let event = case.mobility.events[0];
    case.mobility.events[0] = MeasurementEvent {
        kind: EventKind::A3 {
            offset: random.uniform_in(-12.0, -2.0),
        },
        ..event
    };
    let candidates = ConditionalConfig {
        conditions: Vec::new(),
        most_candidates: 1 + random.below(3) as usize,
        hold: match random.chance(0.5) {
            true => Span::MAX,
            false => Span::from_millis(100 + random.below(8000)),
        },
        recovers: random.chance(0.7),
        forwards_early: false,
        commanding: Vec::new(),
    };
    let ltm = LtmConfig {
        report_period: Span::from_millis(5 + random.below(60)),
        offset: Decibel(random.uniform_in(0.0, 5.0)),
        reports: 1 + random.below(5) as u32,
        processing: Span::from_millis(random.below(40)),
        synchronisation: Span::from_millis(random.below(30)),
        early: [EarlySync::None, EarlySync::Downlink, EarlySync::Both][random.below(3) as usize],
    };
    case.mobility.change = CellChange::Ltm(candidates, ltm);
    case.mobility.stations = vec![3; case.config.cells.len()];
    case
}

#[derive(Debug, Default)]
struct LtmCounts {
    switched: u32,
    skipped: u32,
    lost: u32,
    failed: u32,
    recovered: u32,
    ordered: u32,
    again: u32,
}

impl LtmCounts {
    fn add(&mut self, outcomes: &super::Outcomes) {
        let mut last_is_switch = false;
        for row in &outcomes.rows.handovers {
            assert_ne!(row.procedure, Procedure::Handover, "RRC commands nobody");
            let is_well = row.outcome == HandoverOutcome::Success;
            match (row.procedure, row.outcome) {
                (Procedure::Ltm, HandoverOutcome::Success) => {
                    self.switched += 1;
                    self.skipped += u32::from(row.preambles == 0);
                    self.again += u32::from(last_is_switch);
                }
                (Procedure::Ltm, HandoverOutcome::Cancelled) => self.lost += 1,
                (Procedure::Ltm, _) => self.failed += 1,
                (Procedure::Recovery, _) => self.recovered += u32::from(is_well),
                _ => {}
            }
            last_is_switch = row.procedure == Procedure::Ltm && is_well;
        }
    }
}

#[test]
fn only_a_lost_connection_loses_anything_and_where_nothing_fails_all_is_in_order() {
    let mut seen = LtmCounts::default();
    // A case takes about 60 ms, so a usual run has only the first 20 cases.
    let cases = Cases::new(60).first(12);
    cases.run(|seed| {
        let mut random = Stream::new(seed, "handover.ltm", 0);
        let plain = case(&mut random, rlc(true, true), true);
        let case = switched(&mut random, plain);
        let (outcomes, is_ordered) = walk(case, seed);
        seen.ordered += u32::from(is_ordered);
        seen.add(&outcomes);
        loses_only_with_the_connection(&outcomes, seed);
    });
    let LtmCounts {
        switched,
        skipped,
        lost,
        failed,
        recovered,
        ordered,
        again,
    } = seen;
    assert!(
        !cases.is_whole()
            || switched > 100
                && skipped > 20
                && lost > 5
                && failed > 5
                && recovered > 5
                && ordered > 10
                && again > 20,
        "{seen:?}"
    );
}

#[test]
fn without_acknowledgments_every_loss_has_its_cause() {
    let mut seen = LtmCounts::default();
    let cases = Cases::new(30).first(7);
    cases.run(|seed| {
        let mut random = Stream::new(seed, "handover.ltm-lossy", 0);
        let plain = case(&mut random, rlc(true, false), true);
        let mut case = switched(&mut random, plain);
        case.config.bearers[0].pdcp.delivery = Delivery::InOrder(Some(Span::from_millis(100)));
        let outcomes = walk_in_any_order(case, seed);
        seen.add(&outcomes);
    });
    assert!(!cases.is_whole() || seen.switched > 50, "{seen:?}");
}
