//! Tests of the delays of the stack against latency arithmetic.

use crate::common::Rig;
use fadeout_core::{Decibel, Direction, Hertz, NodeId, Point, Rate, Span, Time, UeId};
use fadeout_radio::access::{
    Adaptation, BearerConfig, CellConfig, FixedSinr, RadioConfig, Serving, UeConfig,
};
use fadeout_radio::mac::{DrxConfig, RequestConfig};
use fadeout_radio::phy::harq::FixedErrors;
use fadeout_radio::rlc::RlcConfig;

const UNACKNOWLEDGED: RlcConfig = RlcConfig::NR_UM;

fn ue() -> UeConfig {
    UeConfig {
        serving: Serving::Cell(fadeout_core::CellId(0)),
        fixed_sinr: Some(FixedSinr {
            downlink: Decibel(20.0),
            uplink: Decibel(20.0),
        }),
        ..UeConfig::new(NodeId(0))
    }
}

fn lte(tti: Span, sr_period: u32, first_error: f64) -> RadioConfig {
    let cell = CellConfig {
        adaptation: Adaptation::FixedRate {
            downlink: Rate::from_bits_per_sec(21_000_000),
            uplink: Rate::from_bits_per_sec(21_000_000),
        },
        fixed_errors: Some(FixedErrors {
            first: first_error,
            retransmission: 0.0,
        }),
        requests: RequestConfig::every(sr_period),
        ..CellConfig::lte(Point::default(), Hertz(2e9), 100).with_tti(tti)
    };
    RadioConfig {
        cells: vec![cell],
        ues: vec![ue()],
        bearers: vec![BearerConfig {
            rlc: UNACKNOWLEDGED,
            ..BearerConfig::lte(UeId(0))
        }],
    }
}

/// Returns the mean delay in TTIs of `packets` small packets. The packets arrive one at a time, at
/// all phases of a TTI.
fn mean_delay(config: RadioConfig, tti: Span, direction: Direction, packets: u32) -> f64 {
    let mut rig = Rig::new(config, 11);
    let mut total = 0.0;
    for number in 0..packets {
        // Packets are 64 TTIs apart. Their phase advances by the golden ratio over ten TTIs.
        let phase = (f64::from(number) * 0.618_033_988_749_895).fract() * 10.0;
        let at = Time::ZERO + tti * 64 * u64::from(number);
        let at = at + Span::from_secs_f64(tti.as_secs_f64() * phase);
        rig.run_until(at);
        rig.send_packet(0, direction, 100, number);
        rig.run_for(tti * 40);
        let arrival = rig.arrivals.last().expect("it arrived within 40 intervals");
        assert_eq!(arrival.number, number);
        total += (arrival.at - at).as_secs_f64();
    }
    assert!(rig.pool.is_empty());
    total / f64::from(packets) / tti.as_secs_f64()
}

#[test]
fn lte_downlink_takes_four_intervals_and_eight_for_each_repetition() {
    for micros in [1000, 500, 100] {
        let tti = Span::from_micros(micros);
        for (errors, packets, expected) in [(0.0, 1000, 4.0), (0.1, 20_000, 4.8)] {
            let config = lte(tti, 5, errors);
            let mean = mean_delay(config, tti, Direction::Downlink, packets);
            assert!(
                (mean / expected - 1.0).abs() < 0.01,
                "{mean} beside {expected}"
            );
        }
    }
}

#[test]
fn lte_uplink_takes_half_a_period_and_ten_and_a_half_intervals() {
    for micros in [1000, 500, 100] {
        let tti = Span::from_micros(micros);
        for (period, errors, packets, expected) in [
            (5, 0.0, 1000, 13.0),
            (5, 0.1, 20_000, 13.8),
            (1, 0.0, 1000, 11.0),
            (1, 0.1, 20_000, 11.8),
            (10, 0.0, 1000, 15.5),
        ] {
            let config = lte(tti, period, errors);
            let mean = mean_delay(config, tti, Direction::Uplink, packets);
            assert!(
                (mean / expected - 1.0).abs() < 0.01,
                "{mean} beside {expected}"
            );
        }
    }
}

#[test]
fn a_sleeping_ue_delays_the_downlink_by_its_cycle() {
    let tti = Span::from_millis(1);
    let base = lte(tti, 5, 0.0);
    let drx = DrxConfig {
        cycle: tti * 20,
        on_duration: tti * 4,
        inactivity: tti * 2,
    };
    let cell = CellConfig {
        drx: Some(drx),
        ..base.cells[0].clone()
    };
    let config = RadioConfig {
        cells: vec![cell],
        ..base
    };
    // Packets are 64 TTIs apart, with phases over ten TTIs. So all phases of a cycle of 20 TTIs
    // occur equally often.
    let mean = mean_delay(config, tti, Direction::Downlink, 4000);
    // The UE listens in the slots that begin at TTI 0, 1, 2 and 3 of a cycle of 20. In 17 of 20
    // cases the packet arrives after TTI 3 and waits 8.5 TTIs on average. Otherwise the packet
    // waits half a TTI. Processing, transmission and decoding take 3.5 TTIs.
    let expected = 3.5 + (17.0 * 8.5 + 3.0 * 0.5) / 20.0;
    assert!(
        (mean / expected - 1.0).abs() < 0.01,
        "{mean} beside {expected}"
    );
}

#[test]
fn the_parts_of_a_delay_add_up_and_name_its_causes() {
    let tti = Span::from_millis(1);
    let mut rig = Rig::new(
        RadioConfig {
            cells: vec![CellConfig {
                requests: RequestConfig {
                    offset: Some(2),
                    ..RequestConfig::every(5)
                },
                ..lte(tti, 5, 0.0).cells.remove(0)
            }],
            ..lte(tti, 5, 0.0)
        },
        1,
    );
    rig.run_until(Time::from_nanos(20_400_000));
    rig.send_packet(0, Direction::Uplink, 100, 0);
    rig.send_packet(0, Direction::Downlink, 100, 1);
    rig.run_for(tti * 30);
    let millis = |span: Span| span.as_secs_f64() * 1e3;
    let row = |direction| {
        let of_direction = |row: &&fadeout_core::RadioDelayRow| row.direction == direction;
        *rig.rows.delays.iter().find(of_direction).expect("a row")
    };
    // The request is sent in subframe 22, its grant in 26, and the data in 30. The data is decoded
    // at 32.5 ms.
    let up = row(Direction::Uplink);
    assert_eq!((millis(up.sr_wait_s), millis(up.grant_wait_s)), (1.6, 8.0));
    assert_eq!(millis(up.transmission_s), 2.5);
    let rest = [up.queue_s, up.harq_s, up.rlc_s, up.reordering_s];
    assert!(rest.iter().all(|part| part.is_zero()), "{up:?}");
    assert_eq!(up.time_s, Time::from_nanos(32_500_000));
    // The base station processes the packet until 21.4 ms and sends it in subframe 22. The UE has
    // decoded it at 24.5 ms.
    let down = row(Direction::Downlink);
    assert_eq!(
        (millis(down.queue_s), millis(down.transmission_s)),
        (1.6, 2.5)
    );
    assert_eq!(down.time_s, Time::from_nanos(24_500_000));
}

#[test]
fn a_repetition_of_rlc_counts_as_delay_of_rlc_and_not_of_the_queue() {
    let tti = Span::from_millis(1);
    let mut config = lte(tti, 5, 0.2);
    // Without HARQ, RLC repeats each lost block.
    config.cells[0].harq.most_transmissions = 1;
    config.bearers[0].rlc = RlcConfig::LTE_AM;
    let mut rig = Rig::new(config, 3);
    for number in 0..100 {
        rig.send_packet(0, Direction::Downlink, 100, number);
        rig.run_for(tti * 400);
    }
    // The last packet may need several repetitions.
    rig.run_for(tti * 4000);
    assert_eq!(rig.rows.delays.len(), 100);
    let repeated = |row: &&fadeout_core::RadioDelayRow| row.rlc_s > Span::ZERO;
    let repeated_count = rig.rows.delays.iter().filter(repeated).count();
    // The binomial distribution with p = 0.2 has a standard deviation of 4.
    assert!((8..=32).contains(&repeated_count), "{repeated_count}");
    for row in &rig.rows.delays {
        // The bearer is idle at each arrival: at most 1 ms of processing and 1 ms to the subframe.
        assert!(row.queue_s <= tti * 2, "{row:?}");
        // RLC repeats after t-PollRetransmit (45 ms) at the earliest.
        assert!(row.rlc_s.is_zero() || row.rlc_s > tti * 45, "{row:?}");
    }
}

#[test]
fn nr_delays_are_the_arithmetic_of_slots_and_processing() {
    let cell = CellConfig {
        fixed_errors: Some(FixedErrors {
            first: 0.0,
            retransmission: 0.0,
        }),
        requests: RequestConfig {
            offset: Some(0),
            ..RequestConfig::every(8)
        },
        ..CellConfig::nr(Point::default(), Hertz(28e9), 3, 66).expect("a cell")
    };
    let config = RadioConfig {
        cells: vec![cell],
        ues: vec![ue()],
        bearers: vec![BearerConfig {
            rlc: UNACKNOWLEDGED,
            ..BearerConfig::nr(UeId(0))
        }],
    };
    let mut rig = Rig::new(config, 1);
    rig.run_until(Time::from_nanos(10_050_000));
    rig.send_packet(0, Direction::Downlink, 100, 0);
    rig.run_for(Span::from_millis(5));
    // The base station processes the packet for one slot, until 10.175 ms. The block is sent in the
    // slot at 10.25 ms. One control symbol precedes the block's two symbols, the smallest number.
    // Decoding and the higher layers take T_proc,1 = 178.385 us.
    let symbol = 125_000.0 / 14.0;
    let expected = 10_250_000.0 + 3.0 * symbol + 178_385.0;
    let found = rig.arrivals[0].at.as_nanos() as f64;
    assert!((found - expected).abs() <= 2.0, "{found} beside {expected}");

    rig.run_until(Time::from_nanos(20_050_000));
    rig.send_packet(0, Direction::Uplink, 100, 1);
    rig.run_for(Span::from_millis(5));
    // The UE sends the request in the slot at 21 ms, and the slot ends at 21.125. The base station
    // needs T_proc,1 and a slot, and sends the grant at 21.5. K2 is 3 because of T_proc,2. The data
    // is sent at 21.875 and decoded T_proc,1 after its end.
    let expected = 21_875_000 + 125_000 + 178_385;
    let found = rig.arrivals[1].at.as_nanos();
    assert!(found.abs_diff(expected) <= 1, "{found} beside {expected}");
}
