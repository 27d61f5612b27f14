//! Tests of Multipath QUIC: the sum of two paths, paths that fail and return, and backup paths.

use crate::common::{self, errors_of, number, run_with};
use fadeout_core::random::Stream;
use fadeout_core::{FlowId, LinkId, Probe, Span, Time};
use fadeout_sim::summary;
use fadeout_testkit::Cases;
use serde_json::Value;

/// A link from the server to the phone: its name, its rate in Mbit/s and its delay in ms.
fn link(name: &str, rate: u64, delay: u64) -> String {
    format!(
        "[link.{name}]\nfrom = \"server\"\nto = \"phone\"\nrate = \"{rate} Mbit/s\"\n\
         delay = \"{delay} ms\"\nqueue = {{ limit = \"50 ms\" }}\n"
    )
}

/// Returns a scenario with two links, `wide` of 20 Mbit/s and `narrow` of 10 Mbit/s.
fn two_links(seconds: u64, paths: &str, rest: &str) -> String {
    let links = link("wide", 20, 10) + &link("narrow", 10, 20);
    format!("duration = \"{seconds} s\"\n{links}{}{rest}", flow(paths))
}

fn flow(paths: &str) -> String {
    format!(
        "[flow.page]\nfrom = \"server\"\nto = \"phone\"\napplication = \"bulk\"\n\
         transport = {{ kind = \"quic\", receive-window = \"4 MB\", initial-rtt = \"50 ms\" }}\n\
         multipath = {{ paths = [{paths}] }}\n"
    )
}

/// A blockage of the link `wide` in both directions.
fn blockage(from_s: u64, length_s: u64) -> String {
    format!(
        "[blockage.wall]\nlink = \"wide\"\ndirection = \"both\"\neffect = \"dropped-on-arrival\"\n\
         schedule = {{ period = \"1000 s\", duration = \"{length_s} s\", phase = \"{from_s} s\" }}\n"
    )
}

const BOTH: &str = "[\"wide\"], [\"narrow\"]";
const WITH_BACKUP: &str = "[\"wide\"], { links = [\"narrow\"], backup = true }";

/// Bytes that arrived: those of the flow, and those on its two paths.
#[derive(Default)]
struct Arrived {
    flow: Vec<(Time, u64)>,
    paths: [Vec<(Time, u64)>; 2],
}

impl Probe for Arrived {
    fn delivered(&mut self, now: Time, flow: FlowId, bytes: u64) {
        match flow.0 {
            0 => self.flow.push((now, bytes)),
            path => self.paths[path as usize - 1].push((now, bytes)),
        }
    }
    fn wants_link(&self, _: LinkId) -> bool {
        false
    }
}

impl Arrived {
    fn run(text: &str) -> Arrived {
        run_with(&parse(text), Arrived::default()).0
    }

    /// Returns the bytes that arrived on a path between two times in seconds.
    fn on_path(&self, path: usize, from_s: u64, to_s: u64) -> u64 {
        let [from, to] = [from_s, to_s].map(|s| Time::ZERO + Span::from_secs(s));
        let arrivals = self.paths[path].iter();
        let arrivals = arrivals.filter(|(at, _)| (from..to).contains(at));
        arrivals.map(|(_, bytes)| bytes).sum()
    }

    /// Returns the longest time without data at the application.
    fn longest_silence(&self) -> Span {
        let pairs = self.flow.windows(2);
        let silences = pairs.map(|pair| pair[1].0.since(pair[0].0));
        silences.max().unwrap_or(Span::MAX)
    }
}

fn parse(text: &str) -> fadeout_scenario::Scenario {
    common::parse(text, ".".into(), &[])
}

fn run(text: &str) -> Value {
    let scenario = parse(text);
    let mut world = common::world(&scenario);
    common::run_to(&mut world, common::end(&scenario));
    summary(&scenario, &world)
}

/// Largest share of stream data in a packet of 1500 bytes. UDP and IP have 28 bytes of headers, a
/// short header with its tag has 26, and a STREAM frame has 4.
const LARGEST_SHARE: f64 = (1500.0 - 28.0 - 26.0 - 4.0) / 1500.0;

/// The flow needs a second for its slow start and the repair of its overshoot. So a tolerance of
/// 5 % holds over 20 s.
#[test]
fn two_clean_paths_carry_their_sum() {
    Cases::new(8).run(|seed| {
        let mut random = Stream::new(seed, "test.paths", 0);
        let rates = [0, 1].map(|_| 5 + random.below(26));
        let delays = [0, 1].map(|_| 3 + random.below(18));
        let links = link("wide", rates[0], delays[0]) + &link("narrow", rates[1], delays[1]);
        let summary = run(&format!("duration = \"20 s\"\n{links}{}", flow(BOTH)));
        let goodput = number(&summary["flows"][0], "goodput_mbps");
        let sum = (rates[0] + rates[1]) as f64 * LARGEST_SHARE;
        let about = format!("{goodput} of {sum} Mbit/s over {rates:?} Mbit/s and {delays:?} ms");
        assert!(goodput > 0.95 * sum && goodput < sum, "{about}");
        let paths = summary["paths"].as_array().expect("two rows");
        assert_eq!(paths.len(), 2);
        assert!(paths.iter().all(|path| path["failures"] == 0), "{about}");
    });
}

#[test]
fn a_path_that_dies_leaves_its_data_to_the_other() {
    let text = two_links(12, BOTH, &blockage(4, 900));
    let arrived = Arrived::run(&text);
    assert!(arrived.on_path(0, 1, 4) > 3 * arrived.on_path(1, 1, 4) / 2);
    assert_eq!(arrived.on_path(0, 5, 12), 0);
    // An end gives up the path a second after the last packet. The stack repeats the data of this
    // path three probe timeouts later. A timeout has at most 0.3 s with a queue of 50 ms.
    let silence = arrived.longest_silence();
    assert!(silence < Span::from_millis(2_000), "{silence:?}");
    // 10 Mbit/s fill the rest of the time.
    let later = arrived.on_path(1, 8, 12) as f64 * 8.0 / 4e6;
    assert!(later > 0.95 * 10.0 * 1472.0 / 1500.0, "{later}");
    let summary = run(&text);
    assert_eq!(summary["flows"][0]["aborted"], false);
    assert!(number(&summary["paths"][0], "failures") >= 1.0);
    assert_eq!(number(&summary["paths"][1], "failures"), 0.0);
}

#[test]
fn a_path_that_returns_carries_data_again() {
    let arrived = Arrived::run(&two_links(16, BOTH, &blockage(3, 4)));
    assert_eq!(arrived.on_path(0, 4, 7), 0);
    // The stack repeats the opening packet at least every 2 s. The window of the path then grows
    // from its initial size.
    let later = arrived.on_path(0, 13, 16) as f64 * 8.0 / 3e6;
    assert!(later > 0.9 * 20.0 * 1472.0 / 1500.0, "{later}");
}

#[test]
fn a_backup_path_carries_data_only_after_the_first_has_failed() {
    let arrived = Arrived::run(&two_links(10, WITH_BACKUP, &blockage(5, 900)));
    // A path without data has its validation, the probes of its MTU, and three packets of each end
    // a second.
    let before = arrived.on_path(1, 0, 5);
    assert!(before < 20_000, "{before} bytes");
    let after = arrived.on_path(1, 7, 10) as f64 * 8.0 / 3e6;
    assert!(after > 0.9 * 10.0 * 1472.0 / 1500.0, "{after}");
}

#[test]
fn a_change_of_backup_moves_the_data() {
    let paths = "{ links = [\"wide\"], backup-changes = [\"4 s\"] }, \
                 { links = [\"narrow\"], backup = true, backup-changes = [\"4 s\"] }";
    let arrived = Arrived::run(&two_links(8, paths, ""));
    assert!(arrived.on_path(0, 1, 4) > 50 * arrived.on_path(1, 1, 4).max(1));
    assert!(arrived.on_path(1, 5, 8) > 50 * arrived.on_path(0, 5, 8).max(1));
}

#[test]
fn paths_open_and_end_at_their_times() {
    let paths = "{ links = [\"wide\"], until = \"4 s\" }, { links = [\"narrow\"], from = \"2 s\" }";
    let arrived = Arrived::run(&two_links(8, paths, ""));
    assert_eq!(arrived.on_path(1, 0, 2), 0);
    assert!(arrived.on_path(1, 2, 4) > 1_000_000);
    // Nothing arrives on a path that has ended, even if packets are under way.
    assert_eq!(arrived.on_path(0, 4, 8), 0);
    assert!(arrived.on_path(1, 6, 8) > 2_000_000);
    // The client closes the path at once, so that the stack repeats its data after three timeouts.
    assert!(arrived.longest_silence() < Span::from_millis(1_000));
}

#[test]
fn a_joined_path_waits_for_its_delay() {
    let text = two_links(4, BOTH, "").replace("paths =", "join-delay = \"2 s\", paths =");
    let arrived = Arrived::run(&text);
    assert_eq!(arrived.on_path(1, 0, 2), 0);
    assert!(arrived.on_path(1, 2, 4) > 1_000_000);
}

#[test]
fn a_connection_whose_only_path_ends_is_given_up() {
    let text = two_links(12, "{ links = [\"wide\"], until = \"2 s\" }", "")
        .replace("kind = \"quic\"", "kind = \"quic\", idle-timeout = \"5 s\"");
    let summary = run(&text);
    assert_eq!(summary["flows"][0]["aborted"], true);
    assert_eq!(summary["quic_ends"][0]["failure"], "timed out");
}

#[test]
fn one_path_in_a_list_is_the_same_as_no_list() {
    let listed = two_links(3, "[\"wide\"]", "");
    let plain = listed.replace("multipath = { paths = [[\"wide\"]] }", "route = [\"wide\"]");
    assert_ne!(listed, plain);
    let [listed, plain] = [listed, plain].map(|text| Arrived::run(&text).flow);
    assert!(listed.len() > 1000);
    assert_eq!(listed, plain);
}

#[test]
fn the_written_scenario_has_no_keys_of_multipath_tcp_and_the_same_bits() {
    let scenario = parse(&two_links(2, WITH_BACKUP, ""));
    let written = fadeout_sim::resolved(&scenario);
    let table = written["flow"]["page"]["multipath"]
        .as_object()
        .expect("it has paths");
    let mut keys: Vec<&str> = table.keys().map(String::as_str).collect();
    keys.sort_unstable();
    assert_eq!(keys, ["join-delay", "paths"]);
    let again = parse(&fadeout_scenario::toml_from_json(&written));
    let fingerprint = |scenario| {
        let mut world = common::world(scenario);
        common::run_to(&mut world, common::end(scenario));
        world.fingerprint().value()
    };
    assert_eq!(fingerprint(&again), fingerprint(&scenario));
}

#[test]
fn keys_of_multipath_tcp_are_refused() {
    let text = two_links(1, BOTH, "");
    for line in [
        "path-scheduler = \"blest\"",
        "coupling = \"lia\"",
        "opportunistic-retransmission = true",
        "penalisation = false",
        "maximum-send-buffer = \"1 MiB\"",
        "signal-repeats = 3",
    ] {
        let key = line.split(' ').next().expect("a key");
        let error = errors_of(&text.replace("multipath = {", &format!("multipath = {{ {line},")));
        let expected = format!("`{key}` of a flow with the transport `quic`");
        assert!(error.contains(&expected), "{error}");
    }
    let announced = two_links(
        1,
        "[\"wide\"], { links = [\"narrow\"], announced = true }",
        "",
    );
    let error = errors_of(&announced);
    assert!(error.contains("`announced` of a path of QUIC"), "{error}");
}
