//! Every byte on every path, each at the pace of its own window (Frömmgen et al., ICC 2016).

use super::{Choice, Demand, PathScheduler, PathView};

/// All paths at once. The connection keeps a cursor a path and skips what is acknowledged.
#[derive(Debug, Clone, Copy, Default)]
pub struct Redundant;

impl PathScheduler for Redundant {
    fn choose(&mut self, _demand: &Demand, _paths: &[PathView]) -> Choice {
        Choice::All
    }
}
