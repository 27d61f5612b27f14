//! Tests of conditional handover with TCP, from the scenario file to result rows.

use crate::common::rows::Rows;
use crate::common::{parse, run_with};
use fadeout_core::{
    HandoverOutcome, HandoverRow, Procedure, RadioDropCause, RadioDropRow, RrcEvent,
};

/// Cells are prepared as candidates when they are 6 dB worse than the serving cell. The UE changes
/// to a candidate that is 3 dB better than the serving cell.
const CONDITIONAL: [&str; 2] = [
    "mobility-management.procedure=\"conditional\"",
    "mobility-management.events=[{ kind = \"a3\", offset = \"-6 dB\" }]",
];
const BETTER: &str = "mobility-management.conditions=[{ kind = \"a3\" }]";

/// Beginning of the example, in which the UE changes to the second cell, back, and there again.
const SHORT: &str = "duration=\"24 s\"";

/// Runs the beginning of the example `handover` with these overrides.
fn run(overrides: &[&str]) -> (Rows, u64) {
    let overrides: Vec<&str> = std::iter::once(SHORT)
        .chain(overrides.iter().copied())
        .collect();
    run_to_the_end(&overrides)
}

/// Runs the example `handover` with these overrides.
fn run_to_the_end(overrides: &[&str]) -> (Rows, u64) {
    let text = include_str!("../../../../scenarios/handover.toml");
    let overrides: Vec<&str> = CONDITIONAL.iter().chain(overrides).copied().collect();
    run_with(&parse(text, ".".into(), &overrides), Rows::default())
}

/// The times are those of a plain handover without a command. The UE needs 35 ms, and waits up to
/// 10 ms for an occasion. The source is informed 5 ms after the last message, and the first
/// forwarded packet arrives 5 ms later.
#[test]
fn the_ue_goes_on_its_own_and_the_source_forwards_when_it_hears_of_it() {
    let (rows, delivered) = run(&[BETTER, "mobility-management.signalling=\"given\""]);
    let gone = rows.handovers.iter();
    let gone: Vec<&HandoverRow> = gone
        .filter(|row| row.outcome == HandoverOutcome::Success)
        .filter(|row| row.procedure == Procedure::Conditional)
        .collect();
    assert!(gone.len() >= 2, "to the second cell and back");
    for row in gone {
        let prepared_s = row.commanded_s - row.triggered_s;
        assert!((prepared_s - 0.020).abs() < 1e-9, "{row:?}");
        assert!(row.left_s > row.commanded_s + 0.1, "{row:?}");
        let outside_s = row.entered_s - row.left_s;
        assert!(
            (0.038 - 1e-9..=0.048 + 1e-9).contains(&outside_s),
            "{row:?}"
        );
        // The message to the source takes 5 ms, and the first forwarded packet takes 5 ms to the
        // target.
        let least_s = row.completed_s - row.left_s + 0.010;
        assert!(
            (least_s..least_s + 0.02).contains(&row.downlink_gap_s),
            "{least_s}: {row:?}"
        );
        assert_eq!(row.lost_packets, 0);
        assert!(row.forwarded_numbered > 0 && row.forwarded_fresh > 0);
    }
    assert_eq!(rows.count(RrcEvent::CommandSent), 0);
    assert!(delivered > 100_000, "{delivered}");
    let is_known = |row: &RadioDropRow| row.cause == RadioDropCause::BufferFull;
    assert!(rows.drops.iter().all(is_known));
}

#[test]
fn over_links_the_same_steps_are_messages() {
    // All waiting packets are forwarded at once, which may exceed the default queue.
    let links = ["x2-west", "x2-west.reverse", "x2-east", "x2-east.reverse"];
    let rooms = links.map(|link| format!("link.{link}.queue={{ limit = \"5000 packets\" }}"));
    let overrides = std::iter::once(BETTER).chain(rooms.iter().map(String::as_str));
    let (rows, delivered) = run(&overrides.collect::<Vec<_>>());
    let successes = rows.count(RrcEvent::HandoverSuccess);
    assert!(successes >= 2, "{successes}");
    assert_eq!(rows.count(RrcEvent::ConditionsMet), successes);
    assert!(rows.handovers.iter().all(|row| row.lost_packets == 0));
    assert!(delivered > 100_000, "{delivered}");
}

/// A candidate whose timeout has passed is cancelled, and the next report prepares it again. The UE
/// is informed of the cancellation and of the new preparation.
#[test]
fn a_candidate_holds_room_for_its_time_alone() {
    let (rows, _) = run(&[BETTER, "mobility-management.candidate-timeout=\"300 ms\""]);
    let cancelled = rows.count(RrcEvent::CandidateCancelled);
    assert!(cancelled > 3, "{cancelled}");
    let sent = rows.count(RrcEvent::CandidatesSent);
    assert!(sent >= cancelled, "{sent} and {cancelled}");
}

/// The link fails because no condition is ever met. The UE selects a candidate cell and enters it
/// with the interruption of a handover. Without `conditional-recovery` it re-establishes its
/// connection.
#[test]
fn after_a_failure_the_ue_enters_a_candidate_that_it_selects() {
    let late = [
        "mobility-management.conditions=[{ kind = \"a4\", threshold = \"-20 dBm\" }]",
        "mobility-management.t310=\"50 ms\"",
        "mobility-management.q-out=\"-3 dB\"",
        "mobility-management.q-in=\"-2 dB\"",
    ];
    let well = |rows: &Rows, procedure| {
        let rows = rows.handovers.iter();
        let well = rows.filter(|row| row.outcome == HandoverOutcome::Success);
        well.filter(|row| row.procedure == procedure).count()
    };
    let (rows, _) = run_to_the_end(&late);
    let recovered = well(&rows, Procedure::Recovery);
    assert!(recovered > 0, "{:?}", rows.handovers);
    let without = [
        &late[..],
        &["mobility-management.conditional-recovery=false"],
    ]
    .concat();
    let (rows, _) = run_to_the_end(&without);
    assert_eq!(well(&rows, Procedure::Recovery), 0);
    assert!(well(&rows, Procedure::Reestablishment) > 0);
}

/// With copies at the target, the first packet arrives with the UE's last message. Without copies
/// it arrives one round trip between the base stations later.
#[test]
fn copies_that_are_there_spare_the_way_to_the_source_and_back() {
    let given = "mobility-management.signalling=\"given\"";
    let far = "mobility-management.station-delay=\"30 ms\"";
    let early = "mobility-management.early-forwarding=true";
    let gone = |rows: &Rows| -> Vec<HandoverRow> {
        let rows = rows.handovers.iter().copied();
        rows.filter(|row| row.outcome == HandoverOutcome::Success)
            .filter(|row| row.procedure == Procedure::Conditional)
            .collect()
    };
    let (late, _) = run(&[BETTER, given, far]);
    for row in gone(&late) {
        assert!(
            row.downlink_gap_s > row.completed_s - row.left_s + 0.060,
            "{row:?}"
        );
        assert_eq!((row.early_copies, row.useless_copies), (0, 0));
    }
    let (rows, delivered) = run(&[BETTER, given, far, early]);
    assert!(gone(&rows).len() >= 2);
    for row in gone(&rows) {
        assert!(
            row.downlink_gap_s < row.completed_s - row.left_s + 0.030,
            "{row:?}"
        );
        assert!(
            row.useless_copies > 0 && row.early_copies > row.useless_copies,
            "{row:?}"
        );
        assert_eq!(row.lost_packets, 0);
    }
    assert!(delivered > 100_000, "{delivered}");
    // With messages over links, each copy is a packet that a link may drop. The counts of the other
    // copies must be consistent.
    let (rows, _) = run(&[BETTER, early]);
    assert!(
        gone(&rows)
            .iter()
            .all(|row| row.early_copies > row.useless_copies)
    );
}

#[test]
fn a_command_ends_what_was_prepared() {
    let never = "mobility-management.conditions=[{ kind = \"a4\", threshold = \"-20 dBm\" }]";
    let commands = "mobility-management.events=[{ kind = \"a3\", offset = \"-6 dB\" }, { kind = \"a3\", command = true }]";
    let (rows, delivered) = run(&[never, commands]);
    let commanded = rows.handovers.iter();
    let commanded = commanded.filter(|row| row.procedure == Procedure::Handover);
    let well = commanded.filter(|row| row.outcome == HandoverOutcome::Success);
    assert!(well.count() >= 2, "{:?}", rows.handovers);
    assert_eq!(rows.count(RrcEvent::ConditionsMet), 0);
    assert!(rows.count(RrcEvent::CandidateCancelled) >= 2);
    assert!(delivered > 100_000, "{delivered}");
    // With both procedures at once, the earlier one is executed.
    let (rows, delivered) = run(&[BETTER, commands]);
    assert!(delivered > 100_000, "{delivered}");
    let well = rows.handovers.iter();
    let well = well.filter(|row| row.outcome == HandoverOutcome::Success);
    assert!(well.count() >= 2, "{:?}", rows.handovers);
}

/// The core may switch the path before the source is informed of the UE's arrival, at the same
/// instant, or later.
#[test]
fn without_forwarding_the_source_drops_what_it_has_whichever_hears_first_of_the_ue() {
    let none = "mobility-management.data=\"none\"";
    let given = "mobility-management.signalling=\"given\"";
    let far = |ms| format!("mobility-management.core-delay=\"{ms} ms\"");
    let far = [1, 20].map(far);
    let mut variants: Vec<Vec<&str>> = far.iter().map(|far| vec![given, far]).collect();
    variants.push(vec![]);
    variants.push(vec![
        "link.s1-middle.delay=\"1 ms\"",
        "link.s1-east.delay=\"1 ms\"",
    ]);
    for variant in variants {
        let overrides: Vec<&str> = [BETTER, none].into_iter().chain(variant.clone()).collect();
        let (rows, _) = run(&overrides);
        let gone = rows.handovers.iter();
        let gone = gone.filter(|row| row.procedure == Procedure::Conditional);
        let whole = gone.filter(|row| row.outcome == HandoverOutcome::Success);
        let whole: Vec<&HandoverRow> = whole.collect();
        assert!(whole.len() >= 2, "{variant:?}: {:?}", rows.handovers);
        for row in whole {
            assert_eq!(
                row.forwarded_numbered + row.forwarded_fresh,
                0,
                "{variant:?}: {row:?}"
            );
            assert!(row.lost_packets > 0, "{variant:?}: {row:?}");
        }
        let lost: u32 = rows.handovers.iter().map(|row| row.lost_packets).sum();
        let dropped = rows.drops.iter();
        let dropped = dropped.filter(|row| row.cause == RadioDropCause::Handover);
        assert!(dropped.count() as u32 >= lost, "{variant:?}: {lost}");
    }
}
