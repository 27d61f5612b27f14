//! Clusters: groups of scattered paths with about the same delay and the same directions at both
//! ends.
//!
//! Beam gains, frequency selectivity and the effect of a blocker are all computed from the same
//! clusters. If power arrives from all sides, a narrow beam increases the received power only
//! slightly and receives few of the delays.
//!
//! Standard: TR 38.901 §7.5.

mod aim;
mod beams;
mod law;
mod link;
mod place;
mod scattering;

pub use law::ClusterLaw;
pub(crate) use link::Mix;
pub(crate) use scattering::{Laws, Scattering, ScatteringInputs};
