//! TDD patterns defined by counts of slots and symbols, as an NR cell announces them.

use crate::config::Division;
use crate::phy::PhyError;
use crate::phy::numerology::Numerology;
use crate::phy::tdd::{Flexible, TddPattern, UlDlPattern};
use fadeout_core::Span;
use fadeout_core::registry::{choice, integer, parse_span};

fadeout_core::choices! {
    /// Length of a pattern, or `none` (dl-UL-TransmissionPeriodicity, TS 38.331).
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum Period {
        None = "none",
        Half = "0.5 ms",
        FiveEighths = "0.625 ms",
        One = "1 ms",
        FiveQuarters = "1.25 ms",
        Two = "2 ms",
        TwoAndAHalf = "2.5 ms",
        Three = "3 ms",
        Four = "4 ms",
        Five = "5 ms",
        Ten = "10 ms",
    }
}

fadeout_core::choices! {
    /// The use of flexible symbols.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum FlexibleKind {
        Guard = "guard",
        Downlink = "downlink",
        Uplink = "uplink",
        Shared = "shared",
    }
}

fadeout_core::choices! {
    /// Division of flexible symbols that the scheduler divides.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum DivisionKind {
        Halves = "halves",
        Demand = "demand",
    }
}

fadeout_core::parameters! {
    /// The parameters of a pattern by counts.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub(super) struct Tdd {
        // The choice `none` is omitted, because the first pattern always exists.
        /// Period of the pattern of `duplex = "tdd"` (dl-UL-TransmissionPeriodicity). The period is
        /// a whole number of slots. The period, or its sum with the second period, divides 20 ms.
        tdd_period: Period = choice(Period::NAMES.split_at(1).1, "5 ms"),
        /// Number of downlink slots at the beginning of each period (nrofDownlinkSlots).
        tdd_downlink_slots: u32 = integer((0, 640, "slots"), "0"),
        /// Number of downlink symbols at the beginning of the slot after the downlink slots
        /// (nrofDownlinkSymbols).
        tdd_downlink_symbols: u8 = integer((0, 13, "symbols"), "0"),
        /// Number of uplink slots at the end of each period (nrofUplinkSlots).
        tdd_uplink_slots: u32 = integer((0, 640, "slots"), "0"),
        /// Number of uplink symbols at the end of the slot before the uplink slots
        /// (nrofUplinkSymbols).
        tdd_uplink_symbols: u8 = integer((0, 13, "symbols"), "0"),
        /// Period of a second pattern, which alternates with the first (pattern2).
        tdd_second_period: Period = choice(Period::NAMES, "none"),
        /// Number of downlink slots in the second pattern.
        tdd_second_downlink_slots: u32 = integer((0, 640, "slots"), "0"),
        /// Number of downlink symbols in the second pattern.
        tdd_second_downlink_symbols: u8 = integer((0, 13, "symbols"), "0"),
        /// Number of uplink slots in the second pattern.
        tdd_second_uplink_slots: u32 = integer((0, 640, "slots"), "0"),
        /// Number of uplink symbols in the second pattern.
        tdd_second_uplink_symbols: u8 = integer((0, 13, "symbols"), "0"),
        /// Use of the symbols between downlink and uplink with `duplex = "tdd"`: silent, downlink,
        /// uplink, or divided by the scheduler in each slot. A scheduler that divides these symbols
        /// serves one UE at a time.
        flexible_symbols: FlexibleKind = choice(FlexibleKind::NAMES, "guard"),
        /// Number of divided symbols that the uplink leaves to the downlink if the downlink has
        /// data. It is half of these symbols, or the number that the downlink needed in its latest
        /// slots.
        flexible_division: DivisionKind = choice(DivisionKind::NAMES, "demand"),
        /// Number of silent symbols between downlink and uplink, in slots that use flexible symbols
        /// and in slots that the scheduler divides.
        pub(super) guard_symbols: u8 = integer((0, 12, "symbols"), "0"),
    }
}

impl Period {
    /// Returns the length of the pattern, which is zero for `none`.
    fn length(self) -> Span {
        parse_span(self.name()).unwrap_or_default()
    }
}

impl Tdd {
    /// Returns the rule for the division of flexible symbols.
    pub(super) fn division(&self) -> Division {
        match self.flexible_division {
            DivisionKind::Halves => Division::Halves,
            DivisionKind::Demand => Division::Demand,
        }
    }

    /// Returns the TDD pattern.
    ///
    /// # Errors
    /// Returns an error if the counts do not form a pattern.
    pub(super) fn pattern(&self, numerology: Numerology) -> Result<TddPattern, PhyError> {
        let first = UlDlPattern {
            period: self.tdd_period.length(),
            downlink_slots: self.tdd_downlink_slots,
            downlink_symbols: self.tdd_downlink_symbols,
            uplink_slots: self.tdd_uplink_slots,
            uplink_symbols: self.tdd_uplink_symbols,
        };
        let second = UlDlPattern {
            period: self.tdd_second_period.length(),
            downlink_slots: self.tdd_second_downlink_slots,
            downlink_symbols: self.tdd_second_downlink_symbols,
            uplink_slots: self.tdd_second_uplink_slots,
            uplink_symbols: self.tdd_second_uplink_symbols,
        };
        let guard = self.guard_symbols;
        let flexible = match self.flexible_symbols {
            FlexibleKind::Guard => Flexible::Guard,
            FlexibleKind::Downlink => Flexible::Downlink(guard),
            FlexibleKind::Uplink => Flexible::Uplink(guard),
            FlexibleKind::Shared => Flexible::Shared(guard),
        };
        let count = if self.tdd_second_period == Period::None {
            1
        } else {
            2
        };
        TddPattern::by_counts(numerology, &[first, second][..count], flexible)
    }
}
