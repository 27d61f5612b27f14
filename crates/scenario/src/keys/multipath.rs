//! The keys of a Multipath TCP connection.

use super::*;

/// Most paths of a connection.
pub(crate) const MAX_PATHS: usize = 8;

/// The keys of a path.
pub(crate) static PATH: &[Key] = &[
    key(
        "links",
        Shape::List(&Shape::Reference),
        Required,
        "The links from the sender to the receiver.",
    ),
    key(
        "backup",
        Shape::Bool,
        Default("false"),
        "Whether it is used only while no regular path works.",
    ),
    key(
        "backup-changes",
        Shape::List(&TIME),
        Optional,
        "Times at which `backup` turns to the other value, in order; the peer is told by MP_PRIO.",
    ),
    key(
        "announced",
        Shape::Bool,
        Default("false"),
        "Whether the opening end joins it only once the other end announces it, by ADD_ADDR on \
         another path; without it both ends know it.",
    ),
    key("from", TIME, Default("\"0 s\""), "When the path comes up."),
    key(
        "until",
        TIME,
        Optional,
        "When the path goes away for good; never without it.",
    ),
];
