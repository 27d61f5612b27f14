//! Rates that flows over UEs under mobility management are told.

use super::RadioAccess;
use super::managed::Managed;
use fadeout_core::{Direction, LinkInfo, Rate, Time, UeId};

/// The least change of a rate that is told.
const STEP: f64 = 0.05;

impl RadioAccess {
    /// Those who ask about the UE's link hear of its rate too. Whether it is under mobility management.
    pub fn tell_rates_of(&mut self, ue: UeId) -> bool {
        let mobility = self.mobility.as_mut();
        mobility.is_some_and(|mobility| mobility.tell_rates_of(ue))
    }
}

/// The rate of a UE, and those who are told of it.
pub(super) struct Rates<'m, 'a>(pub &'m mut Managed<'a>);

impl Rates<'_, '_> {
    /// Tells of the UE's share of its cell's downlink, divided evenly among the UEs there, if it is another than was told:
    /// what it would have with the scheme that it reports at its SINR without fading.
    pub(super) fn tell(&mut self, now: Time) {
        let stack = &self.0.service.stack;
        let Some(told) = self.0.state.told_rate else {
            return;
        };
        let leg = stack.ues[self.0.ue.index()].legs().first();
        let Some(&leg) = leg.filter(|_| self.0.state.is_connected()) else {
            return;
        };
        let cell = stack.legs[leg.index()].config.cell;
        let sinr_db = stack.air.quality_db(leg, now)[Direction::Downlink.index()];
        let alone = self.0.service.cells[cell.index()]
            .plan
            .downlink_rate(sinr_db);
        let rate = alone / f64::from(self.0.loads[cell.index()].max(1));
        if (rate - told).abs() > STEP * told {
            self.0.state.told_rate = Some(rate);
            self.0
                .inform(LinkInfo::Rate(Rate::from_bits_per_sec(rate as u64)));
        }
    }

    /// The UE has no cell: it gets nothing.
    pub(super) fn end(&mut self) {
        if self.0.state.told_rate.is_some_and(|told| told > 0.0) {
            self.0.state.told_rate = Some(0.0);
            self.0.inform(LinkInfo::Rate(Rate::ZERO));
        }
    }
}
