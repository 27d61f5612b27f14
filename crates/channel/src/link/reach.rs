//! Bounds of a link's gain that need no evaluation of the link. The gain without shadowing changes
//! little over a short distance. The shadowing is read from its map once for all links of a site,
//! with bounds of the map's error.

use super::link_path::{LastEvaluation, LinkPath};
use super::{OUTAGE_LOSS_DB, State};
use crate::antenna::Steepness;
use crate::config::{ChannelConfig, LineOfSight, Shadowing};
use crate::field::Lattice;
use crate::path_loss::Condition;
use crate::shadowing::MapReader;
use fadeout_core::Point;
use std::sync::Arc;

/// Upper bounds of the change of a link's gain as its UE moves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Slopes {
    condition: Condition,
    /// Upper bound of the change of loss when the slant distance grows by the factor e, dB.
    loss_db: f64,
    /// Standard deviation of the shadowing outdoors and indoors, dB.
    sigma_db: [f64; 2],
    antenna: Steepness,
}

/// Margin for rounding errors: about ten operations on numbers of several hundred dB.
const ROUNDING_DB: f64 = 1e-9;

impl Slopes {
    /// Returns the bounds for the links of a carrier. `None` if the LOS state may change, or if the
    /// slope of the loss or of the antenna pattern is unknown.
    pub(super) fn from_config(config: &ChannelConfig) -> Option<Slopes> {
        let condition = match config.line_of_sight {
            LineOfSight::Clear => Condition::Los,
            LineOfSight::Obstructed => Condition::Nlos,
            LineOfSight::Drawn => config.path_loss.sole_condition()?,
            LineOfSight::Soft | LineOfSight::Geometry => return None,
        };
        if !config.ue_antenna.is_the_same_everywhere() || config.base_antenna.is_steered() {
            return None;
        }
        let anywhere =
            crate::path_loss::Ends::new(Point::default(), Point::default(), config.carrier);
        let own_db = config.path_loss.shadowing_sigma_db(&anywhere, condition);
        let indoors_db = config.path_loss.indoor_shadowing_sigma_db();
        let given_db = |shadowing: Shadowing| {
            [own_db, indoors_db.unwrap_or(own_db)].map(|db| shadowing.sigma_db.unwrap_or(db))
        };
        Some(Slopes {
            condition,
            loss_db: config.path_loss.steepest_db(condition)? / std::f64::consts::LN_10,
            sigma_db: config.shadowing.map_or([0.0; 2], given_db),
            antenna: config.base_antenna.steepness()?,
        })
    }
}

/// Cache for all links of one UE. It stores the part of the shadowing that all sites share.
#[derive(Debug, Default)]
pub struct CommonShadowing(Option<CachedValue>);

/// Last value read from a common map. The fields are the identity of the map and the LOS state,
/// then the position and the value in standard deviations.
#[derive(Debug)]
struct CachedValue {
    of: (MapId, Condition),
    lattice: Lattice,
    found: (Point, f64),
}

/// Identity of a map within a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct MapId(usize);

impl MapId {
    fn common(maps: &MapReader) -> MapId {
        MapId(maps.common().addr())
    }
}

impl CommonShadowing {
    fn deviations_at(&mut self, maps: &MapReader, condition: Condition, place: Point) -> f64 {
        let of = (MapId::common(maps), condition);
        match &mut self.0 {
            Some(cached) if cached.of == of => {
                if cached.found.0 != place {
                    let at = (place.x, place.y);
                    cached.found = (place, maps.common_by(&mut cached.lattice, condition, at));
                }
                cached.found.1
            }
            _ => {
                let mut lattice = Lattice::new();
                let value = maps.common_by(&mut lattice, condition, (place.x, place.y));
                let found = (place, value);
                self.0.insert(CachedValue { of, lattice, found }).found.1
            }
        }
    }
}

/// Bounds of a link's gain without shadowing around the UE's position at the last evaluation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Smooth {
    /// Position of the UE at the last evaluation of the link.
    pub from: Point,
    /// Gain without shadowing at the position `from`, dB.
    pub gain_db: f64,
    /// Largest change in dB that does not depend on the distance of the move. It occurs when
    /// another image of the base station becomes the nearest. A margin for rounding is included.
    pub turned_db: f64,
    /// Largest additional change in dB per metre from the position `from`.
    pub db_per_m: f64,
    /// Distance from the position `from` up to which the bounds are valid, metres.
    pub within_m: f64,
    /// Identity of the link's shadowing.
    pub shadow: Shadow,
    /// Lower and upper limit of the gain, dB.
    limits_db: [f64; 2],
}

impl Smooth {
    /// Returns the distance of a position from [`Smooth::from`], rounded up. `None` if the bounds
    /// are not valid at that distance.
    pub fn distance_m(&self, place: Point) -> Option<f64> {
        let distance_m = self.from.distance_to(place) * (1.0 + 1e-9);
        (distance_m <= self.within_m).then_some(distance_m)
    }

    /// Returns the lower and upper bound of the gain with the UE at a position, dB. The shadowing
    /// there must be within `shadowing_db`. `None` if no bound is known.
    pub fn bounds_db(&self, place: Point, shadowing_db: [f64; 2]) -> Option<[f64; 2]> {
        let change_db = self.turned_db + self.db_per_m * self.distance_m(place)?;
        let [least_db, most_db] = shadowing_db;
        let [outage_db, limit_db] = self.limits_db;
        let bounds_db = [
            self.gain_db - change_db - most_db,
            self.gain_db + change_db - least_db,
        ];
        Some(bounds_db.map(|bound_db| bound_db.clamp(outage_db, limit_db)))
    }
}

/// Identity of a link's shadowing. If two links of a UE have equal identities, their shadowing is
/// equal at every position.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shadow {
    map: Option<(MapId, Condition)>,
    sigma_db: f64,
}

impl Shadow {
    /// No shadowing.
    pub const NONE: Shadow = Shadow {
        map: None,
        sigma_db: 0.0,
    };
}

impl LinkPath {
    /// Returns the slopes and the last evaluation. `None` if no bound of the gain is known.
    fn bounded(&self) -> Option<(&Slopes, &LastEvaluation)> {
        let (slopes, last) = (self.shared.slopes.as_ref()?, self.last.as_ref()?);
        let expected = match slopes.condition {
            Condition::Los => State::Los,
            Condition::Nlos => State::Nlos,
        };
        let is_bounded =
            last.state == expected && last.is_bare && self.shared.follows_from_the_places();
        is_bounded.then_some((slopes, last))
    }

    fn sigma_db(&self, slopes: &Slopes) -> f64 {
        slopes.sigma_db[usize::from(self.walls().is_building)]
    }

    /// Implements [`LinkChannel::smooth`](super::LinkChannel::smooth).
    pub(super) fn smooth(&self, unique_m: f64) -> Option<Smooth> {
        let (slopes, last) = self.bounded()?;
        if self.is_at_a_limit(last.gain_db) {
            return None;
        }
        let base = last.base;
        let Point { x, y, z } = last.ue.position;
        let (dx, dy, dz) = (x - base.x, y - base.y, z - base.z);
        let ground = (dx * dx + dy * dy).sqrt();
        let slant = (ground * ground + dz * dz).sqrt();
        // The UE moves by at most a quarter of the distance. For a share x in this range ln(1 + x)
        // is at most x, and asin(x) is at most 1.04 x.
        let within_m = ground.min(slant) / 4.0;
        let loss_db = slopes.loss_db / (0.75 * slant);
        let steepness = slopes.antenna;
        let degrees = 1.04_f64.to_degrees();
        let (antenna_db, turned_db) = match ground * 1.25 < unique_m {
            true => {
                let azimuth_db = steepness.azimuth_db * degrees / ground;
                let elevation_db = steepness.elevation_db * degrees / slant;
                (azimuth_db + elevation_db, 0.0)
            }
            false => (0.0, steepness.anywhere_db),
        };
        let shadow = match self.shared.config.shadowing {
            Some(_) => Shadow {
                map: Some((MapId(Arc::as_ptr(self.maps.map()).addr()), slopes.condition)),
                sigma_db: self.sigma_db(slopes),
            },
            None => Shadow::NONE,
        };
        let db_per_m = loss_db + antenna_db + self.shared.absorption_db_per_m;
        (within_m > 0.0).then_some(Smooth {
            from: last.ue.position,
            gain_db: last.gain_db + last.shadowing_db,
            turned_db: turned_db + ROUNDING_DB,
            db_per_m: db_per_m * (1.0 + 1e-9),
            within_m,
            shadow,
            limits_db: [-OUTAGE_LOSS_DB, -self.shared.config.minimum_loss_db],
        })
    }

    /// Implements [`LinkChannel::shadowing_db`](super::LinkChannel::shadowing_db).
    pub(super) fn shadowing_db(&self, ue: Point, common: &mut CommonShadowing) -> [f64; 2] {
        match (&self.shared.slopes, self.shared.config.shadowing) {
            (Some(slopes), Some(_)) => {
                let shared = common.deviations_at(&self.maps, slopes.condition, ue);
                let own = self.maps.own_within(slopes.condition, (ue.x, ue.y));
                own.map(|own| self.sigma_db(slopes) * (shared + own))
            }
            _ => [0.0; 2],
        }
    }

    fn is_at_a_limit(&self, gain_db: f64) -> bool {
        gain_db >= -self.shared.config.minimum_loss_db || gain_db <= -OUTAGE_LOSS_DB
    }
}
