//! Small-scale fading: the power gain of a link around its local mean, as a closed function of
//! position and time.
//!
//! Evaluations do not change the channel. The gain at an instant does not depend on the number or
//! order of evaluations, so all congestion controls meet the same channel.

pub(crate) mod rays;
mod registry;
pub mod statistics;
pub(crate) mod tdl;

pub use registry::{Clusters, FADING_MODELS, FadingModel, NoFading, Rayleigh, Rician};
pub use tdl::{Tap, TdlProfile};

use super::phasor::{cos_sin, wrap};
use fadeout_core::math::from_db;
use fadeout_core::random::Stream;
use fadeout_core::{Hertz, Span};
use rays::{Place, Rays};
use tdl::Comb;

/// Largest number of sub-bands.
pub const MAX_SUB_BANDS: usize = fadeout_core::agreed::MOST_FADING_SUB_BANDS;

/// Fading model in one LOS state.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fading {
    /// No fading: the gain is constant.
    None,
    /// Many scattered paths and no dominant path. The gain is the same over the whole band.
    Rayleigh,
    /// A direct path and scattered paths. The gain is the same over the whole band.
    Rician {
        /// Power of the direct path relative to the power of all other paths, dB.
        k_db: f64,
    },
    /// A tapped delay line, whose gain differs over the band.
    Tdl {
        /// Profile of the taps.
        profile: TdlProfile,
        /// RMS delay spread that scales profiles A to E. Profiles with fixed delays ignore it. TR
        /// 38.901 Table 7.7.3-1 has very short (10 ns), short (30 ns), nominal (100 ns), long (300
        /// ns) and very long (1000 ns).
        delay_spread: Span,
    },
    /// Clusters at the UE's position, which also determine the gain of beams (TR 38.901 clause
    /// 7.5).
    Clusters {
        /// K factor in LOS, dB. Ignored if the K factor is drawn for each position.
        k_db: f64,
        /// RMS delay spread. Ignored if the delay spread is drawn for each position.
        delay_spread: Span,
    },
}

/// Precomputed fading in one LOS state. It is shared by the links of a carrier, or belongs to one
/// link.
#[derive(Debug, Clone)]
pub(crate) enum Plan {
    None,
    /// Amplitudes of the direct path and of the scattered paths.
    Flat(f32, f32),
    Wideband(Comb),
}

impl Plan {
    pub(crate) fn new(fading: Fading, bandwidth: Hertz, sub_bands: usize) -> Plan {
        match fading {
            // The plan for clusters is made by [`Plan::of_clusters`], because the number of
            // clusters depends on the scenario.
            Fading::None | Fading::Clusters { .. } => Plan::None,
            Fading::Rayleigh => Plan::Flat(0.0, 1.0),
            Fading::Rician { k_db } => Plan::rician(k_db),
            Fading::Tdl {
                profile,
                delay_spread,
            } => Plan::Wideband(Comb::new(profile, delay_spread, bandwidth, sub_bands)),
        }
    }

    /// Returns a plan with `count` clusters as taps.
    pub(crate) fn of_clusters(count: usize, bandwidth: Hertz, sub_bands: usize) -> Plan {
        Plan::Wideband(Comb::of_clusters(count, bandwidth, sub_bands))
    }

    pub(crate) fn rician(k_db: f64) -> Plan {
        let k = from_db(k_db);
        let (direct, scattered) = ((k / (k + 1.0)).sqrt(), (1.0 / (k + 1.0)).sqrt());
        Plan::Flat(direct as f32, scattered as f32)
    }

    /// Draws the plane waves of one link. `None` if the link does not fade.
    pub(crate) fn rays(
        &self,
        stream: &mut Stream,
        wavelength_m: f64,
        environment_doppler_hz: f64,
    ) -> Option<Rays> {
        let taps = match self {
            Plan::None => return None,
            Plan::Flat(..) => 1,
            Plan::Wideband(comb) => comb.taps(),
        };
        Some(Rays::new(
            stream,
            taps,
            wavelength_m,
            environment_doppler_hz,
        ))
    }

    /// Calls `put` with each sub-band's number and complex amplitude, of mean power 1.
    /// `direct_turns` is the length of the direct path in wavelengths. A flat channel has one
    /// sub-band with number zero.
    #[inline]
    pub(crate) fn each(
        &self,
        rays: Option<&Rays>,
        place: Place,
        direct_turns: f64,
        mut put: impl FnMut(usize, (f32, f32)),
    ) {
        let phase = cos_sin(wrap(-direct_turns) as f32);
        match (self, rays) {
            (Plan::None, _) | (_, None) => put(0, phase),
            (&Plan::Flat(direct, scattered), Some(rays)) => {
                let (real, imaginary) = rays.one(place);
                let real = direct * phase.0 + scattered * real;
                let imaginary = direct * phase.1 + scattered * imaginary;
                put(0, (real, imaginary));
            }
            (Plan::Wideband(comb), Some(rays)) => comb.each(rays, place, phase, put),
        }
    }
}

impl Plan {
    /// Sets the power and the delay of each tap from the power received over each path.
    pub(crate) fn lay(&mut self, direct: f64, taps: (&[f32], &[f32]), total: f64) {
        if let Plan::Wideband(comb) = self {
            comb.lay(direct, taps, total);
        }
    }

    /// Recomputes a tapped delay line for a delay spread in seconds.
    pub(crate) fn stretch(&mut self, delay_spread_s: f64) {
        if let Plan::Wideband(comb) = self {
            comb.stretch(delay_spread_s);
        }
    }
}

/// Returns the power of a complex amplitude.
#[inline]
pub(crate) fn power((real, imaginary): (f32, f32)) -> f32 {
    real * real + imaginary * imaginary
}
