//! Tests of DAPS handovers, in which the source continues to serve the UE, from the scenario file
//! to result rows.

use crate::common::rows::Rows;
use crate::common::{parse, run_with, unobserved};
use fadeout_core::{CellId, Direction, HandoverOutcome, Procedure, RrcEvent};
use fadeout_sim::BuildError;

/// Runs the example `daps` with these overrides.
fn run(overrides: &[&str]) -> Rows {
    let text = include_str!("../../../../scenarios/daps.toml");
    run_with(&parse(text, ".".into(), overrides), Rows::with_blocks()).0
}

#[test]
fn a_stream_goes_on_while_the_phone_enters_the_target() {
    let plain = run(&["mobility-management.procedure=\"plain\""]);
    let gap_s = plain.only().downlink_gap_s;
    assert!((0.040..0.080).contains(&gap_s), "{gap_s} s");
    let rows = run(&[]);
    let row = rows.only();
    assert_eq!(row.procedure, Procedure::Daps);
    assert!(row.downlink_gap_s < 0.010, "{row:?}");
    assert!(rows.drops.is_empty() && row.lost_packets == 0);
    // The source is informed one link delay after the last message. Its answer arrives one link
    // delay later.
    let time_of = |event| {
        let mut steps = rows.steps.iter();
        let found = steps.find(|step| step.event == event);
        found.map(|step| step.time_s).expect("it happens")
    };
    let success = time_of(RrcEvent::HandoverSuccess);
    let complete = time_of(RrcEvent::CompleteReceived);
    let release = time_of(RrcEvent::SourceReleased);
    // A message of 100 bytes takes 0.8 us at 1 Gbit/s, and the delay of the link is 5 ms.
    assert_eq!(success.since(complete).as_nanos(), 5_000_800);
    let delay_ns = release.since(success).as_nanos();
    assert!((5_000_800..20_000_000).contains(&delay_ns), "{delay_ns} ns");
    // Both cells send while both serve the UE.
    let cells = [CellId(0), CellId(1)].map(|cell| {
        let blocks = rows.blocks.iter();
        let blocks = blocks.filter(|block| block.direction == Direction::Downlink);
        let during = blocks.filter(|block| block.time_s >= complete && block.time_s < release);
        during.filter(|block| block.cell == cell).count()
    });
    assert!(cells.iter().all(|&blocks| blocks > 0), "{cells:?}");
    // The source forwards all packets between the command and the message about the UE's arrival.
    // The flow sends 10 Mbit/s in packets of 1200 bytes.
    let expected =
        (success.since(time_of(RrcEvent::CommandSent)).as_secs_f64() * 1e7 / 9_600.0) as u32;
    let copies = row.forwarded_numbered;
    assert!(
        (expected..expected + 40).contains(&copies),
        "{copies} and {expected}"
    );
}

#[test]
fn a_target_that_is_not_reached_in_time_leaves_the_phone_where_it_is() {
    let rows = run(&["mobility-management.t304=\"20 ms\""]);
    let failed = rows.handovers.iter();
    let failed = failed.filter(|row| row.outcome == HandoverOutcome::Failed);
    assert!(failed.count() > 3);
    let count = |event| rows.steps.iter().filter(|step| step.event == event).count();
    let back = count(RrcEvent::SourceResumed);
    assert!(back > 3 && back <= count(RrcEvent::AccessFailure));
}

#[test]
fn an_rlc_mode_that_daps_does_not_allow_is_an_error_of_its_ue() {
    let text = include_str!("../../../../scenarios/daps.toml");
    let scenario = parse(text, ".".into(), &["ue.phone.rlc={ mode = \"tm\" }"]);
    match unobserved(&scenario) {
        Err(BuildError::Ue { ue, reason }) => {
            assert_eq!(ue, "phone");
            assert!(reason.contains("RLC in transparent mode"), "{reason}");
        }
        other => panic!("{:?} is no error of a UE", other.err()),
    }
}
