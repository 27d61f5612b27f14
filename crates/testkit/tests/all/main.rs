//! All integration tests of this crate in one binary, so that common code is compiled and linked
//! only once.

mod circle_rule;
mod dependency_rule;
mod function_rule;
mod handover_vectors;
mod publish_rule;
mod room_rule;
mod shrinking;
mod size_rule;
mod source;
