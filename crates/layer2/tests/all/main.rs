//! Integration tests of this crate in one binary, so that shared code is compiled and linked once.

mod rlc;
mod user_plane;
