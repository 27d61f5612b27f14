//! Parts of a link's gain.

use super::OUTAGE_LOSS_DB;
use crate::path_loss::Condition;

/// State of the direct path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Line of sight.
    Los,
    /// No line of sight.
    Nlos,
    /// Outage: the UE receives nothing (NYU models).
    Outage,
}

impl State {
    /// Returns two LOS states: the state whose losses apply, then the other one.
    pub(super) fn conditions(self) -> (Condition, Condition) {
        match self {
            State::Los => (Condition::Los, Condition::Nlos),
            State::Nlos | State::Outage => (Condition::Nlos, Condition::Los),
        }
    }
}

/// Parts of a large-scale gain in dB. Losses are positive.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LargeScale {
    /// State of the direct path.
    pub state: State,
    /// Median path loss.
    pub path_loss_db: f64,
    /// Loss by shadowing. It is negative if the loss at this position is below the median.
    pub shadowing_db: f64,
    /// Gain by the power of the other LOS state during a transition between LOS and NLOS, dB.
    pub transition_db: f64,
    /// Loss by oxygen, rain and walls.
    pub absorption_db: f64,
    /// Loss by blockage, or loss of the reflected path that beam recovery uses.
    pub blockage_db: f64,
    /// Gain of the base station's antenna toward the UE.
    pub base_gain_dbi: f64,
    /// Gain of the UE's antenna toward the base station.
    pub ue_gain_dbi: f64,
    /// True during beam recovery, when the UE receives nothing.
    pub is_recovering: bool,
    /// K factor in LOS. `None` if it is not drawn.
    pub k_factor_db: Option<f64>,
    /// Decimal logarithm of the RMS delay spread in seconds. `None` if it is not drawn.
    pub delay_spread_lg: Option<f64>,
    /// Ratio of received to transmitted power, which is the sum of the other parts.
    pub gain_db: f64,
}

impl LargeScale {
    /// Values before the first evaluation, with which the UE receives nothing.
    pub(super) const UNKNOWN: LargeScale = LargeScale {
        state: State::Outage,
        path_loss_db: OUTAGE_LOSS_DB,
        shadowing_db: 0.0,
        transition_db: 0.0,
        absorption_db: 0.0,
        blockage_db: 0.0,
        base_gain_dbi: 0.0,
        ue_gain_dbi: 0.0,
        is_recovering: false,
        k_factor_db: None,
        delay_spread_lg: None,
        gain_db: -OUTAGE_LOSS_DB,
    };

    /// Returns the sum of all parts, in dB.
    pub(super) fn sum_db(&self, minimum_loss_db: f64) -> f64 {
        if self.state == State::Outage || self.is_recovering {
            return -OUTAGE_LOSS_DB;
        }
        let loss = self.path_loss_db + self.shadowing_db + self.absorption_db + self.blockage_db;
        let gain = self.base_gain_dbi + self.ue_gain_dbi + self.transition_db - loss;
        debug_assert!(!gain.is_nan(), "no gain: {self:?}");
        debug_assert!(
            self.absorption_db >= 0.0,
            "the air adds {} dB",
            -self.absorption_db
        );
        gain.clamp(-OUTAGE_LOSS_DB, -minimum_loss_db)
    }
}
