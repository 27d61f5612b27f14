//! Division of a scenario into parts for several processor cores.

use crate::table::word_choice;

word_choice! {
    /// The division of a scenario into worlds, which are parts that are simulated in parallel.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Worlds {
        /// The scenario is one world, which runs on one core.
        One = "one",
        /// The cells of each carrier, with their base stations and UEs, are a world. All other
        /// nodes are another world. Links with a delay connect the worlds.
        ByCarrier = "by-carrier",
    }
}
