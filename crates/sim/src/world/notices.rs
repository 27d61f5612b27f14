//! Notices: the messages of hops to the ends of flows.

use super::agenda::Agenda;
use super::{Event, Flow, Transport, World};
use crate::notices::Notices;
use fadeout_core::{FlowId, LinkInfo, Probe, Time};

/// The ends of a flow are to be told something that was not known ahead, if they are told anything.
pub(super) fn notify(all: &mut [Notices], agenda: &mut Agenda, flow: FlowId, info: LinkInfo) {
    say(all, agenda, flow, |notices, now| notices.tell(now, info));
}

/// The same, of what a base station predicts or sees: as it is.
pub(super) fn pass_on(all: &mut [Notices], agenda: &mut Agenda, flow: FlowId, info: LinkInfo) {
    say(all, agenda, flow, |notices, now| notices.pass_on(now, info));
}

/// Those of a flow, if it has any, take something now; they say when it is told.
fn say(
    all: &mut [Notices],
    agenda: &mut Agenda,
    flow: FlowId,
    take: impl FnOnce(&mut Notices, Time) -> Option<Time>,
) {
    // They stand in the order of the flows.
    let Ok(index) = all.binary_search_by_key(&flow, |notices| notices.flow) else {
        return;
    };
    if let Some(at) = take(&mut all[index], agenda.now()) {
        let index = index as u32;
        agenda.schedule(at, Event::Notice { index });
    }
}

impl<P: Probe> World<P> {
    /// A hop tells both ends of a flow something.
    pub(super) fn tell(&mut self, index: u32) {
        let notices = &mut self.notices[index as usize];
        let flow = notices.flow;
        let (info, reaches) = notices.take();
        if let Some(at) = notices.next_at() {
            self.agenda.schedule(at, Event::Notice { index });
        }
        let Flow {
            sender, receiver, ..
        } = &self.flows[flow.index()];
        let (sender, receiver) = (*sender, *receiver);
        let ends = [sender, receiver].into_iter().zip(reaches);
        for (endpoint, _) in ends.filter(|(_, reaches)| *reaches) {
            // The scenario reader gives notices to flows of one path alone.
            if let Transport::Tcp(tcp) = &mut self.endpoints[endpoint].transport {
                let now = self.agenda.now();
                tcp.on_link_info(now, &info, &mut self.outbox, &mut self.probe);
                self.after_endpoint(endpoint);
            }
        }
    }
}
