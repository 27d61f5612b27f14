//! Tests of valid scenarios: the project's examples, and every key of the format.

use super::*;
use fadeout_core::registry::Value;
use fadeout_core::{Bytes, CellId, Meters, NodeId, Rate, Span, Time, UeId};
use fadeout_scenario::*;
use std::path::Path;

/// Returns the name and the text of every file in the project's folder of examples.
pub(crate) fn examples() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let mut examples: Vec<(String, String)> = std::fs::read_dir(folder)
        .expect("the examples exist")
        .map(|file| file.expect("readable").path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "toml")
        })
        .map(|path| {
            (
                path.display().to_string(),
                std::fs::read_to_string(&path).expect("text"),
            )
        })
        .collect();
    examples.sort();
    examples
}

/// Scenario with most keys of the format, and with every sort of value.
pub(crate) const EVERYTHING: &str = include_str!("everything.toml");

/// Scenario with all keys of deployments. Deployments become keys of cells and UEs.
pub(crate) const DEPLOYED: &str = include_str!("deployed.toml");

/// Scenario with every key of conditional handover, which cannot be combined with bicasting.
pub(crate) const CONDITIONAL: &str = include_str!("conditional.toml");
pub(crate) const SWITCHED: &str = include_str!("switched.toml");
pub(crate) const RACH_LESS: &str = include_str!("../../../sim/tests/keys/rach-less.toml");
pub(crate) const NODES: &str = include_str!("nodes.toml");

pub(crate) const ATTACH: &str = include_str!("../../../sim/tests/keys/attach.toml");

/// Scenario with a timetable of handovers.
pub(crate) const TIMETABLE: &str = include_str!("../../../sim/tests/keys/timetable.toml");

/// Scenarios that together contain every key of the format.
pub(crate) const OF_KEYS: [&str; 8] = [
    EVERYTHING,
    DEPLOYED,
    CONDITIONAL,
    SWITCHED,
    RACH_LESS,
    NODES,
    ATTACH,
    TIMETABLE,
];

/// Returns the texts of the scenarios in [`OF_KEYS`] and of the examples.
pub(crate) fn texts() -> impl Iterator<Item = String> {
    let of_examples = examples().into_iter().map(|(_, text)| text);
    of_examples.chain(OF_KEYS.map(str::to_owned))
}

#[test]
fn every_example_is_accepted() {
    let examples = examples();
    assert!(examples.len() >= 6);
    for (path, text) in examples {
        if let Err(errors) = read(&text, &[]) {
            panic!("{path}\n{errors}");
        }
    }
}

#[test]
fn a_resolved_scenario_reads_back_as_itself() {
    for text in texts() {
        let scenario = accepted(&text);
        let resolved = toml_from_json(&scenario.to_json());
        assert_eq!(accepted(&resolved), scenario, "{resolved}");
    }
}

#[test]
fn the_smallest_scenario_has_every_default() {
    let scenario = accepted(&format!("{LINK}{FLOW}"));
    assert_eq!((scenario.title.as_str(), scenario.seed), ("", 1));
    assert_eq!(scenario.duration, Span::from_secs(10));
    let link = &scenario.links[0];
    assert_eq!((link.from, link.to), (NodeId(0), NodeId(1)));
    assert_eq!(
        link.forward.rate,
        RateModel::Constant(Rate::from_bits_per_sec(10_000_000))
    );
    assert_eq!(link.reverse.rate, RateModel::Constant(Rate::UNLIMITED));
    assert_eq!(
        link.reverse.delay,
        DelayModel::Constant(Span::from_millis(10))
    );
    assert_eq!(link.forward.queue.limit, QueueLimit::Packets(1000));
    assert_eq!(link.forward.queue.discipline.name, "drop-tail");
    assert_eq!(link.forward.loss, None);
    let flow = &scenario.flows[0];
    assert_eq!(
        (flow.application.name.as_str(), flow.profile.as_str()),
        ("bulk", "linux")
    );
    assert_eq!(flow.congestion_control, None);
    assert_eq!(
        scenario.probe.congestion,
        Sampling::Every(Span::from_millis(10))
    );
    assert_eq!(scenario.probe.capture, vec![]);
    assert_eq!(scenario.probe.radio_capture, vec![]);
}

#[test]
fn every_sort_of_value_arrives() {
    let scenario = accepted(EVERYTHING);
    let link = |name| {
        scenario
            .links
            .iter()
            .find(|link| link.name == name)
            .expect("link")
    };
    assert_eq!(
        link("steps").forward.rate,
        RateModel::Steps {
            steps: vec![
                (Time::ZERO, Rate::from_bits_per_sec(10_000_000)),
                (Time::ZERO + Span::from_secs(5), Rate::ZERO),
            ],
            repeat_every: Some(Span::from_secs(10)),
        }
    );
    match &link("trace").forward.rate {
        RateModel::Trace { trace, .. } => assert_eq!(&trace.bytes[..], b"1\n2\n3\n"),
        other => panic!("{other:?}"),
    }
    assert_eq!(
        link("trace").forward.queue.limit,
        QueueLimit::Time(Span::from_millis(50))
    );
    assert_eq!(
        link("steps").forward.queue.limit,
        QueueLimit::Bytes(Bytes(500_000))
    );
    let blockage = |name| {
        scenario
            .blockages
            .iter()
            .find(|one| one.name == name)
            .expect("blockage")
    };
    assert_eq!(
        blockage("periodic").schedule,
        Some(Schedule::Periodic {
            period: Span::from_secs(5),
            duration: Span::from_secs(1),
            phase: Phase::Fixed(Span::from_secs(4)),
        })
    );
    assert_eq!(blockage("periodic").effect, BlockageEffect::Held);
    assert_eq!(
        blockage("periodic").hold_limit,
        Some(HoldLimit::Bytes(Bytes(10_000_000)))
    );
    match &blockage("car").depth {
        BlockageDepth::Geometry { geometry } => {
            let Distances { near, far } = geometry.distance;
            assert_eq!((near, far), (Meters(0.5), Meters(1.0)));
        }
        other => panic!("{other:?}"),
    }
    let flow = |name| {
        scenario
            .flows
            .iter()
            .find(|flow| flow.name == name)
            .expect("flow")
    };
    assert_eq!(flow("many-2").start, Time::ZERO + Span::from_millis(1020));
    assert_eq!(
        flow("many-0").application.parameters.number("size", 0.0),
        1e7
    );
    let tcp = &flow("tuned").tcp;
    assert_eq!(tcp.span("minimum-rto", Span::ZERO), Span::from_millis(300));
    assert!(tcp.0.contains(&("undo".to_owned(), Value::Bool(false))));
    assert_eq!(
        (tcp.number("initial-window", 0.0), tcp.choice("ack", "")),
        (4.0, "every")
    );
    let control = flow("tuned").congestion_control.as_ref().expect("given");
    assert_eq!(
        (
            control.name.as_str(),
            control.parameters.number("beta", 0.0)
        ),
        ("cubic", 0.5)
    );
    let multipath = flow("multi").multipath.as_ref().expect("given");
    assert_eq!(multipath.paths[0].hops.len(), 2);
    assert_eq!(
        (multipath.paths[1].backup, multipath.paths[1].until),
        (true, Some(Time::ZERO + Span::from_secs(2)))
    );
    assert_eq!(multipath.path_scheduler.name, "lowest-rtt");
    assert_eq!(multipath.penalisation, Some(false));
    assert_eq!(scenario.probe.congestion, Sampling::All);
    assert_eq!(scenario.probe.queue, Sampling::Off);
    assert_eq!(scenario.probe.throughput, None);
    assert_eq!(
        scenario.probe.capture,
        vec![scenario.node("client").expect("node")]
    );
    // UE 1 is `slow`, and UEs 2 to 4 are the group `crowd`. The second naming of `crowd-1` adds
    // nothing.
    let ues = (1..=4).map(|ue| RadioSubject::Ue(UeId(ue)));
    let subjects: Vec<_> = [RadioSubject::Cell(CellId(1))]
        .into_iter()
        .chain(ues)
        .collect();
    assert_eq!(scenario.probe.radio_capture, subjects);
    assert_eq!(scenario.probe.radio_capture_snap, Bytes(4000));
}

#[test]
fn an_alias_resolves_to_the_canonical_name() {
    let scenario = accepted(&format!("{LINK}{FLOW}congestion-control = \"new-reno\"\n"));
    assert_eq!(
        scenario.flows[0]
            .congestion_control
            .as_ref()
            .expect("given")
            .name,
        "newreno"
    );
}

#[test]
fn without_a_phase_the_first_blockage_ends_with_the_first_period() {
    let schedule = "schedule = { period = \"5 s\", duration = \"200 ms\" }";
    let text = format!("{LINK}[blockage.car]\nlink = \"radio\"\n{schedule}\n");
    assert_eq!(
        accepted(&text).blockages[0].schedule,
        Some(Schedule::Periodic {
            period: Span::from_secs(5),
            duration: Span::from_millis(200),
            phase: Phase::Fixed(Span::from_millis(4800)),
        })
    );
}

#[test]
fn flows_keep_the_order_of_the_file() {
    let flows: String = ["z", "b", "a10", "a9"]
        .map(|name| FLOW.replace("bulk", name))
        .concat();
    let scenario = accepted(&format!("{LINK}{flows}"));
    let names: Vec<&str> = scenario
        .flows
        .iter()
        .map(|flow| flow.name.as_str())
        .collect();
    assert_eq!(names, ["z", "b", "a10", "a9"]);
}
