//! Tests of carrier aggregation: one RLC entity over the transport blocks of several cells.

use crate::common::{Rig, Rows};
use fadeout_core::random::Stream;
use fadeout_core::{
    CellId, Decibel, Direction, Hertz, NodeId, Point, Span, Time, TransportBlockRow, UeId,
};
use fadeout_radio::access::{
    Aggregation, BearerConfig, CellConfig, FixedSinr, RadioAccess, RadioConfig, Serving, UeConfig,
};
use fadeout_radio::channel::{ChannelConfig, LineOfSight};
use fadeout_radio::mac::DrxConfig;
use fadeout_radio::pdcp::{Delivery, PdcpConfig};
use fadeout_radio::phy::harq::FixedErrors;
use fadeout_radio::rlc::RlcConfig;

/// Returns cells of one technology, each on a carrier of its own.
fn cells(count: u32, is_nr: bool) -> Vec<CellConfig> {
    let cell = |number: u32| {
        let carrier = Hertz(2e9 + 40e6 * f64::from(number));
        let site = Point::new(0.0, 0.0, 25.0);
        let cell = match is_nr {
            true => CellConfig::nr(site, carrier, 1, 106).expect("a cell"),
            false => CellConfig::lte(site, carrier, 100),
        };
        CellConfig {
            channel: ChannelConfig {
                line_of_sight: LineOfSight::Clear,
                ..cell.channel.clone()
            },
            ..cell
        }
    };
    (0..count).map(cell).collect()
}

fn ue(secondary: &[u32], sinr_db: Option<f64>) -> UeConfig {
    let cells: Vec<CellId> = secondary.iter().copied().map(CellId).collect();
    UeConfig {
        serving: Serving::Cell(CellId(0)),
        aggregation: Aggregation::new(&cells).expect("not too many"),
        fixed_sinr: sinr_db.map(|sinr_db| FixedSinr {
            downlink: Decibel(sinr_db),
            uplink: Decibel(sinr_db),
        }),
        ..UeConfig::new(NodeId(0))
    }
}

fn bearer(is_nr: bool) -> BearerConfig {
    let bearer = match is_nr {
        true => BearerConfig::nr(UeId(0)),
        false => BearerConfig::lte(UeId(0)),
    };
    BearerConfig {
        rlc: RlcConfig {
            buffer: fadeout_core::Bytes(20_000_000),
            ..bearer.rlc
        },
        ..bearer
    }
}

/// Removes the reordering timer, so that PDCP waits for missing packets without limit.
fn patient(bearer: BearerConfig) -> BearerConfig {
    let delivery = match bearer.pdcp.delivery {
        Delivery::InOrder(_) => Delivery::InOrder(None),
        other => other,
    };
    let pdcp = PdcpConfig {
        delivery,
        ..bearer.pdcp
    };
    BearerConfig { pdcp, ..bearer }
}

/// Lets the secondary cells of a UE carry the uplink too.
fn with_uplink(ue: UeConfig) -> UeConfig {
    let mut aggregation = ue.aggregation;
    aggregation.has_uplink = true;
    UeConfig { aggregation, ..ue }
}

/// Returns the downlink bytes per second delivered to a UE in `count` cells with a full buffer. The
/// first second is excluded.
fn rate(cells: (u32, bool), sinr_db: Option<f64>) -> f64 {
    rate_at(150.0, cells, Direction::Downlink, sinr_db)
}

/// Returns the bytes per second as [`rate`] does, for a direction and a distance between UE and
/// cells.
fn rate_at(
    distance_m: f64,
    (count, is_nr): (u32, bool),
    direction: Direction,
    sinr_db: Option<f64>,
) -> f64 {
    let secondary: Vec<u32> = (1..count).collect();
    let config = RadioConfig {
        cells: cells(count, is_nr),
        ues: vec![with_uplink(ue(&secondary, sinr_db))],
        bearers: vec![bearer(is_nr)],
    };
    let mut rig = Rig::with_places(config, 5, vec![Point::new(distance_m, 0.0, 1.5)]);
    rig.rows = Rows::default();
    let mut delivered = [0; 2];
    for second in [0, 1] {
        for _ in 0..100 {
            for _ in 0..300 * count {
                rig.send_packet(0, direction, 1500, 0);
            }
            rig.run_for(Span::from_millis(10));
        }
        let counters = rig.access.counters_of(UeId(0), direction);
        delivered[second] = counters.delivered_bytes;
    }
    (delivered[1] - delivered[0]) as f64
}

#[test]
fn equal_carriers_carry_the_sum_of_their_rates() {
    for is_nr in [false, true] {
        let one = rate((1, is_nr), Some(18.0));
        for count in [2, 3, 5] {
            let ratio = rate((count, is_nr), Some(18.0)) / (one * f64::from(count));
            // The ratio may differ from 1 by 3 %, because segmentation and the random draws of the
            // outer loops differ.
            assert!((ratio - 1.0).abs() < 0.03, "NR {is_nr}, {count}: {ratio}");
        }
    }
}

#[test]
fn equal_carriers_carry_the_sum_of_their_rates_in_the_uplink() {
    let rate = |count, is_nr| rate_at(150.0, (count, is_nr), Direction::Uplink, Some(18.0));
    for is_nr in [false, true] {
        let one = rate(1, is_nr);
        for count in [2, 3, 5] {
            let ratio = rate(count, is_nr) / (one * f64::from(count));
            assert!((ratio - 1.0).abs() < 0.03, "NR {is_nr}, {count}: {ratio}");
        }
    }
}

#[test]
fn the_power_of_a_ue_is_divided_among_the_carriers_of_its_uplink() {
    let gain = |distance_m| {
        let rate = |count| rate_at(distance_m, (count, true), Direction::Uplink, None);
        rate(4) / rate(1)
    };
    let (near, far) = (gain(40.0), gain(2500.0));
    assert!(near > 3.0, "there is power enough for all: {near}");
    assert!(far < 1.5, "where power limits, more band is no more: {far}");
}

#[test]
fn carriers_that_fade_apart_carry_the_sum_too() {
    // The carriers fade independently, so two carriers carry about twice as much as one carrier.
    let one = rate((1, true), None);
    let two = rate((2, true), None);
    assert!(two > 1.6 * one && two < 2.4 * one, "{one}, {two}");
}

#[test]
fn packets_leave_in_order_and_once_whatever_carries_them() {
    for is_nr in [false, true] {
        let config = RadioConfig {
            cells: cells(3, is_nr),
            ues: vec![ue(&[1, 2], Some(15.0))],
            bearers: vec![bearer(is_nr)],
        };
        let mut rig = Rig::new(config, 7);
        let mut number = 0;
        for _ in 0..400 {
            for _ in 0..20 {
                rig.send_packet(0, Direction::Downlink, 1500, number);
                number += 1;
            }
            rig.run_for(Span::from_millis(2));
        }
        rig.run_for(Span::from_secs(2));
        let numbers: Vec<u32> = rig.arrivals.iter().map(|arrival| arrival.number).collect();
        assert!(numbers.iter().copied().eq(0..number), "NR {is_nr}");
        assert!(rig.pool.is_empty());
        for cell in 0..3 {
            let of_cell = |row: &&_| -> bool {
                let row: &TransportBlockRow = row;
                row.cell == CellId(cell)
            };
            let blocks = rig.rows.blocks.iter().filter(of_cell);
            let up = blocks
                .clone()
                .filter(|row| row.direction == Direction::Uplink);
            assert!(blocks.count() > 100, "cell {cell}");
            assert_eq!(
                up.count() > 0,
                cell == 0,
                "the uplink is the primary cell's"
            );
        }
        let [down, up] = [Direction::Downlink, Direction::Uplink]
            .map(|direction| rig.access.counters_of(UeId(0), direction).blocks);
        assert_eq!(rig.rows.blocks.len() as u64, down + up);
    }
}

#[test]
fn uplink_packets_leave_in_order_and_once_whatever_carries_them() {
    for (is_nr, lost) in [(false, 0.0), (true, 0.0), (false, 0.3), (true, 0.3)] {
        let mut cells = cells(3, is_nr);
        for cell in &mut cells {
            cell.fixed_errors = Some(FixedErrors {
                first: lost,
                retransmission: lost,
            });
        }
        let config = RadioConfig {
            cells,
            ues: vec![with_uplink(ue(&[1, 2], Some(15.0)))],
            bearers: vec![patient(bearer(is_nr))],
        };
        let mut rig = Rig::new(config, 7);
        let mut number = 0;
        for burst in 0..400 {
            // After a burst without packets, the UE must send a scheduling request again.
            for _ in 0..(burst % 40).min(12) {
                rig.send_packet(0, Direction::Uplink, 1500, number);
                number += 1;
            }
            rig.run_for(Span::from_millis(2));
        }
        rig.run_for(Span::from_secs(3));
        let numbers: Vec<u32> = rig.arrivals.iter().map(|arrival| arrival.number).collect();
        assert!(numbers.iter().copied().eq(0..number), "NR {is_nr}, {lost}");
        assert!(rig.pool.is_empty());
        for cell in 0..3 {
            let blocks = rig.rows.blocks.iter();
            let up = blocks.filter(|row| {
                row.cell == CellId(cell) && row.direction == Direction::Uplink && row.is_ok
            });
            assert!(up.count() > 100, "cell {cell}");
        }
    }
}

#[test]
fn a_secondary_cell_carries_nothing_before_it_is_activated_and_after_it_is_deactivated() {
    let mut aggregation = Aggregation::new(&[CellId(1)]).expect("one");
    aggregation.deactivation = Some(Span::from_millis(40));
    let config = RadioConfig {
        cells: cells(2, false),
        ues: vec![UeConfig {
            aggregation,
            ..ue(&[], Some(20.0))
        }],
        bearers: vec![bearer(false)],
    };
    let mut rig = Rig::new(config, 1);
    // Two bursts of 60 ms begin at 0 and 200 ms.
    for start in [0, 200] {
        rig.run_until(Time::ZERO + Span::from_millis(start));
        for _ in 0..60 {
            for _ in 0..20 {
                rig.send_packet(0, Direction::Downlink, 1500, 0);
            }
            rig.run_for(Span::from_millis(1));
        }
    }
    rig.run_for(Span::from_millis(200));
    let millis_of = |row: &TransportBlockRow| row.time_s.as_nanos() / 1_000_000;
    let of_cell = |cell| {
        rig.rows
            .blocks
            .iter()
            .filter(move |row| row.cell == CellId(cell))
    };
    for start in [0, 200] {
        let first = |cell| of_cell(cell).map(millis_of).find(|&millis| millis >= start);
        assert!(first(0).is_some_and(|millis| millis < start + 4));
        assert!(first(1).is_some_and(|millis| (start + 24..start + 30).contains(&millis)));
    }
}

const DRX: DrxConfig = DrxConfig {
    cycle: Span::from_millis(40),
    on_duration: Span::from_millis(4),
    inactivity: Span::from_millis(10),
};

/// Returns a UE with DRX and three cells. RLC sends no STATUS PDUs, so the UE never wakes up to
/// send a scheduling request.
fn sleeping(is_nr: bool, seed: u64) -> Rig {
    let mut cells = cells(3, is_nr);
    for cell in &mut cells {
        cell.drx = Some(DRX);
    }
    let config = RadioConfig {
        cells,
        ues: vec![with_uplink(ue(&[1, 2], Some(15.0)))],
        bearers: vec![BearerConfig {
            rlc: match is_nr {
                true => RlcConfig::NR_UM,
                false => RlcConfig::LTE_UM,
            },
            ..bearer(is_nr)
        }],
    };
    Rig::new(config, seed)
}

#[test]
fn a_ue_has_one_drx_for_all_its_carriers() {
    for (seed, is_nr) in [(1, false), (2, true), (3, false), (4, true)] {
        let mut rig = sleeping(is_nr, seed);
        let mut draw = Stream::new(seed, "aggregation.drx", 0);
        let mut count = 0;
        for _ in 0..300 {
            // A small burst fits into the on-duration. A large burst lasts longer.
            let most = if draw.chance(0.2) { 600 } else { 20 };
            for _ in 0..=draw.below(most) {
                rig.send_packet(0, Direction::Downlink, 1500, count);
                count += 1;
            }
            rig.run_for(Span::from_millis(1 + draw.below(120)));
        }
        rig.run_for(Span::from_secs(1));
        let numbers = rig.arrivals.iter().map(|arrival| arrival.number);
        assert!(numbers.eq(0..count), "NR {is_nr}");
        // The first block after a long pause must lie in an on-duration. The on-durations of all
        // carriers begin at the same time in a cycle.
        let mut blocks = rig.rows.blocks.clone();
        blocks.sort_by_key(|row| row.time_s);
        let mut awake_until = Time::ZERO;
        let mut phases = Vec::new();
        for row in blocks.iter().filter(|row| row.round == 0) {
            if row.time_s >= awake_until {
                phases.push(row.time_s.as_nanos() % DRX.cycle.as_nanos());
            }
            awake_until = awake_until.max(row.time_s + DRX.inactivity);
        }
        assert!(phases.len() > 50, "{}", phases.len());
        let nearest = |start: u64| {
            let after =
                |&phase: &u64| (phase + DRX.cycle.as_nanos() - start) % DRX.cycle.as_nanos();
            phases.iter().map(after).max().unwrap_or(0)
        };
        let spread = phases.iter().map(|&start| nearest(start)).min();
        assert!(
            spread < Some(DRX.on_duration.as_nanos()),
            "NR {is_nr}: {spread:?}"
        );
        for cell in 0..3 {
            let of_cell = |row: &&TransportBlockRow| row.cell == CellId(cell);
            assert!(
                rig.rows.blocks.iter().filter(of_cell).count() > 100,
                "{cell}"
            );
        }
    }
}

#[test]
fn a_failed_link_fails_in_all_cells_and_the_books_close() {
    let mut cells = cells(2, true);
    for cell in &mut cells {
        // No transport block is decoded from now on, so RLC reaches its maximum number of
        // retransmissions.
        cell.fixed_errors = Some(fadeout_radio::phy::harq::FixedErrors {
            first: 1.0,
            retransmission: 1.0,
        });
    }
    let config = RadioConfig {
        cells,
        ues: vec![ue(&[1], Some(20.0))],
        bearers: vec![bearer(true)],
    };
    let mut rig = Rig::new(config, 1);
    for _ in 0..50 {
        rig.send_packet(0, Direction::Downlink, 1500, 0);
        rig.run_for(Span::from_millis(10));
    }
    rig.run_for(Span::from_secs(20));
    assert!(rig.access.counters().link_failures > 0);
    assert!(rig.arrivals.is_empty());
    assert_eq!(rig.rows.drops.len() + rig.pool.len(), 50);
}

/// Returns the link failures of a UE with a full buffer in ten seconds, and the number of blocks
/// that each cell sent. `distances_m` are the distances to the primary and the secondary cell.
fn failures_at(distances_m: [f64; 2]) -> (u64, [usize; 2]) {
    let mut cells = cells(2, true);
    for (cell, distance_m) in cells.iter_mut().zip(distances_m) {
        cell.site = Point::new(-distance_m, 0.0, 25.0);
    }
    let config = RadioConfig {
        cells,
        ues: vec![ue(&[1], None)],
        bearers: vec![BearerConfig {
            rlc: RlcConfig {
                buffer: fadeout_core::Bytes(2_000_000),
                ..RlcConfig::NR_UM
            },
            ..bearer(true)
        }],
    };
    let mut rig = Rig::with_places(config, 3, vec![Point::new(0.0, 0.0, 1.5)]);
    for _ in 0..1000 {
        for _ in 0..200 {
            rig.send_packet(0, Direction::Downlink, 1500, 0);
        }
        rig.run_for(Span::from_millis(10));
    }
    let sent = [0, 1].map(|cell| {
        let mut blocks = rig.rows.blocks.iter();
        let of_cell = |row: &&TransportBlockRow| row.cell == CellId(cell);
        blocks.by_ref().filter(of_cell).count()
    });
    (rig.access.counters().link_failures, sent)
}

#[test]
fn a_link_fails_with_its_primary_cell_and_not_with_a_secondary_one() {
    let (near, far) = (100.0, 3e6);
    let (failures, [first, second]) = failures_at([near, far]);
    assert_eq!(failures, 0, "the secondary cell is out of range");
    assert!(first > 10_000 && second == 0, "{first} {second}");
    let (failures, [first, second]) = failures_at([far, near]);
    // T310 and T311 last 4 s together, so the primary cell's link fails twice in ten seconds. The
    // secondary cell continues to send.
    assert_eq!(failures, 2, "the primary cell is out of range");
    assert!(first == 0 && second > 10_000, "{first} {second}");
}

#[test]
fn what_cannot_be_aggregated_is_refused_with_what_was_expected() {
    let error = |cells: Vec<CellConfig>, ue: UeConfig| -> String {
        let config = RadioConfig {
            cells,
            ues: vec![ue],
            bearers: Vec::new(),
        };
        let built = RadioAccess::new(config, 1);
        built.map_or_else(|error| error.to_string(), |_| "nothing".to_owned())
    };
    let mut mixed = cells(2, false);
    mixed[1] = cells(2, true)[1].clone();
    let mut shared = cells(2, true);
    shared[1].carrier = shared[0].carrier;
    let mut sleeping = cells(2, true);
    sleeping[1].drx = Some(DRX);
    let unnamed = UeConfig {
        serving: Serving::Strongest,
        ..ue(&[1], None)
    };
    for (cells, ue, part) in [
        (cells(2, true), ue(&[1, 1], None), "each cell once"),
        (cells(2, true), ue(&[0], None), "each cell once"),
        (cells(2, true), ue(&[2], None), "a cell below 2"),
        (mixed, ue(&[1], None), "technology"),
        (shared, ue(&[1], None), "a carrier for each"),
        (sleeping, ue(&[1], None), "the primary cell's DRX"),
        (cells(2, true), unnamed, "a primary cell that is named"),
        (cells(2, true), ue(&[1], None), "nothing"),
    ] {
        let error = error(cells, ue);
        assert!(error.contains(part), "{error}");
    }
    assert_eq!(Aggregation::new(&[CellId(1); 16]), None);
}
