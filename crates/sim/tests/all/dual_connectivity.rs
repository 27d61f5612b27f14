//! Tests of dual connectivity, from the scenario file to the received data.

use crate::common::unobserved;
use fadeout_core::Time;
use fadeout_scenario::{Override, Scenario, Source};
use fadeout_sim::{catalog, summary};
use serde_json::Value;

/// A UE in one cell of each of two base stations, with a link between them.
const NETWORK: &str = "duration = \"4 s\"\nseed = 5\n\
    [link.core]\nfrom = \"server\"\nto = \"master\"\nrate = \"10 Gbit/s\"\ndelay = \"1 ms\"\n\
    queue = { limit = \"10 MB\" }\n\
    [link.core2]\nfrom = \"server\"\nto = \"other\"\nrate = \"10 Gbit/s\"\ndelay = \"1 ms\"\n\
    queue = { limit = \"10 MB\" }\n\
    [link.xn]\nfrom = \"master\"\nto = \"other\"\nrate = \"10 Gbit/s\"\ndelay = \"2 ms\"\n\
    queue = { limit = \"10 MB\" }\n\
    [cell.master]\nradio = \"nr\"\ncarrier = \"3.5 GHz\"\nbandwidth = \"20 MHz\"\n\
    channel = { path-loss = \"uma\" }\n\
    [cell.other]\nradio = \"nr\"\ncarrier = \"3.7 GHz\"\nbandwidth = \"20 MHz\"\n\
    channel = { path-loss = \"uma\" }\n\
    [ue.phone]\ncell = \"master\"\ndownlink-sinr = \"15 dB\"\nuplink-sinr = \"12 dB\"\n";

const SPLIT: &str = "pscell = \"other\"\nsplit = { ul-data-split-threshold = \"0 B\" }\n";
const DOWN: &str = "[flow.user]\nfrom = \"server\"\nto = \"phone\"\n\
                    application = { kind = \"full-buffer\", backlog = \"4 MB\" }\n";
const UP: &str = "[flow.user]\nfrom = \"phone\"\nto = \"server\"\n\
                  application = { kind = \"full-buffer\", backlog = \"4 MB\" }\n";

fn parse(text: &str, overrides: &[&str]) -> Result<Scenario, String> {
    let source = Source {
        name: "test".to_owned(),
        base_dir: ".".into(),
    };
    let overrides: Vec<Override> = overrides.iter().map(|text| Override::new(*text)).collect();
    fadeout_scenario::parse(text, &source, &overrides, catalog()).map_err(|it| it.to_string())
}

fn run(text: &str, overrides: &[&str]) -> Value {
    let scenario = parse(text, overrides).unwrap_or_else(|error| panic!("{error}"));
    let mut world = unobserved(&scenario).expect("a world");
    while world.run(Time::ZERO + scenario.duration, u64::MAX) {}
    summary(&scenario, &world)
}

fn delivered(summary: &Value) -> f64 {
    let bytes = &summary["flows"][0]["delivered_bytes"];
    bytes.as_f64().expect("a number")
}

#[test]
fn a_secondary_node_with_more_than_t_reordering_waits_for_is_pointed_out() {
    let advice = |split: &str, pdcp: &str| {
        let split = format!("pscell = \"other\"\nsplit = {{ {split} }}\n{pdcp}");
        let scenario = parse(&format!("{NETWORK}{split}{DOWN}"), &[]).expect("a scenario");
        let all = fadeout_sim::advice(&scenario);
        let of_split = |sentence: &String| sentence.contains("t-Reordering");
        all.into_iter().filter(of_split).collect::<Vec<_>>()
    };
    let pdcp = "pdcp = { name = \"standard\", t-reordering = \"300 ms\" }\n";
    assert_eq!(advice("buffer-time = \"100 ms\"", ""), Vec::<String>::new());
    let sentences = advice("buffer-time = \"200 ms\"", "");
    assert_eq!(sentences.len(), 1, "{sentences:?}");
    assert!(
        sentences[0].starts_with("UE \"phone\": `split.buffer-time` lets data for 200 ms"),
        "{sentences:?}"
    );
    assert_eq!(
        advice("buffer-time = \"200 ms\"", pdcp),
        Vec::<String>::new()
    );
    // At 100 Mbit/s of the leg, 100 kB last for 8 ms. 10 MB last for most of a second: a warning.
    assert_eq!(
        advice("desired-buffer = \"100 kB\"", ""),
        Vec::<String>::new()
    );
    assert_eq!(advice("desired-buffer = \"10 MB\"", "").len(), 1);
    // With a copy on each leg, the receiver never waits for the slower leg.
    let doubled = "desired-buffer = \"10 MB\", duplication = \"downlink\"";
    assert_eq!(advice(doubled, ""), Vec::<String>::new());
}

#[test]
fn two_legs_carry_the_sum_of_their_rates() {
    for flow in [DOWN, UP] {
        for generation in ["nr", "lte"] {
            let radio = format!("cell.master.radio=\"{generation}\"");
            let alone = |cell: &str| {
                let cell = format!("ue.phone.cell=\"{cell}\"");
                delivered(&run(&format!("{NETWORK}{flow}"), &[&radio, &cell]))
            };
            let sum = alone("master") + alone("other");
            let both = delivered(&run(&format!("{NETWORK}{SPLIT}{flow}"), &[&radio]));
            let ratio = both / sum;
            assert!((0.97..=1.0).contains(&ratio), "{generation}: {ratio}");
        }
    }
}

/// A split bearer that uses one leg has the results of a bearer without a split, bit by bit.
#[test]
fn a_split_bearer_that_uses_one_leg_is_bit_by_bit_one_of_a_single_connection() {
    let stream =
        "flow.user.application={ kind=\"packet-stream\", size=\"972 B\", rate=\"20 Mbit/s\" }";
    let one_leg = "ue.phone.split={ downlink-threshold=\"1 GB\" }";
    for flow in [DOWN, UP] {
        for mode in ["am", "um"] {
            let mode = format!("ue.phone.rlc=\"{mode}\"");
            let single = run(&format!("{NETWORK}{flow}"), &[stream, &mode]);
            let split = run(
                &format!("{NETWORK}{SPLIT}{flow}"),
                &[stream, &mode, one_leg],
            );
            assert_eq!(split["fingerprint"], single["fingerprint"]);
            assert_eq!(split["datagram_flows"], single["datagram_flows"]);
            // A second leg that no bearer uses does not change the results.
            let idle = run(
                &format!("{NETWORK}pscell = \"other\"\n{flow}"),
                &[stream, &mode],
            );
            assert_eq!(idle["fingerprint"], single["fingerprint"]);
            assert_eq!(idle["events"], single["events"]);
        }
    }
}

/// One X2 link drops every tenth frame of either kind. Another is slower than the cell behind it.
#[test]
fn what_a_link_between_base_stations_drops_is_sent_again() {
    let stream =
        "flow.user.application={ kind=\"packet-stream\", size=\"972 B\", rate=\"60 Mbit/s\" }";
    let text = format!("{NETWORK}{SPLIT}{DOWN}");
    let lossy = run(
        &text,
        &[
            stream,
            "link.xn.loss={ probability=0.1 }",
            "link.xn.reverse.loss={ probability=0.1 }",
        ],
    );
    let value_of = |summary: &Value, key: &str| summary["datagram_flows"][0][key].as_f64();
    assert_eq!(value_of(&lossy, "lost_datagrams"), Some(0.0));
    assert_eq!(value_of(&lossy, "reordered_datagrams"), Some(0.0));
    assert!(lossy["links"][4]["dropped_random"].as_u64() > Some(100));
    // The UE's own leg carries 54 Mbit/s and the link to the other leg 5 Mbit/s. The sender sends
    // 60 Mbit/s, so the queue of the link fills up.
    let slow = run(
        &text,
        &[
            stream,
            "link.xn.rate=\"5 Mbit/s\"",
            "ue.phone.split.desired-buffer=\"30 kB\"",
        ],
    );
    let rate = delivered(&slow) * 8.0 / 4.0 / 1e6;
    assert!((57.0..60.0).contains(&rate), "{rate}");
}

#[test]
fn legs_that_cannot_be_are_refused_with_what_was_expected() {
    let error = |ue: &str, overrides: &[&str]| {
        let text = format!("{NETWORK}{ue}{DOWN}");
        match parse(&text, overrides) {
            Err(error) => error,
            Ok(scenario) => match unobserved(&scenario) {
                Err(error) => error.to_string(),
                Ok(_) => String::new(),
            },
        }
    };
    for (ue, overrides, expected) in [
        (
            SPLIT,
            &["ue.phone.rlc=\"tm\""][..],
            "a split bearer in transparent mode",
        ),
        (
            SPLIT,
            &["ue.phone.pscell=\"master\""],
            "`master` is both `cell` and `pscell`",
        ),
        (
            SPLIT,
            &["cell.other.carrier=\"3.5 GHz\""],
            "another cell of the UE has the carrier of `other`",
        ),
        (SPLIT, &["ue.phone.pscell=\"othr\""], "did you mean"),
        (
            SPLIT,
            &["cell.other.radio=\"lte\"", "cell.master.radio=\"lte\""],
            "`other` and `master` are both LTE cells",
        ),
        (
            SPLIT,
            &["ue.phone.rrc-states={}"],
            "`rrc-states` of a UE with a `pscell`",
        ),
        (
            SPLIT,
            &["ue.phone.rlc={ mode=\"am\", aqm=\"pie\" }"],
            "expected \"drop-tail\"",
        ),
        (
            SPLIT,
            &["ue.phone.pdcp={ name=\"standard\", delivery=\"from-rlc\" }"],
            "expected PDCP's own",
        ),
        (
            SPLIT,
            &["ue.phone.split.ul-data-split-threshold=\"1000 B\""],
            "the nearest allowed value is 800 bytes",
        ),
        ("split = {}\n", &[], "a split bearer of a UE with one cell"),
        (
            "split = { duplication = \"both\" }\n",
            &[],
            "PDCP duplication with one leg",
        ),
        (
            "pscell = \"other\"\nsplit = { duplication = \"uplink\" }\n",
            &["cell.other.carrier=\"3.5 GHz\""],
            "PDCP duplication over a single carrier",
        ),
        (
            "pscell = \"other\"\nsplit = { duplication = \"up\" }\n",
            &[],
            "\"uplink\"",
        ),
        (
            "pscell = \"other\"\nsplit = { duplication = \"downlink\" }\n[mobility-management]\n\
             procedure = \"conditional\"\nearly-forwarding = true\n",
            &[],
            "of a UE with a `pscell`, by another procedure; expected `procedure = \"plain\"`",
        ),
        (
            "split = { duplication = \"downlink\" }\n[mobility-management]\nprocedure = \"conditional\"\n\
             early-forwarding = true\nsecondary-node = { events = [{ kind = \"b1\", threshold = \"-95 dBm\" }] }\n",
            &[],
            "secondary nodes with another procedure than \"plain\"",
        ),
        (
            "pscell = \"other\"\nsplit = { duplication = \"both\", duplication-changes = [{ at = \"1 s\", legs = [\"other\"] }] }\n\
             [mobility-management]\n",
            &[],
            "`duplication-changes` under mobility management",
        ),
        (
            "pscell = \"other\"\nrlc = { mode = \"um\" }\nsplit = {}\n[mobility-management]\n",
            &[],
            "of a UE with a `pscell`, with a split bearer in unacknowledged mode",
        ),
        (
            "pscell = \"other\"\n[mobility-management]\nevents = [{ kind = \"b1\", threshold = \"-95 dBm\" }]\n",
            &[],
            "of a UE with a `pscell`, with events b1 or b2",
        ),
        (
            "split = {}\n[mobility-management.secondary-node]\nevents = [{ kind = \"a1\", threshold = \"-95 dBm\" }]\n",
            &[],
            "event a1, which has no meaning for a secondary node",
        ),
        (
            "split = {}\n[mobility-management.secondary-node]\nevents = [{ kind = \"a4\", threshold = \"-95 dBm\" }, \
             { kind = \"b1\", threshold = \"-95 dBm\" }]\n",
            &[],
            "events that add secondary nodes of both generations",
        ),
        (
            "split = {}\n[mobility-management]\nsecondary-node = { events = [{ kind = \"b1\", threshold = \"-95 dBm\" }], \
             at-handover = \"kep\" }\n",
            &[],
            "did you mean",
        ),
        (
            "secondary-cells = [\"other\"]\nsecondary-uplink = true\n\
             split = { carriers = [\"other\"], duplication = \"both\" }\n\
             [mobility-management.secondary-node]\nevents = [{ kind = \"b1\", threshold = \"-95 dBm\" }]\n",
            &[],
            "`split` without `carriers`",
        ),
        (
            "[mobility-management.secondary-node]\nevents = [{ kind = \"b1\", threshold = \"-95 dBm\" }]\n",
            &[],
            "no UE has a `split` bearer",
        ),
        (
            "split = {}\n[mobility-management.secondary-node]\nevents = [{ kind = \"a4\", threshold = \"-95 dBm\" }]\n",
            &["cell.master.radio=\"lte\""],
            "event a4 of `secondary-node` with an LTE cell as master",
        ),
        (
            "pscell = \"other\"\nsplit = {}\n[mobility-management.secondary-node]\n\
             events = [{ kind = \"b1\", threshold = \"-95 dBm\" }]\n",
            &["cell.master.radio=\"nr\"", "cell.other.radio=\"nr\""],
            "its `pscell` has another generation",
        ),
    ] {
        let error = error(ue, overrides);
        let error = error.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(error.contains(expected), "{expected}: {error}");
    }
    let apart = NETWORK.replace(
        "to = \"other\"\nrate = \"10 Gbit/s\"\ndelay",
        "to = \"nobody\"\nrate = \"10 Gbit/s\"\ndelay",
    );
    let scenario =
        parse(&format!("{apart}{SPLIT}{DOWN}"), &[]).unwrap_or_else(|error| panic!("{error}"));
    let error = unobserved(&scenario).map_or_else(|error| error.to_string(), |_| String::new());
    assert!(
        error.contains("no links connect base station \"master\""),
        "{error}"
    );
}

/// Returns the sum of a column of `legs` over all legs in one direction.
fn of_legs(summary: &Value, direction: &str, column: &str) -> f64 {
    let legs = summary["legs"].as_array().expect("a table");
    let rows = legs.iter().filter(|row| row["direction"] == direction);
    rows.map(|row| row[column].as_f64().expect("a number"))
        .sum()
}

/// A stream that either leg could carry alone arrives once, but uses the resources of both legs.
#[test]
fn duplicated_packets_arrive_once_and_cost_both_legs() {
    let stream =
        "flow.user.application={ kind=\"packet-stream\", size=\"972 B\", rate=\"5 Mbit/s\" }";
    for (flow, direction) in [(DOWN, "downlink"), (UP, "uplink")] {
        for mode in ["am", "um"] {
            let mode = format!("ue.phone.rlc=\"{mode}\"");
            let text = format!("{NETWORK}{SPLIT}{flow}");
            let one_leg = "ue.phone.split.downlink-threshold=\"1 GB\"";
            let single = run(
                &text,
                &[
                    stream,
                    &mode,
                    one_leg,
                    "ue.phone.split.primary-path=\"master\"",
                ],
            );
            let double = run(
                &text,
                &[stream, &mode, "ue.phone.split.duplication=\"both\""],
            );
            let value_of = |column: &str| of_legs(&double, direction, column);
            let flow = &double["datagram_flows"][0];
            let sent = flow["sent_datagrams"].as_f64().expect("a number");
            assert_eq!(flow["lost_datagrams"], 0);
            assert_eq!(flow["reordered_datagrams"], 0);
            // The tolerance is for packets that have not arrived at the end of the run.
            let both = value_of("packets") + value_of("discarded_packets");
            assert!(
                (2.0 * sent - 40.0..=2.0 * sent + 40.0).contains(&both),
                "{both} of {sent}"
            );
            assert!(value_of("copies") >= sent - 20.0);
            assert!(value_of("useless_packets") + value_of("discarded_packets") >= sent - 40.0);
            assert!(value_of("air_time_s") > 1.2 * of_legs(&single, direction, "air_time_s"));
        }
    }
}

/// One leg has 20 MHz, the other is weak. In acknowledged mode the weak leg discards packets that
/// the other has delivered.
#[test]
fn a_weak_leg_discards_what_the_other_one_has_delivered() {
    let stream =
        "flow.user.application={ kind=\"packet-stream\", size=\"972 B\", rate=\"20 Mbit/s\" }";
    let weak = "cell.other.bandwidth=\"5 MHz\"";
    let text = format!("{NETWORK}{SPLIT}{DOWN}");
    let double = run(
        &text,
        &[stream, weak, "ue.phone.split.duplication=\"downlink\""],
    );
    assert_eq!(double["datagram_flows"][0]["lost_datagrams"], 0);
    let far = double["legs"].as_array().expect("a table").iter();
    let mut far = far.filter(|row| row["cell"] == "other" && row["direction"] == "downlink");
    let far = far.next().expect("a row");
    assert!(far["discarded_packets"].as_f64() > Some(1000.0), "{far}");
    // The delay is that of the better leg: 99 % of the packets arrive as early as without copies.
    let alone = run(&format!("{NETWORK}{DOWN}"), &[stream]);
    let delay = |summary: &Value| summary["datagram_flows"][0]["delay_p99_s"].as_f64();
    assert!(
        delay(&double) <= delay(&alone),
        "{:?}, {:?}",
        delay(&double),
        delay(&alone)
    );
}

/// Returns the UE of [`NETWORK`] with two secondary cells of its first base station.
fn with_carriers(split: &str, pscell: &str) -> String {
    let cell = |name: &str, carrier: &str| {
        format!(
            "[cell.{name}]\nnode = \"master\"\nradio = \"nr\"\ncarrier = \"{carrier}\"\nbandwidth = \"20 MHz\"\n\
             channel = {{ path-loss = \"uma\" }}\n"
        )
    };
    let (ue, cells) = (
        NETWORK.find("[ue.phone]").expect("it is there"),
        [cell("second", "2.1 GHz"), cell("third", "2.6 GHz")].concat(),
    );
    let (before, after) = NETWORK.split_at(ue);
    format!(
        "{before}{cells}{after}secondary-cells = [\"second\", \"third\"]\nsecondary-uplink = true\n{pscell}{split}"
    )
}

const STREAM: &str =
    "flow.user.application={ kind=\"packet-stream\", size=\"972 B\", rate=\"5 Mbit/s\" }";

/// Packets arrive once over three and four legs, on the carriers of one base station and of two.
#[test]
fn copies_over_up_to_four_legs_arrive_once() {
    for (flow, direction) in [(DOWN, "downlink"), (UP, "uplink")] {
        for (pscell, legs) in [("", 3.0), ("pscell = \"other\"\n", 4.0)] {
            for mode in ["am", "um"] {
                let split =
                    "split = { duplication = \"both\", carriers = [\"second\", \"third\"] }\n";
                let text = format!("{}{flow}", with_carriers(split, pscell));
                let mode = format!("ue.phone.rlc=\"{mode}\"");
                let summary = run(&text, &[STREAM, &mode]);
                let flow = &summary["datagram_flows"][0];
                let sent = flow["sent_datagrams"].as_f64().expect("a number");
                assert_eq!(flow["lost_datagrams"], 0, "{legs} {mode}");
                assert_eq!(flow["reordered_datagrams"], 0);
                let value_of = |column: &str| of_legs(&summary, direction, column);
                let all = value_of("packets") + value_of("discarded_packets");
                assert!(
                    (legs * sent - 40.0 * legs..=legs * sent + 40.0 * legs).contains(&all),
                    "{all} of {sent} over {legs} legs {direction} {mode}"
                );
                let copies = value_of("copies");
                assert!(copies >= (legs - 1.0) * (sent - 40.0), "{copies} of {sent}");
            }
        }
    }
}

/// Copies use as much of each carrier as a single leg would. The fastest carrier decides the delay.
#[test]
fn each_leg_over_a_carrier_takes_the_air_that_it_would_alone() {
    let split = "split = { duplication = \"downlink\", carriers = [\"second\", \"third\"] }\n";
    let um = "ue.phone.rlc=\"um\"";
    let three = run(
        &format!("{}{DOWN}", with_carriers(split, "")),
        &[STREAM, um],
    );
    let alone = run(&format!("{NETWORK}{DOWN}"), &[STREAM, um]);
    let rows = three["legs"].as_array().expect("a table").iter();
    let rows: Vec<_> = rows.filter(|row| row["direction"] == "downlink").collect();
    let cells: Vec<_> = rows.iter().map(|row| row["cell"].as_str()).collect();
    assert_eq!(cells, [Some("master"), Some("second"), Some("third")]);
    let packets = alone["datagram_flows"][0]["sent_datagrams"].as_f64();
    for row in rows {
        assert!(
            (row["packets"].as_f64() >= packets.map(|it| it - 20.0)),
            "{row}"
        );
    }
    let delay = |summary: &Value| summary["datagram_flows"][0]["delay_mean_s"].as_f64();
    assert!(
        delay(&three) <= delay(&alone),
        "{:?} {:?}",
        delay(&three),
        delay(&alone)
    );
}

/// The base station deactivates duplication after two seconds, by a MAC control element.
#[test]
fn duplication_is_activated_leg_by_leg() {
    for (pscell, first, changed) in [
        ("", "carriers = [\"second\", \"third\"]", "[\"third\"]"),
        (
            "pscell = \"other\"\n",
            "carriers = [\"second\"]",
            "[\"other\"]",
        ),
    ] {
        let split = format!(
            "split = {{ duplication = \"both\", {first}, duplication-changes = [\
             {{ at = \"1 s\", legs = {changed} }}, {{ at = \"2 s\" }}] }}\n"
        );
        for (flow, direction) in [(DOWN, "downlink"), (UP, "uplink")] {
            let text = format!("{}{flow}", with_carriers(&split, pscell));
            let summary = run(&text, &[STREAM]);
            assert_eq!(summary["datagram_flows"][0]["lost_datagrams"], 0);
            let sent = summary["datagram_flows"][0]["sent_datagrams"].as_f64();
            let sent = sent.expect("a number");
            let rows = summary["legs"].as_array().expect("a table").iter();
            let rows = rows.filter(|row| row["direction"] == direction);
            let shares: Vec<(String, f64)> = rows
                .map(|row| {
                    let value_of = |column: &str| row[column].as_f64().expect("a number");
                    let all = value_of("packets") + value_of("discarded_packets");
                    (row["cell"].as_str().expect("a name").to_owned(), all / sent)
                })
                .collect();
            for (cell, share) in shares {
                let expected = match cell.as_str() {
                    "master" => 1.0,
                    _ if changed.contains(&cell) => 0.5,
                    _ => 0.25,
                };
                // The control element takes some milliseconds of 4 s. Some copies leave just before
                // their discard.
                assert!(
                    (share - expected).abs() < 0.02,
                    "{cell} {direction}: {share}"
                );
            }
        }
    }
}

#[test]
fn legs_over_carriers_that_cannot_be_are_refused_with_what_was_expected() {
    let error = |split: &str, overrides: &[&str]| {
        let split = format!("split = {{ {split} }}\n");
        let text = format!("{}{DOWN}", with_carriers(&split, ""));
        let error = match parse(&text, overrides) {
            Err(error) => error,
            Ok(scenario) => {
                unobserved(&scenario).map_or_else(|it| it.to_string(), |_| String::new())
            }
        };
        error.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    for (split, overrides, expected) in [
        (
            "duplication = \"both\", carriers = [\"master\"]",
            &[][..],
            "PDCP duplication over one carrier: `master` is the `cell`",
        ),
        (
            "duplication = \"both\", carriers = [\"second\", \"second\"]",
            &[],
            "`second` is a leg twice",
        ),
        (
            "duplication = \"both\", carriers = [\"other\"]",
            &[],
            "`other` is a leg over a carrier that the UE does not have",
        ),
        (
            "duplication = \"both\", carriers = [\"secnd\"]",
            &[],
            "did you mean `second`",
        ),
        (
            "duplication = \"both\", carriers = [\"second\", \"third\", \"second\", \"third\"]",
            &[],
            "at most 3, as PDCP has at most 4 legs",
        ),
        (
            "carriers = [\"second\"]",
            &[],
            "legs over carriers without duplication",
        ),
        (
            "duplication = \"uplink\", carriers = [\"second\"]",
            &["ue.phone.secondary-uplink=false"],
            "legs over carriers without an uplink",
        ),
        (
            "duplication = \"both\", carriers = [\"second\"]",
            &["ue.phone.rlc=\"tm\""],
            "a split bearer in transparent mode",
        ),
        (
            "duplication = \"both\"",
            &[],
            "expected a `pscell` of the UE, or `carriers` of the `split`",
        ),
        (
            "duplication = \"both\", carriers = [\"second\"], duplication-changes = [{ at = \"1 s\", legs = [\"thrd\"] }]",
            &[],
            "there is no leg `thrd`",
        ),
        (
            "duplication-changes = [{ at = \"1 s\" }], carriers = [\"second\"]",
            &[],
            "changes of duplication without duplication",
        ),
        (
            "duplication = \"both\", carriers = [\"second\"], primary-path = \"secondary\"",
            &[],
            "leg 0 or 1 that is there",
        ),
        (
            "duplication = \"both\", carriers = [\"second\"]",
            &["mobility-management={}"],
            "PDCP duplication over carriers",
        ),
    ] {
        let error = error(split, overrides);
        assert!(error.contains(expected), "{expected}: {error}");
    }
}
