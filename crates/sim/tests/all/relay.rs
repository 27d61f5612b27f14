//! Tests of a car that forwards packets for another car over a link between them.

use crate::common::build;
use crate::common::unobserved;
use crate::common::{end, parse};
use fadeout_core::random::Stream;
use fadeout_core::{BlockageRow, Probe, Span, Time};
use fadeout_radio::channel::blockage::Deafness;
use fadeout_scenario::Scenario;
use fadeout_sim::summary;
use serde_json::Value;

/// Returns a base station that serves one car, which forwards for another. `more` is text for
/// obstacles between them.
fn relayed(more: &str) -> String {
    format!(
        "duration = \"4 s\"\n\
         [link.core]\nfrom = \"server\"\nto = \"base\"\nrate = \"1 Gbit/s\"\ndelay = \"5 ms\"\n\
         [cell.base]\nradio = \"nr\"\ncarrier = \"28 GHz\"\nbandwidth = \"50 MHz\"\ntx-power = \"23 dBm\"\nheight = \"5 m\"\n\
         channel = {{ path-loss = \"v2x-urban\", line-of-sight = \"geometry\", shadowing = false, fading = \"none\" }}\n\
         [ue.ahead]\nposition = [\"20 m\", \"-10 m\"]\n\
         [ue.behind]\nposition = [\"20 m\", \"10 m\"]\n\
         [link.hop]\nfrom = \"ahead\"\nto = \"behind\"\nrate = \"100 Mbit/s\"\ndelay = \"100 us\"\n\
         [flow.bulk]\nfrom = \"server\"\nto = \"behind\"\nroute = [\"core\", \"ahead\", \"hop\"]\n{more}"
    )
}

fn outcome(text: &str) -> Value {
    let scenario = parse(text, ".".into(), &[]);
    let mut world = unobserved(&scenario).expect("a world");
    while world.run(end(&scenario), u64::MAX) {}
    summary(&scenario, &world)
}

/// Times at which links are blocked.
#[derive(Debug, Default)]
struct Blocked(Vec<(Time, Time)>);

impl Probe for Blocked {
    fn blockage(&mut self, row: BlockageRow) {
        self.0.push((row.start_s, row.end_s));
    }
}

/// Returns the times at which the link between the cars is blocked, which are the same in both
/// directions.
fn closed(scenario: &Scenario) -> Vec<(Time, Time)> {
    let mut world = build(scenario, Blocked::default()).expect("a world");
    while world.run(end(scenario), u64::MAX) {}
    let mut found = world.into_probe().0;
    found.sort_unstable();
    found.dedup();
    found
}

fn goodput_mbps(summary: &Value) -> f64 {
    summary["flows"][0]["goodput_mbps"]
        .as_f64()
        .expect("a number")
}

#[test]
fn what_a_car_forwards_arrives_and_a_deaf_hop_costs_what_it_loses() {
    let clear = outcome(&relayed(""));
    assert!(goodput_mbps(&clear) > 80.0, "{}", goodput_mbps(&clear));
    let deaf = |effect: &str| {
        let contention =
            "contention = { model = \"deafness\", dwell = \"100 ms\", mean-clear = \"300 ms\" }";
        outcome(&relayed(&format!(
            "[blockage.deaf]\nlink = \"hop\"\n{contention}\neffect = \"{effect}\"\n"
        )))
    };
    let (held, lost) = (deaf("held"), deaf("lost"));
    let (held_mbps, lost_mbps) = (goodput_mbps(&held), goodput_mbps(&lost));
    assert!(held_mbps < 0.95 * goodput_mbps(&clear), "{held_mbps}");
    assert!(lost_mbps < held_mbps, "{lost_mbps} {held_mbps}");
}

#[test]
fn the_hop_is_deaf_when_contention_says_so() {
    let text = relayed("[blockage.deaf]\nlink = \"hop\"\ncontention = \"deafness\"\n");
    let found = closed(&parse(&text, ".".into(), &[]));
    let until = Time::ZERO + Span::from_secs(4);
    let drawn = Deafness::default().spells(until, Stream::new(1, "blockage", 0), 1_000);
    assert_eq!(Some(&found), drawn.expect("a model").as_ref());
    assert!(!found.is_empty());
}

/// A truck of 13 m crosses the path between them at 20 m/s.
#[test]
fn a_truck_between_two_cars_cuts_their_path_for_its_length() {
    let trace = std::env::temp_dir().join(format!("fadeout-relay-{}.xml", std::process::id()));
    let steps: String = (0..=4)
        .map(|s| {
            let x = -20.0 + 20.0 * f64::from(s);
            format!(
                "<timestep time=\"{s}\"><vehicle id=\"t\" x=\"{x}\" y=\"0\" angle=\"90\" type=\"truck\" speed=\"20\"/></timestep>"
            )
        })
        .collect();
    std::fs::write(&trace, format!("<fcd-export>{steps}</fcd-export>")).expect("a file");
    let name = trace
        .file_name()
        .and_then(|name| name.to_str())
        .expect("a name");
    let text = relayed(&format!(
        "[vehicles.road]\nroad = {{ file = \"{name}\", format = \"sumo-fcd\" }}\n\
         types = [{{ name = \"truck\", length = \"13 m\", width = \"2.6 m\", height = \"3 m\" }}]\n\
         [blockage.cut]\nlink = \"hop\"\nin-between = {{ carrier = \"28 GHz\" }}\n"
    ));
    let scenario = parse(&text, std::env::temp_dir(), &[]);
    let found = closed(&scenario);
    std::fs::remove_file(&trace).expect("it is there");
    let [(from, to)] = found[..] else {
        panic!("one: {found:?}");
    };
    // The truck's front reaches the path, at x = 20 m, after 2 s. The blockage begins a little
    // earlier, at a diffraction loss of 10 dB, when the front is 0.09 m before the path. The
    // tolerance covers this distance at 20 m/s and two samples of a millisecond.
    let (begins, lasts) = (from.as_secs_f64(), to.since(from).as_secs_f64());
    assert!((begins - 2.0).abs() < 0.006, "{begins}");
    assert!((lasts - 13.0 / 20.0).abs() < 0.012, "{lasts}");
}

#[test]
fn what_is_nowhere_or_said_twice_is_an_error() {
    let refused = |more: &str| {
        let text = relayed(more);
        let source = fadeout_scenario::Source {
            name: "test".to_owned(),
            base_dir: ".".into(),
        };
        match fadeout_scenario::parse(&text, &source, &[], fadeout_sim::catalog()) {
            Err(errors) => errors.to_string(),
            Ok(scenario) => unobserved(&scenario).expect_err("refused").to_string(),
        }
    };
    for (more, expected) in [
        (
            "[blockage.cut]\nlink = \"core\"\nin-between = { carrier = \"28 GHz\" }\n",
            "has no place; expected a node with a UE at both ends",
        ),
        (
            "[blockage.cut]\nlink = \"hop\"\n",
            "expected one of `schedule`, `contention` and `in-between`",
        ),
        (
            "[blockage.cut]\nlink = \"hop\"\ncontention = \"deafness\"\nschedule = { period = \"1 s\", duration = \"100 ms\" }\n",
            "expected one of `schedule`, `contention` and `in-between`",
        ),
        (
            "[blockage.cut]\nlink = \"hop\"\ncontention = \"periodic\"\n",
            "expected `contention = \"deafness\"`",
        ),
    ] {
        let message = refused(more);
        assert!(message.contains(expected), "{message}");
    }
}
