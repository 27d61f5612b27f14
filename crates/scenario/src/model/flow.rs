//! Flows: their applications, their paths, and the link information that their ends receive.

use super::{Hop, Medium, Named};
use crate::build::Builder;
use crate::keys::{MAX_FLOWS, POSITIVE_TIME, PROBABILITY, SIZE, TIME};
use crate::read::{Content, Fields, Item};
use crate::shape::Presence::{Default, FirstOfKind, Optional, Required};
use crate::shape::{Presence, Range, Shape};
use crate::table::{KeyValue, key_table, nested};
use fadeout_core::registry::Parameters;
use fadeout_core::{Bytes, DistributionKind, NodeId, Span, Time};
use serde_json::{Value, json};

/// Presence of keys whose default is that of a path of a multipath connection.
const PATH: Presence = Presence::OfPart("multipath-path");

key_table! {
    /// A transport connection with its application.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Flow {
        own {
            /// Name of the flow: as in the file, or with `-0`, `-1`, … if the file gives a `count`.
            name: String,
            /// Node that sends the data.
            from: NodeId,
            /// Node that receives the data.
            to: NodeId,
            /// Route from the sender to the receiver. None if the scenario gives no route.
            route: Option<Vec<Hop>>,
            /// Paths of a Multipath TCP or QUIC connection. None for a flow with one path.
            multipath: Option<Multipath>,
            /// Link information: notices that a hop of the path sends to both ends. None without
            /// notices.
            link_info: Option<LinkInfoSettings>,
        }
        /// Node that sends the data. If it is a UE with a `count`, there is one flow for each of
        /// its nodes, called NAME-0, NAME-1, ….
        "from" = Shape::Reference, Required;
        /// Node that receives the data.
        "to" = Shape::Reference, Required;
        /// Links and radio interfaces that the data crosses, in order. Packets in the other
        /// direction take the reverse route. Default: the route with the fewest hops.
        "route" = Shape::List(&Shape::Reference), Optional;
        /// Time at which the connection opens.
        start: Time = TIME, Default("\"0 s\"");
        /// Number of flows to make, called NAME-0, NAME-1, …. Default: one flow, called NAME.
        "count" = Shape::Integer { min: 1, max: MAX_FLOWS }, Optional;
        /// Time between the starts of two consecutive flows of a `count`. Default: all flows start
        /// together.
        "start-spacing" = TIME, Optional;
        /// Application of the flow. It determines the sizes and times of the data that the flow
        /// sends.
        application: Named = Shape::Named { kind: "application", tag: "kind" }, FirstOfKind;
        /// Transport stack of both ends.
        profile: String = Shape::NameOf("profile"), FirstOfKind;
        /// Parameters of the transport stack that replace those of the `profile`.
        tcp: Parameters = Shape::ParametersOf { kind: "profile", by: "profile" }, Optional;
        /// Transport in place of the TCP or UDP of the application. With `port`, both ends of the
        /// flow are outside of the simulation: the caller of the simulation sends and receives the
        /// datagrams. Such a flow has no application. With `quic`, the application runs over QUIC
        /// in place of TCP. Default: the protocol of the application.
        transport: Option<Named> = Shape::Named { kind: "transport", tag: "kind" }, Optional;
        /// Congestion control of the data sender. Default: the one of the `profile`.
        congestion_control: Option<Named> =
            Shape::Named { kind: "congestion-control", tag: "name" }, Optional;
        /// Poisson process of flows, called NAME-0, NAME-1, …, in place of a single flow. Flows
        /// arrive from `start` to the end of the run. Each flow has a transfer size of its own.
        "arrivals" = Shape::Table(Arrivals::KEYS), Optional;
        /// Paths and scheduler of a Multipath TCP or QUIC connection. Default: the flow has one
        /// path.
        "multipath" = Shape::Table(Multipath::KEYS), Optional;
        /// Cross-layer information: a hop of the path notifies both ends of its rate and its
        /// blockages. Some congestion controls and transport options use these notices. Default: no
        /// notices.
        "link-info" = Shape::Table(LinkInfoSettings::KEYS), Optional;
    }
}

impl Flow {
    /// Keys of applications and their connections. A flow with a port has none of them.
    const KEYS_OF_APPLICATIONS: [&str; 9] = [
        "application",
        "profile",
        "tcp",
        "congestion-control",
        "multipath",
        "link-info",
        "arrivals",
        "start",
        "start-spacing",
    ];
    /// Keys of TCP connections. A flow over QUIC has none of them.
    const KEYS_OF_TCP: [&str; 3] = ["profile", "tcp", "link-info"];

    /// True if both ends of the flow are outside of the simulation.
    pub fn has_port(&self) -> bool {
        (self.transport.as_ref()).is_some_and(|transport| transport.name == "port")
    }

    /// True if the flow is a QUIC connection.
    pub fn is_quic(&self) -> bool {
        (self.transport.as_ref()).is_some_and(|transport| transport.name == "quic")
    }

    /// Keys of Multipath TCP. The `multipath` of a flow over QUIC has none of them.
    pub(crate) const KEYS_OF_MULTIPATH_TCP: [&str; 6] = [
        "path-scheduler",
        "coupling",
        "opportunistic-retransmission",
        "penalisation",
        "maximum-send-buffer",
        "signal-repeats",
    ];

    /// Returns the keys that a flow with the named transport may not have.
    pub(crate) fn keys_without_effect(transport: &str) -> &'static [&'static str] {
        match transport {
            "quic" => &Flow::KEYS_OF_TCP,
            _ => &Flow::KEYS_OF_APPLICATIONS,
        }
    }
}

key_table! {
    /// A Poisson process of flows.
    #[derive(Debug, Clone, Copy)]
    pub(crate) struct Arrivals {
        own {}
        /// Mean number of flows that arrive in a second. The times between arrivals are
        /// exponentially distributed.
        rate: f64 = Shape::Number(Range::positive(1e6)), Required;
        /// Mean transfer size of a flow. It replaces the `size` of the application.
        size: f64 = SIZE, Required;
        /// Distribution of the transfer sizes.
        distribution: DistributionKind = Shape::Choice(&[
            ("constant", "Every flow has the mean size."),
            ("exponential", "Exponential distribution."),
            ("uniform", "Uniform distribution from zero to twice the mean."),
            ("pareto", "Pareto distribution. `shape` is its tail index, above 1."),
            (
                "log-normal",
                "Log-normal distribution. `shape` is the standard deviation of the logarithm.",
            ),
        ]), Default("\"constant\"");
        /// Shape of a `pareto` or `log-normal` distribution of sizes.
        shape: f64 = Shape::Number(Range::closed(0.1, 10.0)), Default("1.5");
    }
}

nested!(Arrivals);

impl KeyValue for DistributionKind {
    fn from_item(item: &Item, _: &mut Builder<'_, '_>) -> Option<Self> {
        match item.content {
            Content::Word(word) => DistributionKind::from_name(word),
            _ => None,
        }
    }
    fn written(&self, _: &Shape) -> Option<Value> {
        Some(json!(self.name()))
    }
}

/// Hop of a flow's path that sends link information to both ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LinkInfoSource {
    /// Hop over a link or bearer.
    Medium(Medium),
    /// The radio bearer of the flow's UE in a cell. The value is an index into
    /// [`Scenario::cells`](super::Scenario::cells).
    Cell(usize),
}

key_table! {
    /// A path of a multipath connection.
    #[derive(Debug, Clone, PartialEq)]
    pub struct FlowPath {
        own {
            /// Hops of the path from the flow's sender to its receiver.
            hops: Vec<Hop>,
        }
        check = FlowPath::in_order;
        /// Links and bearers of the path, in order from the sender to the receiver.
        "links" = Shape::List(&Shape::Reference), Required;
        /// True if the path is used only while no regular path works.
        backup: bool = Shape::Bool, PATH;
        /// Times at which `backup` changes to the opposite value, in order. The end that opens the
        /// connection informs the peer of each change by an MP_PRIO option, or by a PATH_STATUS
        /// frame in QUIC.
        backup_changes: Vec<Time> = Shape::List(&TIME), Optional;
        /// True if the opening end joins the path only after the peer has announced it by an
        /// ADD_ADDR option on another path. If false, both ends know the path from the start.
        announced: bool = Shape::Bool, PATH;
        /// Time at which the path becomes usable.
        from: Time = TIME, PATH;
        /// Time at which the end that opens the connection removes the path, as when it leaves a
        /// network. This end informs the peer by a REMOVE_ADDR option. Default: never.
        until: Option<Time> = TIME, Optional;
    }
}

impl FlowPath {
    fn in_order(self, fields: &Fields, builder: &mut Builder<'_, '_>) -> Option<Self> {
        if self.until.is_some_and(|until| until <= self.from) {
            let message = "the path fails before it becomes usable";
            builder.mistake(fields.place_of("until"), message, "a time after `from`");
        }
        let changes = self.backup_changes.windows(2);
        for (pair, item) in changes.zip(fields.list("backup-changes").iter().skip(1)) {
            if pair[1] <= pair[0] {
                let message = "this change of `backup` is not after the previous one";
                builder.mistake(item.place, message, "times in increasing order");
            }
        }
        Some(self)
    }
}

key_table! {
    /// The paths and the scheduler of a Multipath TCP or QUIC connection. A flow over QUIC has
    /// `paths` and `join-delay` only, because its stack has a scheduler of its own.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Multipath {
        own {
            /// Paths of the connection. The connection is opened on the first path.
            paths: Vec<FlowPath>,
        }
        /// Paths of the connection. Each path is a list of links from the sender to the receiver,
        /// or a table. The connection is opened on the first path.
        "paths" = Shape::List(&Shape::AnyOf(&[
            Shape::List(&Shape::Reference),
            Shape::Table(FlowPath::KEYS),
        ])), Required;
        /// Scheduler that chooses the path on which data is sent next.
        path_scheduler: Named =
            Shape::Named { kind: "path-scheduler", tag: "name" }, FirstOfKind;
        /// Coupling of the congestion windows of the paths.
        coupling: Named = Shape::Named { kind: "coupling", tag: "name" }, FirstOfKind;
        /// Time from the establishment of the connection to the join of the second path.
        join_delay: Span = TIME, Default("\"0 s\"");
        /// Number of times that the signals MP_PRIO and REMOVE_ADDR are repeated, at intervals of
        /// the retransmission timeout. The peer does not confirm these signals, so a lost one stays
        /// unheard. Linux does not repeat them.
        signal_repeats: u32 = Shape::Integer { min: 0, max: 100 }, Default("0");
        /// True if the sender resends the oldest unacknowledged data on a faster path when the
        /// receive window is full. Default: true, but false with the path scheduler `linux`.
        opportunistic_retransmission: Option<bool> = Shape::Bool, Optional;
        /// True if the sender halves the congestion window of a slow path that holds up a full
        /// receive window. Default: true, but false with the path scheduler `linux`.
        penalisation: Option<bool> = Shape::Bool, Optional;
        /// Largest memory of a path's send buffer with the path scheduler `linux` (the third value
        /// of `tcp_wmem`). A full segment needs 4352 bytes of it.
        maximum_send_buffer: Bytes = SIZE, Default("\"4 MiB\"");
    }
}

key_table! {
    /// Cross-layer information: notices of a hop's rate and blockages to the ends of a flow.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct LinkInfoSettings {
        own {
            /// Hop of the flow's path that sends the notices.
            source: LinkInfoSource,
        }
        /// Link, bearer, UE or cell that sends the notices, in the direction of the data. A UE or
        /// cell reports when a blockage, an outage or a beam failure interrupts its radio link.
        "link" = Shape::Reference, Required;
        /// Signalling delay: time from an event at the link until each end of the flow receives the
        /// notice.
        delay: Span = TIME, Default("\"0 s\"");
        /// Time before the start of a blockage at which it is predicted. The notice arrives `delay`
        /// later. Default: no predictions.
        prediction: Option<Span> = POSITIVE_TIME, Optional;
        /// Standard deviation of the error in the predicted start and length of a blockage. Errors
        /// are normally distributed.
        error: Span = TIME, Default("\"0 s\"");
        /// Probability that a notice is lost, drawn for each notice and each end. Lost notices are
        /// not repeated.
        loss: f64 = PROBABILITY, Default("0.0");
        /// True if a UE under mobility management also reports its downlink rate: its even share of
        /// the rate of its cell. It reports the rate at a measurement if it changed by 5 %, and in
        /// a new cell. Between cells the rate is zero. Links always report their rate.
        rates: bool = Shape::Bool, Default("false");
    }
}
