//! Kernels: when they run, what they send, and what becomes of what they are sent.

use super::{Event, Transport, World};
use crate::kernels::{Caught, KernelEnd, KernelError, Told, segment};
use fadeout_core::{Ecn, EndpointId, FlowEnd, Packet, PacketId, Probe, Protocol, Time};
use fadeout_guest::frame::Ip;
use fadeout_transport::tcp::{AppCommand, AppEvent};
use std::path::Path;

impl<P: Probe> World<P> {
    /// Starts the kernels of the nodes that have one; what they say is kept in `logs`.
    ///
    /// # Errors
    /// [`KernelError`] when there is none, or one does not come up.
    pub(crate) fn boot_kernels(&mut self, logs: Option<&Path>) -> Result<(), KernelError> {
        let Some(kernels) = &mut self.kernels else {
            return Ok(());
        };
        kernels.boot(logs)?;
        for machine in 0..kernels.len() {
            self.arm_kernel(machine, self.agenda.now());
        }
        Ok(())
    }

    /// The end of a flow that is a socket of a kernel; none of other flows.
    pub(crate) fn kernel_socket(&self, id: EndpointId) -> Option<&KernelEnd> {
        match &self.endpoints[id.index()].transport {
            Transport::Kernel(end) => Some(end),
            Transport::Tcp(_) | Transport::Subflow { .. } | Transport::Udp(_) => None,
        }
    }

    /// Whether a kernel has ended the run.
    pub(crate) fn has_failed(&self) -> bool {
        let kernels = self.kernels.as_ref();
        kernels.is_some_and(|kernels| kernels.has_failed())
    }

    /// Why.
    pub(crate) fn take_failure(&mut self) -> Option<KernelError> {
        self.kernels.as_mut()?.take_failure()
    }

    fn arm_kernel(&mut self, machine: u32, at: Time) {
        let Some(kernels) = &mut self.kernels else {
            return;
        };
        let event = |generation| Event::Kernel {
            machine,
            generation,
        };
        self.agenda.arm(kernels.wake(machine), at, event);
    }

    /// An application wants something of a socket.
    pub(super) fn command_kernel(&mut self, endpoint: EndpointId, command: AppCommand) {
        let Transport::Kernel(end) = &self.endpoints[endpoint.index()].transport else {
            return;
        };
        let (machine, told) = (end.machine, end.command(command));
        if let (Some(kernels), Some(told)) = (&mut self.kernels, told) {
            kernels.command(machine, &told);
        }
        self.arm_kernel(machine, self.agenda.now());
    }

    /// A packet reached its kernel, which sees it with everything else of this instant.
    pub(super) fn receive_by_kernel(&mut self, machine: u32, packet: PacketId) {
        let is_marked = self.pool[packet].ecn == Ecn::Ce;
        if let Some(kernels) = &mut self.kernels {
            kernels.deliver(machine, packet, is_marked);
        }
        self.pool.free(packet);
        self.arm_kernel(machine, self.agenda.now());
    }

    pub(super) fn wake_kernel(&mut self, machine: u32, generation: u32) {
        let now = self.agenda.now();
        let Some(kernels) = &mut self.kernels else {
            return;
        };
        if !kernels.wake(machine).fire(generation) {
            return;
        }
        let (mut caught, next) = kernels.run(machine, now);
        self.arm_kernel(machine, next);
        self.send_frames(machine, &caught);
        for told in std::mem::take(&mut caught.told) {
            self.hear(machine, told);
        }
        if let Some(kernels) = &mut self.kernels {
            kernels.put_back(caught);
        }
    }

    /// Sends what a kernel sent on its way. What belongs to no flow goes nowhere.
    fn send_frames(&mut self, machine: u32, caught: &Caught) {
        let now = self.agenda.now();
        for frame in caught.frames() {
            let (Some(kernels), Some(ip)) = (&mut self.kernels, Ip::read(frame)) else {
                continue;
            };
            let (Some(id), Some(tcp)) = (kernels.sender_of(machine, &ip), ip.tcp) else {
                continue;
            };
            let sender = &self.endpoints[id.index()];
            let (flow, to, route) = (sender.flow, sender.peer, sender.route);
            let peer = match &self.endpoints[to.index()].transport {
                Transport::Kernel(peer) => peer.numbers,
                Transport::Tcp(_) | Transport::Subflow { .. } | Transport::Udp(_) => continue,
            };
            let Transport::Kernel(end) = &mut self.endpoints[id.index()].transport else {
                continue;
            };
            let highest = end.numbers.highest;
            let segment = segment(frame, &ip, &tcp, &mut end.numbers, &peer, &mut end.scale);
            if let Some(row) = end.on_sent(now, &segment, highest) {
                self.probe.retransmit(row);
            }
            let (packet_id, packet) = self.pool.claim();
            *packet = Packet {
                flow,
                to,
                route,
                hop: 0,
                ecn: match ip.ecn {
                    1 => Ecn::Ect1,
                    2 => Ecn::Ect0,
                    3 => Ecn::Ce,
                    _ => Ecn::NotEct,
                },
                sent_at: now,
                protocol: Protocol::Tcp,
                segment,
            };
            kernels.keep(packet_id, frame);
            self.probe.sent(now, packet);
            self.enter(self.routes.first(route), packet_id);
        }
    }

    /// The agent of a kernel tells something.
    fn hear(&mut self, machine: u32, told: Told) {
        let now = self.agenda.now();
        let (socket, event) = match told {
            Told::Established(socket) => (socket, AppEvent::Established),
            Told::PeerClosed(socket) => (socket, AppEvent::PeerClosed),
            Told::Closed(socket) => (socket, AppEvent::Closed),
            Told::Aborted(socket) => (socket, AppEvent::Aborted),
            Told::Delivered(socket, bytes) => {
                let id = EndpointId(socket);
                if let Some(endpoint) = self.kernel_end(machine, id) {
                    self.deliver(endpoint, id, bytes);
                    self.after_application(endpoint);
                }
                return;
            }
            Told::Sample(socket, info) => {
                let id = EndpointId(socket);
                if self.kernel_end(machine, id).is_some()
                    && let Transport::Kernel(end) = &mut self.endpoints[id.index()].transport
                {
                    end.on_sample(now, *info);
                    if end.end == FlowEnd::Sender {
                        self.probe.congestion(end.congestion_row(now));
                    }
                }
                return;
            }
            Told::Failed(reason) => {
                if let Some(kernels) = &mut self.kernels {
                    kernels.refuse(machine, reason);
                }
                return;
            }
        };
        if let Some(flow) = self.kernel_end(machine, EndpointId(socket)) {
            self.on_app_event(flow, event);
        }
    }

    /// The flow of an endpoint, where it is one of this kernel: what a guest says is checked.
    fn kernel_end(&self, machine: u32, id: EndpointId) -> Option<fadeout_core::FlowId> {
        let endpoint = self.endpoints.get(id.index())?;
        match &endpoint.transport {
            Transport::Kernel(end) if end.machine == machine => Some(endpoint.flow),
            _ => None,
        }
    }
}
