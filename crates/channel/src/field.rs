//! Gaussian random fields: random values that are correlated over positions.
//!
//! A field is a sum of plane waves whose wave numbers and phases are drawn once. The source is X.
//! Cai and G. B. Giannakis, "A two-dimensional channel simulation model for shadowing processes",
//! IEEE Transactions on Vehicular Technology 52(6), 2003. The correlation is `exp(-d / distance)`.
//! The value at a position does not depend on the UE's earlier path. An autoregressive process
//! along a path would have the same correlation, but its values would depend on the sampling
//! instants.

use super::phasor::{LANES, Waves};
use super::wide::wide;
use fadeout_core::math::{cos, sin, tan};
use fadeout_core::random::Stream;
use std::f64::consts::{PI, TAU};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Number of waves in a field. The correlation of one realisation has an error of about `1 / sqrt(2
/// WAVES)`.
const WAVES: usize = 96;

/// Stationary Gaussian field with mean 0, variance 1 and correlation `exp(-d / distance - t /
/// duration)`.
#[derive(Debug, Clone)]
pub(crate) struct Field {
    /// Plane waves over metres east, metres north and seconds. If the field is constant over time,
    /// their rates over time are zero.
    waves: Waves,
}

impl Field {
    /// Returns a field that is constant over time.
    pub(crate) fn new(stream: &mut Stream, distance_m: f64) -> Field {
        Field::changing(stream, distance_m, f64::INFINITY)
    }

    /// Returns a field whose correlation also decays over time.
    pub(crate) fn changing(stream: &mut Stream, distance_m: f64, duration_s: f64) -> Field {
        debug_assert!(
            distance_m > 0.0 && duration_s > 0.0,
            "a field with a correlation over {distance_m} m and {duration_s} s"
        );
        let mut waves = Waves::new(WAVES);
        for n in 0..WAVES {
            // The spectrum of exp(-r/D) in the plane is D^2 k / (1 + D^2 k^2)^(3/2). Its
            // distribution function 1 - (1 + D^2 k^2)^(-1/2) is inverted. Stratifying the uniform
            // number brings each realisation closer to the wanted correlation.
            let share = 1.0 - (n as f64 + stream.uniform()) / WAVES as f64;
            let number = (1.0 / (share * share) - 1.0).sqrt() / (TAU * distance_m);
            let direction = TAU * stream.uniform();
            let (x, y) = (number * cos(direction), number * sin(direction));
            // The spectrum of exp(-|t|/T) is a Cauchy distribution.
            let t = tan(PI * (stream.uniform() - 0.5)) / (TAU * duration_s);
            waves.set(n, [x, y, t], stream.uniform());
        }
        Field { waves }
    }

    /// Returns the largest interpolation error of a lattice with this step. The error is the sum
    /// over all waves of their largest deviation from a straight line between two corners.
    fn lattice_error(&self, step_m: f64) -> f64 {
        let [by_x, by_y] = self.waves.turns();
        let bent = by_x.iter().zip(by_y).map(|(x, y)| {
            let [x, y] = [x, y].map(|turns| TAU * turns * step_m);
            ((x * x + y * y) / 8.0).min(2.0)
        });
        bent.sum::<f64>() * (2.0 / WAVES as f64).sqrt()
    }

    /// Returns the field's value at a position in metres at time zero. At a corner of the lattice,
    /// the value equals that of the lattice to the last bit.
    fn at_place(&self, place: [f64; 2]) -> f64 {
        wide(
            #[inline(always)]
            || value(self.waves.sum_at_first(place)),
        )
    }

    /// Returns the field's value at a position in metres and a time in seconds.
    pub(crate) fn value_at(&self, x: f64, y: f64, t: f64) -> f64 {
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

    /// Returns the values at time zero at those positions for which `asked` is true. The other
    /// entries are unspecified.
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

/// Scales a sum of [`WAVES`] cosines to variance 1.
#[inline(always)]
fn value(sum: f32) -> f64 {
    f64::from(sum) * (2.0 / WAVES as f64).sqrt()
}

/// Cache of the lattice square that was read last. A fine lattice lies over a field, and values are
/// interpolated between the corners of a square. So reads within the square cost only a few
/// multiplications. The result still depends on the position alone.
#[derive(Debug, Clone)]
pub(crate) struct Lattice {
    /// Square whose corners are stored. Its indexes have 32 bits to save memory. It is [`NOWHERE`]
    /// if the indexes do not fit into 32 bits.
    square: (i32, i32),
    corners: [f64; 4],
}

/// Indexes that mark an empty cache, which has no square.
const NOWHERE: (i32, i32) = (i32::MIN, i32::MIN);

/// Returns the square with 32-bit indexes, or [`NOWHERE`] if they do not fit.
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

/// Square of the lattice, by column and row.
pub(crate) type Square = (i64, i64);

/// Number of lattice squares for each correlation distance. Halfway between corners the standard
/// deviation of the interpolated value is 1.3 % too small.
const CELLS: f64 = 32.0;

impl Lattice {
    pub(crate) const fn new() -> Lattice {
        Lattice {
            square: NOWHERE,
            corners: [0.0; 4],
        }
    }

    /// Returns the interpolated value at a position. `corners` computes the missing values at the
    /// corners of a square. If the square is next to the stored square, the values at their common
    /// corners are reused.
    pub(crate) fn interpolate(
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

    /// Returns the values at the corners that a square shares with the stored square. `None` for a
    /// corner that is not shared.
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

/// True for each corner of a square that must be computed, in the order of [`CORNERS`].
pub(crate) type Needed = [bool; 4];

/// Corners of a square as offsets of column and row: bottom left, bottom right, top left, top
/// right.
const CORNERS: [(i64, i64); 4] = [(0, 0), (1, 0), (0, 1), (1, 1)];

/// Field with its lattice. It stores the corners of the square that was read last. Cells of one
/// site evaluate the same UE one after the other, so they reuse these values.
#[derive(Debug)]
pub(crate) struct Map {
    field: Field,
    distance_m: f64,
    /// Interpolation error of the lattice, computed at the first call of [`Map::within`].
    error: OnceLock<f64>,
    latest: Mutex<Option<(Square, [Option<f64>; 4])>>,
}

impl Map {
    /// Returns a field that is constant over time, with this correlation distance.
    pub(crate) fn new(stream: &mut Stream, distance_m: f64) -> Map {
        Map {
            field: Field::new(stream, distance_m),
            distance_m,
            error: OnceLock::new(),
            latest: Mutex::new(None),
        }
    }

    /// Returns lower and upper bound of the interpolated value at a position. The bounds are twice
    /// [`Map::lattice_error`] apart.
    pub(crate) fn within(&self, (x, y): (f64, f64)) -> [f64; 2] {
        let error = self.error.get_or_init(|| self.lattice_error());
        let value = self.field.at_place([x, y]);
        debug_assert!(*error >= 0.0, "an error of {error}");
        [value - error, value + error]
    }

    /// Returns the largest difference between the field and the interpolated value. It includes the
    /// rounding of both to single precision.
    fn lattice_error(&self) -> f64 {
        self.field.lattice_error(self.distance_m / CELLS) + 1e-3
    }

    /// Returns the interpolated value at a position. The caller must not use `lattice` for any
    /// other map.
    pub(crate) fn read(&self, lattice: &mut Lattice, place: (f64, f64)) -> f64 {
        let corners = |square, needed| self.corners(square, needed);
        lattice.interpolate(place, self.distance_m, corners)
    }

    /// Returns the correlation distance in metres.
    pub(crate) fn distance_m(&self) -> f64 {
        self.distance_m
    }

    /// Returns the field's values at the needed corners of a square. The other entries are
    /// unspecified.
    pub(crate) fn corners(&self, square: Square, needed: Needed) -> [f64; 4] {
        // Values are stored in one assignment, so the state is valid even if another thread
        // panicked.
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

    /// Returns two statistics over many fields: the correlation of two values at the distance `(dx,
    /// dt)`, and the variance.
    fn moments(dx: f64, dt: f64) -> (f64, f64) {
        let (mut product, mut square, count) = (0.0, 0.0, 4000);
        for n in 0..count {
            let mut stream = Stream::new(1, "test.field", n);
            let field = Field::changing(&mut stream, 13.0, 2.0);
            let here = field.value_at(100.0, -50.0, 7.0);
            product += here * field.value_at(100.0 + 0.6 * dx, -50.0 + 0.8 * dx, 7.0 + dt);
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
            // The limit is four standard errors. For products of normal numbers in 4,000 draws it
            // is 4 * sqrt(2 / 4000).
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
            let value = field.value_at(f64::from(n % 200) * 31.0, f64::from(n / 200) * 37.0, 0.0);
            sum += value;
            square += value * value;
            beyond += u32::from(value.abs() > 1.959_964);
        }
        let count = f64::from(count);
        // There are about 40,000 nearly independent positions. One standard error is 0.005 for the
        // mean, and 0.001 for a share of 5 %. A sum of 96 waves deviates more from the normal
        // distribution in its tails.
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
            last = walked.interpolate((f64::from(step) * 0.037, 5.0), 10.0, corners);
        }
        assert_eq!(
            last,
            jumped.interpolate((1000.0 * 0.037, 5.0), 10.0, corners)
        );
        let there = map.field.value_at(37.0, 5.0, 0.0);
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
            // The second call computes the corners that the first call did not need.
            let some = asked.corners(square, [false, true, false, true]);
            assert_eq!((some[1], some[3]), (fresh(square)[1], fresh(square)[3]));
            assert_eq!(asked.corners(square, all), fresh(square), "{square:?}");
        }
        // Neighbouring squares have the corners of one side in common.
        let ([_, b, _, d], [a, _, c, _]) = (fresh((3, 4)), fresh((4, 4)));
        assert_eq!((b, d), (a, c));
    }

    #[test]
    fn a_walk_computes_each_corner_once_and_finds_what_a_jump_does() {
        let map = Map::new(&mut Stream::new(3, "test.field", 3), 32.0);
        let mut asked = Vec::new();
        let mut walked = Lattice::new();
        // The reads move to the square on the right, above, across a corner, back, and far away.
        for place in [
            (0.5, 0.5),
            (1.5, 0.5),
            (1.5, 1.5),
            (2.5, 2.5),
            (1.5, 1.5),
            (-9.5, 3.5),
        ] {
            let found = walked.interpolate(place, 32.0, |square, needed| {
                asked.push(needed.iter().filter(|needed| **needed).count());
                // Values at corners that are not needed must not be used. The test sets these
                // values to NaN, so that their use would give NaN.
                let corners = map.corners(square, [true; 4]);
                [0, 1, 2, 3].map(|n| if needed[n] { corners[n] } else { f64::NAN })
            });
            let jumped = Lattice::new()
                .interpolate(place, 32.0, |square, needed| map.corners(square, needed));
            assert_eq!(found.to_bits(), jumped.to_bits(), "{place:?}");
        }
        assert_eq!(asked, [4, 2, 2, 3, 3, 4]);
    }
}
