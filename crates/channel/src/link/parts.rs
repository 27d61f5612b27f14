//! A link's ends, and the parts of its gain.

use super::OUTAGE_LOSS_DB;
use fadeout_core::{Kinematics, Point};

/// Which link: its numbers choose the maps and the random streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkKey {
    /// The site: cells of one site share maps.
    pub site: u32,
    /// The cell.
    pub cell: u32,
    /// The UE.
    pub ue: u32,
}

/// Where the two ends of a link are, and what the caller knows about them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinkEnds {
    /// The base station's antenna.
    pub base: Kinematics,
    /// The UE's antenna.
    pub ue: Kinematics,
    /// Whether the direct path is clear, by the caller's geometry. It overrides the
    /// configuration's rule.
    pub is_los: Option<bool>,
    /// Where the base station's beam points when it does not serve this UE.
    pub base_beam_at: Option<Point>,
    /// Where the UE's beam points when this base station does not serve it.
    pub ue_beam_at: Option<Point>,
}

impl LinkEnds {
    /// Two ends about which nothing else is known.
    pub fn new(base: Kinematics, ue: Kinematics) -> LinkEnds {
        LinkEnds {
            base,
            ue,
            is_los: None,
            base_beam_at: None,
            ue_beam_at: None,
        }
    }

    /// The ends `earlier` seconds before, had they moved as they do now.
    pub(crate) fn before(&self, earlier: f64) -> (Point, Point) {
        (
            self.base.position + self.base.velocity * -earlier,
            self.ue.position + self.ue.velocity * -earlier,
        )
    }
}

/// The state of the direct path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Line of sight.
    Los,
    /// No line of sight.
    Nlos,
    /// Nothing is received (NYU models).
    Outage,
}

/// The parts of a large-scale gain, in dB; losses are positive.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LargeScale {
    /// State of the direct path.
    pub state: State,
    /// Median path loss.
    pub path_loss_db: f64,
    /// Shadowing; negative where the place is better than the median.
    pub shadowing_db: f64,
    /// The gain that the other condition adds while LOS softly passes into NLOS or back, dB.
    pub transition_db: f64,
    /// Oxygen, rain and walls.
    pub absorption_db: f64,
    /// Blockage, or the reflected path that beam recovery found instead.
    pub blockage_db: f64,
    /// Gain of the base station's antenna toward the UE.
    pub base_gain_dbi: f64,
    /// Gain of the UE's antenna toward the base station.
    pub ue_gain_dbi: f64,
    /// Whether the beams are being found again, and nothing is received.
    pub is_recovering: bool,
    /// K factor where it is drawn, in LOS.
    pub k_factor_db: Option<f64>,
    /// RMS delay spread in seconds where it is drawn.
    pub delay_spread_s: Option<f64>,
    /// The sum: received by transmitted power.
    pub gain_db: f64,
}

impl LargeScale {
    /// Before anything is known: nothing is received.
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
        delay_spread_s: None,
        gain_db: -OUTAGE_LOSS_DB,
    };
}
