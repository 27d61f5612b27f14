//! Hosts: the path of received segments to TCP, and the queue in front of the network device.

use super::agenda::Agenda;
use super::endpoints::record_arrival;
use super::{Event, Transport, World};
use crate::hop::Hop;
use crate::host::{Arrived, Hosts, SendQueue};
use fadeout_core::{Bytes, EndpointId, PacketId, Probe, Protocol, Span, Time};

/// Shortest time after which a host reads the buffer of a link again that was full.
const SHORTEST_WAIT: Span = Span::from_micros(10);
/// Longest time after which a host reads the buffer again. A closed link may never empty its
/// buffer.
const LONGEST_WAIT: Span = Span::from_millis(100);
/// Divisor of the time in which a link empties its buffer. A host reads the buffer again after the
/// quotient.
const PARTS_OF_BUFFER: u64 = 8;

impl Hosts {
    /// Schedules the next wake-up of a receive path.
    fn arm(&mut self, path: u32, agenda: &mut Agenda) {
        let host = self.path(path);
        let at = host.wake_at();
        agenda.arm(&mut host.wake, at, |generation| Event::Host {
            path,
            generation,
        });
    }
}

/// Schedules the next time at which a host's queue is served.
fn arm_queue(waiting: &mut SendQueue, queue: u32, at: Time, agenda: &mut Agenda) {
    agenda.arm(&mut waiting.wake, at, |generation| Event::HostQueue {
        queue,
        generation,
    });
}

impl<P: Probe> World<P> {
    /// Passes an arrived packet to the receive path of its endpoint. Returns false if TCP receives
    /// the packet at its arrival.
    pub(super) fn enter_host(&mut self, id: PacketId) -> bool {
        let to = self.pool[id].to;
        let Some(hosts) = &mut self.hosts else {
            return false;
        };
        let Some(path) = hosts.path_of(to) else {
            return false;
        };
        let (now, packet) = (self.agenda.now(), &self.pool[id]);
        let segment = self.pool.segment(id);
        let observers = (&mut self.fingerprint, &mut self.probe);
        record_arrival(observers, now, (&self.pool, id, packet), &segment);
        hosts.path(path).on_segment(now, to, &segment, packet.ecn);
        hosts.arm(path, &mut self.agenda);
        self.pool.free(id);
        true
    }

    /// Passes the processed segments of a host to TCP.
    pub(super) fn wake_host(&mut self, path: u32, generation: u32) {
        let now = self.agenda.now();
        let is_due = |hosts: &mut Hosts| hosts.path(path).wake.fire(generation);
        if !self.hosts.as_deref_mut().is_some_and(is_due) {
            return;
        }
        while let Some((to, arrived)) =
            (self.hosts.as_deref_mut()).and_then(|hosts| hosts.path(path).next_due(now))
        {
            self.take_arrived(to, &arrived);
        }
        if let Some(hosts) = &mut self.hosts {
            hosts.arm(path, &mut self.agenda);
        }
    }

    /// Lets an endpoint process segments that have passed its host.
    fn take_arrived(&mut self, to: EndpointId, arrived: &Arrived) {
        self.show_host_queue(to);
        let now = self.agenda.now();
        match &mut self.endpoints[to].transport {
            Transport::Tcp(tcp) => {
                let (out, probe) = (&mut self.outbox, &mut self.probe);
                match arrived {
                    Arrived::Single(segment, ecn) => tcp.on_segment(now, segment, *ecn, out, probe),
                    Arrived::Merged(merged) => tcp.on_coalesced(now, merged, out, probe),
                }
                self.after_endpoint(to);
            }
            &mut Transport::Subflow { connection, path } => {
                let (out, probe) = (&mut self.path_outbox, &mut self.probe);
                let receiver = &mut self.endpoints.host_mut(connection).connection;
                match arrived {
                    Arrived::Single(segment, ecn) => {
                        receiver.on_segment(now, path, segment, *ecn, out, probe);
                    }
                    Arrived::Merged(merged) => {
                        receiver.on_coalesced(now, path, merged, out, probe);
                    }
                }
                self.after_connection(connection);
            }
            // The connection was over before its last segments had passed the host.
            _ => {}
        }
    }

    /// Informs an endpoint about its host's queue before a step. A connection with several paths
    /// is informed for all of them, because each may send.
    #[inline]
    pub(super) fn show_host_queue(&mut self, endpoint: EndpointId) {
        if self.hosts.is_some() {
            self.inform(endpoint);
        }
    }

    fn inform(&mut self, endpoint: EndpointId) {
        let Some(hosts) = self.hosts.as_deref_mut() else {
            return;
        };
        let Some(queue) = hosts.queue_of(endpoint) else {
            return;
        };
        match &mut self.endpoints[endpoint].transport {
            Transport::Tcp(tcp) => tcp.set_host_queue(hosts.queue(queue).state_for(endpoint)),
            &mut Transport::Subflow { connection, .. } => {
                let host = self.endpoints.host_mut(connection);
                for (path, &own) in host.connection.path_ids().zip(&host.endpoints) {
                    let state = hosts.queue(queue).state_for(own);
                    host.connection.set_host_queue(path, state);
                }
            }
            _ => {}
        }
    }

    /// Lets a packet wait in the queue of its sender's host. Returns false if the host has no
    /// queue.
    pub(super) fn wait_in_host(&mut self, id: PacketId) -> bool {
        let Some(hosts) = self.hosts.as_deref_mut() else {
            return false;
        };
        let packet = &self.pool[id];
        let from = self.endpoints[packet.to].peer;
        let Some(number) = hosts.queue_of(from) else {
            return false;
        };
        let queue = hosts.queue(number);
        if packet.protocol == Protocol::Udp && queue.is_full() {
            self.pool.free(id);
            return true;
        }
        let size = self.pool[id].size().0;
        queue.push(id, from, size);
        // The step that sends the packet must end before other endpoints send.
        if !queue.is_serving {
            let now = self.agenda.now();
            arm_queue(queue, number, now, &mut self.agenda);
        }
        true
    }

    /// Passes packets of all hosts' queues to their devices, as many as the devices take.
    #[inline]
    pub(super) fn serve_hosts(&mut self) {
        let queues = self.hosts.as_deref().map_or(0, Hosts::queues);
        for queue in 0..queues {
            let hosts = self.hosts.as_deref();
            if hosts.is_some_and(|hosts| hosts.is_waiting(queue)) {
                self.serve_host(queue);
            }
        }
    }

    /// Passes packets of a host's queue to its device, as far as the device takes them. Then TCP
    /// sends data that waited for the queue.
    pub(super) fn serve_host(&mut self, number: u32) {
        self.set_serving(number, true);
        loop {
            while let Some(id) = self.next_of_host(number) {
                self.leave_host(id);
            }
            let hosts = self.hosts.as_deref_mut();
            let released = hosts.map(|hosts| hosts.queue(number).take_released());
            let released = released.unwrap_or_default();
            if released.is_empty() {
                break;
            }
            for endpoint in released {
                self.resume_sending(number, endpoint);
            }
        }
        self.set_serving(number, false);
        self.arm_host_queue(number);
    }

    fn set_serving(&mut self, number: u32, is_serving: bool) {
        if let Some(hosts) = &mut self.hosts {
            hosts.queue(number).is_serving = is_serving;
        }
    }

    /// Removes the first packet from a host's queue. `None` if there is none, or if the device
    /// takes no packet.
    fn next_of_host(&mut self, number: u32) -> Option<PacketId> {
        let id = self.hosts.as_deref_mut()?.queue(number).front()?;
        let held = self.held_by_device(id);
        let queue = self.hosts.as_deref_mut()?.queue(number);
        queue.has_room(held).then(|| {
            queue.pop();
            id
        })
    }

    /// Returns the bytes in the first hop of a packet's route.
    fn held_by_device(&mut self, id: PacketId) -> Bytes {
        let now = self.agenda.now();
        match self.routes.first(self.pool[id].route) {
            Hop::Link(link) => self.links.get_mut(link).queued_bytes(now),
            Hop::Bearer { bearer, direction } => {
                let radio = self.radio.as_ref().expect("a bearer is of a radio access");
                let row = (radio.access).backlog_row(now, radio.local(bearer), direction);
                Bytes(row.rlc_new_bytes)
            }
            Hop::Backhaul(_) | Hop::Signal { .. } | Hop::Target { .. } => Bytes(0),
        }
    }

    /// Lets an endpoint send data that waited for its host's queue.
    fn resume_sending(&mut self, number: u32, endpoint: EndpointId) {
        let now = self.agenda.now();
        let Some(hosts) = self.hosts.as_deref_mut() else {
            return;
        };
        let state = hosts.queue(number).state_for(endpoint);
        match &mut self.endpoints[endpoint].transport {
            Transport::Tcp(tcp) => {
                tcp.on_host_queue(now, state, &mut self.outbox, &mut self.probe);
                self.after_endpoint(endpoint);
            }
            &mut Transport::Subflow { connection, path } => {
                let (out, probe) = (&mut self.path_outbox, &mut self.probe);
                let sender = &mut self.endpoints.host_mut(connection).connection;
                sender.on_host_queue(now, path, state, out, probe);
                self.after_connection(connection);
            }
            _ => {}
        }
    }

    /// Schedules the next reading of a link's buffer that was full. A bearer wakes the host itself.
    fn arm_host_queue(&mut self, queue: u32) {
        let now = self.agenda.now();
        let Some(hosts) = self.hosts.as_deref_mut() else {
            return;
        };
        let waiting = hosts.queue(queue);
        let Some(id) = waiting.front() else {
            return;
        };
        if let Hop::Link(link) = self.routes.first(self.pool[id].route) {
            let all = self.links.get(link).queue_delay(now);
            let part = (all / PARTS_OF_BUFFER).clamp(SHORTEST_WAIT, LONGEST_WAIT);
            let at = now.saturating_add(part);
            arm_queue(waiting, queue, at, &mut self.agenda);
        }
    }

    /// Passes packets of a host's queue to its device after a wake-up.
    pub(super) fn wake_host_queue(&mut self, queue: u32, generation: u32) {
        let is_due = |hosts: &mut Hosts| hosts.queue(queue).wake.fire(generation);
        if self.hosts.as_deref_mut().is_some_and(is_due) {
            self.serve_host(queue);
        }
    }
}
