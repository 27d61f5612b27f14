//! Path loss: how much a distance costs on average, and how likely it is that the path is clear.
//!
//! A [`Model`] is what the rest of the channel asks of one: the median loss in LOS and NLOS, the LOS
//! probability, and the spread and correlation distance of the shadowing around the median. The models
//! are in the submodules, one source each; [`PathLoss`] is the closed set of them.

mod free_space;
pub mod lte;
pub mod nyu;
mod places;
pub mod tr38901;
pub mod vehicle;

pub use free_space::{CloseIn, FreeSpace, close_in, free_space, wavelength};
pub use lte::{HetnetMacro, HetnetPico, LteMacro, UrbanMacro3d, UrbanMicro3d};
pub use nyu::{Nyu28, Nyu73};
pub use places::{ByCondition, Places};
pub use tr38901::{IndoorMixed, IndoorOpen, RuralMacro, UrbanMacro, UrbanMicro};
pub use vehicle::{VehicleHighway, VehicleUrban};

use crate::error::ConfigError;
use fadeout_core::math::hypot;
use fadeout_core::{Hertz, Point};

/// Whether the direct path is clear.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    /// Line of sight.
    Los,
    /// No line of sight.
    Nlos,
}

/// Where the two ends of a link are, as path-loss formulas want it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ends {
    /// Distance on the ground d2D, metres.
    pub ground_m: f64,
    /// Distance in space d3D, metres.
    pub slant_m: f64,
    /// Height of the base station's antenna h_BS, metres.
    pub base_height_m: f64,
    /// Height of the UE's antenna h_UT, metres.
    pub ue_height_m: f64,
    /// Carrier frequency f_c, GHz.
    pub carrier_ghz: f64,
    /// Effective environment height h_E of UMa, metres; 1 for every UE below 13 m (TR 38.901
    /// Table 7.4.1-1 note 1).
    pub environment_height_m: f64,
}

impl Ends {
    /// From two places and a carrier, with the environment height of a low UE.
    pub fn new(base: Point, ue: Point, carrier: Hertz) -> Ends {
        debug_assert!(carrier.0 > 0.0, "a carrier of {carrier:?}");
        Ends {
            ground_m: base.ground_distance_to(ue),
            slant_m: base.distance_to(ue),
            base_height_m: base.z,
            ue_height_m: ue.z,
            carrier_ghz: carrier.0 / 1e9,
            environment_height_m: 1.0,
        }
    }

    /// The same ends, not closer on the ground than a model's shortest distance.
    fn at_least(&self, ground_m: f64) -> Ends {
        if self.ground_m >= ground_m {
            return *self;
        }
        Ends {
            ground_m,
            slant_m: hypot(ground_m, self.base_height_m - self.ue_height_m),
            ..*self
        }
    }
}

/// The probabilities of the three states of a place, before one is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StateProbabilities {
    /// Of LOS.
    pub los: f64,
    /// Of outage; only the NYU models have it. The rest is NLOS.
    pub outage: f64,
}

impl StateProbabilities {
    /// Without outage.
    pub fn los(los: f64) -> StateProbabilities {
        StateProbabilities { los, outage: 0.0 }
    }
}

/// A path-loss model: loss, state probabilities, and the spread of the shadowing.
pub trait Model {
    /// Median loss in dB, without shadowing. Ends that are closer than the model's shortest
    /// distance get the loss at that distance (1 m where the source names none).
    fn loss_db(&self, ends: &Ends, condition: Condition) -> f64;

    /// Probabilities of LOS and outage at these ends. A model without states is LOS or NLOS
    /// everywhere.
    fn state_probabilities(&self, ends: &Ends) -> StateProbabilities;

    /// Standard deviation of the shadowing in dB.
    fn shadowing_sigma_db(&self, ends: &Ends, condition: Condition) -> f64;

    /// Standard deviation of the shadowing of UEs in buildings in dB, which replaces that of the
    /// conditions; none where the source has no other.
    fn indoor_shadowing_sigma_db(&self) -> Option<f64> {
        None
    }

    /// Over which distances places are alike.
    fn places(&self) -> Places;

    /// Correlation of the shadowing of links to different sites: none in the models of TR 36.873 (clause
    /// 7.3, step 4) and TR 38.901 (clause 7.5, step 4).
    fn between_sites(&self) -> f64 {
        0.0
    }

    /// By how many dB at most the loss in a condition grows with a decade of the distance in space, where that is
    /// known and the spread of the shadowing is the same at all distances.
    fn steepest_db(&self, _condition: Condition) -> Option<f64> {
        None
    }

    /// Whether tall UEs draw the effective environment height of UMa
    /// ([`tr38901::uma_environment_height_m`]).
    fn draws_environment_height(&self) -> bool {
        false
    }

    /// # Errors
    /// When a parameter is out of its range.
    fn check(&self) -> Result<(), ConfigError> {
        Ok(())
    }
}

fadeout_core::registry! {
    /// Every path-loss model that a scenario can name.
    pub static PATH_LOSS_MODELS;

    /// A path-loss model. [`PATH_LOSS_MODELS`] has names and sources.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub enum PathLoss {
        FreeSpace(FreeSpace),
        CloseIn(CloseIn),
        UrbanMacro(UrbanMacro),
        UrbanMicro(UrbanMicro),
        RuralMacro(RuralMacro),
        IndoorMixed(IndoorMixed),
        IndoorOpen(IndoorOpen),
        LteMacro(LteMacro),
        HetnetMacro(HetnetMacro),
        HetnetPico(HetnetPico),
        UrbanMacro3d(UrbanMacro3d),
        UrbanMicro3d(UrbanMicro3d),
        Nyu28(Nyu28),
        Nyu73(Nyu73),
        VehicleUrban(VehicleUrban),
        VehicleHighway(VehicleHighway),
    }
    macro path_losses;
}

impl PathLoss {
    /// See [`Model::loss_db`].
    pub fn loss_db(&self, ends: &Ends, condition: Condition) -> f64 {
        let loss_db = path_losses!(self, model => model.loss_db(ends, condition));
        debug_assert!(!loss_db.is_nan(), "no path loss at {ends:?}");
        loss_db
    }

    /// See [`Model::state_probabilities`].
    pub fn state_probabilities(&self, ends: &Ends) -> StateProbabilities {
        let found = path_losses!(self, model => model.state_probabilities(ends));
        debug_assert!(
            found.los >= 0.0 && found.outage >= 0.0,
            "a negative probability: {found:?} at {ends:?}"
        );
        // The two probabilities are rounded.
        debug_assert!(
            found.los + found.outage <= 1.0 + 1e-9,
            "probabilities over one: {found:?} at {ends:?}"
        );
        found
    }

    /// See [`Model::shadowing_sigma_db`].
    pub fn shadowing_sigma_db(&self, ends: &Ends, condition: Condition) -> f64 {
        let sigma_db = path_losses!(self, model => model.shadowing_sigma_db(ends, condition));
        debug_assert!(
            sigma_db >= 0.0,
            "shadowing with a deviation of {sigma_db} dB"
        );
        sigma_db
    }

    /// See [`Model::indoor_shadowing_sigma_db`].
    pub fn indoor_shadowing_sigma_db(&self) -> Option<f64> {
        path_losses!(self, model => model.indoor_shadowing_sigma_db())
    }

    /// See [`Model::places`].
    pub fn places(&self) -> Places {
        path_losses!(self, model => model.places())
    }

    /// See [`Model::between_sites`].
    pub fn between_sites(&self) -> f64 {
        path_losses!(self, model => model.between_sites())
    }

    /// See [`Model::steepest_db`].
    pub(crate) fn steepest_db(&self, condition: Condition) -> Option<f64> {
        path_losses!(self, model => model.steepest_db(condition))
    }

    /// The condition that every place has, if there is but one.
    pub(crate) fn sole_condition(&self) -> Option<Condition> {
        match self {
            PathLoss::FreeSpace(_) => Some(Condition::Los),
            PathLoss::LteMacro(_) => Some(Condition::Nlos),
            _ => None,
        }
    }

    /// See [`Model::draws_environment_height`].
    pub fn draws_environment_height(&self) -> bool {
        path_losses!(self, model => model.draws_environment_height())
    }

    /// See [`Model::check`].
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        path_losses!(self, model => model.check())
    }
}

#[cfg(test)]
mod tests;
