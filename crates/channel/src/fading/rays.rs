//! Scattered paths around the UE, as a sum of plane waves over position and time.
//!
//! Waves arrive evenly from all sides of the horizontal plane. The correlation over a distance d is
//! therefore `J0(2 pi d / lambda)`, which is Clarke's model. Phases depend on the position instead
//! of time, so the Doppler shift is right while the speed changes. The fading of a UE that stops
//! stays constant, and a UE that returns to a position meets the same fading again.

use crate::phasor::{LANES, Waves};
use crate::wide::wide;
use fadeout_core::math::{cos, sin};
use fadeout_core::random::Stream;
use std::f64::consts::TAU;

/// Largest number of fading processes of one link. It exceeds the number of taps of any profile.
pub(crate) const MOST_TAPS: usize = 24;
/// Number of waves of a single fading process. If there are several processes, each has fewer
/// waves, but their total is larger.
const WAVES_ALONE: usize = 16;
const WAVES_A_TAP: usize = 8;
/// Largest number of waves, with room for the unused lanes after the last tap.
const MOST_WAVES: usize = MOST_TAPS * WAVES_A_TAP + LANES;

/// Waves of one or more independent complex Gaussian processes, each of mean power 1.
#[derive(Debug, Clone)]
pub(crate) struct Rays {
    /// All waves, ordered by wave number and then by tap. In this order the sums over waves can be
    /// computed for many taps at the same time.
    waves: Waves,
    taps: usize,
}

/// Position and time at which a channel is evaluated, in metres and seconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) t: f64,
}

impl Rays {
    /// Draws 1 to [`MOST_TAPS`] processes. A single process has sixteen waves, and each of several
    /// processes has eight. The power of a sum of N waves has a variance of `1 - 1 / N`. Deep fades
    /// are rarer than with Rayleigh fading by `1 / (2 N)`, which is 3 % for 16 waves.
    pub(crate) fn new(
        stream: &mut Stream,
        taps: usize,
        wavelength_m: f64,
        environment_doppler_hz: f64,
    ) -> Rays {
        assert!(taps <= MOST_TAPS, "no profile has {taps} taps");
        debug_assert!(
            wavelength_m > 0.0 && environment_doppler_hz.is_finite(),
            "waves of {wavelength_m} m and {environment_doppler_hz} Hz"
        );
        let count = match taps {
            1 => WAVES_ALONE,
            _ => WAVES_A_TAP,
        };
        let mut waves = Waves::new(count * taps);
        for tap in 0..taps {
            for wave in 0..count {
                // One wave arrives in each of `count` equal sectors, at a random angle. Equally
                // spaced angles would contain opposite pairs, and opposite waves form standing
                // waves.
                let arrival = TAU * (wave as f64 + stream.uniform()) / count as f64;
                let (x, y) = (cos(arrival) / wavelength_m, sin(arrival) / wavelength_m);
                let t = environment_doppler_hz * cos(TAU * stream.uniform());
                waves.set(wave * taps + tap, [x, y, t], stream.uniform());
            }
        }
        Rays { waves, taps }
    }

    /// Returns the real and the imaginary part of the only process.
    #[inline]
    pub(crate) fn one(&self, place: Place) -> (f32, f32) {
        debug_assert_eq!(self.taps, 1);
        let (mut cosines, mut sines) = ([0.0; WAVES_ALONE], [0.0; WAVES_ALONE]);
        wide(
            #[inline(always)]
            || {
                self.waves
                    .phasors([place.x, place.y, place.t], &mut cosines, &mut sines);
            },
        );
        let sum = |parts: &[f32; WAVES_ALONE]| {
            let (low, high) = parts.split_at(LANES);
            let pairs = low.iter().zip(high).map(|(low, high)| low + high);
            pairs.sum::<f32>() * amplitude(WAVES_ALONE)
        };
        (sum(&cosines), sum(&sines))
    }

    /// Writes the real and the imaginary part of each process into the first entries of the
    /// outputs.
    #[inline(always)]
    pub(crate) fn all(
        &self,
        place: Place,
        real: &mut [f32; MOST_TAPS],
        imaginary: &mut [f32; MOST_TAPS],
    ) {
        let (mut cosines, mut sines) = ([0.0; MOST_WAVES], [0.0; MOST_WAVES]);
        self.waves
            .phasors([place.x, place.y, place.t], &mut cosines, &mut sines);
        for (parts, out) in [(&cosines, real), (&sines, imaginary)] {
            for first in (0..self.taps).step_by(LANES) {
                // Lanes after the last tap contain sums of other waves. The caller ignores these
                // lanes.
                let mut sums = [0.0; LANES];
                for wave in 0..WAVES_A_TAP {
                    let parts = &parts[wave * self.taps + first..][..LANES];
                    for lane in 0..LANES {
                        sums[lane] += parts[lane];
                    }
                }
                for (out, sum) in out[first..self.taps].iter_mut().zip(sums) {
                    *out = sum * amplitude(WAVES_A_TAP);
                }
            }
        }
    }
}

/// Returns the amplitude of each of `count` waves whose total mean power is 1.
#[inline]
fn amplitude(count: usize) -> f32 {
    (1.0 / (count as f64).sqrt()) as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use fadeout_core::math::j0;

    #[test]
    fn given_waves_add_up_to_a_reference_value() {
        // The eight waves arrive at the angles (2 pi n + pi / 4) / 8 and have the phases 0.7 n.
        // They form the second of two taps.
        let mut rays = Rays::new(&mut Stream::new(1, "test.rays", 0), 2, 1.0, 0.0);
        for n in 0..WAVES_A_TAP {
            let x = cos((TAU * n as f64 + TAU / 8.0) / 8.0);
            let phase = 0.7 * n as f64 / TAU;
            rays.waves.set(n * 2 + 1, [x, 0.0, 0.0], phase);
        }
        // The reference uses a Doppler shift of 100 Hz over 3 ms, which corresponds to a movement
        // by 0.3 wavelengths.
        for (x, expected) in [(0.3, (0.402_126, 1.451_86)), (0.0, (-0.266_036, 0.220_283))] {
            let place = Place { x, y: 0.0, t: 0.0 };
            let (mut real, mut imaginary) = ([0.0; MOST_TAPS], [0.0; MOST_TAPS]);
            rays.all(place, &mut real, &mut imaginary);
            let (real, imaginary) = (f64::from(real[1]), f64::from(imaginary[1]));
            // The reference values have six digits, and single precision is about as accurate.
            assert!((real - expected.0).abs() < 2e-6, "{real}");
            assert!((imaginary - expected.1).abs() < 2e-5, "{imaginary}");
        }
    }

    #[test]
    fn correlation_over_distance_and_time_is_a_bessel_function() {
        let count = 20_000;
        for (distance, elapsed) in [
            (0.0, 0.0),
            (0.1, 0.0),
            (0.25, 0.0),
            (0.4, 0.0),
            (0.7, 0.0),
            (0.0, 0.003),
            (0.2, 0.002),
        ] {
            let mut sum = 0.0;
            for n in 0..count {
                let mut stream = Stream::new(1, "test.rays", n);
                let rays = Rays::new(&mut stream, 1, 1.0, 100.0);
                let ray_at = |x, t| rays.one(Place { x, y: 2.0 * x, t });
                // The UE moves along a slanted line, and the step along it has the length
                // `distance`.
                let step = distance / 5.0_f64.sqrt();
                let (here, there) = (ray_at(3.0, 1.0), ray_at(3.0 + step, 1.0 + elapsed));
                sum += f64::from(here.0 * there.0 + here.1 * there.1);
            }
            let expected = j0(TAU * distance) * j0(TAU * 100.0 * elapsed);
            let found = sum / count as f64;
            // The limit is four standard errors of 20,000 draws: at most 4 / sqrt(2 * 20 000).
            assert!(
                (found - expected).abs() < 0.02,
                "{distance} {elapsed}: {found} {expected}"
            );
        }
    }
}
