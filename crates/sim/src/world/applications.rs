//! Applications: when they start, what they ask of their connection and what they are given.

use super::{Event, World};
use fadeout_core::{Bytes, EndpointId, FlowId, Probe};
use fadeout_traffic::{End as Side, Request};
use fadeout_transport::tcp::{AppCommand, AppEvent};

impl<P: Probe> World<P> {
    pub(super) fn start_flow(&mut self, id: FlowId) {
        let flow = &self.flows[id.index()];
        let (opens, listens) = match flow.application.opener() {
            Side::Sender => (flow.sender, flow.receiver),
            Side::Receiver => (flow.receiver, flow.sender),
        };
        self.command(listens, AppCommand::Listen);
        self.command(opens, AppCommand::Connect);
        let application = &mut self.flows[id.index()].application;
        application.on_start(self.agenda.now(), &mut self.asks);
        self.after_application(id);
    }

    /// Passes on what an application asked for, and arms its wake-up.
    pub(super) fn after_application(&mut self, id: FlowId) {
        let flow = &mut self.flows[id.index()];
        let (sender, receiver) = (flow.sender, flow.receiver);
        let at = flow.application.wake_at();
        let event = |generation| Event::Application {
            flow: id,
            generation,
        };
        self.agenda.arm(&mut flow.wake, at, event);
        let mut asks = std::mem::take(&mut self.asks);
        for (end, request) in asks.drain(..) {
            let command = match request {
                Request::Write(bytes) => AppCommand::Write(bytes),
                Request::WriteForever => AppCommand::WriteForever,
                Request::Close => AppCommand::Close,
            };
            let endpoint = match end {
                Side::Sender => sender,
                Side::Receiver => receiver,
            };
            self.command(endpoint, command);
        }
        self.asks = asks;
    }

    /// In-order bytes reached an endpoint. What the receiver gets is the flow's data; what the
    /// sender gets are requests for it.
    pub(super) fn deliver(&mut self, id: FlowId, at: EndpointId, bytes: u64) {
        let flow = &mut self.flows[id.index()];
        let end = flow.side_of(at);
        flow.application
            .on_delivered(self.agenda.now(), end, Bytes(bytes), &mut self.asks);
        if end == Side::Receiver {
            self.count_delivered(id, bytes);
        }
    }

    /// The flow's data reached its receiver.
    pub(super) fn count_delivered(&mut self, id: FlowId, bytes: u64) {
        let flow = &mut self.flows[id.index()];
        flow.delivered += bytes;
        flow.first_delivery_at.get_or_insert(self.agenda.now());
        if flow
            .application
            .size()
            .is_some_and(|size| flow.delivered >= size.0)
        {
            flow.completed_at.get_or_insert(self.agenda.now());
        }
        self.probe.delivered(self.agenda.now(), id, bytes);
    }

    pub(super) fn on_app_event(&mut self, id: FlowId, event: AppEvent) {
        let flow = &mut self.flows[id.index()];
        match event {
            AppEvent::Established => {
                flow.established_at.get_or_insert(self.agenda.now());
            }
            AppEvent::PeerClosed => {
                // Nothing more will come: a receiver closes its half too.
                let receiver = flow.receiver;
                let close = Event::Close { endpoint: receiver };
                self.agenda.schedule(self.agenda.now(), close);
            }
            AppEvent::Aborted => flow.is_aborted = true,
            AppEvent::AllAcknowledged | AppEvent::Closed => {}
        }
    }
}
