//! The movement models that a scenario can name.

use crate::{MobilityError, Track};
use fadeout_core::Point;
use fadeout_core::random::Stream;

fadeout_core::registry! {
    /// Movement models by name; the first is the default. Waypoints and traces are not here: a
    /// scenario lists them.
    pub static MOBILITY_MODELS;

    /// A movement model with its parameters.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub enum Mobility {
        Static(crate::standing::Standing),
        Line(crate::line::Line),
        RandomWaypoint(crate::random_waypoint::RandomWaypointParameters),
        RandomDirection(crate::random_direction::RandomDirection),
        Manhattan(crate::manhattan::Manhattan),
    }
    macro each;
}

/// A movement model, which makes tracks of its parameters.
pub(crate) trait Model {
    /// The movement of one node that starts at `start`, which a model with places of its own takes
    /// the height from. `random` is the node's own stream.
    fn track(self, start: Point, random: Stream) -> Result<Track, MobilityError>;
}

impl Mobility {
    /// The movement of one node that starts at `start`, which a model with places of its own takes
    /// the height from. `random` is the node's own stream.
    ///
    /// # Errors
    /// Parameters that exclude each other; the message says what was expected.
    pub fn track(self, start: Point, random: Stream) -> Result<Track, MobilityError> {
        each!(self, model => model.track(start, random))
    }
}
