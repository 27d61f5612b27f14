//! Messages between the simulator and the agent, the program that controls a guest's sockets.
//!
//! The agent is `agent/agent.c`, the first program of a guest. Messages are Ethernet frames on a
//! network device of their own. After the Ethernet header they have a kind, a socket number, a
//! value and bytes, in little-endian order.

use crate::Fault;
use crate::frame::{ETHERNET_LEN, ethernet_type};

/// Ethernet type of the messages, the first one reserved for experiments.
///
/// Standard: RFC 9542 §3.
pub const TYPE: u16 = 0x88b5;
const HEAD_LEN: usize = ETHERNET_LEN + 16;
/// Longest text or structure in a message, bytes.
const MAX_BYTES: usize = 1480 - 16;

/// Source code of the agent, which the user's compiler builds.
pub const SOURCE: &str = include_str!("../agent/agent.c");

/// Source code of the guest kernel's addition to Linux: the time that reading the clock takes.
pub const CLOCK: &str = include_str!("../agent/clock.c");

/// Returns the file name of the agent next to a kernel. Each version of the agent and of the
/// kernel's build has a name of its own.
pub fn file_name() -> String {
    // The FNV-1a hash only distinguishes versions. It is no protection against attackers.
    let bytes = SOURCE.bytes().chain(CLOCK.bytes());
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("agent-{hash:016x}")
}

/// Address of one end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Address {
    /// IPv4 address.
    pub ip: [u8; 4],
    /// TCP port.
    pub port: u16,
}

/// A command to the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command<'a> {
    /// Adds an address to the network device.
    AddAddress([u8; 4]),
    /// Writes a value into a file below `/proc/sys`.
    Set {
        /// File and value, separated by `=`.
        assignment: &'a str,
    },
    /// Waits for a connection.
    Listen {
        /// Number of the socket.
        socket: u32,
        /// Address of the socket.
        own: Address,
        /// Options of the socket.
        options: SocketOptions<'a>,
    },
    /// Opens a connection.
    Connect {
        /// Number of the socket.
        socket: u32,
        /// Address of the socket.
        own: Address,
        /// Address of the other end.
        peer: Address,
        /// Options of the socket.
        options: SocketOptions<'a>,
    },
    /// Writes a number of bytes.
    Write {
        /// Number of the socket.
        socket: u32,
        /// Number of bytes.
        bytes: u64,
    },
    /// Writes without end.
    WriteForever {
        /// Number of the socket.
        socket: u32,
    },
    /// Closes the connection after everything is written.
    Close {
        /// Number of the socket.
        socket: u32,
    },
    /// Sends ICMP echo requests and reports the time of each answer.
    Ping {
        /// Destination address.
        address: [u8; 4],
        /// Number of requests.
        count: u32,
    },
    /// Switches receive offload: Linux then merges segments that arrive together before TCP handles
    /// them. It is off by default.
    ReceiveOffload(bool),
    /// Adds an address to the network device, from which multipath connections open a subflow.
    Subflow {
        /// Address of the subflows.
        address: [u8; 4],
        /// True if the subflow is used only when no other works.
        is_backup: bool,
    },
    /// Adds lines to the file of host names. Each line has an address and a name.
    Hosts(&'a str),
    /// Runs a program of the host's file system, which the guest can read but not write.
    Run {
        /// Command line for a shell.
        command: &'a str,
    },
}

/// Options of a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SocketOptions<'a> {
    /// Name of the congestion control. The kernel's default if empty.
    pub congestion: &'a str,
    /// True for Multipath TCP.
    pub is_multipath: bool,
    /// Time between two reports of the connection's state, ms. No reports if zero.
    pub sample_ms: u16,
}

/// A report of the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Report<'a> {
    /// The agent is ready. The text is the release of the kernel.
    Ready(&'a str),
    /// A connection was established.
    Established(u32),
    /// A number of further bytes was read. Only multipath connections have this report.
    Delivered(u32, u64),
    /// Number of bytes after which the other end closed its direction. The number has no meaning
    /// for multipath connections.
    PeerClosed(u32, u64),
    /// A connection was closed.
    Closed(u32),
    /// A connection failed with an error, whose number is the second value.
    Aborted(u32, u64),
    /// `struct tcp_info` of a connection. For a multipath connection it is that of the path between
    /// two addresses, of which the guest's own is the first.
    Sample(u32, Option<[[u8; 4]; 2]>, &'a [u8]),
    /// An echo reply arrived. The value is the time since its request, ns.
    Echo(u64),
    /// Output of a program.
    Output(&'a [u8]),
    /// A program ended. The value is its exit status.
    Ended(u64),
    /// A command failed. The text describes the reason.
    Failed(u32, &'a str),
}

impl Command<'_> {
    /// Returns the frame of a command.
    pub fn write(&self) -> Vec<u8> {
        let text = |text: &str| text.as_bytes()[..text.len().min(MAX_BYTES)].to_vec();
        let (op, socket, number, bytes) = match self {
            Command::AddAddress(ip) => (1, 0, u64::from(u32::from_le_bytes(*ip)), vec![]),
            Command::Set { assignment } => (2, 0, 0, text(assignment)),
            Command::Listen {
                socket,
                own,
                options,
            } => (3, *socket, 0, ends(*own, None, options)),
            Command::Connect {
                socket,
                own,
                peer,
                options,
            } => (4, *socket, 0, ends(*own, Some(*peer), options)),
            Command::Write { socket, bytes } => (5, *socket, *bytes, vec![]),
            Command::WriteForever { socket } => (6, *socket, 0, vec![]),
            Command::Close { socket } => (7, *socket, 0, vec![]),
            Command::Ping { address, count } => {
                let ip = u64::from(u32::from_le_bytes(*address));
                (8, *count, ip, vec![])
            }
            Command::Run { command } => (9, 0, 0, text(command)),
            Command::Subflow { address, is_backup } => {
                let ip = u64::from(u32::from_le_bytes(*address));
                (12, u32::from(*is_backup), ip, vec![])
            }
            Command::Hosts(lines) => (11, 0, 0, text(lines)),
            Command::ReceiveOffload(on) => (10, 0, u64::from(*on), vec![]),
        };
        let mut frame = vec![0xff; 6];
        frame.extend([2, 0, 0, 0, 0, 1]);
        frame.extend(TYPE.to_be_bytes());
        frame.extend(u32::to_le_bytes(op));
        frame.extend(socket.to_le_bytes());
        frame.extend(number.to_le_bytes());
        frame.extend(bytes);
        frame.resize(frame.len().max(60), 0);
        frame
    }
}

/// Returns both addresses and the options as `struct ends` of the agent.
fn ends(own: Address, peer: Option<Address>, options: &SocketOptions<'_>) -> Vec<u8> {
    let peer = peer.unwrap_or(Address {
        ip: [0; 4],
        port: 0,
    });
    let mut bytes = Vec::with_capacity(40);
    for end in [own, peer] {
        bytes.extend(end.ip);
        bytes.extend(end.port.to_be_bytes());
        bytes.extend([0; 2]);
    }
    bytes.extend(u16::from(options.is_multipath).to_le_bytes());
    bytes.extend(options.sample_ms.to_le_bytes());
    let mut name = [0; 16];
    let given = options.congestion.as_bytes();
    let len = given.len().min(name.len() - 1);
    name[..len].copy_from_slice(&given[..len]);
    bytes.extend(name);
    bytes
}

impl<'a> Report<'a> {
    /// Reads a frame of the agent. `None` for frames of other kinds.
    ///
    /// # Errors
    /// Returns a [`Fault`] for a message that the agent does not send.
    pub fn read(frame: &'a [u8]) -> Result<Option<Report<'a>>, Fault> {
        if ethernet_type(frame) != Some(TYPE) {
            return Ok(None);
        }
        let Some((head, rest)) = frame.split_at_checked(HEAD_LEN) else {
            return Err(Fault("a message of the agent that is too short"));
        };
        let word = |at: usize| u32::from_le_bytes(head[at..at + 4].try_into().expect("four"));
        let (op, socket, len) = (word(14) & 0xffff, word(18), (word(14) >> 16) as usize);
        let number = u64::from_le_bytes(head[22..30].try_into().expect("eight"));
        let Some(bytes) = rest.get(..len) else {
            return Err(Fault("a message of the agent without its end"));
        };
        let text = || std::str::from_utf8(bytes).map_err(|_| Fault("a text that is not UTF-8"));
        Ok(Some(match op {
            101 => Report::Ready(text()?),
            102 => Report::Established(socket),
            103 => Report::Delivered(socket, number),
            104 => Report::PeerClosed(socket, number),
            105 => Report::Closed(socket),
            106 => Report::Aborted(socket, number),
            107 => {
                let ends = number.to_le_bytes();
                let [a, b, c, d, ..] = ends;
                let [.., e, f, g, h] = ends;
                let pair = (number != 0).then_some([[a, b, c, d], [e, f, g, h]]);
                Report::Sample(socket, pair, bytes)
            }
            108 => Report::Echo(number),
            109 => Report::Output(bytes),
            110 => Report::Ended(number),
            111 => Report::Failed(socket, text()?),
            _ => return Err(Fault("a message that the agent does not send")),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn report_frame(op: u32, socket: u32, number: u64, bytes: &[u8]) -> Vec<u8> {
        let mut frame = vec![0; 12];
        frame.extend(TYPE.to_be_bytes());
        frame.extend((op | (bytes.len() as u32) << 16).to_le_bytes());
        frame.extend(socket.to_le_bytes());
        frame.extend(number.to_le_bytes());
        frame.extend(bytes);
        frame
    }

    #[test]
    fn a_report_is_read_and_padding_is_not_part_of_it() {
        let mut frame = report_frame(101, 0, 0, b"6.12.1");
        frame.resize(60, 0);
        assert_eq!(Report::read(&frame), Ok(Some(Report::Ready("6.12.1"))));
        let frame = report_frame(103, 4, 1448, &[]);
        assert_eq!(Report::read(&frame), Ok(Some(Report::Delivered(4, 1448))));
        assert!(Report::read(&report_frame(5, 0, 0, &[])).is_err());
        assert!(Report::read(&report_frame(101, 0, 0, &[0xff])).is_err());
        assert_eq!(Report::read(&[0; 60]), Ok(None));
    }

    #[test]
    fn a_name_that_is_too_long_is_cut_and_the_frame_is_never_short() {
        let own = Address {
            ip: [10, 0, 0, 1],
            port: 5000,
        };
        let options = SocketOptions {
            congestion: "a-name-longer-than-sixteen",
            ..SocketOptions::default()
        };
        let listen = Command::Listen {
            socket: 1,
            own,
            options,
        };
        let frame = listen.write();
        assert_eq!(frame.len(), HEAD_LEN + 36);
        assert_eq!(frame.last(), Some(&0));
        assert_eq!(Command::Close { socket: 1 }.write().len(), 60);
    }

    proptest! {
        #![proptest_config(fadeout_testkit::Cases::new(2000).proptest())]

        #[test]
        fn no_report_is_read_beyond_its_end(
            bytes in proptest::collection::vec(any::<u8>(), 0..100),
            op in 95u32..115,
        ) {
            let _ = Report::read(&bytes);
            let _ = Report::read(&report_frame(op, 1, 1, &bytes));
        }
    }
}
