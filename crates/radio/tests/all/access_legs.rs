//! Tests of one UE with two legs, which an LTE cell and an NR cell serve at once.

use crate::common::Rig;
use fadeout_core::{CellId, Decibel, Direction, DrbId, Hertz, NodeId, Point, Span, Time, UeId};
use fadeout_radio::access::{
    BearerConfig, CellConfig, FixedSinr, RadioConfig, RadioError, Serving, UeConfig,
};
use fadeout_radio::channel::{ChannelConfig, LineOfSight};

/// Sets the line-of-sight state of all UEs of a cell.
fn in_sight(cell: CellConfig) -> CellConfig {
    CellConfig {
        channel: ChannelConfig {
            line_of_sight: LineOfSight::Clear,
            ..cell.channel.clone()
        },
        ..cell
    }
}

fn lte() -> CellConfig {
    in_sight(CellConfig::lte(Point::new(0.0, 0.0, 25.0), Hertz(2e9), 50))
}

fn nr() -> CellConfig {
    let site = Point::new(100.0, 0.0, 10.0);
    in_sight(CellConfig::nr(site, Hertz(3.5e9), 2, 66).expect("a cell"))
}

fn ue() -> UeConfig {
    UeConfig {
        serving: Serving::Cell(CellId(0)),
        pscell: Some(CellId(1)),
        ..UeConfig::new(NodeId(0))
    }
}

/// Returns one bearer for each leg.
fn bearers() -> Vec<BearerConfig> {
    let on_nr = BearerConfig {
        leg: 1,
        ..BearerConfig::nr(UeId(0))
    };
    vec![BearerConfig::lte(UeId(0)), on_nr]
}

fn given() -> Option<FixedSinr> {
    Some(FixedSinr {
        downlink: Decibel(20.0),
        uplink: Decibel(20.0),
    })
}

#[test]
fn bearers_on_an_lte_leg_and_an_nr_leg_run_at_once_each_in_its_cell() {
    let config = RadioConfig {
        cells: vec![lte(), nr()],
        ues: vec![ue()],
        bearers: bearers(),
    };
    // The UE is 50 m from both cells.
    let mut rig = Rig::with_places(config, 3, vec![Point::new(50.0, 0.0, 1.5)]);
    let cells: Vec<CellId> = rig.access.serving_cells(UeId(0)).collect();
    assert_eq!(cells, [CellId(0), CellId(1)]);
    let mut number = 0;
    for _ in 0..200 {
        for bearer in [0, 1] {
            for direction in [Direction::Downlink, Direction::Uplink] {
                rig.send_packet(bearer, direction, 1000, number);
                number += 1;
            }
        }
        rig.run_for(Span::from_millis(1));
    }
    rig.run_for(Span::from_millis(500));
    assert_eq!(rig.arrivals.len(), number as usize);
    assert!(rig.pool.is_empty());
    // Packets were numbered in groups of four: LTE downlink, LTE uplink, NR downlink, NR uplink.
    let mut took = [[Vec::new(), Vec::new()], [Vec::new(), Vec::new()]];
    for delay in &rig.rows.delays {
        let total = delay.queue_s
            + delay.sr_wait_s
            + delay.grant_wait_s
            + delay.transmission_s
            + delay.harq_s
            + delay.rlc_s
            + delay.reordering_s;
        took[delay.bearer.index()][delay.direction.index()].push(total);
    }
    for direction in [Direction::Downlink, Direction::Uplink] {
        let [mut lte, mut nr] = [0, 1].map(|bearer: usize| took[bearer][direction.index()].clone());
        assert_eq!((lte.len(), nr.len()), (200, 200));
        lte.sort_unstable();
        nr.sort_unstable();
        // An LTE transmission takes subframes of 1 ms. An NR transmission takes slots of 250 us, so
        // its delay is less than half.
        assert!(nr[100] * 2 < lte[100], "{:?}, {:?}", nr[100], lte[100]);
    }
    // The blocks of each bearer lie in the cell of its own leg.
    for (cell, slot) in [(0, Span::from_millis(1)), (1, Span::from_micros(250))] {
        let blocks = rig
            .rows
            .blocks
            .iter()
            .filter(|row| row.cell == CellId(cell));
        let mut count = 0;
        for block in blocks {
            assert_eq!(block.time_s.as_nanos() % slot.as_nanos(), 0);
            count += 1;
        }
        assert!(count > 100, "cell {cell}: {count}");
    }
    let down = rig.access.counters_of(UeId(0), Direction::Downlink);
    assert_eq!(down.delivered_packets, 400);
    assert_eq!(rig.rows.blocks.len() as u64, {
        let up = rig.access.counters_of(UeId(0), Direction::Uplink);
        down.blocks + up.blocks
    });
}

#[test]
fn a_silent_leg_does_not_wake_its_cell() {
    let config = RadioConfig {
        cells: vec![lte(), nr()],
        ues: vec![UeConfig {
            fixed_sinr: given(),
            ..ue()
        }],
        bearers: bearers(),
    };
    let mut rig = Rig::new(config, 1);
    for number in 0..20 {
        rig.send_packet(0, Direction::Downlink, 1000, number);
        rig.run_for(Span::from_millis(5));
    }
    assert!(rig.rows.blocks.iter().all(|row| row.cell == CellId(0)));
    assert_eq!(rig.arrivals.len(), 20);
}

#[test]
fn a_bearer_may_be_set_up_while_others_run() {
    let config = RadioConfig {
        cells: vec![lte(), nr()],
        ues: vec![UeConfig {
            fixed_sinr: given(),
            ..ue()
        }],
        bearers: bearers()[..1].to_vec(),
    };
    let mut rig = Rig::new(config, 1);
    rig.send_packet(0, Direction::Downlink, 1000, 0);
    rig.run_until(Time::ZERO + Span::from_millis(1));
    let set_up = rig
        .access
        .establish(bearers()[1])
        .expect("its leg is there");
    assert_eq!(set_up, DrbId(1));
    rig.send_packet(1, Direction::Uplink, 1000, 1);
    rig.run_for(Span::from_millis(100));
    let mut numbers: Vec<u32> = rig.arrivals.iter().map(|arrival| arrival.number).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, [0, 1]);
}

#[test]
fn cells_of_both_generations_serve_ues_of_their_own_in_one_run() {
    let serving = |cell: u32| UeConfig {
        serving: Serving::Cell(CellId(cell)),
        fixed_sinr: given(),
        ..UeConfig::new(NodeId(cell))
    };
    let config = RadioConfig {
        cells: vec![lte(), nr()],
        ues: vec![serving(0), serving(1)],
        bearers: vec![BearerConfig::lte(UeId(0)), BearerConfig::nr(UeId(1))],
    };
    let mut rig = Rig::new(config, 1);
    for bearer in [0, 1] {
        for direction in [Direction::Downlink, Direction::Uplink] {
            rig.send_packet(bearer, direction, 1000, bearer);
        }
    }
    rig.run_for(Span::from_millis(100));
    assert_eq!(rig.arrivals.len(), 4);
    assert!(rig.pool.is_empty());
}

#[test]
fn legs_that_cannot_be_are_refused_with_what_was_expected() {
    let error = |ue: UeConfig, bearers: Vec<BearerConfig>| -> String {
        let config = RadioConfig {
            cells: vec![lte(), nr()],
            ues: vec![ue],
            bearers,
        };
        let built = fadeout_radio::access::RadioAccess::new(config, 1);
        built.map_or_else(|error: RadioError| error.to_string(), |_| String::new())
    };
    let alone = UeConfig {
        pscell: None,
        ..ue()
    };
    assert_eq!(
        error(alone, bearers()),
        "bearer 1 is on leg 1 of its UE, which has 1; the first is 0"
    );
    let twice = UeConfig {
        pscell: Some(CellId(0)),
        ..ue()
    };
    assert_eq!(
        error(twice, Vec::new()),
        "UE 0: PSCell is 0; expected a serving cell that is named, and another one"
    );
    let beyond = UeConfig {
        pscell: Some(CellId(7)),
        ..ue()
    };
    assert_eq!(
        error(beyond, Vec::new()),
        "UE 0: PSCell is 7; expected a cell below 2"
    );
}
