//! Tests of the goodput against the arithmetic of transport block sizes.

use crate::common::{Rig, Rows};
use fadeout_core::{CellId, Decibel, Direction, Hertz, NodeId, Point, Span, Time, UeId};
use fadeout_radio::access::{
    Adaptation, BearerConfig, CellConfig, FixedSinr, RadioConfig, Serving, UeConfig,
};
use fadeout_radio::mac::MacSchedulerKind;
use fadeout_radio::mac::scheduler::RoundRobinConfig;
use fadeout_radio::phy::mcs::McsTable;
use fadeout_radio::rlc::RlcConfig;

fn ue(sinr_db: f64) -> UeConfig {
    UeConfig {
        serving: Serving::Cell(CellId(0)),
        fixed_sinr: Some(FixedSinr {
            downlink: Decibel(sinr_db),
            uplink: Decibel(sinr_db),
        }),
        ..UeConfig::new(NodeId(0))
    }
}

fn with_ues(cell: CellConfig, ues: u32, sinr_db: f64) -> RadioConfig {
    RadioConfig {
        cells: vec![cell],
        ues: (0..ues).map(|_| ue(sinr_db)).collect(),
        bearers: (0..ues)
            .map(|ue| BearerConfig {
                rlc: RlcConfig::NR_UM,
                ..BearerConfig::nr(UeId(ue))
            })
            .collect(),
    }
}

/// Returns the bytes that each bearer delivers in a second with a full buffer.
fn goodput(config: RadioConfig, direction: Direction, size: u32) -> Vec<u64> {
    let bearers = config.bearers.len() as u32;
    let mut rig = Rig::new(config, 3);
    rig.rows = Rows::default();
    let mut delivered = vec![0; bearers as usize];
    let mut inside = vec![0_u32; bearers as usize];
    let step = Span::from_micros(500);
    let warm_up = Time::ZERO + Span::from_millis(200);
    let end = warm_up + Span::from_secs(1);
    while rig.now < end {
        for bearer in 0..bearers {
            // The full buffer always contains 1.5 MB.
            while inside[bearer as usize] < 1_500_000 / size {
                rig.send_packet(bearer, direction, size, bearer);
                inside[bearer as usize] += 1;
            }
        }
        rig.run_for(step);
        for arrival in rig.arrivals.drain(..) {
            inside[arrival.number as usize] -= 1;
            if arrival.at > warm_up {
                delivered[arrival.number as usize] += u64::from(size);
            }
        }
    }
    delivered
}

#[test]
fn one_ue_at_a_fixed_sinr_gets_the_block_sizes_less_headers() {
    let scheme = |index| Adaptation::FixedScheme {
        index,
        table: McsTable::Qam64,
    };
    let fr1 = CellConfig {
        adaptation: scheme(20),
        ..CellConfig::nr(Point::default(), Hertz(3.5e9), 1, 106).expect("a cell")
    };
    let fr2 = CellConfig {
        adaptation: scheme(15),
        ..CellConfig::nr(Point::default(), Hertz(28e9), 3, 66).expect("a cell")
    };
    // A PDU with a complete packet has 3 header bytes of PDCP, 1 of RLC and 3 of MAC.
    let size = 1500;
    let whole = 1507.0;
    // The NR cell has 106 resource blocks at 30 kHz and MCS 20. A slot has 13 data symbols, minus
    // the DM-RS. Other tests check nr_transport_block itself.
    for (cell, direction, block_bytes, slots) in [
        (fr1.clone(), Direction::Downlink, block(106, 13, 20), 2000.0),
        (fr1, Direction::Uplink, block(106, 12, 20), 2000.0),
        (fr2.clone(), Direction::Downlink, block(66, 11, 15), 8000.0),
        (fr2, Direction::Uplink, block(66, 11, 15), 8000.0),
    ] {
        let status = if direction == Direction::Uplink {
            4.0
        } else {
            0.0
        };
        // Each block begins and ends with a segment. The RLC headers of these segments have 2 and 4
        // bytes instead of 1, and the block has one more MAC subheader.
        let more = 1.0 + 3.0 + 3.0;
        let room = f64::from(block_bytes) - status - more;
        let expected = slots * room * f64::from(size) / whole;
        let found = goodput(with_ues(cell, 1, 30.0), direction, size)[0] as f64;
        assert!(
            (found / expected - 1.0).abs() < 0.005,
            "{direction:?}: {found} beside {expected}"
        );
    }
}

fn block(resource_blocks: u32, symbols: u8, scheme: usize) -> u32 {
    use fadeout_radio::phy::tbs::{Allocation, nr_transport_block};
    let mcs = McsTable::Qam64.rows()[scheme];
    let allocation = Allocation {
        resource_blocks,
        symbols,
        dmrs: 12,
        overhead: 0,
    };
    let elements = allocation.resource_elements();
    nr_transport_block(elements, mcs.modulation, mcs.code_rate, 1, 1.0) / 8
}

#[test]
fn lte_carries_the_tables_sizes() {
    let cell = CellConfig {
        adaptation: Adaptation::FixedScheme {
            index: 20,
            table: McsTable::Qam64,
        },
        ..CellConfig::lte(Point::default(), Hertz(2e9), 100)
    };
    // With I_TBS 18 and 100 resource blocks, a transport block has 39,232 bits.
    let expected = 1000.0 * (39_232.0 / 8.0 - 7.0) * 1500.0 / 1507.0;
    let found = goodput(with_ues(cell, 1, 30.0), Direction::Downlink, 1500)[0] as f64;
    assert!(
        (found / expected - 1.0).abs() < 0.005,
        "{found} beside {expected}"
    );
}

#[test]
fn round_robin_gives_equal_ues_equal_shares() {
    for direction in [Direction::Downlink, Direction::Uplink] {
        for carrier in [3.5e9, 28e9] {
            let mu = if carrier > 6e9 { 3 } else { 1 };
            let cell = CellConfig {
                downlink_scheduler: MacSchedulerKind::RoundRobin(RoundRobinConfig),
                uplink_scheduler: MacSchedulerKind::RoundRobin(RoundRobinConfig),
                ..CellConfig::nr(Point::default(), Hertz(carrier), mu, 66).expect("a cell")
            };
            let found = goodput(with_ues(cell, 3, 12.0), direction, 1000);
            let mean = found.iter().sum::<u64>() as f64 / 3.0;
            for share in &found {
                // Resource blocks cannot always be divided equally. The block sizes of the UEs then
                // differ by up to 1 %.
                assert!(
                    (*share as f64 / mean - 1.0).abs() < 0.01,
                    "{direction:?} {found:?}"
                );
            }
        }
    }
}

#[test]
fn ten_percent_errors_cost_ten_percent_and_lose_nothing() {
    let clean = CellConfig {
        adaptation: Adaptation::FixedScheme {
            index: 15,
            table: McsTable::Qam64,
        },
        ..CellConfig::nr(Point::default(), Hertz(28e9), 3, 66).expect("a cell")
    };
    let lossy = CellConfig {
        fixed_errors: Some(fadeout_radio::phy::harq::FixedErrors {
            first: 0.1,
            retransmission: 0.0,
        }),
        ..clean.clone()
    };
    let rate = |cell| goodput(with_ues(cell, 1, 30.0), Direction::Downlink, 1500)[0] as f64;
    let ratio = rate(lossy) / rate(clean);
    // Every tenth slot is a retransmission, so goodput falls by a factor of 1 / 1.1. With 8,800
    // draws, the standard error is 0.3 %.
    assert!((ratio - 1.0 / 1.1).abs() < 0.01, "{ratio}");
}

#[test]
fn lte_tdd_fills_every_subframe_with_the_processes_of_its_configuration() {
    use fadeout_radio::phy::frame::Duplex;
    use fadeout_radio::phy::lte::{LteAllocation, schemes};
    use fadeout_radio::phy::lte_tdd::LteTdd;
    use fadeout_radio::phy::timing::Timing;
    // Returns the bytes of a block with MCS 20 on this number of resource blocks.
    let bytes = |direction, resource_blocks| {
        let allocation = LteAllocation {
            resource_blocks,
            layers: 1,
            tti: Span::from_millis(1),
        };
        f64::from(allocation.transport_block(schemes(direction)[20].tbs_index) / 8)
    };
    for configuration in 0..7 {
        let tdd = LteTdd::new(configuration).expect("0 to 6");
        let pattern = tdd.pattern(7).expect("10:2:2");
        let count = |symbols: fn(&fadeout_radio::phy::frame::SlotFormat) -> u8, all| {
            let slots = pattern.slots().iter();
            slots.filter(|slot| symbols(slot) == all).count() as f64
        };
        let (whole, special) = (count(|it| it.downlink, 14), count(|it| it.downlink, 10));
        let up = count(|it| it.uplink, 14);
        let mut cell = CellConfig {
            duplex: Duplex::Tdd(pattern.clone()),
            timing: Timing::lte_tdd(tdd),
            adaptation: Adaptation::FixedScheme {
                index: 20,
                table: McsTable::Qam64,
            },
            ..CellConfig::lte(Point::default(), Hertz(2e9), 100)
        };
        (cell.harq.downlink_processes, cell.harq.uplink_processes) = tdd.processes();
        // Each block loses 7 bytes to the headers of segments. An uplink block loses 2 more bytes
        // to the buffer status report. `frame` is the number of bytes in a 10 ms frame.
        let (down, less) = (Direction::Downlink, 7.0);
        let of_special = bytes(down, 75) - less;
        for (direction, frame) in [
            (
                down,
                whole * (bytes(down, 100) - less) + special * of_special,
            ),
            (
                Direction::Uplink,
                up * (bytes(Direction::Uplink, 100) - less - 2.0),
            ),
        ] {
            let expected = 100.0 * frame * 1500.0 / 1507.0;
            let found = goodput(with_ues(cell.clone(), 1, 30.0), direction, 1500)[0] as f64;
            assert!(
                (found / expected - 1.0).abs() < 0.005,
                "{configuration} {direction:?}: {found} beside {expected}"
            );
        }
    }
}

#[test]
fn a_pattern_by_counts_carries_its_symbols_and_shares_its_flexible_ones() {
    use fadeout_radio::phy::frame::Duplex;
    use fadeout_radio::phy::numerology::{CyclicPrefix, Numerology};
    use fadeout_radio::phy::tdd::{Flexible, TddPattern, UlDlPattern};
    // In 5 slots, the pattern has two slots and four symbols of downlink, and one slot and two
    // symbols of uplink. The other 22 symbols are flexible.
    let counts = UlDlPattern {
        period: Span::from_micros(625),
        downlink_slots: 2,
        downlink_symbols: 4,
        uplink_slots: 1,
        uplink_symbols: 2,
    };
    let mu3 = Numerology::new(3, CyclicPrefix::Normal).expect("a numerology");
    let rate = |flexible, direction| {
        let pattern = TddPattern::by_counts(mu3, &[counts], flexible).expect("a pattern");
        let cell = CellConfig {
            duplex: Duplex::Tdd(pattern),
            adaptation: Adaptation::FixedScheme {
                index: 15,
                table: McsTable::Qam64,
            },
            ..CellConfig::nr(Point::default(), Hertz(28e9), 3, 66).expect("a cell")
        };
        goodput(with_ues(cell, 1, 30.0), direction, 1500)[0] as f64
    };
    // The control channel takes one symbol of every slot with downlink. Feedback takes two symbols
    // of every slot with uplink. Each block contains a DM-RS.
    let expected = |direction, blocks: &[u8]| {
        let status = if direction == Direction::Uplink {
            4.0
        } else {
            0.0
        };
        let room = |symbols: &u8| f64::from(block(66, *symbols, 15)) - 7.0 - status;
        1600.0 * blocks.iter().map(room).sum::<f64>() * 1500.0 / 1507.0
    };
    for (flexible, direction, blocks) in [
        (Flexible::Guard, Direction::Downlink, &[13, 13, 3][..]),
        (Flexible::Guard, Direction::Uplink, &[12]),
        (Flexible::Downlink(2), Direction::Downlink, &[13, 13, 13, 9]),
        (Flexible::Uplink(2), Direction::Uplink, &[6, 12, 12]),
        // Shared symbols are divided between downlink and uplink. If one direction is idle, the
        // other direction gets all shared symbols, except the symbols of feedback.
        (Flexible::Shared(2), Direction::Downlink, &[13, 13, 9, 9]),
        (Flexible::Shared(2), Direction::Uplink, &[6, 9, 12]),
    ] {
        let (found, expected) = (rate(flexible, direction), expected(direction, blocks));
        assert!(
            (found / expected - 1.0).abs() < 0.01,
            "{flexible:?} {direction:?}: {found} beside {expected}"
        );
    }
}

#[test]
fn more_layers_than_antennas_or_than_the_uplink_has_are_errors() {
    use fadeout_radio::access::RadioAccess;
    use fadeout_radio::antenna::{Antenna, Array, Mounted};
    use fadeout_radio::channel::ChannelConfig;
    let pair = Antenna::Array(Mounted {
        pattern: Array {
            rows: 1,
            columns: 1,
            ..Array::default()
        },
        boresight: Default::default(),
    });
    let refusal_with = |layers, uplink_layers, ue_antenna| {
        let cell = CellConfig {
            layers,
            uplink_layers,
            channel: ChannelConfig {
                ue_antenna,
                ..ChannelConfig::default()
            },
            ..CellConfig::nr(Point::default(), Hertz(3.5e9), 1, 51).expect("a cell")
        };
        let error = RadioAccess::new(with_ues(cell, 1, 20.0), 1).err();
        error.map_or_else(String::new, |error| error.to_string())
    };
    assert_eq!(refusal_with(8, 4, Antenna::default()), "");
    assert_eq!(refusal_with(2, 2, pair), "");
    assert!(
        refusal_with(4, 1, pair).contains("at most 2: two for each element of the UE's antenna")
    );
    assert!(refusal_with(1, 4, pair).contains("uplink layers"));
    assert!(refusal_with(8, 5, Antenna::default()).contains("1 to 4"));
}

#[test]
fn several_layers_carry_their_blocks_and_errors_stay_on_target() {
    // At a total SINR of 30 dB, each of two layers has 27 dB. The highest MCS needs 21 dB, so two
    // layers carry twice the bytes of one layer in both directions.
    let cell = |layers| CellConfig {
        layers,
        uplink_layers: layers,
        ..CellConfig::nr(Point::default(), Hertz(3.5e9), 1, 106).expect("a cell")
    };
    for direction in [Direction::Downlink, Direction::Uplink] {
        let rate = |layers, sinr_db| {
            let found = goodput(with_ues(cell(layers), 1, sinr_db), direction, 1500);
            found[0] as f64
        };
        let ratio = rate(2, 30.0) / rate(1, 30.0);
        assert!((ratio - 2.0).abs() < 0.02, "{direction:?}: {ratio}");
        // At a total SINR of 3 dB, each of four layers has -3 dB. Four layers then carry 4 lg(1.5)
        // / lg(3) = 1.48 times as much as one layer. The CQI steps change this ratio by up to 20 %.
        let ratio = rate(4, 3.0) / rate(1, 3.0);
        assert!((1.18..1.78).contains(&ratio), "{direction:?}: {ratio}");
    }
}

#[test]
fn reference_signals_take_their_airtime() {
    use fadeout_radio::phy::overhead::{CsiRs, Overhead, Ssb};
    let scheme = Adaptation::FixedScheme {
        index: 15,
        table: McsTable::Qam64,
    };
    let rate = |cell: &CellConfig, overhead, direction| {
        let cell = CellConfig {
            overhead,
            adaptation: scheme,
            ..cell.clone()
        };
        goodput(with_ues(cell, 1, 30.0), direction, 1500)[0] as f64
    };
    let sweep = |blocks| {
        Some(Ssb {
            period: Span::from_millis(20),
            blocks,
        })
    };
    let check = |found: f64, slots: &[(f64, u32)]| {
        let bytes = |(count, bytes): &(f64, u32)| count * (f64::from(*bytes) - 7.0);
        let expected = slots.iter().map(bytes).sum::<f64>() * 1500.0 / 1507.0;
        assert!(
            (found / expected - 1.0).abs() < 0.005,
            "{found} beside {expected}"
        );
    };
    // At 28 GHz, each of 64 SS/PBCH blocks is sent in one beam. The blocks occupy 32 of 160 slots,
    // with eight of the eleven data symbols of each.
    let fr2 = CellConfig::nr(Point::default(), Hertz(28e9), 3, 66).expect("a cell");
    let swept = Overhead {
        ssb: sweep(64),
        ..Overhead::default()
    };
    let slots = [(6400.0, block(66, 11, 15)), (1600.0, block(66, 3, 15))];
    check(rate(&fr2, swept, Direction::Downlink), &slots);
    // CSI-RS occupies one symbol in every fourth slot.
    let csi = Overhead {
        csi_rs: Some(CsiRs {
            period: 4,
            symbols: 1,
        }),
        ..Overhead::default()
    };
    let slots = [(6000.0, block(66, 11, 15)), (2000.0, block(66, 10, 15))];
    check(rate(&fr2, csi, Direction::Downlink), &slots);
    // At 3.5 GHz, eight SS/PBCH blocks lie in four of forty slots. In these slots the blocks occupy
    // three groups of eight resource blocks, out of 106.
    let fr1 = CellConfig::nr(Point::default(), Hertz(3.5e9), 1, 106).expect("a cell");
    let swept = Overhead {
        ssb: sweep(8),
        ..Overhead::default()
    };
    let slots = [(1800.0, block(106, 13, 15)), (200.0, block(88, 13, 15))];
    check(rate(&fr1, swept, Direction::Downlink), &slots);
    // In FDD, SS/PBCH blocks take no resources of the uplink.
    let up = |overhead| rate(&fr1, overhead, Direction::Uplink);
    assert_eq!(up(swept), up(Overhead::default()));
}

#[test]
fn idle_symbols_go_to_whoever_has_data_where_the_division_follows_the_demand() {
    use fadeout_radio::access::Division;
    // Returns the downlink and uplink bytes in one second. The uplink has a full buffer. The
    // downlink has a full buffer if `is_full` is true. Otherwise 80 downlink bytes arrive per
    // millisecond.
    let carried = |division, is_full: bool| {
        let cell = CellConfig {
            division,
            adaptation: Adaptation::FixedScheme {
                index: 15,
                table: McsTable::Qam64,
            },
            ..CellConfig::nr(Point::default(), Hertz(28e9), 3, 66).expect("a cell")
        };
        let mut rig = Rig::new(with_ues(cell, 1, 30.0), 3);
        rig.rows = Rows::default();
        let (mut inside, mut bytes) = ([0_u32; 2], [0_u64; 2]);
        let sizes = [if is_full { 1500 } else { 80 }, 1500];
        for step in 0..2400 {
            let most = if is_full { [1000, 1000] } else { [0, 1000] };
            for (index, direction) in [(0, Direction::Downlink), (1, Direction::Uplink)] {
                while inside[index] < most[index] {
                    rig.send_packet(0, direction, sizes[index], index as u32);
                    inside[index] += 1;
                }
            }
            if !is_full && step % 2 == 0 {
                rig.send_packet(0, Direction::Downlink, 80, 0);
                inside[0] += 1;
            }
            rig.run_for(Span::from_micros(500));
            for arrival in rig.arrivals.drain(..) {
                let index = arrival.number as usize;
                inside[index] -= 1;
                if step >= 400 {
                    bytes[index] += u64::from(sizes[index]);
                }
            }
        }
        bytes.map(|bytes| bytes as f64)
    };
    let goodput_of =
        |symbols| 8000.0 * (f64::from(block(66, symbols, 15)) - 11.0) * 1500.0 / 1507.0;
    // With `Division::Halves`, the uplink gets five of eleven symbols in most slots, because the
    // downlink may need the others. With `Division::Demand`, the uplink gets all symbols but two.
    // The downlink needs at least two symbols: a DM-RS symbol and a data symbol.
    let [down, up] = carried(Division::Demand, false);
    assert!(up > 0.995 * goodput_of(9), "{up} beside {}", goodput_of(9));
    assert!((down / 80_000.0 - 1.0).abs() < 0.01, "{down}");
    let [_, halves] = carried(Division::Halves, false);
    assert!(up > halves, "{up} beside {halves}");
    let default = CellConfig::nr(Point::default(), Hertz(28e9), 3, 66).expect("a cell");
    assert_eq!(default.division, Division::Demand);
    // With full buffers in both directions, each direction gets its half under both rules.
    for division in [Division::Halves, Division::Demand] {
        let [down, up] = carried(division, true);
        for (found, symbols) in [(down, 6), (up, 5)] {
            let expected = goodput_of(symbols);
            assert!(
                (found / expected - 1.0).abs() < 0.01,
                "{division:?}: {found} {expected}"
            );
        }
    }
}

/// Checks that a UE that chooses its rank achieves at least 95 % of the rate of the best fixed
/// rank. At the tested SINRs, the CQI steps mislead the choice of the rank.
#[test]
fn the_chosen_rank_carries_nearly_what_the_best_fixed_one_does() {
    use fadeout_radio::access::{Rank, ReportedAdaptation};
    use fadeout_radio::phy::cqi::CqiTable;
    let rate = |sinr_db, tables: (CqiTable, McsTable), (rank, layers)| {
        let nr = CellConfig::nr(Point::default(), Hertz(3.5e9), 1, 51).expect("a cell");
        let Adaptation::Reports(reports) = nr.adaptation else {
            panic!("NR adapts by reports");
        };
        let (cqi_table, mcs_table) = tables;
        let cell = CellConfig {
            rank,
            layers,
            adaptation: Adaptation::Reports(ReportedAdaptation {
                cqi_table,
                mcs_table,
                ..reports
            }),
            ..nr
        };
        goodput(with_ues(cell, 1, sinr_db), Direction::Downlink, 1500)[0] as f64
    };
    let low = (CqiTable::Qam64, McsTable::Qam64);
    let high = (CqiTable::Qam256, McsTable::Qam256);
    for (sinr_db, tables) in [
        (0.0, low),
        (6.0, low),
        (8.0, low),
        (14.0, low),
        (-2.0, high),
        (10.0, high),
    ] {
        let chosen = rate(sinr_db, tables, (Rank::Adaptive, 4));
        let fixed = (1..=4).map(|layers| rate(sinr_db, tables, (Rank::Fixed, layers)));
        let best = fixed.fold(0.0, f64::max);
        // The efficiency between two MCS is interpolated. At some SINRs (10 dB with 256QAM), the
        // outer loop exceeds the interpolated value by up to 5 %. So rates within 5 % count as
        // equal.
        assert!(chosen > 0.95 * best, "{sinr_db} dB: {chosen} beside {best}");
    }
}

/// Checks that UEs with the same channel get equal shares under max-ci. Reported CQIs have steps,
/// so the UEs' rates are equal.
#[test]
fn max_ci_gives_equal_ues_equal_shares_and_nothing_to_a_worse_one() {
    use fadeout_radio::mac::scheduler::MaxCiConfig;
    for direction in [Direction::Downlink, Direction::Uplink] {
        let cell = CellConfig {
            downlink_scheduler: MacSchedulerKind::MaxCi(MaxCiConfig),
            uplink_scheduler: MacSchedulerKind::MaxCi(MaxCiConfig),
            ..CellConfig::nr(Point::default(), Hertz(3.5e9), 1, 66).expect("a cell")
        };
        let mut config = with_ues(cell, 4, 14.0);
        config.ues[3] = ue(3.0);
        let found = goodput(config, direction, 1000);
        let mean = found[..3].iter().sum::<u64>() as f64 / 3.0;
        for share in &found[..3] {
            // Block errors differ between UEs. 10 % of 670 blocks fail, with a standard error of
            // 1.2 %.
            let apart = *share as f64 / mean - 1.0;
            assert!(apart.abs() < 0.04, "{direction:?} {found:?}");
        }
        assert!((found[3] as f64) < 0.2 * mean, "{direction:?} {found:?}");
    }
}
