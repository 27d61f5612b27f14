//! Registry of the movement models that a scenario can name.

use crate::{MobilityError, Track};
use fadeout_core::Point;
use fadeout_core::random::Stream;

fadeout_core::registry! {
    /// Movement models by name. The first model is the default. Waypoints and traces are not
    /// included, because a scenario lists them itself.
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

/// Movement model that makes tracks from its parameters.
pub(crate) trait Model {
    /// Returns the track of one node that starts at `start`. Models that draw places use only the
    /// height of `start`. `random` is the node's own random stream.
    fn track(self, start: Point, random: Stream) -> Result<Track, MobilityError>;
}

impl Mobility {
    /// Returns the track of one node that starts at `start`. Models that draw places use only the
    /// height of `start`. `random` is the node's own random stream.
    ///
    /// # Errors
    /// Returns an error if parameters exclude each other. The message contains the expected values.
    pub fn track(self, start: Point, random: Stream) -> Result<Track, MobilityError> {
        each!(self, model => model.track(start, random))
    }
}
