//! What a flow may have besides its ends: several paths, and notices of its links.

use super::{FlowPath, LinkInfoSource, Named};
use crate::keys::{PATH, POSITIVE_TIME, SIZE, TIME};
use crate::shape::Presence::{Default, FirstOfKind, Optional, Required};
use crate::shape::Shape;
use crate::table::table;
use fadeout_core::{Bytes, Span};

table! {
    /// What makes a flow a Multipath TCP connection.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Multipath {
        own {
            /// Its paths; the first opens the connection.
            paths: Vec<FlowPath>,
        }
        /// The paths, each a list of links from the sender to the receiver, or a table; the first
        /// opens the connection.
        "paths" = Shape::List(&Shape::AnyOf(&[
            Shape::List(&Shape::Reference),
            Shape::Table(PATH),
        ])), Required;
        /// Which path carries the next data.
        path_scheduler: Named =
            Shape::Named { kind: "path-scheduler", tag: "name" }, FirstOfKind;
        /// How the paths' congestion windows depend on each other.
        coupling: Named = Shape::Named { kind: "coupling", tag: "name" }, FirstOfKind;
        /// From the connection's establishment to the first join.
        join_delay: Span = TIME, Default("\"0 s\"");
        /// Whether the head of the line is sent again on a faster path when the receive window is
        /// full; on without it, but for the scheduler `linux`.
        opportunistic_retransmission: Option<bool> = Shape::Bool, Optional;
        /// Whether the window of the slower path is then halved; on without it, but for the
        /// scheduler `linux`.
        penalisation: Option<bool> = Shape::Bool, Optional;
        /// Most memory that a path's send buffer grows to under the scheduler `linux`
        /// (tcp_wmem[2]); a full segment takes 4352 bytes of it in sizing.
        maximum_send_buffer: Bytes = SIZE, Default("\"4 MiB\"");
    }
}

table! {
    /// Cross-layer information: how a hop's rate and blockages are told to the ends of a flow.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct LinkInfoSettings {
        own {
            /// Who tells; a hop of the flow's path.
            source: LinkInfoSource,
        }
        /// The link or bearer that tells; the direction that the data takes. A UE or a cell tells of
        /// its radio: when it is cut off by a blockage, an outage or a beam failure.
        "link" = Shape::Reference, Required;
        /// Signalling delay, from the event to the notice at either end.
        delay: Span = TIME, Default("\"0 s\"");
        /// How long before its beginning a blockage is predicted; the notice takes the delay.
        /// Without it nothing is predicted.
        prediction: Option<Span> = POSITIVE_TIME, Optional;
        /// Standard deviation of a predicted beginning and of a predicted length, normally
        /// distributed.
        error: Span = TIME, Default("\"0 s\"");
    }
}
