//! All integration tests of this crate, in one binary: what they share is compiled and linked once.

mod clusters;
mod coherence;
mod conservation;
mod edges;
mod places;
mod statistics;
mod vectors;
