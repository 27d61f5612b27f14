//! All integration tests of this crate, in one binary: what they share is compiled and linked once.

mod circle_rule;
mod dependency_rule;
mod function_rule;
mod handover_vectors;
mod room_rule;
mod shrinking;
mod size_rule;
mod source;
