//! Tapped delay lines of the channel model and of the conformance tests.
//!
//! Standard: TR 38.901 §7.7.2; TS 38.101-4 §B.2.1.

use super::rays::{MOST_TAPS, Place, Rays};
use crate::phasor::{LANES, cos_sin, wrap};
use crate::wide::wide;
use fadeout_core::math::from_db;
use fadeout_core::{Hertz, Span};

const PROFILES: &str = include_str!("../../data/tdl_profiles.csv");

fadeout_core::choices! {
    /// A tapped-delay-line profile.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum TdlProfile {
        /// TDL-A, NLOS (Table 7.7.2-1).
        A = "tdl-a",
        /// TDL-B, NLOS (Table 7.7.2-2).
        B = "tdl-b",
        /// TDL-C, NLOS (Table 7.7.2-3).
        C = "tdl-c",
        /// TDL-D, LOS with K = 13.3 dB (Table 7.7.2-4).
        D = "tdl-d",
        /// TDL-E, LOS with K = 22 dB (Table 7.7.2-5).
        E = "tdl-e",
        /// TDLA30 with a delay spread of 30 ns, for conformance tests (TS 38.101-4 Table
        /// B.2.1.1-2).
        A30 = "tdl-a30",
        /// TDLB100 with a delay spread of 100 ns, for conformance tests.
        B100 = "tdl-b100",
        /// TDLC300 with a delay spread of 300 ns, for conformance tests.
        C300 = "tdl-c300",
    }
}

/// Tap of a profile.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tap {
    /// Delay in nanoseconds. In profiles A to E it is a multiple of the delay spread.
    pub delay: f64,
    /// Mean power, linear, as tabulated (not normalised).
    pub power: f64,
    /// True if the tap is the direct path, which does not fade.
    pub is_direct: bool,
}

impl TdlProfile {
    /// Returns true if the profile has fixed delays in nanoseconds, and no multiples of a delay
    /// spread.
    pub fn has_own_delays(self) -> bool {
        matches!(self, TdlProfile::A30 | TdlProfile::B100 | TdlProfile::C300)
    }

    /// Returns the taps as tabulated.
    pub fn taps(self) -> Vec<Tap> {
        PROFILES
            .lines()
            .filter_map(|line| {
                let mut fields = line.split(',');
                if !fields.next()?.eq_ignore_ascii_case(self.name()) {
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

/// Profile evaluated over a band: the contribution of each tap to each sub-band.
///
/// Sub-bands lie in pairs at equal distance below and above the carrier. The phasors `exp(-j 2 pi f
/// tau)` of a tap at both sub-bands of a pair are complex conjugates. Both sub-bands therefore use
/// the same four products, and only the lower half of the band is stored.
#[derive(Debug, Clone)]
pub(crate) struct Comb {
    /// Mean amplitude of each fading tap. The powers of the taps and the direct path add up to 1.
    amplitudes: Vec<f32>,
    /// Delay of each fading tap, in seconds or as a multiple of the delay spread.
    delays: Vec<f64>,
    /// Amplitude of the direct path, which has no delay.
    direct: f32,
    /// Real and imaginary parts of the taps' phasors, in groups of eight sub-bands. The first group
    /// has the lowest eight sub-bands for all taps. The next groups follow up to the carrier.
    turns: Vec<([f32; LANES], [f32; LANES])>,
    /// Centre frequencies of the sub-bands below the carrier, relative to the carrier, in hertz and
    /// in groups of eight.
    offsets_hz: Vec<[f64; LANES]>,
    bandwidth_hz: f64,
    sub_bands: usize,
}

/// Returns the centre frequencies of sub-bands relative to the carrier, in groups of eight from the
/// lowest up to the carrier.
fn offsets_hz(bandwidth_hz: f64, sub_bands: usize) -> Vec<[f64; LANES]> {
    let groups = sub_bands.div_ceil(2).div_ceil(LANES);
    let offset = |number: usize| {
        let centre = number as f64 + 0.5;
        bandwidth_hz * (centre / sub_bands as f64 - 0.5)
    };
    (0..groups)
        .map(|group| std::array::from_fn(|lane| offset(group * LANES + lane)))
        .collect()
}

impl Comb {
    pub(crate) fn new(
        profile: TdlProfile,
        delay_spread: Span,
        bandwidth: Hertz,
        sub_bands: usize,
    ) -> Comb {
        let taps = profile.taps();
        let total: f64 = taps.iter().map(|tap| tap.power).sum();
        debug_assert!(total > 0.0, "the taps of a profile have no power");
        let amplitude = |tap: &Tap| (tap.power / total).sqrt() as f32;
        let direct = taps.iter().find(|tap| tap.is_direct);
        let fading = || taps.iter().filter(|tap| !tap.is_direct);
        let unit = if profile.has_own_delays() { 1e-9 } else { 1.0 };
        let offsets_hz = offsets_hz(bandwidth.0, sub_bands);
        let mut comb = Comb {
            amplitudes: fading().map(amplitude).collect(),
            delays: fading().map(|tap| tap.delay * unit).collect(),
            direct: direct.map_or(0.0, amplitude),
            turns: vec![Default::default(); offsets_hz.len() * fading().count()],
            offsets_hz,
            bandwidth_hz: bandwidth.0,
            sub_bands,
        };
        let spread = delay_spread.as_secs_f64();
        comb.stretch(if profile.has_own_delays() {
            1.0
        } else {
            spread
        });
        comb
    }

    /// Returns `count` taps without power. [`Comb::lay`] sets them later.
    pub(crate) fn of_clusters(count: usize, bandwidth: Hertz, sub_bands: usize) -> Comb {
        let offsets_hz = offsets_hz(bandwidth.0, sub_bands);
        Comb {
            amplitudes: vec![0.0; count],
            // NaN differs from every delay, so the first call computes all taps.
            delays: vec![f64::NAN; count],
            direct: 0.0,
            turns: vec![Default::default(); offsets_hz.len() * count],
            offsets_hz,
            bandwidth_hz: bandwidth.0,
            sub_bands,
        }
    }

    /// Sets the mean power and the delay in seconds of each tap, and the power of the direct path.
    /// The powers add up to `total`. Delays are rounded to multiples of `1 / STEPS` of the inverse
    /// bandwidth. So most rounded delays stay the same when a UE moves a little.
    pub(crate) fn lay(&mut self, direct: f64, taps: (&[f32], &[f32]), total: f64) {
        debug_assert!(
            total > 0.0 && direct >= 0.0,
            "a direct path of {direct}, of {total} together"
        );
        let amplitude = |power: f64| (power / total).max(0.0).sqrt() as f32;
        self.direct = amplitude(direct);
        for (known, power) in self.amplitudes.iter_mut().zip(taps.0) {
            *known = amplitude(f64::from(*power));
        }
        let steps_hz = self.bandwidth_hz * STEPS;
        wide(
            #[inline(always)]
            || {
                for (tap, delay) in taps.1.iter().enumerate() {
                    let delay = (f64::from(*delay) * steps_hz).round() / steps_hz;
                    if self.delays[tap] != delay {
                        self.delays[tap] = delay;
                        self.turn(tap, delay);
                    }
                }
            },
        );
    }

    /// Computes the phasors of one tap over the band.
    #[inline(always)]
    fn turn(&mut self, tap: usize, delay: f64) {
        debug_assert!(
            delay >= 0.0 && delay.is_finite(),
            "tap {tap} comes {delay} s later"
        );
        let taps = self.delays.len();
        let groups = self.turns.chunks_exact_mut(taps);
        for (turns, offsets_hz) in groups.zip(&self.offsets_hz) {
            let (cosines, sines) = &mut turns[tap];
            // Each step is a separate loop, so that the compiler can vectorise it, as in
            // [`Waves`](crate::phasor::Waves).
            let turned = offsets_hz.map(|offset| wrap(-offset * delay) as f32);
            for lane in 0..LANES {
                (cosines[lane], sines[lane]) = cos_sin(turned[lane]);
            }
        }
    }

    /// Recomputes the taps over the band with all delays multiplied by `by`. For profiles without
    /// fixed delays, `by` is the delay spread in seconds.
    pub(crate) fn stretch(&mut self, by: f64) {
        debug_assert!(by >= 0.0 && by.is_finite(), "delays are stretched by {by}");
        for tap in 0..self.delays.len() {
            self.turn(tap, self.delays[tap] * by);
        }
    }

    /// Returns the number of fading taps.
    pub(crate) fn taps(&self) -> usize {
        self.amplitudes.len()
    }

    /// Calls `put` with the number of each sub-band and its complex amplitude.
    #[inline]
    pub(crate) fn each(
        &self,
        rays: &Rays,
        place: Place,
        direct: (f32, f32),
        mut put: impl FnMut(usize, (f32, f32)),
    ) {
        wide(
            #[inline(always)]
            || {
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
                        put(sub_band, low);
                        put(self.sub_bands - 1 - sub_band, high);
                    }
                }
            },
        );
    }
}

/// Number of delay steps in the inverse bandwidth. At the band's edge one step turns a tap's phase
/// by three degrees.
const STEPS: f64 = 64.0;

/// Sums over all taps of the four products of a tap's amplitude `a + jb` and its phasor `c + js`.
struct Products {
    ac: [f32; LANES],
    bs: [f32; LANES],
    as_: [f32; LANES],
    bc: [f32; LANES],
}

impl Products {
    #[inline(always)]
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

    /// Returns the amplitudes of a sub-band and of its mirror image above the carrier, including
    /// the direct path.
    #[inline(always)]
    fn pair(&self, lane: usize, direct: (f32, f32)) -> ((f32, f32), (f32, f32)) {
        let add = |real: f32, imaginary: f32| (direct.0 + real, direct.1 + imaginary);
        let Products { ac, bs, as_, bc } = self;
        (
            add(ac[lane] - bs[lane], bc[lane] + as_[lane]),
            add(ac[lane] + bs[lane], bc[lane] - as_[lane]),
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
