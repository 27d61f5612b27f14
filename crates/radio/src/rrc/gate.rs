//! Which neighbours a UE need not even think of at a measurement.
//!
//! The level of a cell is a smooth one, of path loss and antennas, less its shadowing, which cells of a site share. After a
//! look at a cell its smooth level is bounded by a line: where it was found, a slope, and the way that the UE has gone since.
//! The shadowing of a site is bounded from below once for all its cells at each measurement, and passes through the filter
//! once; as the filter is a mean, what it makes of a cell is no more than the line less the filtered shadowing. So a
//! cell costs one comparison. Those below what an event asks for are not visited: their filtered values are as of
//! when they were, and are bounded in the same way when they are needed again.

use crate::channel::Shadow;
use fadeout_core::Point;

/// Room for the rounding of what is compared, dB.
const ROUNDING_DB: f64 = 1e-6;

/// How a cell's smooth level may rise on the way of a UE.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rise {
    /// The level at most where the UE is, dBm, without what shadowing takes from it.
    pub level_dbm: f64,
    /// By how many dB at most the same rises with each metre.
    pub db_per_m: f64,
    /// For so many metres.
    pub within_m: f64,
}

/// The lines of the cells that a UE measures, and their shadowing.
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
    sites: Vec<Site>,
}

/// More than the smooth level of a cell: `level_db` and so much with each metre of the way.
#[derive(Debug, Clone, Copy)]
struct Line {
    level_db: f64,
    db_per_m: f64,
    /// As long as the UE has gone no further, metres.
    until_m: f64,
    site: u32,
}

/// A shadowing that cells have.
#[derive(Debug)]
pub(crate) struct Site {
    shadow: Shadow,
    /// One of them.
    pub position: usize,
    /// Bounds of what it takes from their levels where the UE is, dB.
    pub shadowing_db: [f64; 2],
}

impl Line {
    /// Nothing is known.
    const NONE: Line = Line {
        level_db: f64::INFINITY,
        db_per_m: 0.0,
        until_m: f64::INFINITY,
        site: 0,
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
            sites: Vec::new(),
        }
    }

    /// The UE measures at a place. `read` says what the shadowing of a site takes there.
    pub(crate) fn go_to(&mut self, place: Point, mut read: impl FnMut(&Site) -> [f64; 2]) {
        let way_m = self.place.map_or(0.0, |before| before.distance_to(place));
        self.gone_before_m = self.gone_m;
        self.gone_m += way_m * (1.0 + 1e-9);
        self.place = Some(place);
        for site in &mut self.sites {
            site.shadowing_db = read(site);
        }
    }

    /// Where the UE measured last.
    pub(crate) fn place(&self) -> Option<Point> {
        self.place
    }

    /// What shadowing takes where the UE is at least, by site, dB.
    pub(crate) fn shadows_db(&self) -> impl Iterator<Item = f64> + Clone + '_ {
        self.sites.iter().map(|site| site.shadowing_db[0])
    }

    /// Bounds of what a shadowing takes where the UE is, dB; none of one that no line is of.
    pub(crate) fn shadowing_db(&self, shadow: Shadow) -> Option<[f64; 2]> {
        let site = self.sites.iter().find(|site| site.shadow == shadow);
        site.map(|site| site.shadowing_db)
    }

    /// Whether nothing above `least_db` of its site is to be expected of a cell, shadowing left out.
    #[inline]
    pub(crate) fn is_below(&self, position: usize, least_db: &[f64]) -> bool {
        let Some(line) = self.lines.get(position) else {
            return false;
        };
        let least_db = least_db.get(line.site as usize);
        let is_below = |least_db: &f64| line.level_db(self.gone_m) + ROUNDING_DB < *least_db;
        self.gone_m <= line.until_m && least_db.is_some_and(is_below)
    }

    /// The line of a cell that is visited again is no more. What its filtered values were no more than at the measurement
    /// before, shadowing left out, and its site; none if it had no line.
    pub(crate) fn lift(&mut self, position: usize) -> Option<(f64, usize)> {
        let line = self.lines.get_mut(position)?;
        let most_db = line.level_db(self.gone_before_m) + ROUNDING_DB;
        let had_one = (line.level_db < f64::INFINITY).then_some((most_db, line.site as usize));
        *line = Line::NONE;
        had_one
    }

    /// The site of a cell with this shadowing, and whether it is a new one.
    pub(crate) fn site(&mut self, shadow: Shadow, position: usize) -> (usize, bool) {
        let known = self.sites.iter().position(|site| site.shadow == shadow);
        let number = known.unwrap_or(self.sites.len());
        if known.is_none() {
            self.sites.push(Site {
                shadow,
                position,
                shadowing_db: [0.0; 2],
            });
        }
        (number, known.is_none())
    }

    /// A site.
    pub(crate) fn site_mut(&mut self, number: usize) -> &mut Site {
        &mut self.sites[number]
    }

    /// A cell of a site of which nothing is to be expected now has a line from here on, of `cells` cells. Filtered values are
    /// `filtered_db` at most, shadowing left out.
    pub(crate) fn lower(
        &mut self,
        (position, cells): (usize, usize),
        (rise, site): (&Rise, usize),
        filtered_db: f64,
    ) {
        if rise.within_m <= 0.0 {
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
            site: site as u32,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::super::filter::{FILTER_PERIOD, Filter};
    use super::*;
    use fadeout_core::random::Stream;
    use fadeout_testkit::Cases;

    fn at(x: f64) -> Point {
        Point::new(x, 0.0, 1.5)
    }

    fn rise(level_dbm: f64) -> Rise {
        Rise {
            level_dbm,
            db_per_m: 2.0,
            within_m: 10.0,
        }
    }

    #[test]
    fn a_line_rises_with_the_way_and_holds_as_far_as_it_says() {
        let mut gate = Gate::new();
        let go_to = |gate: &mut Gate, x| gate.go_to(at(x), |_| [4.0; 2]);
        go_to(&mut gate, 100.0);
        assert!(!gate.is_below(1, &[0.0]), "nothing is known");
        assert_eq!(gate.lift(1), None);
        assert_eq!(gate.site(Shadow::NONE, 1), (0, true));
        assert_eq!(gate.site(Shadow::NONE, 2), (0, false));
        gate.lower((1, 3), (&rise(-100.0), 0), -95.0);
        assert!(gate.is_below(1, &[-94.9]) && !gate.is_below(1, &[-95.0]));
        assert!(!gate.is_below(0, &[0.0]) && !gate.is_below(2, &[0.0]));
        go_to(&mut gate, 103.0);
        assert!(gate.shadows_db().eq([4.0]));
        assert!(gate.is_below(1, &[-88.9]) && !gate.is_below(1, &[-89.1]));
        // There and back is a way too.
        go_to(&mut gate, 100.0);
        let (before, site) = gate.lift(1).expect("a line");
        let is_before = (before + 89.0).abs() < 1e-4;
        assert!(
            is_before && site == 0,
            "as of the measurement before: {before}"
        );
        assert_eq!(gate.lift(1), None);
        gate.lower((1, 3), (&rise(-100.0), 0), -120.0);
        go_to(&mut gate, 111.0);
        assert!(!gate.is_below(1, &[0.0]), "it went further than is known");
        let mut used_up = rise(-100.0);
        used_up.within_m = 0.0;
        gate.lower((2, 3), (&used_up, 0), -100.0);
        assert!(!gate.is_below(2, &[0.0]));
    }

    /// Levels that rise no steeper than they may, less a shadowing; filtered, and compared with the line.
    #[test]
    fn what_the_filter_makes_of_levels_below_a_line_is_below_it() {
        let mut closest = f64::INFINITY;
        let cases = Cases::new(500);
        cases.run(|seed| {
            let mut draw = Stream::new(seed, "test.gate", 0);
            let filter = Filter::new(draw.below(12) as u8, FILTER_PERIOD * (1 + draw.below(3)));
            let mut gate = Gate::new();
            let (mut x, mut level, mut shadow) = (0.0, -100.0, 0.0);
            let (mut filtered, mut filtered_shadow) = (-103.0, 3.0);
            gate.go_to(at(x), |_| [0.0; 2]);
            let (site, _) = gate.site(Shadow::NONE, 0);
            gate.lower((0, 1), (&rise(level), site), filtered + filtered_shadow);
            for _ in 0..4 {
                let way_m = draw.uniform_in(-2.0, 2.0);
                x += way_m;
                level += 2.0 * way_m.abs() * draw.uniform_in(-1.0, 1.0).max(0.2);
                shadow += draw.uniform_in(-8.0, 8.0);
                filtered = filter.next(Some(filtered), level - shadow);
                filtered_shadow = filter.next(Some(filtered_shadow), shadow);
                gate.go_to(at(x), |_| [shadow; 2]);
                let above = filtered + filtered_shadow;
                assert!(!gate.is_below(0, &[above]), "seed {seed}");
                closest = closest.min(gate.lines[0].level_db(gate.gone_m) - above);
            }
        });
        assert!(!cases.is_whole() || closest < 1.0, "{closest}");
    }
}
