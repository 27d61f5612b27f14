//! Which scheme and how many units a UE can use in the uplink, by what its power reaches.

use super::{Adaptation, Env, RadioAccess};
use fadeout_core::{CellId, Motion, Probe, UeId};

/// What the base station may grant a UE in one slot.
pub(super) struct UplinkChoice {
    pub scheme: u8,
    pub cqi: u8,
    pub units: u32,
    /// Bytes on all units.
    pub rate: f64,
}

impl RadioAccess {
    pub(super) fn uplink_fixed_scheme(&self, id: CellId) -> u8 {
        let resources = &self.cells[id.index()].up.resources;
        let fixed = resources
            .adaptation()
            .and_then(|adaptation| adaptation.scheme(0, 0.0));
        fixed.map_or(0, |mcs| resources.position(&mcs) as u8)
    }

    /// Scheme and units for a UE that wants `wanted` bytes of at most `units` units; none out of
    /// range.
    pub(super) fn uplink_scheme<M: Motion, P: Probe>(
        &mut self,
        id: CellId,
        ue: UeId,
        slot: u64,
        (symbols, units, wanted): (u8, u32, u64),
        env: &mut Env<'_, M, P>,
    ) -> Option<UplinkChoice> {
        let cell = &self.cells[id.index()];
        let Adaptation::Reports(reports) = cell.config.adaptation else {
            let scheme = self.uplink_fixed_scheme(id);
            let resources = &self.cells[id.index()].up.resources;
            let number = usize::from(scheme);
            return Some(UplinkChoice {
                scheme,
                cqi: 0,
                units: resources.units_for(symbols, number, wanted, units),
                rate: f64::from(resources.bytes(symbols, number, resources.units(symbols))),
            });
        };
        let start = cell.frame.start_of(slot);
        let measured_at = reports.reporting.measured_at(start).unwrap_or(start);
        if self.ues[ue.index()].up.report.measured_at != measured_at {
            let measured_slot = cell.frame.slot_at(measured_at);
            self.measure_uplink(id, ue, measured_slot, env);
            self.ues[ue.index()].up.report.measured_at = measured_at;
        }
        // Power is spread over what is granted: fewer units may do with more power in each.
        let most = self.affordable_units(id, ue, symbols, units);
        let mut choice = self.uplink_choice(id, ue, (symbols, most, wanted))?;
        if choice.units < most {
            choice = self.uplink_choice(id, ue, (symbols, choice.units, wanted))?;
        }
        Some(choice)
    }

    /// The choice if the UE's power were spread over `units`.
    fn uplink_choice(
        &self,
        id: CellId,
        ue: UeId,
        (symbols, units, wanted): (u8, u32, u64),
    ) -> Option<UplinkChoice> {
        let cell = &self.cells[id.index()];
        let resources = &cell.up.resources;
        let adaptation = resources.adaptation()?;
        let cqi = self.uplink_cqi(id, ue, self.uplink_spread_db(id, ue, symbols, units))?;
        let mcs = adaptation.scheme(cqi, self.ues[ue.index()].up.outer_loop.offset_db())?;
        let scheme = resources.position(&mcs);
        Some(UplinkChoice {
            scheme: scheme as u8,
            cqi,
            units: resources.units_for(symbols, scheme, wanted, units),
            rate: f64::from(resources.bytes(symbols, scheme, resources.units(symbols))),
        })
    }
}
