//! Redundant scheduler: every byte is sent on every path, each at the pace of its own window
//! (Frömmgen et al., ICC 2016).

use super::{Choice, Demand, PathScheduler, PathView};
use fadeout_core::registry::{Entry, Registered, Settings};

/// Scheduler that sends on all paths at once. The connection stores the next number of each path
/// and skips acknowledged data.
#[derive(Debug, Clone, Copy, Default)]
pub struct Redundant;

impl Registered for Redundant {
    const ENTRY: Entry = Entry::new(
        "redundant",
        "scheduler",
        "Redundant: sends every byte on every path.",
        "Frömmgen et al., ICC 2016",
    );

    fn from_settings(_: &Settings<'_>, (): ()) -> Self {
        Redundant
    }
}

impl PathScheduler for Redundant {
    fn choose(&mut self, _demand: &Demand, _paths: &[PathView]) -> Choice {
        Choice::All
    }

    fn is_redundant(&self) -> bool {
        true
    }
}
