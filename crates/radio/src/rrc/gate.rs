//! Which neighbours a UE need not even think of at a measurement.
//!
//! After a look at a cell its level is bounded by where it was found, a slope, and the way that the UE has gone since; and
//! so is what the filter makes of it, as the filter is a mean. So each cell has a line: one number that is
//! compared with what an event asks for. What the shadowing that all cells share does to them is left out of the line,
//! and counts once for all of them. Cells below the line are not visited: their filtered values are as of when
//! they were, and are bounded by the line when they are needed again.

use crate::channel::SharedShadowing;
use fadeout_core::Point;

/// Room for the rounding of what is compared, dB.
const ROUNDING_DB: f64 = 1e-6;

/// How a cell's level may rise on the way of a UE.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rise {
    /// The level at most where the UE is, dBm, without what shadowing that cells share takes from it.
    pub level_dbm: f64,
    /// By how many dB at most the same rises with each metre.
    pub db_per_m: f64,
    /// For so many metres.
    pub within_m: f64,
    /// Which shadowing that is.
    pub shared: SharedShadowing,
}

/// The lines of the cells that a UE measures.
#[derive(Debug)]
pub(crate) struct Gate {
    /// The way that the UE has gone, metres.
    gone_m: f64,
    /// The same as of the measurement before.
    gone_before_m: f64,
    /// Where it was.
    place: Option<Point>,
    /// By position; none before the first line.
    lines: Vec<Line>,
    /// What all that have a line share, and the position of one of them.
    shared: Option<(SharedShadowing, usize)>,
}

/// More than a level is at a place, shared shadowing left out: `level_db` and so much with each metre of the way.
#[derive(Debug, Clone, Copy)]
struct Line {
    level_db: f64,
    db_per_m: f64,
    /// As long as the UE has gone no further, metres.
    until_m: f64,
}

impl Line {
    /// Nothing is known.
    const NONE: Line = Line {
        level_db: f64::INFINITY,
        db_per_m: 0.0,
        until_m: f64::INFINITY,
    };

    fn level_db(&self, gone_m: f64) -> f64 {
        self.level_db + self.db_per_m * gone_m
    }
}

impl Gate {
    /// One without lines.
    pub(crate) const fn new() -> Gate {
        Gate {
            gone_m: 0.0,
            gone_before_m: 0.0,
            place: None,
            lines: Vec::new(),
            shared: None,
        }
    }

    /// The UE measures at a place.
    pub(crate) fn go_to(&mut self, place: Point) {
        let way_m = self.place.map_or(0.0, |before| before.distance_to(place));
        self.gone_before_m = self.gone_m;
        self.gone_m += way_m * (1.0 + 1e-9);
        self.place = Some(place);
    }

    /// Where the UE measured last.
    pub(crate) fn place(&self) -> Option<Point> {
        self.place
    }

    /// The position of a cell with a line, if there is one: what they share is asked of it.
    pub(crate) fn shared(&self) -> Option<usize> {
        self.shared.map(|(_, position)| position)
    }

    /// Whether nothing above `least_db` is to be expected of a cell, shared shadowing left out.
    #[inline]
    pub(crate) fn is_below(&self, position: usize, least_db: f64) -> bool {
        let line = self.lines.get(position).unwrap_or(&Line::NONE);
        line.level_db(self.gone_m) + ROUNDING_DB < least_db && self.gone_m <= line.until_m
    }

    /// The line of a cell that is visited again is no more. What its filtered values were no more than at the measurement
    /// before, shared shadowing left out; none if it had no line.
    pub(crate) fn lift(&mut self, position: usize) -> Option<f64> {
        let line = self.lines.get_mut(position)?;
        let most_db = line.level_db(self.gone_before_m) + ROUNDING_DB;
        let had_one = line.level_db < f64::INFINITY;
        *line = Line::NONE;
        had_one.then_some(most_db)
    }

    /// A cell of which nothing is to be expected now has a line from here on, of `cells` cells. Filtered values are
    /// `filtered_db` at most, shared shadowing left out.
    pub(crate) fn lower(
        &mut self,
        (position, cells): (usize, usize),
        rise: &Rise,
        filtered_db: f64,
    ) {
        let (shared, _) = *self.shared.get_or_insert((rise.shared, position));
        if shared != rise.shared || rise.within_m <= 0.0 {
            return;
        }
        if self.lines.is_empty() {
            self.lines.resize(cells, Line::NONE);
        }
        let level_db = rise.level_dbm.max(filtered_db);
        self.lines[position] = Line {
            level_db: level_db - rise.db_per_m * self.gone_m,
            db_per_m: rise.db_per_m,
            until_m: self.gone_m + rise.within_m,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::super::filter::{FILTER_PERIOD, Filter};
    use super::*;
    use fadeout_core::random::Stream;
    use fadeout_testkit::Cases;

    const ALONE: SharedShadowing = SharedShadowing::NONE;

    fn at(x: f64) -> Point {
        Point::new(x, 0.0, 1.5)
    }

    fn rise(level_dbm: f64) -> Rise {
        Rise {
            level_dbm,
            db_per_m: 2.0,
            within_m: 10.0,
            shared: ALONE,
        }
    }

    #[test]
    fn a_line_rises_with_the_way_and_holds_as_far_as_it_says() {
        let mut gate = Gate::new();
        gate.go_to(at(100.0));
        assert!(!gate.is_below(1, 0.0), "nothing is known");
        assert_eq!((gate.shared(), gate.lift(1)), (None, None));
        gate.lower((1, 3), &rise(-100.0), -95.0);
        assert_eq!(gate.shared(), Some(1));
        assert!(gate.is_below(1, -94.9) && !gate.is_below(1, -95.0));
        assert!(!gate.is_below(0, 0.0) && !gate.is_below(2, 0.0));
        gate.go_to(at(103.0));
        assert!(gate.is_below(1, -88.9) && !gate.is_below(1, -89.1));
        // There and back is a way too.
        gate.go_to(at(100.0));
        let before = gate.lift(1).expect("a line");
        assert!(
            (before + 89.0).abs() < 1e-4,
            "as of the measurement before: {before}"
        );
        assert_eq!(gate.lift(1), None);
        gate.lower((1, 3), &rise(-100.0), -120.0);
        gate.go_to(at(111.0));
        assert!(!gate.is_below(1, 0.0), "it went further than is known");
        let mut used_up = rise(-100.0);
        used_up.within_m = 0.0;
        gate.lower((2, 3), &used_up, -100.0);
        assert!(!gate.is_below(2, 0.0));
    }

    /// Levels that rise no steeper than they may, less what all share; filtered, and compared with the line.
    #[test]
    fn what_the_filter_makes_of_levels_below_a_line_is_below_it() {
        let mut closest = f64::INFINITY;
        let cases = Cases::new(500);
        cases.run(|seed| {
            let mut draw = Stream::new(seed, "test.gate", 0);
            let filter = Filter::new(draw.below(12) as u8, FILTER_PERIOD * (1 + draw.below(3)));
            let mut gate = Gate::new();
            let (mut x, mut level, mut shared) = (0.0, -100.0, 0.0);
            let (mut filtered, mut filtered_shared) = (-90.0_f64, 3.0);
            gate.go_to(at(x));
            gate.lower((0, 1), &rise(level), filtered + filtered_shared);
            for _ in 0..4 {
                let way_m = draw.uniform_in(-2.0, 2.0);
                x += way_m;
                level += 2.0 * way_m.abs() * draw.uniform_in(-1.0, 1.0).max(0.2);
                shared += draw.uniform_in(-8.0, 8.0);
                filtered = filter.next(Some(filtered), level - shared);
                filtered_shared = filter.next(Some(filtered_shared), shared);
                gate.go_to(at(x));
                let above = filtered + filtered_shared;
                assert!(!gate.is_below(0, above), "seed {seed}");
                closest = closest.min(gate.lines[0].level_db(gate.gone_m) - above);
            }
        });
        assert!(!cases.is_whole() || closest < 1.0, "{closest}");
    }
}
