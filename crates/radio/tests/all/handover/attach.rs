//! Tests of UEs that are idle at the start: the times of the attach steps, expiring timers,
//! contention, and data.

use crate::common::{AnyMotion, Rows};
use crate::handover::street::{
    self, Case, bearer, books_close_in, case, cell, count, mobility, rlc, run,
};
use fadeout_core::random::Stream;
use fadeout_core::{
    CellId, Dbm, HandoverOutcome, Kinematics, Motion, NodeId, PacketPool, Point, Procedure,
    RadioDropCause, RrcEvent, Span, Time, UeId, Vector,
};
use fadeout_radio::access::{
    BearerConfig, MobilityConfig, Move, Policy, RadioAccess, RadioConfig, Signalling, UeConfig,
};
use fadeout_radio::rlc::RlcConfig;
use fadeout_testkit::Cases;
use std::collections::BTreeSet;

const START: Time = Time::from_nanos(1_004_000_000);

/// UEs that move along a street at this speed, one metre apart.
struct StreetMotion(f64);

impl Motion for StreetMotion {
    fn kinematics_at(&mut self, node: NodeId, time: Time) -> Kinematics {
        let x = 50.0 + self.0 * time.as_secs_f64();
        Kinematics {
            position: Point::new(x, 20.0 + f64::from(node.0), 1.5),
            velocity: Vector::new(self.0, 0.0, 0.0),
        }
    }
}

struct AttachCase {
    ues: u32,
    is_nr: bool,
    speed: f64,
    length: Span,
}

const ONE: AttachCase = AttachCase {
    ues: 1,
    is_nr: false,
    speed: 0.0,
    length: Span::from_secs(4),
};

impl AttachCase {
    /// Returns the rows of UEs that attach, and the number of messages sent over links.
    fn run(&self, change: impl FnOnce(&mut MobilityConfig)) -> (Rows, usize) {
        let ues = 0..self.ues;
        let radio = RadioConfig {
            cells: vec![cell(self.is_nr, 0.0, 30.0), cell(self.is_nr, 400.0, 30.0)],
            ues: (ues.clone())
                .map(|node| UeConfig {
                    serving: fadeout_radio::access::Serving::Cell(CellId(1)),
                    attaches_at: Some(START),
                    ..UeConfig::new(NodeId(node))
                })
                .collect(),
            bearers: ues
                .map(|ue| BearerConfig {
                    ue: UeId(ue),
                    ..bearer(rlc(self.is_nr, true), self.is_nr)
                })
                .collect(),
        };
        let mut config = mobility(2);
        change(&mut config);
        let mut access = RadioAccess::new(radio, 7).expect("a radio access");
        let managed = access.manage_mobility(config, Policy::default());
        managed.expect("managed UEs");
        let (mut pool, mut rows, mut out) = (PacketPool::new(), Rows::default(), Vec::new());
        let (mut moves, mut messages) = (Vec::new(), 0);
        while access.wake_at() < Time::ZERO + self.length {
            let now = access.wake_at();
            let motion = &mut AnyMotion(&mut StreetMotion(self.speed));
            access.on_wake(now, motion, &mut pool, &mut out, &mut rows);
            out.drain(..).for_each(|packet| pool.free(packet));
            access.take_moves(&mut moves);
            let sent = |one: &Move| matches!(one, Move::Message { .. });
            messages += moves.drain(..).filter(sent).count();
        }
        (rows, messages)
    }
}

fn times(rows: &Rows, event: RrcEvent) -> Vec<Time> {
    let steps = rows.steps.iter().filter(|row| row.event == event);
    steps.map(|row| row.time_s).collect()
}

/// Returns the time at which an RRC event first occurred.
fn first(rows: &Rows, event: RrcEvent) -> Time {
    let first = times(rows, event).first().copied();
    first.unwrap_or_else(|| panic!("no {event:?}: {:?}", rows.steps))
}

/// Returns the time between the first occurrences of two RRC events.
fn between(rows: &Rows, one: RrcEvent, other: RrcEvent) -> Span {
    first(rows, other).since(first(rows, one))
}

/// Checks the duration of each attach step. Cell selection takes 200 ms. The wait for the next RACH
/// occasion takes up to 10 ms, and random access 3 + 6 + 6 ms. Each other step takes a known time
/// and the time of its messages over the air. A message takes at least a subframe, and at most 25
/// ms with its scheduling request.
#[test]
fn attaching_takes_the_sum_of_its_parts() {
    use RrcEvent::{
        AccessDone, AttachBegun, Attached, AuthenticationRequest, CellSelected, CompleteReceived,
        ContextSetupRequest, NasSecurityCommand, PathSwitched, PreambleSent, ReconfigurationSent,
        RegistrationAccept, SecurityCommand, SessionSetupRequest, SetupComplete,
    };
    let ms = Span::from_millis;
    for is_nr in [false, true] {
        let (rows, _) =
            AttachCase { is_nr, ..ONE }.run(|config| config.procedure.core_delay = ms(7));
        assert_eq!(first(&rows, AttachBegun), START);
        assert_eq!(between(&rows, AttachBegun, CellSelected), ms(200));
        assert_eq!(between(&rows, CellSelected, PreambleSent), ms(6));
        assert_eq!(between(&rows, PreambleSent, AccessDone), ms(15));
        let (setup, security, bearers) = if is_nr { (10, 5, 10) } else { (15, 10, 15) };
        // Each entry contains a step, the next step, the known time between these steps, and the
        // number of messages over the air.
        let core = 7;
        let mut parts = vec![
            (AccessDone, SetupComplete, setup, 1),
            (SetupComplete, AuthenticationRequest, core, 0),
            (AuthenticationRequest, NasSecurityCommand, 2 * core, 2),
            (NasSecurityCommand, ContextSetupRequest, 2 * core, 2),
            (ContextSetupRequest, SecurityCommand, core, 0),
        ];
        match is_nr {
            true => parts.extend([
                (SecurityCommand, RegistrationAccept, security, 2),
                (RegistrationAccept, SessionSetupRequest, core, 2),
                (SessionSetupRequest, ReconfigurationSent, core, 0),
            ]),
            false => parts.push((SecurityCommand, ReconfigurationSent, security, 2)),
        }
        parts.extend([
            (ReconfigurationSent, Attached, bearers, 1),
            (Attached, CompleteReceived, 0, 1),
            (CompleteReceived, PathSwitched, core, 0),
        ]);
        let mut known = 200 + 6 + 15;
        let mut messages = 0;
        for (one, other, part, over_air) in parts {
            let took = between(&rows, one, other);
            let most = ms(part) + ms(25) * over_air;
            let least = ms(part) + Span::from_micros(500) * over_air;
            assert!(
                (least..=most).contains(&took),
                "{one:?} to {other:?}: {took:?}"
            );
            known += part;
            messages += over_air;
        }
        // Base station and core exchange seven messages. In NR they exchange two more messages for
        // the session.
        let sums = if is_nr {
            (221 + 25 + 9 * core, 11)
        } else {
            (221 + 40 + 7 * core, 9)
        };
        assert_eq!((known, messages), sums);
        let row = rows.handovers.first().expect("a row");
        assert_eq!(
            (row.procedure, row.outcome),
            (Procedure::Attach, HandoverOutcome::Success)
        );
        assert_eq!((row.source, row.target), (CellId(0), CellId(0)));
        assert_eq!((row.preambles, rows.handovers.len()), (1, 1));
    }
}

#[test]
fn t300_ends_an_attempt_and_nas_waits_for_the_next_and_longer_for_the_sixth() {
    let site = AttachCase {
        length: Span::from_secs(800),
        ..ONE
    };
    let (rows, _) = site.run(|config| {
        config.events.clear();
        config.monitoring.t300 = Span::from_millis(5);
    });
    let selected = times(&rows, RrcEvent::CellSelected);
    let failed = times(&rows, RrcEvent::AttachFailed);
    assert_eq!(times(&rows, RrcEvent::AccessFailure), failed);
    let took = |pair: (&Time, &Time)| pair.1.since(*pair.0);
    let t300: Vec<Span> = selected.iter().zip(&failed).map(took).collect();
    assert!(t300.iter().all(|&span| span == Span::from_millis(5)));
    let begun = times(&rows, RrcEvent::AttachBegun);
    let waits: Vec<Span> = failed.iter().zip(&begun[1..]).map(took).collect();
    let t3411 = Span::from_secs(10);
    let t3402 = Span::from_secs(720);
    assert_eq!(waits[..6], [t3411, t3411, t3411, t3411, t3402, t3411]);
    let failures = rows.handovers.iter();
    assert!(
        failures.clone().count() == failed.len() && times(&rows, RrcEvent::Attached).is_empty()
    );
    assert!(
        failures
            .into_iter()
            .all(|row| row.outcome == HandoverOutcome::Failed)
    );
}

/// Uses links that drop all messages.
fn over_links(config: &mut MobilityConfig) {
    let unconnected = BTreeSet::new();
    config.signalling = Signalling::Links { unconnected };
}

#[test]
fn t3410_ends_an_attempt_that_the_core_does_not_hear_of() {
    let site = AttachCase {
        length: Span::from_secs(20),
        ..ONE
    };
    let (rows, messages) = site.run(over_links);
    let lasts = between(&rows, RrcEvent::CellSelected, RrcEvent::AttachFailed);
    assert_eq!(lasts, Span::from_secs(15));
    // The UE sends the first message about 50 ms later and repeats it each second. So 15 messages
    // are sent in 15 s.
    assert_eq!(messages, 15);
}

#[test]
fn a_link_that_fails_before_there_are_bearers_ends_the_attempt() {
    let site = AttachCase {
        speed: 300.0,
        length: Span::from_secs(16),
        ..ONE
    };
    let (rows, _) = site.run(|config| {
        config.events.clear();
        over_links(config);
        config.monitoring.t310 = Span::from_millis(300);
    });
    let failed = first(&rows, RrcEvent::AttachFailed);
    let out = times(&rows, RrcEvent::OutOfSync).into_iter();
    let last = out.filter(|&at| at < failed).max();
    assert_eq!(
        last.map(|at| failed.since(at)),
        Some(Span::from_millis(300))
    );
    assert!(times(&rows, RrcEvent::LinkFailure).is_empty());
    // After T3411 the UE tries again, and finds no cell.
    let begun = times(&rows, RrcEvent::AttachBegun);
    assert_eq!(begun, [START, failed + Span::from_secs(10)]);
    assert_eq!(times(&rows, RrcEvent::CellSelected).len(), 1);
}

#[test]
fn a_cell_that_is_no_more_than_qrxlevmin_suits_no_idle_ue() {
    let selected = |q_rx_lev_min| {
        let (rows, _) = ONE.run(|config| config.monitoring.q_rx_lev_min = Dbm(q_rx_lev_min));
        assert_eq!(times(&rows, RrcEvent::AttachBegun).len(), 1);
        times(&rows, RrcEvent::CellSelected).len()
    };
    assert_eq!((selected(-130.0), selected(-20.0)), (1, 0));
}

#[test]
fn many_that_attach_at_once_contend_and_all_get_in() {
    for is_nr in [false, true] {
        let site = AttachCase {
            ues: 40,
            is_nr,
            ..ONE
        };
        let crowd = |preambles| {
            let (rows, _) = site.run(|config| config.access.drawn_preambles = preambles);
            let attached = times(&rows, RrcEvent::Attached);
            assert_eq!(attached.len(), 40, "{is_nr} {preambles}");
            assert_eq!(times(&rows, RrcEvent::PathSwitched).len(), 40);
            let last = attached.last().copied().unwrap_or_default();
            (times(&rows, RrcEvent::ContentionLost).len(), last)
        };
        let (few, many) = (crowd(8), crowd(64));
        // If 40 UEs draw from 8 preambles at one occasion, at least 32 UEs draw a preamble that
        // another UE has. With 64 preambles about 11 UEs do (40 - 64 (1 - (63/64)^40)).
        assert!(few.0 > 20 && many.0 < 25, "{few:?} {many:?}");
        assert!(few.1 > many.1, "{few:?} {many:?}");
    }
}

/// Returns the case with a UE that is idle until `at`.
fn idle(mut case: Case, at: Time) -> Case {
    case.config.ues[0].attaches_at = Some(at);
    case
}

#[test]
fn uplink_data_waits_for_the_bearer_and_downlink_data_is_lost() {
    for (is_nr, rlc) in [(false, RlcConfig::LTE_AM), (true, RlcConfig::NR_AM)] {
        let mut random = Stream::new(3, "attach.data", 0);
        let mut case = idle(case(&mut random, rlc, is_nr), START);
        case.mobility = mobility(case.mobility.stations.len() as u32);
        case.walk.speed = 1.0;
        let outcomes = run(case, 3, Span::from_millis(3), Span::from_secs(4));
        books_close_in((&outcomes, true), 3);
        assert_eq!(count(&outcomes, RrcEvent::Attached), 1);
        let is_up = |number: u32| number.is_multiple_of(3);
        let drops = &outcomes.rows.drops;
        assert!(drops.iter().all(|row| !is_up(row.flow.0)), "{:?}", drops[0]);
        // The UE is attached after 1.36 s. Until then, two of every three packets are downlink
        // packets and are lost. A packet is sent each 3 ms.
        assert!((290..330).contains(&drops.len()), "{}", drops.len());
        let before = outcomes.arrivals.iter().filter(|&&number| number < 300);
        assert_eq!(before.count(), 100);
    }
}

#[test]
fn a_ue_that_the_core_knows_is_not_asked_who_it_is() {
    let site = AttachCase {
        speed: 30.0,
        length: Span::from_secs(60),
        ..ONE
    };
    let (rows, _) = site.run(|config| {
        config.events.clear();
        config.monitoring.t310 = Span::from_millis(100);
        config.monitoring.t311 = Span::from_millis(10);
    });
    let released = times(&rows, RrcEvent::Released);
    let setups = times(&rows, RrcEvent::SetupComplete).len();
    assert!(!released.is_empty() && setups >= 2, "{:?}", rows.steps);
    assert_eq!(times(&rows, RrcEvent::AuthenticationRequest).len(), 1);
    assert_eq!(times(&rows, RrcEvent::ContextSetupRequest).len(), setups);
    assert_eq!(times(&rows, RrcEvent::Attached).len(), setups);
    let back = rows
        .handovers
        .iter()
        .filter(|row| row.procedure == Procedure::Setup);
    let is_well = |row: &&fadeout_core::HandoverRow| row.outcome == HandoverOutcome::Success;
    assert_eq!(back.filter(is_well).count(), setups - 1);
}

#[test]
fn walks_of_ues_that_attach_lose_each_packet_under_a_cause() {
    let (mut attached, mut failed, mut handovers) = (0, 0, 0);
    // A case takes about 60 ms, so a usual run has only the first 20 cases.
    let cases = Cases::new(60).first(12);
    cases.run(|seed| {
        let mut random = Stream::new(seed, "attach.walks", 0);
        let is_nr = random.chance(0.5);
        let mode = rlc(is_nr, random.chance(0.7));
        let mut case = match random.chance(0.5) {
            true => crate::handover::case_over_links(&mut random, mode, is_nr),
            false => case(&mut random, mode, is_nr),
        };
        if case.mobility.signalling != Signalling::FixedDelays && random.chance(0.5) {
            case.links.1 = random.uniform_in(0.0, 0.3);
        }
        let at = Time::ZERO + Span::from_millis(random.below(6000));
        let outcomes = run(
            idle(case, at),
            seed,
            Span::from_millis(3),
            Span::from_secs(12),
        );
        street::books_close_in((&outcomes, false), seed);
        attached += count(&outcomes, RrcEvent::Attached);
        failed += count(&outcomes, RrcEvent::AttachFailed);
        let is_change = |row: &&fadeout_core::HandoverRow| {
            row.procedure == Procedure::Handover && row.outcome == HandoverOutcome::Success
        };
        handovers += outcomes.rows.handovers.iter().filter(is_change).count();
        let unknown = outcomes.rows.drops.iter().find(|row| {
            matches!(
                row.cause,
                RadioDropCause::NoBlock | RadioDropCause::BufferFull
            )
        });
        assert_eq!(unknown, None, "seed {seed}");
    });
    assert!(
        !cases.is_whole() || attached > 50 && handovers > 50,
        "{attached} attached, {failed} attempts failed, {handovers} handovers"
    );
}
