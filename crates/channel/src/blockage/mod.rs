//! Blockage: temporary losses by objects in the path.
//!
//! A blockage process is a function of time and of its own random stream. Some models also use the
//! positions of both ends. A process draws its next interval when time reaches that interval. So
//! the number of evaluations does not change its random numbers. Time does not go back: an
//! evaluation at an earlier time uses the current state of the process.

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

/// Largest number of blockage models of one link.
pub const MAX_BLOCKAGES: usize = 4;

/// Instant and geometry at which a process is evaluated.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View {
    pub(crate) now: Time,
    pub(crate) base: Point,
    pub(crate) ue: Point,
    /// True if the path is in line of sight. Some blockage models affect only such paths.
    pub(crate) has_direct_path: bool,
    pub(crate) wavelength_m: f64,
}

impl View {
    fn ground_m(&self) -> f64 {
        self.base.ground_distance_to(self.ue)
    }
}

/// Process of a blockage on one link.
pub(crate) trait Process: fmt::Debug + Send + Sync {
    /// Returns the loss in dB at an instant. The positions of both ends are those at that instant.
    fn loss_at(&mut self, view: &View) -> f64;
}

/// Parameters of a blockage model. Each link starts a process with these parameters.
pub(crate) trait BlockageModel {
    /// Type of the model's process.
    type Process: Process + 'static;

    /// Checks the parameters.
    ///
    /// # Errors
    /// Returns an error if a parameter is out of its range.
    fn check(&self) -> Result<(), ConfigError>;

    /// Starts the process of one link.
    fn start(&self, stream: Stream) -> Self::Process;

    /// Returns true if the blockers are around the UE, so that all links of the UE share one
    /// process.
    fn surrounds_the_ue(&self) -> bool {
        false
    }
}

fadeout_core::registry! {
    /// Every blockage that a scenario can name.
    pub static BLOCKAGES;

    /// A blockage model of a link. The losses in dB of several models on one link add up.
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
        /// Blockages at listed times.
        Scripted(Scripted),
    }
    macro blockages;
}

impl Blockage {
    /// Checks the parameters.
    ///
    /// # Errors
    /// Returns an error if a parameter is out of its range.
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        blockages!(self, model => model.check())
    }

    pub(crate) fn start(&self, stream: Stream) -> Box<dyn Process> {
        blockages!(self, model => Box::new(model.start(stream)))
    }

    /// Returns [`BlockageModel::surrounds_the_ue`].
    pub(crate) fn surrounds_the_ue(&self) -> bool {
        blockages!(self, model => model.surrounds_the_ue())
    }
}
