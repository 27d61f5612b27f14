//! A UE that walks along a street of cells, and the test's packets to and from the UE.

use crate::common::{AnyMotion, Rows};
use fadeout_core::random::Stream;
use fadeout_core::{
    Bytes, CellId, Dbm, Decibel, Direction, DrbId, FlowId, Hertz, Kinematics, Motion, NodeId,
    Packet, PacketId, PacketPool, Point, RrcEvent, Segment, Span, Time, UeId, Vector,
};
use fadeout_radio::access::{
    AccessConfig, Backhaul, BearerConfig, CellChange, CellConfig, DataForwarding, EventKind,
    Interface, LegCounters, MeasurementEvent, MobilityConfig, Monitoring, Move, Policy,
    ProcedureConfig, RadioAccess, RadioConfig, Sampling, Scope, Serving, Signalling, UeConfig,
};
use fadeout_radio::pdcp::{Delivery, PdcpConfig};
use fadeout_radio::rlc::RlcConfig;
use std::collections::{BTreeMap, BTreeSet};

/// A UE that goes back and forth along a street of cells.
pub(crate) struct Walk {
    pub(crate) speed: f64,
    pub(crate) length: f64,
}

impl Motion for Walk {
    fn kinematics_at(&mut self, _node: NodeId, time: Time) -> Kinematics {
        let along = self.speed * time.as_secs_f64() % (2.0 * self.length);
        let (x, sign) = match along < self.length {
            true => (along, 1.0),
            false => (2.0 * self.length - along, -1.0),
        };
        Kinematics {
            position: Point::new(x, 20.0, 1.5),
            velocity: Vector::new(sign * self.speed, 0.0, 0.0),
        }
    }
}

/// Events outside the radio access.
#[derive(Debug, Clone, Copy)]
enum Outside {
    Packet(Direction, u32),
    /// A downlink packet reaches a base station.
    AtBase(u32, PacketId),
    /// A message or forwarded packet reaches a base station or the core over a link.
    Backhaul(Backhaul, PacketId),
}

pub(crate) struct Case {
    pub(crate) config: RadioConfig,
    pub(crate) mobility: MobilityConfig,
    pub(crate) walk: Walk,
    /// Delay from the core to each base station.
    pub(crate) core_delay: Span,
    pub(crate) loses_markers: bool,
    /// One-way delay of links between base stations and the core, and the share of messages that
    /// these links lose.
    pub(crate) links: (Span, f64),
    /// Share of forwarded packets that links lose.
    pub(crate) loses_forwarded: f64,
    /// True if the outcomes include transport block rows.
    pub(crate) keeps_blocks: bool,
    /// True if the outcomes include measurement rows.
    pub(crate) keeps_measured: bool,
}

pub(crate) struct Outcomes {
    pub(crate) rows: Rows,
    pub(crate) arrivals: Vec<u32>,
    pub(crate) put: Vec<Direction>,
    /// Packets in the pool at the end.
    pub(crate) left: usize,
    /// Numbers of the forwarded packets that links dropped.
    pub(crate) dropped: Vec<u32>,
    /// Numbers of messages and forwarded packets that links carried.
    pub(crate) carried: [u32; 2],
    /// Numbers of the packets that the core sent to two base stations.
    pub(crate) copied: Vec<u32>,
    /// Counters of the bearer's legs by direction. Empty unless the bearer is split.
    pub(crate) legs: [Vec<LegCounters>; 2],
}

/// Returns the number of rows of an event.
pub(crate) fn count(outcomes: &Outcomes, event: RrcEvent) -> usize {
    let steps = outcomes.rows.steps.iter();
    steps.filter(|row| row.event == event).count()
}

/// Runs `case` with a packet each `every` for the time `length`. Continues until all packets have
/// left.
pub(crate) fn run(case: Case, seed: u64, every: Span, length: Span) -> Outcomes {
    let mut access = RadioAccess::new(case.config, seed).expect("a radio access");
    let managed = access.manage_mobility(case.mobility, Policy::default());
    managed.expect("one leg each");
    let (mut pool, mut walk) = (PacketPool::new(), case.walk);
    let mut motion = AnyMotion(&mut walk);
    let mut rows = Rows {
        keeps_blocks: case.keeps_blocks,
        keeps_measured: case.keeps_measured,
        ..Rows::default()
    };
    let mut outside: BTreeMap<(Time, u64), Outside> = BTreeMap::new();
    let mut put = Vec::new();
    // Later packets follow, one each second. After a handover, LTE's PDCP delivers stored packets
    // only when another packet arrives. A UE may also still be without a cell.
    let late = (14..60).map(|later| Time::ZERO + length + Span::from_secs(later));
    let regular = std::iter::successors(Some(Time::ZERO), |&at| Some(at + every));
    let regular = regular.take_while(|&at| at < Time::ZERO + length);
    for at in regular.chain(late) {
        let direction = match put.len() % 3 {
            0 => Direction::Uplink,
            _ => Direction::Downlink,
        };
        let number = put.len() as u32;
        outside.insert((at, u64::from(number)), Outside::Packet(direction, number));
        put.push(direction);
    }
    let mut next = put.len() as u64;
    let mut station = access.serving_cell(UeId(0)).expect("a cell").0;
    let (mut out, mut moves, mut arrivals) = (Vec::new(), Vec::new(), Vec::new());
    let mut dice = Stream::new(seed, "handover.links", 0);
    let (mut dropped, mut carried) = (Vec::new(), [0; 2]);
    // Second base station to which the core sends copies, and the copied packets.
    let (mut second, mut copied) = (None, Vec::new());
    let (least, most) = (length + Span::from_secs(20), length + Span::from_secs(60));
    let mut entered = 0;
    loop {
        let first = outside.keys().next().map_or(Time::NEVER, |key| key.0);
        let now = first.min(access.wake_at());
        let left = arrivals.len() + rows.drops.len() + dropped.len();
        if now > Time::ZERO + most || now > Time::ZERO + least && left == entered + copied.len() {
            break;
        }
        if first > access.wake_at() {
            access.on_wake(now, &mut motion, &mut pool, &mut out, &mut rows);
            for packet in out.drain(..) {
                arrivals.push(pool.remove(packet).flow.0);
            }
        } else {
            let Some((_, event)) = outside.pop_first() else {
                break;
            };
            let mut later = Vec::new();
            match event {
                Outside::Packet(direction, number) => {
                    entered += 1;
                    let segment = Segment {
                        len: 1000,
                        ..Segment::default()
                    };
                    let packet = pool.insert(Packet {
                        flow: FlowId(number),
                        segment,
                        ..Packet::default()
                    });
                    match direction {
                        Direction::Uplink => {
                            access.on_packet(
                                now,
                                DrbId(0),
                                direction,
                                packet,
                                &mut pool,
                                &mut rows,
                            );
                        }
                        Direction::Downlink => {
                            let at = now + case.core_delay;
                            later.push((at, Outside::AtBase(station, packet)));
                            if let Some(other) = second.filter(|&other| other != station) {
                                let whole = pool.packet(packet);
                                let copy = pool.insert(whole);
                                copied.push(number);
                                later.push((at, Outside::AtBase(other, copy)));
                            }
                        }
                    }
                }
                Outside::AtBase(station, packet) => {
                    access.on_packet_at(now, station, DrbId(0), packet, &mut pool, &mut rows);
                }
                Outside::Backhaul(what, packet) => {
                    let packets = (&mut pool, &mut out);
                    access.on_backhaul(now, (what, packet), packets, &mut rows);
                }
            }
            for (at, event) in later {
                outside.insert((at, next), event);
                next += 1;
            }
        }
        access.take_moves(&mut moves);
        let (delay, loss) = case.links;
        for one in moves.drain(..) {
            let sent = match one {
                Move::Uplink { .. } | Move::LinkNotice { .. } => None,
                Move::Recall { .. } | Move::Left { .. } => None,
                Move::Frame { what, number, .. } => {
                    carried[1] += 1;
                    let mut packet = Packet::default();
                    packet.segment.seq = number;
                    let packet = pool.insert(packet);
                    Some((what, packet, (delay, case.loses_forwarded)))
                }
                Move::Bicast { cell, .. } => {
                    second = Some(cell.0);
                    None
                }
                Move::BicastEnd { .. } => {
                    second = None;
                    None
                }
                Move::Path { cell, .. } => {
                    (station, second) = (cell.0, None);
                    access.on_path_switched(now, DrbId(0), 1);
                    let bearer = DrbId(0);
                    let marker = pool.insert(Packet::default());
                    let after = (case.core_delay, f64::from(u8::from(case.loses_markers)));
                    Some((Backhaul::EndMarker { bearer }, marker, after))
                }
                Move::Message { ue, number, .. } => {
                    carried[0] += 1;
                    let mut packet = Packet::default();
                    packet.segment.seq = number;
                    let packet = pool.insert(packet);
                    Some((Backhaul::Message { ue }, packet, (delay, loss)))
                }
                Move::Forwarded {
                    bearer, packet, to, ..
                } => {
                    carried[1] += 1;
                    let station = to;
                    let what = Backhaul::Forwarded { bearer, station };
                    Some((what, packet, (delay, case.loses_forwarded)))
                }
                Move::ForwardedEnd { bearer, .. } => {
                    let marker = pool.insert(Packet::default());
                    Some((Backhaul::ForwardedEnd { bearer }, marker, (delay, loss)))
                }
            };
            let Some((what, packet, (delay, loss))) = sent else {
                continue;
            };
            if dice.chance(loss) {
                let packet = pool.remove(packet);
                if let Backhaul::Forwarded { .. } = what {
                    dropped.push(packet.flow.0);
                }
                continue;
            }
            outside.insert((now + delay, next), Outside::Backhaul(what, packet));
            next += 1;
        }
    }
    put.truncate(entered);
    let messages = outside.values();
    let under_way = messages.filter(|it| matches!(it, Outside::Backhaul(..)));
    let under_way = under_way.count();
    Outcomes {
        rows,
        arrivals,
        put,
        left: pool.len() - under_way,
        dropped,
        carried,
        copied,
        legs: [Direction::Downlink, Direction::Uplink]
            .map(|direction| access.legs_of(DrbId(0), direction).unwrap_or_default()),
    }
}

pub(crate) fn cell(is_nr: bool, x: f64, power: f64) -> CellConfig {
    let site = Point::new(x, 0.0, 25.0);
    let cell = match is_nr {
        true => CellConfig::nr(site, Hertz(3.5e9), 1, 51).expect("a numerology"),
        false => CellConfig::lte(site, Hertz(2e9), 50),
    };
    CellConfig {
        power: Dbm(power),
        ..cell
    }
}

/// Returns the RLC configuration of a generation, in acknowledged or unacknowledged mode.
pub(crate) fn rlc(is_nr: bool, is_acknowledged: bool) -> RlcConfig {
    match (is_nr, is_acknowledged) {
        (true, true) => RlcConfig::NR_AM,
        (false, true) => RlcConfig::LTE_AM,
        (true, false) => RlcConfig::NR_UM,
        (false, false) => RlcConfig::LTE_UM,
    }
}

pub(crate) fn mobility(cells: u32) -> MobilityConfig {
    MobilityConfig {
        events: vec![MeasurementEvent {
            kind: EventKind::A3 { offset: 3.0 },
            hysteresis_db: 1.0,
            time_to_trigger: Span::from_millis(160),
            filter: 4,
            report_interval: Span::from_millis(240),
            report_amount: None,
            scope: Scope::Any,
        }],
        measurement_period: Span::from_millis(200),
        measurement_error_db: 0.0,
        sampling: Sampling::default(),
        gaps: None,
        monitoring: Monitoring::default(),
        beam_failure: None,
        access: AccessConfig::default(),
        procedure: ProcedureConfig::default(),
        data: DataForwarding::Forwarded,
        change: CellChange::Handover,
        rach_less: None,
        most_ues: None,
        secondaries: Vec::new(),
        secondary_node: None,
        stations: (0..cells).collect(),
        utra: BTreeSet::new(),
        interface: Interface::Direct,
        signalling: Signalling::FixedDelays,
    }
}

pub(crate) fn bearer(rlc: RlcConfig, is_nr: bool) -> BearerConfig {
    BearerConfig {
        rlc: RlcConfig {
            buffer: Bytes(100_000_000),
            ..rlc
        },
        pdcp: match is_nr {
            // PDCP waits for missing packets without limit, so no interruption makes PDCP give up a
            // packet.
            true => PdcpConfig {
                delivery: Delivery::InOrder(None),
                ..PdcpConfig::NR
            },
            false => PdcpConfig::LTE,
        },
        ..match is_nr {
            true => BearerConfig::nr(UeId(0)),
            false => BearerConfig::lte(UeId(0)),
        }
    }
}

pub(crate) fn case(random: &mut Stream, rlc: RlcConfig, is_nr: bool) -> Case {
    let cells = 2 + random.below(3) as u32;
    let apart = random.uniform_in(80.0, 250.0);
    let power = random.uniform_in(-5.0, 30.0);
    let span = |random: &mut Stream, most| Span::from_millis(random.below(most));
    let mut mobility = MobilityConfig {
        measurement_error_db: random.uniform_in(0.0, 3.0),
        most_ues: random.chance(0.1).then_some(0),
        ..mobility(cells)
    };
    if random.chance(0.3) {
        mobility.stations = vec![7; cells as usize];
    }
    mobility.events[0].time_to_trigger = span(random, 400);
    mobility.events[0].filter = random.below(9) as u8;
    mobility.measurement_period = Span::from_millis(40 + random.below(160));
    mobility.monitoring.t310 = span(random, 1000);
    mobility.monitoring.t311 = Span::from_millis(100 + random.below(2000));
    mobility.monitoring.q_out = Decibel(random.uniform_in(-9.0, -5.0));
    mobility.monitoring.q_in = Decibel(random.uniform_in(-5.0, -3.0));
    mobility.procedure.station_delay = span(random, 30);
    mobility.procedure.core_delay = span(random, 40);
    mobility.procedure.interruption = span(random, 80);
    mobility.procedure.t304 = Span::from_millis(100 + random.below(900));
    mobility.procedure.overall = Span::from_millis(200 + random.below(3000));
    Case {
        config: RadioConfig {
            cells: (0..cells)
                .map(|n| cell(is_nr, apart * f64::from(n), power))
                .collect(),
            ues: vec![UeConfig {
                serving: Serving::Cell(CellId(0)),
                ..UeConfig::new(NodeId(0))
            }],
            bearers: vec![bearer(rlc, is_nr)],
        },
        walk: Walk {
            speed: random.uniform_in(5.0, 60.0),
            length: apart * f64::from(cells - 1),
        },
        core_delay: span(random, 20),
        loses_markers: random.chance(0.2),
        links: (Span::ZERO, 0.0),
        loses_forwarded: 0.0,
        keeps_blocks: false,
        keeps_measured: false,
        mobility,
    }
}

/// Asserts that every packet leaves the bearer once, delivered or dropped. Asserts that each
/// direction delivers in order.
pub(crate) fn books_close(outcomes: &Outcomes, seed: u64) {
    books_close_in((outcomes, true), seed);
}

/// Asserts the same as [`books_close`]. The order of packets is asserted only if `is_ordered` is
/// true.
pub(crate) fn books_close_in((outcomes, is_ordered): (&Outcomes, bool), seed: u64) {
    let mut fate = vec![0; outcomes.put.len()];
    let mut last = [None; 2];
    for &number in &outcomes.arrivals {
        let direction = outcomes.put[number as usize];
        fate[number as usize] += 1;
        let before = &mut last[direction.index()];
        let is_late = *before >= Some(number);
        assert!(
            !(is_ordered && is_late),
            "seed {seed}: {number} out of order"
        );
        *before = Some(number);
    }
    for drop in &outcomes.rows.drops {
        fate[drop.flow.index()] += 1;
    }
    for &number in &outcomes.dropped {
        fate[number as usize] += 1;
    }
    let mut expected = vec![1; outcomes.put.len()];
    for &number in &outcomes.copied {
        expected[number as usize] += 1;
    }
    for (number, (count, expected)) in fate.iter().zip(expected).enumerate() {
        let direction = outcomes.put[number];
        assert!(
            *count == expected,
            "seed {seed}: packet {number} {direction:?} left {count} times, not {expected}"
        );
    }
    // The UE sends measurement reports until the end of the run, so one or two may still be in the
    // pool.
    assert!(outcomes.left < 3, "seed {seed}: the pool leaks");
}
