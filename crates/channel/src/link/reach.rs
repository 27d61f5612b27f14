//! How far a link's gain can be from the one that was found last, without finding it again.

use super::way::{Last, Way};
use super::{OUTAGE_LOSS_DB, State};
use crate::antenna::Steepness;
use crate::config::{ChannelConfig, LineOfSight, Shadowing};
use crate::field::Lattice;
use crate::path_loss::Condition;
use crate::shadowing::MapReader;
use fadeout_core::Point;
use std::sync::Arc;

/// Bounds on the change of a link's gain with the place of its UE.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Slopes {
    condition: Condition,
    /// dB with each neper of the distance in space.
    loss_db: f64,
    /// Standard deviation of the shadowing outdoors and indoors, dB.
    sigma_db: [f64; 2],
    antenna: Steepness,
}

/// Room for the rounding of some ten operations on numbers of some hundred dB.
const ROUNDING_DB: f64 = 1e-9;

impl Slopes {
    /// Of the links of a carrier; none where nobody bounds them: a path that may pass into another condition,
    /// a loss or a pattern without a known slope.
    pub(super) fn of(config: &ChannelConfig) -> Option<Slopes> {
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

/// The part of the shadowing at a place that all sites share, found once for the links of a UE.
#[derive(Debug, Default)]
pub struct CommonShadowing(Option<Read>);

/// A common map, as far as it was read: which one and in which condition; where, and the value there in standard
/// deviations.
#[derive(Debug)]
struct Read {
    of: (MapId, Condition),
    lattice: Lattice,
    found: (Point, f64),
}

/// Tells the maps of a run apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct MapId(usize);

impl MapId {
    fn of(maps: &MapReader) -> MapId {
        MapId(maps.common().addr())
    }
}

impl CommonShadowing {
    fn at(&mut self, maps: &MapReader, condition: Condition, place: Point) -> f64 {
        let of = (MapId::of(maps), condition);
        match &mut self.0 {
            Some(read) if read.of == of => {
                if read.found.0 != place {
                    let at = (place.x, place.y);
                    read.found = (place, maps.common_by(&mut read.lattice, condition, at));
                }
                read.found.1
            }
            _ => {
                let mut lattice = Lattice::new();
                let value = maps.common_by(&mut lattice, condition, (place.x, place.y));
                let found = (place, value);
                self.0.insert(Read { of, lattice, found }).found.1
            }
        }
    }
}

/// How a link's gain without its shadowing may rise on the way from where it was found last.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rise {
    /// Where that was.
    pub from: Point,
    /// The gain there without the shadowing, and with room for rounding, dB.
    pub gain_db: f64,
    /// By how many dB at most the same rises with each metre of the way.
    pub db_per_m: f64,
    /// For so many metres.
    pub within_m: f64,
    /// Its shadowing.
    pub shadow: Shadow,
}

/// Which shadowing a link has: links of a UE with the same have the same loss by it at the same place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shadow {
    map: Option<(MapId, Condition)>,
    sigma_db: f64,
}

impl Shadow {
    /// None.
    pub const NONE: Shadow = Shadow {
        map: None,
        sigma_db: 0.0,
    };
}

/// Nothing is known.
const ANYWHERE: [f64; 2] = [f64::NEG_INFINITY, f64::INFINITY];

impl Way {
    /// Slopes, and what was found last, where a bound of the gain is known.
    fn bounded(&self) -> Option<(&Slopes, &Last)> {
        let (slopes, last) = (self.shared.slopes.as_ref()?, self.last.as_ref()?);
        let expected = match slopes.condition {
            Condition::Los => State::Los,
            Condition::Nlos => State::Nlos,
        };
        let is_bounded = last.state == expected
            && last.is_bare
            && self.shared.follows_from_the_places()
            && (self.shared.config.shadowing.is_none() || last.common().is_some());
        is_bounded.then_some((slopes, last))
    }

    fn sigma_db(&self, slopes: &Slopes) -> f64 {
        slopes.sigma_db[usize::from(self.walls().is_building)]
    }

    /// As [`LinkChannel::rise`](super::LinkChannel::rise).
    pub(super) fn rise(&self, unique_m: f64) -> Option<Rise> {
        let (slopes, last) = self.bounded()?;
        if self.is_at_a_limit(last.gain_db) {
            return None;
        }
        let base = last.base;
        let Point { x, y, z } = last.ue.position;
        let (dx, dy, dz) = (x - base.x, y - base.y, z - base.z);
        let ground = (dx * dx + dy * dy).sqrt();
        let slant = (ground * ground + dz * dz).sqrt();
        // Within a quarter of the distance ln(1 + x) is at most x, and asin(x) at most 1.04 x.
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
        (within_m > 0.0).then_some(Rise {
            from: last.ue.position,
            gain_db: last.gain_db + last.shadowing_db + turned_db + ROUNDING_DB,
            db_per_m: db_per_m * (1.0 + 1e-9),
            within_m,
            shadow,
        })
    }

    /// As [`LinkChannel::least_shadowing_db`](super::LinkChannel::least_shadowing_db).
    pub(super) fn least_shadowing_db(&self, ue: Point, common: &mut CommonShadowing) -> f64 {
        match (&self.shared.slopes, self.shared.config.shadowing) {
            (Some(slopes), Some(_)) => {
                let shared = common.at(&self.maps, slopes.condition, ue);
                let own = self.maps.least_own(slopes.condition, (ue.x, ue.y));
                self.sigma_db(slopes) * (shared + own)
            }
            _ => 0.0,
        }
    }

    /// As [`LinkChannel::reach_db`](super::LinkChannel::reach_db).
    pub(super) fn reach_db(
        &self,
        ue: Point,
        unique_m: f64,
        common: &mut CommonShadowing,
    ) -> [f64; 2] {
        let Some((slopes, last)) = self.bounded() else {
            return ANYWHERE;
        };
        let (base, from) = (last.base, last.ue.position);
        let (dx, dy, dz) = (ue.x - from.x, ue.y - from.y, ue.z - from.z);
        let on_ground = (dx * dx + dy * dy).sqrt();
        let way = (dx * dx + dy * dy + dz * dz).sqrt();
        let (x, y, z) = (from.x - base.x, from.y - base.y, from.z - base.z);
        let ground = (x * x + y * y).sqrt();
        let slant = (x * x + y * y + z * z).sqrt();
        if way >= slant {
            return ANYWHERE;
        }
        // ln(1 + x) is at most x.
        let loss_db = slopes.loss_db * way / (slant - way);
        let [common_db, shadowing_db] = match last.common() {
            Some(before) if self.shared.config.shadowing.is_some() => {
                let sigma_db = self.sigma_db(slopes);
                let now = common.at(&self.maps, slopes.condition, ue);
                let own = self.maps.most_difference(slopes.condition, (dx, dy));
                [sigma_db * (before - now), sigma_db * own]
            }
            _ => [0.0; 2],
        };
        let Steepness {
            azimuth_db,
            elevation_db,
            anywhere_db,
        } = slopes.antenna;
        let is_same_image = ground + on_ground < unique_m;
        let antenna_db = if is_same_image && on_ground < ground {
            let azimuth_deg = angle_deg(on_ground / ground);
            let elevation_deg = angle_deg(way / slant);
            (azimuth_db * azimuth_deg + elevation_db * elevation_deg).min(anywhere_db)
        } else {
            anywhere_db
        };
        let absorption_db = self.shared.absorption_db_per_m * way;
        let change_db = loss_db + shadowing_db + antenna_db + absorption_db;
        let reach_db = change_db * (1.0 + 1e-9) + ROUNDING_DB;
        if self.is_at_a_limit(last.gain_db) {
            // It was cut there: what changes may begin beyond.
            let reach_db = reach_db + common_db.abs();
            return [-reach_db, reach_db];
        }
        [common_db - reach_db, common_db + reach_db]
    }

    fn is_at_a_limit(&self, gain_db: f64) -> bool {
        gain_db >= -self.shared.config.minimum_loss_db || gain_db <= -OUTAGE_LOSS_DB
    }
}

/// More than the angle with this sine, which is below one, in degrees: asin(x) is at most x / sqrt(1 - x^2).
fn angle_deg(sine: f64) -> f64 {
    (sine / (1.0 - sine * sine).sqrt()).to_degrees()
}
