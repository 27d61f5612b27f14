//! Path losses toward a UE that all antennas of one mast share, because their positions are the
//! same.

use super::State;
use super::link_path::LinkPath;
use crate::ends::LinkEnds;
use crate::path_loss::tr38901;
use crate::shadowing::SiteMap;
use fadeout_core::Kinematics;
use std::sync::Arc;

/// Median path loss and shadowing in one LOS state, dB.
pub(super) type ConditionLosses = (f64, f64);

/// Distance, LOS state and losses between a base station and a UE. These do not depend on the
/// antennas.
#[derive(Debug, Clone, Copy)]
pub(super) struct LinkSurroundings {
    pub(super) slant_m: f64,
    pub(super) state: State,
    /// Weight of LOS in the amplitude during a transition between LOS and NLOS. `None` outside
    /// transitions.
    pub(super) los_weight: Option<f64>,
    pub(super) own: ConditionLosses,
    /// Losses in the other LOS state. `None` if that state does not contribute.
    pub(super) others: Option<ConditionLosses>,
}

/// Cache of the losses from one antenna of a mast to a UE. Other antennas of the mast reuse these
/// losses. Each UE needs its own cache.
#[derive(Debug, Default)]
pub struct SurroundingsCache(Option<(LossKey, LinkSurroundings)>);

/// Key of the cache. Two links of a UE with equal keys have equal losses.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LossKey {
    /// Identity of the site's maps. The next field identifies environments that differ only in the
    /// base station's antenna. Both pointers stay valid as long as the links exist.
    maps: *const SiteMap,
    antenna_group: *const (),
    base: Kinematics,
    ue: Kinematics,
    obstruction: Option<f64>,
}

impl SurroundingsCache {
    pub(super) fn get_or_compute(
        &mut self,
        key: Option<LossKey>,
        compute: impl FnOnce() -> LinkSurroundings,
    ) -> LinkSurroundings {
        match (&self.0, key) {
            (Some((known, surroundings)), Some(key)) if *known == key => *surroundings,
            (_, Some(key)) => self.0.insert((key, compute())).1,
            (_, None) => compute(),
        }
    }
}

impl LinkPath {
    /// Returns the key of this link in the cache. `None` if the losses contain a random value that
    /// belongs only to this link.
    pub(super) fn key(&self, ends: &LinkEnds) -> Option<LossKey> {
        let draws_height = self.shared.config.path_loss.draws_environment_height();
        if draws_height && ends.ue.position.z > tr38901::LOW_UE_M {
            return None;
        }
        Some(LossKey {
            maps: Arc::as_ptr(self.maps.map()),
            antenna_group: Arc::as_ptr(&self.shared.antenna_group),
            base: ends.base,
            ue: ends.ue,
            obstruction: ends.obstruction,
        })
    }
}
