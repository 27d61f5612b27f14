//! Properties that hold for any configuration and any traffic.

use crate::common::Rig;
use fadeout_core::aqm::{CoDelConfig, EcnStepConfig, PieConfig};
use fadeout_core::random::Stream;
use fadeout_core::registry::Parameters;
use fadeout_core::{
    Bytes, CellId, Dbm, Decibel, Direction, Hertz, NodeId, Point, RadioDropCause, RadioDropRow,
    Rate, Span, Time, UeId,
};
use fadeout_radio::access::{
    AirInterface, BearerConfig, CellConfig, CellHarqConfig, ConfiguredGrant, DirectionCounters,
    FixedSinr, RadioAccess, RadioConfig, Serving, UeConfig,
};
use fadeout_radio::mac::{LogicalChannel, MacSchedulerKind, RequestConfig};
use fadeout_radio::pdcp::PdcpConfig;
use fadeout_radio::phy::frame::{Duplex, SpecialSlot, TddPattern};
use fadeout_radio::phy::harq::FixedErrors;
use fadeout_radio::phy::lte_tdd::LteTdd;
use fadeout_radio::phy::numerology::{CyclicPrefix, Numerology};
use fadeout_radio::phy::overhead::{CsiRs, Overhead, Ssb};
use fadeout_radio::phy::tdd::{Flexible, UlDlPattern};
use fadeout_radio::phy::timing::Timing;
use fadeout_radio::rlc::{AmConfig, AqmConfig, Generation, Mode, RlcConfig};
use fadeout_testkit::Cases;

fn lte_tdd(random: &mut Stream) -> CellConfig {
    let tdd = LteTdd::new(random.below(7) as u8).expect("0 to 6");
    CellConfig {
        duplex: Duplex::Tdd(tdd.pattern(random.below(11) as u8).expect("0 to 10")),
        timing: Timing::lte_tdd(tdd),
        ..CellConfig::lte(Point::default(), Hertz(2e9), 25)
    }
}

/// Returns a random TDD pattern of 2.5 ms. Both directions have a slot with enough symbols for
/// data.
fn by_counts(random: &mut Stream) -> CellConfig {
    let mu = Numerology::new(3, CyclicPrefix::Normal).expect("a numerology");
    let down = 1 + random.below(17) as u32;
    let counts = UlDlPattern {
        period: Span::from_micros(2500),
        downlink_slots: down,
        downlink_symbols: random.below(7) as u8,
        uplink_slots: 1 + random.below(u64::from(18 - down)) as u32,
        uplink_symbols: random.below(7) as u8,
    };
    let guard = random.below(3) as u8;
    let flexible = match random.below(4) {
        0 => Flexible::Guard,
        1 => Flexible::Downlink(guard),
        2 => Flexible::Uplink(guard),
        _ => Flexible::Shared(guard),
    };
    let pattern = TddPattern::by_counts(mu, &[counts], flexible);
    CellConfig {
        duplex: Duplex::Tdd(pattern.expect("a pattern")),
        ..CellConfig::nr(Point::default(), Hertz(28e9), 3, 66).expect("a cell")
    }
}

fn cell(random: &mut Stream) -> CellConfig {
    let mut cell = match random.below(6) {
        0 => CellConfig::lte(Point::default(), Hertz(2e9), 25),
        1 => CellConfig::nr(Point::default(), Hertz(3.5e9), 1, 51).expect("a cell"),
        2 => CellConfig {
            duplex: Duplex::Tdd(
                TddPattern::new("DDDSU", SpecialSlot::default(), 14).expect("a pattern"),
            ),
            ..CellConfig::nr(Point::default(), Hertz(3.5e9), 1, 51).expect("a cell")
        },
        3 => lte_tdd(random),
        4 => by_counts(random),
        _ => CellConfig::nr(Point::default(), Hertz(28e9), 3, 66).expect("a cell"),
    };
    let schedulers = ["round-robin", "proportional-fair", "max-ci"]
        .map(|name| MacSchedulerKind::new(name, Parameters::NONE).expect("a scheduler"));
    cell.downlink_scheduler = schedulers[random.below(3) as usize];
    cell.uplink_scheduler = schedulers[random.below(3) as usize];
    if random.chance(0.7) {
        cell.fixed_errors = Some(FixedErrors {
            first: random.uniform_in(0.0, 0.6),
            retransmission: random.uniform_in(0.0, 0.6),
        });
    }
    cell.harq = CellHarqConfig {
        downlink_processes: 1 + random.below(16) as u8,
        uplink_processes: 1 + random.below(16) as u8,
        most_transmissions: 1 + random.below(4) as u8,
        nack_to_ack: random.uniform_in(0.0, 0.1),
        ack_to_nack: random.uniform_in(0.0, 0.1),
        ..CellHarqConfig::with_processes(8)
    };
    cell.requests = RequestConfig {
        first_grant: 16 + random.below(500) as u32,
        prohibit: Span::from_millis(random.below(20)),
        ..RequestConfig::every([1, 2, 40, 80][random.below(4) as usize])
    };
    if random.chance(0.3) {
        cell.overhead = Overhead {
            ssb: Some(Ssb {
                period: Span::from_millis(5 << random.below(3)),
                blocks: 2,
            }),
            csi_rs: Some(CsiRs {
                period: 4 << random.below(4),
                symbols: 1 + random.below(4) as u8,
            }),
            ..Overhead::default()
        };
        if matches!(cell.air, AirInterface::Lte { .. }) {
            cell.overhead = Overhead::default();
        }
    }
    if random.chance(0.3) {
        cell.configured_grant = Some(ConfiguredGrant {
            period: 1 + random.below(20) as u32,
            units: 2 + random.below(4) as u32,
            scheme: 4,
        });
    }
    cell
}

fn rlc(random: &mut Stream) -> RlcConfig {
    match random.below(5) {
        0 => RlcConfig::NR_UM,
        1 => RlcConfig::NR_AM,
        2 => RlcConfig::LTE_UM,
        3 => RlcConfig::LTE_AM,
        // RLC gives up early, which causes radio link failures.
        _ => RlcConfig {
            mode: Mode::Am(AmConfig {
                sn_bits: 12,
                t_poll_retransmit: Span::from_millis(10),
                max_retx_threshold: 1,
                poll_pdu: Some(4),
                poll_byte: None,
                t_reassembly: Span::from_millis(10),
                t_status_prohibit: Span::ZERO,
            }),
            ..RlcConfig::NR_AM
        },
    }
}

/// Returns a random queue management that drops or marks within the few seconds of a case.
fn aqm(random: &mut Stream) -> AqmConfig {
    let target = Span::from_millis(2);
    match random.below(4) {
        0 => AqmConfig::CoDel(CoDelConfig {
            target,
            interval: Span::from_millis(10),
            ..CoDelConfig::default()
        }),
        1 => AqmConfig::Pie(PieConfig {
            target,
            update_every: target,
            max_burst: target,
            ..PieConfig::default()
        }),
        2 => AqmConfig::EcnStep(EcnStepConfig::default()),
        _ => AqmConfig::default(),
    }
}

#[test]
fn every_packet_leaves_once_in_order_or_is_reported_lost() {
    let mut failures = 0;
    let mut losses = 0;
    let mut chosen = 0;
    let cases = Cases::new(1000).first(300);
    cases.run(|seed| {
        let mut random = Stream::new(seed, "properties", 0);
        let mut aqms = Stream::new(seed, "properties.aqm", 0);
        let ues = 1 + random.below(4) as u32;
        let mut config = RadioConfig {
            cells: vec![cell(&mut random)],
            ..RadioConfig::default()
        };
        for ue in 0..ues {
            let sinr = Decibel(random.uniform_in(-4.0, 25.0));
            config.ues.push(UeConfig {
                serving: Serving::Cell(CellId(0)),
                fixed_sinr: Some(FixedSinr {
                    downlink: sinr,
                    uplink: sinr,
                }),
                ..UeConfig::new(NodeId(ue))
            });
            for _ in 0..1 + random.below(2) {
                let rlc = rlc(&mut random);
                let pdcp = match rlc.generation {
                    Generation::Nr => PdcpConfig::NR,
                    Generation::Lte => PdcpConfig::LTE,
                };
                config.bearers.push(BearerConfig {
                    rlc: RlcConfig {
                        aqm: aqm(&mut aqms),
                        ..rlc
                    },
                    channel: LogicalChannel {
                        priority: random.below(3) as u8,
                        prioritised_bit_rate: (random.below(2) == 0)
                            .then(|| Rate::from_bits_per_sec(8_000 << random.below(14))),
                        ..LogicalChannel::default()
                    },
                    pdcp: PdcpConfig {
                        discard_timer: random.chance(0.3).then(|| Span::from_millis(50)),
                        ..pdcp
                    },
                    ..BearerConfig::nr(UeId(ue))
                });
            }
        }
        let bearers = config.bearers.len() as u64;
        if cases.is_replay() {
            println!("{config:#?}");
        }
        let mut rig = Rig::new(config, seed);
        let mut put = Vec::new();
        for number in 0..600 {
            let bearer = random.below(bearers) as u32;
            let direction = if random.chance(0.5) {
                Direction::Downlink
            } else {
                Direction::Uplink
            };
            put.push((bearer, direction));
            rig.send_packet(bearer, direction, 40 + random.below(1460) as u32, number);
            rig.run_for(Span::from_nanos(random.exponential(1e6) as u64));
        }
        // The queues are nearly always empty after one minute. The last packets take longer if two
        // of five blocks fail and the pattern has few downlink slots and one HARQ process.
        for _ in 0..60 {
            rig.run_for(Span::from_secs(60));
            if rig.pool.is_empty() {
                break;
            }
        }
        let mut fate = vec![0; put.len()];
        let mut last = vec![[None; 2]; bearers as usize];
        for arrival in &rig.arrivals {
            let (bearer, direction) = put[arrival.number as usize];
            fate[arrival.number as usize] += 1;
            let before = &mut last[bearer as usize][direction.index()];
            assert!(*before < Some(arrival.number), "seed {seed}: out of order");
            *before = Some(arrival.number);
        }
        for drop in &rig.rows.drops {
            fate[drop.flow.index()] += 1;
        }
        for (number, count) in fate.iter().enumerate() {
            let (bearer, direction) = put[number];
            assert!(
                *count == 1,
                "seed {seed}: packet {number} of bearer {bearer} {direction:?} left {count} times"
            );
        }
        assert!(rig.pool.is_empty(), "seed {seed}: the pool leaks");
        // Every arrived packet has a delay row. The parts of a delay add up to at most the duration
        // of the run.
        assert_eq!(rig.rows.delays.len(), rig.arrivals.len());
        losses += rig.rows.drops.len();
        let is_aqm = |row: &&RadioDropRow| row.cause == RadioDropCause::Aqm;
        let by_aqm = rig.rows.drops.iter().filter(is_aqm).count() as u64;
        let counted = (0..ues).flat_map(|ue| {
            let access = &rig.access;
            [Direction::Downlink, Direction::Uplink]
                .map(|direction| access.counters_of(UeId(ue), direction).aqm_dropped_packets)
        });
        assert_eq!(counted.sum::<u64>(), by_aqm, "seed {seed}");
        chosen += by_aqm;
        failures += rig.access.counters().link_failures;
        assert!(rig.access.wake_at() > rig.now, "seed {seed}");
    });
    // The random cases must have included losses, failures and drops by queue management.
    assert!(
        !cases.is_whole() || losses > 100 && failures > 10 && chosen > 100,
        "{losses} losses, {failures} failures, {chosen} chosen by queue management"
    );
}

#[test]
fn an_idle_cell_with_a_thousand_ues_has_no_events() {
    let ues = 1000;
    let config = RadioConfig {
        cells: vec![CellConfig::lte(Point::default(), Hertz(2e9), 100)],
        ues: (0..ues)
            .map(|ue| UeConfig {
                fixed_sinr: Some(FixedSinr {
                    downlink: Decibel(10.0),
                    uplink: Decibel(10.0),
                }),
                ..UeConfig::new(NodeId(ue))
            })
            .collect(),
        bearers: (0..ues).map(|ue| BearerConfig::nr(UeId(ue))).collect(),
    };
    let mut rig = Rig::new(config, 1);
    rig.run_until(Time::ZERO);
    let attached = rig.access.counters().events;
    assert_eq!(attached, 1000, "each UE looked for its cell once");
    rig.run_for(Span::from_secs(100));
    assert_eq!(rig.access.counters().events, attached);
    // One packet for one UE takes less than 40 events: a slot, its decoding and its status report.
    rig.send_packet(500, Direction::Downlink, 1000, 0);
    rig.run_for(Span::from_secs(100));
    assert_eq!(rig.arrivals.len(), 1);
    let events = rig.access.counters().events - attached;
    assert!(events < 40, "{events} events for one packet");
}

#[test]
fn a_ue_out_of_range_waits_and_is_tried_again_now_and_then_until_its_link_has_failed() {
    // The power is so low that neither the UE nor the base station receives anything. The path gain
    // may still change.
    let power = Dbm(-150.0);
    let config = |bearer| RadioConfig {
        cells: vec![CellConfig {
            power,
            ..CellConfig::lte(Point::default(), Hertz(2e9), 100)
        }],
        ues: vec![UeConfig {
            power,
            ..UeConfig::new(NodeId(0))
        }],
        bearers: vec![bearer],
    };
    let unacknowledged = BearerConfig {
        rlc: RlcConfig::NR_UM,
        ..BearerConfig::nr(UeId(0))
    };
    // In the downlink, the link fails after T310 and T311. It is evaluated every 40 ms. In the
    // uplink, the link fails after 64 requests (sr-TransMax). The UE sends a request every 100 ms,
    // and each request causes an evaluation.
    let cases = [
        (Direction::Downlink, 3_900, 200, 90..=110),
        (Direction::Uplink, 6_000, 2_000, 150..=360),
    ];
    for (direction, waits_ms, fails_within_ms, evaluations) in cases {
        for bearer in [BearerConfig::nr(UeId(0)), unacknowledged] {
            let mut rig = Rig::new(config(bearer), 1);
            rig.send_packet(0, direction, 1000, 0);
            rig.run_for(Span::from_millis(waits_ms));
            assert!(rig.arrivals.is_empty() && rig.rows.drops.is_empty());
            let slots = rig.access.counters().slots;
            assert!(evaluations.contains(&slots), "{direction:?}: {slots}");
            for direction in [Direction::Downlink, Direction::Uplink] {
                let counters = rig.access.counters_of(UeId(0), direction);
                assert_eq!(counters, DirectionCounters::default());
            }
            rig.run_for(Span::from_millis(fails_within_ms));
            let causes: Vec<_> = rig.rows.drops.iter().map(|row| row.cause).collect();
            assert_eq!(causes, [RadioDropCause::LinkFailure], "{direction:?}");
            assert!(rig.pool.is_empty());
            assert_eq!(rig.access.counters().link_failures, 1);
            let slots = rig.access.counters().slots;
            rig.run_for(Span::from_secs(100));
            let more = rig.access.counters().slots - slots;
            assert!(more <= 2, "nothing waits, and {more} slots were looked at");
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_channel_whatever_the_traffic() {
    let sinr_of_slots = |packets: u32| {
        let config = RadioConfig {
            cells: vec![CellConfig::lte(Point::default(), Hertz(2e9), 100)],
            ues: vec![UeConfig::new(NodeId(0))],
            bearers: vec![BearerConfig::lte(UeId(0))],
        };
        let mut rig = Rig::with_places(config, 5, vec![Point::new(300.0, 40.0, 1.5)]);
        for _ in 0..500 {
            for number in 0..packets {
                rig.send_packet(0, Direction::Downlink, 1500, number);
            }
            rig.run_for(Span::from_millis(1));
        }
        let down = rig.rows.blocks.iter();
        let down = down.filter(|row| row.direction == Direction::Downlink);
        down.map(|row| (row.time_s, row.sinr_db))
            .collect::<Vec<_>>()
    };
    let (few, many) = (sinr_of_slots(1), sinr_of_slots(4));
    assert!(few.len() > 300);
    let in_both = few.iter().filter(|block| {
        let same_slot = many.iter().find(|other| other.0 == block.0);
        same_slot.is_some_and(|other| {
            assert_eq!(other.1, block.1, "at {}", block.0);
            true
        })
    });
    assert!(in_both.count() > 300);
}

#[test]
fn bad_values_are_errors_that_say_what_was_expected() {
    let ue = UeConfig::new(NodeId(0));
    let lte = || CellConfig::lte(Point::default(), Hertz(2e9), 100);
    let bearer = BearerConfig::nr(UeId(0));
    let error = |cell: CellConfig, ue: UeConfig, bearer: BearerConfig| {
        let config = RadioConfig {
            cells: vec![cell],
            ues: vec![ue],
            bearers: vec![bearer],
        };
        match RadioAccess::new(config, 1) {
            Ok(_) => "no error".to_owned(),
            Err(error) => error.to_string(),
        }
    };
    let period = CellConfig {
        requests: RequestConfig::every(7),
        ..lte()
    };
    let elsewhere = UeConfig {
        serving: Serving::Cell(CellId(3)),
        ..ue
    };
    let mut without_buffer = bearer;
    without_buffer.rlc.buffer = Bytes(0);
    let orphan = BearerConfig::nr(UeId(9));
    let wide = CellConfig::lte(Point::default(), Hertz(2e9), 273);
    for (found, expected) in [
        (
            error(period, ue, bearer),
            "cell 0: SR period in slots is 7; expected one of 1, 2, 5, 10, 20, 40, 80",
        ),
        (
            error(wide, ue, bearer),
            "cell 0: resource blocks is 273; expected 1 to 110",
        ),
        (
            error(lte(), elsewhere, bearer),
            "UE 0: serving cell is 3; expected a cell below 1",
        ),
        (
            error(lte(), ue, without_buffer),
            "bearer 0: buffer is 0 bytes; the nearest allowed value is 1 bytes",
        ),
        (
            error(lte(), ue, orphan),
            "bearer 0 is of UE 9; there are 1 UEs",
        ),
    ] {
        assert_eq!(found, expected);
    }
}

#[test]
fn at_a_given_sinr_that_is_out_of_range_nothing_waits_for_ever() {
    for (sinr, is_taken) in [(-6.0, true), (-12.0, false)] {
        let config = RadioConfig {
            cells: vec![CellConfig::lte(Point::default(), Hertz(2e9), 25)],
            ues: vec![UeConfig {
                serving: Serving::Cell(CellId(0)),
                fixed_sinr: Some(FixedSinr {
                    downlink: Decibel(20.0),
                    uplink: Decibel(sinr),
                }),
                ..UeConfig::new(NodeId(0))
            }],
            bearers: vec![BearerConfig::lte(UeId(0))],
        };
        let mut rig = Rig::new(config, 1);
        rig.send_packet(0, Direction::Uplink, 500, 0);
        rig.run_until(Time::ZERO + Span::from_secs(10));
        assert!(rig.pool.is_empty(), "{sinr} dB");
        let causes: Vec<_> = rig.rows.drops.iter().map(|row| row.cause).collect();
        let refused = vec![RadioDropCause::NoBlock; usize::from(!is_taken)];
        assert_eq!(causes, refused, "{sinr} dB");
        assert!(rig.access.wake_at().is_never(), "{sinr} dB: nothing is due");
    }
}

#[test]
fn a_packet_that_no_slot_comes_for_is_discarded_when_its_timer_expires() {
    // The power is so low that neither the UE nor the base station receives anything. The path gain
    // may still change.
    let power = Dbm(-150.0);
    for direction in [Direction::Downlink, Direction::Uplink] {
        let config = RadioConfig {
            cells: vec![CellConfig {
                power,
                ..CellConfig::lte(Point::default(), Hertz(2e9), 25)
            }],
            ues: vec![UeConfig {
                serving: Serving::Cell(CellId(0)),
                power,
                ..UeConfig::new(NodeId(0))
            }],
            bearers: vec![BearerConfig {
                pdcp: PdcpConfig {
                    discard_timer: Some(Span::from_millis(50)),
                    ..PdcpConfig::LTE
                },
                ..BearerConfig::lte(UeId(0))
            }],
        };
        let mut rig = Rig::new(config, 1);
        rig.send_packet(0, direction, 500, 0);
        rig.run_until(Time::ZERO + Span::from_millis(300));
        let [drop] = &rig.rows.drops[..] else {
            panic!("{:?}", rig.rows.drops);
        };
        assert_eq!(drop.cause, RadioDropCause::DiscardTimer);
        // The base station needs up to a millisecond to process the packet before PDCP starts the
        // discard timer.
        let late = drop.time_s.since(Time::ZERO + Span::from_millis(50));
        assert!(late <= Span::from_millis(1), "{direction:?}: {late:?}");
        assert!(drop.time_s >= Time::ZERO + Span::from_millis(50));
        assert!(rig.pool.is_empty());
    }
}
