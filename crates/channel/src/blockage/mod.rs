//! Blockage: losses that come and go because something stands in the way.
//!
//! A process is a function of time, of its own random stream and, where geometry enters, of where
//! the ends are. It draws its next interval when time reaches it, so a run with more queries
//! draws no other numbers. Time does not go back: a query before an earlier one meets the process
//! where it is.

mod crossing;
mod deafness;
mod density;
mod four_state;
mod model_a;
pub mod nlosv;
mod passing;
mod schedule;

pub use crossing::Crossing;
pub use deafness::Deafness;
pub use density::Crowd;
pub use four_state::FourState;
pub use model_a::{ModelA, NonSelfBlocker, SelfBlocking, Surroundings};
pub use nlosv::Nlosv;
pub use passing::{Onset, Passing};
pub use schedule::{Interval, Periodic, Phase, Scripted, TwoState};

use crate::error::ConfigError;
use fadeout_core::random::Stream;
use fadeout_core::{Point, Time};
use std::fmt;

/// Blockages of one link at most.
pub const MAX_BLOCKAGES: usize = 4;

/// The instant and the geometry that a process may look at.
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

/// A blockage in progress on one link.
pub(crate) trait Process: fmt::Debug + Send + Sync {
    /// Loss in dB at a time, with the ends where they are then.
    fn loss_at(&mut self, view: &View) -> f64;
}

/// A model of blockage: its parameters, from which a process for each path begins.
pub(crate) trait Model {
    /// The blockage in progress.
    type Process: Process + 'static;

    /// # Errors
    /// When a parameter is out of its range.
    fn check(&self) -> Result<(), ConfigError>;

    /// Begins on one link.
    fn start(&self, stream: Stream) -> Self::Process;

    /// Whether it is around the UE, the same for all its cells.
    fn surrounds_the_ue(&self) -> bool {
        false
    }
}

fadeout_core::registry! {
    /// Every blockage that a scenario can name.
    pub static BLOCKAGES;

    /// A blockage process. Several on one link add their losses in dB.
    #[derive(Debug, Clone, PartialEq)]
    pub enum Blockage {
        Periodic(Periodic),
        TwoState(TwoState),
        FourState(FourState),
        Crowd(Crowd),
        ModelA(ModelA),
        Crossing(Crossing),
        Passing(Passing),
        Deafness(Deafness),
        Nlosv(Nlosv),
    } else {
        /// At listed times.
        Scripted(Scripted),
    }
    macro blockages;
}

impl Blockage {
    /// # Errors
    /// When a parameter is out of its range.
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        blockages!(self, model => model.check())
    }

    pub(crate) fn start(&self, stream: Stream) -> Box<dyn Process> {
        blockages!(self, model => Box::new(model.start(stream)))
    }

    /// See [`Model::surrounds_the_ue`].
    pub(crate) fn surrounds_the_ue(&self) -> bool {
        blockages!(self, model => model.surrounds_the_ue())
    }
}
