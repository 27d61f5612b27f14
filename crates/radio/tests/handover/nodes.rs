//! Walks of a UE whose secondary node comes and goes by measurement events, over masters' cells that change.

use super::street::{Case, Outcomes, books_close_in, case, cell, run};
use super::{case_over_links, may_reorder};
use fadeout_core::random::Stream;
use fadeout_core::{
    Bytes, CellId, HandoverOutcome, Hertz, RrcEvent, SecondaryCause, SecondaryChange, Span,
};
use fadeout_radio::access::{
    BearerConfig, CarrierLegs, DataForwarding, EventKind, LegChoice, MeasurementEvent, Scope,
    SecondaryAfterFailure, SecondaryAtHandover, SecondaryNodeConfig, SplitConfig,
};
use fadeout_radio::pdcp::{Delivery, PdcpConfig};
use fadeout_radio::rlc::RlcConfig;
use fadeout_radio::user_plane::FlowControlConfig;
use fadeout_testkit::Cases;

fn event(kind: EventKind, random: &mut Stream) -> MeasurementEvent {
    MeasurementEvent {
        kind,
        hysteresis_db: 1.0,
        time_to_trigger: Span::from_millis(random.below(200)),
        filter: random.below(5) as u8,
        report_interval: Span::from_millis(240),
        report_amount: None,
        scope: Scope::Any,
    }
}

/// A case whose UE has a split bearer among masters of one generation and cells of NR or LTE on another carrier.
fn nodes(random: &mut Stream) -> Case {
    let is_nr = random.chance(0.5);
    // LTE beside NR, NR beside LTE, or NR twice.
    let is_far_nr = !is_nr || random.chance(0.5);
    let rlc = super::street::rlc(is_nr, true);
    let mut case = match random.chance(0.6) {
        true => case_over_links(random, rlc, is_nr),
        false => case(random, rlc, is_nr),
    };
    let masters = case.config.cells.len() as u32;
    let power = random.uniform_in(-50.0, 5.0);
    let length = case.walk.length;
    let seconds = 1 + random.below(3) as u32;
    for number in 0..seconds {
        let mut small = cell(is_far_nr, random.uniform_in(0.0, length), power);
        small.carrier = Hertz(2.6e9);
        case.config.cells.push(small);
        // Some are cells of one base station, or of a master's.
        let station = match random.below(4) {
            0 => 0,
            1 => masters,
            _ => masters + number,
        };
        case.mobility.stations.push(station);
    }
    let ue = &mut case.config.ues[0];
    ue.takes_secondary = true;
    if random.chance(0.4) {
        ue.pscell = Some(CellId(masters + random.below(u64::from(seconds)) as u32));
    }
    let threshold = power - 105.0 + random.uniform_in(-25.0, 6.0);
    let adding = match is_nr == is_far_nr {
        true => EventKind::A4 { threshold },
        false => EventKind::B1 { threshold },
    };
    let lower = threshold - random.uniform_in(0.0, 6.0);
    let mut about = Vec::new();
    // Without a2 it goes when its link fails.
    if random.chance(0.6) {
        about.push(event(EventKind::A2 { threshold: lower }, random));
    }
    if random.chance(0.8) {
        let offset = random.uniform_in(0.0, 4.0);
        about.push(event(EventKind::A3 { offset }, random));
    }
    case.mobility.secondary_node = Some(SecondaryNodeConfig {
        adding: vec![event(adding, random)],
        about,
        at_handover: [
            SecondaryAtHandover::Release,
            SecondaryAtHandover::Keep,
            SecondaryAtHandover::Strongest,
        ][random.below(3) as usize],
        after_failure: [
            SecondaryAfterFailure::Release,
            SecondaryAfterFailure::Restore,
            SecondaryAfterFailure::Strongest,
        ][random.below(3) as usize],
        t304: Span::from_millis(50 + random.below(500)),
    });
    let pdcp = PdcpConfig {
        delivery: Delivery::InOrder(None),
        ..PdcpConfig::NR
    };
    let far = super::street::rlc(is_far_nr, true);
    case.config.bearers[0] = BearerConfig {
        pdcp,
        split: Some(SplitConfig {
            leg: Some(1),
            carriers: CarrierLegs::NONE,
            choice: [
                LegChoice::ExpectedDelay,
                LegChoice::Demand,
                LegChoice::Turns,
            ][random.below(3) as usize],
            rlc: RlcConfig {
                buffer: Bytes(100_000_000),
                ..far
            },
            pdcp_sn_bits: pdcp.sn_bits,
            primary: u8::from(random.chance(0.5)),
            thresholds: [0, 1].map(|_| {
                random
                    .chance(0.8)
                    .then(|| Bytes([0, 400, 3200][random.below(3) as usize]))
            }),
            duplicates: [false; 2],
            flow_control: FlowControlConfig::USUAL,
        }),
        ..case.config.bearers[0]
    };
    if case.links.0.is_zero() {
        case.links.0 = Span::from_millis(random.below(20));
    }
    case
}

fn count(outcomes: &Outcomes, event: RrcEvent) -> usize {
    let steps = outcomes.rows.steps.iter();
    steps.filter(|row| row.event == event).count()
}

/// Whatever is added is released before another one is, and nobody is left on the way.
fn comes_and_goes(outcomes: &Outcomes, begins_with: bool, seed: u64) {
    let mut has_one = begins_with;
    for row in &outcomes.rows.steps {
        match row.event {
            RrcEvent::SecondaryAdded => {
                assert!(!has_one, "seed {seed}: added twice at {}", row.time_s);
                has_one = true;
            }
            RrcEvent::SecondaryReleased => {
                assert!(has_one, "seed {seed}: released twice at {}", row.time_s);
                has_one = false;
            }
            _ => {}
        }
    }
}

#[test]
fn only_a_lost_connection_loses_anything_while_secondary_nodes_come_and_go() {
    let mut seen = [[0; 4]; 3];
    let (mut well, mut ordered, mut failures, mut unentered) = (0, 0, 0, 0);
    // A case costs some 300 ms.
    let cases = Cases::new(100);
    cases.run(|seed| {
        let mut random = Stream::new(seed, "handover.nodes", 0);
        let case = nodes(&mut random);
        let loses_markers = case.loses_markers;
        let begins_with = case.config.ues[0].pscell.is_some();
        let outcomes = run(case, seed, Span::from_millis(3), Span::from_secs(12));
        let is_ordered = !may_reorder(&outcomes, loses_markers);
        books_close_in((&outcomes, is_ordered), seed);
        comes_and_goes(&outcomes, begins_with, seed);
        ordered += u32::from(is_ordered);
        failures += count(&outcomes, RrcEvent::SecondaryFailureKnown);
        unentered += count(&outcomes, RrcEvent::AccessFailure);
        for row in &outcomes.rows.changes {
            let cause = SecondaryCause::ALL.iter().position(|it| *it == row.cause);
            let kind = SecondaryChange::ALL.iter().position(|it| *it == row.kind);
            let place = cause
                .zip(kind)
                .filter(|_| row.outcome == HandoverOutcome::Success);
            if let Some((cause, kind)) = place {
                seen[cause][kind] += 1;
            }
        }
        let rows = outcomes.rows.handovers.iter();
        well += rows
            .filter(|row| row.outcome == HandoverOutcome::Success)
            .count();
        if count(&outcomes, RrcEvent::Released) == 0 {
            let drops = &outcomes.rows.drops;
            assert!(drops.is_empty(), "seed {seed}: {:?}", drops[0]);
        }
    });
    let [measured, handed, failed] = seen;
    assert!(
        !cases.is_whole()
            || well > 100
                && ordered > 10
                && measured.iter().all(|&count| count > 5)
                && handed[2] + handed[1] > 10
                && failed[3] > 5
                && failures > unentered / 2,
        "measured {measured:?}, handed over {handed:?}, failed {failed:?}: additions, changes, modifications, releases; \
         {well} handovers, {ordered} runs in order, {failures} failures, {unentered} cells not entered"
    );
}

#[test]
fn with_messages_and_frames_lost_every_loss_has_its_cause_and_nobody_waits_for_ever() {
    let (mut expired, mut added) = (0, 0);
    let cases = Cases::new(60);
    cases.run(|seed| {
        let mut random = Stream::new(seed, "handover.nodes-lossy", 0);
        let mut case = nodes(&mut random);
        case.mobility.data = DataForwarding::Dropped;
        case.config.bearers[0].pdcp.delivery = Delivery::InOrder(Some(Span::from_millis(100)));
        case.links.1 = random.uniform_in(0.0, 0.3);
        case.loses_forwarded = random.uniform_in(0.0, 0.3);
        let begins_with = case.config.ues[0].pscell.is_some();
        let outcomes = run(case, seed, Span::from_millis(3), Span::from_secs(12));
        books_close_in((&outcomes, false), seed);
        comes_and_goes(&outcomes, begins_with, seed);
        expired += count(&outcomes, RrcEvent::SecondaryExpired);
        added += count(&outcomes, RrcEvent::SecondaryAdded);
    });
    assert!(
        !cases.is_whole() || expired > 5 && added > 60,
        "{expired} answers not awaited any longer, {added} added"
    );
}
