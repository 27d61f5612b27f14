//! Hosts and routers.

use crate::shape::Presence::{Default, Optional};
use crate::shape::Shape;
use crate::table::{table, words};

words! {
    /// Who opens further paths of a connection with Multipath TCP.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum PathManager {
        /// the kernel, from each address that it was given
        Kernel = "kernel",
        /// a program in the guest, which the kernel tells of its connections
        Userspace = "userspace",
    }
}

table! {
    /// A host or router.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Node {
        own {
            /// Its name in the file.
            name: String,
        }
        /// The version of Linux whose own TCP the flows of this node use, such as `6.12`, in place of
        /// fadeout's; `fadeout kernel build` makes one. The other end of each flow needs one too.
        kernel: Option<String> = Shape::Text, Optional;
        /// With `kernel`: what arrives at one instant is seen together, as from a network card that puts
        /// segments together, and answered by fewer ACKs. Otherwise every packet is seen and read alone.
        receive_offload: bool = Shape::Bool, Default("false");
        /// With `kernel`: a program of this machine, as a shell takes it, that runs in the guest from the
        /// start, and only with `--allow-programs`. It sees the files of this machine, which it cannot
        /// change, and the other nodes by name, over the routes of the flows to them.
        command: Option<String> = Shape::Text, Optional;
        /// With `kernel`: who opens further paths of connections with Multipath TCP (`net.mptcp.pm_type`).
        path_manager: PathManager = PathManager::SHAPE, Default("\"kernel\"");
    }
}
