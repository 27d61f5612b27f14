//! Small-scale fading of one link. During a transition between LOS and NLOS, the fading of both
//! states is mixed. The powers at all antennas of the receiver are added.

use super::fading::rays::{Place, Rays};
use super::fading::{MAX_SUB_BANDS, Plan, power};
use fadeout_core::random::Stream;
use std::sync::OnceLock;

/// Indexes of LOS and NLOS in arrays.
pub(super) const LOS: usize = 0;
pub(super) const NLOS: usize = 1;

/// A LOS state is ignored if it contributes less than this share of the mean power. The error of
/// the mean power is then at most 0.0004 dB.
const NEGLIGIBLE: f64 = 1e-4;

/// Fading data that all links of a carrier share.
#[derive(Debug)]
pub(super) struct Fadings {
    /// Fading plans in LOS and in NLOS.
    pub(super) plans: [Plan; 2],
    pub(super) wavelength_m: f64,
    /// Largest Doppler shift by moving scatterers.
    pub(super) environment_doppler_hz: f64,
    /// Number of antennas of the receiver.
    pub(super) antennas: u32,
}

/// Fading of a link in LOS and in NLOS, and the share of each state in the power.
#[derive(Debug)]
pub(super) struct SmallScale {
    /// Waves in LOS and NLOS at each antenna of the receiver, independent of each other. `None` for
    /// a LOS state without fading. The waves are drawn on first use, because most interfering links
    /// need only the mean power.
    drawn: [OnceLock<Box<[Option<Rays>]>>; 2],
    /// Fading plans of this link only, used if K factor or delay spread depend on the position.
    /// They are made on first use, too, because a plan takes several kilobytes.
    own: [OnceLock<Box<Plan>>; 2],
    /// Share of LOS in the mean power.
    los_share: f64,
    seed: u64,
    entity: u64,
}

/// Names of the random streams in LOS and NLOS: one for the first antenna and one for all others.
const DOMAINS: [[&str; 2]; 2] = [
    ["radio.fading.los", "radio.fading.further.los"],
    ["radio.fading.nlos", "radio.fading.further.nlos"],
];

impl SmallScale {
    /// Returns the fading of link number `entity` in a run with this seed.
    pub(super) fn new(seed: u64, entity: u64) -> SmallScale {
        SmallScale {
            drawn: [OnceLock::new(), OnceLock::new()],
            own: [OnceLock::new(), OnceLock::new()],
            los_share: 0.0,
            seed,
            entity,
        }
    }

    /// Returns the waves in a LOS state at an antenna. `None` if this state has no fading.
    #[inline]
    fn rays(&self, shared: &Fadings, (condition, antenna): (usize, usize)) -> Option<&Rays> {
        let drawn = self.drawn[condition].get_or_init(|| self.draw(shared, condition));
        drawn[antenna].as_ref()
    }

    fn draw(&self, shared: &Fadings, condition: usize) -> Box<[Option<Rays>]> {
        let stream = |domain| Stream::new(self.seed, domain, self.entity);
        let [mut first, mut others] = DOMAINS[condition].map(stream);
        let draw = |antenna| {
            let stream = match antenna {
                0 => &mut first,
                _ => &mut others,
            };
            let (wavelength, doppler) = (shared.wavelength_m, shared.environment_doppler_hz);
            shared.plans[condition].rays(stream, wavelength, doppler)
        };
        (0..shared.antennas).map(draw).collect()
    }

    /// Sets the share of LOS in the mean power.
    pub(super) fn set_los_share(&mut self, share: f64) {
        debug_assert!((0.0..=1.0).contains(&share), "LOS has {share} of the power");
        self.los_share = share;
    }

    /// Returns true if a LOS state contributes to the channel.
    #[inline]
    pub(super) fn involves(&self, condition: usize) -> bool {
        match condition {
            LOS => self.los_share > NEGLIGIBLE,
            _ => self.los_share < 1.0 - NEGLIGIBLE,
        }
    }

    /// Returns the link's own plan for a LOS state, so that the caller can replace it. `None`
    /// before its first use.
    pub(super) fn own_mut(&mut self, condition: usize) -> Option<&mut Plan> {
        self.own[condition].get_mut().map(Box::as_mut)
    }

    /// Makes the link's own plans of the LOS states that contribute to the channel, before their
    /// use. `make` returns the plan of a LOS state, and `None` if it is that of all links.
    #[inline]
    pub(super) fn make_own(&self, make: impl Fn(usize) -> Option<Plan>) {
        for n in [LOS, NLOS] {
            if self.involves(n)
                && self.own[n].get().is_none()
                && let Some(plan) = make(n)
            {
                // Another thread has made the same plan, if any.
                let _ = self.own[n].set(Box::new(plan));
            }
        }
    }

    #[inline]
    fn plan<'a>(&'a self, shared: &'a Fadings, condition: usize) -> &'a Plan {
        let own = self.own[condition].get();
        own.map_or(&shared.plans[condition], Box::as_ref)
    }

    /// Returns true if sub-bands have different fading.
    pub(super) fn is_wideband(&self, shared: &Fadings) -> bool {
        let is_wideband = |n| matches!(self.plan(shared, n), Plan::Wideband(_));
        [LOS, NLOS]
            .into_iter()
            .any(|n| self.involves(n) && is_wideband(n))
    }

    /// Computes the power gain of each sub-band. Its mean over positions is 1 for each antenna. The
    /// receiver combines antennas by maximum ratio, so their gains add up. Noise and interference
    /// have the same power at all antennas. `direct_turns` is the length of the direct path in
    /// wavelengths.
    pub(super) fn gains(&self, shared: &Fadings, place: Place, direct_turns: f64, out: &mut [f32]) {
        let path = (place, direct_turns);
        self.gains_at(0, shared, path, out);
        if shared.antennas == 1 {
            return;
        }
        let mut one = [0.0; MAX_SUB_BANDS];
        for antenna in 1..shared.antennas as usize {
            let one = &mut one[..out.len()];
            self.gains_at(antenna, shared, path, one);
            for (out, one) in out.iter_mut().zip(one) {
                *out += *one;
            }
        }
    }

    /// Computes the power gain of each sub-band at one antenna.
    fn gains_at(
        &self,
        antenna: usize,
        shared: &Fadings,
        (place, direct_turns): (Place, f64),
        out: &mut [f32],
    ) {
        let n = match (self.involves(LOS), self.involves(NLOS)) {
            (true, true) => {
                let mut amplitudes = [(0.0, 0.0); MAX_SUB_BANDS];
                let amplitudes = &mut amplitudes[..out.len()];
                self.mix(antenna, shared, (place, direct_turns), amplitudes);
                for (out, amplitude) in out.iter_mut().zip(amplitudes) {
                    *out = power(*amplitude);
                }
                return;
            }
            (true, false) => LOS,
            (false, _) => NLOS,
        };
        let plan = self.plan(shared, n);
        let path = (place, direct_turns);
        let rays = self.rays(shared, (n, antenna));
        match plan {
            Plan::Wideband(_) if rays.is_some() => {
                plan.each(rays, place, direct_turns, |band, amplitude| {
                    out[band] = power(amplitude);
                });
            }
            _ => out.fill(self.flat(antenna, shared, n, path) as f32),
        }
    }

    /// Returns the power gain over the whole band, which is the mean of the sub-bands.
    pub(super) fn flat_or_mean(
        &self,
        shared: &Fadings,
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
        let path = (place, direct_turns);
        let first = self.flat(0, shared, n, path);
        match shared.antennas {
            1 => first,
            _ => first + self.flat_of_other_antennas(shared, n, path),
        }
    }

    /// Returns the sum of the gains of all antennas except the first.
    #[inline(never)]
    fn flat_of_other_antennas(&self, shared: &Fadings, n: usize, path: (Place, f64)) -> f64 {
        let others = 1..shared.antennas as usize;
        others
            .map(|antenna| self.flat(antenna, shared, n, path))
            .sum()
    }

    #[inline]
    fn flat(
        &self,
        antenna: usize,
        shared: &Fadings,
        n: usize,
        (place, direct_turns): (Place, f64),
    ) -> f64 {
        let rays = self.rays(shared, (n, antenna));
        if rays.is_none() {
            return 1.0;
        }
        let mut gain = 1.0;
        self.plan(shared, n)
            .each(rays, place, direct_turns, |_, amplitude| {
                gain = f64::from(power(amplitude));
            });
        gain
    }

    /// Adds the amplitudes of both LOS states, weighted by their shares of the power. The states
    /// are independent. If neither state fades, a phase shift of a quarter turn makes their powers
    /// add.
    fn mix(
        &self,
        antenna: usize,
        shared: &Fadings,
        (place, direct_turns): (Place, f64),
        amplitudes: &mut [(f32, f32)],
    ) {
        for (n, share, turns) in [
            (LOS, self.los_share, direct_turns),
            (NLOS, 1.0 - self.los_share, direct_turns + 0.25),
        ] {
            let root = share.sqrt() as f32;
            let (plan, rays) = (self.plan(shared, n), self.rays(shared, (n, antenna)));
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
