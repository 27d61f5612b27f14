//! Configuration of a radio access as plain values, and errors in it. All other modules of the
//! radio crate may use this module. This module uses none of them.
//!
//! Ids are indices: [`CellId`](fadeout_core::CellId) into [`RadioConfig::cells`],
//! [`UeId`](fadeout_core::UeId) into [`RadioConfig::ues`], [`DrbId`](fadeout_core::DrbId) into
//! [`RadioConfig::bearers`].

mod beam_failure;
mod bearer;
mod cell;
mod channels;
mod check;
mod co_sited;
mod conditional;
mod env;
mod error;
mod event;
mod gap;
mod ltm;
mod mobility;
mod rach_less;
mod ramping;
mod recorded;
mod scope;
mod secondary_node;
mod split;
mod states;
pub mod technology;
mod ue;

pub use beam_failure::{BeamMonitoring, DedicatedRecovery};
pub use bearer::BearerConfig;
pub use cell::{
    Adaptation, AirInterface, CellConfig, CellHarqConfig, ConfiguredGrant, Division, Rank,
    ReportedAdaptation, Sharing, UplinkPower,
};
pub(crate) use channels::Channels;
pub(crate) use check::{check, check_bearer};
pub(crate) use co_sited::co_sited;
pub use conditional::{ConditionalConfig, MOST_CANDIDATES};
pub(crate) use env::{Env, LegId, NO_SLOT, Rnti, Shape};
pub use error::RadioError;
pub use event::{EventKind, MeasurementEvent};
pub(crate) use gap::Gaps;
pub use gap::MeasurementGaps;
pub use ltm::{EarlySync, LtmConfig};
pub use mobility::{
    AccessConfig, BicastStart, CellChange, DataForwarding, Interface, MobilityConfig, Monitoring,
    ProcedureConfig, Sampling, Signalling,
};
pub(crate) use mobility::{Fate, Route};
pub use rach_less::{FirstGrant, RachLess, TargetTiming};
pub use ramping::PowerRamping;
pub use recorded::RecordedPath;
pub(crate) use recorded::check_recorded;
pub use scope::Scope;
pub use secondary_node::{SecondaryAfterFailure, SecondaryAtHandover, SecondaryNodeConfig};
pub(crate) use split::LEG_NUMBERS;
pub use split::{CarrierLegs, LegChoice, MOST_LEGS, SplitConfig};
pub use states::{ReleasedState, StatesConfig};
pub use ue::{Aggregation, FixedSinr, HighestModulation, MOST_SECONDARY_CELLS, Serving, UeConfig};

/// All cells, UEs and bearers of a scenario.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RadioConfig {
    /// Cells.
    pub cells: Vec<CellConfig>,
    /// UEs. Each is one radio interface of a node, so a node with LTE and mmWave interfaces has two
    /// entries.
    pub ues: Vec<UeConfig>,
    /// Bearers that exist from the start.
    pub bearers: Vec<BearerConfig>,
}
