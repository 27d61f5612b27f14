//! Tests of conditional handover on random walks: UEs execute it, leave too late, or fail and
//! recover.

use super::street::{Case, rlc};
use super::{any_case, case_over_links, loses_only_with_the_connection, walk, walk_in_any_order};
use fadeout_core::random::Stream;
use fadeout_core::{HandoverOutcome, Procedure, RrcEvent, Span};
use fadeout_radio::access::{
    CellChange, ConditionalConfig, DataForwarding, EventKind, MeasurementEvent,
};
use fadeout_radio::pdcp::Delivery;
use fadeout_testkit::Cases;

/// Changes a case so that candidate cells are prepared early, with execution conditions of one or
/// two kinds.
pub(super) fn conditional(random: &mut Stream, mut case: Case) -> Case {
    let event = case.mobility.events[0];
    case.mobility.events[0] = MeasurementEvent {
        kind: EventKind::A3 {
            offset: random.uniform_in(-12.0, 0.0),
        },
        ..event
    };
    let condition = |kind, random: &mut Stream| MeasurementEvent {
        kind,
        time_to_trigger: Span::from_millis(random.below(200)),
        filter: random.below(9) as u8,
        ..event
    };
    let a3 = EventKind::A3 {
        offset: random.uniform_in(0.0, 4.0),
    };
    let mut conditions = vec![condition(a3, random)];
    if random.chance(0.4) {
        let threshold = random.uniform_in(-110.0, -80.0);
        conditions.push(condition(EventKind::A4 { threshold }, random));
    }
    case.mobility.change = CellChange::Conditional(ConditionalConfig {
        conditions,
        most_candidates: 1 + random.below(3) as usize,
        hold: Span::from_millis(100 + random.below(8000)),
        recovers: random.chance(0.7),
        forwards_early: random.chance(0.5),
        commanding: Vec::new(),
    });
    case
}

#[derive(Debug, Default)]
struct ConditionalCounts {
    executed: u32,
    recovered: u32,
    failed: u32,
    cancelled: u32,
    refused: u32,
    ordered: u32,
    lost: usize,
}

impl ConditionalCounts {
    fn add(&mut self, outcomes: &super::Outcomes) {
        for row in &outcomes.rows.handovers {
            let is_well = row.outcome == HandoverOutcome::Success;
            assert_ne!(row.procedure, Procedure::Handover, "nobody commands");
            match row.procedure {
                Procedure::Conditional => {
                    self.executed += u32::from(is_well);
                    self.failed += u32::from(!is_well);
                }
                Procedure::Recovery => self.recovered += u32::from(is_well),
                _ => {}
            }
        }
        for row in &outcomes.rows.steps {
            self.cancelled += u32::from(row.event == RrcEvent::CandidateCancelled);
            self.refused += u32::from(row.event == RrcEvent::HandoverRefused);
        }
        self.lost += outcomes.dropped.len();
    }
}

#[test]
fn only_a_lost_connection_loses_anything_and_where_nothing_fails_all_is_in_order() {
    let mut seen = ConditionalCounts::default();
    // A case takes about 60 ms, so a usual run has only the first 20 cases.
    let cases = Cases::new(60).first(12);
    cases.run(|seed| {
        let mut random = Stream::new(seed, "handover.conditional", 0);
        let is_nr = random.chance(0.5);
        let rlc = rlc(is_nr, true);
        let plain = any_case((&mut random, 0.5), rlc, is_nr);
        let mut case = conditional(&mut random, plain);
        case.mobility.interface = Default::default();
        let (outcomes, is_ordered) = walk(case, seed);
        seen.ordered += u32::from(is_ordered);
        seen.add(&outcomes);
        loses_only_with_the_connection(&outcomes, seed);
    });
    let ConditionalCounts {
        executed,
        recovered,
        failed,
        cancelled,
        refused,
        ordered,
        ..
    } = seen;
    assert!(
        !cases.is_whole()
            || executed > 100
                && recovered > 5
                && failed > 5
                && cancelled > 100
                && refused > 5
                && ordered > 10,
        "{seen:?}"
    );
}

#[test]
fn every_loss_has_its_cause() {
    let mut seen = ConditionalCounts::default();
    let cases = Cases::new(40).first(9);
    cases.run(|seed| {
        let mut random = Stream::new(seed, "handover.conditional-lossy", 0);
        let is_nr = random.chance(0.5);
        let is_acknowledged = random.chance(0.6);
        let rlc = rlc(is_nr, is_acknowledged);
        let plain = case_over_links(&mut random, rlc, is_nr);
        let mut case = conditional(&mut random, plain);
        case.mobility.interface = Default::default();
        case.links.1 = random.uniform_in(0.0, 0.3);
        case.loses_forwarded = random.uniform_in(0.0, 0.3);
        if random.chance(0.3) {
            case.mobility.data = DataForwarding::Dropped;
        }
        if is_nr {
            case.config.bearers[0].pdcp.delivery = Delivery::InOrder(Some(Span::from_millis(100)));
        }
        let outcomes = walk_in_any_order(case, seed);
        seen.add(&outcomes);
    });
    assert!(
        !cases.is_whole() || seen.executed > 50 && seen.lost > 50 && seen.cancelled > 50,
        "{seen:?}"
    );
}
