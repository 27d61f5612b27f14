//! Tests of handover with TCP, from the scenario file to result rows.

use crate::common::build;
use crate::common::rows::Rows;
use crate::common::{parse, run_with};
use fadeout_core::{
    DropCause, HandoverOutcome, HandoverRow, Procedure, RadioDropCause, RadioDropRow,
};
use fadeout_record::Destination;
use fadeout_scenario::{Override, Scenario, Source};
use fadeout_sim::{Control, Simulation};

/// Returns the example `handover` with these overrides.
fn example(overrides: &[&str]) -> Scenario {
    let text = include_str!("../../../../scenarios/handover.toml");
    parse(text, ".".into(), overrides)
}

/// Beginning of the example, in which the UE changes to the second cell, back, and there again.
const SHORT: &str = "duration=\"24 s\"";

/// Runs the beginning of the example `handover` with these overrides.
fn run(overrides: &[&str]) -> (Rows, u64) {
    let overrides: Vec<&str> = std::iter::once(SHORT)
        .chain(overrides.iter().copied())
        .collect();
    run_with(&example(&overrides), Rows::default())
}

const GIVEN: &str = "mobility-management.signalling=\"given\"";

/// From the report to the command the steps take 5, 10 and 5 ms. The UE needs 35 ms and waits up to
/// 10 ms for an occasion. The core switches the path 5 ms after the last message.
#[test]
fn a_handover_takes_the_times_of_its_steps() {
    takes_its_times(&[GIVEN], [0.020, 0.005], 0.0);
}

/// Link X2 has a rate of 1 Gbit/s, so the messages of 600 and 300 bytes take 7.2 us more. Link S1
/// has no rate limit towards the core.
#[test]
fn over_links_it_takes_those_of_the_links() {
    takes_its_times(&[], [0.020_007_2, 0.005], 0.0);
    // Each message through the core takes two links, where it may wait for a packet of a download.
    let s1 = "mobility-management.preparation=\"s1\"";
    takes_its_times(&[s1], [0.030_007_2, 0.005], 1e-4);
}

/// Link X2 has a rate of 100 kbit/s, so a message of 600 bytes takes 48 ms and one of 300 bytes 24
/// ms.
#[test]
fn a_slow_x2_delays_the_command() {
    let slow = ["rate", "reverse.rate"].map(|key| format!("link.x2-west.{key}=\"100 kbit/s\""));
    let (rows, _) = run(&[&slow[0], &slow[1]]);
    let row = rows.handovers.first().expect("a handover");
    let asked = row.commanded_s - row.triggered_s;
    assert!((asked - 0.092).abs() < 1e-9, "{asked}");
}

#[test]
fn what_a_full_x2_drops_is_lost_to_tcp_alone() {
    let small =
        ["west", "east"].map(|side| format!("link.x2-{side}.queue={{ limit = \"5 packets\" }}"));
    let (rows, delivered) = run(&[&small[0], &small[1], "link.x2-west.rate=\"1 Mbit/s\""]);
    let dropped = rows.link_drops.len();
    assert!(dropped > 10, "{dropped}");
    let is_known = |row: &RadioDropRow| {
        use RadioDropCause::{BufferFull, Handover, Reordering};
        matches!(row.cause, BufferFull | Handover | Reordering)
    };
    assert!(rows.drops.iter().all(is_known));
    assert!(delivered > 50_000, "{delivered}");
    // Each drop belongs to the handover in progress, and its count includes the drops of the radio.
    let of_radio = |row: &RadioDropRow| row.cause == RadioDropCause::Handover;
    for row in &rows.handovers {
        let under_way = row.triggered_s..=row.time_s.as_secs_f64();
        let links = rows.link_drops.iter();
        let links = links.filter(|drop| under_way.contains(&drop.time_s.as_secs_f64()));
        let radio = rows.drops.iter().filter(|drop| of_radio(drop));
        let radio = radio.filter(|drop| under_way.contains(&drop.time_s.as_secs_f64()));
        assert_eq!(
            row.lost_packets as usize,
            links.count() + radio.count(),
            "{row:?}"
        );
    }
    let lost: u32 = rows.handovers.iter().map(|row| row.lost_packets).sum();
    assert!(lost as usize >= dropped, "{lost} and {dropped}");
}

#[test]
fn the_example_loses_nothing_that_it_forwards_and_a_queue_that_does_is_told() {
    let advice = |overrides: &[&str]| {
        let simulation = Simulation::new(example(overrides), Destination::Nowhere);
        let results = simulation.expect("it is right").run(|_| Control::Continue);
        results.expect("it runs").remarks
    };
    assert_eq!(advice(&[SHORT]), Vec::<String>::new());
    let (rows, _) = run(&[]);
    assert!(
        rows.handovers
            .iter()
            .any(|row| row.forwarded_numbered > 1000),
        "more than the usual queue"
    );
    assert!(
        rows.link_drops
            .iter()
            .all(|row| row.cause != DropCause::QueueFull)
    );
    let small = "link.x2-west.queue={ limit = \"5 packets\" }";
    let [remark] = &advice(&[SHORT, small])[..] else {
        panic!("one remark");
    };
    assert!(
        remark.starts_with("mobility-management: ")
            && remark.contains(" forwarded packets were lost ")
            && remark.contains("The queue of link \"x2-west\" was full"),
        "{remark}"
    );
}

#[test]
fn a_handover_over_links_that_are_not_there_is_refused_with_the_reason() {
    let refused = |overrides: &[&str]| {
        let scenario = example(overrides);
        let built = build(&scenario, Rows::default()).map(|_| ());
        built.expect_err("links are missing").to_string()
    };
    let ends = [
        "link.x2-west.to=\"elsewhere\"",
        "link.x2-east.to=\"elsewhere-too\"",
    ];
    let error = refused(&ends);
    assert!(
        error.contains("base stations are only connected by way of") && error.contains("\"s1\""),
        "{error}"
    );
    let error = refused(&[
        "mobility-management.core=\"elsewhere\"",
        "link.x2-west.to=\"elsewhere\"",
        "link.x2-west.from=\"nowhere\"",
    ]);
    assert!(error.contains("`core = \"elsewhere\"`"), "{error}");
}

/// True if the UE changed its cell by a command that arrived with at most one HARQ retransmission,
/// which takes 8 ms. A retransmission by RLC leaves more packets waiting than the X2 queue of 1,000
/// packets can take.
fn is_whole(row: &&HandoverRow) -> bool {
    row.procedure == Procedure::Handover
        && row.outcome == HandoverOutcome::Success
        && row.left_s - row.commanded_s < 0.015
}

fn takes_its_times(overrides: &[&str], [asked_s, switched_s]: [f64; 2], slack_s: f64) {
    let (rows, delivered) = run(overrides);
    let rows_of: Vec<&HandoverRow> = rows.handovers.iter().filter(is_whole).collect();
    assert!(rows_of.len() >= 2, "to the second cell and back");
    for row in rows_of {
        let near = |span: f64, least: f64, most: f64| {
            assert!(
                least - 1e-9 <= span && span <= most + 1e-9,
                "{span}: {row:?}"
            );
        };
        near(
            row.commanded_s - row.triggered_s,
            asked_s,
            asked_s + slack_s,
        );
        near(row.entered_s - row.left_s, 0.038, 0.048);
        near(
            row.switched_s - row.completed_s,
            switched_s,
            switched_s + slack_s,
        );
        // No packet passes until the last message of the UE arrives, which RLC may have to
        // retransmit. The next packet then arrives within the time of a grant.
        let outside_s = row.completed_s - row.left_s;
        near(row.downlink_gap_s, outside_s, outside_s + 0.02);
        assert_eq!(row.lost_packets, 0);
        assert!(row.forwarded_numbered > 0 && row.forwarded_fresh > 0);
    }
    assert!(delivered > 100_000, "{delivered}");
    assert!(
        rows.drops
            .iter()
            .all(|row| row.cause == RadioDropCause::BufferFull)
    );
}

#[test]
fn without_forwarding_what_the_source_has_is_lost() {
    let (rows, _) = run(&["mobility-management.data=\"none\""]);
    let lost: u32 = rows.handovers.iter().map(|row| row.lost_packets).sum();
    let dropped = rows.drops.iter();
    let dropped = dropped
        .filter(|row| row.cause == RadioDropCause::Handover)
        .count();
    assert!(lost > 100, "{lost}");
    assert!(dropped as u32 >= lost, "{dropped} and {lost}");
}

#[test]
fn what_cannot_be_moved_is_refused_with_the_reason() {
    let scenario = example(&["flow.download.link-info={ link = \"internet\" }"]);
    let error = build(&scenario, Rows::default())
        .map(|_| ())
        .expect_err("a link");
    assert!(error.to_string().contains("`link-info`"), "{error}");
}

#[test]
fn what_is_hardly_meant_is_said() {
    let advice_with = |overrides: &[&str]| fadeout_sim::advice(&example(overrides));
    assert_eq!(advice_with(&[]), Vec::<String>::new());
    let one = |overrides: &[&str], part: &str| {
        let sentences = advice_with(overrides);
        assert!(
            matches!(&sentences[..], [what] if what.contains(part)),
            "{sentences:?}"
        );
    };
    one(
        &["mobility-management.events=[{ kind = \"a3\", time-to-trigger = \"150 ms\" }]"],
        "the nearest is 160 ms",
    );
    one(
        &["mobility-management.events=[{ kind = \"a4\", threshold = \"-31 dBm\" }]"],
        "event a4 is never entered",
    );
    one(
        &["mobility-management.q-in=\"-9 dB\""],
        "`q-in` of -9 dB is below `q-out` of -8 dB",
    );
    one(
        &[
            "ue.phone.downlink-sinr=\"20 dB\"",
            "ue.phone.uplink-sinr=\"20 dB\"",
            "ue.phone.cell=\"west\"",
        ],
        "UE \"phone\" with a given SINR: there is no level to measure",
    );
    one(
        &["cell.east.radio=\"nr\"", "cell.east.carrier=\"3.5 GHz\""],
        "NR has one cell",
    );
}

const BICASTING: &str = "mobility-management.data=\"bicasting\"";

/// The core is informed 5 ms after the target's answer. The command is sent 10 ms after the answer.
#[test]
fn with_bicasting_the_target_has_what_the_source_drops() {
    let before = "mobility-management.bicast-before=\"10 ms\"";
    let (rows, delivered) = run(&[GIVEN, BICASTING, before]);
    let whole: Vec<&HandoverRow> = rows.handovers.iter().filter(is_whole).collect();
    assert!(whole.len() >= 2);
    for row in &whole {
        let since = |at: f64| at - row.triggered_s;
        assert!((since(row.bicast_s) - 0.025).abs() < 1e-9, "{row:?}");
        assert!((since(row.commanded_s) - 0.030).abs() < 1e-9, "{row:?}");
        assert!(row.bicast_packets > 10, "{row:?}");
        assert!(row.doubled_packets < row.bicast_packets, "{row:?}");
        assert_eq!(row.forwarded_numbered + row.forwarded_fresh, 0);
    }
    // Only the first handover is compared. Until then the only difference between the runs is the
    // wait of 10 ms. Later handovers happen with different TCP data in the network.
    let lost = |rows: &Rows| rows.handovers.first().map(|row| row.lost_packets);
    let (dropped, _) = run(&[GIVEN, "mobility-management.data=\"none\""]);
    let (with, without) = (lost(&rows), lost(&dropped));
    assert!(with.is_some() && with < without, "{with:?} {without:?}");
    assert!(delivered > 100_000, "{delivered}");
    // With messages over links, the core is informed by a message, and copies take the links of the
    // new route.
    let (rows, _) = run(&[BICASTING, "mobility-management.bicast-after=\"5 ms\""]);
    let row = rows.handovers.first().expect("a handover");
    let delay_s = row.bicast_s - row.commanded_s;
    assert!((0.005..0.02).contains(&delay_s), "{row:?}");
    assert!(row.bicast_packets > 10, "{row:?}");
}

#[test]
fn a_target_with_a_small_buffer_drops_copies() {
    let small = "mobility-management.target-buffer=\"15 kB\"";
    let (rows, _) = run(&[BICASTING, small]);
    let row = rows.handovers.first().expect("a handover");
    assert!(row.lost_packets > 0, "{row:?}");
    assert!(
        rows.drops
            .iter()
            .any(|row| row.cause == RadioDropCause::BufferFull)
    );
}

#[test]
fn bicasting_needs_an_anchor_on_each_way() {
    let scenario = example(&[
        BICASTING,
        GIVEN,
        "mobility-management.core=\"elsewhere\"",
        "link.x2-west.to=\"elsewhere\"",
    ]);
    let error = build(&scenario, Rows::default())
        .map(|_| ())
        .expect_err("no anchor");
    let error = error.to_string();
    assert!(
        error.contains("does not pass the anchor, `core = \"elsewhere\"`"),
        "{error}"
    );
}

#[test]
fn mistakes_about_bicasting_are_told() {
    let text = include_str!("../../../../scenarios/handover.toml");
    let source = Source {
        name: "handover.toml".to_owned(),
        base_dir: ".".into(),
    };
    let refusal = |overrides: &[&str]| {
        let overrides: Vec<Override> = overrides.iter().map(|&it| Override::new(it)).collect();
        let parsed = fadeout_scenario::parse(text, &source, &overrides, fadeout_sim::catalog());
        parsed.map(|_| ()).expect_err("a mistake").to_string()
    };
    let text = text.replace("core = \"core\"\n", "");
    let parsed = fadeout_scenario::parse(
        &text,
        &source,
        &[Override::new(GIVEN), Override::new(BICASTING)],
        fadeout_sim::catalog(),
    );
    let error = parsed.map(|_| ()).expect_err("no anchor").to_string();
    assert!(
        error.contains("bicasting without a node of the core network"),
        "{error}"
    );
    let [before, after] =
        ["before", "after"].map(|when| format!("mobility-management.bicast-{when}=\"5 ms\""));
    let error = refusal(&[&before]);
    assert!(error.contains("needs bicasting"), "{error}");
    let error = refusal(&[BICASTING, &before, &after]);
    assert!(error.contains("has two start times"), "{error}");
}

/// The eastern cell is an NR cell. TCP continues through a change of the technology.
#[test]
fn a_phone_goes_from_lte_to_nr() {
    let events = "mobility-management.events=[{ kind = \"a3\" }, \
                  { kind = \"b2\", serving-threshold = \"-85 dBm\", threshold = \"-85 dBm\" }]";
    let east = ["cell.east.radio=\"nr\"", "cell.east.carrier=\"3.5 GHz\""];
    let drive = example(&[events, east[0], east[1]]);
    let (rows, delivered) = run_with(&drive, Rows::default());
    let last = rows.handovers.iter().rev().find(|row| {
        row.outcome == HandoverOutcome::Success && row.procedure == Procedure::Handover
    });
    let last = last.expect("a handover");
    assert_eq!(last.target.index(), 2, "{:?}", rows.handovers);
    assert!(
        last.forwarded_numbered + last.forwarded_fresh > 0,
        "{last:?}"
    );
    assert_eq!(last.lost_packets, 0, "{last:?}");
    assert!(delivered > 100_000, "{delivered}");
}

#[test]
fn a_phone_changes_cell_before_its_first_flow() {
    let (rows, _) = run(&["flow.download.start=\"55 s\""]);
    assert!(!rows.handovers.is_empty(), "it passes a border");
}

#[test]
fn ues_of_lte_have_the_gaps_of_lte() {
    let refused = |keys: [&str; 2]| {
        let keys = keys.map(|key| format!("mobility-management.{key}"));
        let scenario = example(&[&keys[0], &keys[1]]);
        let built = build(&scenario, Rows::default()).map(|_| ());
        built.err().map(|error| error.to_string())
    };
    let length = "measurement-gap-length=\"6 ms\"";
    assert_eq!(refused(["measurement-gap-period=\"80 ms\"", length]), None);
    let error = refused(["measurement-gap-period=\"160 ms\"", length]).expect("not in LTE");
    assert!(
        error.contains("`measurement-gap-period = \"160 ms\"`")
            && error.contains("nearest is \"80 ms\""),
        "{error}"
    );
    let short = "measurement-gap-length=\"3 ms\"";
    let error = refused(["measurement-gap-period=\"40 ms\"", short]).expect("not in LTE");
    assert!(error.contains("expected \"6 ms\""), "{error}");
}
