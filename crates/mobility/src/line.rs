//! Movement along a straight line.

use crate::registry::Model;
use crate::{MobilityError, Track};
use fadeout_core::random::Stream;
use fadeout_core::registry::{Entry, Registered, Settings, number};
use fadeout_core::{Point, Vector};

const SPEED: (f64, f64, &str) = (-1000.0, 1000.0, "m/s");

fadeout_core::parameters! {
    /// Movement in a straight line at constant speed.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Line {
        /// Speed of the UE towards the east. Negative towards the west.
        pub x_speed: f64 = number(SPEED, "0"),
        /// Speed of the UE towards the north. Negative towards the south.
        pub y_speed: f64 = number(SPEED, "0"),
    }
}

impl Registered for Line {
    const ENTRY: Entry = Entry::new(
        "line",
        "deterministic",
        "The UE goes straight on at a constant speed.",
        "none",
    )
    .with_aliases(&["constant-velocity"])
    .with_parameters(Line::PARAMETERS);

    fn from_settings(settings: &Settings<'_>, (): ()) -> Self {
        Line::read(settings)
    }
}

impl Model for Line {
    fn track(self, start: Point, _: Stream) -> Result<Track, MobilityError> {
        Ok(Track::line(
            start,
            Vector::new(self.x_speed, self.y_speed, 0.0),
        ))
    }
}
