//! Tools for tests: a counting [allocator](CountingAllocator), an [`Adversary`] that mistreats
//! packets, [segments as text](Notation) and [reference values](vectors).
//!
//! Everything here knows `core` alone, so that every crate's tests can use it.

mod adversary;
mod allocations;
mod notation;
pub mod vectors;

pub use adversary::{Adversary, Arrivals, Blockage, Mischief};
pub use allocations::{CountingAllocator, allocations};
pub use notation::Notation;
