//! Integration tests of this crate in one binary, so that shared code is compiled and linked once.

mod rlc;
mod steady_state;
mod user_plane;
