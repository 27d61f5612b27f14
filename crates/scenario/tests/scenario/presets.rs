//! Tests of presets: those of a cell, and those of the equipment's timing.

use super::errors::only;
use super::*;
use fadeout_core::{Dbm, Hertz, Span};
use fadeout_scenario::{Cell, EquipmentDelay, MobilityManagement};

/// Scenario with a cell of one line.
const ONE_LINE: &str = "duration = \"1 s\"\n[cell.macro]\npreset = \"n78-100mhz\"\n";

/// Scenario with an LTE and an NR cell under mobility management, after its first line.
const BOTH: &str = r#"duration = "1 s"
[cell.old]
preset = "lte-20mhz"
[cell.new]
preset = "n78-100mhz"
[mobility-management]
events = [{ kind = "a3" }]
"#;

fn cell(text: &str) -> Cell {
    accepted(text).cells[0].clone()
}

fn mobility(text: &str) -> MobilityManagement {
    accepted(text).mobility.expect("it is on")
}

#[test]
fn a_commercial_cell_is_one_line() {
    let cell = cell(ONE_LINE);
    assert_eq!((cell.radio.name.as_str(), cell.tx_power), ("nr", Dbm(51.0)));
    assert_eq!((cell.carrier, cell.bandwidth), (Hertz(3.5e9), Hertz(100e6)));
    assert_eq!(cell.position.z, 25.0);
    assert_eq!(cell.channel.path_loss.name, "uma");
    assert_eq!(cell.antenna.name, "column");
}

#[test]
fn every_preset_of_a_cell_makes_a_cell() {
    for preset in fadeout_scenario::CELL_PRESETS {
        let text = ONE_LINE.replace("n78-100mhz", preset.name);
        assert!(cell(&text).carrier.0 > 0.0, "{}", preset.name);
    }
}

#[test]
fn keys_of_the_file_take_precedence_over_a_preset() {
    let own = "tx-power = \"40 dBm\"\nradio = \"lte\"\nchannel = { rain = 3 }\n";
    let cell = cell(&format!("{ONE_LINE}{own}"));
    assert_eq!(
        (cell.radio.name.as_str(), cell.tx_power),
        ("lte", Dbm(40.0))
    );
    assert_eq!(cell.channel.rain, 3.0);
    assert_eq!(cell.channel.path_loss.name, "uma");
}

#[test]
fn a_deployment_takes_the_carrier_of_a_preset_and_keeps_its_sites() {
    let text = |cell: &str| {
        let layout = "layout = { kind = \"umi\", sites = \"1\" }";
        format!("duration = \"1 s\"\n[deployment.city]\n{layout}\ncell = {{ {cell} }}\n")
    };
    let (with, without) = (
        cell(&text("preset = \"n78-100mhz\"")),
        cell(&text("radio = \"nr\"")),
    );
    assert_eq!((with.carrier, with.bandwidth), (Hertz(3.5e9), Hertz(100e6)));
    assert_eq!(with.channel, without.channel);
    assert_eq!(
        (with.position, with.tx_power),
        (without.position, without.tx_power)
    );
    assert_eq!(with.antenna, without.antenna);
}

#[test]
fn an_unknown_preset_is_refused_with_the_nearest_name() {
    let (message, error) = only(&ONE_LINE.replace("n78", "n79"));
    assert!(message.starts_with("3:10: unknown"), "{message}");
    let rendered = error.render();
    assert!(rendered.contains("n78-100mhz"), "{rendered}");
}

#[test]
fn timing_gives_the_keys_that_the_file_lacks() {
    let ideal = mobility(BOTH);
    assert_eq!(ideal.admission_delay, Span::from_millis(10));
    let lte = mobility(&format!("timing = \"commercial-lte\"\n{BOTH}"));
    let p90 = lte.admission_delay_p90.expect("a spread");
    assert!(ideal.admission_delay < lte.admission_delay && lte.admission_delay < p90);
    assert_eq!(lte.interruption, Span::from_millis(26));
    let own = format!("timing = \"commercial-lte\"\n{BOTH}interruption = \"9 ms\"\n");
    assert_eq!(mobility(&own).interruption, Span::from_millis(9));
}

#[test]
fn a_median_of_the_file_gets_no_90th_percentile_of_the_timing() {
    let own = format!("timing = \"commercial-lte\"\n{BOTH}admission-delay = \"200 ms\"\n");
    assert_eq!(mobility(&own).admission_delay_p90, None);
}

#[test]
fn timing_gives_delays_to_the_cells_of_its_technology() {
    let scenario = accepted(&format!("timing = \"commercial-nr-sa\"\n{BOTH}"));
    let delays = |name: &str| {
        let mut cells = scenario.cells.iter();
        cells
            .find(|cell| cell.name == name)
            .and_then(|cell| cell.equipment_delay)
    };
    let both = Span::from_micros(3650);
    let delay = EquipmentDelay {
        downlink: both,
        uplink: both,
    };
    assert_eq!((delays("new"), delays("old")), (Some(delay), None));
}

#[test]
fn timing_without_a_cell_of_its_technology_is_refused_at_its_name() {
    let (message, error) = only(&format!("timing = \"commercial-lte\"\n{ONE_LINE}"));
    assert!(
        message.starts_with("1:10: `commercial-lte` is the timing"),
        "{message}"
    );
    let rendered = error.render();
    assert!(rendered.contains("radio = \"lte\""), "{rendered}");
}

#[test]
fn ideal_timing_changes_nothing() {
    assert_eq!(
        accepted(&format!("timing = \"ideal\"\n{BOTH}")),
        accepted(BOTH)
    );
}

#[test]
fn cells_of_one_node_have_one_delay_of_equipment() {
    let text = |second: &str| {
        let delay =
            |ms: &str| format!("node = \"mast\"\nequipment-delay = {{ downlink = \"{ms} ms\" }}\n");
        let other = "[cell.second]\npreset = \"lte-20mhz\"\n";
        format!("{ONE_LINE}{}{other}{}", delay("1"), delay(second))
    };
    accepted(&text("1"));
    let (message, _) = only(&text("2"));
    let expected =
        "`macro` and `second` belong to one node, but have different delays of equipment";
    assert!(message.ends_with(expected), "{message}");
}

/// Scenario of a link with a table for its end.
fn with_node(keys: &str) -> String {
    format!("{LINK}\n[node.client]\n{keys}\n")
}

#[test]
fn a_phone_is_one_line() {
    let scenario = accepted(&with_node("preset = \"phone\"\ndevice-queue = \"50 kB\"\n"));
    let id = scenario.node("client").expect("node");
    let node = &scenario.nodes[id.index()];
    assert!(node.receive_offload && node.small_queues);
    assert_eq!(node.queued_packets(), Some(1000));
    assert_eq!(node.device_queue, Some(fadeout_core::Bytes(50_000)));
}

#[test]
fn keys_of_a_host_that_contradict_each_other_are_refused_at_their_place() {
    let cases = [
        ("receive-hold = \"1 ms\"", "without `receive-offload`"),
        ("send-queue = \"9 packets\"", "without `device-queue`"),
        ("device-queue = \"9 kB\"", "without `send-queue`"),
        ("small-queues = false", "without `send-queue`"),
        (
            "receive-rate = \"1 Mbit/s\"\nkernel = \"6.12\"",
            "a kernel has no `receive-rate`",
        ),
    ];
    for (keys, expected) in cases {
        let (message, error) = only(&with_node(keys));
        assert!(message.contains(expected), "{message}");
        assert!(error.to_string().contains(":"), "{error}");
    }
    let (message, _) = only(&with_node("preset = \"fone\""));
    assert!(message.contains("fone"), "{message}");
}

#[test]
fn the_table_of_a_group_of_ues_applies_to_each_of_them() {
    let text = format!(
        "{ONE_LINE}[node.phone]\nreceive-offload = true\n[ue.phone]\ncount = 2\n\
         position = [\"50 m\", \"0 m\"]\n"
    );
    let scenario = accepted(&text);
    for name in ["phone-0", "phone-1"] {
        let id = scenario.node(name).expect("node");
        assert!(scenario.nodes[id.index()].receive_offload, "{name}");
    }
}
