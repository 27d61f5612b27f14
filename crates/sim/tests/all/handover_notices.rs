//! Tests of the notices to flows over UEs that change cells, and of routes that such flows name.

use crate::common::observed::{Observed, build, build_with_own};
use crate::common::rows::Rows;
use fadeout_core::{HandoverRow, LinkInfo, NullProbe, Time};
use fadeout_scenario::{Override, Scenario, Source};
use fadeout_sim::congestion::{
    AckSample, Congestion, CongestionControl, CongestionEvent, Custom, Window,
};
use fadeout_sim::{ChooseCongestion, Own};
use std::sync::{Arc, Mutex};

const SHORT: &str = "duration=\"20 s\"";
/// Channels without random parts, so that there is one handover.
const SMOOTH: &str =
    "cell.channel={ path-loss = \"uma\", shadowing = false, line-of-sight = \"clear\" }";

/// Builds the world of a scenario with these congestion controls and a recorder of rows.
fn build_with(scenario: &Scenario, congestion: ChooseCongestion<'_>) -> Observed<Rows> {
    let policy = &mut |_: &Scenario| None;
    build_with_own(scenario, Rows::default(), Own { congestion, policy }).expect("a world")
}

fn example(more: &str, overrides: &[&str]) -> Scenario {
    let text = include_str!("../../../../scenarios/handover.toml");
    let source = Source {
        name: "handover.toml".to_owned(),
        base_dir: ".".into(),
    };
    let overrides = [&[SHORT, SMOOTH], overrides].concat();
    let overrides: Vec<Override> = overrides.into_iter().map(Override::new).collect();
    let text = format!("{text}\n{more}");
    fadeout_scenario::parse(&text, &source, &overrides, fadeout_sim::catalog())
        .unwrap_or_else(|errors| panic!("{errors}"))
}

/// A congestion control with a window of 20 segments. It records all notices.
struct NoticeRecorder(Arc<Mutex<Vec<(Time, LinkInfo)>>>);

impl CongestionControl for NoticeRecorder {
    fn on_ack(&mut self, window: &mut Window, _: &AckSample) {
        window.cwnd = 20.0;
    }
    fn on_congestion(&mut self, window: &mut Window, _: &CongestionEvent) {
        window.ssthresh = 20.0;
    }
    fn on_link_info(&mut self, _: &mut Window, now: Time, info: &LinkInfo) {
        self.0.lock().expect("one thread").push((now, *info));
    }
}

/// Runs the example with this `link-info`. Returns the notices at both ends of its flow, and the
/// handovers.
fn notices_of(info: &str) -> (Vec<(Time, LinkInfo)>, Vec<HandoverRow>) {
    let scenario = example("", &[&format!("flow.download.link-info={info}")]);
    let heard = Arc::new(Mutex::new(Vec::new()));
    let choose = &mut |_: &fadeout_scenario::Flow| {
        let recorder = NoticeRecorder(Arc::clone(&heard));
        Some(Congestion::Custom(Custom(Box::new(recorder))))
    };
    let mut world = build_with(&scenario, choose);
    while world.run(Time::ZERO + scenario.duration, u64::MAX) {}
    let heard = heard.lock().expect("one thread").clone();
    (heard, world.into_probe().handovers)
}

#[test]
fn a_flow_is_told_when_the_ue_leaves_and_when_it_is_there() {
    let (heard, rows) = notices_of("{ link = \"phone\", delay = \"3 ms\", prediction = \"1 s\" }");
    let [row] = &rows[..] else {
        panic!("one handover: {rows:?}");
    };
    // Notices are the same at both ends.
    let (one, other): (Vec<_>, Vec<_>) = (
        heard.iter().step_by(2).copied().collect(),
        heard.iter().skip(1).step_by(2).copied().collect(),
    );
    assert_eq!(one, other);
    let [predicted, began, ended] = one[..] else {
        panic!("{one:?}");
    };
    let near = |at: Time, of_s: f64| (at.as_secs_f64() - of_s - 0.003).abs() < 1e-9;
    assert!(near(predicted.0, row.triggered_s), "{predicted:?} {row:?}");
    assert!(near(began.0, row.left_s) && began.1 == LinkInfo::BlockageBegan);
    assert!(near(ended.0, row.completed_s) && ended.1 == LinkInfo::BlockageEnded);
    let LinkInfo::BlockagePredicted { starts_at, lasts } = predicted.1 else {
        panic!("{predicted:?}");
    };
    // The preparation takes 5 + 10 + 5 = 20 ms. The interruption takes 35 ms, up to 10 ms until an
    // occasion, and 3 ms until the response.
    assert!((starts_at.as_secs_f64() - row.triggered_s - 0.020).abs() < 1e-9);
    assert!((lasts.as_secs_f64() - 0.048).abs() < 1e-9);
    // No blockage is predicted without the key `prediction`.
    let (heard, _) = notices_of("{ link = \"phone\" }");
    assert_eq!(heard.len(), 4, "{heard:?}");
}

/// Runs the example with these overrides. Returns the notices at the first end of its flow, and the
/// handovers.
fn notices_with(overrides: &[&str]) -> (Vec<(Time, LinkInfo)>, Vec<HandoverRow>) {
    let scenario = example("", overrides);
    let heard = Arc::new(Mutex::new(Vec::new()));
    let choose = &mut |_: &fadeout_scenario::Flow| {
        let recorder = NoticeRecorder(Arc::clone(&heard));
        Some(Congestion::Custom(Custom(Box::new(recorder))))
    };
    let mut world = build_with(&scenario, choose);
    while world.run(Time::ZERO + scenario.duration, u64::MAX) {}
    let heard = heard.lock().expect("one thread").clone();
    let one = heard.into_iter().step_by(2).collect();
    (one, world.into_probe().handovers)
}

#[test]
fn a_flow_is_told_when_the_conditions_of_a_candidate_begin_to_hold() {
    let (heard, rows) = notices_with(&[
        "mobility-management.procedure=\"conditional\"",
        "mobility-management.events=[{ kind = \"a3\", offset = \"-6 dB\" }]",
        "flow.download.link-info={ link = \"phone\", delay = \"3 ms\", prediction = \"1 s\" }",
    ]);
    let [row] = &rows[..] else {
        panic!("one handover: {rows:?}");
    };
    let near = |at: Time, of_s: f64| (at.as_secs_f64() - of_s).abs() < 1e-9;
    let began = heard
        .iter()
        .position(|(_, info)| *info == LinkInfo::BlockageBegan);
    let began = began.expect("it leaves");
    assert!(near(heard[began].0, row.left_s + 0.003));
    // The last prediction is right, and comes 160 ms before the handover. The earlier ones were
    // withdrawn.
    let LinkInfo::BlockagePredicted { starts_at, .. } = heard[began - 1].1 else {
        panic!("{heard:?}");
    };
    assert!(near(starts_at, row.left_s), "{starts_at:?} {row:?}");
    assert!(near(heard[began - 1].0, row.left_s - 0.157), "{heard:?}");
    let before = &heard[..began - 1];
    let is_pair = |pair: &[(Time, LinkInfo)]| {
        matches!(pair[0].1, LinkInfo::BlockagePredicted { .. })
            && pair[1].1 == LinkInfo::BlockageEnded
    };
    assert!(before.chunks(2).all(is_pair), "{before:?}");
}

#[test]
fn a_flow_that_asks_is_told_rates_and_x_tcp_follows_them() {
    let info = "flow.download.link-info={ link = \"phone\", delay = \"3 ms\", rates = true }";
    let (heard, rows) = notices_with(&[info]);
    let [row] = &rows[..] else {
        panic!("one handover: {rows:?}");
    };
    let rate = |info: &LinkInfo| match info {
        LinkInfo::Rate(rate) => Some(rate.as_bits_per_sec()),
        _ => None,
    };
    let rates: Vec<(f64, u64)> = (heard.iter())
        .filter_map(|(at, info)| Some((at.as_secs_f64(), rate(info)?)))
        .collect();
    // The rate is that of the highest MCS before and after the handover, so each is notified once.
    assert!(rates.len() >= 3, "{rates:?}");
    let last_before = |at_s: f64| {
        let mut before = rates.iter().filter(|(told_s, _)| *told_s <= at_s + 1e-9);
        before.next_back().expect("it was told").1
    };
    // The rate is zero without a cell. Afterwards it is that of LTE in 20 MHz, which is at most 75
    // Mbit/s.
    assert_eq!(last_before(row.left_s + 0.003), 0);
    let there = last_before(row.completed_s + 0.003);
    assert!((1_000_000..80_000_000).contains(&there), "{there}");
    assert!(rates.iter().all(|&(_, rate)| rate < 80_000_000));
    // X-TCP keeps few packets in the queue and loses none. CUBIC fills the queue.
    let run = |control: &str, more: &[&str]| {
        let control = format!("flow.download.congestion-control=\"{control}\"");
        let scenario = example("", &[&[&control[..]], more].concat());
        let mut world: crate::common::Observed<Rows> =
            build(&scenario, Rows::default()).expect("a world");
        while world.run(Time::ZERO + scenario.duration, u64::MAX) {}
        let delivered = world.delivered_packets();
        (world.into_probe(), delivered)
    };
    let (cubic, before) = run("cubic", &[]);
    let (x_tcp, delivered) = run("x-tcp", &[info]);
    assert_eq!((cubic.handovers.len(), x_tcp.handovers.len()), (1, 1));
    let forwarded = |rows: &Rows| rows.handovers[0].forwarded_numbered;
    assert!(
        forwarded(&x_tcp) < forwarded(&cubic),
        "{} {}",
        forwarded(&x_tcp),
        forwarded(&cubic)
    );
    assert!(delivered * 10 > before * 5, "{delivered} {before}");
}

/// The UE has no target cell. T310 expires when it has driven away, and a notice reports this.
#[test]
fn freeze_tcp_and_tcp_f_know_of_a_handover() {
    for (tcp, info) in [
        ("freeze", "{ link = \"phone\", prediction = \"1 s\" }"),
        ("feedback", "{ link = \"phone\" }"),
        ("elfn", "{ link = \"phone\" }"),
    ] {
        let response = format!("flow.download.tcp.outage-response=\"{tcp}\"");
        let info = format!("flow.download.link-info={info}");
        // The interruption is longer than the smallest retransmission timeout of 200 ms.
        let long = "mobility-management.interruption=\"600 ms\"";
        let run = |overrides: &[&str]| {
            let scenario = example("", overrides);
            let mut world: crate::common::Observed<Rows> =
                build(&scenario, Rows::default()).expect("a world");
            while world.run(Time::ZERO + scenario.duration, u64::MAX) {}
            let delivered = world.delivered_packets();
            (world.into_probe(), delivered)
        };
        let (informed, delivered) = run(&[&response, &info, long]);
        let (plain, before) = run(&[long]);
        assert_eq!(informed.handovers.len(), 1, "{tcp}");
        assert!(plain.timeouts > 0, "{tcp}");
        assert_eq!(informed.timeouts, 0, "{tcp}");
        assert!(delivered * 10 > before * 9, "{tcp}: {delivered}, {before}");
    }
}

fn fingerprint(scenario: &Scenario) -> (fadeout_core::Fingerprint, u64) {
    let mut world = build(scenario, NullProbe).expect("a world");
    while world.run(Time::ZERO + scenario.duration, u64::MAX) {}
    (world.fingerprint(), world.delivered_packets())
}

#[test]
fn a_route_of_the_fewest_links_is_what_it_would_be_without() {
    let route = "flow.download.route=[\"internet\", \"s1-west\", \"phone\"]";
    let cell = "ue.phone.cell=\"west\"";
    let named = fingerprint(&example("", &[route, cell]));
    assert_eq!(named, fingerprint(&example("", &[cell])));
}

#[test]
fn multipath_tcp_keeps_its_paths_through_a_handover() {
    let more = "[link.wifi]\nfrom = \"core\"\nto = \"phone\"\nrate = \"5 Mbit/s\"\ndelay = \"8 ms\"\n\
                queue = { limit = \"100 packets\" }\n";
    let paths = "flow.download.multipath={ paths = [{ links = [\"internet\", \"s1-west\", \"phone\"] }, \
                 { links = [\"internet\", \"wifi\"] }] }";
    let scenario = example(more, &[paths, "ue.phone.cell=\"west\""]);
    let mut world: crate::common::Observed<Rows> =
        build(&scenario, Rows::default()).expect("a world");
    let mut at = [0; 2];
    for (delivered, until_s) in at.iter_mut().zip([17, 20]) {
        while world.run(Time::from_nanos(until_s * 1_000_000_000), u64::MAX) {}
        *delivered = world.delivered_packets();
    }
    let rows = world.into_probe();
    let [row] = &rows.handovers[..] else {
        panic!("one handover: {:?}", rows.handovers);
    };
    assert!(row.switched_s < 17.0 && row.downlink_gap_s < 0.2, "{row:?}");
    // Wi-Fi alone would carry 5 Mbit/s, which are some 1,300 packets and half as many
    // acknowledgments in 3 s. More packets arrive, so the path over the cell carries data, too.
    assert!(at[1] - at[0] > 6_000, "{at:?}");
}

#[test]
fn what_changes_with_the_cell_tells_nothing() {
    let info = "flow.download.link-info={ link = \"internet\" }";
    let refused = build(&example("", &[info]), NullProbe).map(|_| ());
    let error = refused.expect_err("a link").to_string();
    assert!(error.contains("expected the name of the UE"), "{error}");
}

/// A wall blocks the beams of a UE in a 28 GHz cell for a while. The flow of the UE gets notices of
/// it.
#[test]
fn a_flow_is_told_when_beams_fail_and_when_they_are_found_anew() {
    let text = r#"
duration = "3 s"
[link.backhaul]
from = "server"
to = "small"
delay = "1 ms"
rate = "1 Gbit/s"
[cell.small]
radio = "nr"
carrier = "28 GHz"
bandwidth = "50 MHz"
channel = { path-loss = "free-space", fading = "none", shadowing = false, beam-tracking = "20 ms", reflected-path = "10 dB", blockage = { model = "periodic", first = "1010 ms", period = "10 s", duration = "500 ms", loss = "120 dB" } }
[ue.phone]
position = ["45 m", "0 m"]
[mobility-management]
beam-failure-instance-max-count = 3
beam-failure-detection-timer = 4
[flow.download]
from = "server"
to = "phone"
link-info = { link = "phone", delay = "3 ms" }
"#;
    let source = Source {
        name: "beams.toml".to_owned(),
        base_dir: ".".into(),
    };
    let parse = |text: &str| fadeout_scenario::parse(text, &source, &[], fadeout_sim::catalog());
    let scenario = parse(text).unwrap_or_else(|errors| panic!("{errors}"));
    let heard = Arc::new(Mutex::new(Vec::new()));
    let choose = &mut |_: &fadeout_scenario::Flow| {
        let recorder = NoticeRecorder(Arc::clone(&heard));
        Some(Congestion::Custom(Custom(Box::new(recorder))))
    };
    let mut world = build_with(&scenario, choose);
    while world.run(Time::ZERO + scenario.duration, u64::MAX) {}
    let heard = heard.lock().expect("one thread").clone();
    // Only the notices of one end are compared. The third measurement of the blocked beam is at
    // 1,060 ms, and Msg3 is answered 15 ms later. Each notice arrives 3 ms after its event.
    let one: Vec<_> = heard.iter().step_by(2).collect();
    let ms = |ms| Time::ZERO + fadeout_core::Span::from_millis(ms);
    assert_eq!(
        one,
        [
            &(ms(1063), LinkInfo::BlockageBegan),
            &(ms(1078), LinkInfo::BlockageEnded)
        ]
    );
    let lte = text
        .replace("radio = \"nr\"", "radio = \"lte\"")
        .replace("50 MHz", "20 MHz")
        .replace("28 GHz", "2 GHz");
    let scenario = parse(&lte).unwrap_or_else(|errors| panic!("{errors}"));
    let Err(error) = build(&scenario, NullProbe) else {
        panic!("LTE has no beams to look at");
    };
    assert!(
        error
            .to_string()
            .contains("beam-failure-instance-max-count"),
        "{error}"
    );
}
