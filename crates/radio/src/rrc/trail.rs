//! Where a UE was when it measured: what it did not measure then can be found later, as levels are functions of
//! the place.

use super::filter::Filter;
use crate::config::MeasurementEvent;
use fadeout_core::{Point, Span};
use std::collections::VecDeque;

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

    /// The places and the times between them, the oldest first.
    pub(crate) fn places(&self) -> impl Iterator<Item = (Span, Point)> + '_ {
        self.places.iter().copied()
    }

    /// Whether these are all places at which the UE has measured.
    pub(crate) fn is_whole(&self) -> bool {
        self.is_whole
    }
}
