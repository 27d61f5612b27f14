//! One UE's link to one cell: everything between the two antennas' ports.

use crate::antenna::management::FailureMonitor;
use crate::antenna::recovery::ToldBeams;
use crate::antenna::tracking::BeamTrack;
use crate::antenna::{Angles, Antenna};
use crate::blockage::{Process, View};
use crate::clusters::{Look, Scattering};
use crate::config::LineOfSight;
use crate::ends::LinkEnds;
use crate::fading::Plan;
use crate::fading::rays::Place;
use crate::normal::{normal_quantile, normal_share_below};
use crate::path_loss::{Condition, Ends, StateProbabilities, tr38901};
use crate::penetration::Walls;
use crate::shadowing::MapReader;
use crate::small_scale::{LOS, NLOS, SmallScale};
use crate::transition::{self, Transition};
use fadeout_core::math::{pow, to_db};
use fadeout_core::{Point, Time};
use std::sync::Arc;

mod asked;
mod beside;
mod causes;
mod environment;
mod parts;
mod reach;
mod told;

pub use beside::Beside;
pub use causes::Causes;
pub use environment::Environment;
pub use parts::{LargeScale, State};
pub use reach::CommonShadowing;

use asked::Asked;
use beside::{Surroundings, Weighed};
use environment::Shared;

/// Loss in dB of a link in outage or without a beam: nothing is received.
pub const OUTAGE_LOSS_DB: f64 = 500.0;

/// One UE's link to one cell.
///
/// Ask [`large_scale_db`](LinkChannel::large_scale_db) at times that do not go back, then
/// [`fading`](LinkChannel::fading) at any time near. The answers depend on times and places alone,
/// not on how many questions came before: ask at instants that do not depend on traffic (report
/// instants, a fixed grid) and every congestion control meets the same channel.
#[derive(Debug)]
pub struct LinkChannel {
    shared: Arc<Shared>,
    maps: MapReader,
    blockages: Vec<Box<dyn Process>>,
    monitor: Option<Box<FailureMonitor>>,
    /// Instead of it where failure is found elsewhere.
    told: Option<Box<ToldBeams>>,
    /// Where measurements of the beams found the UE, where it is predicted from that.
    track: Option<Box<BeamTrack>>,
    /// The walls around the UE.
    walls: Walls,
    /// Uniform number that decides UMa's environment height.
    environment_height: f64,
    fading: SmallScale,
    scattering: Scattering,
    /// Decimal logarithms of the delay spreads in seconds that its own plans are made for.
    spreads_lg: [f64; 2],
    /// Whether its large-scale gain depends on the ends alone: nobody walks through it, and no antenna is
    /// steered.
    is_timeless: bool,
    asked: Option<Asked>,
    large_scale: LargeScale,
    /// The part of its shadowing that all sites share, in standard deviations, where it was found.
    common: Option<f64>,
}

/// Gains of both ends' antennas in a condition, dBi, and what is in the way, dB.
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

/// A look: what links share, when, at which ends, and by how much the channel in sight is stronger than the
/// one out of it before antennas, dB.
type At<'a> = (&'a Shared, Time, &'a LinkEnds, f64);

/// The state that nothing is to be drawn for, as a model has no other there.
fn certain(probabilities: StateProbabilities) -> Option<State> {
    match probabilities {
        StateProbabilities { los, outage } if los <= 0.0 && outage <= 0.0 => Some(State::Nlos),
        StateProbabilities { los, .. } if los >= 1.0 => Some(State::Los),
        _ => None,
    }
}

impl LinkChannel {
    /// Received by transmitted power in dB, with antennas and without fading. Asked again for the
    /// same time and ends it costs nothing.
    pub fn large_scale_db(&mut self, now: Time, ends: &LinkEnds) -> f64 {
        self.large_scale_beside_db(now, ends, &mut Beside::default())
    }

    /// The same, with what another antenna of the same mast has found of the way to the UE, if `beside` has
    /// it; it has this one's afterwards.
    pub fn large_scale_beside_db(
        &mut self,
        now: Time,
        ends: &LinkEnds,
        beside: &mut Beside,
    ) -> f64 {
        let mut is_alike = false;
        match &mut self.asked {
            Some(asked) if asked.is(now, ends) => return self.large_scale.gain_db,
            Some(asked) if !self.is_timeless => asked.again(now, ends),
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
        let shared = Arc::clone(&self.shared);
        self.large_scale = self.look(&shared, now, ends, beside);
        let place = ends.ue.position;
        self.lay_out_fading(&shared, (place.x, place.y));
        self.large_scale.gain_db
    }

    /// Whether another look finds what the last one did: nothing depends on time, and the ends have stayed.
    /// Where the beams of others point is of no matter to antennas that are not steered; clusters are looked
    /// at in another way for a beam that points at others.
    fn is_alike(&self, before: &LinkEnds, ends: &LinkEnds) -> bool {
        let has_clusters = self.has_clusters();
        let beam = |at: Option<Point>| at.filter(|_| has_clusters).map(|_| Point::default());
        let without_beams = |ends: &LinkEnds| LinkEnds {
            base_beam_at: beam(ends.base_beam_at),
            ue_beam_at: beam(ends.ue_beam_at),
            ..*ends
        };
        self.is_timeless && without_beams(before) == without_beams(ends)
    }

    fn has_clusters(&self) -> bool {
        self.shared.laws.clusters.iter().any(Option::is_some)
    }

    /// Whether [`large_scale_db`](LinkChannel::large_scale_db) finds the same whenever the ends and what
    /// is between them are the same, wherever the beams of others point.
    pub fn follows_from_the_places(&self) -> bool {
        self.is_timeless && !self.has_clusters()
    }

    /// The parts of the last large-scale gain.
    pub fn large_scale(&self) -> &LargeScale {
        &self.large_scale
    }

    /// Fading power gain of each sub-band at `t`, linear, mean 1 over places for each antenna of the
    /// receiver. `out` has as many
    /// entries as the configuration has sub-bands; of a flat channel all are the same. Before the
    /// first [`large_scale_db`](LinkChannel::large_scale_db) there is no fading.
    pub fn fading(&self, t: Time, out: &mut [f32]) {
        let Some(asked) = &self.asked else {
            return out.fill(1.0);
        };
        let (place, direct_turns) = self.place(asked, t);
        let fadings = &self.shared.fadings;
        self.fading.gains(fadings, place, direct_turns, out);
    }

    /// Fading power gain at `t` of the band as a whole: of a wideband channel the mean over the
    /// sub-bands.
    pub fn fading_flat(&self, t: Time) -> f64 {
        let Some(asked) = &self.asked else {
            return 1.0;
        };
        let (place, direct_turns) = self.place(asked, t);
        let (fadings, sub_bands) = (&self.shared.fadings, self.shared.config.sub_bands);
        self.fading
            .flat_or_mean(fadings, place, direct_turns, sub_bands)
    }

    /// Number of sub-bands whose fading differs, as of the last large-scale gain; none when all
    /// fade alike.
    pub fn sub_bands(&self) -> Option<usize> {
        let is_wideband = self.fading.is_wideband(&self.shared.fadings);
        is_wideband.then_some(self.shared.config.sub_bands)
    }

    #[inline]
    fn place(&self, asked: &Asked, t: Time) -> (Place, f64) {
        let position = asked.relative(t);
        let place = Place {
            x: position.x,
            y: position.y,
            t: t.as_secs_f64(),
        };
        (place, position.length() / self.shared.fadings.wavelength_m)
    }

    /// Finds K factor and delay spread of the place for the conditions that have a share in the channel.
    fn lay_out_fading(&mut self, shared: &Shared, place: (f64, f64)) {
        if let Some(law) = shared.laws.k_factor
            && self.fading.involves(LOS)
        {
            let k_db = law.mean + law.deviation * self.maps.k_factor(place);
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
                let decades = law.mean + law.deviation * self.maps.delay_spread(n, place);
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
        let key = self.key(ends);
        let Surroundings {
            slant_m,
            state,
            los_weight,
            own: (path_loss_db, shadowing_db),
            others,
            common,
        } = beside.found(key, || self.surroundings(shared, ends));
        self.common = common;
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
                let others = self.gains(look, other);
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
            absorption_db: shared.absorption_db_per_m * slant_m + self.walls.loss_db,
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
        if state == State::Outage || look.is_recovering {
            look.gain_db = -OUTAGE_LOSS_DB;
        } else {
            let loss =
                look.path_loss_db + look.shadowing_db + look.absorption_db + look.blockage_db;
            let gain = look.base_gain_dbi + look.ue_gain_dbi + look.transition_db - loss;
            look.gain_db = gain.clamp(-OUTAGE_LOSS_DB, -config.minimum_loss_db);
        }
        look
    }

    /// Distance, state and losses between the ends, whatever the antennas.
    fn surroundings(&mut self, shared: &Shared, ends: &LinkEnds) -> Surroundings {
        let config = &shared.config;
        let geometry = self.geometry(ends);
        let place = (ends.ue.position.x, ends.ue.position.y);
        let (state, los_weight) = self.state(&geometry, ends, place);
        let (condition, other) = state.conditions();
        let is_indoors = self.walls.is_building;
        let indoors_db = config.path_loss.indoor_shadowing_sigma_db();
        let indoors_db = indoors_db.filter(|_| is_indoors);
        let mut losses = |condition| -> Weighed {
            let shadowing_db = config.shadowing.map_or(0.0, |shadowing| {
                let own = indoors_db
                    .unwrap_or_else(|| config.path_loss.shadowing_sigma_db(&geometry, condition));
                shadowing.sigma_db.unwrap_or(own) * self.maps.shadowing(condition, place)
            });
            (config.path_loss.loss_db(&geometry, condition), shadowing_db)
        };
        Surroundings {
            slant_m: geometry.slant_m,
            state,
            los_weight,
            own: losses(condition),
            others: los_weight.map(|_| losses(other)),
            common: (shared.slopes.is_some() && config.shadowing.is_some())
                .then(|| self.maps.common_shadowing(condition, place)),
        }
    }

    /// Gains of the antennas in a condition, and what a blockage takes from them: all, or where there
    /// are clusters, what goes along the direct path.
    fn gains(&mut self, look: At<'_>, condition: Condition) -> EndGains {
        let (_, now, ends, _) = look;
        let places = (ends.base.position, ends.ue.position);
        let blockage_db = self.blockage_db(now, places, condition, ends.vehicles_db);
        self.gains_behind(blockage_db, look, condition)
    }

    /// The same with a known blockage of the direct path.
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
                maps: &mut self.maps,
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
                // No direct path: what is in the way is in the way of all.
                Condition::Nlos => blockage_db,
            },
        }
    }

    fn geometry(&self, ends: &LinkEnds) -> Ends {
        let config = &self.shared.config;
        let mut geometry = Ends::new(ends.base.position, ends.ue.position, config.carrier);
        if config.path_loss.draws_environment_height() {
            geometry.environment_height_m = tr38901::uma_environment_height_m(
                geometry.ground_m,
                geometry.ue_height_m,
                self.environment_height,
            );
        }
        geometry
    }

    /// The state at a place and, where it passes softly, the weight of LOS in the amplitude.
    fn state(
        &mut self,
        geometry: &Ends,
        ends: &LinkEnds,
        place: (f64, f64),
    ) -> (State, Option<f64>) {
        let by_sight = |is_los| if is_los { State::Los } else { State::Nlos };
        if let Some(obstruction) = ends.obstruction {
            let v = obstruction / self.shared.fadings.wavelength_m.sqrt();
            let weight = transition::weight_behind_an_edge(v);
            let is_mixed = weight > 0.0 && weight < 1.0;
            return (by_sight(v < 0.0), is_mixed.then_some(weight));
        }
        let rule = self.shared.config.line_of_sight;
        match rule {
            LineOfSight::Clear | LineOfSight::Geometry => (State::Los, None),
            LineOfSight::Obstructed => (by_sight(false), None),
            LineOfSight::Drawn | LineOfSight::Soft => {
                // Sight is to the outer wall (d2D-out).
                let outdoors = Ends {
                    ground_m: (geometry.ground_m - self.walls.inside_m).max(0.0),
                    ..*geometry
                };
                let probabilities = self.shared.config.path_loss.state_probabilities(&outdoors);
                if rule == LineOfSight::Drawn
                    && let Some(state) = certain(probabilities)
                {
                    return (state, None);
                }
                let normal = self.maps.state(place);
                let uniform = normal_share_below(normal);
                let state = if uniform < probabilities.los {
                    State::Los
                } else if uniform < 1.0 - probabilities.outage {
                    State::Nlos
                } else {
                    State::Outage
                };
                let is_soft = rule == LineOfSight::Soft && state != State::Outage;
                let weight = is_soft.then(|| {
                    let beyond = normal_quantile(probabilities.los) - normal;
                    transition::los_weight(beyond, self.shared.fadings.wavelength_m)
                });
                (state, weight)
            }
        }
    }

    /// Makes up the measurements of the beams until `now`.
    fn look_at_beams(&mut self, (shared, now, ends, los_lead_db): At<'_>, condition: Condition) {
        if let (Some(track), Some(beams)) = (&mut self.track, &shared.config.beams) {
            track.note(beams.tracking_period, now, ends.ue);
        }
        let blockage_db = |channel: &mut LinkChannel, at: Time| {
            let earlier = now.since(at).as_secs_f64();
            let (base, ue) = ends.before(earlier);
            // How it has changed since the last look is not known.
            let blockage_db = channel.blockage_db(at, (base, ue), condition, ends.vehicles_db);
            channel.scattering.note(at, blockage_db);
            (blockage_db, earlier)
        };
        // Beams that point at others fail nobody.
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
                // What is in the direct path takes no more from all than from that path.
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
        match condition {
            Condition::Los => drawn_db + vehicles_db,
            Condition::Nlos => drawn_db,
        }
    }

    fn view(&self, now: Time, (base, ue): (Point, Point), condition: Condition) -> View {
        View {
            now,
            base,
            ue,
            has_direct_path: condition == Condition::Los,
            wavelength_m: self.shared.fadings.wavelength_m,
        }
    }

    /// The gain that stale beams have lost against fresh ones, dB.
    fn misalignment_db(&self, at: Time, ends: &LinkEnds, earlier: f64) -> f64 {
        let (base, ue) = self.antenna_gains(at, ends, earlier);
        let config = &self.shared.config;
        let (from, to) = ends.before(earlier);
        let (down, up) = (Angles::between(from, to), Angles::between(to, from));
        config.base_antenna.gain_dbi(down, down) - base + config.ue_antenna.gain_dbi(up, up) - ue
    }

    /// Gains of both antennas at a time that is `earlier` seconds before the ends' own.
    fn antenna_gains(&self, at: Time, ends: &LinkEnds, earlier: f64) -> (f64, f64) {
        let config = &self.shared.config;
        if config.base_antenna.is_the_same_everywhere()
            && config.ue_antenna.is_the_same_everywhere()
        {
            let any = Angles::default();
            let gain_dbi = |antenna: &Antenna| antenna.gain_dbi(any, any);
            return (gain_dbi(&config.base_antenna), gain_dbi(&config.ue_antenna));
        }
        if !config.base_antenna.is_steered() && config.ue_antenna.is_the_same_everywhere() {
            // No beam points anywhere.
            let (base, ue) = ends.before(earlier);
            let down = Angles::between(base, ue);
            return (
                config.base_antenna.gain_dbi(down, down),
                config.ue_antenna.gain_dbi(down, down),
            );
        }
        let ([down, up], [base_beam, ue_beam]) = self.beams(at, ends, earlier);
        (
            config.base_antenna.gain_dbi(down, base_beam),
            config.ue_antenna.gain_dbi(up, ue_beam),
        )
    }
}
