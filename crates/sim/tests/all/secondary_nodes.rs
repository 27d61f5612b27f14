//! Tests of secondary nodes that are added and released with TCP, from the scenario file to result
//! rows.

use crate::common::rows::Rows;
use crate::common::{parse, run_with};
use fadeout_core::{
    CellId, HandoverOutcome, HandoverRow, Procedure, RadioDropCause, SecondaryCause,
    SecondaryChange, SecondaryChangeRow,
};
use fadeout_scenario::{Override, Source};
use fadeout_sim::catalog;

const EN_DC: &str = include_str!("../../../../scenarios/en-dc.toml");

#[test]
fn past_a_building_a_node_goes_and_comes_back_and_nothing_is_lost() {
    let mut rates = Vec::new();
    for split in [true, false] {
        let without = ["mobility-management.secondary-node.events.0.threshold=\"0 dBm\""];
        let overrides = if split { &[][..] } else { &without };
        let scenario = parse(EN_DC, ".".into(), overrides);
        let (rows, delivered) = run_with(&scenario, Rows::default());
        rates.push(delivered);
        assert!(rows.drops.is_empty(), "{:?}", rows.drops.first());
        if !split {
            assert!(rows.changes.is_empty(), "nobody is measured that well");
            continue;
        }
        let well = rows.changes.iter();
        let well = well.filter(|row| row.outcome == HandoverOutcome::Success);
        let kinds: Vec<SecondaryChange> = well.map(|row| row.kind).collect();
        assert!(
            kinds.starts_with(&[
                SecondaryChange::Addition,
                SecondaryChange::Release,
                SecondaryChange::Addition
            ]),
            "{:?}",
            rows.changes
        );
        let added = &rows.changes[0];
        // Preparation takes a request and its answer over X2 of 2 ms, and 10 ms of admission. The
        // UE then needs 35 ms, and waits for an occasion, which comes every 10 ms.
        let prepared = added.commanded_s - added.requested_s;
        assert!((0.014..0.016).contains(&prepared), "{prepared} s");
        let entered = added.entered_s - added.commanded_s;
        assert!((0.040..0.090).contains(&entered), "{entered} s");
    }
    assert!(rates[0] > rates[1] * 2, "{rates:?}: it is worth something");
}

#[test]
fn what_does_not_go_with_nodes_that_come_and_go_is_refused() {
    let source = Source {
        name: "en-dc".to_owned(),
        base_dir: ".".into(),
    };
    let other = "secondary nodes with another procedure than \"plain\"";
    for (key, expected) in [
        ("procedure=\"ltm\"", other),
        ("procedure=\"conditional\"", other),
        ("procedure=\"daps\"", other),
        (
            "rach-less=\"zero\"",
            "one of `rach-less` and `secondary-node`",
        ),
        (
            "secondary-node.events.0.command=true",
            "`command` in an event about a secondary node",
        ),
    ] {
        let key = Override::new(format!("mobility-management.{key}"));
        let parsed = fadeout_scenario::parse(EN_DC, &source, &[key], catalog());
        let error = parsed.map_or_else(|error| error.to_string(), |_| String::new());
        let error = error.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(error.contains(expected), "{expected}: {error}");
    }
}

/// Returns the number of link failures in the master's cell.
fn failures(rows: &Rows) -> usize {
    let is_failure = |row: &&HandoverRow| row.procedure == Procedure::Reestablishment;
    rows.handovers.iter().filter(is_failure).count()
}

/// Returns the example `handover` with a small NR cell along the road. All sites have links to it.
fn road_scenario(node: &str) -> String {
    let text = include_str!("../../../../scenarios/handover.toml");
    let small = format!(
        "[link.x2-small]\nfrom = \"middle\"\nto = \"small\"\nrate = \"1 Gbit/s\"\ndelay = \"5 ms\"\n\
         queue = {{ limit = \"5000 packets\" }}\nreverse = {{ rate = \"1 Gbit/s\" }}\n\
         [link.s1-small]\nfrom = \"core\"\nto = \"small\"\nrate = \"1 Gbit/s\"\ndelay = \"5 ms\"\n\n\
         [cell.small]\nposition = [\"250 m\", \"30 m\"]\nheight = \"10 m\"\nradio = \"nr\"\ntx-power = \"37 dBm\"\n\
         carrier = \"3.5 GHz\"\nbandwidth = \"20 MHz\"\nchannel = {{ path-loss = \"umi\" }}\n\n\
         [mobility-management.secondary-node]\n{node}\nevents = [{{ kind = \"b1\", threshold = \"-100 dBm\" }}, {{ kind = \"a2\", threshold = \"-104 dBm\" }}]\n\n\
         [ue.phone]\ncell = \"west\"\nsplit = {{ ul-data-split-threshold = \"6400 B\" }}\n\
         pdcp = {{ name = \"standard\", t-reordering = \"3 s\" }}\n"
    );
    text.replace("[ue.phone]\n", &small)
}

#[test]
fn a_handover_keeps_the_node_or_releases_it_as_the_key_says() {
    let example = include_str!("../../../../scenarios/handover.toml");
    // Handovers to the second cell, back, and there again are over by then.
    let duration = "duration=\"24 s\"";
    let example = parse(example, ".".into(), &[duration]);
    let (without, _) = run_with(&example, Rows::default());
    for (key, kept) in [("keep", true), ("strongest", true), ("release", false)] {
        let text = road_scenario(&format!("at-handover = \"{key}\""));
        let links = ["x2-west", "x2-west.reverse", "x2-east", "x2-east.reverse"];
        let overrides =
            links.map(|link| format!("link.{link}.queue={{ limit = \"5000 packets\" }}"));
        let overrides = overrides.iter().map(String::as_str);
        let overrides: Vec<&str> = overrides.chain([duration]).collect();
        let scenario = parse(&text, ".".into(), &overrides);
        let (rows, _) = run_with(&scenario, Rows::default());
        // The links of the macro cells are the same in both runs, so a secondary node causes no
        // further failures.
        let (with, without) = (failures(&rows), failures(&without));
        assert!(with <= without, "{key}: {with} for {without}");
        let first = rows.handovers.iter();
        let mut first = first.filter(|row| row.outcome == HandoverOutcome::Success);
        let first = first.next().expect("it hands over");
        let of_handover = rows.changes.iter();
        let mut of_handover = of_handover.filter(|row| row.cause == SecondaryCause::Handover);
        let change = of_handover.next().expect("the node is there");
        let expected = match kept {
            true => SecondaryChange::Modification,
            false => SecondaryChange::Release,
        };
        assert_eq!(
            (change.kind, change.outcome),
            (expected, HandoverOutcome::Success),
            "{key}"
        );
        assert!((change.left_s - first.left_s).abs() < 1e-9, "{key}");
        if kept {
            // The UE enters the master's cell first, and then the cell of the secondary node.
            assert!(change.entered_s > first.entered_s, "{key}");
            assert!(change.gap_s < 0.2, "{key}: {}", change.gap_s);
        }
        let lost = rows.handovers.iter().map(|row| row.lost_packets);
        assert_eq!(lost.sum::<u32>(), 0, "{key}: {:?}", rows.drops.first());
        // The sender fills the buffer, as it does without a handover. Data that neither leg had
        // delivered is sent again once the target is informed of the UE's arrival. This takes up to
        // 0.5 s, and 0.3 s without a secondary node. The default t-Reordering is shorter.
        let drops = rows.drops.iter();
        let lost: Vec<_> = drops
            .filter(|row| row.cause != RadioDropCause::BufferFull)
            .collect();
        assert!(lost.is_empty(), "{key}: {} {:?}", lost.len(), lost.first());
    }
}

/// Returns the changes of the secondary node in the example without its building and its event for
/// the release. Another small cell is next to the first, whose beam is blocked from 4 s on.
fn cut(duration: &str, after_failure: &str) -> Vec<SecondaryChangeRow> {
    let rates = "rate = \"10 Gbit/s\", queue = { limit = \"50 ms\" }";
    let corner = format!(
        "[cell.corner]\nposition = [\"30 m\", \"30 m\"]\nheight = \"10 m\"\nradio = \"nr\"\ntx-power = \"20 dBm\"\n\
         carrier = \"3.5 GHz\"\nbandwidth = \"20 MHz\"\nchannel = {{ path-loss = \"umi\" }}\n\n\
         [link]\nx2-corner = {{ from = \"macro\", to = \"corner\", delay = \"2 ms\", {rates}, reverse = {{ {rates} }} }}\n"
    );
    let scenario = parse(
        &format!("{EN_DC}\n{corner}"),
        ".".into(),
        &[
            "duration=\"8 s\"",
            "building.shop.height=\"1 m\"",
            // With clusters the link would continue without its direct path.
            "cell.small.channel.fading=\"rician\"",
            &format!(
                "cell.small.channel.blockage={{ model = \"periodic\", period = \"30 s\", phase = \"fixed\", \
                 first = \"4 s\", duration = \"{duration}\", loss = 80 }}"
            ),
            // Data on the leg is delayed for longer than T310. TCP would take it for lost with a
            // shorter t-Reordering.
            "ue.phone.pdcp={ name = \"standard\", t-reordering = \"3 s\" }",
            &format!("mobility-management.secondary-node.after-failure=\"{after_failure}\""),
            "mobility-management.secondary-node.events=[\
             { kind = \"b1\", threshold = \"-90 dBm\", time-to-trigger = \"100 ms\" }]",
        ],
    );
    let (rows, _) = run_with(&scenario, Rows::default());
    let what = format!("{after_failure} after {duration}");
    assert!(rows.drops.is_empty(), "{what}: {:?}", rows.drops.first());
    let mut changes = rows.changes.into_iter();
    let added = changes.next().expect("the node is added");
    assert_eq!(added.kind, SecondaryChange::Addition, "{what}");
    changes.collect()
}

#[test]
fn a_leg_that_fails_is_released_or_restored_or_changed_as_the_key_says() {
    use HandoverOutcome::{Failed, Success};
    use SecondaryChange::{Addition, Change, Modification, Release};
    let [small, corner] = [CellId(1), CellId(2)];
    for (duration, after_failure, expected) in [
        // The node is added again once the filtered measurement has risen from its value during the
        // blockage.
        (
            "1300 ms",
            "release",
            &[(Release, small, Success), (Addition, small, Success)][..],
        ),
        ("1300 ms", "restore", &[(Modification, small, Success)]),
        ("1300 ms", "strongest", &[(Change, corner, Success)]),
        // The blockage is longer than T304 of one second, so the restoration fails.
        (
            "3 s",
            "restore",
            &[(Modification, small, Failed), (Release, small, Success)],
        ),
    ] {
        let changes = cut(duration, after_failure);
        let found: Vec<_> = changes
            .iter()
            .map(|row| (row.kind, row.target, row.outcome))
            .collect();
        assert_eq!(found, expected, "{after_failure} after {duration}");
        let first = &changes[0];
        assert_eq!(first.cause, SecondaryCause::Failure);
        // The master learns of the failure after T310 of one second, up to 40 ms until a
        // measurement, and the report over its leg.
        let known = first.triggered_s - 4.0;
        assert!((1.0..1.08).contains(&known), "known after {known} s");
        if let (Modification, _, Success) = found[0] {
            // Preambles are received again after the blockage, and an occasion comes every 10 ms.
            assert!((5.3..5.34).contains(&first.entered_s), "{first:?}");
        }
        if let (Modification, _, Failed) = found[0] {
            let expired = first.time_s.as_secs_f64() - first.left_s;
            assert!((0.999..1.001).contains(&expired), "{first:?}");
        }
    }
}
