//! Integration tests of this crate in one binary, so that shared code is compiled and linked once.

mod finite_blocklength;
mod properties;
mod vectors;
