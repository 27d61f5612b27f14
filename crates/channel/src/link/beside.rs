//! Surroundings that the antennas of one mast share toward a UE: they look at the same place from the same
//! place.

use super::State;
use super::way::Way;
use crate::ends::LinkEnds;
use crate::path_loss::tr38901;
use crate::shadowing::SiteMap;
use fadeout_core::Kinematics;
use std::sync::Arc;

/// Median path loss and shadowing in a condition, dB.
pub(super) type Weighed = (f64, f64);

/// Distance, state and losses between a base station and a UE, whatever their antennas.
#[derive(Debug, Clone, Copy)]
pub(super) struct Surroundings {
    pub(super) slant_m: f64,
    pub(super) state: State,
    /// Weight of LOS in the amplitude, where one state softly passes into the other.
    pub(super) los_weight: Option<f64>,
    pub(super) own: Weighed,
    /// Of the other condition, where that has a share too.
    pub(super) others: Option<Weighed>,
}

/// The way to a UE from one antenna of a mast, which the next one of the same mast need not find again. It is
/// for the links of one UE.
#[derive(Debug, Default)]
pub struct Beside(Option<(Key, Surroundings)>);

/// Two links of a UE with the same key have the same surroundings.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Key {
    /// Which maps, and which environments are alike but for the base station's antenna. They live as long as
    /// the links.
    maps: *const SiteMap,
    kin: *const (),
    base: Kinematics,
    ue: Kinematics,
    obstruction: Option<f64>,
}

impl Beside {
    pub(super) fn found(
        &mut self,
        key: Option<Key>,
        find: impl FnOnce() -> Surroundings,
    ) -> Surroundings {
        match (&self.0, key) {
            (Some((known, surroundings)), Some(key)) if *known == key => *surroundings,
            (_, Some(key)) => self.0.insert((key, find())).1,
            (_, None) => find(),
        }
    }
}

impl Way {
    /// Key of the surroundings of this link of a UE; none where something is the link's own.
    pub(super) fn key(&self, ends: &LinkEnds) -> Option<Key> {
        let draws_height = self.shared.config.path_loss.draws_environment_height();
        if draws_height && ends.ue.position.z > tr38901::LOW_UE_M {
            return None;
        }
        Some(Key {
            maps: Arc::as_ptr(self.maps.map()),
            kin: Arc::as_ptr(&self.shared.kin),
            base: ends.base,
            ue: ends.ue,
            obstruction: ends.obstruction,
        })
    }
}
