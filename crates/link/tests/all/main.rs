//! Integration tests of this crate in one binary, so that shared code is compiled and linked once.

mod blocks;
mod capacity;
mod changes;
mod closed_loop;
mod common;
mod link;
mod managed;
mod slow_model;
mod steady_state;
mod steering;
mod traces;
mod yielding;
