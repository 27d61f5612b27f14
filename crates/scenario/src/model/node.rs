//! Hosts and routers.

use crate::shape::Presence::{Default, Optional};
use crate::shape::Shape;
use crate::table::{key_table, word_choice};

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
        /// Version of Linux whose TCP the flows of this node use in place of fadeout's TCP, such as
        /// `6.12`. `fadeout kernel build` builds a kernel. The node at the other end of each flow
        /// also needs a kernel.
        kernel: Option<String> = Shape::Text, Optional;
        /// True if the kernel receives all packets that arrive at one instant together, as from a
        /// network card that merges segments. The kernel then sends fewer ACKs. If false, the
        /// kernel receives each packet separately. Needs `kernel`.
        receive_offload: bool = Shape::Bool, Default("false");
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
    /// Returns a node with the defaults of all keys.
    pub(crate) fn named(name: String) -> Node {
        Node {
            name,
            kernel: None,
            receive_offload: false,
            command: None,
            path_manager: PathManager::Kernel,
        }
    }
}
