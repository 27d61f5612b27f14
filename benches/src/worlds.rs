//! Worlds of the benchmarks.

use fadeout_core::{NullProbe, Span, Time};
use fadeout_scenario::{Scenario, Source};
use fadeout_sim::World;
use std::path::PathBuf;

/// Returns the scenario that a text describes.
pub fn checked(text: &str) -> Scenario {
    let source = Source {
        name: "benchmark".to_owned(),
        base_dir: PathBuf::from("."),
    };
    fadeout_scenario::parse(text, &source, &[], fadeout_sim::catalog())
        .unwrap_or_else(|errors| panic!("the scenario is right: {errors}"))
}

/// Returns the world of a scenario after the time `run`.
pub fn world_after(text: &str, run: Span) -> World<NullProbe> {
    let scenario = checked(text);
    let mut world = World::unobserved(&scenario).expect("the scenario is right");
    world.run(Time::ZERO + run, u64::MAX);
    world
}

/// Returns a world after half a second of data over two cells. Either one UE has a leg in each cell
/// (dual connectivity), or each of two UEs has half of the data. Data of the second cell is sent
/// over the link between the base stations, or over a link of its own. `flows` contains the rate of
/// datagrams in Mbit/s, or `None` for CUBIC.
pub fn two_cells(
    ues: &str,
    has_own_route: bool,
    flows: &[(&str, Option<u32>)],
) -> World<NullProbe> {
    let mut text = String::from(
        r#"
duration = "10 s"
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
carrier = "3.5 GHz"
bandwidth = "20 MHz"
channel = { path-loss = "uma" }
[cell.other]
carrier = "3.7 GHz"
bandwidth = "20 MHz"
channel = { path-loss = "uma" }
"#,
    );
    if has_own_route {
        text += "[link.core2]\nfrom = \"server\"\nto = \"other\"\nrate = \"10 Gbit/s\"\ndelay = \"1 ms\"\n";
    }
    text += ues;
    for (ue, rate) in flows {
        text += &format!("[flow.{ue}]\nfrom = \"server\"\nto = \"{ue}\"\n");
        text += &match rate {
            Some(rate) => format!(
                "application = {{ kind = \"packet-stream\", size = \"972 B\", rate = \"{rate} Mbit/s\" }}\n"
            ),
            None => String::from("congestion-control = \"cubic\"\n"),
        };
    }
    world_after(&text, Span::from_millis(500))
}

/// Returns a world at 2 s, in which UEs without flows pass twenty LTE cells. A UE enters a new cell
/// about every 4 s.
pub fn street() -> World<NullProbe> {
    let mut text = String::from("duration = \"60 s\"\n[mobility-management]\n");
    for cell in 0..20 {
        text += &format!(
            "[cell.c{cell}]\nradio = \"lte\"\ncarrier = \"2 GHz\"\nbandwidth = \"10 MHz\"\n\
             position = [\"{} m\", \"0 m\"]\ntx-power = \"30 dBm\"\n\
             channel = {{ path-loss = \"uma\", line-of-sight = \"obstructed\", fading = \"none\" }}\n",
            150 * cell
        );
    }
    for ue in 0..16 {
        text += &format!(
            "[ue.u{ue}]\nposition = [\"{} m\", \"20 m\"]\n\
             mobility = {{ model = \"line\", x-speed = 40 }}\n",
            100 * ue
        );
    }
    world_after(&text, Span::from_secs(2))
}

/// Returns a world at 2 s, in which a bulk flow over QUIC fills a link of 100 Mbit/s.
pub fn over_quic() -> World<NullProbe> {
    let text = r#"
duration = "10 s"
[link.path]
from = "server"
to = "client"
rate = "100 Mbit/s"
delay = "10 ms"
queue.limit = "100 packets"
[flow.bulk]
from = "server"
to = "client"
transport = { kind = "quic", congestion-control = "noq:cubic" }
"#;
    world_after(text, Span::from_secs(2))
}
