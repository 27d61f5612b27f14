//! Data rates of UEs under mobility management, as reported to flows.

use super::managed::Managed;
use fadeout_core::{Direction, LinkInfo, Rate, Time};

/// Smallest relative change of a rate that is reported.
const LEAST_CHANGE: f64 = 0.05;

/// Mutable access to a UE's state, for reports of its data rate.
pub(in crate::access) struct Rates<'m, 'a>(pub &'m mut Managed<'a>);

impl Rates<'_, '_> {
    /// Reports the UE's downlink rate if the rate has changed. The rate is that of the MCS for the
    /// UE's SINR without fading, divided by the number of UEs in the cell.
    pub(in crate::access) fn report_rate(&mut self, now: Time) {
        let stack = &self.0.service.stack;
        let Some(reported) = self.0.state.reported_rate else {
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
        if (rate - reported).abs() > LEAST_CHANGE * reported {
            self.0.state.reported_rate = Some(rate);
            self.0
                .notify_listeners(LinkInfo::Rate(Rate::from_bits_per_sec(rate as u64)));
        }
    }

    /// Reports a rate of zero, because the UE has no cell.
    pub(in crate::access) fn report_no_rate(&mut self) {
        if self
            .0
            .state
            .reported_rate
            .is_some_and(|reported| reported > 0.0)
        {
            self.0.state.reported_rate = Some(0.0);
            self.0.notify_listeners(LinkInfo::Rate(Rate::ZERO));
        }
    }
}
