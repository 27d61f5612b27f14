//! Clusters: scattered paths with about the same delay and the same directions at both ends.
//!
//! Beam gains, frequency selectivity and the effect of a blocker all follow from the same clusters.
//! A narrow beam gains little if power arrives from all sides, and it leaves few delays.
//!
//! Standard: TR 38.901 §7.5.

mod aim;
mod beams;
mod law;
mod link;
mod place;
mod scattering;

pub use law::ClusterLaw;
pub(crate) use scattering::{Laws, Scattering, ScatteringInputs};
