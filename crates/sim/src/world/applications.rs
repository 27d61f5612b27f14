//! Applications: their start, their requests to a connection and the data delivered to them.

use super::agenda::Agenda;
use super::{Event, Flow, Transport, World};
use fadeout_core::{Bytes, EndpointId, FlowEnd, FlowId, Probe, Time};
use fadeout_traffic::{Ask, Request};
use fadeout_transport::tcp::{AppCommand, AppEvent};

impl<P: Probe> World<P> {
    pub(super) fn start_flow(&mut self, id: FlowId) {
        let flow = &self.flows[id.index()];
        let (opens, listens) = match flow.application.opener() {
            FlowEnd::Sender => (flow.sender, flow.receiver),
            FlowEnd::Receiver => (flow.receiver, flow.sender),
        };
        for (endpoint, end) in flow.ends() {
            self.endpoints.begin(endpoint, end);
        }
        self.command(listens, AppCommand::Listen);
        let opens_fast = self.endpoints.opens_fast(opens);
        if !opens_fast {
            self.command(opens, AppCommand::Connect);
        }
        let application = &mut self.flows[id.index()].application;
        application.on_start(self.agenda.now(), &mut self.asks);
        if opens_fast {
            self.connect_with_data(id, opens);
        }
        self.after_application(id);
    }

    /// Opens a connection by Fast Open. The SYN carries the data that the application writes first.
    fn connect_with_data(&mut self, id: FlowId, opens: EndpointId) {
        let own = self.flows[id.index()].side_of(opens);
        let mut asks = std::mem::take(&mut self.asks);
        let is_written = |&(end, request): &Ask| end == own && request != Request::Close;
        let writes = asks.first().is_some_and(is_written);
        let written = writes.then(|| command_of(asks.remove(0).1));
        self.show_host_queue(opens);
        if let Transport::Tcp(tcp) = &mut self.endpoints[opens].transport {
            for command in written.into_iter().chain([AppCommand::Connect]) {
                let now = self.agenda.now();
                tcp.on_app(now, command, &mut self.outbox, &mut self.probe);
            }
            self.after_endpoint(opens);
        }
        asks.append(&mut self.asks);
        self.asks = asks;
    }

    /// Carries out the requests of an application, and schedules its wake-up.
    #[inline]
    pub(super) fn after_application(&mut self, id: FlowId) {
        let flow = &mut self.flows[id.index()];
        let at = match flow.is_woken {
            true => flow.application.wake_at(),
            false => Time::NEVER,
        };
        let event = |generation| Event::Application {
            flow: id,
            generation,
        };
        self.agenda.arm(&mut flow.wake, at, event);
        if !self.asks.is_empty() {
            carry_out_requests(self, id);
        }
    }
}

/// Carries out the requests of an application. This is not inlined, because few packets cause a
/// request.
#[inline(never)]
fn carry_out_requests<P: Probe>(world: &mut World<P>, id: FlowId) {
    let flow = &world.flows[id.index()];
    let (sender, receiver) = (flow.sender, flow.receiver);
    let mut asks = std::mem::take(&mut world.asks);
    for (end, request) in asks.drain(..) {
        let endpoint = match end {
            FlowEnd::Sender => sender,
            FlowEnd::Receiver => receiver,
        };
        world.command(endpoint, command_of(request));
    }
    world.asks = asks;
}

/// Returns the command for a connection that an application's request means.
fn command_of(request: Request) -> AppCommand {
    match request {
        Request::Write(bytes) => AppCommand::Write(bytes),
        Request::WriteForever => AppCommand::WriteForever,
        Request::Close => AppCommand::Close,
    }
}

impl Flow {
    /// Hands the results of a connection's event to the flow: in-order bytes and events. `at` is
    /// the endpoint that acts for the connection.
    #[inline]
    pub(super) fn on_endpoint_output(
        &mut self,
        (id, at): (FlowId, EndpointId),
        delivered: u64,
        events: &mut Vec<AppEvent>,
        agenda: &mut Agenda,
        asks: &mut Vec<Ask>,
        probe: &mut impl Probe,
    ) {
        if delivered > 0 {
            self.deliver((id, at), delivered, agenda.now(), asks, probe);
        }
        if !events.is_empty() {
            for event in events.drain(..) {
                self.on_app_event(event, agenda);
            }
        }
    }

    /// Hands in-order bytes at an endpoint to the application. Bytes at the receiver are the flow's
    /// data. Bytes at the sender are requests.
    #[inline]
    pub(super) fn deliver(
        &mut self,
        (id, at): (FlowId, EndpointId),
        bytes: u64,
        now: Time,
        asks: &mut Vec<Ask>,
        probe: &mut impl Probe,
    ) {
        let end = self.side_of(at);
        self.application.on_delivered(now, end, Bytes(bytes), asks);
        if end == FlowEnd::Receiver {
            self.count_delivered(id, bytes, now, probe);
        }
    }

    /// Counts bytes of the flow's data that reached the receiver.
    #[inline]
    pub(super) fn count_delivered(
        &mut self,
        id: FlowId,
        bytes: u64,
        now: Time,
        probe: &mut impl Probe,
    ) {
        debug_assert!(bytes > 0, "a delivery of nothing");
        self.delivered += bytes;
        debug_assert!(
            self.first_delivery_at.is_none_or(|at| at <= now),
            "the first delivery is still to come"
        );
        self.first_delivery_at.get_or_insert(now);
        let size = self.application.size();
        if size.is_some_and(|size| self.delivered >= size.0) {
            self.completed_at.get_or_insert(now);
        }
        debug_assert!(
            self.completed_at
                .is_none_or(|at| self.first_delivery_at <= Some(at)),
            "a flow was complete before its first delivery"
        );
        probe.delivered(now, id, bytes);
    }

    /// Handles an event of the flow's connection.
    pub(super) fn on_app_event(&mut self, event: AppEvent, agenda: &mut Agenda) {
        match event {
            AppEvent::Established => {
                self.established_at.get_or_insert(agenda.now());
            }
            AppEvent::PeerClosed => {
                // The sender will send no more data, so the receiver closes its own direction, too.
                let close = Event::Close {
                    endpoint: self.receiver,
                };
                agenda.schedule(agenda.now(), close);
            }
            AppEvent::Aborted => {
                self.aborted_at.get_or_insert(agenda.now());
            }
            AppEvent::AllAcknowledged | AppEvent::Closed => {}
        }
    }
}
