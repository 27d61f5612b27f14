//! Tests of measured handovers to a 3G cell and back.

use crate::common::build;
use crate::common::rows::Rows;
use crate::common::unobserved;
use crate::common::{parse, run_with};
use fadeout_core::math::to_db;
use fadeout_core::{
    HandoverOutcome, HandoverRow, Procedure, RadioDropCause, RadioDropRow, RrcEvent, RrcRow, Time,
};
use fadeout_scenario::Scenario;
use fadeout_sim::summary;

fn example(overrides: &[&str]) -> Scenario {
    let text = include_str!("../../../../scenarios/to-3g.toml");
    parse(text, ".".into(), overrides)
}

fn run(overrides: &[&str]) -> (Rows, u64) {
    run_with(&example(overrides), Rows::with_measurements())
}

fn is_whole(row: &&HandoverRow) -> bool {
    row.procedure == Procedure::Handover && row.outcome == HandoverOutcome::Success
}

/// Returns the handovers to 3G and back, which must alternate.
fn changes(rows: &Rows) -> Vec<&HandoverRow> {
    let whole: Vec<&HandoverRow> = rows.handovers.iter().filter(is_whole).collect();
    for (number, row) in (0..).zip(&whole) {
        assert_eq!((row.source.0, row.target.0), (number % 2, 1 - number % 2));
    }
    whole
}

const NEAR_S: f64 = 1e-9;

/// Messages are sent in blocks of 128 bits, each of 10 ms. A message of 40 bytes takes 30 ms, and a
/// message of 200 bytes takes 130 ms. The UE takes 190 ms to 3G. Back it takes 70 ms, up to 10 ms
/// until an occasion, and 3 ms until the response.
#[test]
fn a_handover_takes_the_times_of_its_steps() {
    let (rows, delivered) = run(&[]);
    let whole = changes(&rows);
    assert!(
        whole.len() >= 2 && whole.len().is_multiple_of(2),
        "{whole:?}"
    );
    for pair in whole.chunks(2) {
        let [there, back] = pair else { continue };
        let near = |one: f64, other: f64| assert!((one - other).abs() < NEAR_S, "{one} {other}");
        near(there.entered_s - there.left_s, 0.190);
        near(there.completed_s - there.entered_s, 0.030);
        assert_eq!(there.preambles, 0);
        let outside = there.completed_s - there.left_s;
        assert!(there.downlink_gap_s >= outside - 0.005, "{there:?}");
        near(back.left_s - back.commanded_s, 0.130);
        let access = back.entered_s - back.left_s;
        assert!(
            (0.073 - NEAR_S..=0.083 + NEAR_S).contains(&access),
            "{back:?}"
        );
        assert_eq!(back.preambles, 1);
        // Messages go through the core: S1 of 2 ms and Iu of 5 ms in each direction, and 10 ms for
        // admission.
        for row in pair {
            let asked = row.commanded_s - row.triggered_s;
            assert!((0.024..0.026).contains(&asked), "{row:?}");
        }
    }
    assert!(delivered > 50_000, "{delivered}");
    let slow = run(&["mobility-management.utra-interruption=\"600 ms\""]).0;
    let first = changes(&slow)[0];
    assert!((first.entered_s - first.left_s - 0.6).abs() < NEAR_S);
}

/// With given times, messages between 3G and LTE also go through the core. Four messages take 5 ms
/// each, and admission takes 10 ms.
#[test]
fn where_times_are_given_the_core_is_on_the_way() {
    let (rows, _) = run(&["mobility-management.signalling=\"given\""]);
    let row = changes(&rows)[0];
    assert!(
        (row.commanded_s - row.triggered_s - 0.030).abs() < NEAR_S,
        "{row:?}"
    );
}

/// RSCP in free space: 43 dBm, 10 dB less on the pilot, less 20 lg(4 pi d f / c).
#[test]
fn the_level_of_a_pilot_is_that_of_its_power_and_path_loss() {
    let free = "cell.umts.channel={ path-loss = \"free-space\" }";
    for (share, over_db) in [("-10 dB", -10.0), ("-13 dB", -13.0)] {
        let radio = format!("cell.umts.radio={{ kind = \"utra\", cpich-ec-ior = \"{share}\" }}");
        let (rows, _) = run(&[
            free,
            &radio,
            "ue.phone.waypoints=[{ position = [\"100 m\", \"0 m\"], speed = \"1 m/s\" }]",
            "duration=\"3 s\"",
        ]);
        let d = (1100.0_f64 * 1100.0 + 50.0 * 50.0 + 23.5 * 23.5).sqrt();
        let loss = 2.0 * to_db(4.0 * std::f64::consts::PI * d * 2.1e9 / 299_792_458.0);
        let rscp = 43.0 + over_db - loss;
        let of_3g: Vec<_> = rows.measured.iter().filter(|row| row.cell.0 == 1).collect();
        assert!(of_3g.len() > 10);
        for row in of_3g {
            assert!((row.rsrp_dbm - rscp).abs() < 0.01, "{rscp} and {row:?}");
        }
    }
}

/// The filter of TS 36.331 5.5.3.2 with k = 4 halves the difference every 200 ms. Events b2 and 3a
/// follow their clauses, and 3a has half the hysteresis.
#[test]
fn reports_come_when_the_conditions_have_held_long_enough() {
    for hysteresis in [0.0, 1.0, 4.0] {
        let event_of = |kind: &str, levels: &str, ms: u32| {
            format!(
                "{{ kind = \"{kind}\", {levels}, time-to-trigger = \"{ms} ms\", hysteresis = \"{hysteresis} dB\", \
                 report-amount = 1 }}"
            )
        };
        let events = format!(
            "mobility-management.events=[{}, {}]",
            event_of(
                "b2",
                "serving-threshold = \"-104 dBm\", threshold-rscp = \"-98 dBm\"",
                320
            ),
            event_of(
                "3a",
                "serving-threshold-rscp = \"-75 dBm\", threshold = \"-102 dBm\"",
                640
            ),
        );
        let (rows, _) = run(&[&events]);
        let times = |event| {
            rows.steps
                .iter()
                .filter(move |row: &&RrcRow| row.event == event)
        };
        let reports: Vec<(f64, bool)> = times(RrcEvent::ReportSent)
            .map(|row| (row.time_s.as_secs_f64(), row.cell.0 == 1))
            .collect();
        assert!(reports.len() >= 2, "{reports:?}");
        let mut expected = Vec::new();
        let mut filtered = [f64::NAN; 2];
        let mut since: Option<f64> = None;
        let mut was_in_3g = false;
        for pair in rows.measured.chunks(2) {
            let [lte, umts] = pair else { continue };
            let at = lte.time_s.as_secs_f64();
            for (known, row) in filtered.iter_mut().zip([lte, umts]) {
                *known = if known.is_nan() {
                    row.rsrp_dbm
                } else {
                    (*known + row.rsrp_dbm) / 2.0
                };
            }
            let is_in_3g = umts.is_serving;
            let wait = if is_in_3g { 0.640 } else { 0.320 };
            if is_in_3g != was_in_3g {
                (since, was_in_3g) = (None, is_in_3g);
            }
            let half = hysteresis / 2.0;
            let holds = match is_in_3g {
                false => filtered[0] + hysteresis < -104.0 && filtered[1] - hysteresis > -98.0,
                true => filtered[1] + half < -75.0 && filtered[0] - half > -102.0,
            };
            // The report is due between two measurements.
            if let Some(from) = since
                && from + wait < at
            {
                expected.push((from + wait, !is_in_3g));
                since = Some(f64::INFINITY);
            }
            since = match (holds, since) {
                (false, _) => None,
                (true, None) => Some(at),
                (true, known) => known,
            };
        }
        assert_eq!(reports.len(), expected.len(), "{reports:?} {expected:?}");
        for (one, other) in reports.iter().zip(&expected) {
            assert!(
                (one.0 - other.0).abs() < 1e-6 && one.1 == other.1,
                "{one:?} {other:?}"
            );
        }
    }
}

/// Number of packets that have not arrived at the end of the run. One is sent every 20 ms.
const UNDER_WAY: std::ops::RangeInclusive<f64> = 0.0..=3.0;

/// Runs a packet stream. Returns the numbers of sent, received and missing packets, and the rows.
fn stream(direction: [&str; 2], overrides: &[&str]) -> ([f64; 3], Rows) {
    let [from, to] = direction;
    let flow = format!(
        "[flow.stream]\nfrom = \"{from}\"\nto = \"{to}\"\nstart = \"1 s\"\n\
         application = {{ kind = \"packet-stream\", size = \"500 B\", rate = \"200 kbit/s\" }}\n"
    );
    let text = include_str!("../../../../scenarios/to-3g.toml");
    let (head, _) = text.split_once("[flow.download]").expect("a flow");
    let roomy = "rab.hspa.downlink.queue.limit=\"10 MB\"";
    let up = "rab.hspa.uplink.queue.limit=\"10 MB\"";
    let all = [&[roomy, up], overrides].concat();
    let scenario = parse(&format!("{head}{flow}"), ".".into(), &all);
    let mut world = build(&scenario, Rows::with_measurements()).expect("a world");
    while world.run(Time::ZERO + scenario.duration, u64::MAX) {}
    let written = summary(&scenario, &world);
    let row = &written["datagram_flows"][0];
    let value_of = |key: &str| {
        row[key]
            .as_f64()
            .unwrap_or_else(|| panic!("{key} of {row}"))
    };
    let counts = ["sent_datagrams", "received_datagrams", "lost_datagrams"].map(value_of);
    (counts, world.into_probe())
}

#[test]
fn with_forwarding_nothing_is_lost_or_doubled() {
    for seed in 1..=6 {
        for direction in [["server", "phone"], ["phone", "server"]] {
            for signalling in ["links", "given"] {
                let seed = format!("seed={seed}");
                let given = format!("mobility-management.signalling=\"{signalling}\"");
                let ([sent, received, lost], rows) = stream(direction, &[&seed, &given]);
                let whole = changes(&rows);
                assert!(whole.len() >= 2, "{seed}: {:?}", rows.handovers);
                let fails = rows.handovers.iter().any(|row| !is_whole(&row));
                if fails {
                    continue;
                }
                assert!(
                    rows.drops.is_empty() && rows.link_drops.is_empty(),
                    "{seed}: {:?}",
                    rows.drops
                );
                assert!(
                    lost == 0.0 && UNDER_WAY.contains(&(sent - received)),
                    "{seed} {direction:?} {signalling}: {sent} {received} {lost}"
                );
            }
        }
    }
}

#[test]
fn without_forwarding_each_packet_that_does_not_arrive_has_a_row() {
    for seed in 1..=6 {
        let seed = format!("seed={seed}");
        let none = "mobility-management.data=\"none\"";
        let ([sent, received, _], rows) = stream(["server", "phone"], &[&seed, none]);
        let lost = rows.drops.len() as f64 + rows.link_drops.len() as f64;
        assert!(
            UNDER_WAY.contains(&(sent - received - lost)),
            "{seed}: {sent} {received} {lost}"
        );
        let of_change = |row: &&RadioDropRow| row.cause == RadioDropCause::Handover;
        let counted: u32 = rows.handovers.iter().map(|row| row.lost_packets).sum();
        let dropped = rows.drops.iter().filter(of_change).count();
        assert!(
            dropped > 0 && counted as usize == dropped,
            "{seed}: {counted} {dropped}"
        );
    }
}

#[test]
fn with_bicasting_what_arrives_twice_is_counted() {
    for seed in 1..=4 {
        let seed = format!("seed={seed}");
        let twice = "mobility-management.data=\"bicasting\"";
        let before = "mobility-management.bicast-before=\"50 ms\"";
        let (_, rows) = stream(["server", "phone"], &[&seed, twice, before]);
        let copies: u32 = rows.handovers.iter().map(|row| row.bicast_packets).sum();
        let doubled: u32 = rows.handovers.iter().map(|row| row.doubled_packets).sum();
        assert!(
            copies > 0 && doubled <= copies,
            "{seed}: {:?}",
            rows.handovers
        );
    }
}

#[test]
fn the_same_seed_gives_the_same_bits() {
    let print = || {
        let scenario = example(&["duration=\"30 s\""]);
        let mut world = unobserved(&scenario).expect("a world");
        while world.run(Time::ZERO + scenario.duration, u64::MAX) {}
        world.fingerprint()
    };
    assert_eq!(print(), print());
}

#[test]
fn an_event_beyond_what_is_reported_is_said() {
    let advice_with = |overrides: &[&str]| fadeout_sim::advice(&example(overrides));
    assert_eq!(advice_with(&[]), Vec::<String>::new());
    for (level, kind, what) in [
        (
            ".0.threshold-rscp=\"-26 dBm\"",
            "b2",
            "RSCP that a UE reports is between -120 and -25 dBm",
        ),
        (
            ".0.serving-threshold=\"-156 dBm\"",
            "b2",
            "RSRP that a UE reports is between -156 and -31 dBm",
        ),
        (
            ".1.serving-threshold-rscp=\"-120 dBm\"",
            "3a",
            "RSCP that a UE reports is between -120 and -25 dBm",
        ),
        (
            ".1.threshold=\"-31 dBm\"",
            "3a",
            "RSRP that a UE reports is between -156 and -31 dBm",
        ),
    ] {
        let found = advice_with(&[&format!("mobility-management.events{level}")]);
        let expected = format!("mobility-management: event {kind} is never entered: {what}");
        assert_eq!(found, [expected], "{level}");
    }
}

#[test]
fn what_does_not_fit_is_refused_with_the_reason() {
    let refused = |overrides: &[&str], parts: &[&str]| {
        let built = build(&example(overrides), Rows::with_measurements()).map(|_| ());
        let error = built.expect_err("it does not fit").to_string();
        for part in parts {
            assert!(error.contains(part), "{part}: {error}");
        }
    };
    refused(
        &["rab.hspa.to=\"other\""],
        &["[rab.NAME]", "`from = \"rnc\"`", "\"phone\""],
    );
    refused(
        &["cell.umts.bandwidth=\"10 MHz\""],
        &["`bandwidth` is 10 MHz", "\"5 MHz\""],
    );
    refused(
        &["cell.umts.carrier=\"2.6 GHz\""],
        &["`carrier`", "\"lte\""],
    );
    refused(
        &["ue.phone.cell=\"umts\""],
        &["`cell` names the 3G cell \"umts\"", "an LTE or NR cell"],
    );
    refused(
        &["mobility-management.events=[{ kind = \"a3\" }]"],
        &["no event leads", "`threshold-rscp`"],
    );
    refused(
        &["cell.umts.radio=\"lte\"", "cell.umts.tx-power=\"43 dBm\""],
        &["is about 3G cells, but there is none", "`radio = \"utra\"`"],
    );
    refused(
        &["cell.umts.node=\"enb\"", "rab.hspa.from=\"enb\""],
        &["cell \"lte\"", "RNC"],
    );
}
