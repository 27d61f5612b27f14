//! Directions of the symbols in each slot.
//!
//! A [`Frame`] counts slots from the start of the run. In LTE a slot of the frame is one
//! transmission time interval. It is 1 ms, or the 0.5 and 0.1 ms of the latency reduction study.

use super::error::PhyError;
use super::numerology::Numerology;
pub use super::tdd::{SlotFormat, SpecialSlot, TddPattern};
use fadeout_core::{Direction, Span, Time};

/// Use of the band by the two directions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Duplex {
    /// A separate band for each direction, so every symbol is downlink and uplink.
    Fdd,
    /// One band, with the directions of slots by a pattern.
    Tdd(TddPattern),
    /// One band. The scheduler divides every slot, except `guard` symbols.
    Flexible {
        /// Number of silent symbols in every slot.
        guard: u8,
    },
}

/// Sequence of slots of a cell. Slot 0 starts at time zero.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    slot: Span,
    symbols: u8,
    duplex: Duplex,
    // Format of every slot if there is no pattern.
    uniform: SlotFormat,
}

impl Frame {
    /// Returns the frame of NR.
    pub fn nr(numerology: Numerology, duplex: Duplex) -> Result<Frame, PhyError> {
        Frame::new(numerology.slot(), numerology.symbols(), duplex)
    }

    /// Returns the frame of LTE. The transmission time interval must divide 1 ms. The frame has 14
    /// symbols a millisecond, and at least one in each interval.
    pub fn lte(tti: Span, duplex: Duplex) -> Result<Frame, PhyError> {
        let nanos = tti.as_nanos();
        let divides = nanos > 0 && 1_000_000 % nanos == 0;
        PhyError::check(
            "transmission time interval in ms",
            tti.as_secs_f64() * 1e3,
            divides,
            "a divisor of 1 ms, such as 1, 0.5 or 0.1",
        )?;
        Frame::new(tti, lte_symbols(tti), duplex)
    }

    fn new(slot: Span, symbols: u8, duplex: Duplex) -> Result<Frame, PhyError> {
        let guard = match duplex {
            Duplex::Flexible { guard } => guard,
            _ => 0,
        };
        PhyError::check(
            "guard symbols",
            f64::from(guard),
            guard < symbols,
            "fewer than the symbols of a slot",
        )?;
        if let Duplex::Tdd(pattern) = &duplex {
            let fits = |slot: &SlotFormat| slot.budget <= symbols;
            PhyError::check(
                "symbols of the pattern's slots",
                f64::from(pattern.slots().iter().map(|s| s.budget).max().unwrap_or(0)),
                pattern.slots().iter().all(fits),
                "at most the symbols of the frame's slots",
            )?;
        }
        let usable = symbols - guard;
        let uniform = SlotFormat {
            downlink: usable,
            uplink: usable,
            budget: match duplex {
                Duplex::Fdd => 2 * usable,
                _ => usable,
            },
        };
        Ok(Frame {
            slot,
            symbols,
            duplex,
            uniform,
        })
    }

    /// Returns the length of a slot.
    pub fn slot(&self) -> Span {
        self.slot
    }

    /// Returns the number of symbols in a slot.
    pub fn symbols(&self) -> u8 {
        self.symbols
    }

    /// Returns the use of the band by the two directions.
    pub fn duplex(&self) -> &Duplex {
        &self.duplex
    }

    /// Returns the slot that `at` lies in.
    pub fn slot_at(&self, at: Time) -> u64 {
        at.as_nanos() / self.slot.as_nanos()
    }

    /// Returns the slot of this frame that contains the start of slot `slot` of another frame.
    /// `length` is the slot length of the other frame.
    #[inline]
    pub fn slot_as_of(&self, length: Span, slot: u64) -> u64 {
        if self.slot == length {
            return slot;
        }
        self.slot_at(Time::ZERO + length * slot)
    }

    /// Returns the first slot that starts at `at` or later.
    pub fn slot_from(&self, at: Time) -> u64 {
        at.as_nanos().div_ceil(self.slot.as_nanos())
    }

    /// Returns the start of slot `slot`.
    pub fn start_of(&self, slot: u64) -> Time {
        Time::from_nanos(slot.saturating_mul(self.slot.as_nanos()))
    }

    /// Returns the start of symbol `symbol` of slot `slot`, rounded down to the nanosecond. With
    /// the number of symbols as `symbol`, it is the end of the slot.
    pub fn symbol_start(&self, slot: u64, symbol: u8) -> Time {
        debug_assert!(
            symbol <= self.symbols,
            "symbol {symbol} of a slot of {}",
            self.symbols
        );
        let offset = self.slot * u64::from(symbol) / u64::from(self.symbols);
        self.start_of(slot).saturating_add(offset)
    }

    /// Returns the symbols of slot `slot`.
    pub fn format(&self, slot: u64) -> SlotFormat {
        match &self.duplex {
            Duplex::Tdd(pattern) => {
                let slots = pattern.slots();
                slots[(slot % slots.len() as u64) as usize]
            }
            _ => self.uniform,
        }
    }

    /// Returns the first slot from `slot` on with at least `symbols` downlink symbols. Returns
    /// `slot` if there is none.
    pub fn downlink_from(&self, slot: u64, symbols: u8) -> u64 {
        self.find(slot, |format| format.downlink >= symbols)
    }

    /// Returns the first slot from `slot` on with at least `symbols` uplink symbols. Returns `slot`
    /// if there is none.
    pub fn uplink_from(&self, slot: u64, symbols: u8) -> u64 {
        self.find(slot, |format| format.uplink >= symbols)
    }

    /// Returns the number of slots after which the directions repeat. One without a pattern.
    pub fn pattern_slots(&self) -> u64 {
        match &self.duplex {
            Duplex::Tdd(pattern) => pattern.slots().len() as u64,
            _ => 1,
        }
    }

    /// Returns the first slot from `slot` on that has the most uplink symbols of all slots.
    pub fn whole_uplink_from(&self, slot: u64) -> u64 {
        let formats = (0..self.pattern_slots()).map(|slot| self.format(slot));
        let most = formats.map(|format| format.uplink).max();
        self.uplink_from(slot, most.unwrap_or(0))
    }

    /// Returns the last slot up to `slot` with symbols of a direction. Returns `slot` if there is
    /// none.
    pub fn latest_until(&self, slot: u64, direction: Direction) -> u64 {
        let has_symbols = |slot: &u64| {
            let format = self.format(*slot);
            match direction {
                Direction::Downlink => format.downlink > 0,
                Direction::Uplink => format.uplink > 0,
            }
        };
        let first = (slot + 1).saturating_sub(self.pattern_slots());
        let latest = (first..=slot).rev().find(has_symbols);
        latest.unwrap_or(slot)
    }

    fn find(&self, slot: u64, is_wanted: impl Fn(SlotFormat) -> bool) -> u64 {
        let period = self.pattern_slots();
        debug_assert!(period > 0, "a pattern without slots");
        if period == 1 {
            return slot;
        }
        (slot..slot.saturating_add(period))
            .find(|&slot| is_wanted(self.format(slot)))
            .unwrap_or(slot)
    }
}

/// Returns the number of symbols in a transmission time interval of LTE.
pub(super) fn lte_symbols(tti: Span) -> u8 {
    (14 * tti.as_nanos() / 1_000_000).clamp(1, 14) as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerology::CyclicPrefix;

    fn tdd(pattern: &str) -> Result<TddPattern, PhyError> {
        TddPattern::new(pattern, SpecialSlot::default(), 14)
    }

    #[test]
    fn a_pattern_gives_each_slot_its_symbols() {
        let mu3 = Numerology::new(3, CyclicPrefix::Normal).expect("a numerology");
        let pattern = tdd("DDDSU").expect("a pattern");
        let frame = Frame::nr(mu3, Duplex::Tdd(pattern)).expect("a frame");
        let symbols = |slot| {
            let format = frame.format(slot);
            (format.downlink, format.uplink, format.budget)
        };
        assert_eq!((symbols(0), symbols(7)), ((14, 0, 14), (14, 0, 14)));
        assert_eq!((symbols(3), symbols(9)), ((10, 2, 12), (0, 14, 14)));
        assert_eq!((frame.uplink_from(0, 1), frame.uplink_from(0, 14)), (3, 4));
        assert_eq!(
            (frame.downlink_from(4, 1), frame.downlink_from(3, 12)),
            (5, 5)
        );
        assert_eq!(
            [3, 4, 5].map(|slot| frame.whole_uplink_from(slot)),
            [4, 4, 9]
        );
        let latest = |slot, direction| frame.latest_until(slot, direction);
        assert_eq!([4, 5].map(|slot| latest(slot, Direction::Downlink)), [3, 5]);
        assert_eq!([4, 7].map(|slot| latest(slot, Direction::Uplink)), [4, 4]);
        assert_eq!(latest(2, Direction::Uplink), 2, "there is none before");
        assert_eq!(frame.pattern_slots(), 5);
        assert_eq!(frame.start_of(8), Time::from_nanos(1_000_000));
        assert_eq!(frame.slot_at(Time::from_nanos(999_999)), 7);
        assert_eq!(frame.slot_as_of(frame.slot(), 7), 7);
        assert_eq!(frame.slot_as_of(Span::from_micros(500), 3), 12);
        assert_eq!(frame.slot_from(Time::from_nanos(875_001)), 8);
        assert_eq!(frame.symbol_start(7, 14), frame.start_of(8));
    }

    #[test]
    fn lte_frames_take_short_intervals() {
        for (micros, symbols) in [(1000, 14), (500, 7), (100, 1)] {
            let frame = Frame::lte(Span::from_micros(micros), Duplex::Fdd).expect("a frame");
            assert_eq!(frame.symbols(), symbols);
            assert_eq!(frame.format(5).budget, 2 * symbols);
        }
        assert!(Frame::lte(Span::from_micros(300), Duplex::Fdd).is_err());
        assert!(Frame::lte(Span::ZERO, Duplex::Fdd).is_err());
    }

    #[test]
    fn a_flexible_slot_is_divided_by_the_scheduler() {
        let frame = Frame::nr(Numerology::KHZ_15, Duplex::Flexible { guard: 1 }).expect("a frame");
        let format = frame.format(3);
        assert_eq!(
            (format.downlink, format.uplink, format.budget),
            (13, 13, 13)
        );
        assert!(Frame::nr(Numerology::KHZ_15, Duplex::Flexible { guard: 14 }).is_err());
    }
}
