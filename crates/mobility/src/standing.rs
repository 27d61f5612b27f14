//! Movement model of a UE that stands still.

use crate::registry::Model;
use crate::{MobilityError, Track};
use fadeout_core::Point;
use fadeout_core::random::Stream;
use fadeout_core::registry::{Entry, Registered, Settings};

/// Movement model of a UE that stands still.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Standing;

impl Registered for Standing {
    const ENTRY: Entry = Entry::new("static", "deterministic", "The UE does not move.", "none")
        .with_aliases(&["fixed"]);

    fn from_settings(_: &Settings<'_>, (): ()) -> Self {
        Standing
    }
}

impl Model for Standing {
    fn track(self, start: Point, _: Stream) -> Result<Track, MobilityError> {
        Ok(Track::rest(start))
    }
}
