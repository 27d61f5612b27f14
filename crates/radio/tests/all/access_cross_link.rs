//! Tests of cross-link interference: cells on one carrier switch from downlink to uplink at
//! different symbols.

use crate::common::{Rig, Rows};
use fadeout_core::{CellId, Direction, Hertz, NodeId, Point, Span, UeId};
use fadeout_radio::access::{
    BearerConfig, CellConfig, RadioAccess, RadioConfig, Serving, UeConfig,
};
use fadeout_radio::channel::{ChannelConfig, LineOfSight};
use fadeout_radio::phy::frame::Duplex;
use fadeout_radio::phy::tdd::{SpecialSlot, TddPattern};

/// Returns two cells 200 m apart, with their UEs between them. The UE of the first cell sends, and
/// the UE of the second cell receives.
fn cells(cross_link: bool, patterns: Option<[&str; 2]>) -> Vec<CellConfig> {
    let cell = |n: usize| {
        let site = Point::new(200.0 * n as f64, 0.0, 10.0);
        let (carrier, mu) = if patterns.is_some() {
            (3.5e9, 1)
        } else {
            (28e9, 3)
        };
        let cell = CellConfig::nr(site, Hertz(carrier), mu, 66).expect("a cell");
        let pattern = |patterns: [&str; 2]| {
            let special = SpecialSlot::default();
            Duplex::Tdd(TddPattern::new(patterns[n], special, 14).expect("a pattern"))
        };
        CellConfig {
            cross_link,
            duplex: patterns.map_or(cell.duplex.clone(), pattern),
            channel: ChannelConfig {
                line_of_sight: LineOfSight::Clear,
                ..cell.channel.clone()
            },
            ..cell
        }
    };
    vec![cell(0), cell(1)]
}

/// Returns the uplink bytes of the first cell and the downlink bytes of the second cell, delivered
/// within two seconds.
fn delivered(cells: Vec<CellConfig>) -> [u64; 2] {
    let ue = |n: u32| UeConfig {
        serving: Serving::Cell(CellId(n)),
        ..UeConfig::new(NodeId(n))
    };
    let config = RadioConfig {
        cells,
        ues: vec![ue(0), ue(1)],
        bearers: vec![BearerConfig::nr(UeId(0)), BearerConfig::nr(UeId(1))],
    };
    let places = vec![Point::new(70.0, 5.0, 1.5), Point::new(130.0, 5.0, 1.5)];
    let mut rig = Rig::with_places(config, 5, places);
    rig.rows = Rows::default();
    for _ in 0..1000 {
        for _ in 0..60 {
            rig.send_packet(0, Direction::Uplink, 1500, 0);
            rig.send_packet(1, Direction::Downlink, 1500, 0);
        }
        rig.run_for(Span::from_millis(2));
    }
    let bytes_of = |ue, direction| rig.access.counters_of(UeId(ue), direction).delivered_bytes;
    [
        bytes_of(0, Direction::Uplink),
        bytes_of(1, Direction::Downlink),
    ]
}

#[test]
fn the_uplink_of_flexible_slots_loses_to_base_stations_that_send_then() {
    let without = delivered(cells(false, None));
    let with = delivered(cells(true, None));

    assert!(with[0] < without[0] * 9 / 10, "{without:?} {with:?}");
    assert!(with[1] > 0, "{with:?}");
}

#[test]
fn cells_that_turn_together_do_not_feel_it() {
    for patterns in [["DDDSU", "DDDSU"], ["DSUUU", "DSUUU"]] {
        let bytes_with = |cross_link| delivered(cells(cross_link, Some(patterns)));
        assert_eq!(bytes_with(false), bytes_with(true), "{patterns:?}");
    }
    let apart = ["DSUUU", "DDDSU"];
    let (without, with) = (
        delivered(cells(false, Some(apart))),
        delivered(cells(true, Some(apart))),
    );

    assert!(with[0] < without[0], "{without:?} {with:?}");
}

#[test]
fn nothing_crosses_in_fdd() {
    let mut cells = cells(true, None);
    cells[1].duplex = Duplex::Fdd;
    let config = RadioConfig {
        cells,
        ues: Vec::new(),
        bearers: Vec::new(),
    };
    let error = RadioAccess::new(config, 1).expect_err("FDD").to_string();
    assert!(error.contains("TDD or flexible slots"), "{error}");
}
