//! Tests of beam failure and recovery within a cell.

use crate::handover::street::{Case, Outcomes, Walk, bearer, books_close, cell, mobility, run};
use fadeout_core::{CellId, Dbm, NodeId, RrcEvent, Span, Time};
use fadeout_radio::access::{BeamMonitoring, DedicatedRecovery, RadioConfig, Serving, UeConfig};
use fadeout_radio::antenna::{BeamFailure, BeamManagement};
use fadeout_radio::channel::blockage::{Blockage, Interval, Scripted};
use fadeout_radio::channel::fading::Fading;
use fadeout_radio::channel::path_loss::{FreeSpace, PathLoss};
use fadeout_radio::rlc::RlcConfig;

/// Returns a case with a UE at rest in an NR cell. A wall blocks its path from 1,010 ms on, for the
/// time `lasts`. Three instances within 4 periods of 20 ms are a beam failure.
fn behind_a_wall(lasts: Span, reflected_db: Option<f64>) -> Case {
    let from = Time::ZERO + Span::from_millis(1010);
    let wall = Interval {
        from,
        until: from.saturating_add(lasts),
        loss_db: 120.0,
    };
    let mut cell = cell(true, 0.0, 30.0);
    cell.channel.path_loss = PathLoss::FreeSpace(FreeSpace);
    // With fading, clusters of the channel model would reach the UE around the wall, so fading is
    // off.
    cell.channel.los_fading = Fading::None;
    cell.channel.blockages = vec![Blockage::Scripted(Scripted {
        intervals: [wall].into(),
    })];
    cell.channel.beams = Some(BeamManagement {
        failure: Some(BeamFailure {
            reflection_loss_db: reflected_db,
            ..BeamFailure::default()
        }),
        ..BeamManagement::default()
    });
    let mut mobility = mobility(1);
    mobility.beam_failure = Some(BeamMonitoring {
        most_instances: 3,
        detection_periods: 4,
        dedicated: None,
    });
    mobility.access.backoff = Span::ZERO;
    mobility.monitoring.t310 = Span::from_millis(2000);
    Case {
        config: RadioConfig {
            cells: vec![cell],
            ues: vec![UeConfig {
                serving: Serving::Cell(CellId(0)),
                ..UeConfig::new(NodeId(0))
            }],
            bearers: vec![bearer(RlcConfig::NR_AM, true)],
        },
        walk: Walk {
            speed: 0.0,
            length: 100.0,
        },
        core_delay: Span::from_millis(5),
        loses_markers: false,
        links: (Span::ZERO, 0.0),
        loses_forwarded: 0.0,
        keeps_blocks: false,
        keeps_measured: false,
        mobility,
    }
}

/// Returns the RRC steps with their times in ms, and the outcomes of the run.
fn steps(case: Case) -> (Vec<(u64, RrcEvent)>, Outcomes) {
    let outcomes = run(case, 1, Span::from_millis(3), Span::from_secs(4));
    books_close(&outcomes, 1);
    let rows = outcomes.rows.steps.iter();
    let steps = rows.map(|row| (row.time_s.as_millis(), row.event));
    (steps.collect(), outcomes)
}

fn without_preambles(steps: &[(u64, RrcEvent)]) -> Vec<(u64, RrcEvent)> {
    let others = steps.iter().copied();
    others
        .filter(|(_, event)| *event != RrcEvent::PreambleSent)
        .collect()
}

const LONG: Span = Span::from_millis(900);

#[test]
fn the_ue_finds_the_reflected_path_with_a_drawn_preamble_and_stays() {
    let (steps, outcomes) = steps(behind_a_wall(LONG, Some(15.0)));
    // The UE finds a beam failure instance at 1,020, 1,040 and 1,060 ms, and sends a preamble at
    // the next RACH occasion. The response takes 3 ms, Msg3 6 ms and contention resolution 6 ms.
    let expected = [
        (1060, RrcEvent::BeamFailure),
        (1060, RrcEvent::PreambleSent),
        (1075, RrcEvent::BeamRecovered),
    ];
    assert_eq!(steps, expected);
    assert!(outcomes.rows.drops.is_empty() && outcomes.rows.handovers.is_empty());
    assert_eq!(outcomes.arrivals.len(), outcomes.put.len());
}

#[test]
fn a_dedicated_preamble_is_answered_at_once_where_the_candidate_is_above_the_threshold() {
    let dedicated = |threshold| {
        let mut case = behind_a_wall(LONG, Some(15.0));
        if let Some(monitoring) = &mut case.mobility.beam_failure {
            monitoring.dedicated = Some(DedicatedRecovery {
                threshold: Dbm(threshold),
                timer: None,
            });
        }
        without_preambles(&steps(case).0)
    };
    let recovered = |ms| [(1060, RrcEvent::BeamFailure), (ms, RrcEvent::BeamRecovered)];
    assert_eq!(dedicated(-110.0), recovered(1063));
    assert_eq!(dedicated(-40.0), recovered(1075));
}

#[test]
fn a_short_wall_is_no_failure_as_the_count_begins_anew() {
    // Two beam failure instances occur, and none in the next four periods. So no beam failure is
    // declared.
    let (steps, _) = steps(behind_a_wall(Span::from_millis(40), Some(15.0)));
    assert_eq!(steps, []);
}

#[test]
fn without_another_path_dedicated_preambles_end_with_their_timer_and_all_of_them_with_the_link() {
    let mut case = behind_a_wall(LONG, None);
    if let Some(monitoring) = &mut case.mobility.beam_failure {
        monitoring.dedicated = Some(DedicatedRecovery {
            threshold: Dbm(-300.0),
            timer: Some(Span::from_millis(40)),
        });
    }
    let (steps, outcomes) = steps(case);
    // The UE sends a preamble each 20 ms from 1,060 ms on. The response window of the tenth
    // preamble ends 13 ms after it. T310 has been running since 1,180 ms.
    let preambles = steps
        .iter()
        .filter(|(_, event)| *event == RrcEvent::PreambleSent);
    let before = preambles.take_while(|(ms, _)| *ms <= 1240);
    assert!(before.map(|&(ms, _)| ms).eq((1060..=1240).step_by(20)));
    let others = without_preambles(&steps);
    let place = |event| {
        others
            .iter()
            .find(|(_, of)| *of == event)
            .map(|&(ms, _)| ms)
    };
    assert_eq!(place(RrcEvent::BeamFailure), Some(1060));
    assert_eq!(place(RrcEvent::BeamRecoveryExpired), Some(1100));
    assert_eq!(place(RrcEvent::AccessProblem), Some(1253));
    assert_eq!(place(RrcEvent::LinkFailure), Some(1253));
    // The wall disappears at 1,910 ms, and the UE re-establishes the connection later.
    assert!(place(RrcEvent::Reestablished) > Some(1910), "{others:?}");
    assert_eq!(place(RrcEvent::BeamRecovered), None);
    assert!(outcomes.rows.drops.is_empty());
}

#[test]
fn nobody_looks_for_a_failure_that_is_not_configured() {
    let mut case = behind_a_wall(LONG, Some(15.0));
    case.mobility.beam_failure = None;
    let (steps, _) = steps(case);
    assert_eq!(steps, []);
}
