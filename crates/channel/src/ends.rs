//! Which link, and where its ends are.

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

impl LinkKey {
    /// Cell and UE in one number.
    pub(crate) fn entity(self) -> u64 {
        u64::from(self.cell) << 32 | u64::from(self.ue)
    }
}

/// Where the two ends of a link are, and what the caller knows about them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinkEnds {
    /// The base station's antenna.
    pub base: Kinematics,
    /// The UE's antenna.
    pub ue: Kinematics,
    /// How deep the direct path lies behind edges, by the caller's geometry; see
    /// [`Motion::obstruction`](fadeout_core::Motion::obstruction). It overrides the configuration's
    /// rule.
    pub obstruction: Option<f64>,
    /// The loss by vehicles and foliage in the direct path, in dB.
    pub vehicles_db: f64,
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
            obstruction: None,
            vehicles_db: 0.0,
            base_beam_at: None,
            ue_beam_at: None,
        }
    }

    /// Whether either beam points at somebody else: nobody tracks the beams of this path.
    pub(crate) fn only_disturbs(&self) -> bool {
        self.base_beam_at.is_some() || self.ue_beam_at.is_some()
    }

    /// The same, `earlier` seconds before.
    pub(crate) fn moved_back(&self, earlier: f64) -> LinkEnds {
        let mut then = *self;
        (then.base.position, then.ue.position) = self.before(earlier);
        then
    }

    /// The ends `earlier` seconds before, had they moved as they do now.
    pub(crate) fn before(&self, earlier: f64) -> (Point, Point) {
        (
            self.base.position + self.base.velocity * -earlier,
            self.ue.position + self.ue.velocity * -earlier,
        )
    }
}
