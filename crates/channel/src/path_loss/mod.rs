//! Path loss: how much a distance costs on average, and how likely it is that the path is clear.
//!
//! A [`PathLoss`] bundles what the rest of the channel asks of a model: the median loss in LOS and
//! NLOS, the LOS probability, and the spread and correlation distance of the shadowing around the
//! median. The formulas are in the submodules, one source each.

mod free_space;
pub mod lte;
pub mod nyu;
mod registry;
pub mod tr38901;
pub mod vehicle;

pub use free_space::{close_in, free_space, wavelength};
pub use registry::PATH_LOSS_MODELS;

use fadeout_core::math::hypot;
use fadeout_core::registry::Parameters;
use fadeout_core::{Hertz, Meters, Point};

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

/// Exponents and spreads of the close-in model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CloseIn {
    /// Path-loss exponent in LOS.
    pub los_exponent: f64,
    /// Path-loss exponent in NLOS.
    pub nlos_exponent: f64,
    /// Standard deviation of the shadowing in LOS, dB.
    pub los_sigma_db: f64,
    /// Standard deviation of the shadowing in NLOS, dB.
    pub nlos_sigma_db: f64,
}

impl Default for CloseIn {
    /// The street canyon of S. Sun et al., IEEE Transactions on Vehicular Technology 65(5), 2016.
    fn default() -> CloseIn {
        CloseIn {
            los_exponent: 1.98,
            nlos_exponent: 3.19,
            los_sigma_db: 3.1,
            nlos_sigma_db: 8.2,
        }
    }
}

/// A path-loss model. [`PATH_LOSS_MODELS`] has names and sources.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PathLoss {
    /// Free space; always LOS, no shadowing.
    FreeSpace,
    /// Free space up to 1 m, then an exponent.
    CloseIn(CloseIn),
    /// TR 38.901 UMa.
    UrbanMacro,
    /// TR 38.901 UMi-Street Canyon.
    UrbanMicro,
    /// TR 38.901 RMa.
    RuralMacro(tr38901::Rural),
    /// TR 38.901 InH, mixed office.
    IndoorMixed,
    /// TR 38.901 InH, open office.
    IndoorOpen,
    /// TR 36.942 macro cell; knows no LOS.
    LteMacro,
    /// TR 36.814 HetNet macro cell.
    HetnetMacro,
    /// TR 36.814 HetNet pico cell.
    HetnetPico,
    /// TR 36.873 3D-UMa.
    UrbanMacro3d,
    /// TR 36.873 3D-UMi.
    UrbanMicro3d,
    /// Akdeniz et al. at 28 GHz, with outage.
    Nyu28,
    /// Akdeniz et al. at 73 GHz, with outage.
    Nyu73,
    /// TR 37.885 urban grid.
    VehicleUrban,
    /// TR 37.885 highway.
    VehicleHighway,
}

/// What is known about a place before it is decided: the probabilities of the three states.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StateProbabilities {
    /// Of LOS.
    pub los: f64,
    /// Of outage; only the NYU models have it. The rest is NLOS.
    pub outage: f64,
}

impl PathLoss {
    /// The model called `name` in [`PATH_LOSS_MODELS`]; `None` when there is none.
    pub fn from_name(name: &str, parameters: &Parameters) -> Option<PathLoss> {
        Some(
            match fadeout_core::registry::find(PATH_LOSS_MODELS, name)?.name {
                "free-space" => PathLoss::FreeSpace,
                "close-in" => {
                    let default = CloseIn::default();
                    PathLoss::CloseIn(CloseIn {
                        los_exponent: parameters.number("los-exponent", default.los_exponent),
                        nlos_exponent: parameters.number("nlos-exponent", default.nlos_exponent),
                        los_sigma_db: parameters.number("los-sigma", default.los_sigma_db),
                        nlos_sigma_db: parameters.number("nlos-sigma", default.nlos_sigma_db),
                    })
                }
                "uma" => PathLoss::UrbanMacro,
                "umi" => PathLoss::UrbanMicro,
                "rma" => {
                    let default = tr38901::Rural::default();
                    PathLoss::RuralMacro(tr38901::Rural {
                        building_height_m: parameters
                            .number("building-height", default.building_height_m),
                        street_width_m: parameters.number("street-width", default.street_width_m),
                    })
                }
                "inh-mixed" => PathLoss::IndoorMixed,
                "inh-open" => PathLoss::IndoorOpen,
                "lte-macro" => PathLoss::LteMacro,
                "hetnet-macro" => PathLoss::HetnetMacro,
                "hetnet-pico" => PathLoss::HetnetPico,
                "3d-uma" => PathLoss::UrbanMacro3d,
                "3d-umi" => PathLoss::UrbanMicro3d,
                "nyu-28" => PathLoss::Nyu28,
                "nyu-73" => PathLoss::Nyu73,
                "v2x-urban" => PathLoss::VehicleUrban,
                "v2x-highway" => PathLoss::VehicleHighway,
                other => unreachable!("`{other}` is listed but not built"),
            },
        )
    }

    /// Median loss in dB, without shadowing. Ends that are closer than the model's shortest
    /// distance get the loss at that distance (1 m where the source names none).
    pub fn loss_db(&self, ends: &Ends, condition: Condition) -> f64 {
        let carrier = Hertz(ends.carrier_ghz * 1e9);
        match self {
            PathLoss::FreeSpace => free_space(Meters(ends.slant_m.max(1.0)), carrier).0,
            PathLoss::CloseIn(model) => {
                let exponent = match condition {
                    Condition::Los => model.los_exponent,
                    Condition::Nlos => model.nlos_exponent,
                };
                close_in(Meters(ends.slant_m.max(1.0)), carrier, exponent).0
            }
            PathLoss::UrbanMacro => tr38901::uma_db(ends, condition),
            PathLoss::UrbanMicro => tr38901::umi_db(ends, condition),
            PathLoss::RuralMacro(rural) => rural.loss_db(ends, condition),
            PathLoss::IndoorMixed | PathLoss::IndoorOpen => tr38901::inh_db(ends, condition),
            PathLoss::LteMacro => lte::macro_db(ends),
            PathLoss::HetnetMacro => lte::hetnet_macro_db(ends, condition),
            PathLoss::HetnetPico => lte::hetnet_pico_db(ends, condition),
            PathLoss::UrbanMacro3d => lte::uma_3d_db(ends, condition),
            PathLoss::UrbanMicro3d => lte::umi_3d_db(ends, condition),
            PathLoss::Nyu28 => nyu::fit(nyu::Band::Ghz28, condition).loss_db(ends),
            PathLoss::Nyu73 => nyu::fit(nyu::Band::Ghz73, condition).loss_db(ends),
            PathLoss::VehicleUrban => vehicle::urban_db(ends, condition),
            PathLoss::VehicleHighway => vehicle::highway_db(ends),
        }
    }

    /// Probabilities of LOS and outage at these ends. A model without states is LOS (free space)
    /// or NLOS (LTE macro) everywhere; the close-in model takes UMi's, as its default exponents
    /// are a street's.
    pub fn state_probabilities(&self, ends: &Ends) -> StateProbabilities {
        let ground = ends.ground_m;
        let los = match self {
            PathLoss::FreeSpace => 1.0,
            PathLoss::LteMacro => 0.0,
            PathLoss::CloseIn(_) | PathLoss::UrbanMicro | PathLoss::UrbanMicro3d => {
                tr38901::umi_los_probability(ground)
            }
            PathLoss::UrbanMacro | PathLoss::UrbanMacro3d => {
                tr38901::uma_los_probability(ground, ends.ue_height_m)
            }
            PathLoss::RuralMacro(_) => tr38901::rma_los_probability(ground),
            PathLoss::IndoorMixed => tr38901::inh_mixed_los_probability(ground),
            PathLoss::IndoorOpen => tr38901::inh_open_los_probability(ground),
            PathLoss::HetnetMacro => lte::hetnet_macro_los_probability(ground),
            PathLoss::HetnetPico => lte::hetnet_pico_los_probability(ground),
            PathLoss::Nyu28 | PathLoss::Nyu73 => {
                let (los, outage) = nyu::state_probabilities(ends.slant_m);
                return StateProbabilities { los, outage };
            }
            PathLoss::VehicleUrban => vehicle::urban_building_free_probability(ground),
            PathLoss::VehicleHighway => vehicle::highway_building_free_probability(ground),
        };
        StateProbabilities { los, outage: 0.0 }
    }

    /// Standard deviation of the shadowing in dB.
    pub fn shadowing_sigma_db(&self, ends: &Ends, condition: Condition) -> f64 {
        let by_condition = |los: f64, nlos: f64| match condition {
            Condition::Los => los,
            Condition::Nlos => nlos,
        };
        match self {
            PathLoss::FreeSpace => 0.0,
            PathLoss::CloseIn(model) => by_condition(model.los_sigma_db, model.nlos_sigma_db),
            PathLoss::UrbanMacro | PathLoss::UrbanMacro3d => by_condition(4.0, 6.0),
            PathLoss::UrbanMicro => by_condition(4.0, 7.82),
            PathLoss::UrbanMicro3d => by_condition(3.0, 4.0),
            PathLoss::RuralMacro(rural) => {
                let beyond = ends.ground_m > rural.breakpoint_m(ends);
                by_condition(if beyond { 6.0 } else { 4.0 }, 8.0)
            }
            PathLoss::IndoorMixed | PathLoss::IndoorOpen => by_condition(3.0, 8.03),
            PathLoss::LteMacro | PathLoss::HetnetMacro => 8.0,
            PathLoss::HetnetPico => 10.0,
            PathLoss::Nyu28 => nyu::fit(nyu::Band::Ghz28, condition).sigma_db,
            PathLoss::Nyu73 => nyu::fit(nyu::Band::Ghz73, condition).sigma_db,
            PathLoss::VehicleUrban | PathLoss::VehicleHighway => by_condition(3.0, 4.0),
        }
    }

    /// Distance in metres over which the shadowing's correlation falls to 1/e (TR 38.901
    /// Table 7.5-6, TR 36.873 Table 7.3-6, TR 36.814 Table A.2.1.1-2 with 50 m, TR 37.885). The
    /// NYU, close-in and pico models name none and take UMi's.
    pub fn shadowing_distance_m(&self, condition: Condition) -> f64 {
        let (los, nlos) = match self {
            PathLoss::UrbanMacro | PathLoss::UrbanMacro3d => (37.0, 50.0),
            PathLoss::RuralMacro(_) => (37.0, 120.0),
            PathLoss::IndoorMixed | PathLoss::IndoorOpen => (10.0, 6.0),
            PathLoss::LteMacro | PathLoss::HetnetMacro => (50.0, 50.0),
            PathLoss::FreeSpace
            | PathLoss::CloseIn(_)
            | PathLoss::UrbanMicro
            | PathLoss::UrbanMicro3d
            | PathLoss::HetnetPico
            | PathLoss::Nyu28
            | PathLoss::Nyu73
            | PathLoss::VehicleUrban
            | PathLoss::VehicleHighway => (10.0, 13.0),
        };
        match condition {
            Condition::Los => los,
            Condition::Nlos => nlos,
        }
    }

    /// Correlation distance of the LOS state in metres (TR 38.901 Table 7.6.3.1-2; 50 m where a
    /// model names none).
    pub fn state_distance_m(&self) -> f64 {
        match self {
            PathLoss::RuralMacro(_) => 60.0,
            PathLoss::IndoorMixed | PathLoss::IndoorOpen => 10.0,
            _ => 50.0,
        }
    }
}
