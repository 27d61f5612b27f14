//! Tests of the execution conditions, and of the effects at their times.

use super::*;
use crate::config::{CellChange, ConditionalConfig, EventKind, MobilityConfig, Scope};

fn at_ms(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

const A3: EventKind = EventKind::A3 { offset: 3.0 };
const A4: EventKind = EventKind::A4 { threshold: -90.0 };
const A5: EventKind = EventKind::A5 {
    serving: -95.0,
    neighbour: -90.0,
};

/// Cells that the UE measures. Its serving cell is the first.
const MEASURED: [CellId; 3] = [CellId(10), CellId(11), CellId(12)];

fn config(recovers: bool) -> MobilityConfig {
    MobilityConfig {
        change: CellChange::Conditional(ConditionalConfig {
            conditions: Vec::new(),
            most_candidates: 2,
            hold: Span::MAX,
            recovers,
            forwards_early: false,
            commanding: Vec::new(),
        }),
        ..MobilityConfig::bare()
    }
}

fn recovers_in(conditions: &mut Conditions, cell: u32, recovers: bool) -> bool {
    let config = config(recovers);
    let seen = Seen {
        measured: &MEASURED,
        ..Seen::connected(&config, Time::ZERO)
    };
    conditions.recovers_in(CellId(cell), &seen)
}

fn condition(kind: EventKind, time_to_trigger: u64) -> MeasurementEvent {
    MeasurementEvent {
        kind,
        hysteresis_db: 0.0,
        time_to_trigger: Span::from_millis(time_to_trigger),
        filter: 0,
        report_interval: Span::from_millis(240),
        report_amount: None,
        scope: Scope::Any,
    }
}

/// Returns the time in ms and the target of the departure. `samples` contains the levels of the
/// serving cell and its neighbours.
fn executed(
    events: &[MeasurementEvent],
    candidates: &[usize],
    samples: &[(u64, &[f64])],
) -> Option<(u64, usize)> {
    let cells = samples[0].1.len();
    let mut conditions = Conditions::new(events, Span::from_millis(10), cells);
    conditions.set_candidates(at_ms(0), candidates.iter().copied());
    for (number, &(ms, levels)) in samples.iter().enumerate() {
        let levels: Vec<Level> = levels.iter().map(|&level| level.into()).collect();
        conditions.on_samples(at_ms(ms), 0, &levels);
        let next = samples.get(number + 1).map_or(100_000, |next| next.0);
        if conditions.wake_at() < at_ms(next) {
            let now = conditions.wake_at();
            let position = conditions.take_departure(now)?;
            return Some((now.as_nanos() / 1_000_000, position));
        }
    }
    None
}

/// Test vector cho_two_conditions of handover_vectors.csv.
#[test]
fn of_two_conditions_the_later_one_decides() {
    let both = [condition(A3, 100), condition(A5, 40)];
    let samples: [(u64, &[f64]); 4] = [
        (0, &[-90.0, -99.0]),
        (100, &[-94.0, -85.0]),
        (150, &[-99.0, -85.0]),
        (190, &[-99.0, -85.0]),
    ];
    assert_eq!(executed(&both, &[1], &samples), Some((200, 1)));
    assert_eq!(executed(&both[1..], &[1], &samples), Some((190, 1)));
    assert_eq!(executed(&both[..1], &[1], &samples), Some((200, 1)));
}

#[test]
fn a_sample_that_does_not_enter_ends_the_time_to_trigger() {
    let event = [condition(A4, 100)];
    let samples: [(u64, &[f64]); 4] = [
        (0, &[-80.0, -85.0]),
        (40, &[-80.0, -90.0]),
        (80, &[-80.0, -85.0]),
        (180, &[-80.0, -91.0]),
    ];
    // The time to trigger ends at 180 ms. The sample at 180 ms is handled first and ends the
    // entering condition, so the UE stays.
    assert_eq!(executed(&event, &[1], &samples), None);
    assert_eq!(executed(&event, &[1], &samples[..3]), Some((180, 1)));
}

#[test]
fn a_fulfilled_condition_is_left_after_its_time_to_trigger() {
    let both = [condition(A4, 100), condition(A5, 0)];
    let left_for = |ms: u64| {
        let last = 200 + ms;
        let samples: [(u64, &[f64]); 4] = [
            (0, &[-80.0, -85.0]),
            (110, &[-80.0, -85.0]),
            (200, &[-80.0, -91.0]),
            // A5 is fulfilled at `last`. A4 is still fulfilled then if its leaving condition
            // has held for less than 100 ms.
            (last, &[-99.0, -89.0]),
        ];
        executed(&both, &[1], &samples)
    };
    assert_eq!(left_for(60), Some((260, 1)));
    // After 101 ms A4 is no longer fulfilled, so its time to trigger starts anew. The UE
    // departs at 401 ms.
    assert_eq!(left_for(101), Some((401, 1)));
}

#[test]
fn of_several_the_strongest_is_gone_to_and_only_candidates_are() {
    let event = [condition(A3, 0)];
    let samples: [(u64, &[f64]); 1] = [(5, &[-90.0, -80.0, -75.0, -75.0, -70.0])];
    assert_eq!(executed(&event, &[1, 2, 3], &samples), Some((5, 2)));
    assert_eq!(executed(&event, &[1], &samples), Some((5, 1)));
    assert_eq!(executed(&event, &[0], &samples), None, "the serving cell");
    assert_eq!(executed(&event, &[], &samples), None);
}

#[test]
fn candidates_are_in_use_when_the_message_is_processed_and_end_with_the_cell() {
    let event = [condition(A3, 40)];
    let mut conditions = Conditions::new(&event, Span::from_millis(10), 3);
    let levels = [-90.0, -80.0, -70.0].map(Level::from);
    let mut named = Candidates::NONE;
    named.add(CellId(7));
    conditions.received = Some((at_ms(20), named));
    assert_eq!(conditions.wake_at(), at_ms(20));
    assert_eq!(conditions.take_received(at_ms(19)), None);
    assert_eq!(conditions.take_received(at_ms(20)), Some(named));
    conditions.set_candidates(at_ms(20), [1].into_iter());
    conditions.on_samples(at_ms(30), 0, &levels);
    // The time to trigger of the first candidate continues when another candidate is added, so
    // the departure stays at 70 ms.
    conditions.set_candidates(at_ms(40), [1, 2].into_iter());
    conditions.on_samples(at_ms(40), 0, &levels);
    assert_eq!(conditions.wake_at(), at_ms(70));
    assert_eq!(conditions.take_departure(at_ms(70)), Some(1));
    assert!(recovers_in(&mut conditions, 12, true), "a failure may");
    assert!(!recovers_in(&mut conditions, 11, true), "once");
    conditions.clear();
    assert!(conditions.is_idle() && conditions.wake_at().is_never());
    assert!(!recovers_in(&mut conditions, 11, true));
}

#[test]
fn a_departure_is_news_when_it_is_expected_and_when_it_is_not_any_more() {
    let event = [condition(A3, 100)];
    let mut conditions = Conditions::new(&event, Span::from_millis(40), 2);
    conditions.set_candidates(at_ms(0), [1].into_iter());
    let change = |conditions: &mut Conditions, ms, levels: [f64; 2]| {
        conditions.on_samples(at_ms(ms), 0, &levels.map(Level::from));
        conditions.take_changed_departure()
    };
    assert_eq!(change(&mut conditions, 0, [-80.0, -80.0]), None);
    assert_eq!(
        change(&mut conditions, 40, [-90.0, -80.0]),
        Some(at_ms(140))
    );
    assert_eq!(change(&mut conditions, 80, [-90.0, -80.0]), None, "no news");
    assert_eq!(
        change(&mut conditions, 120, [-80.0, -80.0]),
        Some(Time::NEVER)
    );
    assert_eq!(
        change(&mut conditions, 160, [-90.0, -80.0]),
        Some(at_ms(260))
    );
    // The UE has departed. Clearing the candidates does not count as a change of the expected
    // departure.
    conditions.clear();
    assert_eq!(conditions.take_changed_departure(), None);
}

#[test]
fn levels_of_candidates_must_be_known() {
    let filtered = MeasurementEvent {
        filter: 4,
        ..condition(A3, 0)
    };
    let mut conditions = Conditions::new(&[filtered], Span::from_millis(200), 3);
    let bound = Level {
        low: -120.0,
        high: -110.0,
    };
    let levels = [Level::from(-90.0), bound, bound];
    assert!(
        !conditions.needs_exact_level((0, &levels), 1),
        "no candidates"
    );
    conditions.on_samples(at_ms(0), 0, &levels);
    conditions.set_candidates(at_ms(0), [1].into_iter());
    let open = |conditions: &Conditions, levels: &[Level]| {
        [0, 1, 2].map(|position| conditions.needs_exact_level((0, levels), position))
    };
    assert_eq!(open(&conditions, &levels), [false, true, false]);
    // An exact sample alone does not suffice, because the filtered value before the sample is
    // not exact.
    let known = [-90.0, -115.0, -115.0].map(Level::from);
    assert!(conditions.needs_exact_level((0, &known), 1));
    conditions.replay(1, (&[(Span::from_millis(200), -112.0)], Before::Nothing));
    assert!(!conditions.needs_exact_level((0, &known), 1));
    conditions.set_period(Span::from_millis(400));
    conditions.on_samples(at_ms(400), 0, &known);
    // The filter weight is 1/2 for 200 ms. After 400 ms a quarter of the 3 dB step from -112 to
    // -115 dBm remains, so the value is -114.25 dBm.
    assert!((conditions.conditions[0].cells[1].0.low + 114.25).abs() < 1e-9);
}

/// Returns the effects of the due steps of a UE that measures cells 10, 11 and 12.
fn due(conditions: &mut Conditions, ms: u64) -> Vec<Effect> {
    let (config, mut effects) = (config(true), Effects::new());
    let seen = Seen {
        measured: &MEASURED,
        ..Seen::connected(&config, at_ms(ms))
    };
    conditions.on_due(&seen, &mut effects);
    effects.into()
}

/// Returns the state of a UE that has received cell 12 as its candidate, at 0 ms.
fn received() -> Conditions {
    let event = condition(EventKind::A3 { offset: 3.0 }, 40);
    let mut conditions = Conditions::new(&[event], Span::from_millis(40), 3);
    let mut all = Candidates::NONE;
    all.add(CellId(12));
    let (config, mut effects) = (config(true), Effects::new());
    let seen = Seen::connected(&config, Time::ZERO);
    conditions.on_candidates(all, &seen, &mut effects);
    assert_eq!(
        effects,
        [Effect::Report(ReportEffect::RecordEvent(
            None,
            RrcEvent::CandidatesReceived
        ))]
    );
    conditions
}

#[test]
fn a_ue_confirms_candidates_when_it_uses_them() {
    let mut conditions = received();
    assert!(due(&mut conditions, 9).is_empty() && conditions.is_idle());
    let ready = Effect::SendMessage(Direction::Uplink, Message::CandidatesReady);
    assert_eq!(due(&mut conditions, 10), [ready]);
    assert_eq!(conditions.candidates(), [2]);
    assert!(due(&mut conditions, 11).is_empty());
}

#[test]
fn a_departure_is_predicted_and_then_executed() {
    let mut conditions = received();
    due(&mut conditions, 10);
    let levels = [-90.0, -60.0, -80.0].map(Level::from);
    conditions.on_samples(at_ms(40), 0, &levels);
    let config = config(true);
    let access = &config.access;
    let lasts = config.procedure.interruption + access.occasion_period;
    let predicted = LinkInfo::BlockagePredicted {
        starts_at: at_ms(80),
        lasts: lasts + access.response_delay,
    };
    assert_eq!(
        due(&mut conditions, 40),
        [Effect::Report(ReportEffect::Notify(predicted))]
    );
    assert!(due(&mut conditions, 79).is_empty());
    let target = CellId(12);
    let left = [
        Effect::Report(ReportEffect::RecordEvent(
            Some(target),
            RrcEvent::ConditionsMet,
        )),
        Effect::Report(ReportEffect::BeginCandidateRow(target)),
        Effect::Ue(UeEffect::StopDownlink(Fate::Kept)),
        Effect::Ue(UeEffect::Detach(Some(target))),
        Effect::Ue(UeEffect::Bearers(BearerStep::LeaveForCandidate(target))),
        Effect::Ue(UeEffect::StartEntry(EntryStart {
            cell: target,
            procedure: Procedure::Conditional,
            ready_at: at_ms(80) + config.procedure.interruption,
            until: at_ms(80) + config.procedure.t304,
            method: EntryMethod::Random,
        })),
    ];
    assert_eq!(due(&mut conditions, 80), left);
}

#[test]
fn a_departure_that_is_off_is_announced() {
    let mut conditions = received();
    due(&mut conditions, 10);
    for (ms, level) in [(40, -80.0), (80, -95.0)] {
        let levels = [-90.0, -60.0, level].map(Level::from);
        conditions.on_samples(at_ms(ms - 1), 0, &levels);
        let effects = due(&mut conditions, ms - 1);
        assert_eq!(effects.len(), 1, "at {ms} ms: {effects:?}");
    }
    conditions.on_samples(at_ms(119), 0, &[-90.0, -60.0, -95.0].map(Level::from));
    assert!(due(&mut conditions, 119).is_empty());
}

#[test]
fn a_ue_without_a_connection_leaves_for_no_candidate() {
    let mut conditions = received();
    due(&mut conditions, 10);
    let levels = [-90.0, -60.0, -80.0].map(Level::from);
    conditions.on_samples(at_ms(40), 0, &levels);
    let (config, mut effects) = (config(true), Effects::new());
    let seen = Seen {
        is_connected: false,
        measured: &MEASURED,
        ..Seen::connected(&config, at_ms(80))
    };
    conditions.on_due(&seen, &mut effects);
    assert!(effects.is_empty());
}

#[test]
fn a_ue_recovers_only_in_a_candidate_and_only_if_the_network_allows_it() {
    let mut conditions = received();
    due(&mut conditions, 10);
    assert!(!recovers_in(&mut conditions, 12, false));
    assert!(!recovers_in(&mut conditions, 11, true), "no candidate");
    assert!(!recovers_in(&mut conditions, 99, true), "not measured");
    assert!(recovers_in(&mut conditions, 12, true));
}

#[test]
fn candidates_take_longer_to_process_in_lte() {
    let config = config(true);
    for (generation, ms) in [(Generation::Lte, 15), (Generation::Nr, 10)] {
        let mut conditions = Conditions::new(&[], Span::from_millis(40), 3);
        let seen = Seen {
            generation: Some(generation),
            ..Seen::connected(&config, at_ms(100))
        };
        conditions.on_candidates(Candidates::NONE, &seen, &mut Effects::new());
        assert_eq!(conditions.wake_at(), at_ms(100 + ms));
    }
}
