//! UEs that an event, a packet or a transport block changes.

use super::event::Event;
use super::moves::Backhaul;
use super::stack::Stack;
use crate::config::LegId;
use crate::leg::rlc_of;
use fadeout_core::{DrbId, Time};

impl Stack {
    /// Records a change of a leg's UE.
    #[inline]
    pub(crate) fn on_leg_changed(&mut self, leg: LegId) {
        self.changes.record(self.legs[leg.index()].config.ue);
    }

    /// Records a change of a bearer's UE.
    #[inline]
    pub(crate) fn on_bearer_changed(&mut self, bearer: DrbId) {
        self.changes
            .record(self.bearers[bearer.index()].config().ue);
    }

    /// Takes the next event that is due, and records the changes that it may cause.
    #[inline]
    pub(crate) fn next_event(&mut self, now: Time) -> Option<Event> {
        let event = self.events.next_event(now)?;
        self.on_event_changes(&event);
        Some(event)
    }

    /// Records the changes that an event may cause. A cell records the changes in its slots itself.
    #[inline]
    fn on_event_changes(&mut self, event: &Event) {
        match *event {
            Event::Slot(..) => {}
            Event::Received(leg, ..)
            | Event::RepeatRequest(leg, _)
            | Event::OutOfRange(leg)
            | Event::LegReturned(leg) => self.on_leg_changed(leg),
            Event::Timer(bearer, ..)
            | Event::EndMarker(bearer)
            | Event::PassOn(bearer)
            | Event::InterfaceReport(bearer, _)
            | Event::Duplication(bearer, _) => self.on_bearer_changed(bearer),
            Event::CellSelection(ue)
            | Event::InactivityCheck(ue, _)
            | Event::Paged(ue)
            | Event::Connected(ue) => self.changes.record(ue),
            // Mobility management and the handling of failures record the UEs that they change.
            Event::Mobility(..)
            | Event::RrcMessage(..)
            | Event::LinkEvaluations
            | Event::SecondaryFailure(_) => {}
        }
    }

    /// Records the changes that an arrival over links may cause.
    pub(crate) fn on_backhaul_changes(&mut self, what: &Backhaul) {
        match *what {
            // Mobility management records the UEs that it changes.
            Backhaul::Message { .. } => {}
            Backhaul::EndMarker { bearer }
            | Backhaul::Unattached { bearer }
            | Backhaul::Forwarded { bearer, .. }
            | Backhaul::ForwardedEnd { bearer }
            | Backhaul::DownlinkPdu { bearer }
            | Backhaul::Copy { bearer }
            | Backhaul::Poll { bearer }
            | Backhaul::Discard { bearer }
            | Backhaul::DeliveryStatus { bearer }
            | Backhaul::LegFailure { bearer }
            | Backhaul::UplinkPdu { bearer } => self.on_bearer_changed(bearer),
        }
    }

    /// Returns the earliest time after `now` at which the downlink backlog of a leg may change by
    /// itself. `None` if it does not.
    #[inline]
    pub(crate) fn downlink_changes_at(&self, now: Time, leg: LegId) -> Option<Time> {
        let leg = &self.legs[leg.index()];
        let of_bearer = |bearer: DrbId| {
            let number = rlc_of(leg, bearer);
            self.bearers[bearer.index()].backlog_changes_at(now, number)
        };
        leg.channels.bearers().filter_map(of_bearer).min()
    }
}
