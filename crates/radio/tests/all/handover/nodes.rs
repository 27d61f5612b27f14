//! Tests of random walks. Measurement events add and release the secondary node while the master
//! node's cell changes.

use super::dual::{CopyCounts, duplicates, split};
use super::street::{Case, Outcomes, cell, count};
use super::{any_case, loses_only_with_the_connection, walk, walk_in_any_order};
use fadeout_core::random::Stream;
use fadeout_core::{
    CellId, Dbm, HandoverOutcome, Hertz, RrcEvent, SecondaryCause, SecondaryChange, Span, Time,
};
use fadeout_radio::access::{
    DataForwarding, EventKind, LegChoice, MeasurementEvent, Scope, SecondaryAfterFailure,
    SecondaryAtHandover, SecondaryNodeConfig,
};
use fadeout_radio::channel::blockage::{Blockage, Interval, Scripted};
use fadeout_radio::pdcp::Delivery;
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

/// Returns a case whose UE has a split bearer. All master cells are of one generation. The possible
/// secondary cells are LTE or NR cells on another carrier.
fn nodes(random: &mut Stream) -> Case {
    let is_nr = random.chance(0.5);
    // The master and secondary cells are LTE and NR, NR and LTE, or NR and NR.
    let is_far_nr = !is_nr || random.chance(0.5);
    let rlc = super::street::rlc(is_nr, true);
    let mut case = any_case((random, 0.6), rlc, is_nr);
    let masters = case.config.cells.len() as u32;
    let power = random.uniform_in(-50.0, 5.0);
    let length = case.walk.length;
    let seconds = 1 + random.below(3) as u32;
    for number in 0..seconds {
        let mut small = cell(is_far_nr, random.uniform_in(0.0, length), power);
        small.carrier = Hertz(2.6e9);
        case.config.cells.push(small);
        // Some secondary cells belong to the same base station as another secondary cell or a
        // master cell.
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
    let mut pscell_events = Vec::new();
    // Without event A2 the secondary node is released only when its link fails.
    if random.chance(0.6) {
        pscell_events.push(event(EventKind::A2 { threshold: lower }, random));
    }
    if random.chance(0.8) {
        let offset = random.uniform_in(0.0, 4.0);
        pscell_events.push(event(EventKind::A3 { offset }, random));
    }
    case.mobility.secondary_node = Some(SecondaryNodeConfig {
        addition_events: vec![event(adding, random)],
        pscell_events,
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
    let choice = [
        LegChoice::ExpectedDelay,
        LegChoice::Demand,
        LegChoice::Turns,
    ][random.below(3) as usize];
    let far = super::street::rlc(is_far_nr, true);
    split(random, &mut case, (far, choice));
    case
}

/// Returns a blockage of a cell at random times. A short blockage ends soon after the leg has
/// failed, so that the UE can enter the cell again.
fn cuts(random: &mut Stream) -> Blockage {
    let mut intervals = Vec::new();
    let mut from = Time::ZERO;
    while from < Time::ZERO + Span::from_secs(12) {
        from += Span::from_millis(300 + random.below(1200));
        let until = from + Span::from_millis(1000 + random.below(3000));
        intervals.push(Interval {
            from,
            until,
            loss_db: 60.0,
        });
        from = until;
    }
    Blockage::Scripted(Scripted {
        intervals: intervals.into(),
    })
}

/// Asserts that each added secondary node is released before another secondary node is added.
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
    let mut copied = CopyCounts::default();
    // A case takes about 300 ms, so a usual run has only the first 30 cases.
    let cases = Cases::new(100).first(18);
    cases.run(|seed| {
        let mut random = Stream::new(seed, "handover.nodes", 0);
        let case = nodes(&mut random);
        let begins_with = case.config.ues[0].pscell.is_some();
        let doubled = duplicates(&case);
        let (outcomes, is_ordered) = walk(case, seed);
        copied.add(&outcomes, doubled, seed);
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
        loses_only_with_the_connection(&outcomes, seed);
    });
    let [measured, handed, failed] = seen;
    assert!(
        !cases.is_whole()
            || well > 100
                && ordered > 10
                && measured.iter().all(|&count| count > 5)
                && handed[2] + handed[1] > 10
                && failed[3] > 5
                && copied.is_rich()
                && failures > unentered / 2,
        "measured {measured:?}, handed over {handed:?}, failed {failed:?}: additions, changes, modifications, releases; \
         {well} handovers, {ordered} runs in order, {failures} failures, {unentered} cells not entered, {copied:?}"
    );
}

#[test]
fn with_messages_and_frames_lost_every_loss_has_its_cause_and_nobody_waits_for_ever() {
    let (mut expired, mut added) = (0, 0);
    let mut copied = CopyCounts::default();
    let cases = Cases::new(60).first(12);
    cases.run(|seed| {
        let mut random = Stream::new(seed, "handover.nodes-lossy", 0);
        let mut case = nodes(&mut random);
        case.mobility.data = DataForwarding::Dropped;
        case.config.bearers[0].pdcp.delivery = Delivery::InOrder(Some(Span::from_millis(100)));
        case.links.1 = random.uniform_in(0.0, 0.3);
        case.loses_forwarded = random.uniform_in(0.0, 0.3);
        let begins_with = case.config.ues[0].pscell.is_some();
        let doubled = duplicates(&case);
        let outcomes = walk_in_any_order(case, seed);
        copied.add(&outcomes, doubled, seed);
        comes_and_goes(&outcomes, begins_with, seed);
        expired += count(&outcomes, RrcEvent::SecondaryExpired);
        added += count(&outcomes, RrcEvent::SecondaryAdded);
    });
    assert!(
        !cases.is_whole() || expired > 5 && added > 60 && copied.is_rich(),
        "{expired} answers not awaited any longer, {added} added, {copied:?}"
    );
}

/// Checks failures of secondary legs. The UE hardly moves, and the links to the small cells are
/// blocked until their legs fail.
#[test]
fn legs_that_fail_come_back_and_nothing_is_lost() {
    let (mut failures, mut released, mut restored, mut changed) = (0, 0, 0, 0);
    let mut copied = CopyCounts::default();
    let cases = Cases::new(100).first(18);
    cases.run(|seed| {
        let mut random = Stream::new(seed, "handover.nodes-back", 0);
        let mut case = nodes(&mut random);
        let masters = case.mobility.stations.len();
        let ue = &mut case.config.ues[0];
        let far = case
            .config
            .cells
            .iter()
            .position(|cell| cell.carrier == Hertz(2.6e9));
        let far = far.expect("it has small cells").min(masters);
        ue.pscell = Some(CellId(far as u32));
        case.walk.speed = random.uniform_in(0.0, 2.0);
        for small in &mut case.config.cells[far..] {
            small.site.x = random.uniform_in(0.0, 40.0);
            small.power = Dbm(20.0);
            small.channel.blockages = vec![cuts(&mut random)];
        }
        if let Some(node) = &mut case.mobility.secondary_node {
            node.pscell_events.clear();
            node.after_failure = match random.chance(0.5) {
                true => SecondaryAfterFailure::Restore,
                false => SecondaryAfterFailure::Strongest,
            };
            node.t304 = Span::from_millis(500 + random.below(1500));
        }
        if let Some(split) = &mut case.config.bearers[0].split {
            split.choice = LegChoice::Demand;
        }
        let doubled = duplicates(&case);
        let (outcomes, _) = walk(case, seed);
        copied.add(&outcomes, doubled, seed);
        comes_and_goes(&outcomes, true, seed);
        loses_only_with_the_connection(&outcomes, seed);
        failures += count(&outcomes, RrcEvent::SecondaryFailureKnown);
        let changes = outcomes.rows.changes.iter();
        let well = changes.filter(|row| row.outcome == HandoverOutcome::Success);
        for row in well.filter(|row| row.cause == SecondaryCause::Failure) {
            match row.kind {
                SecondaryChange::Release => released += 1,
                SecondaryChange::Modification => restored += 1,
                SecondaryChange::Change | SecondaryChange::Addition => changed += 1,
            }
        }
    });
    assert!(
        !cases.is_whole() || failures > 20 && restored > 10 && changed > 1 && copied.is_rich(),
        "{failures} failures, {released} released, {restored} restored, {changed} changed, {copied:?}"
    );
}
