//! Full form of a link.

use super::asked::Asked;
use super::beside::{Beside, Surroundings};
use super::environment::Shared;
use super::way::Way;
use super::{LargeScale, State};
use crate::antenna::management::FailureMonitor;
use crate::antenna::recovery::ToldBeams;
use crate::antenna::tracking::BeamTrack;
use crate::blockage::{MAX_BLOCKAGES, Process, View};
use crate::clusters::{Look, Scattering};
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
pub(super) struct Whole {
    pub(super) way: Way,
    pub(super) blockages: Vec<Box<dyn Process>>,
    pub(super) monitor: Option<Box<FailureMonitor>>,
    /// State of beams whose failure the caller detects. If set, `monitor` is `None`.
    pub(super) told: Option<Box<ToldBeams>>,
    /// Positions of the UE at beam measurements. `None` if the UE's position is not predicted.
    pub(super) track: Option<Box<BeamTrack>>,
    fading: SmallScale,
    pub(super) scattering: Scattering,
    /// Decimal logarithms of the delay spreads in seconds for which the link's own fading plans
    /// were computed.
    spreads_lg: [f64; 2],
    pub(super) asked: Option<Asked>,
    pub(super) large_scale: LargeScale,
}

/// Gains of both ends' antennas in a condition, dBi, and the loss by blockage, dB.
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

/// Arguments of an evaluation: shared data, time, ends, and the power of LOS over NLOS before
/// antennas, dB.
type At<'a> = (&'a Shared, Time, &'a LinkEnds, f64);

/// Random streams of a link's blockages, one for each.
const BLOCKAGE_DOMAINS: [&str; MAX_BLOCKAGES] = [
    "radio.blockage.0",
    "radio.blockage.1",
    "radio.blockage.2",
    "radio.blockage.3",
];

impl Whole {
    /// Returns the full link over a path.
    pub(super) fn new(way: Way) -> Whole {
        let shared = Arc::clone(&way.shared);
        let (config, seed) = (&shared.config, shared.seed);
        let entity = way.key.entity();
        let ue = u64::from(way.key.ue);
        let blockages = config.blockages.iter().enumerate().map(|(n, blockage)| {
            let of = if blockage.surrounds_the_ue() {
                ue
            } else {
                entity
            };
            blockage.start(Stream::new(seed, BLOCKAGE_DOMAINS[n], of))
        });
        let beams = config.beams.as_ref();
        Whole {
            scattering: Scattering::new(&shared.laws, seed, u64::from(way.key.site)),
            blockages: blockages.collect(),
            monitor: beams.and_then(FailureMonitor::new).map(Box::new),
            told: None,
            track: beams.and_then(BeamTrack::of).map(Box::new),
            fading: SmallScale::new(seed, entity),
            spreads_lg: [f64::NAN; 2],
            asked: None,
            large_scale: LargeScale::UNKNOWN,
            way,
        }
    }

    /// Implements
    /// [`LinkChannel::large_scale_beside_db`](super::LinkChannel::large_scale_beside_db).
    pub(super) fn large_scale_beside_db(
        &mut self,
        now: Time,
        ends: &LinkEnds,
        beside: &mut Beside,
    ) -> f64 {
        let mut is_alike = false;
        match &mut self.asked {
            Some(asked) if asked.is(now, ends) => return self.large_scale.gain_db,
            Some(asked) if !self.way.shared.is_timeless => asked.again(now, ends),
            Some(asked) => {
                let before = asked.ends();
                asked.again(now, ends);
                is_alike = self.is_alike(&before, ends);
            }
            None => self.asked = Some(Asked::new(now, ends)),
        }
        if is_alike {
            return self.large_scale.gain_db;
        }
        let shared = Arc::clone(&self.way.shared);
        self.large_scale = self.look(&shared, now, ends, beside);
        let LargeScale {
            state,
            gain_db,
            shadowing_db,
            ..
        } = self.large_scale;
        let found = (state, gain_db, shadowing_db);
        self.way.note(now, ends, found);
        let place = ends.ue.position;
        self.lay_out_fading(&shared, (place.x, place.y));
        self.large_scale.gain_db
    }

    /// Returns true if an evaluation would repeat the last result: nothing depends on time, and the
    /// ends have not moved. The direction of other links' beams is ignored unless there are
    /// clusters. Clusters are evaluated differently for a beam that points at another UE.
    fn is_alike(&self, before: &LinkEnds, ends: &LinkEnds) -> bool {
        let has_clusters = self.has_clusters();
        let beam = |at: Option<Point>| at.filter(|_| has_clusters).map(|_| Point::default());
        let without_beams = |ends: &LinkEnds| LinkEnds {
            base_beam_at: beam(ends.base_beam_at),
            ue_beam_at: beam(ends.ue_beam_at),
            ..*ends
        };
        self.way.shared.is_timeless && without_beams(before) == without_beams(ends)
    }

    fn has_clusters(&self) -> bool {
        self.way.shared.laws.clusters.iter().any(Option::is_some)
    }

    /// Implements [`LinkChannel::fading`](super::LinkChannel::fading).
    pub(super) fn fading(&self, t: Time, out: &mut [f32]) {
        let Some(asked) = &self.asked else {
            return out.fill(1.0);
        };
        let (place, direct_turns) = self.place(asked, t);
        let fadings = &self.way.shared.fadings;
        self.fading.gains(fadings, place, direct_turns, out);
    }

    /// Implements [`LinkChannel::fading_flat`](super::LinkChannel::fading_flat).
    pub(super) fn fading_flat(&self, t: Time) -> f64 {
        let Some(asked) = &self.asked else {
            return 1.0;
        };
        let (place, direct_turns) = self.place(asked, t);
        let (fadings, sub_bands) = (&self.way.shared.fadings, self.way.shared.config.sub_bands);
        self.fading
            .flat_or_mean(fadings, place, direct_turns, sub_bands)
    }

    /// Implements [`LinkChannel::sub_bands`](super::LinkChannel::sub_bands).
    pub(super) fn sub_bands(&self) -> Option<usize> {
        let is_wideband = self.fading.is_wideband(&self.way.shared.fadings);
        is_wideband.then_some(self.way.shared.config.sub_bands)
    }

    #[inline]
    fn place(&self, asked: &Asked, t: Time) -> (Place, f64) {
        let position = asked.relative(t);
        let place = Place {
            x: position.x,
            y: position.y,
            t: t.as_secs_f64(),
        };
        (
            place,
            position.length() / self.way.shared.fadings.wavelength_m,
        )
    }

    /// Applies K factor and delay spread of the place to the conditions that contribute to the
    /// channel.
    fn lay_out_fading(&mut self, shared: &Shared, place: (f64, f64)) {
        if let Some(law) = shared.laws.k_factor
            && self.fading.involves(LOS)
        {
            let k_db = law.mean + law.deviation * self.way.maps.k_factor(place);
            if self.scattering.mix(LOS).is_none() {
                let plan = Plan::rician(k_db);
                match self.fading.own_mut(LOS) {
                    Some(own) => **own = plan,
                    none => *none = Some(Box::new(plan)),
                }
            }
            self.large_scale.k_factor_db = Some(k_db);
        }
        for n in [LOS, NLOS] {
            if !self.fading.involves(n) {
                continue;
            }
            if let Some(law) = shared.laws.delay_spread[n] {
                let decades = law.mean + law.deviation * self.way.maps.delay_spread(n, place);
                let own = self.fading.own_mut(n);
                let plan = own.get_or_insert_with(|| Box::new(shared.fadings.plans[n].clone()));
                if let Some(mix) = self.scattering.mix(n) {
                    let taps = (&mix.clusters[..mix.count], &mix.delays_s[..mix.count]);
                    plan.lay(mix.direct, taps, mix.gain);
                } else if self.spreads_lg[n] != decades {
                    self.spreads_lg[n] = decades;
                    plan.stretch(pow(10.0, decades));
                }
                let is_los = self.large_scale.state == State::Los;
                if is_los == (n == LOS) {
                    self.large_scale.delay_spread_lg = Some(decades);
                }
            }
        }
    }

    fn look(
        &mut self,
        shared: &Shared,
        now: Time,
        ends: &LinkEnds,
        beside: &mut Beside,
    ) -> LargeScale {
        let config = &shared.config;
        let key = self.way.key(ends);
        let Surroundings {
            slant_m,
            state,
            los_weight,
            own: (path_loss_db, shadowing_db),
            others,
        } = beside.found(key, || self.way.surroundings(ends));
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
        let look = (shared, now, ends, los_lead_db);
        self.look_at_beams(look, condition);
        let gains = self.gains(look, condition);
        let transition = others.zip(excess_db).map_or(
            Transition::none(condition),
            |((weight, _), excess_db)| {
                let others = self.gains_of_the_other(look, other, gains);
                Transition::new(
                    condition,
                    weight,
                    excess_db + gains.sum_db() - others.sum_db(),
                )
            },
        );
        self.fading.set_los_share(transition.los_share);
        let mut look = LargeScale {
            state,
            path_loss_db,
            shadowing_db,
            transition_db: transition.gain_db,
            absorption_db: shared.absorption_db_per_m * slant_m + self.way.walls().loss_db,
            blockage_db: gains.blockage_db,
            base_gain_dbi: gains.base_dbi,
            ue_gain_dbi: gains.ue_dbi,
            ..LargeScale::UNKNOWN
        };
        if !ends.only_disturbs()
            && let Some(monitor) = &self.monitor
        {
            look.is_recovering = monitor.is_recovering();
            look.blockage_db = monitor.reflection_db().unwrap_or(look.blockage_db);
        }
        if let Some(told) = self.told.as_deref_mut().filter(|_| !ends.only_disturbs()) {
            let reflection_db = told.reflection_db(look.blockage_db);
            look.blockage_db = reflection_db.unwrap_or(look.blockage_db);
        }
        look.gain_db = look.sum_db(config.minimum_loss_db);
        look
    }

    /// Returns the gains of the antennas in a condition, and the loss by blockage. With clusters
    /// the blockage affects the direct path only, otherwise all power.
    fn gains(&mut self, look: At<'_>, condition: Condition) -> EndGains {
        let (_, now, ends, _) = look;
        let places = (ends.base.position, ends.ue.position);
        let blockage_db = self.blockage_db(now, places, condition, ends.vehicles_db);
        self.gains_behind(blockage_db, look, condition)
    }

    /// Returns the gains in the other condition, given those in the first. Without clusters the
    /// antenna gains are the same in both.
    fn gains_of_the_other(
        &mut self,
        look: At<'_>,
        condition: Condition,
        known: EndGains,
    ) -> EndGains {
        if self.scattering.has(LOS) || self.scattering.has(NLOS) {
            return self.gains(look, condition);
        }
        let (_, now, ends, _) = look;
        let places = (ends.base.position, ends.ue.position);
        EndGains {
            blockage_db: self.blockage_db(now, places, condition, ends.vehicles_db),
            ..known
        }
    }

    /// Returns the gains for a known blockage of the direct path.
    fn gains_behind(
        &mut self,
        blockage_db: f64,
        (shared, now, ends, los_lead_db): At<'_>,
        condition: Condition,
    ) -> EndGains {
        let n = match condition {
            Condition::Los => LOS,
            Condition::Nlos => NLOS,
        };
        let mix = if self.scattering.has(n) {
            let look = Look {
                config: &shared.config,
                laws: &shared.laws,
                maps: &mut self.way.maps,
                now,
                ends,
                blockage_db,
                los_lead_db,
                told: self.told.as_deref(),
                track: self.track.as_deref(),
            };
            self.scattering.look(n, look)
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
        EndGains {
            base_dbi: to_db(mix.base_gain),
            ue_dbi: to_db(mix.clear_gain / mix.base_gain),
            blockage_db: match condition {
                Condition::Los if mix.clear_gain == mix.gain => 0.0,
                Condition::Los => to_db(mix.clear_gain / mix.gain),
                // Without a direct path the blockage affects all power.
                Condition::Nlos => blockage_db,
            },
        }
    }

    /// Computes all beam measurements that were due until `now`.
    fn look_at_beams(&mut self, (shared, now, ends, los_lead_db): At<'_>, condition: Condition) {
        if let (Some(track), Some(beams)) = (&mut self.track, &shared.config.beams) {
            track.note(beams.tracking_period, now, ends.ue);
        }
        let blockage_db = |link: &mut Whole, at: Time| {
            let earlier = now.since(at).as_secs_f64();
            let (base, ue) = ends.before(earlier);
            // The vehicle loss between evaluations is unknown, so the current value is used.
            let blockage_db = link.blockage_db(at, (base, ue), condition, ends.vehicles_db);
            link.scattering.note(at, blockage_db);
            (blockage_db, earlier)
        };
        // Beams that point at other UEs cannot fail this link.
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
                // A blocked direct path costs the total no more than it costs that path.
                let then = ends.moved_back(earlier);
                let look = (shared, at, &then, los_lead_db);
                let lost = self.gains_behind(blockage_db, look, condition);
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
            wavelength_m: self.way.shared.fadings.wavelength_m,
        }
    }

    /// Returns the loss of gain by outdated beams, dB.
    pub(super) fn misalignment_db(&self, at: Time, ends: &LinkEnds, earlier: f64) -> f64 {
        let config = &self.way.shared.config;
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
        let config = &self.way.shared.config;
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
