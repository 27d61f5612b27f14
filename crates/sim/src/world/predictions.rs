//! Measurement reports of vehicles, and the base stations' predictions of blockages from them.

use super::agenda::Agenda;
use super::notices::notify_without_error;
use super::{Event, World};
use crate::notices::Notices;
use crate::prediction::Forecast;
use fadeout_core::{FlowId, LinkInfo, Probe};
use fadeout_radio::access::RadioAccess;

/// Prediction of blockages, and its notices to flows.
#[derive(Debug)]
pub(super) struct Predictions {
    pub forecast: Forecast,
    /// Notices of base stations to flows. Empty between two reports.
    notices_to_flows: Vec<(FlowId, LinkInfo)>,
}

impl Predictions {
    pub(super) fn new(forecast: Forecast) -> Predictions {
        Predictions {
            forecast,
            notices_to_flows: Vec::new(),
        }
    }

    /// Processes the reports of all vehicles and schedules the next ones.
    fn on_reports(&mut self, access: &RadioAccess, notices: &mut [Notices], agenda: &mut Agenda) {
        let now = agenda.now();
        self.forecast
            .on_reports(now, access, &mut self.notices_to_flows);
        for (flow, info) in self.notices_to_flows.drain(..) {
            notify_without_error(notices, agenda, flow, info);
        }
        let next = now.saturating_add(self.forecast.period());
        agenda.schedule(next, Event::Reports);
    }
}

/// Processes the reports of all vehicles in a world.
pub(super) fn take_reports<P: Probe>(world: &mut World<P>) {
    if let (Some(predictions), Some(radio)) = (&mut world.predictions, &world.radio) {
        predictions.on_reports(&radio.access, &mut world.notices, &mut world.agenda);
    }
}
