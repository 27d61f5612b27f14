//! Integration tests of this crate in one binary, so that shared code is compiled and linked once.

mod clusters;
mod coherence;
mod conservation;
mod edges;
mod places;
mod statistics;
mod vectors;
