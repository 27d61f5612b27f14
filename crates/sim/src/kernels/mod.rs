//! Linux kernels as the transport of nodes, in virtual time.
//!
//! The event loop wakes a kernel like other parts of a simulation and exchanges packets with it.
//! The packet pool stores the frames of kernels as the bytes of packets. Their headers are also in
//! the pool, like those of all packets. So links, radios, captures and tables treat packets of
//! kernels like all others.

mod arrivals;
mod end;
mod program;
mod segment;
mod settings;

pub(crate) use end::{KernelEnd, Path as KernelPath};
pub(crate) use segment::{SequenceNumbers, segment};
pub(crate) use settings::KernelSettings;
pub use settings::kernel_tcp_keys;

use fadeout_core::{EndpointId, Protocol, Time, UnderWay, Wake};
use fadeout_guest::agent::{Command, Report};
use fadeout_guest::frame::{Ip, mark};
use fadeout_guest::tcp_info::TcpInfo;
use fadeout_guest::{Config, CorePin, Guest, GuestError, Port, Sink, installed};
use fadeout_scenario::{Node, PathManager};
use program::Program;
use std::collections::BTreeMap;
use std::path::Path;

/// A report from the agent in a kernel. The number in a variant is that of a socket.
#[derive(Debug, Clone)]
pub(crate) enum AgentReport {
    Established(u32),
    Delivered(u32, u64),
    PeerClosed(u32, u64),
    Closed(u32),
    Aborted(u32),
    Sample(u32, Option<[[u8; 4]; 2]>, Box<TcpInfo>),
    /// Output of a program.
    Output(Vec<u8>),
    /// A program has ended. The value is its exit status.
    Ended(u64),
    Failed(String),
}

/// The frames that a guest sent in one run of its machine, and the reports of its agent.
#[derive(Debug, Default)]
pub(crate) struct GuestOutput {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    pub(crate) reports: Vec<AgentReport>,
}

impl GuestOutput {
    /// Returns the frames in the order in which they were sent.
    pub(crate) fn frames(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let ranges = starts.zip(self.ends.iter().copied());
        ranges.map(|(start, end)| &self.bytes[start..end])
    }

    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
        self.reports.clear();
    }
}

impl Sink for GuestOutput {
    fn frame(&mut self, frame: &[u8]) {
        self.bytes.extend_from_slice(frame);
        self.ends.push(self.bytes.len());
    }

    fn report(&mut self, report: Report<'_>) {
        self.reports.push(match report {
            Report::Established(socket) => AgentReport::Established(socket),
            Report::Delivered(socket, bytes) => AgentReport::Delivered(socket, bytes),
            Report::PeerClosed(socket, bytes) => AgentReport::PeerClosed(socket, bytes),
            Report::Closed(socket) => AgentReport::Closed(socket),
            Report::Aborted(socket, _) => AgentReport::Aborted(socket),
            Report::Sample(socket, path, info) => {
                AgentReport::Sample(socket, path, Box::new(TcpInfo::read(info)))
            }
            Report::Failed(_, why) => AgentReport::Failed(why.to_owned()),
            Report::Output(bytes) => AgentReport::Output(bytes.to_vec()),
            Report::Ended(status) => AgentReport::Ended(status),
            Report::Ready(_) | Report::Echo(_) => return,
        });
    }
}

/// A node with a Linux kernel.
#[derive(Debug)]
struct Machine {
    node: String,
    version: String,
    address: [u8; 4],
    settings: KernelSettings,
    receive_offload: bool,
    path_manager: PathManager,
    /// Addresses from which connections open additional paths. All connections of the machine share
    /// the list.
    subflow_addresses: Vec<[u8; 4]>,
    program: Option<Program>,
    guest: Option<Guest>,
    wake: Wake,
    /// Endpoints that received packets since the machine last ran.
    arrived: Vec<EndpointId>,
}

/// The Linux kernels of a run.
#[derive(Debug, Default)]
pub(crate) struct Kernels {
    machines: Vec<Machine>,
    /// Endpoint that sends the packets from a port of a machine.
    by_port: BTreeMap<(u32, u16), EndpointId>,
    /// Endpoint that sends the packets of a path. Indexed by machine, the path's two addresses, and
    /// a port of its multipath connection.
    by_path: BTreeMap<(u32, [[u8; 4]; 2], u16), EndpointId>,
    /// Endpoint whose route a program's packets use, indexed by machine and destination address.
    by_address: BTreeMap<(u32, [u8; 4]), EndpointId>,
    /// Memory for the copy of a frame that a queue has marked.
    marked_frame: Vec<u8>,
    guest_output: GuestOutput,
    /// Processor core on which all kernels run. `None` if the operating system chooses the core.
    core_pin: Option<CorePin>,
    failure: Option<KernelError>,
}

/// Reasons why a run with kernels failed.
#[derive(Debug, thiserror::Error)]
pub enum KernelError {
    /// There is no kernel of the version that a node names.
    #[error(
        "node \"{node}\": there is no kernel {version} on this machine (there is {present}); \
         `fadeout kernel build {version}` builds it"
    )]
    Missing {
        /// Name of the node.
        node: String,
        /// Version that the scenario names.
        version: String,
        /// Versions that are installed.
        present: String,
    },
    /// The kernel did not start, ended early, does not end, or has results that cannot be trusted.
    #[error(transparent)]
    Guest(#[from] GuestError),
    /// A program in a guest failed.
    #[error("program of \"{node}\" ended with status {status}{last}")]
    Program {
        /// Name of the node.
        node: String,
        /// Exit status of the program, or 128 plus the number of the signal that ended it.
        status: u64,
        /// Last line of the program's output.
        last: String,
    },
    /// The output file of a program cannot be written.
    #[error("{path}: {error}")]
    Output {
        /// Path of the file.
        path: String,
        /// Error of the operating system.
        error: std::io::Error,
    },
    /// The kernel refuses a setting that a flow needs.
    #[error("kernel of \"{node}\": {reason}")]
    Refused {
        /// Name of the node.
        node: String,
        /// Last output of the kernel.
        reason: String,
    },
}

impl Kernels {
    /// Adds the machine of a node. Returns its number.
    pub(crate) fn add(&mut self, node: &Node) -> u32 {
        let number = self.machines.len() as u32;
        let [.., high, low] = (number + 1).to_be_bytes();
        self.machines.push(Machine {
            node: node.name.clone(),
            version: node.kernel.clone().unwrap_or_default(),
            address: [10, 0, high, low],
            settings: KernelSettings::default(),
            receive_offload: node.receive_offload,
            path_manager: node.path_manager,
            subflow_addresses: Vec::new(),
            program: node.command.as_deref().map(Program::new),
            guest: None,
            wake: Wake::default(),
            arrived: Vec::new(),
        });
        number
    }

    /// Returns the machine of a node. `None` if it has no kernel.
    pub(crate) fn machine_of(&self, node: &str) -> Option<u32> {
        let mut machines = self.machines.iter();
        let number = machines.position(|machine| machine.node == node)?;
        Some(number as u32)
    }

    /// Returns the address of a machine.
    pub(crate) fn address(&self, machine: u32) -> [u8; 4] {
        self.machines[machine as usize].address
    }

    /// Returns the kernel settings of a machine. Flows may add settings to them.
    pub(crate) fn settings(&mut self, machine: u32) -> &mut KernelSettings {
        &mut self.machines[machine as usize].settings
    }

    /// Makes `endpoint` the sender of the packets that leave `machine` from `port`. Packets of
    /// programs to `peer` use the route of the first endpoint between the two machines.
    pub(crate) fn assign(&mut self, [machine, peer]: [u32; 2], port: u16, endpoint: EndpointId) {
        self.by_port.insert((machine, port), endpoint);
        let address = self.address(peer);
        self.by_address
            .entry((machine, address))
            .or_insert(endpoint);
    }

    /// Returns the address of a machine on one path of a multipath connection.
    pub(crate) fn address_on(&self, machine: u32, path: u8) -> [u8; 4] {
        let [a, b, c, d] = self.address(machine);
        [a, b | path << 5, c, d]
    }

    /// Makes `endpoint` the sender of the packets that leave `machine` between the two addresses
    /// `ends`, from or to `port`.
    pub(crate) fn assign_path(
        &mut self,
        machine: u32,
        ends: [[u8; 4]; 2],
        port: u16,
        endpoint: EndpointId,
    ) {
        self.by_path.insert((machine, ends, port), endpoint);
    }

    /// Returns the endpoint of the path between two addresses. The first address is that of the
    /// machine. `None` if there is no such path.
    pub(crate) fn end_of_path(
        &self,
        machine: u32,
        ends: [[u8; 4]; 2],
        port: u16,
    ) -> Option<EndpointId> {
        self.by_path.get(&(machine, ends, port)).copied()
    }

    /// Starts all kernels. Their output is stored in `logs`.
    pub(crate) fn boot(&mut self, logs: Option<&Path>) -> Result<(), KernelError> {
        let names = self.names();
        self.core_pin = CorePin::pin_thread();
        for (number, machine) in self.machines.iter_mut().enumerate() {
            let Some(kernel) = installed::find(&machine.version) else {
                let present = installed::list().into_iter().map(|kernel| kernel.release);
                let present: Vec<String> = present.collect();
                return Err(KernelError::Missing {
                    node: machine.node.clone(),
                    version: machine.version.clone(),
                    present: match present.is_empty() {
                        true => "none".to_owned(),
                        false => present.join(", "),
                    },
                });
            };
            let mut config = Config::new(&machine.node, kernel.kernel(), kernel.agent());
            let [.., high, low] = (number as u32 + 1).to_be_bytes();
            config.mac[4..].copy_from_slice(&[high, low]);
            let file = format!("kernel-{}.log", machine.node.replace(['/', '\\'], "-"));
            config.receive_offload = machine.receive_offload;
            config.has_programs = machine.program.is_some();
            config.log = logs.map(|folder| folder.join(file));
            let mut guest = Guest::boot(config)?;
            guest.command(&Command::AddAddress(machine.address));
            if machine.path_manager == PathManager::Userspace {
                let assignment = "net/mptcp/pm_type=1";
                guest.command(&Command::Set { assignment });
            }
            for assignment in &machine.settings.assignments() {
                guest.command(&Command::Set { assignment });
            }
            if let Some(program) = &mut machine.program {
                program.start(&mut guest, &names, logs, &machine.node)?;
            }
            machine.guest = Some(guest);
        }
        Ok(())
    }

    /// Returns a line for each machine, with its address and its name.
    fn names(&self) -> Vec<String> {
        let name = |machine: &Machine| {
            let [a, b, c, d] = machine.address;
            format!("{a}.{b}.{c}.{d} {}\n", machine.node)
        };
        self.machines.iter().map(name).collect()
    }

    /// Handles output or the exit status of a program of a machine.
    pub(crate) fn on_program_report(&mut self, machine: u32, report: Result<&[u8], u64>) {
        let machine = &mut self.machines[machine as usize];
        let Some(program) = &mut machine.program else {
            return;
        };
        if let Err(error) = program.on_report(&machine.node, report) {
            self.fail(error);
        }
    }

    /// True if a program sent the packet, and not the socket of a flow. Only sockets of flows send
    /// packets as TCP. Packets of programs have only a size.
    pub(crate) fn is_of_program(packet: &UnderWay) -> bool {
        packet.protocol == Protocol::Udp
    }

    /// Returns the number of machines.
    pub(crate) fn len(&self) -> u32 {
        self.machines.len() as u32
    }

    pub(crate) fn wake(&mut self, machine: u32) -> &mut Wake {
        &mut self.machines[machine as usize].wake
    }

    /// Queues a command for the agent of a machine. The agent receives it when the machine runs
    /// next.
    pub(crate) fn command(&mut self, machine: u32, command: &Command<'_>) {
        if let Some(guest) = &mut self.machines[machine as usize].guest {
            guest.command(command);
        }
    }

    /// Lets the connections of a machine open additional paths from an address. An address that the
    /// list already contains is not added again, because all connections share the list.
    pub(crate) fn open_from(&mut self, machine: u32, address: [u8; 4], is_backup: bool) {
        let subflow_addresses = &mut self.machines[machine as usize].subflow_addresses;
        if !subflow_addresses.contains(&address) {
            subflow_addresses.push(address);
            self.command(machine, &Command::Subflow { address, is_backup });
        }
    }

    /// Queues a frame for a machine. The kernel receives it when the machine runs next.
    pub(crate) fn deliver(
        &mut self,
        (machine, to): (u32, EndpointId),
        frame: &[u8],
        is_marked: bool,
    ) {
        let arrived = &mut self.machines[machine as usize].arrived;
        if arrived.last() != Some(&to) {
            arrived.push(to);
        }
        let frame = match is_marked {
            false => frame,
            true => {
                // A copy of the packet may share the frame without being marked.
                self.marked_frame.clear();
                self.marked_frame.extend_from_slice(frame);
                mark(&mut self.marked_frame);
                &self.marked_frame
            }
        };
        if let Some(guest) = &mut self.machines[machine as usize].guest {
            guest.deliver(Port::Network, frame);
        }
    }

    /// Runs a machine at the current time. Returns its frames and reports, and the time at which it
    /// must run next.
    pub(crate) fn run(&mut self, machine: u32, now: Time) -> (GuestOutput, Time) {
        let mut guest_output = std::mem::take(&mut self.guest_output);
        if let Some(core_pin) = &mut self.core_pin {
            let guests = self.machines.iter().filter_map(|it| it.guest.as_ref());
            core_pin.update_core(guests);
        }
        let Some(guest) = &mut self.machines[machine as usize].guest else {
            return (guest_output, Time::NEVER);
        };
        let ran = guest.run(now.as_nanos(), &mut guest_output);
        match ran.map(|()| guest.next_at()) {
            Ok(next) => (guest_output, next.map_or(Time::NEVER, Time::from_nanos)),
            Err(error) => {
                self.fail(error.into());
                (guest_output, Time::NEVER)
            }
        }
    }

    /// Returns the endpoints that received packets since the last call.
    pub(crate) fn take_arrived(&mut self, machine: u32) -> Vec<EndpointId> {
        std::mem::take(&mut self.machines[machine as usize].arrived)
    }

    /// Stores an emptied list again, to reuse its memory.
    pub(crate) fn put_back_arrived(&mut self, machine: u32, mut list: Vec<EndpointId>) {
        list.clear();
        self.machines[machine as usize].arrived = list;
    }

    /// Stores a processed result of `run` again, to reuse its memory.
    pub(crate) fn put_back(&mut self, mut guest_output: GuestOutput) {
        guest_output.clear();
        self.guest_output = guest_output;
    }

    /// Returns the endpoint whose route a packet from the kernel of `machine` uses. A packet of a
    /// flow uses the route of its own endpoint, found by addresses and port. A packet of a program
    /// uses the route of a flow to the same destination address. The second value is true for
    /// packets of programs. `None` if there is no such endpoint.
    pub(crate) fn sender_of(&self, machine: u32, ip: &Ip) -> Option<(EndpointId, bool)> {
        let ends = [ip.source, ip.destination];
        let ports = ip.tcp.map(|tcp| [tcp.source_port, tcp.destination_port]);
        let mut ports = ports.into_iter().flatten();
        if let Some(id) = ports.find_map(|port| self.end_of_path(machine, ends, port)) {
            return Some((id, false));
        }
        let port = ip.tcp.map(|tcp| (machine, tcp.source_port));
        if let Some(&own) = port.and_then(|port| self.by_port.get(&port)) {
            return Some((own, false));
        }
        let has_program = self
            .machines
            .iter()
            .any(|machine| machine.program.is_some());
        let routed = self.by_address.get(&(machine, ip.destination));
        routed.filter(|_| has_program).map(|&id| (id, true))
    }

    /// Stops all kernels, and stores the error for the end of the run. Only the first error is
    /// stored.
    pub(crate) fn fail(&mut self, error: KernelError) {
        self.failure.get_or_insert(error);
        for machine in &mut self.machines {
            machine.guest = None;
        }
    }

    pub(crate) fn refuse(&mut self, machine: u32, reason: String) {
        let node = self.machines[machine as usize].node.clone();
        self.fail(KernelError::Refused { node, reason });
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    pub(crate) fn take_failure(&mut self) -> Option<KernelError> {
        self.failure.take()
    }
}

/// Returns the name that Linux gives to a congestion control. `None` if Linux does not have it.
pub(crate) fn linux_name(name: &str) -> Option<&'static str> {
    Some(match name {
        "reno" | "newreno" => "reno",
        "cubic" => "cubic",
        "bbr" => "bbr",
        "bic" => "bic",
        "westwood" => "westwood",
        "htcp" => "htcp",
        "highspeed" => "highspeed",
        "hybla" => "hybla",
        "vegas" => "vegas",
        "nv" => "nv",
        "scalable" => "scalable",
        "lp" => "lp",
        "veno" => "veno",
        "yeah" => "yeah",
        "illinois" => "illinois",
        "dctcp" => "dctcp",
        "cdg" => "cdg",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_out_as_they_went_in() {
        let mut guest_output = GuestOutput::default();
        for frame in [&b"one"[..], b"", b"three"] {
            guest_output.frame(frame);
        }
        let frames: Vec<&[u8]> = guest_output.frames().collect();
        assert_eq!(frames, [&b"one"[..], b"", b"three"]);
        guest_output.clear();
        assert_eq!(guest_output.frames().count(), 0);
    }

    #[test]
    fn a_kernel_that_is_not_there_is_named_with_the_way_to_get_it() {
        let mut kernels = Kernels::default();
        let node = Node {
            kernel: Some("0.99".to_owned()),
            ..Node::named("server".to_owned())
        };
        kernels.add(&node);
        let error = kernels.boot(None).expect_err("there is no such kernel");
        let text = error.to_string();
        assert!(text.contains("kernel build 0.99") && text.contains("\"server\""));
    }
}
