//! Identity of a link, and the positions of its ends.

use fadeout_core::{Kinematics, Point};

/// Identity of a link. Its numbers select the shadowing maps and the random streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkKey {
    /// Number of the site. All cells of a site share their maps.
    pub site: u32,
    /// Number of the cell.
    pub cell: u32,
    /// Number of the UE.
    pub ue: u32,
}

impl LinkKey {
    /// Returns the numbers of cell and UE combined into one number.
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
    /// [`Motion::obstruction`](fadeout_core::Motion::obstruction). It overrides the line-of-sight
    /// rule of the configuration. `None` if the caller has no geometry.
    pub obstruction: Option<f64>,
    /// Loss by vehicles and foliage in the direct path, dB.
    pub vehicles_db: f64,
    /// Point at which the base station's beam points. `None` if the base station serves this UE.
    pub base_beam_at: Option<Point>,
    /// Point at which the UE's beam points. `None` if this base station serves the UE.
    pub ue_beam_at: Option<Point>,
}

impl LinkEnds {
    /// Returns two ends without obstruction, without vehicles, and without beams toward other
    /// nodes.
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

    /// Returns true if the beam of either end points at another node. The link then carries only
    /// interference, and its beams are not tracked.
    pub(crate) fn only_disturbs(&self) -> bool {
        self.base_beam_at.is_some() || self.ue_beam_at.is_some()
    }

    /// Returns the same two ends with their positions `earlier` seconds before.
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
