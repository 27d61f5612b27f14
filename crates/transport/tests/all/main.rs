//! All integration tests of this crate, in one binary: what they share is compiled and linked once.

mod common;
mod ecn;
mod linux;
mod recorded;
mod repair;
mod schedules;
mod schemes;
mod scripts;
