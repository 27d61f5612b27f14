//! Tests of QUIC's real encryption, its logs, and equal bits over repetitions and threads.

use crate::common::{self, errors_of, number, run_with};
use fadeout_core::{LinkId, Probe, Time, WholePacket};
use fadeout_record::Destination;
use fadeout_scenario::Scenario;
use fadeout_sim::{Control, Simulation, summary};
use serde_json::Value;
use std::thread;

/// Returns a scenario with a lossy link and a flow over QUIC.
fn text(transport: &str, rest: &str) -> String {
    format!(
        "duration = \"3 s\"\n[link.path]\nfrom = \"server\"\nto = \"phone\"\n\
         rate = \"20 Mbit/s\"\ndelay = \"10 ms\"\nloss = {{ probability = 0.003 }}\n\
         queue = {{ limit = \"50 ms\" }}\n{rest}\
         [flow.page]\nfrom = \"server\"\nto = \"phone\"\n\
         transport = {{ kind = \"quic\", initial-rtt = \"20 ms\"{transport} }}\n\
         application = {{ kind = \"transfer\", size = \"2 MB\" }}\n"
    )
}

fn parse(text: &str) -> Scenario {
    common::parse(text, ".".into(), &[])
}

/// A digest of all bytes of packets with their times, and the keys of TLS.
#[derive(Default, Debug, PartialEq, Eq)]
struct Bytes {
    digest: u64,
    packets: u64,
    sizes: Vec<u32>,
    secrets: String,
}

impl Probe for Bytes {
    fn wants_packets(&self) -> bool {
        true
    }
    fn sent(&mut self, now: Time, packet: WholePacket<'_>) {
        let time = now.as_nanos().to_be_bytes();
        let bytes = packet.payload.iter().copied().chain(time);
        let digest = fadeout_core::random::fnv_1a(bytes);
        self.digest = self.digest.rotate_left(7) ^ digest;
        self.packets += 1;
        self.sizes.push(packet.segment.len);
    }
    fn secrets(&mut self, secrets: &str) {
        self.secrets.push_str(secrets);
    }
    fn wants_link(&self, _: LinkId) -> bool {
        false
    }
}

fn bytes_of(text: &str) -> Bytes {
    run_with(&parse(text), Bytes::default()).0
}

#[test]
fn real_encryption_has_the_same_bytes_in_each_run_and_thread() {
    let text = text(", crypto = \"tls\"", "");
    let first = bytes_of(&text);
    let threads = [(); 3].map(|()| {
        let text = text.clone();
        thread::spawn(move || [bytes_of(&text), bytes_of(&text)])
    });
    for thread in threads {
        for again in thread.join().expect("no thread panics") {
            assert_eq!(again, first);
        }
    }
    assert_ne!(bytes_of(&format!("seed = 2\n{text}")).digest, first.digest);
    // A server derives two secrets of the handshake, two of 1-RTT data, and that of an exporter.
    assert_eq!(first.secrets.lines().count(), 5, "{}", first.secrets);
}

#[test]
fn real_encryption_changes_no_size_after_the_handshake() {
    let sizes = |crypto: &str| {
        let mut sizes = bytes_of(&text(&format!(", crypto = \"{crypto}\""), "")).sizes;
        sizes.drain(..10);
        sizes.iter().map(|&size| u64::from(size)).sum::<u64>()
    };
    let [null, tls] = ["null", "tls"].map(sizes);
    // Session tickets and the signature have a few hundred bytes. The losses fall on other packets.
    assert!(null.abs_diff(tls) < null / 50, "{null} and {tls}");
}

#[test]
fn a_large_certificate_takes_a_further_round_trip_with_real_encryption() {
    let established = |size: u32| {
        let transport = format!(", crypto = \"tls\", certificate = \"{size} B\"");
        let lossless = text(&transport, "").replace("loss = { probability = 0.003 }\n", "");
        let scenario = parse(&lossless);
        let mut world = common::world(&scenario);
        common::run_to(&mut world, common::end(&scenario));
        number(&summary(&scenario, &world)["flows"][0], "established_s")
    };
    let (small, large) = (established(1_000), established(9_000));
    // The server may send 3 · 1200 bytes until it hears from the client a second time.
    assert!((0.020..0.024).contains(&small), "{small}");
    assert!((0.040..0.048).contains(&large), "{large}");
}

#[test]
fn real_encryption_has_no_session_to_resume() {
    let error = errors_of(&text(", crypto = \"tls\", zero-rtt = true", ""));
    assert!(error.contains("`zero-rtt` with `crypto"), "{error}");
}

#[test]
fn times_that_the_stack_cannot_have_are_refused() {
    let error = errors_of(&text(", path-timeout = \"0 s\"", ""));
    assert!(error.contains("`path-timeout` is too short"), "{error}");
    let error = errors_of(&text(", idle-timeout = \"2000000 s\"", ""));
    assert!(error.contains("from 0 to 1000000 s"), "{error}");
    let short = text("", "").replace("initial-rtt = \"20 ms\"", "initial-rtt = \"100 us\"");
    let error = errors_of(&short);
    assert!(error.contains("`initial-rtt` is too short"), "{error}");
}

#[test]
fn an_idle_timeout_of_zero_never_gives_up() {
    let text = text(", idle-timeout = \"0 s\"", "")
        .replace("probability = 0.003", "probability = 1.0")
        .replace("duration = \"3 s\"", "duration = \"100 s\"");
    let scenario = parse(&text);
    let mut world = common::world(&scenario);
    common::run_to(&mut world, common::end(&scenario));
    let summary = summary(&scenario, &world);
    assert_eq!(summary["flows"][0]["aborted"], false);
}

#[test]
fn a_hundred_repetitions_in_four_threads_have_the_same_bits() {
    let text = text("", "").replace("2 MB", "300 kB");
    let fingerprint = |text: &str| {
        let scenario = parse(text);
        let mut world = common::world(&scenario);
        common::run_to(&mut world, common::end(&scenario));
        world.fingerprint().value()
    };
    let first = fingerprint(&text);
    let threads = [(); 4].map(|()| {
        let text = text.clone();
        thread::spawn(move || (0..25).map(|_| fingerprint(&text)).collect::<Vec<_>>())
    });
    for thread in threads {
        let all = thread.join().expect("no thread panics");
        assert_eq!(all, [first; 25]);
    }
}

/// Returns the events of the log of an end.
fn events(captures: &[(String, Vec<u8>)], end: &str) -> Vec<Value> {
    let name = format!("captures/page.{end}.sqlog");
    let log = captures.iter().find(|(found, _)| *found == name);
    let (_, log) = log.expect("each end has a log");
    let records = log.split(|&byte| byte == 0x1e).skip(1);
    let parsed = records.map(|record| serde_json::from_slice(record).expect("a record is JSON"));
    parsed.collect()
}

#[test]
fn a_log_has_each_packet_and_the_times_of_the_simulation() {
    let scenario = parse(&text("", "[probe]\nqlog = true\n"));
    let mut world = common::world(&scenario);
    common::run_to(&mut world, common::end(&scenario));
    let summary = summary(&scenario, &world);
    let run = Simulation::new(scenario, Destination::Memory).expect("a checked scenario");
    let results = run.run(|_| Control::Continue).expect("memory is there");
    for (row, end) in ["sender", "receiver"].into_iter().enumerate() {
        let events = events(&results.recorded.captures, end);
        assert!(events[0]["file_schema"].is_string(), "{}", events[0]);
        let times = events[1..].iter().map(|event| number(event, "time"));
        let times: Vec<f64> = times.collect();
        assert!(times.is_sorted() && times[0] >= 0.0);
        // Times are in milliseconds, and the run ends after 3 s.
        assert!(
            times
                .last()
                .is_some_and(|&last| (500.0..=3000.0).contains(&last))
        );
        let sent = events
            .iter()
            .filter(|event| event["name"] == "quic:packet_sent");
        let counted = &summary["quic_ends"][row];
        assert_eq!(counted["end"], end, "{summary}");
        // The counter of the stack has no packets that close a connection.
        let difference = sent.count() as f64 - number(counted, "sent_packets");
        assert!((0.0..=3.0).contains(&difference), "{difference}");
    }
}

/// A probe timeout is the smoothed round-trip time, four times its variation of at least 1 ms, and
/// the longest delay of an ACK (RFC 9002 section 6.2.1).
#[test]
fn timers_in_the_log_are_those_of_rfc_9002() {
    let text = text("", "[probe]\nqlog = true\n")
        .replace("loss = { probability = 0.003 }\n", "")
        .replace(
            "kind = \"transfer\", size = \"2 MB\"",
            "kind = \"request-response\", size = \"9 kB\"",
        );
    let run = Simulation::new(parse(&text), Destination::Memory).expect("a checked scenario");
    let results = run.run(|_| Control::Continue).expect("memory is there");
    let (mut srtt, mut variation, mut sent_at, mut checked) = (0.0, 0.0, 0.0, 0);
    for event in &events(&results.recorded.captures, "sender")[1..] {
        let (data, time) = (&event["data"], number(event, "time"));
        match event["name"].as_str() {
            Some("quic:recovery_metrics_updated") => {
                srtt = data["smoothed_rtt"].as_f64().unwrap_or(srtt);
                variation = data["rtt_variance"].as_f64().unwrap_or(variation);
            }
            Some("quic:packet_sent") => sent_at = time,
            _ => {}
        }
        let is_set = data["timer_type"] == "loss_timeout" && data["event_type"] == "set";
        // Other timers count from an earlier packet.
        if is_set && time == sent_at && time > 500.0 {
            let delta = number(data, "delta");
            let expected = srtt + (4.0_f64 * variation).max(1.0) + 25.0;
            // Numbers of the log have single precision, and times whole microseconds.
            assert!((delta - expected).abs() < 0.01, "{delta}, {expected}");
            checked += 1;
        }
    }
    assert!(checked > 20, "{checked}");
}
