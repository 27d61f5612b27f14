//! Tests of links that carry messages and data between base stations.

use crate::common::parse;
use crate::common::unobserved;

#[test]
fn the_way_between_base_stations_is_not_by_way_of_the_phone() {
    // The UE's own link to the secondary node would connect the base stations. A route through the
    // UE must not be used.
    let text = "duration = \"1 s\"\n[link.x]\nfrom = \"u\"\nto = \"s\"\nrate = \"1 Gbit/s\"\ndelay = \"5 ms\"\n\
                [cell.m]\ncarrier = \"2.1 GHz\"\nbandwidth = \"20 MHz\"\nchannel = { path-loss = \"uma\" }\n\
                [cell.s]\ncarrier = \"3.5 GHz\"\nbandwidth = \"20 MHz\"\nchannel = { path-loss = \"uma\" }\n\
                [ue.u]\ncell = \"m\"\npscell = \"s\"\nsplit = { duplication = \"both\" }\n";
    let refused = unobserved(&parse(text, ".".into(), &[])).expect_err("no link");
    let message = refused.to_string();
    assert!(
        message.contains("no links connect base station \"m\""),
        "{message}"
    );
    let xn = "[link.xn]\nfrom = \"m\"\nto = \"s\"\nrate = \"1 Gbit/s\"\ndelay = \"5 ms\"\n";
    let linked = parse(&format!("{text}{xn}"), ".".into(), &[]);
    assert!(unobserved(&linked).is_ok());
}
