//! Catalog entries that a scenario names.

use fadeout_core::registry::Parameters;

/// Catalog entry, with the parameters that the scenario gives.
#[derive(Debug, Clone, PartialEq)]
pub struct Named {
    /// Canonical name of the entry, even if the scenario uses an alias.
    pub name: String,
    /// Parameters that the scenario gives. All others keep their defaults.
    pub parameters: Parameters,
}
