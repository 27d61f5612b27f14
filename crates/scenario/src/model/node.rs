//! Hosts and routers.

use crate::shape::Presence::{Default, Optional};
use crate::shape::Shape;
use crate::table::{table, words};

words! {
    /// Opener of further paths of a Multipath TCP connection.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum PathManager {
        /// The kernel opens paths from each address that it was given.
        Kernel = "kernel",
        /// A program in the guest opens paths. The kernel notifies it of its connections.
        Userspace = "userspace",
    }
}

table! {
    /// A host or router.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Node {
        own {
            /// Name of the node in the file.
            name: String,
        }
        /// Version of Linux whose own TCP the flows of this node use in place of fadeout's, such as
        /// `6.12`. `fadeout kernel build` builds one. The other end of each flow needs a kernel
        /// too.
        kernel: Option<String> = Shape::Text, Optional;
        /// True if the kernel sees all packets that arrive at one instant together, as from a
        /// network card that merges segments. It then answers with fewer ACKs. If false, it reads
        /// every packet alone. Needs `kernel`.
        receive_offload: bool = Shape::Bool, Default("false");
        /// Shell command that runs a program of this machine in the guest from the start. Needs
        /// `kernel` and the option `--allow-programs`. The program can read the files of this
        /// machine, but not change them. It reaches other nodes by name, over the routes of the
        /// flows to them.
        command: Option<String> = Shape::Text, Optional;
        /// Opener of further paths of Multipath TCP connections (`net.mptcp.pm_type`). Needs
        /// `kernel`.
        path_manager: PathManager = PathManager::SHAPE, Default("\"kernel\"");
    }
}
