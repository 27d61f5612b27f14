//! Division of a scenario for several processor cores.

use crate::table::words;

words! {
    /// The division of a scenario into worlds, parts that are simulated in parallel.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Worlds {
        /// The scenario is one world, and runs on one core.
        One = "one",
        /// The cells of each carrier, with their base stations and UEs, are one world. All other
        /// nodes are one more. Links with a delay join the worlds.
        ByCarrier = "by-carrier",
    }
}
