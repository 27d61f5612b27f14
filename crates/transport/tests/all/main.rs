//! Integration tests of this crate, all in one binary, so that common parts are compiled and linked
//! once.

mod common;
mod ecn;
mod linux;
mod recorded;
mod repair;
mod schedules;
mod schemes;
mod scripts;
