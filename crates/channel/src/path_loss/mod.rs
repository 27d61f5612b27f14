//! Path loss: the mean loss over distance, and the probability of a clear path.
//!
//! A [`PathLossModel`] gives the median loss in LOS and NLOS, the LOS probability, and the
//! standard deviation and correlation distance of the shadowing. Each submodule contains the models
//! of one source. [`PathLoss`] is the closed set of all models.

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

/// State of the direct path for which losses are defined: LOS or NLOS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    /// Line of sight.
    Los,
    /// No line of sight.
    Nlos,
}

/// Geometry of the two ends of a link, as inputs of path-loss formulas.
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
    /// Effective environment height h_E of UMa, metres. It is 1 m for every UE below 13 m (TR
    /// 38.901 Table 7.4.1-1 note 1).
    pub environment_height_m: f64,
}

impl Ends {
    /// Returns the geometry of two positions at a carrier, with the environment height of a low UE.
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

    /// Returns the ends with a ground distance of at least `ground_m`, which is the shortest
    /// distance of a model.
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

/// Probabilities of the LOS states at a position. The remaining probability is that of NLOS.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StateProbabilities {
    /// Probability of LOS.
    pub los: f64,
    /// Probability of outage. Only the NYU models have outage.
    pub outage: f64,
}

impl StateProbabilities {
    /// Returns probabilities of LOS and NLOS, without outage.
    pub fn los(los: f64) -> StateProbabilities {
        StateProbabilities { los, outage: 0.0 }
    }
}

/// Path-loss model: loss, state probabilities, and deviation of the shadowing.
pub trait PathLossModel {
    /// Returns the median loss in dB, without shadowing. Below the model's shortest distance it is
    /// the loss at that distance. If the source gives no shortest distance, 1 m is used.
    fn loss_db(&self, ends: &Ends, condition: Condition) -> f64;

    /// Returns the probabilities of LOS and outage for these ends. A model without LOS states is
    /// either LOS or NLOS at all positions.
    fn state_probabilities(&self, ends: &Ends) -> StateProbabilities;

    /// Returns the standard deviation of the shadowing in dB.
    fn shadowing_sigma_db(&self, ends: &Ends, condition: Condition) -> f64;

    /// Returns the standard deviation of the shadowing in dB for UEs inside buildings, in both LOS
    /// states. `None` if the source has no separate value.
    fn indoor_shadowing_sigma_db(&self) -> Option<f64> {
        None
    }

    /// Returns the correlation distances of the model's scenario.
    fn places(&self) -> Places;

    /// Returns the correlation of the shadowing of links to different sites. It is zero in the
    /// models of TR 36.873 (clause 7.3, step 4) and TR 38.901 (clause 7.5, step 4).
    fn between_sites(&self) -> f64 {
        0.0
    }

    /// Returns an upper bound of the loss per decade of the slant distance, in one LOS state, dB.
    /// `None` if no bound is known, or if the shadowing's deviation depends on the distance.
    fn steepest_db(&self, _condition: Condition) -> Option<f64> {
        None
    }

    /// Returns true if the effective environment height of UMa is drawn for tall UEs
    /// ([`tr38901::uma_environment_height_m`]).
    fn draws_environment_height(&self) -> bool {
        false
    }

    /// Checks the parameters.
    ///
    /// # Errors
    /// Returns an error if a parameter is out of its range.
    fn check(&self) -> Result<(), ConfigError> {
        Ok(())
    }
}

fadeout_core::registry! {
    /// Every path-loss model that a scenario can name.
    pub static PATH_LOSS_MODELS;

    /// A path-loss model. [`PATH_LOSS_MODELS`] contains the names and sources.
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
    /// Returns [`PathLossModel::loss_db`].
    pub fn loss_db(&self, ends: &Ends, condition: Condition) -> f64 {
        let loss_db = path_losses!(self, model => model.loss_db(ends, condition));
        debug_assert!(!loss_db.is_nan(), "no path loss at {ends:?}");
        loss_db
    }

    /// Returns [`PathLossModel::state_probabilities`].
    pub fn state_probabilities(&self, ends: &Ends) -> StateProbabilities {
        let found = path_losses!(self, model => model.state_probabilities(ends));
        debug_assert!(
            found.los >= 0.0 && found.outage >= 0.0,
            "a negative probability: {found:?} at {ends:?}"
        );
        // Each of the two probabilities is rounded, so their sum may exceed one slightly.
        debug_assert!(
            found.los + found.outage <= 1.0 + 1e-9,
            "probabilities over one: {found:?} at {ends:?}"
        );
        found
    }

    /// Returns [`PathLossModel::shadowing_sigma_db`].
    pub fn shadowing_sigma_db(&self, ends: &Ends, condition: Condition) -> f64 {
        let sigma_db = path_losses!(self, model => model.shadowing_sigma_db(ends, condition));
        debug_assert!(
            sigma_db >= 0.0,
            "shadowing with a deviation of {sigma_db} dB"
        );
        sigma_db
    }

    /// Returns [`PathLossModel::indoor_shadowing_sigma_db`].
    pub fn indoor_shadowing_sigma_db(&self) -> Option<f64> {
        path_losses!(self, model => model.indoor_shadowing_sigma_db())
    }

    /// Returns [`PathLossModel::places`].
    pub fn places(&self) -> Places {
        path_losses!(self, model => model.places())
    }

    /// Returns [`PathLossModel::between_sites`].
    pub fn between_sites(&self) -> f64 {
        path_losses!(self, model => model.between_sites())
    }

    /// Returns [`PathLossModel::steepest_db`].
    pub(crate) fn steepest_db(&self, condition: Condition) -> Option<f64> {
        path_losses!(self, model => model.steepest_db(condition))
    }

    /// Returns the LOS state of all positions. `None` if the model has both LOS and NLOS.
    pub(crate) fn sole_condition(&self) -> Option<Condition> {
        match self {
            PathLoss::FreeSpace(_) => Some(Condition::Los),
            PathLoss::LteMacro(_) => Some(Condition::Nlos),
            _ => None,
        }
    }

    /// Returns [`PathLossModel::draws_environment_height`].
    pub fn draws_environment_height(&self) -> bool {
        path_losses!(self, model => model.draws_environment_height())
    }

    /// Returns [`PathLossModel::check`].
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        path_losses!(self, model => model.check())
    }
}

#[cfg(test)]
mod tests;
