//! All integration tests of this crate, in one binary: what they share is compiled and linked once.

mod dependency_rule;
mod handover_vectors;
mod room_rule;
mod size_rule;
