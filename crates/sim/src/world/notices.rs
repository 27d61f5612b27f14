//! Notices: the messages of hops to the ends of flows.

use super::{Event, Flow, Transport, World};
use fadeout_core::{FlowId, LinkInfo, Probe};

impl<P: Probe> World<P> {
    /// The ends of a flow are to be told something that was not known ahead, if they are told anything.
    pub(super) fn notify(&mut self, flow: FlowId, info: LinkInfo) {
        let now = self.agenda.now();
        let mut all = self.notices.iter_mut().enumerate();
        let Some((index, notices)) = all.find(|(_, notices)| notices.flow == flow) else {
            return;
        };
        if let Some(at) = notices.tell(now, info) {
            let index = index as u32;
            self.agenda.schedule(at, Event::Notice { index });
        }
    }

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
