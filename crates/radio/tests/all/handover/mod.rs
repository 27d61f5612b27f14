//! Tests of handover through the public interface: random walks through cells, with failures, lost
//! end markers and every data option. The tests send packets and route them as the core does.

mod aggregated;
mod attach;
mod beams;
mod bicasting;
mod conditional;
mod daps;
mod dual;
mod gaps;
mod generations;
mod ltm;
mod nodes;
mod pairs;
mod rach_less;
mod sampling;
mod street;
mod timers;

use fadeout_core::random::Stream;
use fadeout_core::{HandoverOutcome, Procedure, RadioDropCause, RrcEvent, Span};
use fadeout_radio::access::{DataForwarding, Interface, Signalling};
use fadeout_radio::pdcp::Delivery;
use fadeout_radio::rlc::RlcConfig;
use fadeout_testkit::Cases;
use street::{Case, Outcomes, books_close, books_close_in, case, count, rlc, run};

#[test]
fn with_acknowledgments_and_forwarding_only_a_lost_connection_loses_anything() {
    let mut handovers = [0; 3];
    let (mut reestablished, mut released) = (0, 0);
    // A case takes about 60 ms, so a usual run has only the first 20 cases.
    let cases = Cases::new(60).first(12);
    cases.run(|seed| {
        let mut random = Stream::new(seed, "handover", 0);
        let is_nr = random.chance(0.5);
        let rlc = match is_nr {
            true => RlcConfig::NR_AM,
            false => RlcConfig::LTE_AM,
        };
        let case = case(&mut random, rlc, is_nr);
        let outcomes = run(case, seed, Span::from_millis(3), Span::from_secs(12));
        books_close(&outcomes, seed);
        for row in &outcomes.rows.handovers {
            let outcome = match row.outcome {
                HandoverOutcome::Success => 0,
                HandoverOutcome::Failed | HandoverOutcome::Cancelled => 1,
                HandoverOutcome::Refused => 2,
            };
            handovers[outcome] += 1;
            let is_back = row.procedure == Procedure::Reestablishment;
            reestablished += u32::from(is_back && row.outcome == HandoverOutcome::Success);
        }
        let releases = outcomes.rows.steps.iter();
        let releases = releases
            .filter(|row| row.event == RrcEvent::Released)
            .count();
        released += releases;
        if releases == 0 {
            let drops = &outcomes.rows.drops;
            assert!(drops.is_empty(), "seed {seed}: {:?}", drops[0]);
        } else {
            let mut causes = outcomes.rows.drops.iter().map(|row| row.cause);
            // At a release, PDCP delivers the packets that it stored for reordering. The missing
            // packets before them are dropped.
            let is_known = |cause| {
                use RadioDropCause::{Handover, LinkFailure, Reordering};
                matches!(cause, LinkFailure | Handover | Reordering)
            };
            let unknown = causes.find(|&cause| !is_known(cause));
            assert_eq!(unknown, None, "seed {seed}");
        }
    });
    assert!(
        !cases.is_whole() || handovers[0] > 100 && handovers[1] > 10 && reestablished > 10,
        "{handovers:?} well, failed and refused, {reestablished} re-established, {released} released"
    );
}

#[test]
fn without_acknowledgments_or_forwarding_every_loss_has_its_cause() {
    let (mut lost, mut successes) = (0, 0);
    // A case takes about 60 ms, so a usual run has only the first 15 cases.
    let cases = Cases::new(40).first(9);
    cases.run(|seed| {
        let mut random = Stream::new(seed, "handover.lossy", 0);
        let is_nr = random.chance(0.5);
        let is_acknowledged = random.chance(0.4);
        let rlc = rlc(is_nr, is_acknowledged);
        let mut case = case(&mut random, rlc, is_nr);
        if is_acknowledged || random.chance(0.5) {
            case.mobility.data = DataForwarding::Dropped;
        }
        if is_nr {
            case.config.bearers[0].pdcp.delivery = Delivery::InOrder(Some(Span::from_millis(100)));
        }
        let outcomes = run(case, seed, Span::from_millis(3), Span::from_secs(12));
        books_close(&outcomes, seed);
        let drops = outcomes.rows.drops.iter();
        lost += drops
            .filter(|row| row.cause == RadioDropCause::Handover)
            .count();
        let rows = outcomes.rows.handovers.iter();
        successes += rows
            .filter(|row| row.outcome == HandoverOutcome::Success)
            .count();
    });
    assert!(
        !cases.is_whole() || lost > 100 && successes > 100,
        "{lost} packets lost by {successes} changes of cell"
    );
}

/// Runs a case with a packet each 3 ms for 12 s, and asserts that each packet leaves the bearer
/// once. Asserts the order of packets too, unless [`may_reorder`] returns true. Returns the
/// outcomes, and true if the order was asserted.
fn walk(case: Case, seed: u64) -> (Outcomes, bool) {
    let loses_markers = case.loses_markers;
    let outcomes = run(case, seed, Span::from_millis(3), Span::from_secs(12));
    let is_ordered = !may_reorder(&outcomes, loses_markers);
    books_close_in((&outcomes, is_ordered), seed);
    (outcomes, is_ordered)
}

/// Runs a case as [`walk`] does, and accepts packets in any order.
fn walk_in_any_order(case: Case, seed: u64) -> Outcomes {
    let outcomes = run(case, seed, Span::from_millis(3), Span::from_secs(12));
    books_close_in((&outcomes, false), seed);
    outcomes
}

/// Asserts that no packet is lost unless the UE's RRC connection is released.
fn loses_only_with_the_connection(outcomes: &Outcomes, seed: u64) {
    if count(outcomes, RrcEvent::Released) == 0 {
        let drops = &outcomes.rows.drops;
        assert!(drops.is_empty(), "seed {seed}: {:?}", drops[0]);
    }
}

/// Returns a random case. With probability `share`, links carry the messages between base stations.
/// In other cases these messages have fixed delays.
fn any_case((random, share): (&mut Stream, f64), rlc: RlcConfig, is_nr: bool) -> Case {
    match random.chance(share) {
        true => case_over_links(random, rlc, is_nr),
        false => case(random, rlc, is_nr),
    }
}

/// Returns true if packets may overtake each other. After a failure, the old base station forwards
/// packets to the UE's new one, which may already have newer packets. No end marker shows that all
/// forwarded packets have arrived.
fn may_reorder(outcomes: &Outcomes, loses_markers: bool) -> bool {
    use RrcEvent::{AccessFailure, LinkFailure};
    let mut steps = outcomes.rows.steps.iter();
    loses_markers || steps.any(|row| matches!(row.event, LinkFailure | AccessFailure))
}

/// Returns a case like that of [`case`], in which messages between base stations and core are sent
/// over links.
fn case_over_links(random: &mut Stream, rlc: RlcConfig, is_nr: bool) -> Case {
    let mut case = case(random, rlc, is_nr);
    let cells = case.mobility.stations.len() as u32;
    case.mobility.stations = (0..cells).collect();
    if random.chance(0.3) {
        case.mobility.interface = Interface::Core;
    }
    let unconnected = (0..cells).flat_map(|one| (0..cells).map(move |other| (one, other)));
    let unconnected = unconnected.filter(|_| random.chance(0.2)).collect();
    case.mobility.signalling = Signalling::Links { unconnected };
    case.links = (Span::from_millis(random.below(40)), 0.0);
    case
}

#[test]
fn over_links_that_lose_nothing_only_a_lost_connection_loses_anything() {
    let (mut successes, mut reestablished, mut ordered, mut carried) = (0, 0, 0, [0; 2]);
    let cases = Cases::new(60).first(12);
    cases.run(|seed| {
        let mut random = Stream::new(seed, "handover.over-links", 0);
        let is_nr = random.chance(0.5);
        let rlc = match is_nr {
            true => RlcConfig::NR_AM,
            false => RlcConfig::LTE_AM,
        };
        let case = case_over_links(&mut random, rlc, is_nr);
        let (outcomes, is_ordered) = walk(case, seed);
        ordered += u32::from(is_ordered && outcomes.carried[1] > 0);
        for (sum, more) in carried.iter_mut().zip(outcomes.carried) {
            *sum += more;
        }
        for row in &outcomes.rows.handovers {
            let is_back = row.procedure == Procedure::Reestablishment;
            let is_well = row.outcome == HandoverOutcome::Success;
            reestablished += u32::from(is_back && is_well);
            successes += u32::from(is_well);
        }
        loses_only_with_the_connection(&outcomes, seed);
    });
    assert!(
        !cases.is_whole()
            || successes > 100
                && reestablished > 10
                && ordered > 10
                && carried.iter().all(|&of| of > 500),
        "{successes} well, {reestablished} re-established, {carried:?} messages and packets, \
         {ordered} runs in order"
    );
}

#[test]
fn over_links_that_lose_messages_and_packets_every_loss_has_its_cause() {
    let (mut lost, mut expired, mut again) = (0, 0, 0);
    let cases = Cases::new(40).first(9);
    cases.run(|seed| {
        let mut random = Stream::new(seed, "handover.lossy-links", 0);
        let is_nr = random.chance(0.5);
        let is_acknowledged = random.chance(0.6);
        let rlc = rlc(is_nr, is_acknowledged);
        let mut case = case_over_links(&mut random, rlc, is_nr);
        case.links.1 = random.uniform_in(0.0, 0.3);
        case.loses_forwarded = random.uniform_in(0.0, 0.3);
        if random.chance(0.3) {
            case.mobility.data = DataForwarding::Dropped;
        }
        if is_nr {
            case.config.bearers[0].pdcp.delivery = Delivery::InOrder(Some(Span::from_millis(100)));
        }
        let outcomes = walk_in_any_order(case, seed);
        lost += outcomes.dropped.len();
        expired += count(&outcomes, RrcEvent::PreparationExpired);
        let switched = count(&outcomes, RrcEvent::PathSwitched);
        again += count(&outcomes, RrcEvent::PathSwitchRequest).saturating_sub(switched);
    });
    assert!(
        !cases.is_whole() || lost > 100 && expired > 10 && again > 10,
        "{lost} forwarded packets lost, {expired} preparations, {again} requests again"
    );
}
