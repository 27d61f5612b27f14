//! Tools for tests: a counting [allocator](CountingAllocator), an [`Adversary`] that mistreats
//! packets, [segments as text](Notation), [reference values](vectors), and the [number of
//! cases](Cases) of random tests.
//!
//! This crate depends only on `core`, so that the tests of every crate can use it.

mod adversary;
mod allocations;
mod cases;
mod notation;
mod tools;
pub mod vectors;

pub use adversary::{Adversary, Arrivals, Blockage, Mischief};
pub use allocations::{CountingAllocator, allocations};
pub use cases::Cases;
pub use notation::Notation;
pub use tools::skip_without;
