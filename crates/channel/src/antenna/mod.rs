//! Antenna patterns, arrays and the management of their beams.

pub mod array;
pub mod beam;
pub mod element;
pub mod management;
mod pattern;
pub mod shapes;

pub use array::Array;
pub use element::{Element, LteSector};
pub use management::{BeamFailure, BeamManagement};
pub use pattern::{Angles, Antenna};
