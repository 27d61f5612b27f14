//! Warnings about periods of uplink occasions that a duplex pattern lengthens.

use super::by_kind::enumeration;
use crate::build;
use fadeout_radio::access::StretchedPeriod;
use fadeout_scenario::Scenario;

/// Returns the periods that a cell's duplex pattern lengthens, with the names of the cells. A
/// period becomes longer if some of its slots have no uplink symbols.
///
/// Standard: TS 38.213 §9.2.4; TS 36.213 §10.1.5; TS 38.321 §5.8.2.
pub(super) fn stretched(scenario: &Scenario) -> impl Iterator<Item = (&str, StretchedPeriod)> {
    scenario.cells.iter().flat_map(|cell| {
        let found = build::stretched(cell);
        found.into_iter().map(|one| (cell.name.as_str(), one))
    })
}

/// Returns the sentence about a lengthened period.
pub(super) fn describe(stretched: &StretchedPeriod) -> String {
    let StretchedPeriod {
        key,
        slots,
        mean_slots,
        slot,
        pattern,
        fitting,
    } = stretched;
    let periods: Vec<String> = fitting.iter().map(u32::to_string).collect();
    let others = match &periods[..] {
        [] => String::new(),
        [one] => format!(". {one} fits"),
        several => format!(". {} fit", enumeration(several)),
    };
    let left = match mean_slots.is_finite() {
        true => format!(
            "so that one with uplink symbols comes every {} slots ({} ms) on average",
            rounded(*mean_slots),
            rounded(mean_slots * slot.as_nanos() as f64 / 1e6)
        ),
        false => "and none has uplink symbols".to_owned(),
    };
    format!(
        "some occasions of `radio.{key}` = {slots} fall into downlink slots of the pattern of {pattern} slots, {left}{others}"
    )
}

/// Rounds a value to two decimal places, which are enough for a warning.
fn rounded(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}
