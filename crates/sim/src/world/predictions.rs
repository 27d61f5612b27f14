//! Reports of cars, and what base stations make of them.

use super::notices::pass_on;
use super::{Event, World};
use fadeout_core::Probe;

impl<P: Probe> World<P> {
    /// All cars report.
    pub(super) fn take_reports(&mut self) {
        let (Some(forecast), Some(radio)) = (&mut self.forecast, &self.radio) else {
            return;
        };
        let now = self.agenda.now();
        let mut told = std::mem::take(&mut self.told);
        forecast.on_reports(now, &radio.access, &mut told);
        for (flow, info) in told.drain(..) {
            pass_on(&mut self.notices, &mut self.agenda, flow, info);
        }
        self.told = told;
        let next = now.saturating_add(forecast.period());
        self.agenda.schedule(next, Event::Reports);
    }
}
