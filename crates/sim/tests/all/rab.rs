//! Tests of 2G and 3G bearers in whole runs, against closed forms.

use crate::common::unobserved;
use crate::common::{end, number, parse, run_to, world};
use fadeout_sim::summary;
use serde_json::Value;
use std::path::PathBuf;

/// Returns a server behind a fast link and a phone behind a bearer.
fn scenario(bearer: &str, rest: &str) -> String {
    format!(
        "duration = \"60 s\"\n\
         [link.core]\nfrom = \"server\"\nto = \"node-b\"\nrate = \"1 Gbit/s\"\ndelay = \"10 ms\"\n\
         [rab.third]\nfrom = \"node-b\"\nto = \"phone\"\n{bearer}\n{rest}\n"
    )
}

fn run(text: &str) -> Value {
    let scenario = parse(text, PathBuf::from("."), &[]);
    let mut world = world(&scenario);
    run_to(&mut world, end(&scenario));
    summary(&scenario, &world)
}

const DOWNLOAD: &str = "[flow.download]\nfrom = \"server\"\nto = \"phone\"\n";

#[test]
fn a_download_has_the_rate_of_the_blocks_less_errors_and_headers() {
    for (technology, bits_per_sec) in [
        // TS 25.214 Table 7D has blocks of 5887 bits at CQI 20 and of 25558 bits at CQI 30.
        (
            "{ name = \"hspa\", cqi = 20, overhead = 0 }",
            5887.0 * 500.0 * 0.9 * 0.999,
        ),
        (
            "{ name = \"hspa\", cqi = 30 }",
            25558.0 * 500.0 * 0.95 * 0.9 * 0.999,
        ),
        (
            "{ name = \"hspa-plus\", cqi = 30 }",
            38576.0 * 500.0 * 0.95 * 0.9 * 0.999,
        ),
        ("{ name = \"umts\" }", 384e3 * 0.99),
        // Four timeslots of MCS-6 carry 74 octets each in 20 ms.
        ("{ name = \"edge\" }", 4.0 * 74.0 * 8.0 * 50.0 * 0.99),
    ] {
        // The queue never runs empty, so the goodput is the rate of the bearer.
        let queue = "downlink = { queue = { limit = \"3 s\" } }";
        let text = scenario(&format!("technology = {technology}\n{queue}"), DOWNLOAD);
        let summary = run(&text);
        let goodput = number(&summary["flows"][0], "goodput_mbps");
        let expected = bits_per_sec * 1448.0 / 1500.0 / 1e6;
        let ratio = goodput / expected;
        // The tolerance covers the start, and lost and retransmitted segments after slow start,
        // within 60 s.
        assert!(
            (0.9..1.005).contains(&ratio),
            "{technology}: {goodput} of {expected}"
        );
    }
}

#[test]
fn the_first_packet_waits_for_promotion_and_so_does_one_after_a_rest() {
    // The flows start more than the handshake of 100 ms apart. The second starts in CELL_FACH, the
    // third when the phone is idle again.
    let flow = |name: &str, start: u32| {
        format!(
            "[flow.{name}]\nfrom = \"server\"\nto = \"phone\"\nstart = \"{start} s\"\n\
             application = {{ kind = \"transfer\", size = \"1 kB\" }}\n"
        )
    };
    let flows = [flow("idle", 0), flow("fach", 10), flow("rested", 40)].concat();
    let set_up = |states: bool| -> Vec<f64> {
        let errors = "block-error = 0, rlc-error = 0";
        let technology = format!("{{ name = \"hspa\", {errors}, radio-states = {states} }}");
        let summary = run(&scenario(&format!("technology = {technology}"), &flows));
        let flows = summary["flows"].as_array().expect("a list").iter();
        flows
            .map(|flow| number(flow, "established_s") - number(flow, "start_s"))
            .collect()
    };
    let (without, with) = (set_up(false), set_up(true));
    for (index, promotion) in [2.0, 1.5, 2.0].into_iter().enumerate() {
        let waited = with[index] - without[index];
        // The SYN meets another phase of the blocks, which are 2 ms in the downlink and 10 ms in
        // the uplink. It is not retransmitted, because the first timeout is one second and the
        // promotion has begun by then.
        assert!((waited - promotion).abs() <= 0.012, "{index}: {waited}");
    }
}

#[test]
fn a_bearer_changes_no_other_link_and_no_link_changes_a_bearer() {
    let jitter = "jitter = \"3 ms\"\nloss = { probability = 0.01 }\n";
    let other = format!(
        "[link.other]\nfrom = \"a\"\nto = \"b\"\nrate = \"3 Mbit/s\"\ndelay = \"20 ms\"\n\
         {jitter}[flow.wired]\nfrom = \"a\"\nto = \"b\"\n"
    );
    let value_of = |summary: &Value, name: &str| {
        let flows = summary["flows"].as_array().expect("a list");
        let flow = flows.iter().find(|flow| flow["flow"] == name);
        flow.expect("the flow").clone()
    };
    let bearer = "technology = \"hspa\"";
    let mut alone = scenario(bearer, DOWNLOAD);
    let both = run(&scenario(bearer, &format!("{DOWNLOAD}{other}")));
    assert_eq!(
        value_of(&run(&alone), "download"),
        value_of(&both, "download")
    );
    alone = format!(
        "duration = \"60 s\"\n[link.core]\nfrom = \"server\"\nto = \"node-b\"\n\
         rate = \"1 Gbit/s\"\ndelay = \"10 ms\"\n{other}"
    );
    assert_eq!(value_of(&run(&alone), "wired"), value_of(&both, "wired"));
}

#[test]
fn multipath_tcp_and_blockages_take_a_bearer_as_a_link() {
    let rest = "[link.wifi]\nfrom = \"server\"\nto = \"phone\"\nrate = \"2 Mbit/s\"\ndelay = \"20 ms\"\n\
         [blockage.tunnel]\nlink = \"third\"\nschedule = { intervals = [[\"20 s\", \"30 s\"]] }\n\
         [flow.both]\nfrom = \"server\"\nto = \"phone\"\n\
         multipath = { paths = [[\"wifi\"], [\"core\", \"third\"]] }\n";
    let summary = run(&scenario("technology = \"hspa\"", rest));
    let link = |name: &str| {
        let links = summary["links"].as_array().expect("a list");
        let link = links.iter().find(|link| link["link"] == name);
        number(link.expect("a link"), "throughput_mbps")
    };
    // The bearer carries 2.5 Mbit/s in 50 of 60 s. TCP's recovery after the outage lowers the mean
    // rate further.
    let third = link("third/downlink");
    assert!((1.3..2.1).contains(&third), "{third}");
    assert!(link("wifi") > 1.7, "{}", link("wifi"));
    assert!(link("third/uplink") > 0.0);
}

#[test]
fn what_no_bearer_can_be_is_an_error() {
    let refused = |bearer: &str| {
        let scenario = parse(&scenario(bearer, DOWNLOAD), PathBuf::from("."), &[]);
        unobserved(&scenario)
            .expect_err("it cannot be built")
            .to_string()
    };
    assert_eq!(
        refused("technology = { name = \"hspa\", sinr = -20 }"),
        "RAB \"third\": sinr is -20 dB; expected more than -15.9 dB; below it the CQI is 0, out \
         of range"
    );
    assert_eq!(
        refused("technology = { name = \"hspa\", category = 11 }"),
        "RAB \"third\": category is 11; expected 5 to 10, 12, 13 or 14"
    );
    let error = refused("technology = \"umts\"\ndownlink = { rate = \"1 bit/s\" }");
    assert!(error.contains("0.001 Mbit/s"), "{error}");
}
