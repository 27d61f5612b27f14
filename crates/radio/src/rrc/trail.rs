//! Where a UE was when it measured: what it did not measure then can be found later, as levels are functions of
//! the place.

use super::filter::{Before, Filter};
use crate::config::MeasurementEvent;
use fadeout_core::{Point, Span};
use std::collections::VecDeque;
use std::ops::Range;

/// Above so many places it costs less to measure every cell each time.
const MOST_PLACES: usize = 1024;

/// The latest places, each with the time since the one before.
#[derive(Debug)]
pub(crate) struct Trail {
    places: VecDeque<(Span, Point)>,
    most: usize,
    /// Whether none was forgotten.
    is_whole: bool,
}

impl Trail {
    /// As long as the filters of `events` remember samples that are `period` apart or more; none where that is too
    /// long.
    pub(crate) fn new(events: &[MeasurementEvent], period: Span) -> Option<Trail> {
        let lengths = events
            .iter()
            .map(|event| Filter::new(event.filter, period).forgets_after());
        let most = lengths.max().unwrap_or(1);
        (most <= MOST_PLACES).then(|| Trail {
            places: VecDeque::with_capacity(most),
            most,
            is_whole: true,
        })
    }

    /// The UE measures at a place, `over` after the last time.
    pub(crate) fn push(&mut self, over: Span, place: Point) {
        if self.places.len() == self.most {
            self.places.pop_front();
            self.is_whole = false;
        }
        self.places.push_back((over, place));
    }

    /// How many places there are.
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// So many of the latest places are a first guess of how many tell enough: what is left of the others is a sixteenth
    /// of the exponent of what is left behind all of them, 1e-2 to 1 dB. Twice as many are the next guess.
    pub(crate) fn first_guess(&self) -> usize {
        self.most.div_ceil(8)
    }

    /// Some of the places, each with the time before it, by number, the oldest first.
    pub(crate) fn places(&self, which: Range<usize>) -> impl Iterator<Item = (Span, Point)> + '_ {
        self.places.range(which).copied()
    }

    /// What was before the place with a number.
    pub(crate) fn before(&self, number: usize) -> Before {
        match (number, self.is_whole) {
            (0, true) => Before::Nothing,
            (0, false) => Before::Forgotten,
            _ => Before::Unknown,
        }
    }
}
