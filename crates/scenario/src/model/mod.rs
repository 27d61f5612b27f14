//! The resolved scenario: every default filled in, every name looked up, every value in its unit.
//!
//! `sim` builds its world from these structs. They are plain data; what a key means and which
//! values are allowed stands with the keys of the file format, in `keys`.

mod budget;
mod flow;
mod rab;
mod radio;

pub use budget::{McsTable, Radio};
pub use flow::{LinkInfoSettings, Multipath};
pub use rab::{Rab, RabDirection};
pub(crate) use radio::{BUILDING, bearers};
pub use radio::{
    Bearer, Building, Cell, Channel, Drb, LineOfSight, Movement, MovementFormat, MovementTrace, Ue,
    Waypoint,
};

pub use fadeout_core::{ProbeSettings, RadioSubject, Sampling};

use crate::keys::{LENGTH, LENGTH_OR_ZERO};
use crate::shape::Presence::{self, Required};
use crate::shape::Shape;
use crate::table::{table, words};
use fadeout_core::registry::Parameters;
use fadeout_core::{Bytes, Decibel, Meters, NodeId, Rate, Span, Time};
use std::sync::Arc;

/// A whole scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// What the scenario is about, for figures; may be empty.
    pub title: String,
    /// How long to simulate.
    pub duration: Span,
    /// Seed of every random stream.
    pub seed: u64,
    /// Nodes; a [`NodeId`] is an index into this list.
    pub nodes: Vec<Node>,
    /// Links, in the order of the file.
    pub links: Vec<Link>,
    /// Bearers of 2G and 3G, in the order of the file.
    pub rabs: Vec<Rab>,
    /// Cells, in the order of the file.
    pub cells: Vec<Cell>,
    /// Radio interfaces, in the order of the file, `count` already expanded.
    pub ues: Vec<Ue>,
    /// Buildings, in the order of the file.
    pub buildings: Vec<Building>,
    /// Blockages, in the order of the file.
    pub blockages: Vec<Blockage>,
    /// Flows, in the order of the file, `count` already expanded.
    pub flows: Vec<Flow>,
    /// What is recorded.
    pub probe: ProbeSettings,
}

/// A host or router.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Its name in the file.
    pub name: String,
}

/// A link between two nodes, with its two directions.
#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    /// Its name in the file.
    pub name: String,
    /// Where the forward direction starts.
    pub from: NodeId,
    /// Where the forward direction ends.
    pub to: NodeId,
    /// The direction `from` → `to`.
    pub forward: LinkDirection,
    /// The direction `to` → `from`.
    pub reverse: LinkDirection,
}

/// One direction of a link.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkDirection {
    /// How fast it sends.
    pub rate: RateModel,
    /// Propagation delay, after transmission.
    pub delay: DelayModel,
    /// Largest extra delay; drawn uniformly from zero to this.
    pub jitter: Span,
    /// Whether packets keep their order where jitter or a shorter delay would let one overtake.
    pub keeps_order: bool,
    /// When a change of rate or delay begins to count.
    pub changes: Changes,
    /// Bytes that each packet takes on the link besides its IP packet.
    pub framing: Bytes,
    /// The queue in front of the transmitter.
    pub queue: Queue,
    /// Loss on arrival.
    pub loss: Loss,
}

/// A rate over time.
#[derive(Debug, Clone, PartialEq)]
pub enum RateModel {
    /// The same rate for ever; may be [`Rate::UNLIMITED`].
    Constant(Rate),
    /// The rate steps at given instants.
    Steps {
        /// Start of each step and its rate; the first starts at zero, instants increase strictly.
        steps: Vec<(Time, Rate)>,
        /// After this long the steps start over; longer than the last instant.
        repeat_every: Option<Span>,
    },
    /// Full rate while on, nothing while off.
    OnOff {
        /// The rate while on.
        rate: Rate,
        /// When it is off.
        off: Schedule,
    },
    /// Delivery opportunities from a mahimahi trace file.
    Trace(Trace),
    /// Measured rates from a file.
    Series(Series),
    /// The rate that a radio link budget gives.
    Radio(Radio),
}

impl RateModel {
    /// The radio parameters, when the rate comes from a link budget.
    pub fn radio(&self) -> Option<&Radio> {
        match self {
            RateModel::Radio(radio) => Some(radio),
            _ => None,
        }
    }
}

/// A trace file as it was read; `link` parses it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// Path as the scenario writes it.
    pub path: String,
    /// The file's bytes.
    pub bytes: Arc<[u8]>,
    /// Whether it starts over at its end.
    pub repeat: bool,
}

/// A delay over time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DelayModel {
    /// The same delay for ever.
    Constant(Span),
    /// The delay steps at given instants.
    Steps {
        /// Start of each step and its delay; the first starts at zero, instants increase strictly.
        steps: Vec<(Time, Span)>,
        /// After this long the steps start over; longer than the last instant.
        repeat_every: Option<Span>,
    },
    /// Measured delays from a file.
    Series(Series),
}

words! {
    /// When a change of a link's rate or delay begins to count.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Changes {
        /// What is queued is sent at the new rate, and what leaves the transmitter has the new
        /// delay.
        AtOnce = "at-once",
        /// What is queued or being sent keeps the rate and the delay of its arrival, as in netem.
        ForArrivals = "for-arrivals",
    }
}

/// A file of rates and delays over time as it was read; `link` parses it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Series {
    /// Path as the scenario writes it.
    pub path: String,
    /// The file's bytes.
    pub bytes: Arc<[u8]>,
    /// After this long it starts over.
    pub repeat_every: Option<Span>,
}

/// The queue in front of a transmitter.
#[derive(Debug, Clone, PartialEq)]
pub struct Queue {
    /// How much it holds.
    pub limit: QueueLimit,
    /// Whether the limit also counts packets in the delay line, as netem's does.
    pub counts_delay_line: bool,
    /// Which packets it drops or marks; of the catalog's kind "queue-discipline".
    pub discipline: Named,
}

/// How much a queue holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueueLimit {
    /// A number of packets.
    Packets(u64),
    /// A number of bytes.
    Bytes(Bytes),
    /// As many bytes as the link sends in this time: at its rate when that is constant, at its
    /// mean rate otherwise.
    Time(Span),
}

/// Loss, random or listed.
#[derive(Debug, Clone, PartialEq)]
pub enum Loss {
    /// None.
    None,
    /// Each packet alike, independently.
    Independent {
        /// Probability that a packet is lost.
        probability: f64,
    },
    /// Two states, good and bad, that may change before each packet.
    GilbertElliott {
        /// Probability to go from good to bad, per packet.
        to_bad: f64,
        /// Probability to go from bad to good, per packet.
        to_good: f64,
        /// Probability that a packet is lost in the good state.
        loss_good: f64,
        /// Probability that a packet is lost in the bad state.
        loss_bad: f64,
    },
    /// These arrivals, 1 the first, in increasing order.
    Arrivals(Vec<u64>),
    /// The arrivals that a file lists.
    ArrivalsOf {
        /// Path as the scenario writes it.
        path: String,
        /// The file's bytes; `link` parses them.
        bytes: Arc<[u8]>,
    },
}

/// A recurring interruption of a link.
#[derive(Debug, Clone, PartialEq)]
pub struct Blockage {
    /// Its name in the file.
    pub name: String,
    /// The link or bearer of 2G or 3G.
    pub medium: Medium,
    /// Which directions it hits.
    pub direction: Directions,
    /// When it happens.
    pub schedule: Schedule,
    /// What becomes of packets meanwhile.
    pub effect: BlockageEffect,
    /// How much of the link is left.
    pub depth: BlockageDepth,
}

words! {
    /// One direction of a link, or both.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Directions {
        /// both directions
        Both = "both",
        /// from the link's `from` to its `to`: a bearer's downlink
        Forward = "forward",
        /// from the link's `to` to its `from`: a bearer's uplink
        Reverse = "reverse",
    }
}

impl Directions {
    /// Whether the forward direction is among them.
    pub fn has_forward(self) -> bool {
        self != Directions::Reverse
    }
    /// Whether the reverse direction is among them.
    pub fn has_reverse(self) -> bool {
        self != Directions::Forward
    }
}

/// When something recurs: a blockage, or the off times of a link.
#[derive(Debug, Clone, PartialEq)]
pub enum Schedule {
    /// From `phase + k * period`, for `duration` each, k = 0, 1, 2, …
    Periodic {
        /// Distance between two starts.
        period: Span,
        /// Length of each; less than the period.
        duration: Span,
        /// Start of the first.
        phase: Phase,
    },
    /// Listed intervals, sorted and disjoint: start and end.
    Scripted(Vec<(Time, Time)>),
    /// Alternating exponential lengths, stationary from the start.
    Exponential {
        /// Mean length of a clear time.
        mean_clear: Span,
        /// Mean length of a blocked time.
        mean_blocked: Span,
    },
}

/// Start of the first period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// This long after the start of the run; less than the period.
    Fixed(Span),
    /// Drawn uniformly from `[0, period)` under the run's seed.
    Random,
}

/// What becomes of packets during a blockage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockageEffect {
    /// They wait and are delivered afterwards, as by RLC acknowledged mode.
    Held {
        /// How much may wait; without it the link's queue limit alone applies.
        limit: Option<HoldLimit>,
    },
    /// The link goes on sending and what it sends is lost, as without link-layer retransmission.
    Lost,
    /// Packets that arrive are dropped; the ones already inside go on.
    DroppedOnArrival,
}

/// How much may wait during a blockage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HoldLimit {
    /// A number of packets.
    Packets(u64),
    /// A number of bytes.
    Bytes(Bytes),
}

/// How much of the link is left during a blockage.
#[derive(Debug, Clone, PartialEq)]
pub enum BlockageDepth {
    /// Nothing.
    Total,
    /// What the link budget gives with this much additional loss; the link has a radio rate.
    Loss(Decibel),
    /// This rate, if it is less than the link's.
    Rate(Rate),
    /// What the link budget gives behind this blocker; the link has a radio rate.
    Geometry(Blocker),
}

table! {
    /// An upright rectangle between transmitter and receiver.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Blocker {
        own {
            /// Nearest and farthest distance from the receiver; drawn uniformly for each blockage,
            /// and fixed when both are equal.
            distance: (Meters, Meters),
        }
        /// Width across the path.
        width as "blocker-width": Meters = LENGTH, Required;
        /// Height above ground.
        height as "blocker-height": Meters = LENGTH, Required;
        /// Distance from the receiver; of a pair, nearest and farthest, one is drawn uniformly for
        /// each blockage.
        "blocker-distance" = Shape::AnyOf(&[LENGTH, Shape::Pair(&LENGTH, &LENGTH)]), Required;
        /// Distance of the blocker's centre from the path, sideways.
        offset as "blocker-offset": Meters = LENGTH_OR_ZERO, Presence::Default("\"0 m\"");
    }
}

/// One transport connection with its application.
#[derive(Debug, Clone, PartialEq)]
pub struct Flow {
    /// Its name: as in the file, or with `-0`, `-1`, … when the file gives a `count`.
    pub name: String,
    /// The data sender.
    pub from: NodeId,
    /// The data receiver.
    pub to: NodeId,
    /// The way from sender to receiver, when it is given.
    pub route: Option<Vec<Hop>>,
    /// When it opens.
    pub start: Time,
    /// What it sends; of the catalog's kind "application".
    pub application: Named,
    /// Which stack it uses; a canonical name of the catalog's kind "profile".
    pub profile: String,
    /// What differs from the profile.
    pub tcp: Parameters,
    /// Its congestion control; without it the profile's own.
    pub congestion_control: Option<Named>,
    /// Its paths, when it is a Multipath TCP connection.
    pub multipath: Option<Multipath>,
    /// What a link on its path tells its ends.
    pub link_info: Option<LinkInfoSettings>,
}

/// Which hop of a flow's path tells its ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LinkInfoSource {
    /// The one that crosses this link or bearer.
    Medium(Medium),
    /// The radio bearer that this cell serves, an index into [`Scenario::cells`].
    Cell(usize),
}

/// One path of a multipath connection.
#[derive(Debug, Clone, PartialEq)]
pub struct FlowPath {
    /// Its links from the flow's sender to its receiver.
    pub hops: Vec<Hop>,
    /// For use only while no regular path works.
    pub backup: bool,
    /// When that turns to the other, in order of time.
    pub backup_changes: Vec<Time>,
    /// Whether the opening end joins it only once the other announces it.
    pub announced: bool,
    /// When it comes up.
    pub from: Time,
    /// When it goes away for good; never without it.
    pub until: Option<Time>,
}

/// An entry of the catalog with the parameters that the scenario gives it.
#[derive(Debug, Clone, PartialEq)]
pub struct Named {
    /// Canonical name, also where the scenario uses an alias.
    pub name: String,
    /// What the scenario gives; the rest keep their defaults.
    pub parameters: Parameters,
}

/// What carries packets between two nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Medium {
    /// A link: an index into [`Scenario::links`].
    Link(usize),
    /// A bearer of 2G or 3G: an index into [`Scenario::rabs`].
    Rab(usize),
    /// A radio bearer of a UE: a position in [`Scenario::bearers`].
    RadioBearer(usize),
}

/// One step of a route: a medium, crossed in one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hop {
    /// What is crossed.
    pub medium: Medium,
    /// Whether it is crossed from its `to` to its `from`. Bearers go forward from the base station
    /// to the phone.
    pub is_reverse: bool,
}

impl Hop {
    /// The same medium in the other direction.
    pub fn reversed(self) -> Hop {
        Hop {
            is_reverse: !self.is_reverse,
            ..self
        }
    }
}

impl Scenario {
    /// The node called `name`.
    pub fn node(&self, name: &str) -> Option<NodeId> {
        self.nodes
            .iter()
            .position(|node| node.name == name)
            .map(|index| NodeId(index as u32))
    }

    /// What a medium is called in the file.
    pub fn medium_name(&self, medium: Medium) -> String {
        match medium {
            Medium::Link(link) => self.links[link].name.clone(),
            Medium::Rab(bearer) => self.rabs[bearer].name.clone(),
            Medium::RadioBearer(bearer) => {
                let bearer = self.bearers().nth(bearer);
                bearer.map_or_else(String::new, |bearer| bearer.name())
            }
        }
    }

    /// What the source of link information is called in the file.
    pub fn source_name(&self, source: LinkInfoSource) -> String {
        match source {
            LinkInfoSource::Medium(medium) => self.medium_name(medium),
            LinkInfoSource::Cell(cell) => self.cells[cell].name.clone(),
        }
    }

    /// The radio bearers: the default one of each UE, then the further ones.
    pub fn bearers(&self) -> impl Iterator<Item = Bearer<'_>> {
        radio::bearers(&self.ues)
    }
}
