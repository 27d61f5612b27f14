//! Warnings about unlikely settings of mobility management.

use fadeout_core::{Dbm, Span};
use fadeout_scenario::{EventKind, MeasurementEvent, MobilityManagement, Scenario};

/// Values of time-to-trigger that the standards define, milliseconds.
///
/// Standard: TS 38.331 §6.3.2; TS 36.331 §6.3.5.
const TIMES_TO_TRIGGER_MS: [u64; 16] = [
    0, 40, 64, 80, 100, 128, 160, 256, 320, 480, 512, 640, 1024, 1280, 2560, 5120,
];

/// Lowest and highest RSRP that a UE reports, dBm.
///
/// Standard: TS 38.133 Table 10.1.6.1-1; TS 36.133 Table 9.1.4-1.
const REPORTED_DBM: [f64; 2] = [-156.0, -31.0];

/// Lowest and highest RSCP that a UE reports, dBm.
///
/// Standard: TS 25.133 §9.1.1.3.
const REPORTED_RSCP_DBM: [f64; 2] = [-120.0, -25.0];

/// Returns a sentence for each unlikely setting:
///
/// - a time to trigger that cannot be signalled to a UE,
/// - an event that never occurs,
/// - a technology whose UEs have no neighbour cell,
/// - an in-sync threshold below Qout,
/// - UEs without a measured level.
pub(super) fn advise(scenario: &Scenario) -> Vec<String> {
    let Some(mobility) = &scenario.mobility else {
        return Vec::new();
    };
    let events = mobility.events.iter();
    let mut sentences: Vec<String> = events
        .flat_map(|event| [odd_time(event), never_entered(event)])
        .flatten()
        .collect();
    sentences.extend(no_neighbour(scenario));
    sentences.extend(twisted(mobility));
    sentences.extend(nothing_secondary(scenario, mobility));
    sentences.extend(unmeasured(scenario));
    let named = sentences.iter();
    named
        .map(|what| format!("mobility-management: {what}"))
        .collect()
}

fn odd_time(event: &MeasurementEvent) -> Option<String> {
    let time = event.time_to_trigger;
    let is_known = |ms: &u64| Span::from_millis(*ms) == time;
    if TIMES_TO_TRIGGER_MS.iter().any(is_known) {
        return None;
    }
    let ms = time.as_secs_f64() * 1e3;
    let apart = |of: &u64| (*of as f64 - ms).abs();
    let nearest = TIMES_TO_TRIGGER_MS
        .into_iter()
        .min_by(|one, other| apart(one).total_cmp(&apart(other)))?;
    Some(format!(
        "a time to trigger of {ms} ms is not a value of TS 38.331; the nearest is {nearest} ms"
    ))
}

fn never_entered(event: &MeasurementEvent) -> Option<String> {
    let hysteresis = match event.kind {
        EventKind::E3a => event.hysteresis.0 / 2.0,
        _ => event.hysteresis.0,
    };
    let level = |rsrp: Option<Dbm>, rscp: Option<Dbm>| match (rsrp, rscp) {
        (_, Some(level)) => Some(("RSCP", REPORTED_RSCP_DBM, level.0)),
        (level, None) => level.map(|level| ("RSRP", REPORTED_DBM, level.0)),
    };
    let threshold = level(event.threshold, event.threshold_rscp);
    let serving = level(event.serving_threshold, event.serving_threshold_rscp);
    let (above, below) = match event.kind {
        EventKind::A1 | EventKind::A4 | EventKind::B1 => (threshold, None),
        EventKind::A2 => (None, threshold),
        EventKind::A3 | EventKind::A6 => (None, None),
        EventKind::A5 | EventKind::B2 | EventKind::E3a => (threshold, serving),
    };
    let too_high = above.filter(|(_, [_, highest], level)| level + hysteresis >= *highest);
    let too_low = below.filter(|(_, [lowest, _], level)| level - hysteresis <= *lowest);
    let (what, [lowest, highest], _) = too_high.or(too_low)?;
    Some(format!(
        "event {} is never entered: {what} that a UE reports is between {lowest} and {highest} dBm",
        event.kind.word()
    ))
}

fn no_neighbour(scenario: &Scenario) -> Option<String> {
    // A secondary node can be added and released even if the UE has no cell for a handover.
    let has_nodes = scenario
        .mobility
        .iter()
        .any(|it| it.secondary_node.is_some());
    if has_nodes || scenario.cells.iter().any(|cell| cell.radio.name == "utra") {
        return None;
    }
    let cells = scenario.cells.iter();
    let is_lte = cells.map(|cell| cell.radio.name.as_str() == "lte");
    let (lte, nr): (Vec<bool>, Vec<bool>) = is_lte.partition(|&is_lte| is_lte);
    let mut events = scenario.mobility.iter().flat_map(|it| &it.events);
    let is_inter_rat = events.any(|event| matches!(event.kind, EventKind::B1 | EventKind::B2));
    if is_inter_rat {
        let is_one_alone = lte.is_empty() || nr.is_empty();
        return is_one_alone.then(|| {
            "events b1 and b2 are about cells of the other generation, but there is none".to_owned()
        });
    }
    let alone = [("LTE", lte), ("NR", nr)];
    let alone = alone.iter().find(|(_, cells)| cells.len() == 1);
    alone.map(|(name, _)| {
        format!("{name} has one cell, so its UEs have no neighbour cell for a handover")
    })
}

fn unmeasured(scenario: &Scenario) -> Option<String> {
    let given = scenario.ues.iter().filter(|ue| ue.sinr.is_some());
    let mut names = given.map(|ue| ue.name.as_str());
    let first = names.next()?;
    let more = match names.count() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(format!(
        "UE \"{first}\"{more} with a given SINR: there is no level to measure, so no handover and no link failure"
    ))
}

fn nothing_secondary(scenario: &Scenario, mobility: &MobilityManagement) -> Option<String> {
    let is_compared = mobility.events.iter().any(|it| it.kind == EventKind::A6);
    let takes_some = |ue: &fadeout_scenario::Ue| {
        !ue.secondary_cells.is_empty() || ue.max_secondary_cells.is_some()
    };
    (is_compared && !scenario.ues.iter().any(takes_some)).then(|| {
        "event a6 is never entered: no UE has `secondary-cells` or `max-secondary-cells`".to_owned()
    })
}

fn twisted(mobility: &MobilityManagement) -> Option<String> {
    (mobility.q_in.0 < mobility.q_out.0).then(|| {
        format!(
            "`q-in` of {} dB is below `q-out` of {} dB: a link between the two is in sync and out \
             of sync at once",
            mobility.q_in.0, mobility.q_out.0
        )
    })
}
