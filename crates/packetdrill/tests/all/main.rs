//! All integration tests of this crate, in one binary: what they share is compiled and linked once.

mod hostile;
mod scripts;
mod suites;
