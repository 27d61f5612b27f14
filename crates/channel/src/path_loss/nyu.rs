//! NYU model for 28 and 73 GHz, with floating-intercept path loss and the states LOS, NLOS and
//! outage. The source is Table I of M. R. Akdeniz et al., "Millimeter wave channel modeling and
//! cellular capacity evaluation", IEEE JSAC 32(6), 2014.

use super::{Condition, Ends, PathLossModel, Places, StateProbabilities};
use fadeout_core::data::number;
use fadeout_core::math::{exp, log10};
use fadeout_core::registry::{Entry, Registered, Settings};

/// Fit `alpha + 10 beta log10(d)` of the path loss, with the standard deviation of the shadowing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fit {
    /// Intercept at 1 m, dB.
    pub alpha_db: f64,
    /// Path-loss exponent.
    pub beta: f64,
    /// Standard deviation of the shadowing, dB.
    pub sigma_db: f64,
}

impl Fit {
    /// Returns the loss in dB at the slant distance, which is at least 1 m.
    pub fn loss_db(&self, ends: &Ends) -> f64 {
        self.alpha_db + 10.0 * self.beta * log10(ends.slant_m.max(1.0))
    }
}

const FITS: &str = include_str!("../../data/nyu_fits.csv");

/// Returns the fit from one row of `data/nyu_fits.csv`.
const fn of_row(row: &str) -> Fit {
    Fit {
        alpha_db: number(FITS, row, 2),
        beta: number(FITS, row, 3),
        sigma_db: number(FITS, row, 4),
    }
}

/// Fit at 28 GHz in LOS.
pub const LOS_28: Fit = of_row("28,LOS");
/// Fit at 28 GHz in NLOS.
pub const NLOS_28: Fit = of_row("28,NLOS");
/// Fit at 73 GHz in LOS.
pub const LOS_73: Fit = of_row("73,LOS");
/// Fit at 73 GHz in NLOS.
pub const NLOS_73: Fit = of_row("73,NLOS");
/// Second fit of the paper at 73 GHz in NLOS.
pub const NLOS_73_OTHER: Fit = of_row("73,NLOS other");

/// Frequency band for which the paper has fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Band {
    /// Band at 28 GHz.
    Ghz28,
    /// Band at 73 GHz.
    Ghz73,
}

/// Returns the fit for a band and a LOS state.
pub fn fit(band: Band, condition: Condition) -> Fit {
    match (band, condition) {
        (Band::Ghz28, Condition::Los) => LOS_28,
        (Band::Ghz28, Condition::Nlos) => NLOS_28,
        (Band::Ghz73, Condition::Los) => LOS_73,
        (Band::Ghz73, Condition::Nlos) => NLOS_73,
    }
}

/// Returns the probabilities of LOS and of outage at a distance in metres. The remaining
/// probability is that of NLOS. The formulas are equations 8a to 8c with 1/a_out = 30 m, b_out =
/// 5.2 and 1/a_los = 67.1 m.
pub fn state_probabilities(distance_m: f64) -> (f64, f64) {
    let outage = (1.0 - exp(-distance_m / 30.0 + 5.2)).max(0.0);
    ((1.0 - outage) * exp(-distance_m / 67.1), outage)
}

/// NYU model of Akdeniz et al. at 28 GHz, with outage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nyu28;

impl Registered for Nyu28 {
    const ENTRY: Entry = Entry::new(
        "nyu-28",
        "measurement",
        "Measurements at 28 GHz in New York. A UE is in line of sight, out of line of sight, or in \
         outage.",
        "Akdeniz et al., IEEE JSAC 32(6), 2014, Table I",
    );

    fn from_settings(_: &Settings<'_>, (): ()) -> Self {
        Nyu28
    }
}

impl PathLossModel for Nyu28 {
    fn loss_db(&self, ends: &Ends, condition: Condition) -> f64 {
        fit(Band::Ghz28, condition).loss_db(ends)
    }

    fn state_probabilities(&self, ends: &Ends) -> StateProbabilities {
        let (los, outage) = state_probabilities(ends.slant_m);
        StateProbabilities { los, outage }
    }

    fn shadowing_sigma_db(&self, _: &Ends, condition: Condition) -> f64 {
        fit(Band::Ghz28, condition).sigma_db
    }

    fn places(&self) -> Places {
        Places::URBAN_MICRO
    }
}

/// NYU model of Akdeniz et al. at 73 GHz, with outage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nyu73;

impl Registered for Nyu73 {
    const ENTRY: Entry = Entry::new(
        "nyu-73",
        "measurement",
        "Measurements at 73 GHz in New York. A UE is in line of sight, out of line of sight, or in \
         outage.",
        "Akdeniz et al., IEEE JSAC 32(6), 2014, Table I",
    );

    fn from_settings(_: &Settings<'_>, (): ()) -> Self {
        Nyu73
    }
}

impl PathLossModel for Nyu73 {
    fn loss_db(&self, ends: &Ends, condition: Condition) -> f64 {
        fit(Band::Ghz73, condition).loss_db(ends)
    }

    fn state_probabilities(&self, ends: &Ends) -> StateProbabilities {
        let (los, outage) = state_probabilities(ends.slant_m);
        StateProbabilities { los, outage }
    }

    fn shadowing_sigma_db(&self, _: &Ends, condition: Condition) -> f64 {
        fit(Band::Ghz73, condition).sigma_db
    }

    fn places(&self) -> Places {
        Places::URBAN_MICRO
    }
}
