//! Hosts and routers.

use crate::shape::Presence::Optional;
use crate::shape::Shape;
use crate::table::table;

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
    }
}
