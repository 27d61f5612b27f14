//! Machines that cannot run user-mode Linux say so.

use crate::agent::Command;
use crate::{Checked, Config, GuestError, Port, Sink};

/// A guest, of which there is none here.
#[derive(Debug)]
pub enum Guest {}

impl Guest {
    /// Says that there is none.
    ///
    /// # Errors
    /// [`GuestError::Elsewhere`], always.
    pub fn boot(config: Config) -> Result<Guest, GuestError> {
        Err(GuestError::Elsewhere { name: config.name })
    }
    /// Release of its kernel.
    pub fn release(&self) -> &str {
        match *self {}
    }
    /// When it wants to run next.
    pub fn next_at(&self) -> Option<u64> {
        match *self {}
    }
    /// Takes a frame for it.
    pub fn deliver(&mut self, _: Port, _: &[u8]) {
        match *self {}
    }
    /// Takes a command for its agent.
    pub fn command(&mut self, _: &Command<'_>) {
        match *self {}
    }
    /// Runs it.
    ///
    /// # Errors
    /// None.
    pub fn run(&mut self, _: u64, _: &mut impl Sink) -> Result<(), GuestError> {
        match *self {}
    }
}

/// The processor of a run's guests, of which there are none here.
#[derive(Debug)]
pub enum Place {}

impl Place {
    /// None.
    pub fn take() -> Option<Place> {
        None
    }
    /// Does nothing.
    pub fn look<'a>(&mut self, _: impl Iterator<Item = &'a Guest>) {
        match *self {}
    }
}

/// Says that no kernel works here.
///
/// # Errors
/// [`GuestError::Elsewhere`], always.
pub fn check(config: &Config, _: u64, _: u32) -> Result<Checked, GuestError> {
    Err(GuestError::Elsewhere {
        name: config.name.clone(),
    })
}
