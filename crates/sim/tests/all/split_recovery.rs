//! Tests that losses on the legs of a split bearer are repaired as on a bearer in one cell.

use crate::common::unobserved;
use fadeout_core::Time;
use fadeout_scenario::{Override, Scenario, Source};
use fadeout_sim::{catalog, summary};
use serde_json::Value;

/// A network in which blocks are sent only once, so that RLC repairs a tenth of them. Only control
/// PDUs of RLC use the uplink.
const NETWORK: &str = r#"
duration = "4 s"
seed = 5
[link.core]
from = "server"
to = "master"
rate = "10 Gbit/s"
delay = "1 ms"
[link.xn]
from = "master"
to = "other"
rate = "10 Gbit/s"
delay = "2 ms"
[cell.master]
radio = { kind = "nr", harq-transmissions = 1 }
carrier = "3.5 GHz"
bandwidth = "20 MHz"
channel = { path-loss = "uma" }
[cell.other]
radio = { kind = "nr", harq-transmissions = 1 }
carrier = "3.7 GHz"
bandwidth = "20 MHz"
channel = { path-loss = "uma" }
[ue.phone]
cell = "master"
downlink-sinr = "15 dB"
uplink-sinr = "12 dB"
[flow.user]
from = "server"
to = "phone"
application = { kind = "packet-stream", size = "972 B", rate = "20 Mbit/s", packets = 9000 }
"#;

fn run(overrides: &[&str]) -> Value {
    let source = Source {
        name: "test".to_owned(),
        base_dir: ".".into(),
    };
    let overrides: Vec<Override> = overrides.iter().map(|text| Override::new(*text)).collect();
    let scenario: Scenario = fadeout_scenario::parse(NETWORK, &source, &overrides, catalog())
        .unwrap_or_else(|error| panic!("{error}"));
    let mut world = unobserved(&scenario).expect("a world");
    while world.run(Time::ZERO + scenario.duration, u64::MAX) {}
    summary(&scenario, &world)
}

#[test]
fn a_status_is_asked_for_on_the_leg_that_it_is_for() {
    let up = ["flow.user.from=\"phone\"", "flow.user.to=\"server\""];
    let split = [
        "ue.phone.pscell=\"other\"",
        "ue.phone.split={ ul-data-split-threshold = \"0 B\" }",
        "flow.user.application.rate=\"60 Mbit/s\"",
    ];
    for overrides in [&[][..], &up[..]] {
        let [single, split] = [&[][..], &split[..]].map(|more| run(&[overrides, more].concat()));
        let value_of = |summary: &Value, key: &str| {
            let value = &summary["datagram_flows"][0][key];
            value
                .as_f64()
                .unwrap_or_else(|| panic!("{key} of {summary:#}"))
        };
        // If a status report waited for another reason to request a grant, it would come 60 ms
        // late. PDCP would then give packets up.
        let late = value_of(&split, "p99_delay_s") - value_of(&single, "p99_delay_s");
        assert!(
            late < 0.012,
            "{overrides:?}: {late}, of which the link between base stations is 2 ms"
        );
        // PDCP gives up packets that take longer than t-Reordering, on a single leg too.
        let [lost, lost_alone] = [&split, &single].map(|run| value_of(run, "lost_datagrams"));
        assert!(lost <= lost_alone, "{overrides:?}: {lost}, {lost_alone}");
    }
}
