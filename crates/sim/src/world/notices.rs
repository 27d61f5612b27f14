//! Notices: the messages of hops to the ends of flows.

use super::agenda::Agenda;
use super::{Event, Flow, Transport, World};
use crate::notices::Notices;
use fadeout_core::{FlowId, LinkInfo, Probe};

/// The ends of a flow are to be told something that was not known ahead, if they are told anything.
pub(super) fn notify(all: &mut [Notices], agenda: &mut Agenda, flow: FlowId, info: LinkInfo) {
    let mut numbered = all.iter_mut().enumerate();
    let Some((index, notices)) = numbered.find(|(_, notices)| notices.flow == flow) else {
        return;
    };
    if let Some(at) = notices.tell(agenda.now(), info) {
        let index = index as u32;
        agenda.schedule(at, Event::Notice { index });
    }
}

/// The same, of what a base station predicts or sees: as it is.
pub(super) fn pass_on(all: &mut [Notices], agenda: &mut Agenda, flow: FlowId, info: LinkInfo) {
    let mut numbered = all.iter_mut().enumerate();
    let Some((index, notices)) = numbered.find(|(_, notices)| notices.flow == flow) else {
        return;
    };
    if let Some(at) = notices.pass_on(agenda.now(), info) {
        let index = index as u32;
        agenda.schedule(at, Event::Notice { index });
    }
}

impl<P: Probe> World<P> {
    /// A hop tells both ends of a flow something.
    pub(super) fn tell(&mut self, index: u32) {
        let notices = &mut self.notices[index as usize];
        let (flow, info) = (notices.flow, notices.take());
        if let Some(at) = notices.next_at() {
            self.agenda.schedule(at, Event::Notice { index });
        }
        let Flow {
            sender, receiver, ..
        } = &self.flows[flow.index()];
        let (sender, receiver) = (*sender, *receiver);
        for endpoint in [sender, receiver] {
            // The scenario reader gives notices to flows of one path alone.
            if let Transport::Tcp(tcp) = &mut self.endpoints[endpoint].transport {
                let now = self.agenda.now();
                tcp.on_link_info(now, &info, &mut self.outbox, &mut self.probe);
                self.after_endpoint(endpoint);
            }
        }
    }
}
