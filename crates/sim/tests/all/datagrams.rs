//! Tests of UDP over links and over radio bearers.

use crate::common;
use crate::common::unobserved;
use fadeout_core::Time;
use fadeout_scenario::{Scenario, Source};
use fadeout_sim::{catalog, summary};
use serde_json::Value;

const LINK: &str = "duration = \"10 s\"\nseed = 5\n[link.path]\nfrom = \"a\"\nto = \"b\"\n\
                    rate = \"1 Mbit/s\"\ndelay = \"20 ms\"\n";
const CELL: &str = "duration = \"4 s\"\nseed = 5\n[link.core]\nfrom = \"a\"\nto = \"base\"\n\
                    rate = \"10 Gbit/s\"\ndelay = \"1 ms\"\nqueue = { limit = \"10 MB\" }\n\
                    [cell.base]\nradio = \"lte\"\ncarrier = \"2 GHz\"\n\
                    bandwidth = \"10 MHz\"\nchannel = { path-loss = \"uma\" }\n[ue.b]\ndownlink-sinr = \"18 dB\"\nuplink-sinr = \"12 dB\"\n";

fn parse(text: &str) -> Scenario {
    let source = Source {
        name: "test".to_owned(),
        base_dir: ".".into(),
    };
    fadeout_scenario::parse(text, &source, &[], catalog())
        .unwrap_or_else(|errors| panic!("{errors}"))
}

fn run(network: &str, flow: &str) -> Value {
    let scenario = parse(&format!("{network}[flow.user]\n{flow}\n"));
    let mut world = unobserved(&scenario).expect("a world");
    while world.run(Time::ZERO + scenario.duration, u64::MAX) {}
    summary(&scenario, &world)
}

fn value_of(summary: &Value, row: usize, key: &str) -> f64 {
    let value = &summary["datagram_flows"][row][key];
    value.as_f64().unwrap_or_else(|| panic!("{key} is {value}"))
}

#[test]
fn a_stream_over_a_clean_link_has_the_delay_of_the_link() {
    let stream = "from = \"a\"\nto = \"b\"\n\
                  application = { kind = \"packet-stream\", size = \"972 B\", rate = \"777600 bit/s\" }";
    let summary = run(LINK, stream);
    // The flow sends 100 packets of 1000 bytes a second from 0 s on. Each packet takes 28 ms, so
    // the last three do not arrive before the end.
    assert_eq!(value_of(&summary, 0, "sent_datagrams"), 1001.0);
    assert_eq!(value_of(&summary, 0, "received_datagrams"), 998.0);
    assert_eq!(value_of(&summary, 0, "lost_datagrams"), 0.0);
    for key in [
        "min_delay_s",
        "mean_delay_s",
        "p50_delay_s",
        "p99_delay_s",
        "max_delay_s",
    ] {
        // A packet takes 8 ms of transmission and 20 ms of delay. The percentiles are limited to
        // the range of the samples.
        assert!((value_of(&summary, 0, key) - 0.028).abs() < 1e-6, "{key}");
    }
    assert!(value_of(&summary, 0, "jitter_s") < 1e-6);
    assert!((value_of(&summary, 0, "longest_gap_s") - 0.010).abs() < 1e-3);
    assert_eq!(summary["datagram_flows"].as_array().map(Vec::len), Some(1));
    let flow = &summary["flows"][0];
    assert_eq!(flow["delivered_bytes"], 998 * 972);
    assert_eq!(flow["profile"], "udp");
    assert_eq!(flow["established_s"], Value::Null);
}

#[test]
fn losses_are_those_of_the_link_and_a_blockage_is_an_interruption() {
    let lossy = format!("{LINK}loss = {{ probability = 0.02 }}\nqueue = {{ limit = \"1 MB\" }}\n");
    let stream = "from = \"a\"\nto = \"b\"\n\
                  application = { kind = \"packet-stream\", size = \"100 B\", rate = \"400 kbit/s\" }";
    let summary = run(&lossy, stream);
    let lost = value_of(&summary, 0, "lost_datagrams");
    assert_eq!(summary["links"][0]["dropped_packets"].as_f64(), Some(lost));
    // The link loses 2 % of 5000 packets. So the mean is 100, and five standard deviations are 50.
    assert!((lost - 100.0).abs() < 50.0, "{lost}");
    let blocked = format!(
        "{LINK}[blockage.wall]\nlink = \"path\"\neffect = \"lost\"\n\
         schedule = {{ period = \"10 s\", duration = \"1.5 s\", phase = \"3 s\" }}\n"
    );
    let summary = run(&blocked, stream);
    // The longest gap is the blockage of 1.5 s. The tolerance covers the interval of 2 ms between
    // packets.
    let gap = value_of(&summary, 0, "longest_gap_s");
    assert!((gap - 1.5).abs() < 0.005, "{gap}");
    let began = value_of(&summary, 0, "longest_gap_start_s");
    assert!((began - 3.02).abs() < 0.005, "{began}");
    assert!((value_of(&summary, 0, "lost_datagrams") - 750.0).abs() < 3.0);
}

#[test]
fn an_echo_takes_both_ways() {
    let echo = "from = \"b\"\nto = \"a\"\n\
                application = { kind = \"echo\", period = \"100 ms\", size = \"972 B\", \
                answer-size = \"222 B\", requests = 50 }";
    let summary = run(LINK, echo);
    for row in [0, 1] {
        assert_eq!(value_of(&summary, row, "received_datagrams"), 50.0);
    }
    assert_eq!(summary["datagram_flows"][0]["end"], "receiver");
    assert_eq!(
        summary["datagram_flows"][0]["mean_round_trip_s"],
        Value::Null
    );
    // In the direction without a rate limit, a packet takes the delay of 20 ms. In the other
    // direction, the transmission takes 2 ms in addition.
    assert!((value_of(&summary, 0, "mean_delay_s") - 0.020).abs() < 1e-6);
    assert!((value_of(&summary, 1, "mean_delay_s") - 0.022).abs() < 1e-6);
    assert!((value_of(&summary, 1, "mean_round_trip_s") - 0.042).abs() < 1e-6);
    let flow = &summary["flows"][0];
    assert!((flow["mean_rtt_s"].as_f64().expect("a mean") - 0.042).abs() < 1e-6);
    assert_eq!(flow["delivered_bytes"], 50 * 972);
}

#[test]
fn what_crosses_a_radio_bearer_arrives_in_full() {
    for (from, to) in [("a", "b"), ("b", "a")] {
        let echo = format!(
            "from = \"{from}\"\nto = \"{to}\"\n\
             application = {{ kind = \"echo\", period = \"20 ms\", requests = 150 }}"
        );
        let summary = run(CELL, &echo);
        for row in [0, 1] {
            assert_eq!(
                value_of(&summary, row, "received_datagrams"),
                150.0,
                "{from}"
            );
            assert_eq!(value_of(&summary, row, "lost_datagrams"), 0.0, "{from}");
        }
        // The link takes 2 ms in each direction. The uplink takes longer, because the UE must
        // request a grant first.
        let trip = value_of(&summary, 1, "mean_round_trip_s");
        assert!((0.008..0.05).contains(&trip), "{trip}");
    }
}

#[test]
fn a_full_buffer_takes_all_that_a_link_or_a_bearer_has() {
    let full = "from = \"a\"\nto = \"b\"\napplication = \"full-buffer\"";
    let summary = run(LINK, full);
    let rate = summary["links"][0]["throughput_mbps"]
        .as_f64()
        .expect("a rate");
    // No packet arrives in the first 20 ms of 10 s, and the last packet may be incomplete.
    assert!((0.996..=1.0).contains(&rate), "{rate}");
    let udp = run(CELL, full);
    let tcp = run(CELL, "from = \"a\"\nto = \"b\"");
    let rate = |summary: &Value| {
        let interface = &summary["interfaces"][0];
        interface["rate_mbps"].as_f64().expect("a rate")
    };
    assert_eq!(value_of(&udp, 0, "lost_datagrams"), 0.0);
    // TCP needs a few round trips of slow start, so its rate is a little lower.
    assert!(rate(&udp) > rate(&tcp), "{} {}", rate(&udp), rate(&tcp));
    assert!(rate(&udp) < 1.2 * rate(&tcp));
    let up = run(
        CELL,
        "from = \"b\"\nto = \"a\"\napplication = \"full-buffer\"",
    );
    assert!(value_of(&up, 0, "received_bytes") > 1e6);
}

#[test]
fn keys_of_connections_are_a_mistake_beside_datagrams() {
    for (key, value) in [
        ("congestion-control", "\"cubic\""),
        ("tcp", "{ initial-window = 4 }"),
        ("multipath", "{ paths = [[\"path\"], [\"path\"]] }"),
        ("link-info", "{ link = \"path\" }"),
    ] {
        let scenario = parse(&format!(
            "{LINK}[flow.user]\nfrom = \"a\"\nto = \"b\"\napplication = \"echo\"\n{key} = {value}\n"
        ));
        let error = unobserved(&scenario).expect_err("a mistake").to_string();
        assert!(error.contains(&format!("no `{key}`")), "{error}");
        assert!(error.contains("\"user\""), "{error}");
    }
}

/// A phone with four layers of 100 MHz at 30 dB receives 1.9 Gbit/s. A backlog of 256 kB lasts for
/// 1.1 ms at this rate.
#[test]
fn a_full_buffer_is_full_at_two_gigabits_and_a_small_backlog_is_told() {
    let text = |more: &str| {
        format!(
            "duration = \"400 ms\"\n[link.core]\nfrom = \"server\"\nto = \"macro\"\nrate = \"10 Gbit/s\"\n\
             delay = \"100 us\"\n[cell.macro]\nradio = {{ kind = \"nr\", layers = 4 }}\ncarrier = \"3.5 GHz\"\n\
             bandwidth = \"100 MHz\"\nchannel = {{ path-loss = \"uma\" }}\n[ue.phone]\ndownlink-sinr = \"30 dB\"\n\
             uplink-sinr = \"30 dB\"\nrlc = {{ mode = \"um\" }}\n[flow.all]\nfrom = \"server\"\nto = \"phone\"\n\
             application = {{ kind = \"full-buffer\"{more} }}\n"
        )
    };
    let carried = |more: &str| {
        let scenario = parse(&text(more));
        let mut world = common::world(&scenario);
        common::run_to(
            &mut world,
            Time::ZERO + fadeout_core::Span::from_millis(200),
        );
        let before = world.delivered_packets();
        common::run_to(&mut world, common::end(&scenario));
        (world.delivered_packets() - before) as f64 * 1500.0 * 8.0 / 0.2
    };
    let most = carried(", backlog = \"1.4 MB\"");
    let found = carried("");
    // The outer loop's errors depend on the times at which packets arrive, which changes the rate
    // by up to 1 %.
    assert!(
        found > 0.99 * most && most > 1.7e9,
        "{found:.3e} of {most:.3e}"
    );
    let scenario = parse(&text(", backlog = \"256 kB\""));
    let advice = fadeout_sim::advice(&scenario);
    assert!(
        matches!(&advice[..], [one] if one.contains("a full buffer with 256 kB on the way is none at")),
        "{advice:?}"
    );
    let advice = fadeout_sim::advice(&parse(&text("")));
    assert_eq!(advice, Vec::<String>::new());
}
