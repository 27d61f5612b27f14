//! Simulated time and the queue of future events.

use super::Event;

/// The clock of a simulation and its future events.
pub(super) type Agenda = fadeout_core::Agenda<Event>;
