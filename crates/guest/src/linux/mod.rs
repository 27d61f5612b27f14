//! Guests on this machine: their processes, sockets and file descriptors.

mod check;
mod core_pin;
mod guest;
mod mapped;
mod process;
mod socket;
mod spawn;

pub use check::check;
pub use core_pin::CorePin;
pub use guest::Guest;
