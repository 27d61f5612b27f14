//! Tests that skipped measurements do not change results. The RSRP of a cell need not be measured
//! if bounds decide the event. A link need not be evaluated if an earlier evaluation is still
//! valid. Results are bit-identical to those without skipping.

use crate::common::{AnyMotion, Rows};
use crate::handover::street::mobility;
use fadeout_core::math::{cos, sin};
use fadeout_core::random::Stream;
use fadeout_core::{
    CellId, Dbm, Decibel, Direction, DrbId, HandoverRow, Hertz, Kinematics, Lattice, Motion,
    NodeId, Packet, PacketPool, Point, RrcEvent, Span, Time, UeId, Vector,
};
use fadeout_radio::access::{
    Aggregation, BearerConfig, CellConfig, CustomPolicy, EventKind, HandoverPolicy,
    MeasurementEvent, MobilityConfig, Policy, RadioAccess, RadioConfig, Report, Sampling, Scope,
    Serving, UeConfig,
};
use fadeout_radio::antenna::{Angles, Antenna, LteSector, Mounted};
use fadeout_radio::channel::fading::Fading;
use fadeout_radio::channel::path_loss::{CloseIn, FreeSpace, LteMacro, PathLoss, UrbanMicro};
use fadeout_radio::channel::{ChannelConfig, LineOfSight, Shadowing};
use fadeout_radio::mac::DrxConfig;
use fadeout_testkit::Cases;
use std::f64::consts::TAU;
use std::sync::{Arc, Mutex};

/// UEs that go back and forth in both coordinates, with pauses of some seconds.
#[derive(Clone)]
struct Roaming {
    /// Start position of each UE, its velocity, and the largest coordinate relative to the start in
    /// metres. There the UE turns back.
    routes: Vec<(Point, Vector, f64)>,
    pause_s: f64,
    /// Length of the intervals of time within which queries about a UE may come in any order.
    orderless: Span,
    /// Latest query time of each UE, and the earliest time for which a query is still allowed.
    asked: Vec<(Time, Time)>,
}

impl Roaming {
    /// Records a query, and asserts that its time is not before the earliest allowed time.
    fn record_query(&mut self, node: NodeId, time: Time) {
        let until = self.until(self.asked[node.index()].0);
        let (latest, from) = &mut self.asked[node.index()];
        if time >= *latest {
            if time >= until {
                *from = time;
            }
            *latest = time;
        }
        assert!(
            time >= *from,
            "{node:?} is asked for {time:?} after {from:?}"
        );
    }

    fn until(&self, time: Time) -> Time {
        let (nanos, span) = (time.as_nanos(), self.orderless.as_nanos());
        Time::from_nanos(nanos - nanos % span + span)
    }
}

impl Motion for Roaming {
    fn kinematics_at(&mut self, node: NodeId, time: Time) -> Kinematics {
        self.record_query(node, time);
        let (start, velocity, most_m) = self.routes[node.index()];
        // A UE moves for five seconds before each pause.
        let round = 5.0 + self.pause_s;
        let t = time.as_secs_f64();
        let phase = t % round;
        let gone = (t - phase) / round * 5.0 + phase.min(5.0);
        let goes = f64::from(u8::from(phase < 5.0));
        let fold = |speed: f64| {
            let along = (speed * gone).rem_euclid(2.0 * most_m);
            match along < most_m {
                true => (along, speed * goes),
                false => (2.0 * most_m - along, -speed * goes),
            }
        };
        let ((x, vx), (y, vy)) = (fold(velocity.x), fold(velocity.y));
        Kinematics {
            position: Point::new(start.x + x, start.y + y, start.z),
            velocity: Vector::new(vx, vy, 0.0),
        }
    }
    fn orderless_until(&mut self, _node: NodeId, time: Time) -> Time {
        self.until(time)
    }
    fn has_vehicles(&self) -> bool {
        false
    }
}

/// Contents of a report, with levels as bits.
type ReportContents = (Time, UeId, Vec<(CellId, u64)>);

/// Handover policy that decides as `a3` does and records the reports.
struct ReportRecorder {
    inner: Policy,
    reports: Arc<Mutex<Vec<ReportContents>>>,
}

impl HandoverPolicy for ReportRecorder {
    fn events(&self, configured: &[MeasurementEvent], period: Span) -> Vec<MeasurementEvent> {
        self.inner.events(configured, period)
    }
    fn choose(&mut self, report: &Report<'_>) -> Option<CellId> {
        let cells = [report.serving]
            .into_iter()
            .chain(report.cells.iter().copied());
        let cells = cells.map(|cell| (cell.cell, cell.rsrp_dbm.to_bits()));
        let contents = (report.now, report.ue, cells.collect());
        self.reports.lock().expect("one thread").push(contents);
        self.inner.choose(report)
    }
    fn on_handover(&mut self, row: &HandoverRow) {
        self.inner.on_handover(row);
    }
}

fn channel(random: &mut Stream, azimuth_deg: f64, kind: u64) -> ChannelConfig {
    let path_loss = match kind {
        0 | 1 => PathLoss::LteMacro(LteMacro),
        2 => PathLoss::FreeSpace(FreeSpace),
        3 => PathLoss::CloseIn(CloseIn::default()),
        // The simulator has no bound for this path loss, so no measurement can be skipped.
        _ => PathLoss::UrbanMicro(UrbanMicro),
    };
    let sector = Antenna::Sector(Mounted {
        pattern: LteSector::default(),
        boresight: Angles {
            azimuth_deg,
            elevation_deg: 0.0,
        },
    });
    ChannelConfig {
        path_loss,
        line_of_sight: match kind {
            3 => LineOfSight::Obstructed,
            _ => LineOfSight::Drawn,
        },
        shadowing: Some(Shadowing {
            sigma_db: random.chance(0.5).then_some(6.0),
            ..Shadowing::default()
        }),
        los_fading: Fading::None,
        nlos_fading: Fading::None,
        base_antenna: sector,
        ..ChannelConfig::default()
    }
}

fn event(random: &mut Stream) -> MeasurementEvent {
    let kind = match random.below(4) {
        0 => EventKind::A4 { threshold: -85.0 },
        1 => EventKind::A5 {
            serving: -80.0,
            neighbour: -90.0,
        },
        _ => EventKind::A3 {
            offset: random.uniform_in(-2.0, 5.0),
        },
    };
    MeasurementEvent {
        kind,
        hysteresis_db: random.uniform_in(0.0, 3.0),
        time_to_trigger: Span::from_millis([0, 40, 160, 480][random.below(4) as usize]),
        filter: [0, 1, 4, 4, 8][random.below(5) as usize],
        report_interval: Span::from_millis(240),
        report_amount: random.chance(0.5).then_some(2),
        scope: Scope::Any,
    }
}

fn on_other_carrier(cell: &CellConfig) -> CellConfig {
    CellConfig {
        carrier: Hertz(2.6e9),
        ..cell.clone()
    }
}

/// Returns random UEs among sites of three sectors.
fn drop_of(random: &mut Stream) -> (RadioConfig, MobilityConfig, Roaming) {
    let kind = random.below(6);
    let repeats = random.chance(0.5);
    let background_load = [0.0, 0.0, 0.5, 0.9][random.below(4) as usize];
    let sigma = random.bits();
    let drx = random.chance(0.3).then_some(DrxConfig {
        cycle: Span::from_millis(80),
        on_duration: Span::from_millis(5),
        inactivity: Span::from_millis(20),
    });
    let sites = [(0.0, 0.0), (500.0, 0.0), (250.0, 433.0), (-250.0, 433.0)];
    let mut cells: Vec<CellConfig> = sites
        .into_iter()
        .flat_map(|site| [0.0, 120.0, 240.0].map(|azimuth| (site, azimuth)))
        .map(|((x, y), azimuth)| {
            let site = Point::new(x, y, 32.0);
            // All cells draw the same channel parameters, because each cell begins the same random
            // stream.
            let mut alike = Stream::new(sigma, "alike", 0);
            CellConfig {
                power: Dbm(46.0),
                channel: channel(&mut alike, azimuth, kind),
                repeats: Lattice::new((1000.0, 0.0), (500.0, 866.0)).filter(|_| repeats),
                drx,
                background_load,
                ..CellConfig::lte(site, Hertz(2e9), 50)
            }
        })
        .collect();
    let route = |random: &mut Stream| {
        let (speed, toward) = (random.uniform_in(0.5, 50.0), random.uniform_in(0.0, TAU));
        let place = |random: &mut Stream| random.uniform_in(-300.0, 300.0);
        let start = Point::new(place(random), place(random), 1.5);
        let velocity = Vector::new(speed * cos(toward), speed * sin(toward), 0.0);
        (start, velocity, random.uniform_in(20.0, 600.0))
    };
    let routes: Vec<_> = (0..3).map(|_| route(random)).collect();
    let events = (0..1 + random.below(2)).map(|_| event(random)).collect();
    let mut config = MobilityConfig {
        events,
        measurement_period: Span::from_millis([40, 120, 200][random.below(3) as usize]),
        ..mobility(cells.len() as u32)
    };
    config.monitoring.q_out = Decibel(random.uniform_in(-9.0, 0.0));
    let first = CellId(random.below(3) as u32);
    // Copies of these cells on another carrier are possible secondary cells.
    let count = cells.len() as u32;
    let mut aggregation = Aggregation::NONE;
    if random.chance(0.4) {
        let others: Vec<CellConfig> = cells.iter().map(on_other_carrier).collect();
        cells.extend(others);
        let all = |from: u32| -> Vec<CellId> { (from..from + count).map(CellId).collect() };
        let rotated = |primary: u32| {
            let mut all = all(if primary < count { count } else { 0 });
            all.rotate_left((primary % count) as usize);
            all
        };
        config.secondaries = (0..2 * count).map(rotated).collect();
        config.stations = (0..2 * count).collect();
        config.events.push(MeasurementEvent {
            kind: EventKind::A6 {
                offset: random.uniform_in(-2.0, 4.0),
            },
            ..event(random)
        });
        // Cells on the other carrier are used as secondary cells only, so the first event ignores
        // them.
        config.events[0].scope = Scope::SameCarrier;
        aggregation = Aggregation::new(&[CellId(first.0 + count)]).expect("one");
    }
    let ues = (0..3).map(|node| UeConfig {
        serving: Serving::Cell(first),
        aggregation,
        ..UeConfig::new(NodeId(node))
    });
    let bearers = (0..3).map(|ue| BearerConfig {
        ue: UeId(ue),
        ..BearerConfig::lte(UeId(ue))
    });
    let radio = RadioConfig {
        cells,
        ues: ues.collect(),
        bearers: bearers.collect(),
    };
    let pause_s = if random.chance(0.5) { 2.3 } else { 0.0 };
    let orderless = [20, 70, 330, 5_000, 60_000][random.below(5) as usize];
    let motion = Roaming {
        routes,
        pause_s,
        orderless: Span::from_millis(orderless),
        asked: vec![(Time::ZERO, Time::ZERO); 3],
    };
    (radio, config, motion)
}

/// Returns all rows as text, in which different floating-point values differ. Also returns the
/// reports that the policy received.
fn outcome(seed: u64, sampling: Sampling) -> (String, Vec<ReportContents>, [usize; 3]) {
    let mut random = Stream::new(seed, "sampling", 0);
    let (radio, config, mut motion) = drop_of(&mut random);
    let config = MobilityConfig { sampling, ..config };
    let (mut pool, mut rows, mut out) = (PacketPool::new(), Rows::default(), Vec::new());
    let mut access = RadioAccess::new(radio, seed).expect("a radio access");
    let reports = Arc::new(Mutex::new(Vec::new()));
    let recorder = ReportRecorder {
        inner: Policy::default(),
        reports: Arc::clone(&reports),
    };
    let policy = Policy::Custom(CustomPolicy(Box::new(recorder)));
    access.manage_mobility(config, policy).expect("managed UEs");
    let (mut moves, mut burst_at) = (Vec::new(), Time::ZERO);
    while access.wake_at() < Time::ZERO + Span::from_secs(30) {
        let now = access.wake_at();
        if now >= burst_at {
            // Downlink packets of other UEs make their cells send for some time, so these cells
            // interfere.
            let (bearer, packets) = (DrbId(random.below(3) as u32), random.below(300));
            for _ in 0..packets {
                let packet = pool.insert(Packet::message(0, 1400));
                let down = Direction::Downlink;
                access.on_packet(burst_at, bearer, down, packet, &mut pool, &mut rows);
            }
            burst_at += Span::from_millis(random.below(800));
            continue;
        }
        access.on_wake(
            now,
            &mut AnyMotion(&mut motion),
            &mut pool,
            &mut out,
            &mut rows,
        );
        for packet in out.drain(..) {
            pool.free(packet);
        }
        access.take_moves(&mut moves);
        moves.clear();
    }
    let contents = reports.lock().expect("one thread").clone();
    let text = format!("{:?}\n{:?}\n{:?}", rows.handovers, rows.steps, rows.drops);
    let count_of = |event| rows.steps.iter().filter(|row| row.event == event).count();
    let troubles = count_of(RrcEvent::OutOfSync);
    let others = count_of(RrcEvent::SecondaryAdded);
    (text, contents, [rows.handovers.len(), troubles, others])
}

#[test]
fn measuring_where_needed_gives_what_measuring_every_cell_gives() {
    let mut counts = [0; 3];
    // A case takes about 0.1 s, so a usual run has only the first 15 cases.
    let cases = Cases::new(40).first(9);
    cases.run(|seed| {
        let needed = outcome(seed, Sampling::WhereNeeded);
        let every = outcome(seed, Sampling::Every);
        assert!(needed == every, "seed {seed}");
        for (sum, more) in counts.iter_mut().zip(every.2) {
            *sum += more;
        }
    });
    if cases.is_whole() {
        assert!(counts.iter().all(|&of| of > 40), "{counts:?}");
    }
}
