//! Segmentation of a transport block into code blocks: LDPC and turbo code.
//!
//! Standard: TS 38.212 §5.2.2, §7.2; TS 36.212 §5.1.2.

use super::bler::{BaseGraph, LDPC_GAP, TURBO_GAP};
use super::mutual_information::Modulation;
use fadeout_core::Decibel;
use fadeout_core::math::log10;

/// Channel code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ChannelCode {
    /// NR's LDPC code.
    #[default]
    Ldpc,
    /// LTE's turbo code.
    Turbo,
}

impl ChannelCode {
    /// Returns the gap between the bound and the code with a good decoder (see
    /// [`bler`](super::bler)).
    pub fn gap(self) -> Decibel {
        match self {
            ChannelCode::Ldpc => LDPC_GAP,
            ChannelCode::Turbo => TURBO_GAP,
        }
    }

    /// Returns the largest code block in bits, CRC included, for a transport block of `bits` bits
    /// at `code_rate`.
    pub fn largest_block(self, bits: f64, code_rate: f64) -> f64 {
        match self {
            ChannelCode::Ldpc => BaseGraph::select(bits - 24.0, code_rate).largest_block(),
            ChannelCode::Turbo => 6144.0,
        }
    }
}

/// Segmentation of a transport block.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Segmentation {
    /// Number of code blocks (C).
    pub blocks: u32,
    /// Bits of each code block (K'). CRCs are included, filler bits are not.
    pub block_bits: f64,
    /// Lowest rate of the code. Below this rate coded bits are repeated.
    pub mother_rate: f64,
}

impl Segmentation {
    /// Segments a transport block of `payload` bits at `code_rate`.
    pub fn new(code: ChannelCode, payload: u32, code_rate: f64) -> Segmentation {
        let (crc, largest, mother_rate) = match code {
            ChannelCode::Ldpc => {
                let graph = BaseGraph::select(f64::from(payload), code_rate);
                let crc = if payload > 3824 { 24 } else { 16 };
                (crc, graph.largest_block() as u32, graph.mother_rate())
            }
            ChannelCode::Turbo => (24, 6144, 1.0 / 3.0),
        };
        let bits = payload.saturating_add(crc);
        let blocks = if bits <= largest {
            1
        } else {
            bits.div_ceil(largest - 24)
        };
        let block_crcs = if blocks > 1 { 24 * blocks } else { 0 };
        debug_assert!(blocks > 0, "a transport block of no code block");
        debug_assert!(
            f64::from(bits + block_crcs) <= f64::from(blocks * largest),
            "a code block is larger than the code takes"
        );
        Segmentation {
            blocks,
            block_bits: f64::from(bits + block_crcs) / f64::from(blocks),
            mother_rate,
        }
    }
}

/// Parameters of a transport block for the error model: its code blocks and their symbols. Computed
/// once for each transport block.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TransportCode {
    /// Modulation of the first transmission.
    pub modulation: Modulation,
    /// Number of code blocks, all of one size (C).
    pub blocks: u32,
    /// Bits of a code block, CRC included (K).
    pub block_bits: f64,
    /// Modulation symbols of a code block in the first transmission (n).
    pub symbols: f64,
    /// Coded bits of a code block before repetition (K divided by the mother code's rate).
    pub buffer_bits: f64,
    /// Gap between the bound and the code with its receiver.
    pub gap: Decibel,
}

/// Parameters of [`TransportCode::new`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TransportBlock {
    /// Channel code.
    pub code: ChannelCode,
    /// Gap between the bound and the code with its receiver. [`ChannelCode::gap`] is that of a good
    /// decoder.
    pub gap: Decibel,
    /// Modulation.
    pub modulation: Modulation,
    /// Size in bits, without CRC.
    pub payload: u32,
    /// Number of resource elements that carry the block, over all layers.
    pub elements: f64,
}

impl TransportCode {
    /// Returns the code of a transport block on its resources. The rate is payload and CRCs divided
    /// by coded bits.
    pub fn new(block: &TransportBlock) -> TransportCode {
        debug_assert!(
            block.payload > 0 && block.elements > 0.0,
            "a transport block of {} bits on {} elements",
            block.payload,
            block.elements
        );
        let coded_bits = block.elements * f64::from(block.modulation.bits());
        let nominal_rate = f64::from(block.payload) / coded_bits;
        let segmentation = Segmentation::new(block.code, block.payload, nominal_rate);
        TransportCode {
            modulation: block.modulation,
            blocks: segmentation.blocks,
            block_bits: segmentation.block_bits,
            symbols: block.elements / f64::from(segmentation.blocks),
            buffer_bits: segmentation.block_bits / segmentation.mother_rate,
            gap: block.gap,
        }
    }

    /// Returns a single code block of `bits` bits, CRC included, at `code_rate`. It serves the
    /// computation of thresholds.
    pub fn single(
        code: ChannelCode,
        gap: Decibel,
        modulation: Modulation,
        code_rate: f64,
        bits: f64,
    ) -> TransportCode {
        let mother_rate = match code {
            ChannelCode::Ldpc => BaseGraph::select(bits - 24.0, code_rate).mother_rate(),
            ChannelCode::Turbo => 1.0 / 3.0,
        };
        TransportCode {
            modulation,
            blocks: 1,
            block_bits: bits,
            symbols: bits / (code_rate * f64::from(modulation.bits())),
            buffer_bits: bits / mother_rate,
            gap,
        }
    }

    /// Returns the gain of repeated coded bits in dB. Zero if the rate is not below that of the
    /// mother code.
    pub fn repetition_gain(&self) -> Decibel {
        let sent = self.symbols * f64::from(self.modulation.bits());
        Decibel(10.0 * log10((sent / self.buffer_bits).max(1.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_as_few_as_the_base_graph_allows() {
        for (payload, rate, blocks, bits) in [
            // This row and the next have base graph 1. A block of 8448 bits with the CRC fits into
            // one code block, and a longer block needs two.
            (8424, 0.8, 1, 8448.0),
            (8432, 0.8, 2, 4252.0),
            // The low code rate selects base graph 2 in this row and the next.
            (3824, 0.2, 1, 3840.0),
            (3840, 0.2, 2, 1956.0),
            // A short transport block has a CRC of 16 bits.
            (808, 0.3, 1, 824.0),
        ] {
            let found = Segmentation::new(ChannelCode::Ldpc, payload, rate);
            assert_eq!(
                (found.blocks, found.block_bits),
                (blocks, bits),
                "{payload}"
            );
        }
        let turbo = Segmentation::new(ChannelCode::Turbo, 75_376, 0.9);
        // The number of blocks is ceil(75400 / 6120).
        assert_eq!(turbo.blocks, 13);
        assert_eq!(turbo.block_bits, (75_400.0 + 13.0 * 24.0) / 13.0);
    }

    #[test]
    fn a_rate_below_the_mother_code_gains_by_repetition() {
        let gain = |code, rate| {
            let gap = Decibel(1.0);
            TransportCode::single(code, gap, Modulation::Qpsk, rate, 1000.0).repetition_gain()
        };
        assert_eq!(gain(ChannelCode::Ldpc, 0.5), Decibel(0.0));
        // The rate is one tenth and the mother code's a fifth, so each bit is sent twice.
        assert!((gain(ChannelCode::Ldpc, 0.1).0 - 3.0103).abs() < 1e-4);
        assert!((gain(ChannelCode::Turbo, 1.0 / 6.0).0 - 3.0103).abs() < 1e-4);
    }
}
