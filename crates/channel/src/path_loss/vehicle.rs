//! Path loss between vehicles.
//!
//! Standard: TR 37.885 §6.2.1.

use super::places::deviation_db;
use super::{ByCondition, Condition, Ends, PathLossModel, Places, StateProbabilities};
use fadeout_core::math::{exp, ln, log10, pow};
use fadeout_core::registry::{Entry, Registered, Settings};

/// Returns the loss of the urban grid in dB. The loss of a link blocked by vehicles (NLOSv) is the
/// LOS loss plus [`blocking_vehicle`].
pub fn urban_db(ends: &Ends, condition: Condition) -> f64 {
    let (distance, frequency) = (log10(ends.slant_m.max(1.0)), log10(ends.carrier_ghz));
    match condition {
        Condition::Los => 38.77 + 16.7 * distance + 18.2 * frequency,
        Condition::Nlos => 36.85 + 30.0 * distance + 18.9 * frequency,
    }
}

/// Returns the LOS loss of the highway in dB. The standard has no NLOS loss for highways, so this
/// loss is used in both LOS states.
pub fn highway_db(ends: &Ends) -> f64 {
    32.4 + 20.0 * log10(ends.slant_m.max(1.0)) + 20.0 * log10(ends.carrier_ghz)
}

/// Log-normal distribution of the extra loss of a link blocked by a vehicle, in dB.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogNormal {
    /// Mean of the underlying normal variable.
    pub mu: f64,
    /// Standard deviation of the underlying normal variable.
    pub sigma: f64,
}

impl LogNormal {
    /// Returns the distribution with this mean and standard deviation of the log-normal variable.
    pub fn from_moments(mean: f64, deviation: f64) -> LogNormal {
        let (mean_square, variance) = (mean * mean, deviation * deviation);
        LogNormal {
            mu: ln(mean_square / (variance + mean_square).sqrt()),
            sigma: ln(1.0 + variance / mean_square).sqrt(),
        }
    }

    /// Returns the value of the log-normal variable for a standard normal number.
    pub fn value_for_draw(&self, normal: f64) -> f64 {
        exp(self.mu + self.sigma * normal)
    }
}

/// Returns the distribution of the extra loss in dB by a vehicle of the given height. `None` if
/// both antennas are above the vehicle. Distance and heights are in metres.
pub fn blocking_vehicle(
    distance_m: f64,
    heights_m: (f64, f64),
    vehicle_m: f64,
) -> Option<LogNormal> {
    let (low, high) = (heights_m.0.min(heights_m.1), heights_m.0.max(heights_m.1));
    let distant = (15.0 * log10(distance_m.max(1.0)) - 41.0).max(0.0);
    if low > vehicle_m {
        None
    } else if high < vehicle_m {
        Some(LogNormal::from_moments(9.0 + distant, 4.5))
    } else {
        Some(LogNormal::from_moments(5.0 + distant, 4.0))
    }
}

/// Returns the probability that no building blocks a link in a city of medium traffic. It includes
/// LOS and NLOSv. The distance is in metres. The source is M. Boban et al., "Modeling the evolution
/// of line-of-sight blockage for V2V channels", 2016, urban medium density.
pub fn urban_building_free_probability(distance_m: f64) -> f64 {
    let los = 0.8372 * exp(-0.0114 * distance_m);
    (los + log_bell(distance_m, 5.0063, 2.4544, 0.0312)).clamp(0.0, 1.0)
}

/// Returns the probability that no obstacle other than vehicles blocks a link on a highway of
/// medium density (M. Boban et al., 2016). The distance is in metres.
pub fn highway_building_free_probability(distance_m: f64) -> f64 {
    let blocked = -3.7e-7 * distance_m * distance_m + 0.00061 * distance_m + 0.015;
    1.0 - blocked.clamp(0.0, 1.0)
}

/// Returns the loss by foliage in dB per metre of the path within it. The carrier is in GHz. The
/// source is M. Boban, J. Barros and O. Tonguz, "Geometry-based vehicle-to-vehicle channel modeling
/// for large-scale simulation", IEEE TVT 63(9), 2014.
pub fn foliage_db_per_m(carrier_ghz: f64) -> f64 {
    0.79 * pow(carrier_ghz, 0.61)
}

/// Returns `exp(-(ln d - a)^2 / b) / (c d)`, the shape of the NLOSv probabilities.
fn log_bell(distance_m: f64, a: f64, b: f64, c: f64) -> f64 {
    let distance = distance_m.max(1.0);
    let offset = ln(distance) - a;
    exp(-offset * offset / b) / (c * distance)
}

/// Standard deviation of the shadowing. It is equal for cities and highways (table 6.2.1-2).
const SIGMA_DB: ByCondition = ByCondition {
    los: deviation_db("v2x,LOS"),
    nlos: deviation_db("v2x,NLOS"),
};

/// Urban grid of TR 37.885.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VehicleUrban;

impl Registered for VehicleUrban {
    const ENTRY: Entry = Entry::new(
        "v2x-urban",
        "3gpp-v2x",
        "Path between vehicles in a city.",
        "TR 37.885 clause 6.2.1",
    );

    fn from_settings(_: &Settings<'_>, (): ()) -> Self {
        VehicleUrban
    }
}

impl PathLossModel for VehicleUrban {
    fn loss_db(&self, ends: &Ends, condition: Condition) -> f64 {
        urban_db(ends, condition)
    }

    fn state_probabilities(&self, ends: &Ends) -> StateProbabilities {
        StateProbabilities::los(urban_building_free_probability(ends.ground_m))
    }

    fn shadowing_sigma_db(&self, _: &Ends, condition: Condition) -> f64 {
        SIGMA_DB.for_condition(condition)
    }

    fn places(&self) -> Places {
        Places::URBAN_MICRO
    }
}

/// Highway of TR 37.885.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VehicleHighway;

impl Registered for VehicleHighway {
    const ENTRY: Entry = Entry::new(
        "v2x-highway",
        "3gpp-v2x",
        "Path between vehicles on a highway.",
        "TR 37.885 clause 6.2.1",
    );

    fn from_settings(_: &Settings<'_>, (): ()) -> Self {
        VehicleHighway
    }
}

impl PathLossModel for VehicleHighway {
    fn loss_db(&self, ends: &Ends, _: Condition) -> f64 {
        highway_db(ends)
    }

    fn state_probabilities(&self, ends: &Ends) -> StateProbabilities {
        StateProbabilities::los(highway_building_free_probability(ends.ground_m))
    }

    fn shadowing_sigma_db(&self, _: &Ends, condition: Condition) -> f64 {
        SIGMA_DB.for_condition(condition)
    }

    fn places(&self) -> Places {
        Places::URBAN_MICRO
    }
}
