//! Tapped delay lines of TR 38.901 clause 7.7.2 and TS 38.101-4 Annex B.2.1.

use super::rays::{MOST_TAPS, Place, Rays};
use crate::channel::phasor::{LANES, cos_sin, wrap};
use fadeout_core::math::from_db;
use fadeout_core::{Hertz, Span};

const PROFILES: &str = include_str!("../../../../../data/tdl_profiles.csv");

/// A tapped-delay-line profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TdlProfile {
    /// TDL-A, NLOS (Table 7.7.2-1).
    A,
    /// TDL-B, NLOS (Table 7.7.2-2).
    B,
    /// TDL-C, NLOS (Table 7.7.2-3).
    C,
    /// TDL-D, LOS with K = 13.3 dB (Table 7.7.2-4).
    D,
    /// TDL-E, LOS with K = 22 dB (Table 7.7.2-5).
    E,
    /// TDLA30: 30 ns, conformance tests (TS 38.101-4 Table B.2.1.1-2).
    A30,
    /// TDLB100: 100 ns, conformance tests.
    B100,
    /// TDLC300: 300 ns, conformance tests.
    C300,
}

/// One tap.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tap {
    /// Delay in nanoseconds; of profiles A to E as a multiple of the delay spread.
    pub delay: f64,
    /// Mean power, linear, as tabulated (not normalised).
    pub power: f64,
    /// Whether it is the direct path, which does not fade.
    pub is_direct: bool,
}

impl TdlProfile {
    /// The name of the profile in the table.
    fn key(self) -> &'static str {
        match self {
            TdlProfile::A => "TDL-A",
            TdlProfile::B => "TDL-B",
            TdlProfile::C => "TDL-C",
            TdlProfile::D => "TDL-D",
            TdlProfile::E => "TDL-E",
            TdlProfile::A30 => "TDL-A30",
            TdlProfile::B100 => "TDL-B100",
            TdlProfile::C300 => "TDL-C300",
        }
    }

    /// Whether the delays are in nanoseconds rather than multiples of a delay spread.
    pub fn has_own_delays(self) -> bool {
        matches!(self, TdlProfile::A30 | TdlProfile::B100 | TdlProfile::C300)
    }

    /// The taps as tabulated.
    pub fn taps(self) -> Vec<Tap> {
        PROFILES
            .lines()
            .filter_map(|line| {
                let mut fields = line.split(',');
                if fields.next()? != self.key() {
                    return None;
                }
                let delay = fields.nth(1)?.parse().ok()?;
                let power_db: f64 = fields.next()?.parse().ok()?;
                Some(Tap {
                    delay,
                    power: from_db(power_db),
                    is_direct: fields.next()? == "LOS",
                })
            })
            .collect()
    }
}

/// A profile laid over a band: what a tap contributes to each sub-band.
///
/// Sub-bands lie in pairs around the carrier. A tap's turn `exp(-j 2 pi f tau)` at one of a pair is
/// the conjugate of that at the other, so both have the same four products, and only the lower half
/// of the band is kept.
#[derive(Debug, Clone)]
pub(crate) struct Comb {
    /// Mean amplitude of each fading tap; powers add up to 1 with the direct path's.
    amplitudes: Vec<f32>,
    /// Amplitude of the direct path; it arrives with no delay.
    direct: f32,
    /// Real and imaginary part of a tap's turn in eight sub-bands; of all taps for the lowest
    /// eight, then the next, up to the carrier.
    turns: Vec<([f32; LANES], [f32; LANES])>,
    sub_bands: usize,
}

impl Comb {
    pub(crate) fn new(
        profile: TdlProfile,
        delay_spread: Span,
        bandwidth: Hertz,
        sub_bands: usize,
    ) -> Comb {
        let unit = if profile.has_own_delays() {
            1e-9
        } else {
            delay_spread.as_secs_f64()
        };
        let taps = profile.taps();
        let total: f64 = taps.iter().map(|tap| tap.power).sum();
        let amplitude = |tap: &Tap| (tap.power / total).sqrt() as f32;
        let direct = taps.iter().find(|tap| tap.is_direct);
        let fading: Vec<&Tap> = taps.iter().filter(|tap| !tap.is_direct).collect();
        let mut turns = Vec::new();
        for first in (0..sub_bands.div_ceil(2)).step_by(LANES) {
            for tap in &fading {
                let mut group = ([0.0; LANES], [0.0; LANES]);
                for lane in 0..LANES {
                    let centre = (first + lane) as f64 + 0.5;
                    let offset = bandwidth.0 * (centre / sub_bands as f64 - 0.5);
                    let (cosine, sine) = cos_sin(wrap(-offset * tap.delay * unit) as f32);
                    group.0[lane] = cosine;
                    group.1[lane] = sine;
                }
                turns.push(group);
            }
        }
        Comb {
            amplitudes: fading.into_iter().map(amplitude).collect(),
            direct: direct.map_or(0.0, amplitude),
            turns,
            sub_bands,
        }
    }

    /// Number of taps that fade.
    pub(crate) fn taps(&self) -> usize {
        self.amplitudes.len()
    }

    /// Power gain of each sub-band into `out`, whose length is the number of sub-bands.
    pub(crate) fn gains(&self, rays: &Rays, place: Place, direct: (f32, f32), out: &mut [f32]) {
        debug_assert_eq!(out.len(), self.sub_bands);
        let (mut real, mut imaginary) = ([0.0; MOST_TAPS], [0.0; MOST_TAPS]);
        rays.all(place, &mut real, &mut imaginary);
        let taps = self.amplitudes.len();
        for (n, amplitude) in self.amplitudes.iter().enumerate() {
            real[n] *= amplitude;
            imaginary[n] *= amplitude;
        }
        let direct = (self.direct * direct.0, self.direct * direct.1);
        let half = self.sub_bands.div_ceil(2);
        for (group, turns) in self.turns.chunks_exact(taps).enumerate() {
            let sums = Products::sum(&real[..taps], &imaginary[..taps], turns);
            for lane in 0..LANES.min(half - group * LANES) {
                let sub_band = group * LANES + lane;
                let (low, high) = sums.pair(lane, direct);
                out[sub_band] = low;
                out[self.sub_bands - 1 - sub_band] = high;
            }
        }
    }
}

/// Sums over the taps of what a tap `a + jb` and its turn `c + js` have for products.
struct Products {
    ac: [f32; LANES],
    bs: [f32; LANES],
    as_: [f32; LANES],
    bc: [f32; LANES],
}

impl Products {
    #[inline]
    fn sum(real: &[f32], imaginary: &[f32], turns: &[([f32; LANES], [f32; LANES])]) -> Products {
        let mut ac = [0.0; LANES];
        let mut bs = [0.0; LANES];
        let mut as_ = [0.0; LANES];
        let mut bc = [0.0; LANES];
        for ((a, b), (cosines, sines)) in real.iter().zip(imaginary).zip(turns) {
            for lane in 0..LANES {
                ac[lane] += a * cosines[lane];
                bs[lane] += b * sines[lane];
                as_[lane] += a * sines[lane];
                bc[lane] += b * cosines[lane];
            }
        }
        Products { ac, bs, as_, bc }
    }

    /// Power gain of a sub-band and of its mirror image, with the direct path.
    #[inline]
    fn pair(&self, lane: usize, direct: (f32, f32)) -> (f32, f32) {
        let power = |real: f32, imaginary: f32| {
            let (real, imaginary) = (direct.0 + real, direct.1 + imaginary);
            real * real + imaginary * imaginary
        };
        let Products { ac, bs, as_, bc } = self;
        (
            power(ac[lane] - bs[lane], bc[lane] + as_[lane]),
            power(ac[lane] + bs[lane], bc[lane] - as_[lane]),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_has_its_taps() {
        for (profile, fading, direct) in [
            (TdlProfile::A, 23, 0),
            (TdlProfile::B, 23, 0),
            (TdlProfile::C, 24, 0),
            (TdlProfile::D, 13, 1),
            (TdlProfile::E, 14, 1),
            (TdlProfile::A30, 12, 0),
            (TdlProfile::B100, 12, 0),
            (TdlProfile::C300, 12, 0),
        ] {
            let taps = profile.taps();
            assert_eq!(taps.iter().filter(|tap| tap.is_direct).count(), direct);
            assert_eq!(taps.len(), fading + direct, "{profile:?}");
            assert!(fading <= MOST_TAPS);
        }
    }
}
