//! Link adaptation of a leg: which scheme a block has, by what is known of the channel before it
//! is sent (the downlink as the UE reports it, the uplink as the base station measures it).

use super::Leg;
use crate::config::{Adaptation, Sharing};
use crate::plan::{BandCqi, CellPlan, Measurement, Resources, split_db};
use fadeout_core::{Direction, Time};

/// The latest report of one direction.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Report {
    measured_at: Time,
    /// Downlink: what the UE reported, and for which rank.
    cqi: (u8, u8),
    /// Downlink: what it reported of each sub-band, if it does.
    bands: BandCqi,
    /// Uplink: what the base station measured.
    measurement: Measurement,
}

impl Report {
    /// Nothing is known yet.
    pub(super) const UNKNOWN: Report = Report {
        measured_at: Time::NEVER,
        cqi: (0, 0),
        bands: [0; _],
        measurement: Measurement::UNKNOWN,
    };
}

/// The uplink of a UE as the air has it.
pub(crate) trait UplinkAir {
    /// Measures it in a slot.
    fn measure(&mut self, slot: u64, measurement: &mut Measurement);
    /// The most of `available` resource blocks that the UE's power suffices for.
    fn affordable_blocks(&self, available: u32) -> u32;
    /// By how many dB the power in each of `blocks` resource blocks falls short of all in one.
    fn spread_db(&self, blocks: u32) -> f64;
}

/// The most that the base station may grant a UE in one slot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct UplinkChoice {
    pub scheme: u8,
    pub cqi: u8,
    pub units: u32,
    /// Bytes on all units.
    pub rate: f64,
}

impl Leg {
    /// The downlink scheme in `slot` and the report it follows from; none out of range. `report_of`
    /// is asked what the UE reports of a slot, CQI and number of the rank, and of its sub-bands, when a new
    /// report is due.
    pub(crate) fn downlink_scheme(
        &mut self,
        plan: &CellPlan,
        slot: u64,
        report_of: impl FnOnce(u64, &Resources, &mut BandCqi) -> (u8, u8),
    ) -> Option<(u8, u8)> {
        let resources = &plan.down;
        let reports = match plan.config.adaptation {
            Adaptation::FixedRate { .. } => return Some((0, 0)),
            Adaptation::FixedScheme { .. } => {
                let mcs = resources.adaptation()?.scheme(0, 0.0)?;
                return Some((resources.position(&mcs, 0) as u8, 0));
            }
            Adaptation::Reports(reports) => reports,
        };
        let adaptation = resources.adaptation()?;
        let start = plan.frame.start_of(slot);
        // Before the first report is known, the channel as of now.
        let measured_at = plan.measured_at(Direction::Downlink, &reports.reporting, start);
        let measured_at = measured_at.unwrap_or(start);
        let report = &mut self.down.report;
        if report.measured_at != measured_at {
            let measured = plan.frame.slot_at(measured_at);
            report.cqi = report_of(measured, resources, &mut report.bands);
            report.measured_at = measured_at;
        }
        let (cqi, rank) = report.cqi;
        let mcs = adaptation.scheme(cqi, self.down.outer_loop.offset_db())?;
        Some((resources.position(&mcs, rank) as u8, cqi))
    }

    /// The CQI of each sub-band by the report that the latest downlink scheme follows from.
    pub(crate) fn sub_band_cqi(&self) -> &BandCqi {
        &self.down.report.bands
    }

    /// The downlink scheme of a block with so many units in each sub-band, and the CQI that stands for
    /// them together, by the same report; none out of range.
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
        let mcs = adaptation.scheme_for_sinr(sinr_db + self.down.outer_loop.offset_db());
        Some((resources.position(&mcs, report.cqi.1) as u8, cqi))
    }

    /// Scheme and units in `slot` for a UE that wants `wanted` bytes of at most `units` units; none
    /// out of range.
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
        // Power is spread over what is granted: fewer units may do with more power in each.
        let most = affordable_units(plan, symbols, units, air);
        let mut choice = self.choice_over(plan, (symbols, most, wanted), air)?;
        if choice.units < most {
            choice = self.choice_over(plan, (symbols, choice.units, wanted), air)?;
        }
        Some(choice)
    }

    /// Bytes of the largest uplink block with scheme number `scheme` that the UE's power suffices for.
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

    /// The choice if the UE's power were spread over `units`.
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
        let mcs = adaptation.scheme(cqi, self.up.outer_loop.offset_db())?;
        let scheme = resources.position(&mcs, rank);
        Some(UplinkChoice {
            scheme: scheme as u8,
            cqi,
            units: resources.units_for(symbols, scheme, wanted, units),
            rate: f64::from(resources.bytes(symbols, scheme, resources.units(symbols))),
        })
    }
}

/// The scheme of every uplink block where none is chosen.
pub(super) fn fixed_uplink_scheme(plan: &CellPlan) -> u8 {
    let adaptation = plan.up.adaptation();
    let fixed = adaptation.and_then(|adaptation| adaptation.scheme(0, 0.0));
    fixed.map_or(0, |mcs| plan.up.position(&mcs, 0) as u8)
}

/// The most of `units` units that a UE's power suffices for.
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
