//! How a scenario is divided for several cores.

use crate::table::words;

words! {
    /// The parts that are simulated side by side.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Worlds {
        /// it is one, and takes one core
        One = "one",
        /// the cells of each carrier with their base stations and UEs are one, and the other nodes one more;
        /// links with a delay join them
        ByCarrier = "by-carrier",
    }
}
