//! Handover from outside: random walks through cells, with failures, lost end markers and every data
//! option. Packets are put in by hand, and routed as the core routes them.

use fadeout_core::random::Stream;
use fadeout_core::{
    Bytes, CellId, Dbm, Decibel, Direction, DrbId, FlowId, HandoverOutcome, HandoverRow, Hertz,
    Kinematics, Motion, NodeId, Packet, PacketId, PacketPool, Point, Probe, Procedure,
    RadioDropCause, RadioDropRow, RrcEvent, RrcRow, Segment, Span, Time, UeId, Vector,
};
use fadeout_radio::access::{
    AccessConfig, Backhaul, BearerConfig, BicastStart, CellConfig, DataForwarding, EventKind,
    Interface, MeasurementEvent, MobilityConfig, Monitoring, Move, Policy, ProcedureConfig,
    RadioAccess, RadioConfig, Scope, Serving, Signalling, UeConfig,
};
use fadeout_radio::pdcp::{Delivery, PdcpConfig};
use fadeout_radio::rlc::RlcConfig;
use fadeout_testkit::Cases;
use std::collections::BTreeMap;

/// A UE that goes back and forth along a street of cells.
struct Walk {
    speed: f64,
    length: f64,
}

impl Motion for Walk {
    fn at(&mut self, _node: NodeId, time: Time) -> Kinematics {
        let way = self.speed * time.as_secs_f64() % (2.0 * self.length);
        let (x, sign) = match way < self.length {
            true => (way, 1.0),
            false => (2.0 * self.length - way, -1.0),
        };
        Kinematics {
            position: Point::new(x, 20.0, 1.5),
            velocity: Vector::new(sign * self.speed, 0.0, 0.0),
        }
    }
}

#[derive(Default)]
struct Rows {
    drops: Vec<RadioDropRow>,
    handovers: Vec<HandoverRow>,
    steps: Vec<RrcRow>,
}

impl Probe for Rows {
    fn radio_dropped(&mut self, row: RadioDropRow) {
        self.drops.push(row);
    }
    fn handover(&mut self, row: HandoverRow) {
        self.handovers.push(row);
    }
    fn rrc(&mut self, row: RrcRow) {
        self.steps.push(row);
    }
}

/// What happens outside the radio.
#[derive(Debug, Clone, Copy)]
enum Outside {
    Packet(Direction, u32),
    /// A downlink packet reaches a base station.
    AtBase(u32, PacketId),
    /// Something else reaches it, or the core.
    Backhaul(Backhaul, PacketId),
}

struct Case {
    config: RadioConfig,
    mobility: MobilityConfig,
    walk: Walk,
    /// From the core to each base station.
    core_delay: Span,
    loses_markers: bool,
    /// Of links between base stations and the core: one way, and the share of messages that they lose.
    links: (Span, f64),
    /// The share of forwarded packets that they lose.
    loses_forwarded: f64,
}

struct Outcomes {
    rows: Rows,
    arrivals: Vec<u32>,
    put: Vec<Direction>,
    /// Packets in the pool at the end.
    left: usize,
    /// Forwarded packets that links dropped.
    dropped: Vec<u32>,
    /// Messages and forwarded packets that links carried.
    carried: [u32; 2],
    /// Packets that the core sent to two base stations.
    copied: Vec<u32>,
}

/// Runs `case` with a packet each `every` for `length`, and on until nothing is under way.
fn run(case: Case, seed: u64, every: Span, length: Span) -> Outcomes {
    let mut access = RadioAccess::new(case.config, seed).expect("a radio access");
    let managed = access.manage_mobility(case.mobility, Policy::default());
    managed.expect("one leg each");
    let (mut pool, mut motion, mut rows) = (PacketPool::new(), case.walk, Rows::default());
    let mut outside: BTreeMap<(Time, u64), Outside> = BTreeMap::new();
    let mut put = Vec::new();
    // What LTE's PDCP stored at a handover waits for the next packet, and a UE perhaps for a cell.
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
    // The second base station that the core sends to.
    let (mut second, mut copied) = (None, Vec::new());
    let (least, most) = (length + Span::from_secs(20), length + Span::from_secs(60));
    let mut entered = 0;
    loop {
        let first = outside
            .first_key_value()
            .map_or(Time::NEVER, |(key, _)| key.0);
        let now = first.min(access.wake_at());
        let left = arrivals.len() + rows.drops.len() + dropped.len();
        if now > Time::ZERO + most || now > Time::ZERO + least && left == entered + copied.len() {
            break;
        }
        if first > access.wake_at() {
            access.on_wake(now, &mut motion, &mut pool, &mut out, &mut rows);
            for packet in out.drain(..) {
                arrivals.push(pool.take(packet).flow.0);
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
                                let copy = pool.insert(pool[packet]);
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
                    access.on_backhaul(now, (what, packet), &mut pool, &mut rows);
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
                Move::Uplink { .. } | Move::Told { .. } => None,
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
                let packet = pool.take(packet);
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
    }
}

fn cell(is_nr: bool, x: f64, power: f64) -> CellConfig {
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

fn mobility(cells: u32) -> MobilityConfig {
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
        monitoring: Monitoring::default(),
        access: AccessConfig::default(),
        procedure: ProcedureConfig::default(),
        data: DataForwarding::Forwarded,
        most_ues: None,
        stations: (0..cells).collect(),
        interface: Interface::Direct,
        signalling: Signalling::Given,
    }
}

fn bearer(rlc: RlcConfig, is_nr: bool) -> BearerConfig {
    BearerConfig {
        rlc: RlcConfig {
            buffer: Bytes(100_000_000),
            ..rlc
        },
        pdcp: match is_nr {
            // It outlasts every interruption.
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

fn case(random: &mut Stream, rlc: RlcConfig, is_nr: bool) -> Case {
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
        mobility,
    }
}

/// Every packet leaves once, delivered or lost; what is delivered in each direction is in order.
fn books_close(outcomes: &Outcomes, seed: u64) {
    books_close_in((outcomes, true), seed);
}

/// As [`books_close`], perhaps in any order.
fn books_close_in((outcomes, is_ordered): (&Outcomes, bool), seed: u64) {
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
    // Reports go on to the end: one or two may be under way.
    assert!(outcomes.left < 3, "seed {seed}: the pool leaks");
}

#[test]
fn with_acknowledgments_and_forwarding_only_a_lost_connection_loses_anything() {
    let mut handovers = [0; 3];
    let (mut reestablished, mut released) = (0, 0);
    // A case costs some 60 ms.
    let cases = Cases::new(60);
    cases.run(|seed| {
        let mut random = Stream::new(seed, "handover", 0);
        let is_nr = random.chance(0.5);
        let rlc = match is_nr {
            true => RlcConfig::NR_AM,
            false => RlcConfig::LTE_AM,
        };
        let case = case(&mut random, rlc, is_nr);
        let outcomes = run(case, seed, Span::from_millis(3), Span::from_secs(12));
        books_close(&outcomes, seed);
        for row in &outcomes.rows.handovers {
            let outcome = match row.outcome {
                HandoverOutcome::Success => 0,
                HandoverOutcome::Failed | HandoverOutcome::Cancelled => 1,
                HandoverOutcome::Refused => 2,
            };
            handovers[outcome] += 1;
            let is_back = row.procedure == Procedure::Reestablishment;
            reestablished += u32::from(is_back && row.outcome == HandoverOutcome::Success);
        }
        let releases = outcomes.rows.steps.iter();
        let releases = releases
            .filter(|row| row.event == RrcEvent::Released)
            .count();
        released += releases;
        if releases == 0 {
            let drops = &outcomes.rows.drops;
            assert!(drops.is_empty(), "seed {seed}: {:?}", drops[0]);
        } else {
            let mut causes = outcomes.rows.drops.iter().map(|row| row.cause);
            // What the receiver held then goes up: what is missing before it is given up.
            let is_known = |cause| {
                use RadioDropCause::{Handover, LinkFailure, Reordering};
                matches!(cause, LinkFailure | Handover | Reordering)
            };
            let unknown = causes.find(|&cause| !is_known(cause));
            assert_eq!(unknown, None, "seed {seed}");
        }
    });
    assert!(
        !cases.is_whole() || handovers[0] > 100 && handovers[1] > 10 && reestablished > 10,
        "{handovers:?} well, failed and refused, {reestablished} re-established, {released} released"
    );
}

#[test]
fn without_acknowledgments_or_forwarding_every_loss_has_its_cause() {
    let (mut lost, mut successes) = (0, 0);
    // A case costs some 60 ms.
    let cases = Cases::new(40);
    cases.run(|seed| {
        let mut random = Stream::new(seed, "handover.lossy", 0);
        let is_nr = random.chance(0.5);
        let is_acknowledged = random.chance(0.4);
        let rlc = match (is_nr, is_acknowledged) {
            (true, true) => RlcConfig::NR_AM,
            (false, true) => RlcConfig::LTE_AM,
            (true, false) => RlcConfig::NR_UM,
            (false, false) => RlcConfig::LTE_UM,
        };
        let mut case = case(&mut random, rlc, is_nr);
        if is_acknowledged || random.chance(0.5) {
            case.mobility.data = DataForwarding::Dropped;
        }
        if is_nr {
            case.config.bearers[0].pdcp.delivery = Delivery::InOrder(Some(Span::from_millis(100)));
        }
        let outcomes = run(case, seed, Span::from_millis(3), Span::from_secs(12));
        books_close(&outcomes, seed);
        let drops = outcomes.rows.drops.iter();
        lost += drops
            .filter(|row| row.cause == RadioDropCause::Handover)
            .count();
        let rows = outcomes.rows.handovers.iter();
        successes += rows
            .filter(|row| row.outcome == HandoverOutcome::Success)
            .count();
    });
    assert!(
        !cases.is_whole() || lost > 100 && successes > 100,
        "{lost} packets lost by {successes} changes of cell"
    );
}

/// Whether packets may overtake each other: after a failure forwarded packets follow the UE from where it
/// is no more, perhaps back to where newer ones have come; and no end marker says that all are there.
fn may_reorder(outcomes: &Outcomes, loses_markers: bool) -> bool {
    use RrcEvent::{AccessFailure, LinkFailure};
    let mut steps = outcomes.rows.steps.iter();
    loses_markers || steps.any(|row| matches!(row.event, LinkFailure | AccessFailure))
}

/// As `case`, over links.
fn case_over_links(random: &mut Stream, rlc: RlcConfig, is_nr: bool) -> Case {
    let mut case = case(random, rlc, is_nr);
    let cells = case.mobility.stations.len() as u32;
    case.mobility.stations = (0..cells).collect();
    if random.chance(0.3) {
        case.mobility.interface = Interface::Core;
    }
    let strangers = (0..cells).flat_map(|one| (0..cells).map(move |other| (one, other)));
    let strangers = strangers.filter(|_| random.chance(0.2)).collect();
    case.mobility.signalling = Signalling::Links { strangers };
    case.links = (Span::from_millis(random.below(40)), 0.0);
    case
}

#[test]
fn over_links_that_lose_nothing_only_a_lost_connection_loses_anything() {
    let (mut successes, mut reestablished, mut ordered, mut carried) = (0, 0, 0, [0; 2]);
    let cases = Cases::new(60);
    cases.run(|seed| {
        let mut random = Stream::new(seed, "handover.over-links", 0);
        let is_nr = random.chance(0.5);
        let rlc = match is_nr {
            true => RlcConfig::NR_AM,
            false => RlcConfig::LTE_AM,
        };
        let case = case_over_links(&mut random, rlc, is_nr);
        let loses_markers = case.loses_markers;
        let outcomes = run(case, seed, Span::from_millis(3), Span::from_secs(12));
        let is_ordered = !may_reorder(&outcomes, loses_markers);
        books_close_in((&outcomes, is_ordered), seed);
        ordered += u32::from(is_ordered && outcomes.carried[1] > 0);
        for (sum, more) in carried.iter_mut().zip(outcomes.carried) {
            *sum += more;
        }
        for row in &outcomes.rows.handovers {
            let is_back = row.procedure == Procedure::Reestablishment;
            let is_well = row.outcome == HandoverOutcome::Success;
            reestablished += u32::from(is_back && is_well);
            successes += u32::from(is_well);
        }
        let mut steps = outcomes.rows.steps.iter();
        if !steps.any(|row| row.event == RrcEvent::Released) {
            let drops = &outcomes.rows.drops;
            assert!(drops.is_empty(), "seed {seed}: {:?}", drops[0]);
        }
    });
    assert!(
        !cases.is_whole()
            || successes > 100
                && reestablished > 10
                && ordered > 10
                && carried.iter().all(|&of| of > 500),
        "{successes} well, {reestablished} re-established, {carried:?} messages and packets, \
         {ordered} runs in order"
    );
}

#[test]
fn over_links_that_lose_messages_and_packets_every_loss_has_its_cause() {
    let (mut lost, mut expired, mut again) = (0, 0, 0);
    let cases = Cases::new(40);
    cases.run(|seed| {
        let mut random = Stream::new(seed, "handover.lossy-links", 0);
        let is_nr = random.chance(0.5);
        let is_acknowledged = random.chance(0.6);
        let rlc = match (is_nr, is_acknowledged) {
            (true, true) => RlcConfig::NR_AM,
            (false, true) => RlcConfig::LTE_AM,
            (true, false) => RlcConfig::NR_UM,
            (false, false) => RlcConfig::LTE_UM,
        };
        let mut case = case_over_links(&mut random, rlc, is_nr);
        case.links.1 = random.uniform_in(0.0, 0.3);
        case.loses_forwarded = random.uniform_in(0.0, 0.3);
        if random.chance(0.3) {
            case.mobility.data = DataForwarding::Dropped;
        }
        if is_nr {
            case.config.bearers[0].pdcp.delivery = Delivery::InOrder(Some(Span::from_millis(100)));
        }
        let outcomes = run(case, seed, Span::from_millis(3), Span::from_secs(12));
        books_close_in((&outcomes, false), seed);
        lost += outcomes.dropped.len();
        let count = |event| {
            let steps = outcomes.rows.steps.iter();
            steps.filter(|row| row.event == event).count()
        };
        expired += count(RrcEvent::PreparationExpired);
        let switched = count(RrcEvent::PathSwitched);
        again += count(RrcEvent::PathSwitchRequest).saturating_sub(switched);
    });
    assert!(
        !cases.is_whole() || lost > 100 && expired > 10 && again > 10,
        "{lost} forwarded packets lost, {expired} preparations, {again} requests again"
    );
}

/// The core sends to both from random times on, over links that lose messages or with given times.
#[test]
fn what_the_core_sends_to_both_arrives_once_twice_or_is_lost_as_its_row_says() {
    let (mut sums, mut exact, mut ended) = ([0; 3], 0, 0);
    let cases = Cases::new(60);
    cases.run(|seed| {
        let mut random = Stream::new(seed, "handover.bicast", 0);
        let is_nr = random.chance(0.5);
        let is_acknowledged = random.chance(0.7);
        let rlc = match (is_nr, is_acknowledged) {
            (true, true) => RlcConfig::NR_AM,
            (false, true) => RlcConfig::LTE_AM,
            (true, false) => RlcConfig::NR_UM,
            (false, false) => RlcConfig::LTE_UM,
        };
        let mut case = match random.chance(0.5) {
            true => case_over_links(&mut random, rlc, is_nr),
            false => case(&mut random, rlc, is_nr),
        };
        if random.chance(0.3) {
            case.links.1 = random.uniform_in(0.0, 0.3);
        }
        let cells = case.mobility.stations.len() as u32;
        case.mobility.stations = (0..cells).collect();
        let span = Span::from_millis(random.below(100));
        case.mobility.data = DataForwarding::Bicast(match random.chance(0.6) {
            true => BicastStart::Before(span),
            false => BicastStart::After(span),
        });
        if random.chance(0.2) {
            case.mobility.procedure.target_buffer = Bytes(random.below(20_000));
        }
        if is_nr {
            case.config.bearers[0].pdcp.delivery = Delivery::InOrder(Some(Span::from_millis(100)));
        }
        let outcomes = run(case, seed, Span::from_millis(3), Span::from_secs(12));
        books_close_in((&outcomes, false), seed);
        let steps = &outcomes.rows.steps;
        let is_smooth = !steps.iter().any(|row| {
            use RrcEvent::{AccessFailure, LinkFailure, Released, SourceResumed};
            let event = row.event;
            matches!(
                event,
                AccessFailure | LinkFailure | Released | SourceResumed
            )
        });
        // RLC may take longer to repeat something than t-Reordering.
        let mut causes = outcomes.rows.drops.iter().map(|row| row.cause);
        let is_smooth = is_smooth
            && causes.all(|cause| {
                matches!(cause, RadioDropCause::Handover | RadioDropCause::BufferFull)
            });
        let ends = steps
            .iter()
            .filter(|row| row.event == RrcEvent::BicastEnded);
        ended += ends.count();
        let mut of_rows = [0; 3];
        for row in &outcomes.rows.handovers {
            let counts = [row.bicast_packets, row.doubled_packets, row.lost_packets];
            for (sum, count) in of_rows.iter_mut().zip(counts) {
                *sum += count;
            }
        }
        for (sum, more) in sums.iter_mut().zip(of_rows) {
            *sum += more;
        }
        if is_smooth && is_acknowledged && of_rows[0] > 0 {
            let mut arrived = vec![0; outcomes.put.len()];
            for &number in &outcomes.arrivals {
                arrived[number as usize] += 1;
            }
            let count = |times: u32| arrived.iter().filter(|&&of| of == times).count() as u32;
            assert_eq!([count(2), count(0)], of_rows[1..], "seed {seed}");
            exact += 1;
        }
    });
    assert!(
        !cases.is_whole()
            || sums[0] > 500 && sums[1] > 50 && sums[2] > 50 && exact > 5 && ended > 3,
        "{sums:?} copied, doubled and lost, {exact} runs without failures, {ended} times ended"
    );
}
