//! How a UE asks for the uplink: scheduling requests, configured grants, and asking again.

use super::{Adaptation, Event, RadioAccess, Shape};
use fadeout_core::{CellId, Direction, Probe, Time, UeId};

impl RadioAccess {
    /// Something waits at a UE. If it has no other way to tell, it asks.
    pub(super) fn on_uplink_data(&mut self, now: Time, ue: UeId, probe: &mut impl Probe) {
        let state = &self.ues[ue.index()];
        let access = &state.access;
        let is_known = access.is_requested || access.outstanding > 0 || access.reported > 0;
        let Some(id) = state.cell else { return };
        if is_known || self.backlog(now, ue, Direction::Uplink) == 0 {
            return;
        }
        if !self.use_configured_grant(now, id, ue) {
            self.request(now, id, ue, probe);
        }
    }

    /// Sends a scheduling request at the next opportunity.
    fn request(&mut self, now: Time, id: CellId, ue: UeId, probe: &mut impl Probe) {
        let cell = &self.cells[id.index()];
        let config = &cell.config.requests;
        let unserved_until = self.ues[ue.index()].unserved_until;
        let access = &mut self.ues[ue.index()].access;
        let prohibited_until = match access.requested_at {
            Time::ZERO => Time::ZERO,
            latest => latest.saturating_add(config.prohibit),
        };
        let earliest = now.max(prohibited_until).max(unserved_until);
        let earliest = cell.frame.slot_from(earliest);
        let mut slot = config.opportunity_from(earliest, access.offset);
        // In TDD an opportunity counts only in a slot with uplink symbols.
        let least = cell.config.timing.feedback_symbols.clamp(1, 2);
        for _ in 0..cell.frame_period() {
            if cell.frame.format(slot).uplink >= least {
                break;
            }
            slot = config.opportunity_from(slot + 1, access.offset);
        }
        self.counters.requests += 1;
        access.is_requested = true;
        access.is_asked = true;
        access.requested_at = cell.frame.start_of(slot);
        access.repeat_at = access.requested_at.saturating_add(config.repeat_after);
        let from = cell.config.timing.grant_slot(&cell.frame, slot);
        let asked_at = access.requested_at;
        self.ues[ue.index()].stay_awake(&cell.config, asked_at);
        if probe.wants_mac_pdus(id, ue) {
            self.show_request(id, ue, slot, probe);
        }
        self.activate(now, ue, Direction::Uplink, from);
        self.arm_repeat(ue);
    }

    /// Takes the next occasion of the configured grant, if there is one.
    fn use_configured_grant(&mut self, now: Time, id: CellId, ue: UeId) -> bool {
        let cell = &self.cells[id.index()];
        let Some(grant) = cell.config.configured_grant else {
            return false;
        };
        let state = &mut self.ues[ue.index()];
        if !state.access.has_occasions {
            return false;
        }
        let Some(process) = state.up.harq.free(u64::MAX) else {
            return false;
        };
        let (period, occasion) = (u64::from(grant.period), u64::from(state.access.occasion));
        let earliest = cell.frame.slot_from(now.max(state.unserved_until));
        let earliest = earliest.max(cell.first_slot);
        let phase = (earliest + period - occasion) % period;
        let slot = earliest + (period - phase) % period;
        let symbols = cell.uplink_symbols(slot);
        let resources = &cell.up.resources;
        let units = grant.units.min(resources.units(symbols));
        let scheme = match cell.config.adaptation {
            Adaptation::Reports(_) => grant.scheme as u8,
            _ => self.uplink_fixed_scheme(id),
        };
        let bytes = self.cells[id.index()]
            .up
            .resources
            .bytes(symbols, usize::from(scheme), units);
        if bytes == 0 {
            return false;
        }
        let shape = Shape {
            scheme,
            symbols,
            units,
            bytes,
        };
        self.grant(id, ue, process, shape, slot, 0);
        true
    }

    pub(super) fn arm_repeat(&mut self, ue: UeId) {
        let access = &mut self.ues[ue.index()].access;
        if let Some(generation) = access.repeat.arm(access.repeat_at) {
            let event = Event::Repeat(ue, generation);
            self.events.schedule(access.repeat_at, event);
        }
    }

    /// A UE that has data and was not granted anything for long asks again.
    pub(super) fn on_repeat(&mut self, now: Time, ue: UeId, probe: &mut impl Probe) {
        let state = &mut self.ues[ue.index()];
        if state.access.repeat_at > now {
            self.arm_repeat(ue);
            return;
        }
        let Some(id) = state.cell else { return };
        if state.access.outstanding > 0 {
            return;
        }
        state.access.is_requested = false;
        state.access.reported = 0;
        if self.backlog(now, ue, Direction::Uplink) > 0 {
            self.request(now, id, ue, probe);
        }
    }
}
