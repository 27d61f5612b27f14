//! Patterns of single elements and of sector antennas.

use super::angles::Angles;
use super::pattern::{Boresight, Mounted, Pattern, check_gain, check_width};
use crate::error::ConfigError;
use fadeout_core::registry::{Entry, Registered, Settings, number};

fadeout_core::parameters! {
    /// The same gain everywhere.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Isotropic {
        /// Its gain.
        pub gain_dbi as "gain": f64 = number((-50.0, 60.0, "dBi"), "0"),
    }
}

impl Registered for Isotropic {
    const ENTRY: Entry = Entry::new("isotropic", "fixed", "The same gain everywhere.", "none")
        .with_parameters(Isotropic::PARAMETERS);

    fn with(settings: &Settings<'_>, (): ()) -> Self {
        Isotropic::read(settings)
    }
}

impl Pattern for Isotropic {
    fn gain_dbi(&self, _: Angles, _: Angles) -> f64 {
        self.gain_dbi
    }
    fn check(&self) -> Result<(), ConfigError> {
        check_gain(self.gain_dbi)
    }
}

/// The element of TR 38.901 Table 7.3-1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Element {
    /// Gain at boresight, dBi.
    pub peak_dbi: f64,
    /// Half-power beamwidth, the same in azimuth and elevation, degrees.
    pub hpbw_deg: f64,
    /// Front-to-back ratio A_max, and the limit of the vertical pattern SLA_V, dB.
    pub front_to_back_db: f64,
}

impl Default for Element {
    /// The table's: 8 dBi, 65 degrees, 30 dB.
    fn default() -> Element {
        Element {
            peak_dbi: 8.0,
            hpbw_deg: 65.0,
            front_to_back_db: 30.0,
        }
    }
}

impl Element {
    /// A panel element of a handheld: 5 dBi, 90 degrees, 25 dB.
    ///
    /// Standard: TR 38.802 Table A.2.1-8.
    pub fn handheld() -> Element {
        Element {
            peak_dbi: 5.0,
            hpbw_deg: 90.0,
            front_to_back_db: 25.0,
        }
    }

    /// Gain in dBi in a direction relative to boresight.
    pub fn gain_dbi(&self, direction: Angles) -> f64 {
        let limit = self.front_to_back_db;
        let cut = |angle_deg: f64| {
            let ratio = angle_deg / self.hpbw_deg;
            (12.0 * ratio * ratio).min(limit)
        };
        let loss = cut(direction.elevation_deg) + cut(direction.azimuth_deg);
        self.peak_dbi - loss.min(limit)
    }
}

impl Registered for Mounted<Element> {
    const ENTRY: Entry = Entry::new(
        "element",
        "fixed",
        "One element of an antenna panel: 8 dBi, 65 degrees wide.",
        "TR 38.901 Table 7.3-1",
    )
    .with_parameters(Boresight::PARAMETERS);

    fn with(settings: &Settings<'_>, (): ()) -> Self {
        Mounted {
            pattern: Element::default(),
            boresight: Boresight::read(settings).angles(),
        }
    }
}

impl Pattern for Element {
    fn gain_dbi(&self, toward: Angles, _: Angles) -> f64 {
        Element::gain_dbi(self, toward)
    }
    fn check(&self) -> Result<(), ConfigError> {
        check_gain(self.peak_dbi)?;
        ConfigError::within(
            "front-to-back ratio",
            self.front_to_back_db,
            0.0..=60.0,
            "dB",
        )?;
        check_width(self.hpbw_deg)
    }
}

/// The three-sector antenna of TR 36.814 Table A.2.1.1-2.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LteSector {
    /// Gain at boresight, dBi.
    pub peak_dbi: f64,
    /// Half-power beamwidth in azimuth, degrees.
    pub azimuth_hpbw_deg: f64,
    /// Front-to-back ratio A_m, dB.
    pub front_to_back_db: f64,
    /// Half-power beamwidth in elevation, degrees.
    pub elevation_hpbw_deg: f64,
    /// Limit of the vertical pattern SLA_v, dB.
    pub side_lobe_db: f64,
    /// Electrical tilt below the horizon, degrees.
    pub tilt_deg: f64,
}

impl Default for LteSector {
    /// The table's: 70 and 10 degrees, 25 and 20 dB, with the tilt of the 500 m grid (case 1).
    fn default() -> LteSector {
        SectorParameters::default().sector()
    }
}

fadeout_core::parameters! {
    /// The parameters of a sector antenna that a scenario may give.
    #[derive(Debug, Clone, Copy, PartialEq)]
    struct SectorParameters {
        /// Where it looks: counter-clockwise from east. Of an array, where its broadside looks.
        azimuth: f64 = number((-180.0, 360.0, "deg"), "0"),
        /// Electrical tilt below the horizon.
        tilt: f64 = number((-90.0, 90.0, "deg"), "15"),
        /// Gain at boresight.
        gain: f64 = number((0.0, 30.0, "dBi"), "14"),
    }
}

impl SectorParameters {
    fn sector(&self) -> LteSector {
        LteSector {
            peak_dbi: self.gain,
            azimuth_hpbw_deg: 70.0,
            front_to_back_db: 25.0,
            elevation_hpbw_deg: 10.0,
            side_lobe_db: 20.0,
            tilt_deg: self.tilt,
        }
    }
}

impl Registered for Mounted<LteSector> {
    const ENTRY: Entry = Entry::new(
        "sector",
        "fixed",
        "The three-sector antenna of the LTE studies.",
        "TR 36.814 Table A.2.1.1-2",
    )
    .with_parameters(SectorParameters::PARAMETERS);

    fn with(settings: &Settings<'_>, (): ()) -> Self {
        let given = SectorParameters::read(settings);
        Mounted {
            pattern: given.sector(),
            boresight: Angles {
                azimuth_deg: given.azimuth,
                elevation_deg: 0.0,
            },
        }
    }
}

impl Pattern for LteSector {
    fn gain_dbi(&self, toward: Angles, _: Angles) -> f64 {
        LteSector::gain_dbi(self, toward)
    }
    fn check(&self) -> Result<(), ConfigError> {
        check_gain(self.peak_dbi)?;
        check_width(self.azimuth_hpbw_deg)?;
        check_width(self.elevation_hpbw_deg)
    }
}

impl LteSector {
    /// Gain in dBi in a direction relative to boresight.
    pub fn gain_dbi(&self, direction: Angles) -> f64 {
        let across = direction.azimuth_deg / self.azimuth_hpbw_deg;
        let up = (direction.elevation_deg + self.tilt_deg) / self.elevation_hpbw_deg;
        let loss = (12.0 * across * across).min(self.front_to_back_db)
            + (12.0 * up * up).min(self.side_lobe_db);
        self.peak_dbi - loss.min(self.front_to_back_db)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sector_is_strongest_along_its_tilt_and_weakest_behind() {
        let sector = LteSector::default();
        let at = |azimuth_deg, elevation_deg| {
            sector.gain_dbi(Angles {
                azimuth_deg,
                elevation_deg,
            })
        };
        assert_eq!(at(0.0, -15.0), 14.0);
        assert!((at(35.0, -15.0) - 11.0).abs() < 1e-9);
        assert_eq!(at(180.0, 60.0), -11.0);
    }
}
