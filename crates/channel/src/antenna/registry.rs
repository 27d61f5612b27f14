//! Registry of the antennas that a scenario can name.

use super::angles::Angles;
use super::array::Array;
use super::beam::Beam;
use super::column::Column;
use super::element::{Element, Isotropic, LteSector};
use super::pattern::{Mounted, Pattern, Steepness};
use crate::error::ConfigError;

fadeout_core::registry! {
    /// Every antenna that a scenario can name.
    pub static ANTENNAS;

    /// An antenna and its mounting.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub enum Antenna {
        Isotropic(Isotropic),
        Element(Mounted<Element>),
        Sector(Mounted<LteSector>),
        Column(Mounted<Column>),
        Beam(Beam),
        Array(Mounted<Array>),
    }
    macro antennas;
}

impl Default for Antenna {
    fn default() -> Antenna {
        Antenna::Isotropic(Isotropic::default())
    }
}

impl Antenna {
    /// Returns [`Pattern::steepness`].
    pub(crate) fn steepness(&self) -> Option<Steepness> {
        antennas!(self, antenna => antenna.steepness())
    }

    /// Returns [`Pattern::check`].
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        antennas!(self, antenna => antenna.check())
    }

    /// Returns the largest number of spatial layers that the elements of the antenna allow: one for
    /// each polarisation of each element. `None` for antennas without a grid of elements.
    pub fn most_layers(&self) -> Option<u32> {
        match self {
            Antenna::Array(mounted) => Some(2 * mounted.pattern.rows * mounted.pattern.columns),
            Antenna::Element(_) => Some(2),
            // A sector has several such antennas side by side, so a single one does not limit the
            // layers.
            Antenna::Isotropic(_) | Antenna::Sector(_) | Antenna::Column(_) | Antenna::Beam(_) => {
                None
            }
        }
    }

    /// Returns the boresight of the antenna. `None` if the antenna has none.
    pub fn boresight(&self) -> Option<Angles> {
        match self {
            Antenna::Isotropic(_) | Antenna::Beam(_) => None,
            Antenna::Element(mounted) => Some(mounted.boresight),
            Antenna::Sector(mounted) => Some(mounted.boresight),
            Antenna::Column(mounted) => Some(mounted.boresight),
            Antenna::Array(mounted) => Some(mounted.boresight),
        }
    }

    /// Returns [`Pattern::is_steered`].
    pub fn is_steered(&self) -> bool {
        antennas!(self, antenna => antenna.is_steered())
    }

    /// Returns [`Pattern::is_the_same_everywhere`].
    pub(crate) fn is_the_same_everywhere(&self) -> bool {
        antennas!(self, antenna => antenna.is_the_same_everywhere())
    }

    /// Returns [`Pattern::gain_dbi`].
    pub fn gain_dbi(&self, toward: Angles, beam: Angles) -> f64 {
        antennas!(self, antenna => Pattern::gain_dbi(antenna, toward, beam))
    }
}
