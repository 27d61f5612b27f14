//! The resource elements of a slot that are not data: control, reference signals, synchronisation.

use super::error::PhyError;
use super::frame::SlotFormat;
use super::numerology::SUBCARRIERS;
use super::tbs::Allocation;

/// The overheads of NR's data channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NrOverhead {
    /// Symbols of PDCCH at the start of a downlink slot, 0 to 3.
    pub control_symbols: u8,
    /// Symbols of PUCCH at the end of an uplink slot.
    pub feedback_symbols: u8,
    /// Resource elements of DM-RS in a resource block, with those of CDM groups left without
    /// data: 12 a symbol, or 6 where one of two groups (type 1) carries data.
    pub dmrs: u32,
    /// Overhead that block sizes reckon with, for CSI-RS and the like: 0, 6, 12 or 18 resource
    /// elements in a resource block (xOverhead, TS 38.214 clause 5.1.3.2).
    pub x_overhead: u32,
    /// CSI reference signals.
    pub csi_rs: Option<Periodic>,
    /// Synchronisation signal blocks.
    pub ssb: Option<Ssb>,
}

/// A reference signal in every `period`-th slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Periodic {
    /// Slots from one to the next.
    pub period: u64,
    /// First slot.
    pub offset: u64,
    /// Resource elements in each resource block.
    pub elements: u32,
}

/// Synchronisation signal blocks: 20 resource blocks and four symbols each, two a slot in the first
/// slots of each period.
///
/// Standard: TS 38.211 §7.4.3; TS 38.213 §4.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ssb {
    /// Slots from one burst to the next.
    pub period: u64,
    /// Blocks in a burst.
    pub blocks: u64,
}

const SSB_RESOURCE_BLOCKS: u32 = 20;
const SSB_SYMBOLS: u32 = 4;

impl Default for NrOverhead {
    /// One symbol each of PDCCH, DM-RS alone in its symbol, two of PUCCH.
    fn default() -> Self {
        NrOverhead {
            control_symbols: 1,
            feedback_symbols: 2,
            dmrs: 12,
            x_overhead: 0,
            csi_rs: None,
            ssb: None,
        }
    }
}

impl NrOverhead {
    /// Checks the values.
    pub fn validate(&self) -> Result<(), PhyError> {
        let control = self.control_symbols;
        PhyError::check("PDCCH symbols", f64::from(control), control <= 3, "0 to 3")?;
        let feedback = self.feedback_symbols;
        PhyError::check(
            "PUCCH symbols",
            f64::from(feedback),
            feedback <= 14,
            "0 to 14",
        )?;
        let dmrs = self.dmrs;
        PhyError::check("DM-RS elements", f64::from(dmrs), dmrs <= 48, "0 to 48")?;
        let other = self.x_overhead;
        let is_valid = matches!(other, 0 | 6 | 12 | 18);
        PhyError::check("xOverhead", f64::from(other), is_valid, "0, 6, 12 or 18")?;
        if let Some(csi) = self.csi_rs {
            PhyError::check("CSI-RS period in slots", 0.0, csi.period > 0, "1 or more")?;
            let elements = f64::from(csi.elements);
            PhyError::check("CSI-RS elements", elements, csi.elements <= 64, "0 to 64")?;
        }
        if let Some(ssb) = self.ssb {
            PhyError::check("SSB period in slots", 0.0, ssb.period > 0, "1 or more")?;
            let blocks = ssb.blocks as f64;
            let most = ssb.period.saturating_mul(2).min(64);
            PhyError::check("SSBs", blocks, ssb.blocks <= most, "two a slot, at most 64")?;
        }
        Ok(())
    }

    /// The downlink data of a whole slot on `resource_blocks`.
    pub fn downlink(&self, format: SlotFormat, resource_blocks: u32) -> Allocation {
        self.allocation(format.downlink, self.control_symbols, resource_blocks)
    }

    /// The uplink data of a whole slot on `resource_blocks`.
    pub fn uplink(&self, format: SlotFormat, resource_blocks: u32) -> Allocation {
        self.allocation(format.uplink, self.feedback_symbols, resource_blocks)
    }

    fn allocation(&self, symbols: u8, taken: u8, resource_blocks: u32) -> Allocation {
        Allocation {
            resource_blocks,
            symbols: symbols.saturating_sub(taken),
            dmrs: self.dmrs,
            overhead: self.x_overhead,
        }
    }

    /// Resource elements of one layer that `allocation` has for downlink data in slot `slot`:
    /// those left by DM-RS, CSI-RS and synchronisation blocks. xOverhead does not count, for it
    /// stands for these in the mean. The synchronisation blocks take their share of an allocation
    /// as if it lay anywhere in the carrier's `carrier_blocks`.
    pub fn downlink_elements(
        &self,
        slot: u64,
        allocation: &Allocation,
        carrier_blocks: u32,
    ) -> u32 {
        let mut each = (SUBCARRIERS * u32::from(allocation.symbols)).saturating_sub(self.dmrs);
        if let Some(csi) = self.csi_rs
            && slot % csi.period.max(1) == csi.offset % csi.period.max(1)
        {
            each = each.saturating_sub(csi.elements);
        }
        let all = each * allocation.resource_blocks;
        let lost = self.ssb.map_or(0, |ssb| {
            let sent = ssb
                .blocks
                .saturating_sub(slot % ssb.period.max(1) * 2)
                .min(2) as u32;
            let elements = sent * SSB_SYMBOLS * SUBCARRIERS * SSB_RESOURCE_BLOCKS;
            (u64::from(elements) * u64::from(allocation.resource_blocks)
                / u64::from(carrier_blocks.max(1))) as u32
        });
        all.saturating_sub(lost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutual_information::Modulation;
    use crate::tbs::{PeakRate, nr_transport_block};

    const FULL: SlotFormat = SlotFormat {
        downlink: 14,
        uplink: 14,
        budget: 28,
    };

    #[test]
    fn a_full_slot_carries_the_peak_rate() {
        // TS 38.306 says 14 % overhead in FR1. One symbol of control and one of DM-RS are 2/14,
        // and a block size is within one step of the quantisation, 2^-6 and less.
        let allocation = NrOverhead::default().downlink(FULL, 273);
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
    fn reference_signals_take_their_elements_in_their_slots() {
        let overhead = NrOverhead {
            csi_rs: Some(Periodic {
                period: 40,
                offset: 3,
                elements: 4,
            }),
            ssb: Some(Ssb {
                period: 160,
                blocks: 3,
            }),
            ..NrOverhead::default()
        };
        assert!(overhead.validate().is_ok());
        let allocation = overhead.downlink(FULL, 66);
        let elements = |slot| overhead.downlink_elements(slot, &allocation, 66);
        let plain = 66 * (12 * 13 - 12);
        assert_eq!(elements(2), plain);
        assert_eq!(
            (elements(3), elements(43)),
            (plain - 66 * 4, plain - 66 * 4)
        );
        assert_eq!((elements(0), elements(1)), (plain - 1920, plain - 960));
        let half = Allocation {
            resource_blocks: 33,
            ..allocation
        };
        assert_eq!(overhead.downlink_elements(160, &half, 66), plain / 2 - 960);
    }

    #[test]
    fn a_slot_without_room_has_no_elements() {
        let overhead = NrOverhead::default();
        let short = SlotFormat {
            downlink: 1,
            uplink: 2,
            budget: 3,
        };
        assert_eq!(overhead.downlink(short, 66).resource_elements(), 0);
        assert_eq!(overhead.uplink(short, 66).resource_elements(), 0);
        let wrong = NrOverhead {
            x_overhead: 7,
            ..overhead
        };
        let error = wrong.validate().expect_err("7 is none of them");
        assert!(error.to_string().contains("0, 6, 12 or 18"), "{error}");
    }
}
