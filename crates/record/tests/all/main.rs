//! All integration tests of this crate in one binary. So common code is compiled and linked only
//! once.

mod captures;
mod recorder;
