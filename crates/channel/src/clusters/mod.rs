//! Clusters: the ways by which power goes beside the direct path, each with its delay and its
//! directions at both ends.
//!
//! Beams, the selectivity over the band and the shadow of a blocker come from the same clusters: a
//! narrow beam gains little where the power comes from all around, and leaves few delays over.
//!
//! Standard: TR 38.901 §7.5.

mod aim;
mod beams;
mod law;
mod link;
mod place;
mod scattering;

pub use law::ClusterLaw;
pub(crate) use scattering::{Laws, Look, Scattering};
