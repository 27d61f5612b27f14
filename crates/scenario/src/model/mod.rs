//! The resolved scenario: every default filled in, every name looked up, every value in its unit.
//!
//! `sim` builds its world from these structs. They are plain data; what a key means and which
//! values are allowed stands with the struct that it becomes.

mod beam_failure;
mod blockage;
mod budget;
mod channel_file;
mod conditional;
mod file;
mod flow;
mod handover;
mod link;
mod mobility;
mod node;
mod prediction;
mod probe;
mod rab;
mod radio;
mod schedule;
mod secondary_node;
mod split;
mod states;
mod switching;
mod vehicles;
mod worlds;

pub use blockage::{
    Blockage, BlockageDepth, BlockageEffect, Blocker, Directions, Distances, HoldLimit, InBetween,
};
pub use budget::{McsTable, Radio};
pub use channel_file::ChannelFile;
pub use conditional::{ConditionKind, ExecutionCondition, HandoverProcedure};
pub use fadeout_core::agreed::{
    BeamPrediction, CarFollowing, Changes, GapRule, Interpolation, LineOfSight, Outside,
    ReleasedState,
};
pub use file::File;
pub(crate) use file::read_bounded;
pub(crate) use flow::Arrivals;
pub use flow::{Flow, FlowPath, LinkInfoSettings, LinkInfoSource, Multipath};
pub use handover::{Handover, HandoverFate, HandoverSignalling, TargetOrder};
pub use link::{
    DelayModel, GilbertElliott, Link, LinkDirection, Loss, LostArrivals, Queue, QueueLimit,
    RateModel,
};
pub use mobility::{
    EventKind, HandoverData, HandoverPreparation, MeasurementEvent, MobilityManagement,
};
pub use node::{Node, PathManager};
pub use prediction::{BlockagePrediction, Knowledge, Regions};
pub(crate) use probe::Probe;
pub use rab::{Rab, RabDirection, RabQueue};
pub(crate) use radio::bearers;
pub use radio::{
    Bearer, Building, Cell, Channel, Drb, Movement, MovementFormat, MovementTrace, Penetration, Ue,
    Waypoint,
};
pub use schedule::{Phase, Schedule};
pub use secondary_node::{SecondaryAfterFailure, SecondaryAtHandover, SecondaryNode};
pub use split::{Duplication, DuplicationChange, LegChoice, Split, SplitPath};
pub use states::RrcStates;
pub use switching::{EarlySynchronisation, TargetAdvance};
pub use vehicles::{Road, VehicleGroup, VehicleType};
pub use worlds::Worlds;

pub use fadeout_core::{ProbeSettings, RadioSubject, Sampling};

use fadeout_core::registry::Parameters;
use fadeout_core::{NodeId, Span};

/// A whole scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// The title, for figures; may be empty.
    pub title: String,
    /// How long to simulate.
    pub duration: Span,
    /// Seed of every random stream.
    pub seed: u64,
    /// How it is divided for several cores.
    pub worlds: Worlds,
    /// Nodes; a [`NodeId`] is an index into this list.
    pub nodes: Vec<Node>,
    /// Links, in the order of the file.
    pub links: Vec<Link>,
    /// Bearers of 2G and 3G, in the order of the file.
    pub rabs: Vec<Rab>,
    /// Cells, in the order of the file.
    pub cells: Vec<Cell>,
    /// Groups of vehicles, in the order of the file.
    pub vehicles: Vec<VehicleGroup>,
    /// Radio interfaces, in the order of the file, `count` already expanded.
    pub ues: Vec<Ue>,
    /// Handover of UEs; without it each stays in its cell.
    pub mobility: Option<MobilityManagement>,
    /// Prediction of blockages; without it `link-info` makes its own.
    pub prediction: Option<BlockagePrediction>,
    /// Handovers between links and bearers of 2G and 3G, in the order of the file.
    pub handovers: Vec<Handover>,
    /// Buildings, in the order of the file.
    pub buildings: Vec<Building>,
    /// Channels that files describe, in the order of the file.
    pub channel_files: Vec<ChannelFile>,
    /// Blockages, in the order of the file.
    pub blockages: Vec<Blockage>,
    /// Flows, in the order of the file, `count` already expanded.
    pub flows: Vec<Flow>,
    /// The settings of recording.
    pub probe: ProbeSettings,
    /// The files that it names, by path.
    pub files: Vec<File>,
}

/// An entry of the catalog with the parameters that the scenario gives it.
#[derive(Debug, Clone, PartialEq)]
pub struct Named {
    /// Canonical name, also where the scenario uses an alias.
    pub name: String,
    /// The parameters that the scenario gives; the rest keep their defaults.
    pub parameters: Parameters,
}

/// A link, a radio access bearer or a radio bearer: it carries packets between two nodes.
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
    /// The medium that is crossed.
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

    /// The name of a medium in the file.
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

    /// The name of the source of link information in the file.
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
