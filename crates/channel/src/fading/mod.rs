//! Small-scale fading: the power gain of a link around its local mean, as a closed function of
//! place and time.
//!
//! Nothing here has a state that a query would advance. The gain at an instant is the same however
//! often and in whatever order it is asked, so that one congestion control sees the channel that
//! another saw.

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

/// Sub-bands at most.
pub const MAX_SUB_BANDS: usize = fadeout_core::agreed::MOST_FADING_SUB_BANDS;

/// How a link fades in one condition.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fading {
    /// Not at all.
    None,
    /// Many scattered paths and no dominant one, the same over the whole band.
    Rayleigh,
    /// A direct path beside the scattered ones, the same over the whole band.
    Rician {
        /// Power of the direct path over that of all others, dB.
        k_db: f64,
    },
    /// A tapped delay line: the gain differs over the band.
    Tdl {
        /// The profile.
        profile: TdlProfile,
        /// RMS delay spread that scales profiles A to E (TR 38.901 Table 7.7.3-1: 10 ns very
        /// short, 30 short, 100 nominal, 300 long, 1000 very long). Profiles with delays of
        /// their own ignore it.
        delay_spread: Span,
    },
    /// By the clusters of the place, which decide on the gain of beams too: TR 38.901 clause 7.5.
    Clusters {
        /// K factor in LOS, dB, where it is not drawn with the place.
        k_db: f64,
        /// RMS delay spread, where it is not drawn.
        delay_spread: Span,
    },
}

/// How links fade in one condition: what those of a carrier share, or one's own.
#[derive(Debug, Clone)]
pub(crate) enum Plan {
    None,
    /// Amplitudes of the direct path and of the scattered ones.
    Flat(f32, f32),
    Wideband(Comb),
}

impl Plan {
    pub(crate) fn new(fading: Fading, bandwidth: Hertz, sub_bands: usize) -> Plan {
        match fading {
            // That of clusters has their number, which depends on the place's scenario.
            Fading::None | Fading::Clusters { .. } => Plan::None,
            Fading::Rayleigh => Plan::Flat(0.0, 1.0),
            Fading::Rician { k_db } => Plan::rician(k_db),
            Fading::Tdl {
                profile,
                delay_spread,
            } => Plan::Wideband(Comb::new(profile, delay_spread, bandwidth, sub_bands)),
        }
    }

    /// The taps of so many clusters.
    pub(crate) fn of_clusters(count: usize, bandwidth: Hertz, sub_bands: usize) -> Plan {
        Plan::Wideband(Comb::of_clusters(count, bandwidth, sub_bands))
    }

    pub(crate) fn rician(k_db: f64) -> Plan {
        let k = from_db(k_db);
        let (direct, scattered) = ((k / (k + 1.0)).sqrt(), (1.0 / (k + 1.0)).sqrt());
        Plan::Flat(direct as f32, scattered as f32)
    }

    /// Draws the waves of one link; `None` when it does not fade.
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

    /// Gives each sub-band's number and amplitude, real and imaginary, of mean power 1 to `put`.
    /// The direct path has travelled `direct_turns` wavelengths. Of a flat channel there is one
    /// sub-band, number zero.
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
    /// Lays the taps by the power of each way.
    pub(crate) fn lay(&mut self, direct: f64, taps: (&[f32], &[f32]), total: f64) {
        if let Plan::Wideband(comb) = self {
            comb.lay(direct, taps, total);
        }
    }

    /// Lays a tapped delay line anew, for another delay spread in seconds.
    pub(crate) fn stretch(&mut self, delay_spread_s: f64) {
        if let Plan::Wideband(comb) = self {
            comb.stretch(delay_spread_s);
        }
    }
}

/// Power of an amplitude.
#[inline]
pub(crate) fn power((real, imaginary): (f32, f32)) -> f32 {
    real * real + imaginary * imaginary
}
