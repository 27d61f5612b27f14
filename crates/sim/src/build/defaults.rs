//! Tests that a minimal scenario gets the defaults of each layer. So each default is defined in one
//! crate only.

use super::{link, mobility, multipath, radio, vehicles};
use crate::world::Interfaces;
use fadeout_core::{Dbm, Hertz, Meters, NodeId};
use fadeout_link::{Limit, LinkConfig, QueueConfig};
use fadeout_mobility::traffic::Driving;
use fadeout_radio::LinkBudget;
use fadeout_radio::access::{
    AccessConfig, CellConfig, DataForwarding, Interface, Monitoring, ProcedureConfig, Signalling,
    StatesConfig, UeConfig,
};
use fadeout_radio::antenna::BeamManagement;
use fadeout_radio::channel::ChannelConfig;
use fadeout_radio::technology::{Carrier, RADIOS, Radio};
use fadeout_scenario::{self as scenario, Scenario};
use fadeout_transport::multipath::PathConfig;

fn read(text: &str) -> Scenario {
    let source = scenario::Source {
        name: "test".to_owned(),
        base_dir: ".".into(),
    };
    let text = format!("duration = \"1 s\"\n{text}");
    let parsed = scenario::parse(&text, &source, &[], crate::catalog());
    parsed.unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the bandwidth of the cells in these tests. 3G has only one bandwidth.
fn bandwidth(technology: &str) -> Hertz {
    Hertz(if technology == "utra" { 5e6 } else { 20e6 })
}

/// Returns a scenario with a cell of a radio technology and a UE. `channel` and `ue` are additional
/// keys.
fn access(technology: &str, channel: &str, ue: &str) -> Scenario {
    let bandwidth = bandwidth(technology).0 / 1e6;
    read(&format!(
        "[cell.macro]\nradio = \"{technology}\"\ncarrier = \"3.5 GHz\"\nbandwidth = \"{bandwidth} MHz\"\n\
         channel = {{ path-loss = \"umi\"{channel} }}\n\
         [link.core]\nfrom = \"server\"\nto = \"macro\"\nrate = \"1 Gbit/s\"\ndelay = \"0 s\"\n\
         [ue.phone]\n{ue}\n\
         [flow.bulk]\nfrom = \"server\"\nto = \"phone\"\n"
    ))
}

#[test]
fn a_cell_of_which_nothing_is_said_is_the_technologys() {
    for technology in RADIOS {
        let scenario = access(technology.name, "", "");
        let described = &scenario.cells[0];
        let carrier = Carrier {
            site: described.position,
            carrier: Hertz(3.5e9),
            bandwidth: bandwidth(technology.name),
        };
        let given = fadeout_core::registry::Parameters::NONE;
        let own = Radio::new(technology.name, given).map(|radio: Radio| radio.cell(&carrier));
        let own = own.expect("its name").expect("a cell");
        // The scenario reader and the layer convert km/h to m/s separately, so the last digits may
        // differ.
        let environment_speed = described.channel.environment_speed;
        let channel = ChannelConfig::default();
        assert!((environment_speed - channel.environment_speed).abs() < 1e-12);
        let expected = CellConfig {
            channel: ChannelConfig {
                bandwidth: bandwidth(technology.name),
                environment_speed,
                ..channel
            },
            ..own
        };
        assert_eq!(radio::cell(described), Ok(expected), "{}", technology.name);
    }
}

#[test]
fn beams_that_are_measured_are_the_channels() {
    let own = BeamManagement::default();
    let every = format!(
        ", beam-tracking = \"{} ms\"",
        own.tracking_period.as_nanos() / 1_000_000
    );
    let scenario = access("nr", &every, "");
    let cell = radio::cell(&scenario.cells[0]).expect("a cell");
    assert_eq!(cell.channel.beams, Some(own));
}

#[test]
fn a_ue_of_which_nothing_is_said_is_the_layers() {
    let scenario = access("nr", "", "");
    let expected = UeConfig::new(scenario.ues[0].node);
    assert_eq!(radio::ue(&scenario.ues[0]), expected);

    let scenario = access("nr", "", "rrc-states = {}");
    let expected = UeConfig {
        states: Some(StatesConfig::default()),
        ..expected
    };
    assert_eq!(radio::ue(&scenario.ues[0]), expected);
}

#[test]
fn mobility_management_of_which_nothing_is_said_is_the_layers() {
    let scenario = access("nr", "", "[mobility-management]");
    let described = scenario.mobility.as_ref().expect("it is on");
    let made = mobility::config(described, &[NodeId(0)], &Interfaces::default());
    assert_eq!(made.monitoring, Monitoring::default());
    assert_eq!(made.access, AccessConfig::default());
    assert_eq!(made.procedure, ProcedureConfig::default());
    let chosen = (made.data, made.interface, made.signalling);
    let expected = (
        DataForwarding::default(),
        Interface::default(),
        Signalling::default(),
    );
    assert_eq!(chosen, expected);
}

#[test]
fn a_link_of_which_nothing_is_said_is_the_layers() {
    let scenario = read(
        "[link.wire]\nfrom = \"a\"\nto = \"b\"\nrate = \"unlimited\"\ndelay = \"0 s\"\n\
         [flow.bulk]\nfrom = \"a\"\nto = \"b\"\n",
    );
    // The link layer's default queue is unlimited. The scenario's default is the queue of a router.
    let expected = LinkConfig {
        queue: QueueConfig {
            limit: Some(Limit::Packets(1000)),
            ..QueueConfig::default()
        },
        ..LinkConfig::default()
    };
    for direction in [&scenario.links[0].forward, &scenario.links[0].reverse] {
        assert_eq!(link::config(direction), Ok(expected.clone()));
    }
}

#[test]
fn a_link_budget_of_which_nothing_is_said_is_the_layers() {
    let scenario = read(
        "[link.air]\nfrom = \"a\"\nto = \"b\"\ndelay = \"0 s\"\n\
         rate.radio = { carrier = \"28 GHz\", bandwidth = \"100 MHz\", tx-power = \"20 dBm\", \
         tx-beamwidth = \"10 deg\", rx-beamwidth = \"20 deg\", distance = \"50 m\" }\n\
         [flow.bulk]\nfrom = \"a\"\nto = \"b\"\n",
    );
    let scenario::RateModel::Radio { radio: described } = &scenario.links[0].forward.rate else {
        panic!("a link budget");
    };
    let expected = LinkBudget {
        carrier: Hertz(28e9),
        bandwidth: Hertz(100e6),
        tx_power: Dbm(20.0),
        tx_hpbw_deg: 10.0,
        rx_hpbw_deg: 20.0,
        distance: Meters(50.0),
        ..LinkBudget::default()
    };
    assert_eq!(link::budget(described), expected);
}

#[test]
fn drivers_of_whom_nothing_is_said_are_the_layers() {
    let scenario = read(
        "[vehicles.cars]\nroad = { length = \"1 km\", lanes = [\"100 km/h\"] }\n\
         [link.wire]\nfrom = \"a\"\nto = \"b\"\nrate = \"unlimited\"\ndelay = \"0 s\"\n\
         [flow.bulk]\nfrom = \"a\"\nto = \"b\"\n",
    );
    assert_eq!(vehicles::driving(&scenario.vehicles[0]), Driving::default());
}

#[test]
fn a_path_of_which_nothing_is_said_is_the_layers() {
    let wire = |name: &str| {
        format!("[link.{name}]\nfrom = \"a\"\nto = \"b\"\nrate = \"1 Gbit/s\"\ndelay = \"0 s\"\n")
    };
    let scenario = read(&format!(
        "{}{}[flow.bulk]\nfrom = \"a\"\nto = \"b\"\n\
         multipath = {{ paths = [[\"one\"], {{ links = [\"two\"] }}] }}\n",
        wire("one"),
        wire("two"),
    ));
    let described = scenario.flows[0].multipath.as_ref().expect("two paths");
    for path in &described.paths {
        assert_eq!(multipath::own_path(path), PathConfig::default());
    }
}
