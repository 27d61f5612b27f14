//! Simulated time, and what is to happen next.

use super::Event;

/// The clock of a world and the events to come.
pub(super) type Agenda = fadeout_core::Agenda<Event>;
