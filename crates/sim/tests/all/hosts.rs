//! Tests of hosts in whole runs: receive offload, the processor's part of reception, the host's own
//! queue, and connections opened by Fast Open.

use crate::common::{end, parse, run_to, world};
use fadeout_sim::summary;
use proptest::prelude::*;
use serde_json::Value;

/// Number of bytes of each file.
const SIZE: u64 = 400_000;

/// Returns the row of the only flow of a scenario, with the number of packets that reached an end.
fn run(text: &str) -> Value {
    let scenario = parse(text, ".".into(), &[]);
    let mut world = world(&scenario);
    run_to(&mut world, end(&scenario));
    let mut row = summary(&scenario, &world)["flows"][0].clone();
    row["packets"] = world.delivered_packets().into();
    row
}

/// Returns a file over a radio with the rows `cell` and `more`, in one direction.
fn over_radio(cell: &str, ue: &str, ends: [&str; 2], more: &str) -> String {
    let [from, to] = ends;
    format!(
        "duration = \"20 s\"\n\
         [link.core]\nfrom = \"server\"\nto = \"base\"\nrate = \"1 Gbit/s\"\ndelay = \"10 ms\"\n\
         [cell.base]\n{cell}\nchannel = {{ path-loss = \"uma\" }}\n\
         [ue.phone]\ndownlink-sinr = \"18 dB\"\nuplink-sinr = \"12 dB\"\n{ue}\n\
         [flow.file]\nfrom = \"{from}\"\nto = \"{to}\"\n\
         application = {{ kind = \"file\", size = \"{SIZE} B\" }}\n{more}"
    )
}

const NR: &str =
    "radio = { kind = \"nr\", duplex = \"DDDSU\" }\ncarrier = \"3.5 GHz\"\nbandwidth = \"40 MHz\"";
const LTE: &str = "radio = \"lte\"\ncarrier = \"2 GHz\"\nbandwidth = \"20 MHz\"";
const DOWN: [&str; 2] = ["server", "phone"];
const UP: [&str; 2] = ["phone", "server"];
const OFFLOAD: &str = "[node.phone]\nreceive-offload = true\n";
const QUEUE: &str = "[node.phone]\nsend-queue = \"1000 packets\"\ndevice-queue = \"30 kB\"\n";

/// Returns a number of a flow's row.
fn number(row: &Value, key: &str) -> f64 {
    row[key].as_f64().unwrap_or_else(|| panic!("{key}: {row}"))
}

/// Returns the number of packets without data that a flow without losses has received.
fn acks(row: &Value) -> f64 {
    number(row, "packets") - number(row, "sent_segments")
}

#[test]
fn receive_offload_needs_fewer_acks_and_delivers_the_same_bytes() {
    for cell in [NR, LTE] {
        let plain = run(&over_radio(cell, "", DOWN, ""));
        let merged = run(&over_radio(cell, "", DOWN, OFFLOAD));
        assert_eq!(number(&plain, "delivered_bytes"), SIZE as f64);
        assert_eq!(number(&merged, "delivered_bytes"), SIZE as f64);
        assert!(
            acks(&merged) < 0.8 * acks(&plain),
            "{} and {} ACKs",
            acks(&merged),
            acks(&plain)
        );
    }
}

#[test]
fn without_a_key_of_a_host_nothing_changes() {
    let plain = over_radio(NR, "", DOWN, "");
    let named = over_radio(NR, "", DOWN, "[node.phone]\n[node.server]\n");
    assert_eq!(run(&plain), run(&named));
}

#[test]
fn every_mode_of_rlc_and_every_direction_takes_a_host() {
    for mode in ["am", "um"] {
        for ends in [DOWN, UP] {
            let ue = format!("rlc = {{ mode = \"{mode}\" }}");
            let more = "[node.phone]\npreset = \"phone\"\nreceive-delay = \"0.3 ms\"\n\
                        receive-rate = \"300 Mbit/s\"\n";
            let done = run(&over_radio(NR, &ue, ends, more));
            assert_eq!(
                number(&done, "delivered_bytes"),
                SIZE as f64,
                "{mode} {ends:?}"
            );
        }
    }
}

#[test]
fn a_processor_limits_the_rate_of_a_download() {
    let limited = "[node.phone]\nreceive-rate = \"8 Mbit/s\"\n";
    let plain = number(
        &run(&over_radio(NR, "", DOWN, "")),
        "flow_completion_time_s",
    );
    let slow = number(
        &run(&over_radio(NR, "", DOWN, limited)),
        "flow_completion_time_s",
    );
    // 400 kB with headers take 0.416 s at 8 Mbit/s.
    assert!(plain < 0.4, "{plain} s");
    assert!((0.41..0.6).contains(&slow), "{slow} s");
}

#[test]
fn a_delay_of_the_host_is_part_of_each_round_trip() {
    let delayed = "[node.phone]\nreceive-delay = \"20 ms\"\n";
    let plain = number(&run(&over_radio(NR, "", DOWN, "")), "min_rtt_s");
    let slow = number(&run(&over_radio(NR, "", DOWN, delayed)), "min_rtt_s");
    // The slots of the radio shift the round trip by up to a pattern of 2.5 ms in each direction.
    assert!((slow - plain - 0.02).abs() < 0.005, "{plain} and {slow} s");
}

/// Returns a file over a link with a small queue, and with a host at each end.
fn over_link(rate: u32, loss: f64, size: u64, hosts: &str, tcp: &str) -> String {
    format!(
        "duration = \"60 s\"\nseed = 5\n\
         [link.a]\nfrom = \"x\"\nto = \"y\"\nrate = \"{rate} Mbit/s\"\ndelay = \"8 ms\"\n\
         loss = {{ probability = {loss} }}\nqueue = {{ limit = \"60 packets\" }}\n\
         [flow.file]\nfrom = \"x\"\nto = \"y\"\ntcp = {{ {tcp} }}\n\
         application = {{ kind = \"file\", size = \"{size} B\" }}\n{hosts}"
    )
}

#[test]
fn a_host_that_holds_packets_merges_those_of_a_link() {
    let hold = |ms: &str| {
        let hosts = format!("[node.y]\nreceive-offload = true\nreceive-hold = \"{ms} ms\"\n");
        // Segments with different timestamps are never merged. The PSH at the end of a burst ends
        // the merging.
        let tcp = "timestamps = false, tso-bursts = false";
        acks(&run(&over_link(20, 0.0, 1_000_000, &hosts, tcp)))
    };
    // At 20 Mbit/s a packet takes 0.6 ms, so packets arrive one by one.
    let (none, some) = (hold("0"), hold("5"));
    assert!(some < 0.5 * none, "{some} and {none} ACKs");
}

#[test]
fn a_full_queue_of_the_host_loses_no_packet_of_tcp() {
    // Without a queue of the host, the link's queue of 60 packets overflows in slow start.
    let queue = "[node.x]\nsend-queue = \"40 packets\"\ndevice-queue = \"15 kB\"\n";
    let plain = run(&over_link(10, 0.0, 3_000_000, "", ""));
    let queued = run(&over_link(10, 0.0, 3_000_000, queue, ""));
    assert!(number(&plain, "retransmitted_segments") > 0.0);
    assert_eq!(number(&queued, "retransmitted_segments"), 0.0);
    assert_eq!(number(&queued, "delivered_bytes"), 3e6);
    // The host keeps its device busy: 3 MB with headers take 2.49 s at 10 Mbit/s.
    let time = number(&queued, "flow_completion_time_s");
    assert!((2.49..2.8).contains(&time), "{time} s");
}

#[test]
fn small_queues_keep_the_round_trip_of_an_upload_short() {
    let rtt = |small: &str| {
        let hosts = format!("{QUEUE}small-queues = {small}\n");
        let text = over_radio(NR, "", UP, &hosts).replace(&SIZE.to_string(), "8000000");
        number(&run(&text), "mean_rtt_s")
    };
    let (small, large) = (rtt("true"), rtt("false"));
    assert!(small < large, "{small} and {large} s");
}

#[test]
fn fast_open_saves_a_round_trip_of_a_short_request() {
    for (kind, ends) in [("ftp", DOWN), ("file", UP)] {
        let text = |fast: &str| {
            over_radio(LTE, "", ends, &format!("tcp = {{ fast-open = {fast} }}\n"))
                .replace("kind = \"file\"", &format!("kind = \"{kind}\""))
                .replace(&SIZE.to_string(), "1000")
        };
        let [plain, fast] = ["false", "true"].map(|fast| run(&text(fast)));
        assert_eq!(number(&fast, "delivered_bytes"), 1000.0);
        // The data on a SYN is one of the sent segments.
        let sent = |done: &Value| number(done, "sent_segments");
        assert_eq!(sent(&fast), sent(&plain), "{kind}");
        let saved =
            number(&plain, "flow_completion_time_s") - number(&fast, "flow_completion_time_s");
        // A round trip has 20 ms of the links. The radio adds waits for scheduling requests.
        assert!((0.02..0.08).contains(&saved), "{kind}: {saved} s");
    }
}

#[test]
fn a_lost_syn_is_repeated_without_its_data() {
    let text = over_link(10, 0.0, 5_000, "", "fast-open = true")
        .replace("probability = 0", "arrivals = [1]");
    let done = run(&text);
    assert_eq!(number(&done, "delivered_bytes"), 5_000.0);
    assert!(number(&done, "flow_completion_time_s") > 1.0);
}

proptest! {
    #![proptest_config(fadeout_testkit::Cases::new(40).proptest())]

    /// Hosts at both ends, with any keys, deliver every byte once over links that lose and mark.
    #[test]
    fn hosts_deliver_every_byte_once(
        (rate, loss) in (1_u32..200, 0.0..0.05),
        size in 1_u64..600_000,
        (offload, hold_us, delay_us) in (any::<bool>(), 0_u32..3_000, 0_u32..3_000),
        (packets, device, is_small) in (1_u32..200, 1_u32..60_000, any::<bool>()),
        (ecn, fast, profile) in (any::<bool>(), any::<bool>(), prop::sample::select(vec!["linux", "rfc", "newreno"])),
        discipline in prop::sample::select(vec!["fifo", "codel"]),
    ) {
        let hold = if offload { hold_us } else { 0 };
        let keys = format!(
            "receive-offload = {offload}\nreceive-hold = \"{hold} us\"\n\
             receive-delay = \"{delay_us} us\"\nreceive-rate = \"500 Mbit/s\"\n\
             send-queue = \"{packets} packets\"\ndevice-queue = \"{device} B\"\n\
             small-queues = {is_small}\n"
        );
        let hosts = format!("profile = \"{profile}\"\n[node.x]\n{keys}[node.y]\n{keys}");
        let tcp = format!(
            "fast-open = {fast}, ecn = \"{}\"",
            if ecn { "classic" } else { "off" }
        );
        let text = over_link(rate, loss, size, &hosts, &tcp).replace(
            "limit = \"60 packets\"",
            &format!("limit = \"60 packets\", discipline = \"{discipline}\""),
        );
        prop_assert_eq!(number(&run(&text), "delivered_bytes"), size as f64);
    }

    /// Multipath TCP over two links, with hosts at both ends, delivers every byte once.
    #[test]
    fn hosts_of_multipath_connections_deliver_every_byte_once(
        rates in (1_u32..60, 1_u32..60),
        loss in 0.0..0.02,
        size in 1_u64..400_000,
        (hold_us, packets, device) in (0_u32..2_000, 2_u32..200, 1_u32..60_000),
        coupling in prop::sample::select(vec!["uncoupled", "lia"]),
    ) {
        let link = |name: &str, rate: u32, delay: u32| format!(
            "[link.{name}]\nfrom = \"x\"\nto = \"y\"\nrate = \"{rate} Mbit/s\"\n\
             delay = \"{delay} ms\"\nloss = {{ probability = {loss} }}\n"
        );
        let keys = format!(
            "receive-offload = true\nreceive-hold = \"{hold_us} us\"\n\
             send-queue = \"{packets} packets\"\ndevice-queue = \"{device} B\"\n"
        );
        let text = format!(
            "duration = \"60 s\"\n{}{}[flow.file]\nfrom = \"x\"\nto = \"y\"\n\
             multipath = {{ paths = [[\"a\"], [\"b\"]], coupling = \"{coupling}\" }}\n\
             application = {{ kind = \"file\", size = \"{size} B\" }}\n\
             [node.x]\n{keys}[node.y]\n{keys}",
            link("a", rates.0, 5),
            link("b", rates.1, 30),
        );
        prop_assert_eq!(number(&run(&text), "delivered_bytes"), size as f64);
    }
}
