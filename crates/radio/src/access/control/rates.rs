//! Data rate of a UE under mobility management, for the reports of `rrc/rates.rs`.

use super::managed::Managed;
use crate::config::Env;
use fadeout_core::{Direction, Probe};

impl Managed<'_> {
    /// Computes the UE's downlink rate and reports a change. The rate is that of the MCS for the
    /// UE's SINR without fading, divided by the number of UEs in the cell.
    pub(crate) fn report_rate(&mut self, env: &mut Env<'_, impl Probe>) {
        let is_used = self.state.rates.are_used() && self.state.is_connected();
        let Some(leg) = self.leg().filter(|_| is_used) else {
            return;
        };
        let stack = &self.service.stack;
        let cell = stack.legs[leg.index()].config.cell;
        let sinr_db = stack.air.quality_db(leg, env.now)[Direction::Downlink.index()];
        let plan = &self.service.cells[cell.index()].plan;
        let sharing = self.loads[cell.index()].max(1);
        let rate = plan.downlink_rate(sinr_db) / f64::from(sharing);
        self.with_effects(env, |state, _, effects| {
            state.rates.on_measured(rate, effects);
        });
    }
}
