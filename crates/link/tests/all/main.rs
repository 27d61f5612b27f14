//! Integration tests of this crate, all in one binary, so that common parts are compiled and linked
//! once.

mod blocks;
mod capacity;
mod changes;
mod closed_loop;
mod common;
mod link;
mod managed;
mod slow_model;
mod traces;
mod yielding;
