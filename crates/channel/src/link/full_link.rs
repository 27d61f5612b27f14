//! Full form of a link.

use super::environment::Shared;
use super::latest_ends::LatestEnds;
use super::link_path::LinkPath;
use super::surroundings::{LinkSurroundings, SurroundingsCache};
use super::{LargeScale, State};
use crate::antenna::management::FailureMonitor;
use crate::antenna::recovery::CallerBeams;
use crate::antenna::tracking::BeamTrack;
use crate::blockage::{MAX_BLOCKAGES, Process, View};
use crate::clusters::{Mix, Scattering, ScatteringInputs};
use crate::ends::LinkEnds;
use crate::fading::Plan;
use crate::fading::rays::Place;
use crate::path_loss::Condition;
use crate::small_scale::{LOS, NLOS, SmallScale};
use crate::transition::{self, Transition};
use fadeout_core::math::{pow, to_db};
use fadeout_core::random::Stream;
use fadeout_core::{Point, Time};
use std::sync::Arc;

/// Full form of a link, with fading, blockages and beams.
#[derive(Debug)]
pub(super) struct FullLink {
    pub(super) path: LinkPath,
    pub(super) blockages: Vec<Box<dyn Process>>,
    pub(super) monitor: Option<Box<FailureMonitor>>,
    /// State of the beams if the caller detects beam failure. `None` if the link itself detects it.
    /// `monitor` is `None` if this field is set.
    pub(super) caller_beams: Option<Box<CallerBeams>>,
    /// Positions of the UE at beam measurements. `None` if the UE's position is not predicted.
    pub(super) track: Option<Box<BeamTrack>>,
    fading: SmallScale,
    pub(super) scattering: Scattering,
    /// Decimal logarithms of the delay spreads in seconds of the link's own fading plans.
    spreads_lg: [f64; 2],
    pub(super) latest_ends: Option<LatestEnds>,
    pub(super) large_scale: LargeScale,
}

/// Gains of the antennas at both ends in one LOS state, dBi, and loss by blockage, dB.
#[derive(Debug, Clone, Copy)]
struct EndGains {
    base_dbi: f64,
    ue_dbi: f64,
    blockage_db: f64,
}

impl EndGains {
    fn sum_db(&self) -> f64 {
        self.base_dbi + self.ue_dbi - self.blockage_db
    }
}

/// Inputs of an evaluation: shared data, time, ends, and the power of LOS over NLOS before antennas
/// in dB.
type Inputs<'a> = (&'a Shared, Time, &'a LinkEnds, f64);

/// Names of the random streams of a link's blockages, one for each blockage.
const BLOCKAGE_DOMAINS: [&str; MAX_BLOCKAGES] = [
    "radio.blockage.0",
    "radio.blockage.1",
    "radio.blockage.2",
    "radio.blockage.3",
];

impl FullLink {
    /// Returns the full link for this path.
    pub(super) fn new(path: LinkPath) -> FullLink {
        let shared = Arc::clone(&path.shared);
        let (config, seed) = (&shared.config, shared.seed);
        let entity = path.key.entity();
        let ue = u64::from(path.key.ue);
        let blockages = config.blockages.iter().enumerate().map(|(n, blockage)| {
            let of = if blockage.surrounds_the_ue() {
                ue
            } else {
                entity
            };
            blockage.start(Stream::new(seed, BLOCKAGE_DOMAINS[n], of))
        });
        let beams = config.beams.as_ref();
        FullLink {
            scattering: Scattering::new(&shared.laws, seed, u64::from(path.key.site)),
            blockages: blockages.collect(),
            monitor: beams.and_then(FailureMonitor::new).map(Box::new),
            caller_beams: None,
            track: beams.and_then(BeamTrack::from_management).map(Box::new),
            fading: SmallScale::new(seed, entity),
            spreads_lg: [f64::NAN; 2],
            latest_ends: None,
            large_scale: LargeScale::UNKNOWN,
            path,
        }
    }

    /// Implements
    /// [`LinkChannel::cached_large_scale_db`](super::LinkChannel::cached_large_scale_db).
    pub(super) fn cached_large_scale_db(
        &mut self,
        now: Time,
        ends: &LinkEnds,
        cache: &mut SurroundingsCache,
    ) -> f64 {
        let mut is_alike = false;
        match &mut self.latest_ends {
            Some(latest_ends) if latest_ends.is_at(now, ends) => return self.large_scale.gain_db,
            Some(latest_ends) if !self.path.shared.is_timeless => latest_ends.replace(now, ends),
            Some(latest_ends) => {
                let before = latest_ends.ends();
                latest_ends.replace(now, ends);
                is_alike = self.is_alike(&before, ends);
            }
            None => self.latest_ends = Some(LatestEnds::new(now, ends)),
        }
        if is_alike {
            return self.large_scale.gain_db;
        }
        let shared = Arc::clone(&self.path.shared);
        self.large_scale = self.evaluate(&shared, now, ends, cache);
        let LargeScale {
            state,
            gain_db,
            shadowing_db,
            ..
        } = self.large_scale;
        let found = (state, gain_db, shadowing_db);
        self.path.record_evaluation(now, ends, found);
        let place = ends.ue.position;
        self.lay_out_fading(&shared, (place.x, place.y));
        self.large_scale.gain_db
    }

    /// Returns true if an evaluation would repeat the last result. This requires that nothing
    /// depends on time and that the ends have not moved. If clusters affect the gain, beams toward
    /// other nodes must also be unchanged.
    fn is_alike(&self, before: &LinkEnds, ends: &LinkEnds) -> bool {
        let beams_matter = self.path.shared.clusters_affect_gain;
        let beam = |at: Option<Point>| at.filter(|_| beams_matter).map(|_| Point::default());
        let without_beams = |ends: &LinkEnds| LinkEnds {
            base_beam_at: beam(ends.base_beam_at),
            ue_beam_at: beam(ends.ue_beam_at),
            ..*ends
        };
        self.path.shared.is_timeless && without_beams(before) == without_beams(ends)
    }

    /// Implements [`LinkChannel::fading`](super::LinkChannel::fading).
    pub(super) fn fading(&self, t: Time, out: &mut [f32]) {
        let Some(latest_ends) = &self.latest_ends else {
            return out.fill(1.0);
        };
        self.fading.make_own(|n| self.own_plan(n));
        let (place, direct_turns) = self.place(latest_ends, t);
        let fadings = &self.path.shared.fadings;
        self.fading.gains(fadings, place, direct_turns, out);
    }

    /// Implements [`LinkChannel::fading_flat`](super::LinkChannel::fading_flat).
    pub(super) fn fading_flat(&self, t: Time) -> f64 {
        let Some(latest_ends) = &self.latest_ends else {
            return 1.0;
        };
        self.fading.make_own(|n| self.own_plan(n));
        let (place, direct_turns) = self.place(latest_ends, t);
        let (fadings, sub_bands) = (&self.path.shared.fadings, self.path.shared.config.sub_bands);
        self.fading
            .flat_or_mean(fadings, place, direct_turns, sub_bands)
    }

    /// Implements [`LinkChannel::sub_bands`](super::LinkChannel::sub_bands).
    pub(super) fn sub_bands(&self) -> Option<usize> {
        let is_wideband = self.fading.is_wideband(&self.path.shared.fadings);
        is_wideband.then_some(self.path.shared.config.sub_bands)
    }

    #[inline]
    fn place(&self, latest_ends: &LatestEnds, t: Time) -> (Place, f64) {
        let position = latest_ends.relative(t);
        let place = Place {
            x: position.x,
            y: position.y,
            t: t.as_secs_f64(),
        };
        (
            place,
            position.length() / self.path.shared.fadings.wavelength_m,
        )
    }

    /// Sets K factor and delay spread at the UE's position for the LOS states that contribute to
    /// the channel.
    fn lay_out_fading(&mut self, shared: &Shared, place: (f64, f64)) {
        if let Some(law) = shared.laws.k_factor
            && self.fading.involves(LOS)
        {
            let k_db = law.mean + law.deviation * self.path.maps.k_factor(place);
            if self.scattering.mix(LOS).is_none()
                && let Some(own) = self.fading.own_mut(LOS)
            {
                *own = Plan::rician(k_db);
            }
            self.large_scale.k_factor_db = Some(k_db);
        }
        for n in [LOS, NLOS] {
            if !self.fading.involves(n) {
                continue;
            }
            if let Some(law) = shared.laws.delay_spread[n] {
                let decades = law.mean + law.deviation * self.path.maps.delay_spread(n, place);
                let is_known = self.spreads_lg[n] == decades;
                self.spreads_lg[n] = decades;
                if let Some(own) = self.fading.own_mut(n) {
                    match self.scattering.mix(n) {
                        Some(mix) => lay(own, mix),
                        None if is_known => {}
                        None => own.stretch(pow(10.0, decades)),
                    }
                }
                let is_los = self.large_scale.state == State::Los;
                if is_los == (n == LOS) {
                    self.large_scale.delay_spread_lg = Some(decades);
                }
            }
        }
    }

    /// Returns the link's own fading plan in LOS state `n` at the last evaluation. `None` if all
    /// links of the carrier have the same plan.
    fn own_plan(&self, n: usize) -> Option<Plan> {
        let shared = &self.path.shared;
        let mix = self.scattering.mix(n);
        let k_db = self.large_scale.k_factor_db;
        let k_db = k_db.filter(|_| n == LOS && mix.is_none());
        let has_spread = shared.laws.delay_spread[n].is_some();
        if k_db.is_none() && !has_spread {
            return None;
        }
        let mut plan = k_db.map_or_else(|| shared.fadings.plans[n].clone(), Plan::rician);
        match mix {
            Some(mix) if has_spread => lay(&mut plan, mix),
            None if has_spread => plan.stretch(pow(10.0, self.spreads_lg[n])),
            _ => {}
        }
        Some(plan)
    }

    fn evaluate(
        &mut self,
        shared: &Shared,
        now: Time,
        ends: &LinkEnds,
        cache: &mut SurroundingsCache,
    ) -> LargeScale {
        let config = &shared.config;
        let key = self.path.key(ends);
        let LinkSurroundings {
            slant_m,
            state,
            los_weight,
            own: (path_loss_db, shadowing_db),
            others,
        } = cache.get_or_compute(key, || self.path.surroundings(ends));
        let (condition, other) = state.conditions();
        let others = los_weight.zip(others);
        let excess_db = others
            .map(|(_, (loss_db, shadowing))| loss_db + shadowing - path_loss_db - shadowing_db);
        let los_lead_db = match (condition, los_weight, excess_db) {
            (Condition::Los, Some(weight), Some(excess_db)) => {
                transition::lead_db(weight) + excess_db
            }
            (Condition::Nlos, Some(weight), Some(excess_db)) => {
                transition::lead_db(weight) - excess_db
            }
            (Condition::Los, ..) => f64::INFINITY,
            (Condition::Nlos, ..) => f64::NEG_INFINITY,
        };
        let inputs = (shared, now, ends, los_lead_db);
        self.measure_beams(inputs, condition);
        let gains = self.gains(inputs, condition);
        let transition = others.zip(excess_db).map_or(
            Transition::none(condition),
            |((weight, _), excess_db)| {
                let others = self.gains_of_the_other(inputs, other, gains);
                Transition::new(
                    condition,
                    weight,
                    excess_db + gains.sum_db() - others.sum_db(),
                )
            },
        );
        self.fading.set_los_share(transition.los_share);
        let mut large_scale = LargeScale {
            state,
            path_loss_db,
            shadowing_db,
            transition_db: transition.gain_db,
            absorption_db: shared.absorption_db_per_m * slant_m + self.path.walls().loss_db,
            blockage_db: gains.blockage_db,
            base_gain_dbi: gains.base_dbi,
            ue_gain_dbi: gains.ue_dbi,
            ..LargeScale::UNKNOWN
        };
        if !ends.only_disturbs()
            && let Some(monitor) = &self.monitor
        {
            large_scale.is_recovering = monitor.is_recovering();
            large_scale.blockage_db = monitor.reflection_db().unwrap_or(large_scale.blockage_db);
        }
        let caller_beams = self.caller_beams.as_deref_mut();
        if let Some(beams) = caller_beams.filter(|_| !ends.only_disturbs()) {
            let reflection_db = beams.reflection_db(large_scale.blockage_db);
            large_scale.blockage_db = reflection_db.unwrap_or(large_scale.blockage_db);
        }
        large_scale.gain_db = large_scale.sum_db(config.minimum_loss_db);
        large_scale
    }

    /// Returns the gains of the antennas in one LOS state, and the loss by blockage. With clusters
    /// the blockage affects only the direct path, otherwise all power.
    fn gains(&mut self, inputs: Inputs<'_>, condition: Condition) -> EndGains {
        let (_, now, ends, _) = inputs;
        let places = (ends.base.position, ends.ue.position);
        let blockage_db = self.blockage_db(now, places, condition, ends.vehicles_db);
        self.gains_behind(blockage_db, inputs, condition)
    }

    /// Returns the gains in the second LOS state, given the gains in the first. Without clusters
    /// the antenna gains are equal in both states.
    fn gains_of_the_other(
        &mut self,
        inputs: Inputs<'_>,
        condition: Condition,
        known: EndGains,
    ) -> EndGains {
        if self.scattering.has(LOS) || self.scattering.has(NLOS) {
            return self.gains(inputs, condition);
        }
        let (_, now, ends, _) = inputs;
        let places = (ends.base.position, ends.ue.position);
        EndGains {
            blockage_db: self.blockage_db(now, places, condition, ends.vehicles_db),
            ..known
        }
    }

    /// Returns the gains for a given blockage loss of the direct path.
    fn gains_behind(
        &mut self,
        blockage_db: f64,
        (shared, now, ends, los_lead_db): Inputs<'_>,
        condition: Condition,
    ) -> EndGains {
        let n = match condition {
            Condition::Los => LOS,
            Condition::Nlos => NLOS,
        };
        let mix = if self.scattering.has(n) {
            let inputs = ScatteringInputs {
                config: &shared.config,
                laws: &shared.laws,
                maps: &mut self.path.maps,
                now,
                ends,
                blockage_db,
                los_lead_db,
                caller_beams: self.caller_beams.as_deref(),
                track: self.track.as_deref(),
            };
            self.scattering.evaluate(n, inputs)
        } else {
            None
        };
        let Some(mix) = mix else {
            let (base_dbi, ue_dbi) = self.antenna_gains(now, ends, 0.0);
            return EndGains {
                base_dbi,
                ue_dbi,
                blockage_db,
            };
        };
        let (base_dbi, ue_dbi) = match shared.clusters_affect_gain {
            true => (to_db(mix.base_gain), to_db(mix.clear_gain / mix.base_gain)),
            // The sum over clusters has rounding errors.
            false => shared.config.isotropic_gains_dbi(),
        };
        EndGains {
            base_dbi,
            ue_dbi,
            blockage_db: match condition {
                Condition::Los if mix.clear_gain == mix.gain => 0.0,
                Condition::Los => to_db(mix.clear_gain / mix.gain),
                // In NLOS there is no direct path, so the blockage affects all power.
                Condition::Nlos => blockage_db,
            },
        }
    }

    /// Computes all beam measurements that were due until `now`.
    fn measure_beams(
        &mut self,
        (shared, now, ends, los_lead_db): Inputs<'_>,
        condition: Condition,
    ) {
        if let (Some(track), Some(beams)) = (&mut self.track, &shared.config.beams) {
            track.record_measurements(beams.tracking_period, now, ends.ue);
        }
        let blockage_db = |link: &mut FullLink, at: Time| {
            let earlier = now.since(at).as_secs_f64();
            let (base, ue) = ends.before(earlier);
            // The vehicle loss at a past measurement is unknown, so the current value is used.
            let blockage_db = link.blockage_db(at, (base, ue), condition, ends.vehicles_db);
            link.scattering.record_blockage(at, blockage_db);
            (blockage_db, earlier)
        };
        // A beam toward another node cannot cause a beam failure on this link.
        if !ends.only_disturbs()
            && let Some(mut monitor) = self.monitor.take()
        {
            let harmless_db = monitor.harmless_db();
            monitor.advance(now, |at| {
                let (blockage_db, earlier) = blockage_db(self, at);
                let misaligned_db = self.misalignment_db(at, ends, earlier);
                if blockage_db + misaligned_db <= harmless_db {
                    return blockage_db + misaligned_db;
                }
                // Blockage of the direct path cannot reduce the total power by more than the power
                // of the direct path.
                let then = ends.moved_back(earlier);
                let inputs = (shared, at, &then, los_lead_db);
                let lost = self.gains_behind(blockage_db, inputs, condition);
                lost.blockage_db + misaligned_db
            });
            self.monitor = Some(monitor);
            return;
        }
        while let Some(at) = self.scattering.due(now, &shared.config) {
            blockage_db(self, at);
        }
    }

    fn blockage_db(
        &mut self,
        now: Time,
        (base, ue): (Point, Point),
        condition: Condition,
        vehicles_db: f64,
    ) -> f64 {
        let view = self.view(now, (base, ue), condition);
        let processes = self.blockages.iter_mut();
        let drawn_db: f64 = processes.map(|process| process.loss_at(&view)).sum();
        debug_assert!(drawn_db >= 0.0, "blockages add {} dB", -drawn_db);
        match condition {
            Condition::Los => drawn_db + vehicles_db,
            Condition::Nlos => drawn_db,
        }
    }

    pub(super) fn view(&self, now: Time, (base, ue): (Point, Point), condition: Condition) -> View {
        View {
            now,
            base,
            ue,
            has_direct_path: condition == Condition::Los,
            wavelength_m: self.path.shared.fadings.wavelength_m,
        }
    }

    /// Returns the loss of antenna gain because the beams in use are outdated, in dB.
    pub(super) fn misalignment_db(&self, at: Time, ends: &LinkEnds, earlier: f64) -> f64 {
        let config = &self.path.shared.config;
        let ([down, up], [base_beam, ue_beam]) = self.beams(at, ends, earlier);
        let fixed = config.fixed_gains_dbi(ends.before(earlier));
        let (base, ue) = fixed.unwrap_or_else(|| {
            (
                config.base_antenna.gain_dbi(down, base_beam),
                config.ue_antenna.gain_dbi(up, ue_beam),
            )
        });
        config.base_antenna.gain_dbi(down, down) - base + config.ue_antenna.gain_dbi(up, up) - ue
    }

    /// Returns the gains of both antennas at the time `at`, which is `earlier` seconds before that
    /// of `ends`.
    fn antenna_gains(&self, at: Time, ends: &LinkEnds, earlier: f64) -> (f64, f64) {
        let config = &self.path.shared.config;
        if let Some(gains) = config.fixed_gains_dbi(ends.before(earlier)) {
            return gains;
        }
        let ([down, up], [base_beam, ue_beam]) = self.beams(at, ends, earlier);
        (
            config.base_antenna.gain_dbi(down, base_beam),
            config.ue_antenna.gain_dbi(up, ue_beam),
        )
    }
}

/// Sets the taps of a plan to the clusters of the last evaluation.
fn lay(plan: &mut Plan, mix: &Mix) {
    let taps = (&mix.clusters[..mix.count], &mix.delays_s[..mix.count]);
    plan.lay(mix.direct, taps, mix.gain);
}
