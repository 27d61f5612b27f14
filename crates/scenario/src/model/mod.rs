//! Model of a resolved scenario: all defaults are filled in, names are looked up, and values have
//! their units.
//!
//! The crate `sim` builds its simulation from these structs, which are plain data. The meaning and
//! the allowed values of a key are declared with the struct that contains the key.

mod beam_failure;
mod blockage;
mod budget;
mod channel_file;
mod conditional;
mod equipment;
mod file;
mod flow;
mod handover;
mod link;
mod measurement;
mod mobility;
mod named;
mod node;
mod prediction;
mod probe;
mod rab;
mod radio;
mod route;
mod schedule;
mod secondary_node;
mod split;
mod states;
mod switching;
mod timetable;
mod trace;
mod vehicles;
mod worlds;

pub use blockage::{
    Blockage, BlockageDepth, BlockageEffect, Blocker, Directions, Distances, HoldLimit, InBetween,
};
pub use budget::{McsTable, Radio};
pub use channel_file::ChannelFile;
pub use conditional::{ConditionKind, ExecutionCondition, HandoverProcedure};
pub use equipment::EquipmentDelay;
pub use fadeout_core::agreed::{
    BeamPrediction, CarFollowing, Changes, GapRule, Interpolation, LineOfSight, Outside,
    ReleasedState,
};
pub use file::File;
pub(crate) use flow::Arrivals;
pub use flow::{Flow, FlowPath, LinkInfoSettings, LinkInfoSource, Multipath};
pub use handover::{Handover, HandoverFate, HandoverSignalling, TargetOrder};
pub use link::{
    DelayModel, DelayQuantity, GilbertElliott, Link, LinkDirection, Loss, LostArrivals, Queue,
    QueueLimit, RateModel, RateQuantity,
};
pub use measurement::{Beyond, Duplicates, MeasuredQuantities, Measurement, RowOrder};
pub use mobility::{
    EventKind, HandoverData, HandoverPreparation, MeasurementEvent, MobilityManagement,
};
pub use named::Named;
pub use node::{Node, PathManager};
pub use prediction::{BlockagePrediction, Knowledge, Regions};
pub(crate) use probe::Probe;
pub use rab::{Rab, RabDirection, RabQueue};
pub(crate) use radio::bearers;
pub use radio::{
    Bearer, Building, Cell, Channel, Drb, Modulation, Movement, Penetration, Ue, Waypoint,
};
pub use route::{Hop, Medium};
pub use schedule::{Phase, Schedule};
pub use secondary_node::{SecondaryAfterFailure, SecondaryAtHandover, SecondaryNode};
pub use split::{Duplication, DuplicationChange, LegChoice, Split, SplitPath};
pub use states::RrcStates;
pub use switching::{EarlySynchronisation, TargetAdvance};
pub use timetable::{ServingCells, TimetableEntry};
pub use trace::{MovementFormat, MovementTrace};
pub use vehicles::{Road, VehicleGroup, VehicleType};
pub use worlds::Worlds;

pub use fadeout_core::{ProbeSettings, RadioSubject, Sampling};

use fadeout_core::{NodeId, Span};

/// Complete scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// Title of the run's figures. It may be empty.
    pub title: String,
    /// Simulated duration of the run.
    pub duration: Span,
    /// Seed of all random streams.
    pub seed: u64,
    /// Division of the scenario into worlds that are simulated in parallel.
    pub worlds: Worlds,
    /// Nodes of the scenario. A [`NodeId`] is an index into this list.
    pub nodes: Vec<Node>,
    /// Links, in the order of the file.
    pub links: Vec<Link>,
    /// Bearers of 2G and 3G, in the order of the file.
    pub rabs: Vec<Rab>,
    /// Cells, in the order of the file.
    pub cells: Vec<Cell>,
    /// Groups of vehicles, in the order of the file.
    pub vehicles: Vec<VehicleGroup>,
    /// UEs, in the order of the file. The UEs of a `count` are listed one by one.
    pub ues: Vec<Ue>,
    /// Mobility management. `None` if each UE stays in its cell.
    pub mobility: Option<MobilityManagement>,
    /// Prediction of blockages. `None` if at most `link-info` predicts blockages.
    pub prediction: Option<BlockagePrediction>,
    /// Handovers between links and bearers of 2G and 3G, in the order of the file.
    pub handovers: Vec<Handover>,
    /// Buildings, in the order of the file.
    pub buildings: Vec<Building>,
    /// Measurements, in the order of the file.
    pub measurements: Vec<Measurement>,
    /// Channel files, in the order of the scenario file.
    pub channel_files: Vec<ChannelFile>,
    /// Blockages, in the order of the file.
    pub blockages: Vec<Blockage>,
    /// Flows, in the order of the file. The flows of a `count` are listed one by one.
    pub flows: Vec<Flow>,
    /// Settings of the recorded tables and captures.
    pub probe: ProbeSettings,
    /// All files that the scenario names, sorted by path.
    pub files: Vec<File>,
}

impl Scenario {
    /// Returns the node called `name`. `None` if there is none.
    pub fn node(&self, name: &str) -> Option<NodeId> {
        self.nodes
            .iter()
            .position(|node| node.name == name)
            .map(|index| NodeId(index as u32))
    }

    /// Returns the name of a link or bearer in the file.
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

    /// Returns the name in the file of a link, bearer or cell that sends link information.
    pub fn source_name(&self, source: LinkInfoSource) -> String {
        match source {
            LinkInfoSource::Medium(medium) => self.medium_name(medium),
            LinkInfoSource::Cell(cell) => self.cells[cell].name.clone(),
        }
    }

    /// Returns the radio bearers: first the default bearer of each UE, then all others.
    pub fn bearers(&self) -> impl Iterator<Item = Bearer<'_>> {
        radio::bearers(&self.ues)
    }
}
