//! Measurement gaps of UEs under mobility management, and the measurements in the gaps.

use super::managed::{CellKind, Managed};
use crate::access::plane::service::Service;
use crate::config::{Aggregation, Env, Gaps, LegId, MOST_SECONDARY_CELLS, MeasurementGaps};
use crate::rrc::filter::Level;
use crate::rrc::gap_carriers::{GapCarriers, inter_frequency_period};
use fadeout_core::{MeasurementRow, Probe, UeId};

/// Removes the samples that the UE could not measure in the present gap. The carriers of serving
/// cells are measured without gaps. In each gap the UE measures one of the other carriers, in turn.
pub(crate) fn measure_in_gap(
    managed: &mut Managed<'_>,
    (serving, secondaries): (usize, &Aggregation),
    env: &mut Env<'_, impl Probe>,
) {
    let Managed {
        ue,
        config,
        cells,
        kinds,
        state,
        samples,
        ..
    } = managed;
    let (Some(carriers), Some(gaps)) = (&mut state.gap_carriers, &config.gaps) else {
        return;
    };
    let mut served = [serving; MOST_SECONDARY_CELLS + 1];
    for (place, cell) in served[1..].iter_mut().zip(secondaries.cells()) {
        *place = cells.binary_search(cell).unwrap_or(serving);
    }
    let period = |cell: usize| inter_frequency_period(kinds[cell].generation, gaps.period);
    let taken = carriers.assign_gap(env.now, &served, period);
    for (position, sample) in samples.iter_mut().enumerate() {
        if served.iter().any(|&cell| carriers.share(cell, position)) {
            continue;
        }
        let sample = std::mem::replace(sample, Level::NONE);
        let over = taken.filter(|&(carrier, _)| carriers.is_on(position, carrier));
        let Some((_, over)) = over else { continue };
        state.survey.on_sample(position, sample, over);
        if env.probe.wants_measurements(*ue) {
            env.probe.measurement(MeasurementRow {
                time_s: env.now,
                ue: *ue,
                cell: cells[position],
                is_serving: false,
                is_secondary: false,
                rsrp_dbm: sample.low,
                filtered_dbm: state.survey.filtered(position).unwrap_or(sample.low),
            });
        }
    }
}

impl Service {
    /// Configures measurement gaps for a UE that measures cells of these kinds. Returns the order
    /// in which gaps measure the carriers. `None` without gaps or with one carrier only.
    pub(crate) fn begin_gaps(
        &mut self,
        legs: impl Iterator<Item = LegId>,
        kinds: &[CellKind],
        gaps: Option<&MeasurementGaps>,
    ) -> Option<GapCarriers> {
        let gaps = gaps?;
        let mut carriers: Vec<CellKind> = Vec::new();
        let number = |kind: &CellKind| {
            let known = carriers.iter().position(|carrier| carrier == kind);
            known.unwrap_or_else(|| {
                carriers.push(*kind);
                carriers.len() - 1
            })
        };
        let numbers: Vec<usize> = kinds.iter().map(number).collect();
        if carriers.len() < 2 {
            return None;
        }
        legs.for_each(|leg| self.set_gaps(leg, gaps));
        Some(GapCarriers::new(numbers))
    }

    /// Configures the measurement gaps of the UE on a leg.
    pub(crate) fn set_gaps(&mut self, leg: LegId, gaps: &MeasurementGaps) {
        let state = &mut self.stack.legs[leg.index()];
        let plan = &self.cells[state.config.cell.index()].plan;
        let ue: UeId = state.config.ue;
        let slots = (plan.frame.slot(), plan.config.is_nr());
        state.gaps = Some(Box::new(Gaps::new(gaps, ue, slots)));
    }
}
