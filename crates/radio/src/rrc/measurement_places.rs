//! Positions at which a UE measured. A level depends on the position only, so a skipped measurement
//! can be evaluated later.

use super::filter::{Before, Filter};
use crate::config::MeasurementEvent;
use fadeout_core::{Point, Span};
use std::collections::VecDeque;
use std::ops::Range;

/// Maximum number of stored positions. If more were needed, measuring every cell each time would
/// cost less.
const MOST_PLACES: usize = 1024;

/// Positions of a UE's latest measurements, each with the time since the previous measurement.
#[derive(Debug)]
pub(crate) struct MeasurementPlaces {
    places: VecDeque<(Span, Point)>,
    most: usize,
    /// True if no position was discarded.
    is_complete: bool,
}

impl MeasurementPlaces {
    /// Returns an empty list with space for all positions that affect the filters of `events`.
    /// Measurements are at least `period` apart. `None` if more than [`MOST_PLACES`] positions are
    /// needed.
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

    /// Appends the position of a measurement. `over` is the time since the previous measurement.
    pub(crate) fn push(&mut self, over: Span, place: Point) {
        if self.places.len() == self.most {
            self.places.pop_front();
            self.is_complete = false;
        }
        self.places.push_back((over, place));
    }

    /// Returns the number of stored positions.
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// Returns a first guess of the number of latest positions that suffice to bound a filtered
    /// level. Older levels then have a weight of about 2^-16, which leaves an uncertainty of 0.01
    /// to 1 dB. If that does not suffice, the caller doubles the number.
    pub(crate) fn first_guess(&self) -> usize {
        self.most.div_ceil(8)
    }

    /// Returns the positions with numbers in `which`, the oldest first, each with the time since
    /// the previous measurement.
    pub(crate) fn places(&self, which: Range<usize>) -> impl Iterator<Item = (Span, Point)> + '_ {
        self.places.range(which).copied()
    }

    /// Returns how the measurements before entry `number` influence a filter that begins with that
    /// entry.
    pub(crate) fn before(&self, number: usize) -> Before {
        match (number, self.is_complete) {
            (0, true) => Before::Nothing,
            (0, false) => Before::Forgotten,
            _ => Before::Unknown,
        }
    }
}
