//! All integration tests of this crate in one binary, so that common code is compiled and linked
//! once.

mod hostile;
mod scripts;
mod suites;
