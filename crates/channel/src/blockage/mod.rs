//! Blockage: losses that come and go because something stands in the way.
//!
//! A process is a function of time, of its own random stream and, where geometry enters, of where
//! the ends are. It draws its next interval when time reaches it, so a run with more queries
//! draws no other numbers. Time does not go back: a query before an earlier one meets the process
//! where it is.

mod crossing;
mod density;
mod four_state;
mod model_a;
mod passing;
mod schedule;

pub use crossing::Crossing;
pub use density::Crowd;
pub use four_state::FourState;
pub use model_a::{ModelA, NonSelfBlocker, SelfBlocking, Surroundings};
pub use passing::{Onset, Passing};
pub use schedule::{Interval, Periodic, Phase, Scripted, TwoState};

use crate::error::ConfigError;
use fadeout_core::random::Stream;
use fadeout_core::{Point, Time};

/// A blockage process. Several on one link add their losses in dB.
#[derive(Debug, Clone, PartialEq)]
pub enum Blockage {
    /// At regular times.
    Periodic(Periodic),
    /// At listed times.
    Scripted(Scripted),
    /// Blocked and clear for exponential times.
    TwoState(TwoState),
    /// A pedestrian crowd, with gradual fades.
    FourState(FourState),
    /// Pedestrians of a density, whose shadows fall on the link the more often the longer it is.
    Crowd(Crowd),
    /// TR 38.901 model A: angular regions around the UE.
    ModelA(ModelA),
    /// Screens that cross the path, with TR 38.901 model B's diffraction.
    Crossing(Crossing),
    /// Screens that block the path at regular times for a given duration, with the same.
    Passing(Passing),
}

/// Blockages of one link at most.
pub const MAX_BLOCKAGES: usize = 4;

/// What a process may look at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View {
    pub(crate) now: Time,
    pub(crate) base: Point,
    pub(crate) ue: Point,
    /// Whether the path is in line of sight; nothing crosses one that is not.
    pub(crate) has_direct_path: bool,
    pub(crate) wavelength_m: f64,
}

impl View {
    fn ground_m(&self) -> f64 {
        self.base.ground_distance_to(self.ue)
    }
}

/// A process in progress.
#[derive(Debug)]
pub(crate) enum Process {
    Periodic(schedule::PeriodicProcess),
    Scripted(schedule::ScriptedProcess),
    TwoState(schedule::TwoStateProcess),
    FourState(four_state::Process),
    Crowd(density::Process),
    ModelA(Box<model_a::Process>),
    Crossing(crossing::Process),
}

impl Blockage {
    /// # Errors
    /// When a parameter is out of its range.
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        match self {
            Blockage::Periodic(periodic) => periodic.check(),
            Blockage::Scripted(scripted) => scripted.check(),
            Blockage::TwoState(two) => two.check(),
            Blockage::FourState(four) => four.check(),
            Blockage::Crowd(crowd) => crowd.check(),
            Blockage::ModelA(model) => model.check(),
            Blockage::Crossing(crossing) => crossing.check(),
            Blockage::Passing(passing) => passing.check(),
        }
    }

    pub(crate) fn start(&self, stream: Stream) -> Process {
        match self {
            Blockage::Periodic(periodic) => Process::Periodic(periodic.start(stream)),
            Blockage::Scripted(scripted) => Process::Scripted(scripted.start()),
            Blockage::TwoState(two) => Process::TwoState(two.start(stream)),
            Blockage::FourState(four) => Process::FourState(four.start(stream)),
            Blockage::Crowd(crowd) => Process::Crowd(crowd.start(stream)),
            Blockage::ModelA(model) => Process::ModelA(Box::new(model.start(stream))),
            Blockage::Crossing(crossing) => Process::Crossing(crossing.start(stream)),
            Blockage::Passing(passing) => Process::Crossing(passing.start(stream)),
        }
    }
}

impl Process {
    /// Loss in dB at a time, with the ends where they are then.
    pub(crate) fn loss_db(&mut self, view: &View) -> f64 {
        match self {
            Process::Periodic(periodic) => periodic.loss_db(view.now),
            Process::Scripted(scripted) => scripted.loss_db(view.now),
            Process::TwoState(two) => two.loss_db(view.now),
            Process::FourState(four) => four.loss_db(view.now),
            Process::Crowd(crowd) => crowd.loss_db(view),
            Process::ModelA(model) => model.loss_db(view),
            Process::Crossing(crossing) => crossing.loss_db(view),
        }
    }
}
