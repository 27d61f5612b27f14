//! Path between the two ends of a link, with the data that its mean gain depends on.

use super::environment::Shared;
use super::surroundings::{ConditionLosses, LinkSurroundings, SurroundingsCache};
use super::{LargeScale, State};
use crate::antenna::{Angles, Antenna};
use crate::config::{ChannelConfig, LineOfSight};
use crate::ends::{LinkEnds, LinkKey};
use crate::normal::{normal_quantile, normal_share_below};
use crate::path_loss::{Ends, StateProbabilities, tr38901};
use crate::penetration::Walls;
use crate::shadowing::MapReader;
use crate::transition;
use fadeout_core::random::Stream;
use fadeout_core::{Kinematics, Point, Time, Vector};
use std::sync::Arc;

/// Path between the two ends of a link. Every pair of a UE and a cell has such a path, so this type
/// is kept small.
#[derive(Debug)]
pub(super) struct LinkPath {
    pub(super) shared: Arc<Shared>,
    pub(super) maps: MapReader,
    /// Walls around the UE. `None` if the UE has no walls around it.
    walls: Option<Box<Walls>>,
    pub(super) key: LinkKey,
    /// Result of the last evaluation. `None` before the first evaluation.
    pub(super) last: Option<LastEvaluation>,
}

/// Mean gain of an evaluation, and the ends at that evaluation.
#[derive(Debug, Clone, Copy)]
pub(super) struct LastEvaluation {
    pub(super) at: Time,
    pub(super) base: Point,
    pub(super) ue: Kinematics,
    pub(super) gain_db: f64,
    /// Loss by shadowing that is part of the gain, dB.
    pub(super) shadowing_db: f64,
    pub(super) state: State,
    /// True if the gain includes no loss by buildings or vehicles.
    pub(super) is_bare: bool,
}

impl LastEvaluation {
    /// Returns the time and the ends of the evaluation. The base station's velocity is zero, as
    /// required for reduced links.
    pub(super) fn time_and_ends(&self) -> (Time, LinkEnds) {
        let base = Kinematics::at_rest(self.base);
        (self.at, LinkEnds::new(base, self.ue))
    }
}

/// Returns the LOS state if one state has probability one, so that no random number is drawn.
/// `None` otherwise.
fn certain(probabilities: StateProbabilities) -> Option<State> {
    match probabilities {
        StateProbabilities { los, outage } if los <= 0.0 && outage <= 0.0 => Some(State::Nlos),
        StateProbabilities { los, .. } if los >= 1.0 => Some(State::Los),
        _ => None,
    }
}

impl LinkPath {
    pub(super) fn new(
        shared: Arc<Shared>,
        maps: MapReader,
        walls: Walls,
        key: LinkKey,
    ) -> LinkPath {
        LinkPath {
            shared,
            maps,
            walls: (walls != Walls::default()).then(|| Box::new(walls)),
            key,
            last: None,
        }
    }

    /// Returns a copy of the path, without its last evaluation.
    pub(super) fn fresh_copy(&self) -> LinkPath {
        LinkPath {
            shared: Arc::clone(&self.shared),
            maps: MapReader::new(Arc::clone(self.maps.map())),
            walls: self.walls.clone(),
            key: self.key,
            last: None,
        }
    }

    /// Returns the walls around the UE.
    pub(super) fn walls(&self) -> Walls {
        self.walls.as_deref().copied().unwrap_or_default()
    }

    /// Returns true if [`LinkPath::gain_db`] can compute the gain for these ends, so that no full
    /// link is needed.
    pub(super) fn is_enough(&self, ends: &LinkEnds) -> bool {
        self.shared.is_plain
            && ends.obstruction.is_none()
            && ends.vehicles_db == 0.0
            && ends.base.velocity == Vector::default()
    }

    /// Returns the mean gain of a reduced link, dB.
    pub(super) fn gain_db(
        &mut self,
        now: Time,
        ends: &LinkEnds,
        cache: &mut SurroundingsCache,
    ) -> f64 {
        debug_assert!(self.is_enough(ends), "more than the places counts");
        if let Some(last) = &mut self.last
            && (last.base, last.ue.position) == (ends.base.position, ends.ue.position)
        {
            (last.at, last.ue) = (now, ends.ue);
            return last.gain_db;
        }
        let LinkSurroundings {
            slant_m,
            state,
            own: (path_loss_db, shadowing_db),
            ..
        } = cache.get_or_compute(self.key(ends), || self.surroundings(ends));
        let config = &self.shared.config;
        let places = (ends.base.position, ends.ue.position);
        let (base_gain_dbi, ue_gain_dbi) = config.fixed_gains_dbi(places).unwrap_or_default();
        let large_scale = LargeScale {
            state,
            path_loss_db,
            shadowing_db,
            absorption_db: self.shared.absorption_db_per_m * slant_m + self.walls().loss_db,
            base_gain_dbi,
            ue_gain_dbi,
            ..LargeScale::UNKNOWN
        };
        let gain_db = large_scale.sum_db(config.minimum_loss_db);
        self.record_evaluation(now, ends, (state, gain_db, shadowing_db));
        gain_db
    }

    /// Records the result of an evaluation.
    pub(super) fn record_evaluation(
        &mut self,
        now: Time,
        ends: &LinkEnds,
        (state, gain_db, shadowing_db): (State, f64, f64),
    ) {
        self.last = Some(LastEvaluation {
            at: now,
            base: ends.base.position,
            ue: ends.ue,
            gain_db,
            shadowing_db,
            state,
            is_bare: ends.obstruction.is_none() && ends.vehicles_db <= 0.0,
        });
    }

    /// Returns the distance, the LOS state and the losses between the ends, without antenna gains.
    pub(super) fn surroundings(&mut self, ends: &LinkEnds) -> LinkSurroundings {
        let config = &self.shared.config;
        let mut geometry = Ends::new(ends.base.position, ends.ue.position, config.carrier);
        let draws_height = config.path_loss.draws_environment_height();
        if draws_height && geometry.ue_height_m > tr38901::LOW_UE_M {
            let (domain, entity) = ("radio.environment_height", self.key.entity());
            let uniform = Stream::new(self.shared.seed, domain, entity).uniform();
            let Ends {
                ground_m,
                ue_height_m,
                ..
            } = geometry;
            geometry.environment_height_m =
                tr38901::uma_environment_height_m(ground_m, ue_height_m, uniform);
        }
        let place = (ends.ue.position.x, ends.ue.position.y);
        let walls = self.walls();
        let maps = &mut self.maps;
        let (state, los_weight) = drawn_state(&self.shared, maps, (&geometry, ends, &walls), place);
        let (condition, other) = state.conditions();
        let indoors_db = config.path_loss.indoor_shadowing_sigma_db();
        let indoors_db = indoors_db.filter(|_| walls.is_building);
        let mut losses = |condition| -> ConditionLosses {
            let shadowing_db = config.shadowing.map_or(0.0, |shadowing| {
                let own = indoors_db
                    .unwrap_or_else(|| config.path_loss.shadowing_sigma_db(&geometry, condition));
                shadowing.sigma_db.unwrap_or(own) * maps.shadowing(condition, place)
            });
            (config.path_loss.loss_db(&geometry, condition), shadowing_db)
        };
        LinkSurroundings {
            slant_m: geometry.slant_m,
            state,
            los_weight,
            own: losses(condition),
            others: los_weight.map(|_| losses(other)),
        }
    }
}

/// Returns the LOS state at a position. During a soft transition between LOS and NLOS, also returns
/// the weight of LOS in the amplitude.
fn drawn_state(
    shared: &Shared,
    maps: &mut MapReader,
    (geometry, ends, walls): (&Ends, &LinkEnds, &Walls),
    place: (f64, f64),
) -> (State, Option<f64>) {
    let by_sight = |is_los| if is_los { State::Los } else { State::Nlos };
    if let Some(obstruction) = ends.obstruction {
        let v = obstruction / shared.fadings.wavelength_m.sqrt();
        let weight = transition::weight_behind_an_edge(v);
        let is_mixed = weight > 0.0 && weight < 1.0;
        return (by_sight(v < 0.0), is_mixed.then_some(weight));
    }
    let rule = shared.config.line_of_sight;
    match rule {
        LineOfSight::Clear | LineOfSight::Geometry => (State::Los, None),
        LineOfSight::Obstructed => (by_sight(false), None),
        LineOfSight::Drawn | LineOfSight::Soft => {
            // For a UE inside a building, the LOS probability uses the distance to the outer wall
            // (d2D-out).
            let outdoors = Ends {
                ground_m: (geometry.ground_m - walls.inside_m).max(0.0),
                ..*geometry
            };
            let probabilities = shared.config.path_loss.state_probabilities(&outdoors);
            if rule == LineOfSight::Drawn
                && let Some(state) = certain(probabilities)
            {
                return (state, None);
            }
            let normal = maps.state(place);
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
                transition::los_weight(beyond, shared.fadings.wavelength_m)
            });
            (state, weight)
        }
    }
}

impl Shared {
    /// Implements
    /// [`LinkChannel::follows_from_the_places`](super::LinkChannel::follows_from_the_places).
    pub(super) fn follows_from_the_places(&self) -> bool {
        self.is_timeless && !self.clusters_affect_gain
    }
}

impl ChannelConfig {
    /// Returns the gains of the antennas at both ends in dBi. `None` if a gain depends on a beam.
    pub(super) fn fixed_gains_dbi(&self, (base, ue): (Point, Point)) -> Option<(f64, f64)> {
        if !self.ue_antenna.is_the_same_everywhere() {
            return None;
        }
        if self.base_antenna.is_the_same_everywhere() {
            return Some(self.isotropic_gains_dbi());
        }
        if self.base_antenna.is_steered() {
            return None;
        }
        Some(self.gains_toward_dbi(Angles::between(base, ue)))
    }

    /// Returns the gains of two isotropic antennas in dBi.
    pub(super) fn isotropic_gains_dbi(&self) -> (f64, f64) {
        self.gains_toward_dbi(Angles::default())
    }

    fn gains_toward_dbi(&self, down: Angles) -> (f64, f64) {
        let gain_dbi = |antenna: &Antenna| antenna.gain_dbi(down, down);
        (gain_dbi(&self.base_antenna), gain_dbi(&self.ue_antenna))
    }
}
