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
