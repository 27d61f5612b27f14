//! Tests of UEs that are idle or inactive at times, and of the delay until they are connected
//! again.

use crate::common::unobserved;
use crate::common::{end, parse, run_to, world};

/// Returns the smallest and the largest round-trip time of an echo every 3 s, in ms. The UE is
/// connected at the first echo.
fn trips(from: &str, to: &str, states: &str) -> (f64, f64) {
    let text = format!(
        "duration = \"29 s\"\n[link.core]\nfrom = \"server\"\nto = \"base\"\nrate = \"1 Gbit/s\"\n\
         delay = \"5 ms\"\n[cell.base]\nradio = \"nr\"\ncarrier = \"3.5 GHz\"\nbandwidth = \"20 MHz\"\n\
         channel = {{ path-loss = \"uma\" }}\n[ue.phone]\ndownlink-sinr = \"30 dB\"\n\
         uplink-sinr = \"30 dB\"\n{states}\n[flow.ping]\nfrom = \"{from}\"\nto = \"{to}\"\n\
         application = {{ kind = \"echo\", period = \"3 s\", requests = 9 }}\n"
    );
    let scenario = parse(&text, ".".into(), &[]);
    let mut world = world(&scenario);
    run_to(&mut world, end(&scenario));
    let summary = fadeout_sim::summary(&scenario, &world);
    let answers = &summary["datagram_flows"][1];
    assert_eq!(answers["received_datagrams"], 9, "{summary}");
    let trip = |key: &str| answers[key].as_f64().expect("a time") * 1e3;
    let least = summary["flows"][0]["min_rtt_s"].as_f64().expect("a time") * 1e3;
    (least, trip("max_round_trip_s"))
}

const UP: (&str, &str) = ("phone", "server");
const DOWN: (&str, &str) = ("server", "phone");

#[test]
fn a_ue_that_stays_connected_pays_nothing() {
    let always = trips(UP.0, UP.1, "");
    let long = trips(UP.0, UP.1, "rrc-states = { inactivity = \"4 s\" }");
    assert_eq!(always, long);
}

#[test]
fn the_first_packet_of_an_idle_ue_waits_for_its_connection() {
    let (_, plain) = trips(UP.0, UP.1, "");
    for (state, procedure_ms) in [("inactive", 14.0), ("idle", 14.0 + 10.0 + 13.0 + 18.0)] {
        let states = format!("rrc-states = {{ inactivity = \"1 s\", state = \"{state}\" }}");
        let (least, most) = trips(UP.0, UP.1, &states);
        // The UE is connected at the first echo. Later echoes wait for an occasion, of which 3 s
        // are a multiple, for 15 ms of random access, and for RRC messages. The tolerance is a slot
        // or two.
        assert!(least <= plain);
        let extra = most - plain;
        let expected = 15.0 + procedure_ms;
        assert!((extra - expected).abs() < 11.0, "{state}: {extra}");
    }
}

#[test]
fn a_paged_ue_waits_for_its_frame_too() {
    let (_, plain) = trips(DOWN.0, DOWN.1, "");
    let states = "rrc-states = { inactivity = \"1 s\", state = \"inactive\", paging-cycle = 128, \
                  paging-frames = 1 }";
    let (_, most) = trips(DOWN.0, DOWN.1, states);
    // Paging occasions come every 1.28 s from 0 s on. Requests arrive at 3, 6, .. 24 s and 5 ms.
    // They wait up to 1.235 s (at 9 s: from 9.005 to 10.24 s).
    let extra = most - plain;
    assert!(
        (1235.0 - 11.0..1235.0 + 29.0 + 11.0).contains(&extra),
        "{extra}"
    );
}

#[test]
fn states_and_mobility_management_are_one_or_the_other() {
    let text = "duration = \"1 s\"\n[link.core]\nfrom = \"server\"\nto = \"base\"\nrate = \"1 Gbit/s\"\n\
                delay = \"5 ms\"\n[cell.base]\nradio = \"nr\"\ncarrier = \"3.5 GHz\"\nbandwidth = \"20 MHz\"\n\
                channel = { path-loss = \"uma\" }\n[ue.phone]\nrrc-states = {}\n[mobility-management]\n";
    let scenario = parse(text, ".".into(), &[]);
    let error = unobserved(&scenario).expect_err("a mistake");
    assert!(error.to_string().contains("`rrc-states`"), "{error}");
}
