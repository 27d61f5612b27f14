//! Steps of routes.

/// Link, radio access bearer or radio bearer. Each carries packets between two nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Medium {
    /// Index of a link in [`crate::Scenario::links`].
    Link(usize),
    /// Index of a 2G or 3G bearer in [`crate::Scenario::rabs`].
    Rab(usize),
    /// Index of a UE's radio bearer in [`crate::Scenario::bearers`].
    RadioBearer(usize),
}

/// Step of a route: one direction of a link or bearer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hop {
    /// Link or bearer that the hop crosses.
    pub medium: Medium,
    /// True if the hop leads from the medium's `to` to its `from`. The forward direction of a
    /// bearer leads from the base station to the phone.
    pub is_reverse: bool,
}

impl Hop {
    /// Returns the hop over the same link or bearer in the opposite direction.
    pub fn reversed(self) -> Hop {
        Hop {
            is_reverse: !self.is_reverse,
            ..self
        }
    }
}
