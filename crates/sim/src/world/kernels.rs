//! Linux kernels at the ends of flows: their wake-ups, and the packets that they send and receive.

use super::agenda::Agenda;
use super::{Endpoints, Event, Transport, World};
use crate::kernels::{AgentReport, KernelEnd, KernelError, Kernels, segment};
use fadeout_core::{
    DATAGRAM_HEADERS, Ecn, EndpointId, FlowEnd, Packet, PacketId, PacketPool, Probe, Protocol,
    Segment, Time,
};
use fadeout_guest::frame::Ip;
use fadeout_transport::tcp::{AppCommand, AppEvent};
use std::path::Path;

impl Kernels {
    fn arm(&mut self, machine: u32, at: Time, agenda: &mut Agenda) {
        let event = |generation| Event::Kernel {
            machine,
            generation,
        };
        agenda.arm(self.wake(machine), at, event);
    }

    /// Passes a command of an application to a socket of the kernel.
    pub(super) fn ask(&mut self, end: &KernelEnd, command: AppCommand, agenda: &mut Agenda) {
        if command == AppCommand::Connect {
            for &(address, is_backup) in end.other_paths() {
                self.open_from(end.machine, address, is_backup);
            }
        }
        if let Some(agent_command) = end.command(command) {
            self.command(end.machine, &agent_command);
        }
        self.arm(end.machine, agenda.now(), agenda);
    }

    /// Hands a packet to its kernel. The kernel runs once for all packets of the same instant.
    pub(super) fn receive(
        &mut self,
        machine: u32,
        packet: PacketId,
        pool: &mut PacketPool,
        agenda: &mut Agenda,
    ) {
        let is_marked = pool[packet].ecn == Ecn::Ce;
        let frame = pool.bytes(packet).unwrap_or_default();
        self.deliver((machine, pool[packet].to), frame, is_marked);
        pool.free(packet);
        self.arm(machine, agenda.now(), agenda);
    }

    /// Returns the packet for a frame that a kernel sends. `None` if the frame belongs to no flow.
    fn packet_of(
        &mut self,
        (machine, frame): (u32, &[u8]),
        now: Time,
        endpoints: &mut Endpoints,
        pool: &mut PacketPool,
        probe: &mut impl Probe,
    ) -> Option<PacketId> {
        let ip = Ip::read(frame)?;
        let (id, is_of_program) = self.sender_of(machine, &ip)?;
        let sender = &endpoints[id];
        let (flow, to, route) = (sender.flow, sender.peer, sender.route);
        let (protocol, segment) = match ip.tcp {
            Some(tcp) if !is_of_program => {
                let peer = endpoints.kernel(to)?.numbers;
                let Transport::Kernel(end) = &mut endpoints[id].transport else {
                    return None;
                };
                let highest = end.numbers.highest;
                let segment = segment(frame, &ip, &tcp, &mut end.numbers, &peer, &mut end.scale);
                if let Some(row) = end.on_sent(now, &segment, highest) {
                    probe.retransmit(row);
                }
                (Protocol::Tcp, segment)
            }
            // For packets of other protocols, links and radios need only the size.
            _ => {
                let len = (ip.len as u32).saturating_sub(DATAGRAM_HEADERS);
                let sized = Segment {
                    len,
                    ..Segment::default()
                };
                (Protocol::Udp, sized)
            }
        };
        let packet = Packet {
            flow,
            to,
            route,
            hop: 0,
            ecn: Ecn::from_bits(ip.ecn).unwrap_or_default(),
            sent_at: now,
            protocol,
            segment,
        };
        let packet_id = pool.insert_with_bytes(&packet, frame.to_vec());
        probe.sent(now, pool.whole(packet_id, &packet));
        Some(packet_id)
    }
}

impl<P: Probe> World<P> {
    /// Starts the kernels of all nodes that have one. Their output is stored in `logs`.
    ///
    /// # Errors
    /// Returns a [`KernelError`] if no kernel is found, or if one does not start.
    pub(crate) fn boot_kernels(&mut self, logs: Option<&Path>) -> Result<(), KernelError> {
        let Some(kernels) = &mut self.kernels else {
            return Ok(());
        };
        kernels.boot(logs)?;
        for machine in 0..kernels.len() {
            kernels.arm(machine, self.agenda.now(), &mut self.agenda);
        }
        Ok(())
    }

    pub(crate) fn kernels(&mut self) -> Option<&mut Kernels> {
        self.kernels.as_deref_mut()
    }

    pub(super) fn wake_kernel(&mut self, machine: u32, generation: u32) {
        let now = self.agenda.now();
        let Some(kernels) = &mut self.kernels else {
            return;
        };
        if !kernels.wake(machine).fire(generation) {
            return;
        }
        let (mut guest_output, next) = kernels.run(machine, now);
        kernels.arm(machine, next, &mut self.agenda);
        for frame in guest_output.frames() {
            let Some(kernels) = &mut self.kernels else {
                break;
            };
            let (endpoints, pool) = (&mut self.endpoints, &mut self.pool);
            let frame = (machine, frame);
            let packet = kernels.packet_of(frame, now, endpoints, pool, &mut self.probe);
            if let Some(packet) = packet {
                self.depart(packet);
            }
        }
        let arrived = self.kernels.as_mut().map(|it| it.take_arrived(machine));
        let arrived = arrived.unwrap_or_default();
        for &id in &arrived {
            // The kernel's packets have been read on arrival, so the counts of in-order bytes are
            // current.
            let Some((end, flow)) = self.endpoints.socket_of(machine, id) else {
                continue;
            };
            match (end.arrivals.take_new(), end.is_path()) {
                (0, _) => {}
                // The multipath connection itself reports the bytes in order over all paths.
                (bytes, true) => self.probe.delivered(now, flow, bytes),
                (bytes, false) => {
                    self.on_agent_report(machine, AgentReport::Delivered(id.0, bytes));
                }
            }
        }
        for report in guest_output.reports.drain(..) {
            self.on_agent_report(machine, report);
        }
        if let Some(kernels) = &mut self.kernels {
            kernels.put_back(guest_output);
            kernels.put_back_arrived(machine, arrived);
        }
    }

    /// Handles a report of the agent, the program that runs in a kernel.
    fn on_agent_report(&mut self, machine: u32, report: AgentReport) {
        let now = self.agenda.now();
        let (socket, event) = match report {
            AgentReport::Established(socket) => (socket, AppEvent::Established),
            AgentReport::PeerClosed(socket, bytes) => {
                let kernel_end = self.endpoints.socket_of(machine, EndpointId(socket));
                let arrived = kernel_end.filter(|(end, _)| !end.is_path());
                let arrived = arrived.map_or(bytes, |(end, _)| end.arrivals.in_order());
                if bytes != arrived
                    && let Some(kernels) = &mut self.kernels
                {
                    let reason = format!("has read {bytes} bytes where {arrived} arrived");
                    kernels.refuse(machine, reason);
                    return;
                }
                (socket, AppEvent::PeerClosed)
            }
            AgentReport::Closed(socket) => (socket, AppEvent::Closed),
            AgentReport::Aborted(socket) => (socket, AppEvent::Aborted),
            AgentReport::Delivered(socket, bytes) => {
                let id = EndpointId(socket);
                if let Some((end, _)) = self.endpoints.socket_of(machine, id) {
                    let flow = end.whole_flow();
                    let (asks, probe) = (&mut self.asks, &mut self.probe);
                    self.flows[flow.index()].deliver((flow, id), bytes, now, asks, probe);
                    self.after_application(flow);
                }
                return;
            }
            AgentReport::Sample(socket, path, info) => {
                let mut id = EndpointId(socket);
                if let (Some(ends), Some(kernels), Some((end, _))) =
                    (path, &self.kernels, self.endpoints.socket_of(machine, id))
                {
                    let Some(on_path) = kernels.end_of_path(machine, ends, end.port()) else {
                        return;
                    };
                    id = on_path;
                }
                if let Some((end, _)) = self.endpoints.socket_of(machine, id) {
                    end.on_sample(now, *info);
                    if end.end == FlowEnd::Sender {
                        self.probe.congestion(end.congestion_row(now));
                    }
                }
                return;
            }
            AgentReport::Output(bytes) => {
                if let Some(kernels) = &mut self.kernels {
                    kernels.on_program_report(machine, Ok(&bytes));
                }
                return;
            }
            AgentReport::Ended(status) => {
                if let Some(kernels) = &mut self.kernels {
                    kernels.on_program_report(machine, Err(status));
                }
                return;
            }
            AgentReport::Failed(reason) => {
                if let Some(kernels) = &mut self.kernels {
                    kernels.refuse(machine, reason);
                }
                return;
            }
        };
        if let Some((end, _)) = self.endpoints.socket_of(machine, EndpointId(socket)) {
            let flow = end.whole_flow();
            self.flows[flow.index()].on_app_event(event, &mut self.agenda);
        }
    }
}
