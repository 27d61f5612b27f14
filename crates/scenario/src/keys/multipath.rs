//! The keys of a Multipath TCP connection.

use super::*;

/// Most paths of a connection.
pub(crate) const MAX_PATHS: usize = 8;

pub(super) static MULTIPATH: &[Key] = &[
    key(
        "paths",
        Shape::List(&Shape::AnyOf(&[
            Shape::List(&Shape::Reference),
            Shape::Table(PATH),
        ])),
        Required,
        "The paths, each a list of links from the sender to the receiver, or a table; the first \
         opens the connection.",
    ),
    key(
        "path-scheduler",
        Shape::Named {
            kind: "path-scheduler",
            tag: "name",
        },
        FirstOfKind,
        "Which path carries the next data.",
    ),
    key(
        "coupling",
        Shape::Named {
            kind: "coupling",
            tag: "name",
        },
        FirstOfKind,
        "How the paths' congestion windows depend on each other.",
    ),
    key(
        "join-delay",
        TIME,
        Default("\"0 s\""),
        "From the connection's establishment to the first join.",
    ),
    key(
        "opportunistic-retransmission",
        Shape::Bool,
        Optional,
        "Whether the head of the line is sent again on a faster path when the receive window is \
         full; on without it, but for the scheduler `linux`.",
    ),
    key(
        "penalisation",
        Shape::Bool,
        Optional,
        "Whether the window of the slower path is then halved; on without it, but for the \
         scheduler `linux`.",
    ),
    key(
        "maximum-send-buffer",
        SIZE,
        Default("\"4 MiB\""),
        "Most memory that a path's send buffer grows to under the scheduler `linux` (tcp_wmem[2]); \
         a full segment takes 4352 bytes of it in sizing.",
    ),
];

static PATH: &[Key] = &[
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
