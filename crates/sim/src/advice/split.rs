//! Warnings about split bearers whose legs may differ in delay by more than the reordering timer.

use crate::build;
use fadeout_core::CellId;
use fadeout_scenario::{Bearer, Duplication, Scenario};

/// Returns a sentence for each split bearer whose secondary node may queue more data than it sends
/// within t-Reordering. The receiver gives such data up before it arrives. A `desired-buffer` in
/// bytes is converted to a time at the peak rate of the leg. At this rate the buffered data lasts
/// for the shortest time.
///
/// Standard: TS 38.425 §5.4.2.1; TS 38.323 §5.2.2.2.
pub(super) fn advise(scenario: &Scenario) -> Vec<String> {
    scenario
        .bearers()
        .filter_map(|bearer| {
            let what = late(scenario, &bearer)?;
            Some(format!("UE \"{}\": {what}", bearer.name()))
        })
        .collect()
}

fn late(scenario: &Scenario, bearer: &Bearer<'_>) -> Option<String> {
    let split = bearer.split()?;
    if matches!(
        split.duplication,
        Some(Duplication::Downlink | Duplication::Both)
    ) {
        return None;
    }
    let cell = CellId(bearer.described.pscell? as u32);
    let bounds = build::bounds(scenario, bearer, cell)?;
    let (key, lasts_s) = match split.desired_buffer {
        Some(buffer) => (
            "desired-buffer",
            buffer.0 as f64 / bounds.peak.as_bytes_per_sec_f64(),
        ),
        None => ("buffer-time", split.buffer_time.as_secs_f64()),
    };
    let waits_s = bounds.split_reordering?.as_secs_f64();
    (lasts_s > waits_s).then(|| {
        format!(
            "`split.{key}` lets data for {:.0} ms or more wait at the secondary node, but PDCP \
             waits only {:.0} ms for it (t-Reordering); later data is dropped. Decrease \
             `split.{key}` or increase `pdcp.t-reordering`",
            lasts_s * 1e3,
            waits_s * 1e3,
        )
    })
}
