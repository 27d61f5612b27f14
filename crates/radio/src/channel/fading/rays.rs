//! Scattered paths around the UE: a sum of plane waves as a function of place and time.
//!
//! With waves arriving evenly from all sides of the horizontal plane, the correlation over a
//! distance d is `J0(2 pi d / lambda)`, Clarke's model. Writing the phases as functions of the
//! place instead of time makes the Doppler shift right whatever the UE's speed does: a UE that
//! stops keeps its fade, one that comes back meets it again.

use crate::channel::phasor::{LANES, cos_sin, wrap};
use fadeout_core::math::{cos, sin};
use fadeout_core::random::Stream;
use std::f64::consts::TAU;

/// Waves of one or more independent complex Gaussian processes, each of mean power 1.
#[derive(Debug, Clone)]
pub(crate) struct Rays {
    groups: Vec<Group>,
    /// Groups that make up one process.
    groups_a_tap: usize,
    amplitude: f32,
}

#[derive(Debug, Clone)]
struct Group {
    /// Turns per metre east.
    x: [f64; LANES],
    /// Turns per metre north.
    y: [f64; LANES],
    /// Turns per second, from what moves in the surroundings.
    t: [f64; LANES],
    /// Turns at the origin.
    phase: [f64; LANES],
}

/// Where and when a channel is evaluated: metres and seconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) t: f64,
}

impl Rays {
    /// `taps` processes of `waves` waves each, rounded up to a multiple of eight.
    pub(crate) fn new(
        stream: &mut Stream,
        taps: usize,
        waves: usize,
        wavelength_m: f64,
        environment_doppler_hz: f64,
    ) -> Rays {
        let groups_a_tap = waves.div_ceil(LANES).max(1);
        let waves = groups_a_tap * LANES;
        let mut groups = Vec::with_capacity(taps * groups_a_tap);
        for _ in 0..taps {
            for group in 0..groups_a_tap {
                let mut made = Group {
                    x: [0.0; LANES],
                    y: [0.0; LANES],
                    t: [0.0; LANES],
                    phase: [0.0; LANES],
                };
                for lane in 0..LANES {
                    let wave = (group * LANES + lane) as f64;
                    // One arrival in each of `waves` equal sectors. Exactly even arrivals would
                    // come in opposite pairs, which make standing waves.
                    let arrival = TAU * (wave + stream.uniform()) / waves as f64;
                    made.x[lane] = cos(arrival) / wavelength_m;
                    made.y[lane] = sin(arrival) / wavelength_m;
                    made.t[lane] = environment_doppler_hz * cos(TAU * stream.uniform());
                    made.phase[lane] = stream.uniform();
                }
                groups.push(made);
            }
        }
        Rays {
            groups,
            groups_a_tap,
            amplitude: (1.0 / (waves as f64).sqrt()) as f32,
        }
    }

    /// Real and imaginary part of process `tap`.
    #[inline]
    pub(crate) fn at(&self, tap: usize, place: Place) -> (f32, f32) {
        let (mut real, mut imaginary) = ([0.0_f32; LANES], [0.0_f32; LANES]);
        for group in &self.groups[tap * self.groups_a_tap..(tap + 1) * self.groups_a_tap] {
            let mut turns = [0.0_f32; LANES];
            for (lane, turns) in turns.iter_mut().enumerate() {
                *turns = wrap(
                    group.x[lane] * place.x
                        + group.y[lane] * place.y
                        + group.t[lane] * place.t
                        + group.phase[lane],
                ) as f32;
            }
            for (lane, turns) in turns.into_iter().enumerate() {
                let (cosine, sine) = cos_sin(turns);
                real[lane] += cosine;
                imaginary[lane] += sine;
            }
        }
        (
            real.iter().sum::<f32>() * self.amplitude,
            imaginary.iter().sum::<f32>() * self.amplitude,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fadeout_core::math::j0;

    #[test]
    fn given_waves_add_up_to_a_reference_value() {
        // Eight waves with arrivals (2 pi n + pi / 4) / 8 and phases 0.7 n.
        let mut group = Group {
            x: [0.0; LANES],
            y: [0.0; LANES],
            t: [0.0; LANES],
            phase: [0.0; LANES],
        };
        for n in 0..LANES {
            group.x[n] = cos((TAU * n as f64 + TAU / 8.0) / 8.0);
            group.phase[n] = 0.7 * n as f64 / TAU;
        }
        let rays = Rays {
            groups: vec![group],
            groups_a_tap: 1,
            amplitude: 1.0 / 8.0_f32.sqrt(),
        };
        // A shift of 100 Hz for 3 ms is 0.3 wavelengths.
        for (x, expected) in [(0.3, (0.402_126, 1.451_86)), (0.0, (-0.266_036, 0.220_283))] {
            let place = Place { x, y: 0.0, t: 0.0 };
            let (real, imaginary) = rays.at(0, place);
            // The reference values have six digits; single precision leaves as many.
            assert!((f64::from(real) - expected.0).abs() < 2e-6, "{real}");
            assert!(
                (f64::from(imaginary) - expected.1).abs() < 2e-5,
                "{imaginary}"
            );
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
                let rays = Rays::new(&mut stream, 1, 16, 1.0, 100.0);
                let at = |x, t| rays.at(0, Place { x, y: 2.0 * x, t });
                // Along a slanted way of the wanted length.
                let step = distance / 5.0_f64.sqrt();
                let (here, there) = (at(3.0, 1.0), at(3.0 + step, 1.0 + elapsed));
                sum += f64::from(here.0 * there.0 + here.1 * there.1);
            }
            let expected = j0(TAU * distance) * j0(TAU * 100.0 * elapsed);
            let found = sum / count as f64;
            // Four standard errors at 20 000 draws: 4 / sqrt(2 * 20 000) and less.
            assert!(
                (found - expected).abs() < 0.02,
                "{distance} {elapsed}: {found} {expected}"
            );
        }
    }
}
