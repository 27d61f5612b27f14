//! Cosine and sine of many angles at once.
//!
//! Angles are in turns, so that a single rounding reduces them. The arithmetic consists of plain
//! additions and multiplications in a fixed order. So all machines give the same bits, and the
//! compiler can vectorise the loops.

/// Number of lanes that are computed together.
pub(crate) const LANES: usize = 8;

/// Adding and then subtracting 1.5 * 2^52 rounds a double of moderate size to the nearest integer.
const ROUND: f64 = 6_755_399_441_055_744.0;

/// Returns the difference between `turns` and the nearest integer, in [-1/2, 1/2].
#[inline(always)]
pub(crate) fn wrap(turns: f64) -> f64 {
    turns - ((turns + ROUND) - ROUND)
}

/// Returns `sin(2 pi q)` for |q| <= 1/4. The polynomial interpolates the sine at the nodes of the
/// tenth Chebyshev polynomial. Its error is below 7e-9 before rounding to single precision.
#[inline(always)]
fn quarter_sine(q: f32) -> f32 {
    let z = q * q;
    q * (6.283_185_4 + z * (-41.341_682 + z * (81.602_48 + z * (-76.581_17 + z * 39.759_83))))
}

/// Returns the cosine and the sine of an angle in turns within [-1/2, 1/2], to single precision.
#[inline(always)]
pub(crate) fn cos_sin(turns: f32) -> (f32, f32) {
    let distance = turns.abs();
    let cosine = quarter_sine(0.25 - distance);
    let sine = quarter_sine(0.25 - (distance - 0.25).abs()).copysign(turns);
    (cosine, sine)
}

/// Plane waves. Each wave has a rate in turns per unit of x, y and t, and a phase in turns at the
/// origin.
#[derive(Debug, Clone, Default)]
pub(crate) struct Waves {
    /// Rates over x of all waves, then their rates over y and over t, then their phases. All data
    /// of an evaluation is in one allocation.
    all: Box<[f64]>,
}

impl Waves {
    /// Returns `count` waves with all rates and phases zero.
    pub(crate) fn new(count: usize) -> Waves {
        Waves {
            all: vec![0.0; 4 * count].into(),
        }
    }

    fn count(&self) -> usize {
        self.all.len() / 4
    }

    /// Sets the rates of a wave in turns per unit of x, y and t, and its phase at the origin.
    pub(crate) fn set(&mut self, wave: usize, [x, y, t]: [f64; 3], phase: f64) {
        let count = self.count();
        for (part, turns) in [x, y, t, phase].into_iter().enumerate() {
            self.all[part * count + wave] = turns;
        }
    }

    /// Returns the rates of all waves in turns per unit of x, and per unit of y.
    pub(crate) fn turns(&self) -> [&[f64]; 2] {
        let count = self.count();
        [&self.all[..count], &self.all[count..2 * count]]
    }

    /// Computes the angles of the first `N` waves at a place, in turns within [-1/2, 1/2].
    ///
    /// In this function and those below, each step is a separate loop over slices of equal length.
    /// The compiler can vectorise such loops.
    #[inline(always)]
    fn angles<const N: usize>(&self, [x, y, t]: [f64; 3], turns: &mut [f32; N]) {
        let all = self.count();
        let count = all.min(N);
        let part = |part| &self.all[part * all..][..count];
        let (by_x, by_y, by_t, phase) = (part(0), part(1), part(2), part(3));
        for (n, turns) in turns[..count].iter_mut().enumerate() {
            *turns = wrap(by_x[n] * x + by_y[n] * y + by_t[n] * t + phase[n]) as f32;
        }
    }

    /// Computes cosine and sine of the first `N` waves at a place.
    #[inline(always)]
    pub(crate) fn phasors<const N: usize>(
        &self,
        place: [f64; 3],
        cosines: &mut [f32; N],
        sines: &mut [f32; N],
    ) {
        self.angles(place, cosines);
        let count = self.count().min(N);
        for (cosine, sine) in cosines[..count].iter_mut().zip(sines) {
            (*cosine, *sine) = cos_sin(*cosine);
        }
    }

    /// Computes the cosines of the first `N` waves at a place.
    #[inline(always)]
    pub(crate) fn cosines<const N: usize>(&self, place: [f64; 3], cosines: &mut [f32; N]) {
        self.angles(place, cosines);
        for cosine in cosines {
            *cosine = cos_sin(*cosine).0;
        }
    }

    /// Returns the sum of the waves' cosines at a place at time zero. Waves beyond the last whole
    /// group of [`LANES`] are left out.
    #[inline(always)]
    pub(crate) fn sum_at_first(&self, [x, y]: [f64; 2]) -> f32 {
        let count = self.count();
        let part = |part| self.all[part * count..][..count].as_chunks::<LANES>().0;
        let mut sums = [0.0_f32; LANES];
        for ((by_x, by_y), phase) in part(0).iter().zip(part(1)).zip(part(3)) {
            for (n, sum) in sums.iter_mut().enumerate() {
                let turns = wrap(by_x[n] * x + by_y[n] * y + phase[n]) as f32;
                *sum += cos_sin(turns).0;
            }
        }
        sums.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fadeout_core::math::{cos, sin};
    use std::f64::consts::TAU;

    #[test]
    fn cosine_and_sine_hold_to_single_precision() {
        for step in -30_000..30_000 {
            let turns = f64::from(step) * 1e-4 + 1e5;
            let (cosine, sine) = cos_sin(wrap(turns) as f32);
            // The error is a few roundings of single precision, 6e-8 each, of terms up to pi / 2.
            assert!(
                (f64::from(cosine) - cos(TAU * turns)).abs() < 5e-7,
                "{turns}"
            );
            assert!((f64::from(sine) - sin(TAU * turns)).abs() < 5e-7, "{turns}");
        }
    }
}
