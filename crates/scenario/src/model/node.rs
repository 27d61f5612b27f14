//! Hosts and routers.

use super::QueueLimit;
use crate::keys::{PACKETS, RATE, SIZE, TIME};
use crate::shape::Presence::{Default, Optional};
use crate::shape::Shape;
use crate::table::{key_table, word_choice};
use fadeout_core::{Bytes, Rate, Span};

word_choice! {
    /// The program that opens additional paths of a Multipath TCP connection.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum PathManager {
        /// The kernel opens paths from each of its configured addresses.
        Kernel = "kernel",
        /// A program in the guest opens paths. The kernel notifies the program of connections.
        Userspace = "userspace",
    }
}

key_table! {
    /// A host or router of the network.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Node {
        own {
            /// Name of the node in the file.
            name: String,
        }
        /// Preset of a host. It gives the keys of receive offload and of the host's queues that
        /// the file does not give. Default: no preset.
        "preset" = Shape::NameOf("host-preset"), Optional;
        /// Version of Linux whose TCP the flows of this node use in place of fadeout's TCP, such as
        /// `6.12`. `fadeout kernel build` builds a kernel. The node at the other end of each flow
        /// also needs a kernel.
        kernel: Option<String> = Shape::Text, Optional;
        /// True if the node merges packets of a TCP connection that arrive at one instant, as a
        /// modem or a network card does. TCP then processes them as one segment with one ACK. If
        /// false, TCP receives each packet separately.
        receive_offload: bool = Shape::Bool, Default("false");
        /// Longest time for which receive offload holds a packet back until more packets arrive
        /// (`gro_flush_timeout` of Linux). Needs `receive-offload`.
        receive_hold: Span = TIME, Default("\"0 s\"");
        /// Time between the arrival of a TCP segment at the node and its processing by TCP. It
        /// stands for interrupts, driver and scheduling of the processor.
        receive_delay: Span = TIME, Default("\"0 s\"");
        /// Rate at which the node processes arriving TCP segments. It stands for the processor.
        /// The size of a segment includes the headers of IP and TCP. Default: no limit.
        receive_rate: Option<Rate> = RATE, Optional;
        /// Number of packets in the node's own queue in front of its network device (`txqueuelen`
        /// of Linux). If the queue is full, TCP reduces its window and sends new data later, so no
        /// packet of TCP is lost. Datagrams are dropped. Default: no queue. Packets then enter the
        /// first link or bearer at once. Needs `device-queue`.
        send_queue: Option<QueueLimit> = PACKETS, Optional;
        /// Number of bytes in the first link or bearer from which on the node's own queue keeps
        /// its packets. It stands for the buffer of the modem or network card. Needs `send-queue`.
        device_queue: Option<Bytes> = SIZE, Optional;
        /// True if a TCP connection has about a millisecond of data in the node's own queue at
        /// most (TCP small queues). Only matters with `send-queue`.
        small_queues: bool = Shape::Bool, Default("true");
        /// Shell command that runs a program of this computer in the guest from the start. Needs
        /// `kernel` and the option `--allow-programs`. The program can read the files of this
        /// computer, but cannot change them. It reaches other nodes by their names, over the routes
        /// of the flows to these nodes.
        command: Option<String> = Shape::Text, Optional;
        /// Program that opens additional paths of Multipath TCP connections (`net.mptcp.pm_type`).
        /// Needs `kernel`.
        path_manager: PathManager = PathManager::SHAPE, Default("\"kernel\"");
    }
}

impl Node {
    /// Returns a node with the default of each key.
    pub fn named(name: String) -> Node {
        Node {
            name,
            kernel: None,
            receive_offload: false,
            receive_hold: Span::ZERO,
            receive_delay: Span::ZERO,
            receive_rate: None,
            send_queue: None,
            device_queue: None,
            small_queues: true,
            command: None,
            path_manager: PathManager::Kernel,
        }
    }

    /// Returns the number of packets in the host's own queue. `None` without such a queue.
    pub fn queued_packets(&self) -> Option<u64> {
        match self.send_queue? {
            QueueLimit::Packets(packets) => Some(packets),
            QueueLimit::Bytes(_) | QueueLimit::Time(_) => None,
        }
    }

    /// True if the host delays, merges or processes received TCP segments.
    pub fn has_receive_path(&self) -> bool {
        self.receive_offload || !self.receive_delay.is_zero() || self.receive_rate.is_some()
    }
}
