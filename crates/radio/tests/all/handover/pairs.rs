//! Tests of each pair of mobility features: the configuration refuses the pair, or a walk with both
//! features loses no packet without a cause.

use super::aggregated::add_carriers;
use super::case_over_links;
use super::conditional::conditional;
use super::dual::split;
use super::ltm::switched;
use super::street::{Case, books_close_in, case, cell, count, rlc, run};
use fadeout_core::random::Stream;
use fadeout_core::{CellId, HandoverOutcome, Hertz, RadioDropCause, RrcEvent, Span, Time};
use fadeout_radio::access::{
    BeamMonitoring, BicastStart, CarrierLegs, CellChange, DataForwarding, EventKind, FirstGrant,
    LegChoice, MeasurementEvent, MeasurementGaps, Policy, RachLess, RadioAccess,
    SecondaryAfterFailure, SecondaryAtHandover, SecondaryNodeConfig, TargetTiming,
};
use fadeout_radio::antenna::{BeamFailure, BeamManagement};
use fadeout_radio::pdcp::Delivery;
use fadeout_radio::rlc::Mode;
use fadeout_testkit::Cases;

/// Feature of mobility that a case may have beside another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Feature {
    /// Cells of LTE. The cells of other cases are cells of NR.
    Lte,
    /// Messages over links instead of fixed delays.
    Links,
    Unacknowledged,
    Conditional,
    Daps,
    Ltm,
    RachLess,
    Gaps,
    BeamFailure,
    Bicast,
    /// A UE that is idle at the start.
    Attach,
    Aggregation,
    /// A secondary node that is released at the first handover.
    Pscell,
    /// A secondary node with PDCP duplication in both directions.
    Duplication,
    /// A secondary node that the network adds and releases.
    SecondaryNode,
}

use Feature::{
    Aggregation, Attach, BeamFailure as Beams, Bicast, Conditional, Daps, Duplication, Gaps, Links,
    Lte, Ltm, Pscell, RachLess as WithoutAccess, SecondaryNode, Unacknowledged,
};

/// All features, in the order in which they change a case.
const ALL: [Feature; 15] = [
    Lte,
    Links,
    Unacknowledged,
    Conditional,
    Daps,
    Ltm,
    WithoutAccess,
    Gaps,
    Beams,
    Bicast,
    Attach,
    Aggregation,
    Pscell,
    Duplication,
    SecondaryNode,
];

/// Pairs that the radio refuses, with a part of the message.
const REFUSED: [(Feature, Feature, &str); 20] = [
    (Lte, Daps, "a cell of LTE"),
    (Lte, Ltm, "a cell of LTE"),
    (Daps, Aggregation, "carrier aggregation"),
    (Conditional, Pscell, "by another procedure"),
    (Conditional, Duplication, "by another procedure"),
    (Conditional, SecondaryNode, "by another procedure"),
    (Daps, Pscell, "by another procedure"),
    (Daps, Duplication, "by another procedure"),
    (Daps, SecondaryNode, "by another procedure"),
    (Ltm, Pscell, "by another procedure"),
    (Ltm, Duplication, "by another procedure"),
    (Ltm, SecondaryNode, "by another procedure"),
    (WithoutAccess, SecondaryNode, "without random access"),
    (Gaps, Pscell, "measurement gaps"),
    (Gaps, Duplication, "measurement gaps"),
    (Gaps, SecondaryNode, "measurement gaps"),
    (Aggregation, SecondaryNode, "carrier aggregation"),
    (Unacknowledged, Pscell, "unacknowledged mode"),
    (Unacknowledged, Duplication, "unacknowledged mode"),
    (Unacknowledged, SecondaryNode, "unacknowledged mode"),
];

/// Features that set one value of a case, so that no case can have two of them.
const EXCLUSIVE: [&[Feature]; 2] = [
    &[Conditional, Daps, Ltm],
    &[Pscell, Duplication, SecondaryNode],
];

/// Pairs that the reader of scenarios refuses, which the radio does not check.
const REFUSED_BEFORE: [(Feature, &[Feature]); 3] = [
    (Attach, &[Aggregation, Pscell, Duplication, SecondaryNode]),
    (WithoutAccess, &[Conditional, Daps, Ltm]),
    (Bicast, &[Conditional, Daps, Ltm]),
];

/// Returns all pairs that a case can have and that reach the radio.
fn pairs() -> impl Iterator<Item = [Feature; 2]> {
    let pairs = (0..ALL.len()).flat_map(|one| (one + 1..ALL.len()).map(move |other| [one, other]));
    pairs
        .map(|pair| pair.map(|place| ALL[place]))
        .filter(|pair| {
            let is_before = |(one, others): &(Feature, &[Feature])| {
                pair.contains(one) && pair.iter().any(|feature| others.contains(feature))
            };
            let is_exclusive =
                |group: &&[Feature]| pair.iter().all(|feature| group.contains(feature));
            !EXCLUSIVE.iter().any(is_exclusive) && !REFUSED_BEFORE.iter().any(is_before)
        })
}

/// Returns the message with which the radio should refuse a pair. `None` if the pair is allowed.
fn expected(pair: [Feature; 2]) -> Option<&'static str> {
    let [one, other] = pair;
    let mut refused = REFUSED.iter();
    let found = refused.find(|&&(first, second, _)| (first, second) == (one, other));
    found.map(|&(.., message)| message)
}

/// Returns a random case with two features.
fn case_of(pair: [Feature; 2], random: &mut Stream) -> Case {
    let has = |feature| pair.contains(&feature);
    let (is_nr, is_acknowledged) = (!has(Lte), !has(Unacknowledged));
    let mode = rlc(is_nr, is_acknowledged);
    let mut case = match has(Links) {
        true => case_over_links(random, mode, is_nr),
        false => case(random, mode, is_nr),
    };
    case.mobility.most_ues = None;
    for feature in ALL.into_iter().filter(|&feature| has(feature)) {
        case = add_feature(feature, case, random, is_nr);
    }
    let cells = case.config.cells.len() as u32;
    if has(WithoutAccess) || has(Ltm) {
        case.mobility.stations = vec![3; cells as usize];
    } else if has(Bicast) {
        case.mobility.stations = (0..cells).collect();
    }
    // Where packets are lost, PDCP must not wait for them without limit.
    let delivery = &mut case.config.bearers[0].pdcp.delivery;
    if (has(Unacknowledged) || has(Bicast)) && *delivery == Delivery::InOrder(None) {
        *delivery = Delivery::InOrder(Some(Span::from_millis(100)));
    }
    case
}

/// Adds a feature to a case.
fn add_feature(feature: Feature, mut case: Case, random: &mut Stream, is_nr: bool) -> Case {
    let mobility = &mut case.mobility;
    match feature {
        Lte | Links | Unacknowledged => {}
        Conditional => return conditional(random, case),
        Daps => mobility.change = CellChange::Daps,
        Ltm => return switched(random, case),
        WithoutAccess => {
            mobility.rach_less = Some(RachLess {
                timing: TargetTiming::Zero,
                grant: FirstGrant::Preallocated(Span::from_millis(4)),
            });
        }
        Gaps => {
            mobility.gaps = Some(MeasurementGaps {
                period: Span::from_millis(40),
                length: Span::from_millis(6),
                offset: None,
            });
            for cell in case.config.cells.iter_mut().skip(1).step_by(2) {
                cell.carrier.0 += 400e6;
            }
        }
        Beams => {
            mobility.beam_failure = Some(BeamMonitoring {
                most_instances: 3,
                detection_periods: 4,
                dedicated: None,
            });
            for cell in case.config.cells.iter_mut().filter(|_| is_nr) {
                cell.channel.beams = Some(BeamManagement {
                    failure: Some(BeamFailure::default()),
                    ..BeamManagement::default()
                });
            }
        }
        Bicast => {
            let before = BicastStart::Before(Span::from_millis(random.below(50)));
            mobility.data = DataForwarding::Bicast(before);
        }
        Attach => {
            let at = Time::ZERO + Span::from_millis(random.below(1000));
            case.config.ues[0].attaches_at = Some(at);
        }
        Aggregation => add_carriers(random, &mut case),
        Pscell | Duplication | SecondaryNode => add_second_leg(feature, &mut case, random, is_nr),
    }
    case
}

/// Adds an NR cell on another carrier, and a split bearer that may use the cell.
fn add_second_leg(feature: Feature, case: &mut Case, random: &mut Stream, is_nr: bool) {
    let second = case.config.cells.len() as u32;
    let mut small = cell(
        true,
        random.uniform_in(0.0, 100.0),
        random.uniform_in(-30.0, 10.0),
    );
    small.carrier = Hertz(2.6e9);
    case.config.cells.push(small);
    case.mobility.stations.push(second);
    if !case.mobility.secondaries.is_empty() {
        case.mobility.secondaries.push(Vec::new());
    }
    let is_acknowledged = matches!(case.config.bearers[0].rlc.mode, Mode::Am(_));
    split(
        random,
        case,
        (rlc(true, is_acknowledged), LegChoice::Demand),
    );
    let bearer = &mut case.config.bearers[0];
    if let Some(split) = &mut bearer.split {
        split.duplicates = [feature == Duplication; 2];
        split.carriers = CarrierLegs::NONE;
    }
    if feature != SecondaryNode {
        case.config.ues[0].pscell = Some(CellId(second));
        return;
    }
    case.config.ues[0].takes_secondary = true;
    let event = case.mobility.events[0];
    let threshold = -105.0;
    let kind = match is_nr {
        true => EventKind::A4 { threshold },
        false => EventKind::B1 { threshold },
    };
    let leaving = EventKind::A2 {
        threshold: threshold - 3.0,
    };
    case.mobility.secondary_node = Some(SecondaryNodeConfig {
        addition_events: vec![MeasurementEvent { kind, ..event }],
        pscell_events: vec![MeasurementEvent {
            kind: leaving,
            ..event
        }],
        at_handover: SecondaryAtHandover::Keep,
        after_failure: SecondaryAfterFailure::Restore,
        t304: Span::from_millis(300),
    });
}

/// Returns the message with which the radio refuses a case. `None` if it accepts the case.
fn refusal(case: Case) -> Option<String> {
    let mut access = match RadioAccess::new(case.config, 1) {
        Ok(access) => access,
        Err(error) => return Some(error.to_string()),
    };
    let managed = access.manage_mobility(case.mobility, Policy::default());
    managed.err().map(|error| error.to_string())
}

#[test]
fn each_pair_of_features_is_allowed_or_refused_with_its_reason() {
    for pair in pairs() {
        let mut random = Stream::new(1, "handover.pairs", 0);
        let message = refusal(case_of(pair, &mut random));
        match (expected(pair), message) {
            (None, None) => {}
            (Some(part), Some(message)) if message.contains(part) => {}
            (expected, message) => panic!("{pair:?}: {message:?}, not {expected:?}"),
        }
    }
}

#[test]
fn no_allowed_pair_of_features_loses_a_packet_without_a_cause() {
    let mut successes = 0;
    // A case runs each pair once, which takes about 5 s.
    Cases::new(20).first(1).run(|seed| {
        for pair in pairs().filter(|&pair| expected(pair).is_none()) {
            let mut random = Stream::new(seed, "handover.pairs", 0);
            let case = case_of(pair, &mut random);
            let outcomes = run(case, seed, Span::from_millis(5), Span::from_secs(5));
            books_close_in((&outcomes, false), seed);
            let arrived = outcomes.arrivals.len();
            assert!(arrived > 100, "{pair:?}, seed {seed}: {arrived} arrived");
            let rows = outcomes.rows.handovers.iter();
            successes += rows
                .filter(|row| row.outcome == HandoverOutcome::Success)
                .count();
            let has = |feature| pair.contains(&feature);
            let keeps_all = !has(Unacknowledged) && !has(Bicast) && !has(Attach);
            let keeps_all = keeps_all && count(&outcomes, RrcEvent::Released) == 0;
            let unknown = outcomes.rows.drops.iter().find(|row| {
                use RadioDropCause::{BufferFull, NoBlock};
                keeps_all || matches!(row.cause, NoBlock | BufferFull)
            });
            assert_eq!(unknown, None, "{pair:?}, seed {seed}");
        }
    });
    assert!(successes > 50, "{successes} changes of cell");
}
