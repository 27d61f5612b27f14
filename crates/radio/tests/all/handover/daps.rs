//! Tests of DAPS handover, in which the source continues to serve the UE. The tests cover random
//! walks, targets that the UE does not reach, and links that lose copies.

use super::street::{Case, Walk, books_close, case, mobility, rlc, run};
use super::{any_case, loses_only_with_the_connection, walk, walk_in_any_order};
use fadeout_core::random::Stream;
use fadeout_core::{
    Direction, HandoverOutcome, Hertz, Point, Procedure, RadioDropCause, RrcEvent, Span,
};
use fadeout_radio::access::{CellChange, CellConfig, MobilityConfig, Policy, RadioAccess};
use fadeout_radio::pdcp::Delivery;
use fadeout_testkit::Cases;

#[derive(Debug, Default)]
struct DapsCounts {
    well: u32,
    failed: u32,
    /// Handovers in which T304 expired and the source continued to serve.
    fell_back: u32,
    /// Handovers in which the link to the source failed before the end of random access.
    lost_source: u32,
    copies: u32,
    twice: u32,
    ordered: u32,
    lost: usize,
}

impl DapsCounts {
    fn add(&mut self, outcomes: &super::Outcomes) {
        for row in &outcomes.rows.handovers {
            assert_ne!(row.procedure, Procedure::Handover, "the source serves on");
            if row.procedure == Procedure::Daps {
                let is_well = row.outcome == HandoverOutcome::Success;
                self.well += u32::from(is_well);
                self.failed += u32::from(!is_well);
                self.copies += row.forwarded_numbered;
                self.twice += row.doubled_packets;
            }
        }
        let steps = &outcomes.rows.steps;
        let mut before = RrcEvent::ReportSent;
        let mut is_entering = false;
        for row in steps {
            match row.event {
                RrcEvent::CommandReceived => is_entering = true,
                RrcEvent::LinkFailure => self.lost_source += u32::from(is_entering),
                RrcEvent::SourceResumed => {
                    self.fell_back += u32::from(before == RrcEvent::AccessFailure);
                }
                _ => {}
            }
            if matches!(row.event, RrcEvent::AccessDone | RrcEvent::AccessFailure) {
                is_entering = false;
                before = row.event;
            }
        }
        let causes = outcomes.rows.drops.iter();
        let at_change = causes.filter(|row| row.cause == RadioDropCause::Handover);
        self.lost += at_change.count();
    }
}

/// Returns a case like that of [`case`]. Some handovers fail, because T304 expires before the UE
/// has reached the target.
fn daps_case(random: &mut Stream, is_acknowledged: bool) -> Case {
    let rlc = rlc(true, is_acknowledged);
    let mut case = any_case((random, 0.5), rlc, true);
    case.mobility.interface = Default::default();
    case.mobility.change = CellChange::Daps;
    if random.chance(0.4) {
        case.mobility.procedure.t304 = Span::from_millis(random.below(150));
    }
    case
}

#[test]
fn only_a_lost_connection_loses_anything_and_where_nothing_fails_all_is_in_order() {
    let mut seen = DapsCounts::default();
    // A case takes about 80 ms, so a usual run has only the first 25 cases.
    let cases = Cases::new(80).first(14);
    cases.run(|seed| {
        let mut random = Stream::new(seed, "handover.daps", 0);
        let case = daps_case(&mut random, true);
        let (outcomes, is_ordered) = walk(case, seed);
        seen.ordered += u32::from(is_ordered);
        seen.add(&outcomes);
        loses_only_with_the_connection(&outcomes, seed);
    });
    let is_rich = seen.well > 100 && seen.failed > 20 && seen.fell_back > 5;
    assert!(
        !cases.is_whole()
            || is_rich && seen.lost_source > 3 && seen.ordered > 10 && seen.twice > 20,
        "{seen:?}"
    );
}

#[test]
fn every_loss_has_its_cause() {
    let mut seen = DapsCounts::default();
    let cases = Cases::new(60).first(12);
    cases.run(|seed| {
        let mut random = Stream::new(seed, "handover.daps-lossy", 0);
        let is_acknowledged = random.chance(0.5);
        let mut case = daps_case(&mut random, is_acknowledged);
        case.links.1 = random.uniform_in(0.0, 0.3);
        case.loses_forwarded = random.uniform_in(0.0, 0.3);
        case.config.bearers[0].pdcp.delivery = Delivery::InOrder(Some(Span::from_millis(100)));
        let outcomes = walk_in_any_order(case, seed);
        seen.add(&outcomes);
    });
    assert!(
        !cases.is_whole() || seen.well > 50 && seen.failed > 10 && seen.lost > 10,
        "{seen:?}"
    );
}

/// Returns a walk between two cells that are both strong.
fn steady(daps: bool) -> Case {
    let mut case = case(
        &mut Stream::new(1, "handover.daps-steady", 0),
        rlc(true, true),
        true,
    );
    case.config.cells = [0.0, 200.0]
        .map(|x| super::street::cell(true, x, 30.0))
        .into();
    case.walk = Walk {
        speed: 20.0,
        length: 200.0,
    };
    case.core_delay = Span::from_millis(5);
    case.loses_markers = false;
    case.mobility = MobilityConfig {
        change: match daps {
            true => CellChange::Daps,
            false => CellChange::Handover,
        },
        ..mobility(2)
    };
    case
}

#[test]
fn while_the_source_serves_no_direction_is_interrupted() {
    let every = Span::from_millis(2);
    let [plain, daps] = [false, true].map(|daps| {
        let outcomes = run(steady(daps), 5, every, Span::from_secs(40));
        books_close(&outcomes, 5);
        assert!(outcomes.rows.drops.is_empty());
        let rows = outcomes.rows.handovers.into_iter();
        // Handovers after 39.9 s are omitted, because few packets are sent at the end of the run.
        let rows = rows.filter(|row| row.completed_s < 39.9);
        let rows = rows.filter(|row| row.outcome == HandoverOutcome::Success);
        rows.collect::<Vec<_>>()
    });
    assert!(plain.len() > 2 && daps.len() > 2);
    for row in &plain {
        // The gap is at least the interruption of 35 ms, plus random access.
        assert!(
            row.downlink_gap_s > 0.035 && row.uplink_gap_s > 0.035,
            "{row:?}"
        );
    }
    for row in &daps {
        // In the downlink, a packet arrives at least every 4 ms, and HARQ may retransmit it. In the
        // uplink, a packet arrives each 6 ms. In the target the packet waits for a request
        // occasion, which comes each 10 ms, and for the grant.
        assert!(
            row.downlink_gap_s < 0.012 && row.uplink_gap_s < 0.020,
            "{row:?}"
        );
        assert!(row.left_s >= row.entered_s && row.forwarded_numbered > 10);
    }
}

#[test]
fn without_acknowledgments_counts_go_on_over_a_good_link() {
    let mut case = steady(true);
    case.config.bearers[0] = super::street::bearer(rlc(true, false), true);
    case.config.bearers[0].pdcp.delivery = Delivery::InOrder(Some(Span::from_millis(100)));
    let outcomes = run(case, 7, Span::from_millis(2), Span::from_secs(40));
    books_close(&outcomes, 7);
    let lost = outcomes.rows.drops.len();
    // Uplink packets that the UE has sent to the source and that have not arrived are lost. They
    // are not retransmitted.
    let up = outcomes.rows.drops.iter();
    let down = up
        .filter(|row| row.direction == Direction::Downlink)
        .count();
    assert!(down == 0 && lost < 8, "{lost} lost, {down} of the downlink");
}

#[test]
fn what_may_not_be_in_two_cells_at_once_is_refused() {
    let refused = |change: &dyn Fn(&mut Case)| {
        let mut case = steady(true);
        change(&mut case);
        let mut access = RadioAccess::new(case.config, 1).expect("a radio access");
        let managed = access.manage_mobility(case.mobility, Policy::default());
        managed.expect_err("it is refused").to_string()
    };
    let high = refused(&|case| {
        for cell in &mut case.config.cells {
            let site = Point::new(0.0, 0.0, 10.0);
            *cell = CellConfig::nr(site, Hertz(28e9), 3, 66).expect("a numerology");
        }
    });
    assert!(high.contains("FR2") && high.contains("daps"), "{high}");
    let old = refused(&|case| {
        case.config.cells[1] = super::street::cell(false, 200.0, 30.0);
    });
    assert!(old.contains("a cell of LTE"), "{old}");
    let aggregated = refused(&|case| {
        case.config.ues[0].aggregation.most = 1;
    });
    assert!(aggregated.contains("carrier aggregation"), "{aggregated}");
    let unordered = refused(&|case| {
        case.config.bearers[0].pdcp.delivery = Delivery::FromRlc;
    });
    assert!(unordered.contains("t-Reordering"), "{unordered}");
    let mut one = steady(true);
    let site = Point::new(0.0, 0.0, 10.0);
    one.config.cells[1] = CellConfig::nr(site, Hertz(28e9), 3, 66).expect("a numerology");
    let mut access = RadioAccess::new(one.config, 1).expect("a radio access");
    let managed = access.manage_mobility(one.mobility, Policy::default());
    assert!(managed.is_ok(), "one above 24.25 GHz is not two");
}
