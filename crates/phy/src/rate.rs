//! Spectral efficiency of a link at its SNR, for links without simulated blocks.

use super::bler::{self, CodeBlock, base_graph};
use super::mcs::McsTable;
use fadeout_core::Decibel;
use fadeout_core::math::{from_db, ln, log2};

/// Mapping from SNR to spectral efficiency.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RateModel {
    /// Most efficient NR scheme whose block error rate meets the target.
    NrMcs(NrMcs),
    /// Fixed share of Shannon's bound.
    AttenuatedShannon(AttenuatedShannon),
    /// Shannon's bound with a gap that follows from the bit error rate.
    ShannonGap(ShannonGap),
}

impl Default for RateModel {
    fn default() -> Self {
        RateModel::NrMcs(NrMcs::default())
    }
}

impl RateModel {
    /// Returns the spectral efficiency in bit per resource element at this SNR. Zero means outage.
    /// Retransmissions are not subtracted. Their share is at most the target error rate.
    pub fn efficiency(&self, snr: Decibel) -> f64 {
        let efficiency = match self {
            RateModel::NrMcs(nr) => nr.efficiency(snr),
            RateModel::AttenuatedShannon(shannon) => shannon.efficiency(snr),
            RateModel::ShannonGap(gap) => gap.efficiency(snr),
        };
        debug_assert!(efficiency >= 0.0, "{efficiency} bit/s per hertz at {snr:?}");
        efficiency
    }
}

/// Choice of the modulation and coding scheme by the block error model of [`bler`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NrMcs {
    /// Table of schemes.
    pub table: McsTable,
    /// Largest block error rate of a first transmission, in (0, 1). The target in the definition of
    /// CQI is 0.1 (TS 38.214 clause 5.2.2.1).
    pub target_error: f64,
    /// Information bits of a code block, CRC included, limited to the largest block of the base
    /// graph. A fast link fills its blocks.
    pub block_bits: f64,
    /// Gap between the bound and the code with its receiver.
    pub gap: Decibel,
}

impl Default for NrMcs {
    fn default() -> Self {
        NrMcs {
            table: McsTable::Qam64,
            target_error: 0.1,
            block_bits: 8448.0,
            gap: bler::LDPC_GAP,
        }
    }
}

impl NrMcs {
    fn efficiency(&self, snr: Decibel) -> f64 {
        // The last row that meets the target is not always the best. Where the modulation changes,
        // two rows are nearly equal, and the one with the larger index may carry less.
        let works = |mcs: &super::mcs::Mcs| {
            let bits = self
                .block_bits
                .min(base_graph(self.block_bits, mcs.code_rate).largest_block());
            let block = CodeBlock {
                modulation: mcs.modulation,
                code_rate: mcs.code_rate,
                bits,
                gap: self.gap,
            };
            block.error_rate(snr) <= self.target_error
        };
        self.table
            .rows()
            .iter()
            .filter(|mcs| works(mcs))
            .map(|mcs| mcs.efficiency)
            .fold(0.0, f64::max)
    }
}

/// Function `share log2(1 + snr)`, limited to `cap`, and zero below the least SNR.
///
/// Standard: TR 36.942 §A.2.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AttenuatedShannon {
    /// Share of Shannon's bound.
    pub share: f64,
    /// SNR below which nothing is received.
    pub least_snr: Decibel,
    /// Largest efficiency of the modulation, bit/s/Hz.
    pub cap: f64,
}

impl AttenuatedShannon {
    /// Values of TR 36.942 for the downlink.
    pub const DOWNLINK: AttenuatedShannon = AttenuatedShannon {
        share: 0.6,
        least_snr: Decibel(-10.0),
        cap: 4.4,
    };
    /// Values of TR 36.942 for the uplink.
    pub const UPLINK: AttenuatedShannon = AttenuatedShannon {
        share: 0.4,
        least_snr: Decibel(-10.0),
        cap: 2.0,
    };

    fn efficiency(&self, snr: Decibel) -> f64 {
        if snr < self.least_snr {
            return 0.0;
        }
        (self.share * log2(1.0 + from_db(snr.0))).min(self.cap)
    }
}

/// Function `log2(1 + snr / gap)` with the gap `-ln(5 ber) / 1.5` of uncoded QAM at a bit error
/// rate. The source is X. Qiu, K. Chawla, "On the performance of adaptive modulation in cellular
/// systems", IEEE Trans. Commun. 47, 1999.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ShannonGap {
    /// Bit error rate, in (0, 0.2).
    pub bit_error_rate: f64,
}

impl ShannonGap {
    fn efficiency(&self, snr: Decibel) -> f64 {
        let gap = -ln(5.0 * self.bit_error_rate) / 1.5;
        log2(1.0 + from_db(snr.0) / gap)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcs::Mcs;

    #[test]
    fn attenuated_shannon_matches_its_reference_value() {
        let shannon = RateModel::AttenuatedShannon(AttenuatedShannon::DOWNLINK);
        assert!((shannon.efficiency(Decibel(10.0)) - 2.07566).abs() < 1e-5);
        assert_eq!(shannon.efficiency(Decibel(22.5)), 4.4);
        assert_eq!(shannon.efficiency(Decibel(-10.1)), 0.0);
    }

    #[test]
    fn thresholds_lie_where_the_block_error_model_puts_them() {
        // SNR for 10 % block errors with blocks of 1000 bits, table 5.1.3.1-1.
        let rows = McsTable::Qam64.rows();
        for (index, expected) in [
            (3, -2.64),
            (4, -1.55),
            (6, 0.62),
            (9, 3.54),
            (16, 8.88),
            (17, 9.29),
            (28, 19.83),
        ] {
            let Mcs {
                modulation,
                code_rate,
                ..
            } = rows[index];
            let block = CodeBlock {
                modulation,
                code_rate,
                bits: 1000.0,
                gap: bler::LDPC_GAP,
            };
            let snr = block.snr_for(0.1).0;
            // The reference value interpolates the quadrature, and the model uses fits.
            assert!(
                (snr - expected).abs() < 0.05,
                "MCS {index}: {snr} beside {expected}"
            );
        }
    }

    #[test]
    fn efficiency_never_falls_with_snr_and_reaches_from_outage_to_the_best_scheme() {
        let nr = RateModel::default();
        let efficiencies: Vec<f64> = (-200..400)
            .map(|tenth| nr.efficiency(Decibel(f64::from(tenth) / 10.0)))
            .collect();
        assert!(efficiencies.windows(2).all(|pair| pair[0] <= pair[1]));
        assert_eq!((efficiencies[0], efficiencies[599]), (0.0, 5.5547));
        // The best schemes have 28 distinct efficiencies. At most one is missing, because rows 9
        // and 10, or rows 16 and 17, are nearly equal.
        let mut distinct = efficiencies;
        distinct.dedup();
        assert!(distinct.len() >= 27, "{}", distinct.len());
    }
}
