//! Configuration of mobility management from a scenario.

use crate::build::switching;
use crate::world::Interfaces;
use fadeout_core::{Bytes, NodeId, Span};
use fadeout_radio::access::{
    AccessConfig, BeamMonitoring, BicastStart, CellChange, ConditionalConfig, DataForwarding,
    DedicatedRecovery, EventKind, Interface, MOST_CANDIDATES, MeasurementEvent, MeasurementGaps,
    MobilityConfig, Monitoring, PowerRamping, ProcedureConfig, Sampling, Scope,
    SecondaryAfterFailure, SecondaryAtHandover, SecondaryNodeConfig, Signalling,
};
use fadeout_scenario::{self as scenario, HandoverData, HandoverProcedure};
use std::collections::BTreeSet;

pub(in crate::build) fn config(
    described: &scenario::MobilityManagement,
    bases: &[NodeId],
    interfaces: &Interfaces,
) -> MobilityConfig {
    let unconnected = interfaces.strangers().iter();
    let unconnected = unconnected.map(|(one, other)| (one.0, other.0));
    MobilityConfig {
        events: described.events.iter().map(event).collect(),
        measurement_period: described.measurement_period,
        measurement_error_db: described.measurement_error.0,
        sampling: Sampling::default(),
        gaps: gaps(described),
        monitoring: monitoring(described),
        beam_failure: beam_failure(described),
        access: access(described),
        procedure: procedure(described),
        data: match described.data {
            HandoverData::None => DataForwarding::Dropped,
            HandoverData::Forwarding => DataForwarding::Forwarded,
            HandoverData::Bicasting => DataForwarding::Bicast(match described.bicast_after {
                Some(span) => BicastStart::After(span),
                None => BicastStart::Before(described.bicast_before.unwrap_or_default()),
            }),
        },
        change: change(described),
        rach_less: switching::rach_less(described),
        most_ues: described.max_ues,
        secondaries: Vec::new(),
        secondary_node: described.secondary_node.as_ref().map(secondary_node),
        stations: bases.iter().map(|base| base.0).collect(),
        utra: BTreeSet::new(),
        interface: match described.preparation.is_direct() {
            true => Interface::Direct,
            false => Interface::Core,
        },
        signalling: match described.core_of_links() {
            Some(_) => Signalling::Links {
                unconnected: unconnected.collect(),
            },
            None => Signalling::FixedDelays,
        },
    }
}

fn monitoring(described: &scenario::MobilityManagement) -> Monitoring {
    Monitoring {
        q_out: described.q_out,
        q_in: described.q_in,
        n310: described.n310,
        n311: described.n311,
        t310: described.t310,
        t312: described.t312,
        t311: described.t311,
        t301: described.t301,
        cell_selection: described.cell_selection_delay,
        t300: described.t300,
        q_rx_lev_min: described.q_rx_lev_min,
        ..Monitoring::default()
    }
}

fn access(described: &scenario::MobilityManagement) -> AccessConfig {
    AccessConfig {
        occasion_period: described.preamble_period,
        response_window: described.response_window,
        most_preambles: described.max_preambles,
        drawn_preambles: described.contention_preambles,
        ramping: described.preamble_target_power.map(|target| PowerRamping {
            target,
            step: described.power_ramping_step.unwrap_or(PowerRamping::STEP),
        }),
        backoff: described.backoff,
        ..AccessConfig::default()
    }
}

fn procedure(described: &scenario::MobilityManagement) -> ProcedureConfig {
    ProcedureConfig {
        station_delay: described.station_delay,
        core_delay: described.core_delay,
        admission: described.admission_delay,
        admission_p90: described.admission_delay_p90,
        interruption: described.interruption,
        utra_interruption: described.utra_interruption,
        t304: described.t304,
        preparation: described.preparation_timeout,
        overall: described.overall_timeout,
        marker_timeout: described.end_marker_timeout,
        target_buffer: described.target_buffer.unwrap_or(Bytes(u64::MAX)),
        ..ProcedureConfig::default()
    }
}

/// Default time for which a candidate cell reserves resources. No standard defines this time.
const USUAL_HOLD: Span = Span::from_secs(10);

fn change(described: &scenario::MobilityManagement) -> CellChange {
    match described.procedure {
        HandoverProcedure::Plain => CellChange::Handover,
        HandoverProcedure::Daps => CellChange::Daps,
        HandoverProcedure::Conditional => CellChange::Conditional(conditional(described)),
        HandoverProcedure::Ltm => {
            CellChange::Ltm(switching::candidates(described), switching::ltm(described))
        }
    }
}

fn conditional(described: &scenario::MobilityManagement) -> ConditionalConfig {
    let conditions = match &described.conditions {
        Some(given) => given.iter().map(condition).collect(),
        None => vec![condition(&scenario::ExecutionCondition::USUAL)],
    };
    let most = described.max_candidates.map(|most| most as usize);
    ConditionalConfig {
        conditions,
        most_candidates: most.unwrap_or(MOST_CANDIDATES),
        hold: described.candidate_timeout.unwrap_or(USUAL_HOLD),
        recovers: described.conditional_recovery.unwrap_or(true),
        forwards_early: described.early_forwarding.unwrap_or(false),
        commanding: (0..)
            .zip(&described.events)
            .filter(|(_, event)| event.command)
            .map(|(number, _)| number)
            .collect(),
    }
}

fn secondary_node(described: &scenario::SecondaryNode) -> SecondaryNodeConfig {
    let adds = |event: &&scenario::MeasurementEvent| {
        matches!(
            event.kind,
            scenario::EventKind::A4 | scenario::EventKind::B1
        )
    };
    let (adding, about): (Vec<_>, Vec<_>) = described.events.iter().partition(adds);
    SecondaryNodeConfig {
        addition_events: adding.into_iter().map(event).collect(),
        pscell_events: about.into_iter().map(event).collect(),
        at_handover: match described.at_handover {
            scenario::SecondaryAtHandover::Release => SecondaryAtHandover::Release,
            scenario::SecondaryAtHandover::Keep => SecondaryAtHandover::Keep,
            scenario::SecondaryAtHandover::Strongest => SecondaryAtHandover::Strongest,
        },
        after_failure: match described.after_failure {
            scenario::SecondaryAfterFailure::Release => SecondaryAfterFailure::Release,
            scenario::SecondaryAfterFailure::Restore => SecondaryAfterFailure::Restore,
            scenario::SecondaryAfterFailure::Strongest => SecondaryAfterFailure::Strongest,
        },
        t304: described.t304,
    }
}

fn gaps(described: &scenario::MobilityManagement) -> Option<MeasurementGaps> {
    Some(MeasurementGaps {
        period: described.measurement_gap_period?,
        length: described.measurement_gap_length.unwrap_or(USUAL_GAP),
        offset: described.measurement_gap_offset,
    })
}

fn beam_failure(described: &scenario::MobilityManagement) -> Option<BeamMonitoring> {
    let threshold = described.rsrp_threshold_ssb;
    Some(BeamMonitoring {
        most_instances: described.beam_failure_instance_max_count?,
        detection_periods: described.beam_failure_detection_timer?,
        dedicated: threshold.map(|threshold| DedicatedRecovery {
            threshold,
            timer: described.beam_failure_recovery_timer,
        }),
    })
}

/// Length of a measurement gap of pattern 0.
///
/// Standard: TS 36.133 Table 8.1.2.1-1; TS 38.133 Table 9.1.2-1.
pub(super) const USUAL_GAP: Span = Span::from_millis(6);

/// Returns a level of the scenario, dBm. The scenario reader makes sure that the level is given for
/// each kind of event that uses one.
fn level(given: Option<fadeout_core::Dbm>) -> f64 {
    given.map_or(f64::NEG_INFINITY, |dbm| dbm.0)
}

fn condition(described: &scenario::ExecutionCondition) -> MeasurementEvent {
    let threshold = level(described.threshold);
    MeasurementEvent {
        kind: match described.kind {
            scenario::ConditionKind::A3 => EventKind::A3 {
                offset: described.offset.0,
            },
            scenario::ConditionKind::A4 => EventKind::A4 { threshold },
            scenario::ConditionKind::A5 => EventKind::A5 {
                serving: level(described.serving_threshold),
                neighbour: threshold,
            },
        },
        hysteresis_db: described.hysteresis.0,
        time_to_trigger: described.time_to_trigger,
        filter: described.filter,
        // The network gets no report when an execution condition is met.
        report_interval: Span::MAX,
        report_amount: None,
        scope: Scope::Any,
    }
}

fn event(described: &scenario::MeasurementEvent) -> MeasurementEvent {
    let threshold = level(described.threshold.or(described.threshold_rscp));
    let hysteresis_db = described.hysteresis.0;
    MeasurementEvent {
        kind: match described.kind {
            scenario::EventKind::A1 => EventKind::A1 { threshold },
            scenario::EventKind::A2 => EventKind::A2 { threshold },
            scenario::EventKind::A3 => EventKind::A3 {
                offset: described.offset.0,
            },
            scenario::EventKind::A6 => EventKind::A6 {
                offset: described.offset.0,
            },
            scenario::EventKind::A4 => EventKind::A4 { threshold },
            scenario::EventKind::B1 => EventKind::B1 { threshold },
            scenario::EventKind::B2 => EventKind::B2 {
                serving: level(described.serving_threshold),
                neighbour: threshold,
            },
            // Event 3a has the entering and leaving conditions of event B2, but with half the
            // hysteresis (TS 25.331 clause 14.3.1.1).
            scenario::EventKind::E3a => EventKind::B2 {
                serving: level(described.serving_threshold_rscp),
                neighbour: threshold,
            },
            scenario::EventKind::A5 => EventKind::A5 {
                serving: level(described.serving_threshold),
                neighbour: threshold,
            },
        },
        hysteresis_db: match described.kind {
            scenario::EventKind::E3a => hysteresis_db / 2.0,
            _ => hysteresis_db,
        },
        time_to_trigger: described.time_to_trigger,
        filter: described.filter,
        report_interval: described.report_interval,
        report_amount: described.report_amount,
        scope: match described.kind {
            scenario::EventKind::E3a => Scope::FromUtra,
            _ if described.is_to_utra() => Scope::ToUtra,
            _ => Scope::Any,
        },
    }
}
