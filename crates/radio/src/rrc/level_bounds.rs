//! Bounds that show which neighbours a UE need not measure.
//!
//! The level of a cell is its smooth level minus its shadowing. The smooth level follows from path
//! loss and antennas. Cells of a site share the shadowing. When a cell is measured, a linear upper
//! bound of its smooth level is stored. The bound is the measured level, plus a slope times the
//! distance that the UE has moved since.
//!
//! At each measurement a lower bound of every site's shadowing is computed and filtered, once for
//! all cells of the site. The filter is a mean, so a cell's filtered level is at most the linear
//! bound minus the filtered shadowing. One comparison for each cell suffices.
//!
//! Cells below the level that an event needs are not measured. Their filtered values stay as after
//! their last measurement. When such a cell is measured again, the linear bound gives an upper
//! bound of its filtered value.

use crate::channel::Shadow;
use fadeout_core::Point;

/// Tolerance in dB for the rounding of the compared values.
const ROUNDING_DB: f64 = 1e-6;

/// Bound of a cell's smooth level along the path of a UE.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LevelBound {
    /// Upper bound of the level in dBm at the UE's position, without shadowing.
    pub level_dbm: f64,
    /// Upper bound of the level's increase in dB for each metre that the UE moves.
    pub db_per_m: f64,
    /// Distance in metres that the UE may move before the bound becomes invalid.
    pub within_m: f64,
}

/// Linear bounds and shadowing of the cells that a UE measures.
#[derive(Debug)]
pub(crate) struct LevelBounds {
    /// Distance in metres that the UE has moved in total.
    travelled_m: f64,
    /// Distance in metres that the UE had moved at the previous measurement.
    travelled_before_m: f64,
    /// Position of the last measurement. `None` before the first measurement.
    place: Option<Point>,
    /// Linear bounds, by position in the UE's list of cells. Empty before the first bound.
    bounds: Vec<LinearBound>,
    sites: Vec<Site>,
}

/// Linear upper bound of a cell's smooth level: `level_db` plus `db_per_m` for each metre of the
/// UE's total distance.
#[derive(Debug, Clone, Copy)]
struct LinearBound {
    level_db: f64,
    db_per_m: f64,
    /// Total distance in metres up to which the bound holds.
    until_m: f64,
    site: u32,
}

/// Site: cells that share one shadowing value.
#[derive(Debug)]
pub(crate) struct Site {
    shadow: Shadow,
    /// Position of one of the site's cells in the UE's list of cells.
    pub position: usize,
    /// Lower and upper bound of the shadowing loss in dB at the UE's position.
    pub shadowing_db: [f64; 2],
}

impl LinearBound {
    /// Bound of a cell whose level is unknown.
    const NONE: LinearBound = LinearBound {
        level_db: f64::INFINITY,
        db_per_m: 0.0,
        until_m: f64::INFINITY,
        site: 0,
    };

    fn level_db(&self, travelled_m: f64) -> f64 {
        self.level_db + self.db_per_m * travelled_m
    }
}

impl LevelBounds {
    /// Returns the state before the first measurement.
    pub(crate) const fn new() -> LevelBounds {
        LevelBounds {
            travelled_m: 0.0,
            travelled_before_m: 0.0,
            place: None,
            bounds: Vec::new(),
            sites: Vec::new(),
        }
    }

    /// Moves the UE to the position of a measurement. `read` returns the bounds of a site's
    /// shadowing at that position.
    pub(crate) fn move_to(&mut self, place: Point, mut read: impl FnMut(&Site) -> [f64; 2]) {
        let distance_m = self.place.map_or(0.0, |before| before.distance_to(place));
        self.travelled_before_m = self.travelled_m;
        self.travelled_m += distance_m * (1.0 + 1e-9);
        self.place = Some(place);
        for site in &mut self.sites {
            site.shadowing_db = read(site);
        }
    }

    /// Returns the position of the last measurement. `None` before the first measurement.
    pub(crate) fn place(&self) -> Option<Point> {
        self.place
    }

    /// Returns the lower bound of each site's shadowing loss in dB at the UE's position.
    pub(crate) fn shadows_db(&self) -> impl Iterator<Item = f64> + Clone + '_ {
        self.sites.iter().map(|site| site.shadowing_db[0])
    }

    /// Returns the bounds of a shadowing loss in dB at the UE's position. `None` if no site with
    /// this shadowing is known.
    pub(crate) fn shadowing_db(&self, shadow: Shadow) -> Option<[f64; 2]> {
        let site = self.sites.iter().find(|site| site.shadow == shadow);
        site.map(|site| site.shadowing_db)
    }

    /// True if the smooth level of a cell is certainly below the entry of its site in `least_db`.
    #[inline]
    pub(crate) fn is_below(&self, position: usize, least_db: &[f64]) -> bool {
        let Some(linear) = self.bounds.get(position) else {
            return false;
        };
        let least_db = least_db.get(linear.site as usize);
        let is_below = |least_db: &f64| linear.level_db(self.travelled_m) + ROUNDING_DB < *least_db;
        self.travelled_m <= linear.until_m && least_db.is_some_and(is_below)
    }

    /// Removes the bound of a cell, because the cell is measured again. Returns an upper bound of
    /// the cell's filtered level without shadowing at the previous measurement, and the number of
    /// its site. `None` if the cell had no bound.
    pub(crate) fn remove_bound(&mut self, position: usize) -> Option<(f64, usize)> {
        let linear = self.bounds.get_mut(position)?;
        let most_db = linear.level_db(self.travelled_before_m) + ROUNDING_DB;
        let had_one = (linear.level_db < f64::INFINITY).then_some((most_db, linear.site as usize));
        *linear = LinearBound::NONE;
        had_one
    }

    /// Returns the number of the site with this shadowing, and true if the site is new. `position`
    /// is a cell of the site.
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

    /// Returns the site with this number.
    pub(crate) fn site_mut(&mut self, number: usize) -> &mut Site {
        &mut self.sites[number]
    }

    /// Stores the linear bound of a cell whose level is too low for any event. `cells` is the
    /// number of all cells. `filtered_db` is an upper bound of the cell's filtered level without
    /// shadowing.
    pub(crate) fn set_bound(
        &mut self,
        (position, cells): (usize, usize),
        (bound, site): (&LevelBound, usize),
        filtered_db: f64,
    ) {
        if bound.within_m <= 0.0 {
            return;
        }
        if self.bounds.is_empty() {
            self.bounds.resize(cells, LinearBound::NONE);
        }
        let level_db = bound.level_dbm.max(filtered_db);
        self.bounds[position] = LinearBound {
            level_db: level_db - bound.db_per_m * self.travelled_m,
            db_per_m: bound.db_per_m,
            until_m: self.travelled_m + bound.within_m,
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

    fn at_x(x: f64) -> Point {
        Point::new(x, 0.0, 1.5)
    }

    fn bound(level_dbm: f64) -> LevelBound {
        LevelBound {
            level_dbm,
            db_per_m: 2.0,
            within_m: 10.0,
        }
    }

    #[test]
    fn a_bound_rises_with_the_distance_and_holds_as_far_as_it_says() {
        let mut bounds = LevelBounds::new();
        let move_to = |bounds: &mut LevelBounds, x| bounds.move_to(at_x(x), |_| [4.0; 2]);
        move_to(&mut bounds, 100.0);
        assert!(!bounds.is_below(1, &[0.0]), "nothing is known");
        assert_eq!(bounds.remove_bound(1), None);
        assert_eq!(bounds.site(Shadow::NONE, 1), (0, true));
        assert_eq!(bounds.site(Shadow::NONE, 2), (0, false));
        bounds.set_bound((1, 3), (&bound(-100.0), 0), -95.0);
        assert!(bounds.is_below(1, &[-94.9]) && !bounds.is_below(1, &[-95.0]));
        assert!(!bounds.is_below(0, &[0.0]) && !bounds.is_below(2, &[0.0]));
        move_to(&mut bounds, 103.0);
        assert!(bounds.shadows_db().eq([4.0]));
        assert!(bounds.is_below(1, &[-88.9]) && !bounds.is_below(1, &[-89.1]));
        // The total distance includes every movement, so the bound also rises when the UE moves
        // back.
        move_to(&mut bounds, 100.0);
        let (before, site) = bounds.remove_bound(1).expect("a line");
        let is_before = (before + 89.0).abs() < 1e-4;
        assert!(
            is_before && site == 0,
            "as of the measurement before: {before}"
        );
        assert_eq!(bounds.remove_bound(1), None);
        bounds.set_bound((1, 3), (&bound(-100.0), 0), -120.0);
        move_to(&mut bounds, 111.0);
        assert!(!bounds.is_below(1, &[0.0]), "it went further than is known");
        let mut used_up = bound(-100.0);
        used_up.within_m = 0.0;
        bounds.set_bound((2, 3), (&used_up, 0), -100.0);
        assert!(!bounds.is_below(2, &[0.0]));
    }

    /// Levels are random, but rise no faster than the bound. Shadowing is random too. The filtered
    /// levels must stay below the bound.
    #[test]
    fn what_the_filter_makes_of_levels_below_a_line_is_below_it() {
        let mut closest = f64::INFINITY;
        let cases = Cases::new(500);
        cases.run(|seed| {
            let mut draw = Stream::new(seed, "test.gate", 0);
            let filter = Filter::new(draw.below(12) as u8, FILTER_PERIOD * (1 + draw.below(3)));
            let mut bounds = LevelBounds::new();
            let (mut x, mut level, mut shadow) = (0.0, -100.0, 0.0);
            let (mut filtered, mut filtered_shadow) = (-103.0, 3.0);
            bounds.move_to(at_x(x), |_| [0.0; 2]);
            let (site, _) = bounds.site(Shadow::NONE, 0);
            bounds.set_bound((0, 1), (&bound(level), site), filtered + filtered_shadow);
            for _ in 0..4 {
                let distance_m = draw.uniform_in(-2.0, 2.0);
                x += distance_m;
                level += 2.0 * distance_m.abs() * draw.uniform_in(-1.0, 1.0).max(0.2);
                shadow += draw.uniform_in(-8.0, 8.0);
                filtered = filter.next(Some(filtered), level - shadow);
                filtered_shadow = filter.next(Some(filtered_shadow), shadow);
                bounds.move_to(at_x(x), |_| [shadow; 2]);
                let above = filtered + filtered_shadow;
                assert!(!bounds.is_below(0, &[above]), "seed {seed}");
                closest = closest.min(bounds.bounds[0].level_db(bounds.travelled_m) - above);
            }
        });
        assert!(!cases.is_whole() || closest < 1.0, "{closest}");
    }
}
