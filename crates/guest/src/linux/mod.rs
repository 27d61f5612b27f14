//! Guests on this machine: their processes, sockets and file descriptors.

mod check;
mod guest;
mod mapped;
mod place;
mod process;
mod socket;
mod spawn;

pub use check::check;
pub use guest::Guest;
pub use place::Place;
