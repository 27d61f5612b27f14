//! Stand-in for machines that cannot run user-mode Linux. All functions return an error.

use crate::agent::Command;
use crate::{Checked, Config, GuestError, Port, Sink};

/// A guest, which cannot exist on this machine.
#[derive(Debug)]
pub enum Guest {}

impl Guest {
    /// Refuses to start a guest.
    ///
    /// # Errors
    /// Always returns [`GuestError::Elsewhere`].
    pub fn boot(config: Config) -> Result<Guest, GuestError> {
        Err(GuestError::Elsewhere { name: config.name })
    }
    /// Returns the release of the kernel.
    pub fn release(&self) -> &str {
        match *self {}
    }
    /// Returns the time at which the guest wants to run next.
    pub fn next_at(&self) -> Option<u64> {
        match *self {}
    }
    /// Queues a frame for the guest.
    pub fn deliver(&mut self, _: Port, _: &[u8]) {
        match *self {}
    }
    /// Queues a command for the agent.
    pub fn command(&mut self, _: &Command<'_>) {
        match *self {}
    }
    /// Runs the guest.
    ///
    /// # Errors
    /// Returns no error, because no guest exists.
    pub fn run(&mut self, _: u64, _: &mut impl Sink) -> Result<(), GuestError> {
        match *self {}
    }
}

/// The processor core of a run's guests, which cannot exist on this machine.
#[derive(Debug)]
pub enum CorePin {}

impl CorePin {
    /// Returns `None`, because no guest can run on this machine.
    pub fn pin_thread() -> Option<CorePin> {
        None
    }
    /// Does nothing, because no guest can run on this machine.
    pub fn update_core<'a>(&mut self, _: impl Iterator<Item = &'a Guest>) {
        match *self {}
    }
}

/// Refuses to check a kernel.
///
/// # Errors
/// Always returns [`GuestError::Elsewhere`].
pub fn check(config: &Config, _: u64, _: u32) -> Result<Checked, GuestError> {
    Err(GuestError::Elsewhere {
        name: config.name.clone(),
    })
}
