//! Link adaptation of a leg: the choice of a transport block's MCS from the latest channel report.
//! The UE reports the downlink channel. The base station measures the uplink channel.

use super::Leg;
use crate::config::{Adaptation, Sharing};
use crate::plan::{BandCqi, CellPlan, Measurement, Resources, split_db};
use fadeout_core::{Direction, Time};

/// Latest channel report of one direction.
#[derive(Debug)]
#[repr(C)]
pub(super) struct ChannelReport {
    measured_at: Time,
    /// CQI of the downlink and rank index, as the UE reported them.
    cqi: (u8, u8),
    /// Number of the downlink MCS, and the offset of the outer loop for which the report gave it.
    /// `None` before the first use of the report. The search for an MCS takes more time than most
    /// UEs need for a slot, and its result rarely changes between two slots.
    chosen: Option<(f64, u8)>,
    /// CQI of each downlink sub-band, if the UE reports CQIs of sub-bands.
    bands: BandCqi,
    /// Channel of the uplink, as the base station measured it.
    measurement: Measurement,
}

impl ChannelReport {
    /// Report before any measurement.
    pub(super) const UNKNOWN: ChannelReport = ChannelReport {
        measured_at: Time::NEVER,
        cqi: (0, 0),
        chosen: None,
        bands: [0; _],
        measurement: Measurement::UNKNOWN,
    };
}

/// Uplink channel of a UE.
pub(crate) trait UplinkAir {
    /// Measures the uplink in a slot.
    fn measure(&mut self, slot: u64, measurement: &mut Measurement);
    /// Returns the number of resource blocks, at most `available`, for which the UE's power
    /// suffices.
    fn affordable_blocks(&self, available: u32) -> u32;
    /// Returns the reduction in dB of the power per resource block, if the UE divides its power
    /// among `blocks` resource blocks instead of using one.
    fn spread_db(&self, blocks: u32) -> f64;
}

/// Largest uplink grant that the base station may give a UE in one slot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct UplinkChoice {
    pub scheme: u8,
    pub cqi: u8,
    pub units: u32,
    /// Bytes of a transport block on all units of the slot, with the same MCS.
    pub rate: f64,
}

impl Leg {
    /// Returns the downlink MCS in `slot`, and the CQI from which it was chosen. `None` if the UE
    /// is out of range. When a new report is due, `report_of` returns the CQI and rank index of a
    /// slot and writes the CQI of each sub-band.
    pub(crate) fn downlink_scheme(
        &mut self,
        plan: &CellPlan,
        slot: u64,
        report_of: impl FnOnce(u64, &Resources, &mut BandCqi) -> (u8, u8),
    ) -> Option<(u8, u8)> {
        let resources = &plan.down;
        match plan.config.adaptation {
            Adaptation::FixedRate { .. } => return Some((0, 0)),
            Adaptation::FixedScheme { .. } => {
                let mcs = resources.adaptation()?.scheme(0, 0.0)?;
                return Some((resources.position(&mcs, 0) as u8, 0));
            }
            Adaptation::Reports(_) => {}
        }
        let adaptation = resources.adaptation()?;
        // Before the first report is known, the channel at the present time is used.
        let reports_at = plan.downlink_reports_at(slot);
        let measured_at = reports_at.unwrap_or_else(|| plan.frame.start_of(slot));
        let report = &mut self.down.report;
        if report.measured_at != measured_at {
            let measured = plan.frame.slot_at(measured_at);
            report.cqi = report_of(measured, resources, &mut report.bands);
            report.measured_at = measured_at;
            report.chosen = None;
        }
        let (cqi, rank) = report.cqi;
        let offset_db = self.down.outer_loop.offset_db();
        if let Some((of_offset_db, scheme)) = report.chosen
            && of_offset_db == offset_db
        {
            return Some((scheme, cqi));
        }
        let mcs = adaptation.scheme_up_to(self.config.modulation.downlink, cqi, offset_db)?;
        let scheme = resources.position(&mcs, rank) as u8;
        report.chosen = Some((offset_db, scheme));
        Some((scheme, cqi))
    }

    /// Returns the CQI of each sub-band, from the report that determined the latest downlink MCS.
    pub(crate) fn sub_band_cqi(&self) -> &BandCqi {
        &self.down.report.bands
    }

    /// Returns the downlink MCS of a transport block with the given units in each sub-band, and the
    /// CQI of these units together. Both are computed from the latest report. `None` if the UE is
    /// out of range.
    pub(crate) fn scheme_over(&self, plan: &CellPlan, units: &[u8]) -> Option<(u8, u8)> {
        let resources = &plan.down;
        let adaptation = resources.adaptation()?;
        let report = &self.down.report;
        let (mut all, mut carried) = (0.0, 0.0);
        for (&units, &cqi) in units.iter().zip(&report.bands) {
            let units = f64::from(units);
            all += units;
            carried += units * adaptation.efficiency_of_cqi(cqi);
        }
        let (cqi, sinr_db) = adaptation.report_of_efficiency(carried / f64::max(all, 1.0))?;
        let mcs = adaptation.scheme_for_sinr(
            self.config.modulation.downlink,
            sinr_db + self.down.outer_loop.offset_db(),
        );
        Some((resources.position(&mcs, report.cqi.1) as u8, cqi))
    }

    /// Returns the MCS and units in `slot` for a UE that needs `wanted` bytes on at most `units`
    /// units. `None` if the UE is out of range.
    pub(crate) fn uplink_choice(
        &mut self,
        plan: &CellPlan,
        slot: u64,
        (symbols, units, wanted): (u8, u32, u64),
        air: &mut impl UplinkAir,
    ) -> Option<UplinkChoice> {
        let resources = &plan.up;
        let Adaptation::Reports(reports) = plan.config.adaptation else {
            let scheme = fixed_uplink_scheme(plan);
            let number = usize::from(scheme);
            return Some(UplinkChoice {
                scheme,
                cqi: 0,
                units: resources.units_for(symbols, number, wanted, units),
                rate: f64::from(resources.bytes(symbols, number, resources.units(symbols))),
            });
        };
        let start = plan.frame.start_of(slot);
        let measured_at = plan.measured_at(Direction::Uplink, &reports.reporting, start);
        let measured_at = measured_at.unwrap_or(start);
        let report = &mut self.up.report;
        if report.measured_at != measured_at {
            air.measure(plan.frame.slot_at(measured_at), &mut report.measurement);
            report.measured_at = measured_at;
        }
        // The UE divides its power among the granted units. With fewer units each unit has more
        // power, so the MCS is chosen again for them.
        let most = affordable_units(plan, symbols, units, air);
        let mut choice = self.choice_over(plan, (symbols, most, wanted), air)?;
        if choice.units < most {
            choice = self.choice_over(plan, (symbols, choice.units, wanted), air)?;
        }
        Some(choice)
    }

    /// Returns the bytes of the largest uplink transport block with MCS number `scheme` for which
    /// the UE's power suffices.
    pub(crate) fn most_uplink_bytes(
        &self,
        plan: &CellPlan,
        scheme: u8,
        air: &impl UplinkAir,
    ) -> u32 {
        let symbols = plan.frame.symbols();
        let units = affordable_units(plan, symbols, plan.up.units(symbols), air);
        plan.most_bytes(Direction::Uplink, usize::from(scheme), units)
    }

    /// Returns the uplink MCS and units if the UE divides its power among `units` units. `None` if
    /// the UE is out of range.
    fn choice_over(
        &self,
        plan: &CellPlan,
        (symbols, units, wanted): (u8, u32, u64),
        air: &impl UplinkAir,
    ) -> Option<UplinkChoice> {
        let resources = &plan.up;
        let adaptation = resources.adaptation()?;
        let spread_db = air.spread_db(resources.occupied(symbols, units).resource_blocks);
        let measurement = &self.up.report.measurement;
        let (cqi, rank) = resources.report(|adaptation, layers| {
            measurement.quality(&plan.config, adaptation, spread_db - split_db(layers))
        });
        let mcs = adaptation.scheme_up_to(
            self.config.modulation.uplink,
            cqi,
            self.up.outer_loop.offset_db(),
        )?;
        let scheme = resources.position(&mcs, rank);
        Some(UplinkChoice {
            scheme: scheme as u8,
            cqi,
            units: resources.units_for(symbols, scheme, wanted, units),
            rate: f64::from(resources.bytes(symbols, scheme, resources.units(symbols))),
        })
    }
}

/// Returns the MCS of all uplink transport blocks in a cell without link adaptation.
pub(super) fn fixed_uplink_scheme(plan: &CellPlan) -> u8 {
    let adaptation = plan.up.adaptation();
    let fixed = adaptation.and_then(|adaptation| adaptation.scheme(0, 0.0));
    fixed.map_or(0, |mcs| plan.up.position(&mcs, 0) as u8)
}

/// Returns the number of units, at most `units`, for which a UE's power suffices.
fn affordable_units(plan: &CellPlan, symbols: u8, units: u32, air: &impl UplinkAir) -> u32 {
    if plan.config.sharing == Sharing::Time {
        return units;
    }
    let one = plan.up.occupied(symbols, 1).resource_blocks;
    let available = plan.up.occupied(symbols, units).resource_blocks;
    let blocks = air.affordable_blocks(available);
    if blocks >= available {
        return units;
    }
    (blocks / one.max(1)).clamp(1, units.max(1))
}
