//! Notices: messages from links and cells to the ends of flows.

use super::agenda::Agenda;
use super::{Event, Flow, Transport, World};
use crate::notices::Notices;
use fadeout_core::{FlowId, LinkInfo, Probe, Time};

/// Sends a notice that was not known in advance to the ends of a flow. A prediction gets random
/// errors. Does nothing if the flow uses no notices.
pub(super) fn notify(all: &mut [Notices], agenda: &mut Agenda, flow: FlowId, info: LinkInfo) {
    schedule_notice(all, agenda, flow, |notices, now| {
        notices.add_with_error(now, info)
    });
}

/// Sends a notice of a base station to the ends of a flow, without errors.
pub(super) fn notify_without_error(
    all: &mut [Notices],
    agenda: &mut Agenda,
    flow: FlowId,
    info: LinkInfo,
) {
    schedule_notice(all, agenda, flow, |notices, now| notices.add(now, info));
}

/// Adds a notice to the notices of a flow, if the flow takes any, and schedules its arrival.
fn schedule_notice(
    all: &mut [Notices],
    agenda: &mut Agenda,
    flow: FlowId,
    add: impl FnOnce(&mut Notices, Time) -> Option<Time>,
) {
    // The entries are sorted by flow.
    let Ok(index) = all.binary_search_by_key(&flow, |notices| notices.flow) else {
        return;
    };
    if let Some(at) = add(&mut all[index], agenda.now()) {
        let index = index as u32;
        agenda.schedule(at, Event::Notice { index });
    }
}

impl<P: Probe> World<P> {
    /// Delivers a notice to both ends of a flow.
    pub(super) fn deliver_notice(&mut self, index: u32) {
        let notices = &mut self.notices[index as usize];
        let flow = notices.flow;
        let (info, reaches) = notices.take_due();
        if let Some(at) = notices.next_at() {
            self.agenda.schedule(at, Event::Notice { index });
        }
        let Flow {
            sender, receiver, ..
        } = &self.flows[flow.index()];
        let (sender, receiver) = (*sender, *receiver);
        let ends = [sender, receiver].into_iter().zip(reaches);
        for (endpoint, _) in ends.filter(|(_, reaches)| *reaches) {
            self.show_host_queue(endpoint);
            // The scenario reader allows notices only for flows with one path.
            if let Transport::Tcp(tcp) = &mut self.endpoints[endpoint].transport {
                let now = self.agenda.now();
                tcp.on_link_info(now, &info, &mut self.outbox, &mut self.probe);
                self.after_endpoint(endpoint);
            }
        }
    }
}
