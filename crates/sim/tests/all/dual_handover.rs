//! Tests of a UE with two legs that changes its master's cell with TCP, from the scenario file to
//! result rows.

use crate::common::rows::Rows;
use crate::common::{parse, run_with};
use fadeout_core::{CellId, HandoverOutcome, RrcEvent, Time};

/// Returns the example `handover` with a small NR cell next to its first site.
fn with_small_cell() -> String {
    let text = include_str!("../../../../scenarios/handover.toml");
    let small = "[cell.small]\nnode = \"west\"\nposition = [\"100 m\", \"0 m\"]\nheight = \"10 m\"\nradio = \"nr\"\n\
                 carrier = \"3.5 GHz\"\nbandwidth = \"20 MHz\"\nchannel = { path-loss = \"umi\" }\n\n[ue.phone]\n\
                 cell = \"west\"\npscell = \"small\"\nsplit = { ul-data-split-threshold = \"6400 B\" }\n";
    text.replace("[ue.phone]\n", small)
}

#[test]
fn the_secondary_leg_goes_with_the_masters_first_change_and_nothing_is_lost() {
    let text = with_small_cell();
    for signalling in ["links", "given"] {
        // All waiting packets are forwarded at once, which may exceed the default queue.
        let links = ["x2-west", "x2-west.reverse", "x2-east", "x2-east.reverse"];
        let mut overrides = links
            .map(|link| format!("link.{link}.queue={{ limit = \"5000 packets\" }}"))
            .to_vec();
        // The beginning, in which the UE changes to the second cell, back, and there again.
        overrides.push("duration=\"24 s\"".to_owned());
        overrides.push(format!("mobility-management.signalling=\"{signalling}\""));
        let overrides: Vec<&str> = overrides.iter().map(String::as_str).collect();
        let scenario = parse(&text, ".".into(), &overrides);
        let (rows, delivered) = run_with(&scenario, Rows::with_blocks());
        let well = rows.handovers.iter();
        let well: Vec<_> = well
            .filter(|row| row.outcome == HandoverOutcome::Success)
            .collect();
        assert!(well.len() >= 2, "{signalling}: {well:?}");
        let lost: Vec<_> = well.iter().map(|row| row.lost_packets).collect();
        assert!(
            lost.iter().all(|&lost| lost == 0),
            "{signalling}: {lost:?} {:?}",
            rows.drops.first()
        );
        let released = rows.steps.iter();
        let mut released = released.filter(|row| row.event == RrcEvent::SecondaryReleased);
        let first = released.next().expect("it goes");
        assert!(released.next().is_none(), "it does not come back");
        assert!((first.time_s.since(Time::ZERO).as_secs_f64() - well[0].left_s).abs() < 1e-9);
        // The small cell is the last one of the scenario.
        let mut of_small = rows.blocks.iter().filter(|row| row.cell == CellId(3));
        let last = of_small.next_back().expect("it sends something");
        let after = last.time_s.as_secs_f64();
        assert!(after > 0.0 && after < well[0].left_s + 0.05, "{after} s");
        assert!(delivered > 100_000, "{signalling}: {delivered}");
    }
}
