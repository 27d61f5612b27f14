//! Overhead in NR's downlink slots, except control and DM-RS: synchronisation signal blocks, CSI
//! reference signals, and the overhead assumed for block sizes.

use super::error::PhyError;
use super::frame::Frame;
use fadeout_core::{Span, data};

/// Overhead of NR's downlink, except control and DM-RS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Overhead {
    /// Overhead assumed for block sizes (xOverhead, TS 38.214 clause 5.1.3.2). It is 0, 6, 12 or 18
    /// resource elements in a resource block.
    pub x_overhead: u32,
    /// CSI reference signals. `None` without them.
    pub csi_rs: Option<CsiRs>,
    /// Synchronisation signal blocks. `None` without them.
    pub ssb: Option<Ssb>,
}

/// CSI reference signals, which take whole symbols.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CsiRs {
    /// Slots between two occasions. The first occasion is in slot 0.
    pub period: u64,
    /// Symbols of each occasion.
    pub symbols: u8,
}

/// Synchronisation signal blocks, one for each beam. They are at the beginning of each period, two
/// in each downlink slot.
///
/// Standard: TS 38.211 §7.4.3; TS 38.213 §4.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ssb {
    /// Time between two bursts.
    pub period: Span,
    /// Number of blocks in a burst.
    pub blocks: u8,
}

/// Number of resource blocks of a synchronisation signal block.
pub const SSB_RESOURCE_BLOCKS: u32 = 20;
/// Number of symbols of a synchronisation signal block.
pub const SSB_SYMBOLS: u8 = 4;
/// Downlink symbols that a slot with two synchronisation signal blocks needs. The second block ends
/// before the thirteenth symbol (TS 38.213 clause 4.1, case A and C).
const SSB_SLOT_SYMBOLS: u8 = 12;
/// Time within which a burst is sent.
///
/// Standard: TS 38.213 §4.1.
const BURST: Span = Span::from_millis(5);

const PERIODS: &str = include_str!("../data/reference_signal_periods.csv");

/// Periods of CSI-RS in slots.
///
/// Standard: TS 38.331 §6.3.2.
const CSI_RS_PERIODS: [[u64; 13]; 1] = data::longs(PERIODS, "csi-rs", 1);

/// Periods of synchronisation signal blocks in milliseconds.
///
/// Standard: TS 38.331 §6.3.2.
const SSB_PERIODS_MS: [[u64; 6]; 1] = data::longs(PERIODS, "ssb", 1);

impl Overhead {
    /// Checks the values for a frame.
    ///
    /// # Errors
    /// Returns an error for a value that the standard does not have. Also if the downlink slots in
    /// 5 ms cannot hold all synchronisation signal blocks.
    pub fn validate(&self, frame: &Frame) -> Result<(), PhyError> {
        let other = self.x_overhead;
        let is_valid = matches!(other, 0 | 6 | 12 | 18);
        PhyError::check("xOverhead", f64::from(other), is_valid, "0, 6, 12 or 18")?;
        if let Some(csi) = self.csi_rs {
            PhyError::check(
                "CSI-RS period in slots",
                csi.period as f64,
                CSI_RS_PERIODS[0].contains(&csi.period),
                "4, 5, 8, 10, 16, 20, 32, 40, 64, 80, 160, 320 or 640",
            )?;
            let symbols = f64::from(csi.symbols);
            let is_valid = (1..=8).contains(&csi.symbols);
            PhyError::check("CSI-RS symbols", symbols, is_valid, "1 to 8")?;
        }
        if let Some(ssb) = self.ssb {
            let period = ssb.period;
            PhyError::check(
                "SSB period in ms",
                period.as_secs_f64() * 1e3,
                SSB_PERIODS_MS[0]
                    .iter()
                    .any(|&ms| Span::from_millis(ms) == period),
                "5, 10, 20, 40, 80 or 160",
            )?;
            let slots = BURST.as_nanos() / frame.slot().as_nanos();
            let room: u8 = (0..slots)
                .map(|slot| 2 * u8::from(holds_ssb(frame, slot)))
                .sum();
            let is_valid = (1..=room).contains(&ssb.blocks);
            let blocks = f64::from(ssb.blocks);
            let expected = "as many as fit, two in each downlink slot of 5 ms";
            PhyError::check("SSB beams", blocks, is_valid, expected)?;
        }
        Ok(())
    }

    /// Returns the number of slots after which the overhead repeats.
    pub fn period(&self, frame: &Frame) -> u64 {
        let csi = self.csi_rs.map_or(1, |csi| csi.period);
        let slot = frame.slot().as_nanos();
        let ssb = self.ssb.map_or(1, |ssb| ssb.period.as_nanos() / slot);
        common_multiple(csi, ssb)
    }

    /// Returns the symbols of CSI-RS in a slot.
    pub fn csi_rs_symbols(&self, frame: &Frame, slot: u64) -> u8 {
        let is_there =
            |csi: &CsiRs| slot.is_multiple_of(csi.period) && frame.format(slot).downlink > 0;
        self.csi_rs.filter(is_there).map_or(0, |csi| csi.symbols)
    }

    /// Returns the number of synchronisation signal blocks in a slot, at most two.
    pub fn ssb_blocks(&self, frame: &Frame, slot: u64) -> u8 {
        let Some(ssb) = self.ssb else { return 0 };
        let period = ssb.period.as_nanos() / frame.slot().as_nanos();
        let first = slot - slot % period;
        if !holds_ssb(frame, slot) {
            return 0;
        }
        let before = (first..slot).filter(|&slot| holds_ssb(frame, slot)).count();
        u64::from(ssb.blocks)
            .saturating_sub(2 * before as u64)
            .min(2) as u8
    }
}

fn holds_ssb(frame: &Frame, slot: u64) -> bool {
    frame.format(slot).downlink >= SSB_SLOT_SYMBOLS
}

/// Returns the least common multiple of two numbers of slots.
pub fn common_multiple(a: u64, b: u64) -> u64 {
    let (mut divisor, mut rest) = (a, b);
    while rest > 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    a / divisor * b
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{Duplex, SpecialSlot, TddPattern};
    use crate::mutual_information::Modulation;
    use crate::numerology::{CyclicPrefix, Numerology};
    use crate::tbs::{Allocation, PeakRate, nr_transport_block};

    fn frame(mu: u8, pattern: &str) -> Frame {
        let numerology = Numerology::new(mu, CyclicPrefix::Normal).expect("a numerology");
        let duplex = match pattern {
            "" => Duplex::Fdd,
            letters => Duplex::Tdd(
                TddPattern::new(letters, SpecialSlot::default(), 14).expect("a pattern"),
            ),
        };
        Frame::nr(numerology, duplex).expect("a frame")
    }

    fn with_ssb(period_ms: u64, blocks: u8) -> Overhead {
        Overhead {
            ssb: Some(Ssb {
                period: Span::from_millis(period_ms),
                blocks,
            }),
            ..Overhead::default()
        }
    }

    #[test]
    fn a_full_slot_carries_the_peak_rate() {
        // TS 38.306 has 14 % overhead in FR1. One symbol of control and one of DM-RS are 2/14. The
        // block size is within one step of the quantisation, at most 2^-6.
        let allocation = Allocation {
            resource_blocks: 273,
            symbols: 13,
            dmrs: 12,
            overhead: 0,
        };
        let elements = allocation.resource_elements();
        let bits = nr_transport_block(elements, Modulation::Qam256, 948.0 / 1024.0, 4, 1.0);
        let peak = PeakRate {
            layers: 4,
            modulation: Modulation::Qam256,
            scaling: 1.0,
            resource_blocks: 273,
            mu: 1,
            overhead: 0.14,
        };
        let ratio = f64::from(bits) * 2000.0 / peak.bits_per_sec();
        assert!((ratio - 1.0).abs() < 1.0 / 64.0, "{ratio}");
    }

    #[test]
    fn a_burst_lies_in_the_first_downlink_slots_of_its_period() {
        let blocks = |overhead: Overhead, frame: &Frame, slots: std::ops::Range<u64>| {
            let each = slots.map(|slot| overhead.ssb_blocks(frame, slot));
            each.collect::<Vec<u8>>()
        };
        let fdd = frame(3, "");
        assert_eq!(blocks(with_ssb(20, 3), &fdd, 0..4), [2, 1, 0, 0]);
        assert_eq!(blocks(with_ssb(20, 3), &fdd, 159..163), [0, 2, 1, 0]);
        assert_eq!(with_ssb(20, 3).period(&fdd), 160);
        // The special slot has ten downlink symbols, which are too few.
        let tdd = frame(3, "DDDSU");
        assert_eq!(blocks(with_ssb(20, 8), &tdd, 0..7), [2, 2, 2, 0, 0, 2, 0]);
        let all = |overhead: Overhead| blocks(overhead, &tdd, 0..160).iter().sum::<u8>();
        assert_eq!(all(with_ssb(20, 48)), 48);
        assert!(with_ssb(20, 48).validate(&tdd).is_ok());
        let error = with_ssb(20, 49)
            .validate(&tdd)
            .expect_err("24 slots in 5 ms");
        assert!(error.to_string().contains("as many as fit"), "{error}");
        assert!(with_ssb(15, 4).validate(&fdd).is_err());
    }

    #[test]
    fn csi_rs_are_in_their_slots_where_those_are_downlink() {
        let overhead = Overhead {
            csi_rs: Some(CsiRs {
                period: 4,
                symbols: 2,
            }),
            ..Overhead::default()
        };
        let tdd = frame(1, "DDDSU");
        let symbols: Vec<u8> = (0..20)
            .map(|slot| overhead.csi_rs_symbols(&tdd, slot))
            .collect();
        assert_eq!(
            symbols.iter().sum::<u8>(),
            8,
            "slot 4 is uplink: {symbols:?}"
        );
        assert_eq!(symbols[8], 2);
        let both = Overhead {
            ssb: with_ssb(5, 1).ssb,
            ..overhead
        };
        assert_eq!(both.period(&tdd), 20);
        for (wrong, text) in [
            (
                Overhead {
                    x_overhead: 7,
                    ..overhead
                },
                "0, 6, 12 or 18",
            ),
            (
                Overhead {
                    csi_rs: Some(CsiRs {
                        period: 7,
                        symbols: 1,
                    }),
                    ..overhead
                },
                "4, 5, 8",
            ),
        ] {
            let error = wrong.validate(&tdd).expect_err(text).to_string();
            assert!(error.contains(text), "{error}");
        }
        assert_eq!(common_multiple(4, 10), 20);
    }
}
