//! Flows: what they send, over which paths, and who tells them of their links.

use super::{Hop, Medium, Named};
use crate::build::Builder;
use crate::keys::{MAX_FLOWS, POSITIVE_TIME, PROBABILITY, SIZE, TIME};
use crate::read::{Content, Fields, Item};
use crate::shape::Presence::{Default, FirstOfKind, Optional, Required};
use crate::shape::{Presence, Range, Shape};
use crate::table::{KeyValue, nested, table};
use fadeout_core::registry::Parameters;
use fadeout_core::{Bytes, DistributionKind, NodeId, Span, Time};
use serde_json::{Value, json};

/// The defaults of a path of a multipath connection.
const PATH: Presence = Presence::OfPart("multipath-path");

table! {
    /// One transport connection with its application.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Flow {
        own {
            /// Its name: as in the file, or with `-0`, `-1`, … when the file gives a `count`.
            name: String,
            /// The data sender.
            from: NodeId,
            /// The data receiver.
            to: NodeId,
            /// The way from sender to receiver, when it is given.
            route: Option<Vec<Hop>>,
            /// Its paths, when it is a Multipath TCP connection.
            multipath: Option<Multipath>,
            /// The notices that a link on its path gives its ends.
            link_info: Option<LinkInfoSettings>,
        }
        /// Node that sends the data. A UE with a `count` makes a flow for each of its nodes, called
        /// NAME-0, NAME-1, ….
        "from" = Shape::Reference, Required;
        /// Node that receives the data.
        "to" = Shape::Reference, Required;
        /// Links and radio interfaces that the data crosses, in order; what comes back takes them
        /// the other way. Without it the fewest hops.
        "route" = Shape::List(&Shape::Reference), Optional;
        /// When the connection opens.
        start: Time = TIME, Default("\"0 s\"");
        /// This many flows, called NAME-0, NAME-1, … instead of one.
        "count" = Shape::Integer { min: 1, max: MAX_FLOWS }, Optional;
        /// Distance between the starts of two of the `count`; all start together without it.
        "start-spacing" = TIME, Optional;
        /// The application, which decides what the flow sends and when.
        application: Named = Shape::Named { kind: "application", tag: "kind" }, FirstOfKind;
        /// Which transport stack the ends use.
        profile: String = Shape::NameOf("profile"), FirstOfKind;
        /// The constants that differ from the profile's.
        tcp: Parameters = Shape::ParametersOf { kind: "profile", by: "profile" }, Optional;
        /// The sender's congestion control; without it the profile's.
        congestion_control: Option<Named> =
            Shape::Named { kind: "congestion-control", tag: "name" }, Optional;
        /// Flows that arrive at random times from `start` to the end of the run, called NAME-0,
        /// NAME-1, … instead of one; each with an application of its own size.
        "arrivals" = Shape::Table(Arrivals::KEYS), Optional;
        /// Makes the flow a Multipath TCP connection over several paths.
        "multipath" = Shape::Table(Multipath::KEYS), Optional;
        /// Cross-layer information: a hop of the path tells both ends its rate and its blockages.
        /// Schemes that use it say so; without the key nobody is told.
        "link-info" = Shape::Table(LinkInfoSettings::KEYS), Optional;
    }
}

table! {
    /// A Poisson process of flows.
    #[derive(Debug, Clone, Copy)]
    pub(crate) struct Arrivals {
        own {}
        /// Mean number of arrivals in a second; the gaps are exponential (a Poisson process).
        rate: f64 = Shape::Number(Range::positive(1e6)), Required;
        /// Mean size, for the application's `size`.
        size: f64 = SIZE, Required;
        /// Distribution of sizes.
        distribution: DistributionKind = Shape::Choice(&[
            ("constant", "Every size is the mean."),
            ("exponential", "Exponential."),
            ("uniform", "Uniform from zero to twice the mean."),
            ("pareto", "Pareto; `shape` is its tail index, above 1."),
            (
                "log-normal",
                "Log-normal; `shape` is the standard deviation of the logarithm.",
            ),
        ]), Default("\"constant\"");
        /// Shape of a Pareto or log-normal distribution.
        shape: f64 = Shape::Number(Range::closed(0.1, 10.0)), Default("1.5");
    }
}

nested!(Arrivals);

impl KeyValue for DistributionKind {
    fn of(item: &Item, _: &mut Builder<'_, '_>) -> Option<Self> {
        match item.content {
            Content::Word(word) => DistributionKind::from_name(word),
            _ => None,
        }
    }
    fn written(&self, _: &Shape) -> Option<Value> {
        Some(json!(self.name()))
    }
}

/// Which hop of a flow's path tells its ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LinkInfoSource {
    /// The one that crosses this link or bearer.
    Medium(Medium),
    /// The radio bearer that this cell serves, an index into
    /// [`Scenario::cells`](super::Scenario::cells).
    Cell(usize),
}

table! {
    /// One path of a multipath connection.
    #[derive(Debug, Clone, PartialEq)]
    pub struct FlowPath {
        own {
            /// Its links from the flow's sender to its receiver.
            hops: Vec<Hop>,
        }
        check = FlowPath::in_order;
        /// The links from the sender to the receiver.
        "links" = Shape::List(&Shape::Reference), Required;
        /// Whether it is used only while no regular path works.
        backup: bool = Shape::Bool, PATH;
        /// Times at which `backup` turns to the other value, in order; the peer is told by MP_PRIO.
        backup_changes: Vec<Time> = Shape::List(&TIME), Optional;
        /// Whether the opening end joins it only once the other end announces it, by ADD_ADDR on
        /// another path; without it both ends know it.
        announced: bool = Shape::Bool, PATH;
        /// When the path comes up.
        from: Time = TIME, PATH;
        /// When the path goes away for good; never without it.
        until: Option<Time> = TIME, Optional;
    }
}

impl FlowPath {
    fn in_order(self, fields: &Fields, builder: &mut Builder<'_, '_>) -> Option<Self> {
        if self.until.is_some_and(|until| until <= self.from) {
            let message = "the path goes away before it comes up";
            builder.mistake(fields.place_of("until"), message, "a time after `from`");
        }
        let changes = self.backup_changes.windows(2);
        for (pair, item) in changes.zip(fields.list("backup-changes").iter().skip(1)) {
            if pair[1] <= pair[0] {
                let message = "a change of `backup` that is not after the one before it";
                builder.mistake(item.place, message, "times in order");
            }
        }
        Some(self)
    }
}

table! {
    /// The paths and the scheduler of a flow that is a Multipath TCP connection.
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
            Shape::Table(FlowPath::KEYS),
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
        /// (the third value of `tcp_wmem`); a full segment takes 4352 bytes of it in sizing.
        maximum_send_buffer: Bytes = SIZE, Default("\"4 MiB\"");
    }
}

table! {
    /// Cross-layer information: how a hop's rate and blockages are told to the ends of a flow.
    #[derive(Debug, Clone, Copy, PartialEq)]
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
        /// Probability that a notice does not reach an end, drawn for each notice and for each end. Nobody repeats it.
        loss: f64 = PROBABILITY, Default("0.0");
        /// Whether a UE under mobility management tells its rate too, of data that comes down: its even share of what its cell
        /// sends, when it measures and has changed by 5 %, and when it is in another cell; zero in between. Links tell theirs
        /// in any case.
        rates: bool = Shape::Bool, Default("false");
    }
}
