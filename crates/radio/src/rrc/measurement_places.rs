//! Places at which a UE measured. Levels are functions of the place, so a skipped measurement can
//! be evaluated later.

use super::filter::{Before, Filter};
use crate::config::MeasurementEvent;
use fadeout_core::{Point, Span};
use std::collections::VecDeque;
use std::ops::Range;

/// Maximum number of places. With more places, measuring every cell each time costs less.
const MOST_PLACES: usize = 1024;

/// The latest places of a UE's measurements, each with the time since the previous measurement.
#[derive(Debug)]
pub(crate) struct MeasurementPlaces {
    places: VecDeque<(Span, Point)>,
    most: usize,
    /// True if no place was discarded.
    is_complete: bool,
}

impl MeasurementPlaces {
    /// Returns an empty list, long enough for the memory of the filters of `events`. Measurements
    /// are at least `period` apart. `None` if more than the maximum number of places is needed.
    pub(crate) fn new(events: &[MeasurementEvent], period: Span) -> Option<MeasurementPlaces> {
        let lengths = events
            .iter()
            .map(|event| Filter::new(event.filter, period).forgets_after());
        let most = lengths.max().unwrap_or(1);
        (most <= MOST_PLACES).then(|| MeasurementPlaces {
            places: VecDeque::with_capacity(most),
            most,
            is_complete: true,
        })
    }

    /// Appends a place. `over` is the time since the previous measurement.
    pub(crate) fn push(&mut self, over: Span, place: Point) {
        if self.places.len() == self.most {
            self.places.pop_front();
            self.is_complete = false;
        }
        self.places.push_back((over, place));
    }

    /// Returns the number of places.
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// Returns the number of latest places that may suffice to bound a filtered level. Older levels
    /// then keep a weight of about 2^-16, which leaves 1e-2 to 1 dB. The next guess is twice as
    /// many places.
    pub(crate) fn first_guess(&self) -> usize {
        self.most.div_ceil(8)
    }

    /// Returns the places in a range of numbers, the oldest first, each with the time since the
    /// previous measurement.
    pub(crate) fn places(&self, which: Range<usize>) -> impl Iterator<Item = (Span, Point)> + '_ {
        self.places.range(which).copied()
    }

    /// Returns the knowledge about measurements before place `number`.
    pub(crate) fn before(&self, number: usize) -> Before {
        match (number, self.is_complete) {
            (0, true) => Before::Nothing,
            (0, false) => Before::Forgotten,
            _ => Before::Unknown,
        }
    }
}
