//! Antenna patterns, arrays and the management of their beams.

mod aimed;
mod angles;
pub mod array;
pub mod beam;
mod column;
pub mod element;
pub mod management;
mod pattern;
pub(crate) mod recovery;
mod registry;
pub mod shapes;
pub(crate) mod tracking;

pub(crate) use aimed::{Aimed, Steering};
pub use angles::Angles;
pub use array::Array;
pub use element::{Element, ElementKind, Isotropic, LteSector, Shape};
pub use management::{BeamFailure, BeamManagement, BeamPrediction};
pub use pattern::{Mounted, Pattern, Steepness};
pub use registry::{ANTENNAS, Antenna};
