//! Tests of mobility timers that expire, and of random access by several UEs at once.

use crate::common::{AnyMotion, Rows};
use crate::handover::street::{bearer, mobility};
use fadeout_core::{
    CellId, Dbm, Decibel, Hertz, Kinematics, Motion, NodeId, PacketPool, Point, RrcEvent, Span,
    Time, UeId, Vector,
};
use fadeout_radio::access::{
    CellConfig, MobilityConfig, Policy, PowerRamping, RadioAccess, RadioConfig, Serving, UeConfig,
};
use fadeout_radio::channel::ChannelConfig;
use fadeout_radio::channel::fading::Fading;
use fadeout_radio::channel::path_loss::{LteMacro, PathLoss};
use fadeout_radio::rlc::RlcConfig;

/// UEs at the same position that move away from the first of two cells, toward the second cell.
struct Away;

impl Motion for Away {
    fn kinematics_at(&mut self, _node: NodeId, time: Time) -> Kinematics {
        Kinematics {
            position: Point::new(150.0 + 20.0 * time.as_secs_f64(), 20.0, 1.5),
            velocity: Vector::new(20.0, 0.0, 0.0),
        }
    }
}

/// Returns the recorded rows of `ues` UEs that move away from the first cell.
fn walk(ues: u32, change: impl FnOnce(&mut MobilityConfig)) -> Rows {
    let cell = |x| CellConfig {
        power: Dbm(20.0),
        channel: ChannelConfig {
            path_loss: PathLoss::LteMacro(LteMacro),
            shadowing: None,
            los_fading: Fading::None,
            nlos_fading: Fading::None,
            ..ChannelConfig::default()
        },
        ..CellConfig::lte(Point::new(x, 0.0, 32.0), Hertz(2e9), 50)
    };
    let radio = RadioConfig {
        cells: vec![cell(0.0), cell(1000.0)],
        ues: (0..ues)
            .map(|node| UeConfig {
                serving: Serving::Cell(CellId(0)),
                ..UeConfig::new(NodeId(node))
            })
            .collect(),
        bearers: (0..ues)
            .map(|ue| fadeout_radio::access::BearerConfig {
                ue: UeId(ue),
                ..bearer(RlcConfig::LTE_AM, false)
            })
            .collect(),
    };
    let mut config = mobility(2);
    change(&mut config);
    let mut access = RadioAccess::new(radio, 7).expect("a radio access");
    access
        .manage_mobility(config, Policy::default())
        .expect("managed UEs");
    let (mut pool, mut rows, mut out) = (PacketPool::new(), Rows::default(), Vec::new());
    let mut moves = Vec::new();
    while access.wake_at() < Time::ZERO + Span::from_secs(45) {
        let now = access.wake_at();
        access.on_wake(
            now,
            &mut AnyMotion(&mut Away),
            &mut pool,
            &mut out,
            &mut rows,
        );
        out.drain(..).for_each(|packet| pool.free(packet));
        access.take_moves(&mut moves);
        moves.clear();
    }
    rows
}

/// Removes all measurement events. No handover takes place, so the link to the first cell fails.
fn stays(config: &mut MobilityConfig) {
    config.events.clear();
}

/// Returns the time in ms at which an RRC event first occurred.
fn first_ms(rows: &Rows, event: RrcEvent) -> u64 {
    let mut steps = rows.steps.iter();
    let row = steps.find(|row| row.event == event);
    let at = row
        .unwrap_or_else(|| panic!("no {event:?}: {:?}", rows.steps))
        .time_s;
    at.as_nanos() / 1_000_000
}

fn count(rows: &Rows, event: RrcEvent) -> usize {
    rows.steps.iter().filter(|row| row.event == event).count()
}

#[test]
fn t310_ends_in_a_failure_and_the_ue_comes_back_elsewhere() {
    let rows = walk(1, |config| {
        stays(config);
        config.monitoring.t310 = Span::from_millis(700);
    });
    let out = first_ms(&rows, RrcEvent::OutOfSync);
    assert_eq!(first_ms(&rows, RrcEvent::LinkFailure), out + 700);
    assert_eq!(count(&rows, RrcEvent::AccessDone), 1);
    assert_eq!(count(&rows, RrcEvent::Released), 0);
}

#[test]
fn t311_ends_the_search_for_a_cell_and_the_connection() {
    let rows = walk(1, |config| {
        stays(config);
        config.monitoring.q_in = Decibel(50.0);
        config.monitoring.t311 = Span::from_millis(1300);
    });
    let failed = first_ms(&rows, RrcEvent::LinkFailure);
    assert_eq!(first_ms(&rows, RrcEvent::Released), failed + 1300);
    assert_eq!(count(&rows, RrcEvent::CellSelected), 0);
}

#[test]
fn t301_ends_the_way_into_a_cell_and_the_connection() {
    let rows = walk(1, |config| {
        stays(config);
        config.monitoring.t301 = Span::from_millis(5);
    });
    let selected = first_ms(&rows, RrcEvent::CellSelected);
    assert_eq!(first_ms(&rows, RrcEvent::AccessFailure), selected + 5);
    assert_eq!(first_ms(&rows, RrcEvent::Released), selected + 5);
}

#[test]
fn t304_ends_a_handover_that_does_not_get_there() {
    let rows = walk(1, |config| {
        config.procedure.interruption = Span::from_millis(35);
        config.procedure.t304 = Span::from_millis(20);
    });
    let commanded = first_ms(&rows, RrcEvent::CommandReceived);
    assert_eq!(first_ms(&rows, RrcEvent::AccessFailure), commanded + 20);
    let selected = first_ms(&rows, RrcEvent::CellSelected);
    assert_eq!(selected, commanded + 20 + 200, "T311 runs");
}

#[test]
fn of_ues_that_draw_one_preamble_one_gets_in_at_a_time() {
    let walk_of = |preambles| {
        walk(5, |config| {
            stays(config);
            config.access.drawn_preambles = preambles;
            config.monitoring.t301 = Span::from_secs(2);
        })
    };
    let one = walk_of(1);
    // The links of all five UEs fail at once, so the UEs send the same preamble at the same
    // occasion and contend.
    assert!(
        count(&one, RrcEvent::ContentionLost) >= 4,
        "{:?}",
        one.steps
    );
    assert_eq!(count(&one, RrcEvent::AccessDone), 5);
    let done: Vec<Time> = one
        .steps
        .iter()
        .filter(|row| row.event == RrcEvent::AccessDone)
        .map(|row| row.time_s)
        .collect();
    assert!(done.windows(2).all(|pair| pair[0] < pair[1]), "{done:?}");
    // With many preambles the UEs rarely collide.
    let many = walk_of(64);
    assert_eq!(count(&many, RrcEvent::AccessDone), 5);
    assert!(count(&many, RrcEvent::ContentionLost) < 3);
}

#[test]
fn a_weak_preamble_is_followed_by_stronger_ones() {
    let preambles = |ramping| {
        let rows = walk(1, |config| {
            stays(config);
            config.access.ramping = ramping;
        });
        assert_eq!(count(&rows, RrcEvent::AccessDone), 1);
        count(&rows, RrcEvent::PreambleSent)
    };
    let ramping = |target, step| {
        let (target, step) = (Dbm(target), Decibel(step));
        Some(PowerRamping { target, step })
    };
    assert_eq!(preambles(None), 1);
    assert_eq!(preambles(ramping(-90.0, 2.0)), 1);
    // Noise in a resource block is -116.4 dBm, with the receiver's noise figure of 5 dB. The base
    // station receives preambles down to 8 dB below the noise. The first preamble arrives 15.6 dB
    // below that limit. So the UE needs eight more preambles in steps of 2 dB, or three in steps of
    // 6 dB.
    let (slow, fast) = (
        preambles(ramping(-140.0, 2.0)),
        preambles(ramping(-140.0, 6.0)),
    );
    assert_eq!((slow, fast), (9, 4));
}
