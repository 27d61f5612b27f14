//! Tests of L1/L2-triggered mobility: reports, commands and preambles, and their effects.

use super::*;
use crate::config::{CellChange, ConditionalConfig, MobilityConfig};
use fadeout_core::Decibel;

fn at_ms(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

const A: CellId = CellId(1);
const B: CellId = CellId(2);

fn config(early: EarlySync) -> LtmConfig {
    LtmConfig {
        offset: Decibel(3.0),
        reports: 3,
        early,
        ..LtmConfig::default()
    }
}

const NOTHING: [Effect; 0] = [];

/// Effects of a command that the UE did not receive in time.
const LOST: [Effect; 3] = [
    Effect::CancelCommand,
    Effect::Report(ReportEffect::Notify(LinkInfo::BlockageEnded)),
    Effect::Report(ReportEffect::FailRow(HandoverOutcome::Cancelled)),
];

fn row(cell: CellId, event: RrcEvent) -> Effect {
    Effect::Report(ReportEffect::RecordEvent(Some(cell), event))
}

fn mobility(early: EarlySync) -> MobilityConfig {
    let candidates = ConditionalConfig {
        conditions: Vec::new(),
        most_candidates: 2,
        hold: Span::MAX,
        recovers: true,
        forwards_early: false,
        commanding: Vec::new(),
    };
    MobilityConfig {
        stations: vec![7; 3],
        change: CellChange::Ltm(candidates, config(early)),
        ..MobilityConfig::bare()
    }
}

/// Returns true if the UE leaves its cell at `ms`, with the effects of this instant.
fn due(ltm: &mut Ltm, ms: u64) -> (bool, Vec<Effect>) {
    due_with(ltm, ms, false)
}

/// Returns the same as [`due`], for a UE that may lack candidates.
fn due_with(ltm: &mut Ltm, ms: u64, lacks_candidates: bool) -> (bool, Vec<Effect>) {
    let (config, mut effects) = (mobility(EarlySync::Both), Effects::new());
    let seen = Seen {
        lacks_candidates,
        ..Seen::connected(&config, at_ms(ms))
    };
    let leaves = ltm.on_due(&seen, &mut effects);
    (leaves, effects.into())
}

/// Returns the effects of a UE that leaves for [`A`] at `ms`.
fn switch(ms: u64, method: EntryMethod) -> Vec<Effect> {
    let config = mobility(EarlySync::Both);
    let interruption = config.ltm().expect("LTM").interruption();
    vec![
        Effect::Ue(UeEffect::StopDownlink(config.fate_between(CellId(0), A))),
        Effect::Ue(UeEffect::Detach(Some(A))),
        Effect::Ue(UeEffect::StartEntry(EntryStart {
            cell: A,
            procedure: Procedure::Ltm,
            ready_at: at_ms(ms) + interruption,
            until: at_ms(ms) + config.procedure.t304,
            method,
        })),
    ]
}

/// Returns the effects of a report of these candidates by a UE whose cell has -90 dBm.
fn report(
    ltm: &mut Ltm,
    ms: u64,
    candidates: &[(CellId, f64)],
    is_pdcch_heard: bool,
) -> Vec<Effect> {
    let (config, mut effects) = (mobility(EarlySync::Both), Effects::new());
    let report = LevelReport {
        serving_dbm: -90.0,
        candidates,
        is_pdcch_heard,
    };
    let seen = Seen::connected(&config, at_ms(ms));
    ltm.on_level_report(&report, &seen, &mut effects);
    effects.into()
}

#[test]
fn the_network_commands_after_so_many_reports_in_a_row() {
    let config = config(EarlySync::None);
    let mut ltm = Ltm::new();
    let decide =
        |ltm: &mut Ltm, ms, levels: &[(CellId, f64)]| ltm.decide(at_ms(ms), -90.0, levels, &config);
    assert_eq!(
        decide(&mut ltm, 0, &[(A, -86.9), (B, -80.0)]),
        Decision::Stay
    );
    assert_eq!(
        decide(&mut ltm, 20, &[(A, -86.9), (B, -80.0)]),
        Decision::Stay
    );
    // In the third report B reaches the offset exactly but does not exceed it, so the count of
    // B starts anew. The UE is switched to A.
    let third = decide(&mut ltm, 40, &[(A, -86.9), (B, -87.0)]);
    assert_eq!(third, Decision::Switch(A));
    assert!(ltm.is_switching());
    assert_eq!(ltm.wake_at(false), at_ms(100));
    for ms in [60, 80, 99] {
        assert_eq!(
            decide(&mut ltm, ms, &[(A, -80.0)]),
            Decision::Stay,
            "one at a time"
        );
    }
    assert_eq!(due(&mut ltm, 99), (false, vec![]));
    assert_eq!(due(&mut ltm, 100), (false, LOST.to_vec()));
    assert_eq!(
        decide(&mut ltm, 100, &[(A, -80.0)]),
        Decision::Switch(A),
        "again"
    );
}

#[test]
fn of_several_the_strongest_is_commanded_and_a_cell_that_is_no_candidate_counts_anew() {
    let config = config(EarlySync::None);
    let mut ltm = Ltm::new();
    let both = [(A, -80.0), (B, -79.0)];
    for ms in [0, 20] {
        assert_eq!(ltm.decide(at_ms(ms), -90.0, &both, &config), Decision::Stay);
    }
    // B is missing in the third report, so the count of B starts anew. The UE is switched to A.
    let only = ltm.decide(at_ms(40), -90.0, &both[..1], &config);
    assert_eq!(only, Decision::Switch(A));
    ltm.on_left();
    assert!(!ltm.is_switching() && ltm.wake_at(false).is_never());
    for ms in [60, 80] {
        assert_eq!(ltm.decide(at_ms(ms), -90.0, &both, &config), Decision::Stay);
    }
    let strongest = ltm.decide(at_ms(100), -90.0, &both, &config);
    assert_eq!(strongest, Decision::Switch(B));
}

#[test]
fn the_ue_leaves_three_milliseconds_behind_its_feedback() {
    let (mut ltm, mut effects) = (Ltm::new(), Effects::new());
    ltm.on_command(A, at_ms(54), &mut effects);
    assert_eq!(effects, [row(A, RrcEvent::CommandReceived)]);
    assert_eq!(ltm.wake_at(false), at_ms(57));
    assert_eq!(due(&mut ltm, 56), (false, vec![]));
    assert_eq!(due(&mut ltm, 57), (true, switch(57, EntryMethod::Random)));
    assert_eq!(due(&mut ltm, 58), (false, vec![]));
}

#[test]
fn a_command_that_the_ue_has_received_does_not_expire() {
    let mut ltm = Ltm::new();
    let strong = [(A, -80.0)];
    (0..3).for_each(|n| drop(report(&mut ltm, 20 * n, &strong, true)));
    ltm.on_command(A, at_ms(98), &mut Effects::new());
    assert_eq!(due(&mut ltm, 100), (false, vec![]));
    assert!(ltm.is_switching());
    assert_eq!(due(&mut ltm, 101), (true, switch(101, EntryMethod::Random)));
}

#[test]
fn a_ue_that_lost_its_cell_obeys_no_command() {
    let mut ltm = Ltm::new();
    ltm.on_command(A, at_ms(54), &mut Effects::new());
    ltm.on_left();
    assert_eq!(due(&mut ltm, 57), (false, vec![]));
}

#[test]
fn a_command_begins_a_row_and_predicts_the_interruption() {
    let mut ltm = Ltm::new();
    let strong = [(A, -80.0)];
    assert_eq!(report(&mut ltm, 0, &strong, false), NOTHING);
    assert_eq!(report(&mut ltm, 20, &strong, false), NOTHING);
    let config = mobility(EarlySync::Both);
    let access = &config.access;
    let interruption = config.ltm().expect("LTM").interruption();
    let row_begins = NewRow {
        commanded_at: Some(at_ms(40)),
        ..NewRow::triggered(Procedure::Ltm, [CellId(0), A], at_ms(40))
    };
    let expected = [
        Effect::Report(ReportEffect::BeginRow(row_begins)),
        row(A, RrcEvent::CommandSent),
        Effect::Report(ReportEffect::Notify(LinkInfo::BlockagePredicted {
            starts_at: at_ms(40),
            lasts: interruption + access.occasion_period + access.response_delay,
        })),
        Effect::SendMessage(Direction::Downlink, Message::Switch(A)),
    ];
    assert_eq!(report(&mut ltm, 40, &strong, false), expected);
    assert_eq!(
        report(&mut ltm, 60, &strong, false),
        NOTHING,
        "one at a time"
    );
}

#[test]
fn a_preamble_is_ordered_only_if_pdcch_is_heard() {
    let near = [(A, -92.0)];
    let ordered = [Effect::Ue(UeEffect::OrderPreamble(A, at_ms(4)))];
    assert_eq!(report(&mut Ltm::new(), 0, &near, true), ordered);
    assert_eq!(report(&mut Ltm::new(), 0, &near, false), NOTHING);
}

#[test]
fn a_ue_without_a_cell_gets_no_command() {
    let (config, mut ltm) = (mobility(EarlySync::Both), Ltm::new());
    let seen = Seen {
        serving: None,
        ..Seen::connected(&config, at_ms(0))
    };
    let report = LevelReport {
        serving_dbm: -90.0,
        candidates: &[(A, -92.0)],
        is_pdcch_heard: true,
    };
    let mut effects = Effects::new();
    ltm.on_level_report(&report, &seen, &mut effects);
    assert!(effects.is_empty());
}

#[test]
fn the_ue_says_once_that_it_lacks_candidates() {
    let mut ltm = Ltm::new();
    assert!(!ltm.take_lacks_candidates());
    ltm.on_command(A, at_ms(54), &mut Effects::new());
    due_with(&mut ltm, 57, true);
    assert!(ltm.take_lacks_candidates() && !ltm.take_lacks_candidates());
}

#[test]
fn a_timing_advance_is_ordered_when_a_candidate_comes_near_and_holds_for_its_time() {
    let config = config(EarlySync::Both);
    let mut ltm = Ltm::new();
    let far = ltm.decide(at_ms(0), -90.0, &[(A, -93.0)], &config);
    assert_eq!(far, Decision::Stay, "exactly 6 dB below");
    let near = ltm.decide(at_ms(20), -90.0, &[(A, -92.0)], &config);
    assert_eq!(near, Decision::Order(A, at_ms(24)));
    ltm.record_order(A, at_ms(30));
    assert_eq!(ltm.wake_at(false), at_ms(30));
    let again = ltm.decide(at_ms(28), -90.0, &[(A, -92.0)], &config);
    assert_eq!(again, Decision::Stay, "one is under way");
    assert_eq!(ltm.take_due_preamble(at_ms(30)), Some(A));
    ltm.on_preamble(at_ms(30), A, Span::from_nanos(700));
    let known = |ltm: &Ltm, ms| ltm.timing(A, at_ms(ms)).map(|it| it.round_trip.as_nanos());
    assert_eq!(known(&ltm, 31), Some(700));
    assert_eq!(known(&ltm, 1309), Some(700));
    assert_eq!(known(&ltm, 1310), None);
    let late = ltm.decide(at_ms(1310), -90.0, &[(A, -92.0)], &config);
    assert_eq!(late, Decision::Order(A, at_ms(1314)));
}

#[test]
fn reports_follow_each_other_by_the_period_while_there_are_candidates() {
    let mut ltm = Ltm::new();
    let period = Span::from_millis(20);
    assert!(ltm.wake_at(false).is_never());
    // The first candidates exist at 43 ms, so the first report is due at 60 ms.
    assert!(!ltm.is_report_due(at_ms(43), period));
    assert_eq!(ltm.wake_at(true), at_ms(60));
    assert!(!ltm.is_report_due(at_ms(59), period) && ltm.is_report_due(at_ms(60), period));
    assert_eq!(ltm.wake_at(true), at_ms(80));
}

#[test]
fn with_a_timing_advance_the_ue_needs_no_random_access() {
    let mut ltm = Ltm::new();
    let round_trip = Span::from_nanos(700);
    ltm.on_preamble(at_ms(30), A, round_trip);
    ltm.on_command(A, at_ms(54), &mut Effects::new());
    let timed = EntryMethod::Timed(round_trip);
    assert_eq!(due(&mut ltm, 57), (true, switch(57, timed)));
}
