//! The fading of one link: that of its condition, or of both while one passes into the other, and the sum
//! over the antennas of the receiver.

use super::fading::rays::{Place, Rays};
use super::fading::{MAX_SUB_BANDS, Plan, power};

/// LOS and NLOS by number.
pub(super) const LOS: usize = 0;
pub(super) const NLOS: usize = 1;

/// A condition with less of the mean power than this counts for nothing: 0.0004 dB.
const NEGLIGIBLE: f64 = 1e-4;

/// Fading in both conditions and their shares.
#[derive(Debug)]
pub(super) struct SmallScale {
    /// Waves in LOS and NLOS, drawn when the condition first occurs.
    rays: [Option<Rays>; 2],
    /// Those at the receiver's further antennas, which have nothing to do with the first one's.
    further: Vec<[Option<Rays>; 2]>,
    /// Plans of the link's own, where K factor or delay spread are the place's.
    own: [Option<Plan>; 2],
    /// Share of LOS in the mean power.
    los_share: f64,
}

impl SmallScale {
    /// Before anything is known there is no fading. The receiver has so many antennas.
    pub(super) fn new(antennas: u32) -> SmallScale {
        SmallScale {
            rays: [None, None],
            further: (1..antennas).map(|_| [None, None]).collect(),
            own: [None, None],
            los_share: 0.0,
        }
    }

    /// LOS has this share of the mean power from now on.
    pub(super) fn set_los_share(&mut self, share: f64) {
        self.los_share = share;
    }

    /// Whether a condition has a share in the channel.
    #[inline]
    pub(super) fn involves(&self, condition: usize) -> bool {
        match condition {
            LOS => self.los_share > NEGLIGIBLE,
            _ => self.los_share < 1.0 - NEGLIGIBLE,
        }
    }

    /// Whether the waves of a condition are drawn.
    pub(super) fn is_drawn(&self, condition: usize) -> bool {
        self.rays[condition].is_some()
    }

    /// Draws the waves of a condition at each antenna, by their number.
    pub(super) fn draw(&mut self, condition: usize, mut draw: impl FnMut(usize) -> Option<Rays>) {
        self.rays[condition] = draw(0);
        for (n, rays) in (1..).zip(&mut self.further) {
            rays[condition] = draw(n);
        }
    }

    /// The link's own plan of a condition.
    pub(super) fn own_mut(&mut self, condition: usize) -> &mut Option<Plan> {
        &mut self.own[condition]
    }

    #[inline]
    fn plan<'a>(&'a self, shared: &'a [Plan; 2], condition: usize) -> &'a Plan {
        self.own[condition].as_ref().unwrap_or(&shared[condition])
    }

    /// Whether sub-bands fade differently.
    pub(super) fn is_wideband(&self, shared: &[Plan; 2]) -> bool {
        let is_wideband = |n| matches!(self.plan(shared, n), Plan::Wideband(_));
        [LOS, NLOS]
            .into_iter()
            .any(|n| self.involves(n) && is_wideband(n))
    }

    /// Power gain of each sub-band, of mean 1 for each antenna over places: their signals are added up by
    /// maximum ratio combining, of noise and interference that are the same at all. The direct path has
    /// travelled `direct_turns` wavelengths.
    pub(super) fn gains(
        &self,
        shared: &[Plan; 2],
        place: Place,
        direct_turns: f64,
        out: &mut [f32],
    ) {
        self.gains_at(&self.rays, shared, (place, direct_turns), out);
        if self.further.is_empty() {
            return;
        }
        let mut one = [0.0; MAX_SUB_BANDS];
        for rays in &self.further {
            let one = &mut one[..out.len()];
            self.gains_at(rays, shared, (place, direct_turns), one);
            for (out, one) in out.iter_mut().zip(one) {
                *out += *one;
            }
        }
    }

    /// The same at one antenna.
    fn gains_at(
        &self,
        rays: &[Option<Rays>; 2],
        shared: &[Plan; 2],
        (place, direct_turns): (Place, f64),
        out: &mut [f32],
    ) {
        let n = match (self.involves(LOS), self.involves(NLOS)) {
            (true, true) => {
                let mut amplitudes = [(0.0, 0.0); MAX_SUB_BANDS];
                let amplitudes = &mut amplitudes[..out.len()];
                self.mix(rays, shared, (place, direct_turns), amplitudes);
                for (out, amplitude) in out.iter_mut().zip(amplitudes) {
                    *out = power(*amplitude);
                }
                return;
            }
            (true, false) => LOS,
            (false, _) => NLOS,
        };
        let plan = self.plan(shared, n);
        let way = (place, direct_turns);
        let drawn = rays[n].as_ref();
        match plan {
            Plan::Wideband(_) if drawn.is_some() => {
                plan.each(drawn, place, direct_turns, |band, amplitude| {
                    out[band] = power(amplitude);
                });
            }
            _ => out.fill(self.flat(rays, shared, n, way) as f32),
        }
    }

    /// Power gain over the whole band: the mean of the sub-bands.
    pub(super) fn flat_or_mean(
        &self,
        shared: &[Plan; 2],
        place: Place,
        direct_turns: f64,
        sub_bands: usize,
    ) -> f64 {
        let is_mixed = self.involves(LOS) && self.involves(NLOS);
        if is_mixed || self.is_wideband(shared) {
            let mut gains = [0.0; MAX_SUB_BANDS];
            let gains = &mut gains[..sub_bands];
            self.gains(shared, place, direct_turns, gains);
            return f64::from(gains.iter().sum::<f32>()) / sub_bands as f64;
        }
        let n = if self.involves(LOS) { LOS } else { NLOS };
        let way = (place, direct_turns);
        let first = self.flat(&self.rays, shared, n, way);
        match self.further.is_empty() {
            true => first,
            false => first + self.flat_of_further(shared, n, way),
        }
    }

    /// The gains of the further antennas.
    #[inline(never)]
    fn flat_of_further(&self, shared: &[Plan; 2], n: usize, way: (Place, f64)) -> f64 {
        let further = self.further.iter();
        further.map(|rays| self.flat(rays, shared, n, way)).sum()
    }

    #[inline]
    fn flat(
        &self,
        rays: &[Option<Rays>; 2],
        shared: &[Plan; 2],
        n: usize,
        (place, direct_turns): (Place, f64),
    ) -> f64 {
        let Some(rays) = &rays[n] else {
            return 1.0;
        };
        let mut gain = 1.0;
        self.plan(shared, n)
            .each(Some(rays), place, direct_turns, |_, amplitude| {
                gain = f64::from(power(amplitude));
            });
        gain
    }

    /// Adds up the amplitudes of both conditions by their shares of the power. They have nothing
    /// to do with each other; where neither fades, a quarter of a turn keeps them apart.
    fn mix(
        &self,
        rays: &[Option<Rays>; 2],
        shared: &[Plan; 2],
        (place, direct_turns): (Place, f64),
        amplitudes: &mut [(f32, f32)],
    ) {
        for (n, share, turns) in [
            (LOS, self.los_share, direct_turns),
            (NLOS, 1.0 - self.los_share, direct_turns + 0.25),
        ] {
            let root = share.sqrt() as f32;
            let (plan, rays) = (self.plan(shared, n), rays[n].as_ref());
            let is_wideband = matches!(plan, Plan::Wideband(_)) && rays.is_some();
            plan.each(rays, place, turns, |band, (real, imaginary)| {
                let bands = if is_wideband {
                    &mut amplitudes[band..=band]
                } else {
                    &mut *amplitudes
                };
                for amplitude in bands {
                    amplitude.0 += root * real;
                    amplitude.1 += root * imaginary;
                }
            });
        }
    }
}
