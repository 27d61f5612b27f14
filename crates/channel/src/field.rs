//! Correlated randomness as a function of place: Gaussian random fields.
//!
//! A field is a sum of plane waves whose wave numbers and phases are drawn once (X. Cai and
//! G. B. Giannakis, "A two-dimensional channel simulation model for shadowing processes", IEEE
//! Transactions on Vehicular Technology 52(6), 2003). Its correlation is `exp(-d / distance)`,
//! and it is the same at a place however and whenever one comes there. An autoregressive process
//! along the way would have the same correlation, but would depend on how often it is asked.

use super::phasor::{LANES, Waves};
use super::wide::wide;
use fadeout_core::math::{cos, sin, tan};
use fadeout_core::random::Stream;
use std::f64::consts::{PI, TAU};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Waves in a field. The correlation of one realisation is off by about `1 / sqrt(2 WAVES)`.
const WAVES: usize = 96;

/// A stationary Gaussian field with mean 0, variance 1 and correlation
/// `exp(-d / distance - t / duration)`.
#[derive(Debug, Clone)]
pub(crate) struct Field {
    /// By metres east, metres north and seconds; a field that does not change has no turns over
    /// time.
    waves: Waves,
}

impl Field {
    /// A field that stands still.
    pub(crate) fn new(stream: &mut Stream, distance_m: f64) -> Field {
        Field::changing(stream, distance_m, f64::INFINITY)
    }

    /// A field whose correlation also falls over time.
    pub(crate) fn changing(stream: &mut Stream, distance_m: f64, duration_s: f64) -> Field {
        debug_assert!(
            distance_m > 0.0 && duration_s > 0.0,
            "a field with a correlation over {distance_m} m and {duration_s} s"
        );
        let mut waves = Waves::new(WAVES);
        for n in 0..WAVES {
            // The spectrum of exp(-r/D) in the plane is D^2 k / (1 + D^2 k^2)^(3/2); its
            // distribution function 1 - (1 + D^2 k^2)^(-1/2) is inverted. Stratifying the
            // uniform number brings each realisation closer to the wanted correlation.
            let share = 1.0 - (n as f64 + stream.uniform()) / WAVES as f64;
            let number = (1.0 / (share * share) - 1.0).sqrt() / (TAU * distance_m);
            let direction = TAU * stream.uniform();
            let (x, y) = (number * cos(direction), number * sin(direction));
            // The spectrum of exp(-|t|/T) is Cauchy's.
            let t = tan(PI * (stream.uniform() - 0.5)) / (TAU * duration_s);
            waves.set(n, [x, y, t], stream.uniform());
        }
        Field { waves }
    }

    /// By how much at most what a lattice with this step reads differs from the field: each wave is bent by so much
    /// between the corners.
    fn lattice_error(&self, step_m: f64) -> f64 {
        let [by_x, by_y] = self.waves.turns();
        let bent = by_x.iter().zip(by_y).map(|(x, y)| {
            let [x, y] = [x, y].map(|turns| TAU * turns * step_m);
            ((x * x + y * y) / 8.0).min(2.0)
        });
        bent.sum::<f64>() * (2.0 / WAVES as f64).sqrt()
    }

    /// The field's value at a place in metres at time zero, to the bit of a lattice's corner there.
    fn at_place(&self, place: [f64; 2]) -> f64 {
        wide(
            #[inline(always)]
            || value(self.waves.sum_at_first(place)),
        )
    }

    /// The field's value at a place in metres and a time in seconds.
    pub(crate) fn at(&self, x: f64, y: f64, t: f64) -> f64 {
        let mut cosines = [0.0; WAVES];
        self.waves.cosines([x, y, t], &mut cosines);
        let mut sums = [0.0_f32; LANES];
        for group in cosines.as_chunks::<LANES>().0 {
            for (sum, cosine) in sums.iter_mut().zip(group) {
                *sum += cosine;
            }
        }
        value(sums.iter().sum())
    }

    /// The values at those of four places that are asked for, at time zero, and anything at the others.
    fn at_places(&self, places: [[f64; 2]; 4], asked: [bool; 4]) -> [f64; 4] {
        wide(
            #[inline(always)]
            || {
                let mut values = [0.0; 4];
                for ((found, place), asked) in values.iter_mut().zip(places).zip(asked) {
                    if asked {
                        *found = value(self.waves.sum_at_first(place));
                    }
                }
                values
            },
        )
    }
}

/// A value of variance 1 of the sum of as many cosines.
#[inline(always)]
fn value(sum: f32) -> f64 {
    f64::from(sum) * (2.0 / WAVES as f64).sqrt()
}

/// A field on a fine square lattice, interpolated between the corners of a cell. Moving within a
/// cell costs a few multiplications, and the value is still a function of the place alone.
#[derive(Debug, Clone)]
pub(crate) struct Lattice {
    /// In 32 bits, as many lattices are kept; one that does not fit is not remembered.
    square: (i32, i32),
    corners: [f64; 4],
}

/// No square.
const NOWHERE: (i32, i32) = (i32::MIN, i32::MIN);

/// A square where it is remembered.
fn small((column, row): Square) -> (i32, i32) {
    match (i32::try_from(column), i32::try_from(row)) {
        (Ok(column), Ok(row)) => (column, row),
        _ => NOWHERE,
    }
}

impl Default for Lattice {
    fn default() -> Lattice {
        Lattice::new()
    }
}

/// A cell of the lattice, by column and row.
pub(crate) type Square = (i64, i64);

/// Lattice cells per correlation distance. Halfway between corners the interpolated value's
/// standard deviation is 1.3 % too small.
const CELLS: f64 = 32.0;

impl Lattice {
    pub(crate) const fn new() -> Lattice {
        Lattice {
            square: NOWHERE,
            corners: [0.0; 4],
        }
    }

    /// The interpolated value at a place of a field of which `corners` knows the values at the corners
    /// of a square, as far as they are needed: a square beside the last one shares some with it.
    pub(crate) fn at(
        &mut self,
        (x, y): (f64, f64),
        distance_m: f64,
        corners: impl FnOnce(Square, Needed) -> [f64; 4],
    ) -> f64 {
        let step = distance_m / CELLS;
        debug_assert!(
            x.is_finite() && y.is_finite() && step > 0.0,
            "a field is asked for at {x}, {y}, in steps of {step} m"
        );
        let (column, row) = ((x / step).floor(), (y / step).floor());
        let square = (column as i64, row as i64);
        let known_as = small(square);
        if known_as == NOWHERE || self.square != known_as {
            let known = self.shared_with(square);
            let found = corners(square, known.map(|known| known.is_none()));
            for ((corner, known), found) in self.corners.iter_mut().zip(known).zip(found) {
                *corner = known.unwrap_or(found);
            }
            self.square = known_as;
        }
        let (right, up) = (x / step - column, y / step - row);
        debug_assert!(
            (0.0..=1.0).contains(&right) && (0.0..=1.0).contains(&up),
            "a place beside its square: {right}, {up}"
        );
        debug_assert!(
            self.corners.iter().all(|corner| corner.is_finite()),
            "a corner of the field is {:?}",
            self.corners
        );
        let [a, b, c, d] = self.corners;
        let (low, high) = (a + (b - a) * right, c + (d - c) * right);
        low + (high - low) * up
    }

    /// The values at those corners of a square that are corners of the last one too.
    fn shared_with(&self, (column, row): Square) -> [Option<f64>; 4] {
        CORNERS.map(|(right, up)| {
            let known = Some(self.square).filter(|&square| square != NOWHERE);
            let (of_column, of_row) =
                known.map(|(column, row)| (i64::from(column), i64::from(row)))?;
            let right = usize::try_from(column.checked_sub(of_column)?.checked_add(right)?).ok()?;
            let up = usize::try_from(row.checked_sub(of_row)?.checked_add(up)?).ok()?;
            (right < 2 && up < 2).then(|| self.corners[2 * up + right])
        })
    }
}

/// Which corners of a square are asked for, in the order of [`CORNERS`].
pub(crate) type Needed = [bool; 4];

/// The corners of a square, by columns to the right and rows up: low left, low right, high left, high right.
const CORNERS: [(i64, i64); 4] = [(0, 0), (1, 0), (0, 1), (1, 1)];

/// A field as a lattice sees it. It remembers the square that it was asked about last: all cells of a
/// network look at one UE after the other, and those of a site find what the first of them computed.
#[derive(Debug)]
pub(crate) struct Map {
    field: Field,
    distance_m: f64,
    /// Of use where values are bounded.
    error: OnceLock<f64>,
    latest: Mutex<Option<(Square, [Option<f64>; 4])>>,
}

impl Map {
    /// A field that stands still, with this correlation distance.
    pub(crate) fn new(stream: &mut Stream, distance_m: f64) -> Map {
        Map {
            field: Field::new(stream, distance_m),
            distance_m,
            error: OnceLock::new(),
            latest: Mutex::new(None),
        }
    }

    /// Bounds of the interpolated value at a place, twice [`Map::lattice_error`] apart.
    pub(crate) fn within(&self, (x, y): (f64, f64)) -> [f64; 2] {
        let error = self.error.get_or_init(|| self.lattice_error());
        let value = self.field.at_place([x, y]);
        debug_assert!(*error >= 0.0, "an error of {error}");
        [value - error, value + error]
    }

    /// By how much the field differs from what is interpolated, and by what single precision takes from either.
    fn lattice_error(&self) -> f64 {
        self.field.lattice_error(self.distance_m / CELLS) + 1e-3
    }

    /// The interpolated value at a place; `lattice` has read this map alone.
    pub(crate) fn read(&self, lattice: &mut Lattice, place: (f64, f64)) -> f64 {
        let corners = |square, needed| self.corners(square, needed);
        lattice.at(place, self.distance_m, corners)
    }

    /// Its correlation distance in metres.
    pub(crate) fn distance_m(&self) -> f64 {
        self.distance_m
    }

    /// The field's values at the corners of a square that are needed, and anything at the others.
    pub(crate) fn corners(&self, square: Square, needed: Needed) -> [f64; 4] {
        // A value that is computed is written whole: what a panic elsewhere left is as good.
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        let mut known = latest
            .filter(|(known, _)| *known == square)
            .map_or([None; 4], |(_, corners)| corners);
        let step = self.distance_m / CELLS;
        let places = CORNERS.map(|(right, up)| {
            let x = (square.0 as f64 + right as f64) * step;
            let y = (square.1 as f64 + up as f64) * step;
            [x, y]
        });
        let unknown = [0, 1, 2, 3].map(|n| needed[n] && known[n].is_none());
        if unknown.contains(&true) {
            let found = self.field.at_places(places, unknown);
            for ((known, found), _) in known.iter_mut().zip(found).zip(unknown).filter(|it| it.1) {
                *known = Some(found);
            }
        }
        *latest = Some((square, known));
        known.map(|value| value.unwrap_or(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fadeout_core::math::exp;

    /// Correlation over many fields of two values `(dx, dt)` apart, and the variance.
    fn moments(dx: f64, dt: f64) -> (f64, f64) {
        let (mut product, mut square, count) = (0.0, 0.0, 4000);
        for n in 0..count {
            let mut stream = Stream::new(1, "test.field", n);
            let field = Field::changing(&mut stream, 13.0, 2.0);
            let here = field.at(100.0, -50.0, 7.0);
            product += here * field.at(100.0 + 0.6 * dx, -50.0 + 0.8 * dx, 7.0 + dt);
            square += here * here;
        }
        (product / count as f64, square / count as f64)
    }

    #[test]
    fn correlation_falls_exponentially_with_distance_and_with_time() {
        for (dx, dt) in [
            (0.0, 0.0),
            (5.0, 0.0),
            (13.0, 0.0),
            (40.0, 0.0),
            (0.0, 1.0),
            (5.0, 2.0),
        ] {
            let expected = exp(-dx / 13.0 - dt / 2.0);
            let (found, variance) = moments(dx, dt);
            // Four standard errors of a product of normals at 4000 draws: 4 * sqrt(2 / 4000).
            assert!(
                (found - expected).abs() < 0.09,
                "{dx} {dt}: {found} {expected}"
            );
            assert!((variance - 1.0).abs() < 0.09, "{variance}");
        }
    }

    #[test]
    fn one_field_is_as_spread_over_the_plane_as_many_are_at_a_place() {
        let field = Field::new(&mut Stream::new(3, "test.field", 0), 10.0);
        let (mut sum, mut square, mut beyond) = (0.0, 0.0, 0);
        let count = 40_000;
        for n in 0..count {
            let value = field.at(f64::from(n % 200) * 31.0, f64::from(n / 200) * 37.0, 0.0);
            sum += value;
            square += value * value;
            beyond += u32::from(value.abs() > 1.959_964);
        }
        let count = f64::from(count);
        // About 40 000 nearly independent places: one standard error is 0.005 of the mean and
        // 0.001 of a share of 5 %; a sum of 96 waves falls short of normal tails by more.
        assert!((sum / count).abs() < 0.03, "{}", sum / count);
        assert!((square / count - 1.0).abs() < 0.04, "{}", square / count);
        assert!((f64::from(beyond) / count - 0.05).abs() < 0.006, "{beyond}");
    }

    #[test]
    fn the_lattice_gives_the_same_value_by_every_way_to_a_place() {
        let map = Map::new(&mut Stream::new(3, "test.field", 1), 10.0);
        let corners = |square, needed| map.corners(square, needed);
        let (mut walked, mut jumped) = (Lattice::new(), Lattice::new());
        let mut last = 0.0;
        for step in 0..=1000 {
            last = walked.at((f64::from(step) * 0.037, 5.0), 10.0, corners);
        }
        assert_eq!(last, jumped.at((1000.0 * 0.037, 5.0), 10.0, corners));
        let there = map.field.at(37.0, 5.0, 0.0);
        assert!((last - there).abs() < 0.35, "{last} {there}");
    }

    #[test]
    fn what_a_lattice_reads_is_within_the_error_of_its_corners_of_the_field() {
        let mut tightest = f64::INFINITY;
        for (seed, distance_m) in [(4, 10.0), (5, 50.0), (6, 130.0)] {
            let map = Map::new(&mut Stream::new(seed, "test.field", 0), distance_m);
            let mut draw = Stream::new(seed, "test.places", 0);
            for _ in 0..4000 {
                let place = (draw.uniform_in(-1e3, 1e3), draw.uniform_in(-1e3, 1e3));
                let read = map.read(&mut Lattice::new(), place);
                let [least, most] = map.within(place);
                assert!(least <= read && read <= most, "{least} {read} {most}");
                tightest = tightest.min((read - least) / map.lattice_error());
            }
        }
        assert!(tightest < 0.8, "{tightest}");
    }

    #[test]
    fn a_map_that_remembers_answers_as_one_that_was_never_asked() {
        let map = || Map::new(&mut Stream::new(3, "test.field", 2), 10.0);
        let asked = map();
        let all = [true; 4];
        let fresh = |square| map().corners(square, all);
        for square in [(3, 4), (3, 4), (-1, 0), (3, 4), (4, 3)] {
            // What was not needed before is computed when it is.
            let some = asked.corners(square, [false, true, false, true]);
            assert_eq!((some[1], some[3]), (fresh(square)[1], fresh(square)[3]));
            assert_eq!(asked.corners(square, all), fresh(square), "{square:?}");
        }
        // Neighbours share a side.
        let ([_, b, _, d], [a, _, c, _]) = (fresh((3, 4)), fresh((4, 4)));
        assert_eq!((b, d), (a, c));
    }

    #[test]
    fn a_walk_computes_each_corner_once_and_finds_what_a_jump_does() {
        let map = Map::new(&mut Stream::new(3, "test.field", 3), 32.0);
        let mut asked = Vec::new();
        let mut walked = Lattice::new();
        // Right, up, across a corner, back, and far away.
        for place in [
            (0.5, 0.5),
            (1.5, 0.5),
            (1.5, 1.5),
            (2.5, 2.5),
            (1.5, 1.5),
            (-9.5, 3.5),
        ] {
            let found = walked.at(place, 32.0, |square, needed| {
                asked.push(needed.iter().filter(|needed| **needed).count());
                // Whatever is not needed is not looked at.
                let corners = map.corners(square, [true; 4]);
                [0, 1, 2, 3].map(|n| if needed[n] { corners[n] } else { f64::NAN })
            });
            let jumped =
                Lattice::new().at(place, 32.0, |square, needed| map.corners(square, needed));
            assert_eq!(found.to_bits(), jumped.to_bits(), "{place:?}");
        }
        assert_eq!(asked, [4, 2, 2, 3, 3, 4]);
    }
}
