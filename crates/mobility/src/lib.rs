//! Positions of nodes over time, and obstacles between them.
//!
//! A [`Track`] is a chain of straight legs at constant speed. Every movement model makes a track:
//! standing still, a straight line, a list of waypoints, random waypoint, and the traces that
//! [`import`] reads. A position is computed on request, so movement needs no events. [`Obstacle`]
//! decides whether a building or a vehicle blocks a straight line. [`Places`] computes the depth of
//! a line behind obstacles.

mod area;
mod buildings;
pub mod import;
mod line;
mod manhattan;
mod near;
mod obstacle;
mod places;
mod random_direction;
mod random_waypoint;
mod registry;
mod shadow;
mod speeds;
mod squares;
mod standing;
mod track;
pub mod traffic;
mod vehicle;

pub use area::Area;
pub use line::Line;
pub use manhattan::Manhattan;
pub use obstacle::{Crossing, Obstacle, Rectangle, Turn};
pub use places::Places;
pub use random_direction::RandomDirection;
pub use random_waypoint::{RandomWaypoint, RandomWaypointParameters};
pub use registry::{MOBILITY_MODELS, Mobility};
pub use speeds::{SpeedLaw, SpeedRange, Speeds};
pub use standing::Standing;
pub use track::{Leg, Track, Waypoint};

/// Error in the parameters of a movement. The message contains the expected values.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct MobilityError(pub(crate) String);
