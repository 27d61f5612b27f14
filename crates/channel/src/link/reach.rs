//! How far a link's gain can be from the one that was found last, without finding it again.

use super::{LinkChannel, OUTAGE_LOSS_DB, State};
use crate::antenna::Steepness;
use crate::config::{ChannelConfig, LineOfSight, Shadowing};
use crate::path_loss::Condition;
use crate::shadowing::{CommonMap, MapReader};
use fadeout_core::Point;

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
pub struct CommonShadowing(Option<Found>);

/// Which maps, in which condition and where; and the value in standard deviations.
type Found = ((*const CommonMap, Condition, Point), f64);

impl CommonShadowing {
    fn at(&mut self, maps: &MapReader, condition: Condition, place: Point) -> f64 {
        let key = (maps.common(), condition, place);
        match self.0 {
            Some((known, value)) if known == key => value,
            _ => {
                let value = maps.common_shadowing(condition, (place.x, place.y));
                self.0.insert((key, value)).1
            }
        }
    }
}

/// Nothing is known.
const ANYWHERE: [f64; 2] = [f64::NEG_INFINITY, f64::INFINITY];

impl LinkChannel {
    /// By how many dB at least and at most the gain with the UE at `ue` is above the one that was found last;
    /// infinite where no bound is known. Only the nearest of the images of a base station counts, which is surely
    /// the same one while the UE is within `unique_m` of it on the ground.
    pub fn reach_db(&self, ue: Point, unique_m: f64, common: &mut CommonShadowing) -> [f64; 2] {
        let (Some(slopes), Some(asked), true) = (
            &self.shared.slopes,
            &self.asked,
            self.follows_from_the_places(),
        ) else {
            return ANYWHERE;
        };
        let ends = asked.ends();
        let expected = match slopes.condition {
            Condition::Los => State::Los,
            Condition::Nlos => State::Nlos,
        };
        if self.large_scale.state != expected
            || ends.obstruction.is_some()
            || ends.vehicles_db > 0.0
        {
            return ANYWHERE;
        }
        let (base, from) = (ends.base.position, ends.ue.position);
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
        let [common_db, shadowing_db] = match (self.shared.config.shadowing, self.common) {
            (Some(_), Some(before)) => {
                let sigma_db = slopes.sigma_db[usize::from(self.walls.is_building)];
                let now = common.at(&self.maps, slopes.condition, ue);
                let own = self.maps.most_difference(slopes.condition, (dx, dy));
                [sigma_db * (before - now), sigma_db * own]
            }
            (Some(_), None) => return ANYWHERE,
            (None, _) => [0.0; 2],
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
        if self.is_at_a_limit() {
            // It was cut there: what changes may begin beyond.
            let reach_db = reach_db + common_db.abs();
            return [-reach_db, reach_db];
        }
        [common_db - reach_db, common_db + reach_db]
    }

    fn is_at_a_limit(&self) -> bool {
        let gain_db = self.large_scale.gain_db;
        gain_db >= -self.shared.config.minimum_loss_db || gain_db <= -OUTAGE_LOSS_DB
    }
}

/// More than the angle with this sine, which is below one, in degrees: asin(x) is at most x / sqrt(1 - x^2).
fn angle_deg(sine: f64) -> f64 {
    (sine / (1.0 - sine * sine).sqrt()).to_degrees()
}
