//! Shared parts of the benchmarks: a connection over a pair of links that is stopped in the middle,
//! and a radio access under load.

mod pair;
mod radio;
pub mod worlds;

pub use pair::{Arrival, Pair, path};
pub use radio::RadioLoad;
