//! What the benchmarks share: a connection over a pair of links, stopped in the middle.

mod pair;

pub use pair::{Arrival, Pair, path};
