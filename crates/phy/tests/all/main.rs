//! All integration tests of this crate, in one binary: what they share is compiled and linked once.

mod finite_blocklength;
mod properties;
mod vectors;
