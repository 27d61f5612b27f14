//! Scenario files: TOML with quantities to a validated [`Scenario`], with spanned errors.

mod model;

pub use model::*;
