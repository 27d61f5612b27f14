//! Identity of a link, and the positions of its ends.

use fadeout_core::{Kinematics, Point};

/// Identity of a link. Its numbers select the shadowing maps and the random streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkKey {
    /// Number of the site. The cells of one site share their maps.
    pub site: u32,
    /// Number of the cell.
    pub cell: u32,
    /// Number of the UE.
    pub ue: u32,
}

impl LinkKey {
    /// Returns cell and UE as one number.
    pub(crate) fn entity(self) -> u64 {
        u64::from(self.cell) << 32 | u64::from(self.ue)
    }
}

/// Positions and velocities of the two ends of a link, and the obstacles between them that the
/// caller knows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinkEnds {
    /// Position and velocity of the base station's antenna.
    pub base: Kinematics,
    /// Position and velocity of the UE's antenna.
    pub ue: Kinematics,
    /// Depth of the direct path behind the edges of obstacles, as in
    /// [`Motion::obstruction`](fadeout_core::Motion::obstruction). `None` if the caller has no
    /// geometry. Otherwise it overrides the line-of-sight rule of the configuration.
    pub obstruction: Option<f64>,
    /// Loss by vehicles and foliage in the direct path, dB.
    pub vehicles_db: f64,
    /// Point that the base station's beam is steered at. `None` if it serves this UE.
    pub base_beam_at: Option<Point>,
    /// Point that the UE's beam is steered at. `None` if this base station serves it.
    pub ue_beam_at: Option<Point>,
}

impl LinkEnds {
    /// Returns two ends without obstruction, vehicles or beams for other links.
    pub fn new(base: Kinematics, ue: Kinematics) -> LinkEnds {
        LinkEnds {
            base,
            ue,
            obstruction: None,
            vehicles_db: 0.0,
            base_beam_at: None,
            ue_beam_at: None,
        }
    }

    /// Returns true if the beam of either end points away from this link. The link then only
    /// carries interference, and its beams are not tracked.
    pub(crate) fn only_disturbs(&self) -> bool {
        self.base_beam_at.is_some() || self.ue_beam_at.is_some()
    }

    /// Returns these ends with the positions that they had `earlier` seconds before.
    pub(crate) fn moved_back(&self, earlier: f64) -> LinkEnds {
        let mut then = *self;
        (then.base.position, then.ue.position) = self.before(earlier);
        then
    }

    /// Returns the positions of base station and UE `earlier` seconds before, computed from their
    /// current velocities.
    pub(crate) fn before(&self, earlier: f64) -> (Point, Point) {
        (
            self.base.position + self.base.velocity * -earlier,
            self.ue.position + self.ue.velocity * -earlier,
        )
    }
}
