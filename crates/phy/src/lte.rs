//! Modulation and coding schemes and transport block sizes of LTE.
//!
//! Standard: TS 36.213 §7.1.7, §8.6.

use super::mcs::Mcs;
use super::mutual_information::Modulation;
use fadeout_core::{Direction, Span};
use std::sync::LazyLock;

/// Largest number of resource blocks in the table of sizes.
pub const MOST_RESOURCE_BLOCKS: u32 = 110;

/// Transport block sizes in bits, indexed by the number of resource blocks minus one, then by
/// I_TBS.
static SIZES: LazyLock<Vec<[u32; 27]>> = LazyLock::new(|| {
    let row = |line: &str| {
        let mut fields = line.split(',').map(|field| field.parse().ok());
        fields.next()??;
        let mut sizes = [0; 27];
        for size in &mut sizes {
            *size = fields.next()??;
        }
        Some(sizes)
    };
    let table = include_str!("../data/lte_tbs.csv");
    table.lines().filter_map(row).collect()
});

/// Modulation and coding scheme of LTE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LteMcs {
    /// Index I_MCS, 0 to 28.
    pub index: u32,
    /// Modulation.
    pub modulation: Modulation,
    /// Index I_TBS, 0 to 26.
    pub tbs_index: u32,
}

/// Returns the schemes for first transmissions, by index.
///
/// Standard: TS 36.213 Table 7.1.7.1-1, Table 8.6.1-1.
pub fn schemes(direction: Direction) -> &'static [LteMcs] {
    static DOWNLINK: LazyLock<Vec<LteMcs>> = LazyLock::new(|| read(1));
    static UPLINK: LazyLock<Vec<LteMcs>> = LazyLock::new(|| read(3));
    match direction {
        Direction::Downlink => &DOWNLINK,
        Direction::Uplink => &UPLINK,
    }
}

fn read(column: usize) -> Vec<LteMcs> {
    let row = |line: &str| {
        let fields: Vec<u32> = line.split(',').map_while(|f| f.parse().ok()).collect();
        Some(LteMcs {
            index: *fields.first()?,
            modulation: Modulation::from_bits(*fields.get(column)?)?,
            tbs_index: *fields.get(column + 1)?,
        })
    };
    let table = include_str!("../data/lte_mcs_itbs.csv");
    table.lines().filter_map(row).collect()
}

/// Resources of a transport block in LTE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LteAllocation {
    /// Number of resource block pairs (N_PRB), 1 to 110. Larger numbers count as 110.
    pub resource_blocks: u32,
    /// Number of spatial layers, 1 to 4.
    pub layers: u32,
    /// Transmission time interval.
    pub tti: Span,
}

impl LteAllocation {
    /// Returns the size of the transport block with I_TBS `tbs_index` in bits. Zero without
    /// resources.
    ///
    /// One layer has the size in the standard's table. Up to 55 resource blocks, each pair of
    /// layers has the size of twice the blocks (clause 7.1.7.2.2). Beyond, each pair has twice the
    /// size, which is within 1 % of the standard's translation table. An interval below 1 ms has
    /// its share of the size in whole bytes.
    ///
    /// Standard: TS 36.213 §7.1.7.2.2, Table 7.1.7.2.1-1.
    pub fn transport_block(&self, tbs_index: u32) -> u32 {
        let blocks = self.resource_blocks.min(MOST_RESOURCE_BLOCKS);
        if blocks == 0 {
            return 0;
        }
        let column = tbs_index.min(26) as usize;
        let size = |blocks: u32| SIZES[blocks as usize - 1][column];
        let pair = if 2 * blocks <= MOST_RESOURCE_BLOCKS {
            size(2 * blocks)
        } else {
            2 * size(blocks)
        };
        let bits = self.layers / 2 * pair + self.layers % 2 * size(blocks);
        let nanos = self.tti.as_nanos().min(1_000_000);
        (u64::from(bits) * nanos / 8_000_000 * 8) as u32
    }
}

/// Resource elements for data in a transmission time interval of one layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LteElements {
    /// Resource elements for data in a pair of resource blocks and 1 ms. These are 168 minus
    /// control symbols, reference signals and other overhead.
    pub per_block: u32,
}

impl Default for LteElements {
    /// Returns the elements with two control symbols and the reference signals of two antenna
    /// ports: 12 x 12 minus 12.
    fn default() -> Self {
        LteElements { per_block: 132 }
    }
}

impl LteElements {
    /// Returns the resource elements of an allocation over all layers.
    pub fn count_in(self, allocation: &LteAllocation) -> f64 {
        let share = allocation.tti.as_secs_f64() / 1e-3;
        let blocks = f64::from(allocation.resource_blocks) * f64::from(allocation.layers);
        f64::from(self.per_block) * blocks * share
    }
}

/// Returns the schemes with their code rate and efficiency on an allocation, for link adaptation.
/// The code rate includes the 24-bit CRC.
pub fn rates(direction: Direction, allocation: &LteAllocation, elements: LteElements) -> Vec<Mcs> {
    let rate = |scheme: &LteMcs| rate_of(scheme, scheme.modulation, allocation, elements);
    schemes(direction).iter().map(rate).collect()
}

/// Returns the uplink schemes of 64QAM as a UE without 64QAM sends them: with 16QAM. Schemes with a
/// code rate above 0.93 are left out. Empty for the downlink, in which every UE has 64QAM. UEs of
/// the categories 1 to 4 have no 64QAM in the uplink.
///
/// Standard: TS 36.213 §8.6.1; TS 36.306 Table 4.1-2.
pub fn lower_order_rates(
    direction: Direction,
    allocation: &LteAllocation,
    elements: LteElements,
) -> Vec<Mcs> {
    if direction == Direction::Downlink {
        return Vec::new();
    }
    let of_64qam = schemes(direction).iter();
    let of_64qam = of_64qam.filter(|scheme| scheme.modulation == Modulation::Qam64);
    let rates = of_64qam.map(|scheme| rate_of(scheme, Modulation::Qam16, allocation, elements));
    rates.filter(|mcs| mcs.code_rate <= HIGHEST_RATE).collect()
}

/// Highest code rate of a first transmission. A receiver need not decode higher ones.
///
/// Standard: TS 36.213 §7.1.7.
const HIGHEST_RATE: f64 = 0.93;

/// Returns a scheme with its code rate and efficiency, if it is sent with `modulation`.
fn rate_of(
    scheme: &LteMcs,
    modulation: Modulation,
    allocation: &LteAllocation,
    elements: LteElements,
) -> Mcs {
    let available = elements.count_in(allocation);
    let bits = f64::from(allocation.transport_block(scheme.tbs_index));
    Mcs {
        index: scheme.index,
        modulation,
        code_rate: (bits + 24.0) / (available * f64::from(modulation.bits())),
        efficiency: bits / available,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: LteAllocation = LteAllocation {
        resource_blocks: 100,
        layers: 1,
        tti: Span::from_millis(1),
    };

    #[test]
    fn the_tables_are_whole() {
        assert_eq!(SIZES.len(), 110);
        let column = |index: usize| SIZES.iter().map(move |row| row[index]);
        assert!((0..27).all(|index| column(index).skip(1).is_sorted()));
        for direction in [Direction::Downlink, Direction::Uplink] {
            let rows = schemes(direction);
            assert!(rows.iter().map(|row| row.index).eq(0..29), "{direction:?}");
            assert_eq!(rows[28].tbs_index, 26);
        }
        assert_eq!(
            schemes(Direction::Downlink)[10].modulation,
            Modulation::Qam16
        );
        assert_eq!(schemes(Direction::Uplink)[10].modulation, Modulation::Qpsk);
    }

    #[test]
    fn a_short_interval_carries_its_share() {
        let tti = |micros| LteAllocation {
            tti: Span::from_micros(micros),
            ..FULL
        };
        assert_eq!(tti(500).transport_block(26), 37_688);
        assert_eq!(tti(100).transport_block(26), 7_536);
        // Ten short blocks carry as much as a long one, except for rounding to bytes.
        assert!(10 * tti(100).transport_block(26) > 75_376 - 80);
    }

    #[test]
    fn a_ue_without_64qam_sends_three_more_schemes_with_16qam() {
        let allocation = LteAllocation {
            resource_blocks: 25,
            ..FULL
        };
        let elements = LteElements { per_block: 144 };
        let found = lower_order_rates(Direction::Uplink, &allocation, elements);
        // I_TBS 19, 20 and 21 on 25 resource blocks. The rate of I_TBS 22, with 13,536 bits, is
        // 0.94.
        let bits = found
            .iter()
            .map(|mcs| (mcs.index, mcs.efficiency * 25.0 * 144.0));
        assert_eq!(
            bits.map(|(index, bits)| (index, bits.round() as u32))
                .collect::<Vec<_>>(),
            [(21, 10_680), (22, 11_448), (23, 12_576)]
        );
        for mcs in &found {
            assert_eq!(mcs.modulation, Modulation::Qam16);
            let coded = mcs.code_rate * 4.0 * 25.0 * 144.0;
            assert!((coded - 24.0 - mcs.efficiency * 25.0 * 144.0).abs() < 1e-6);
        }
        assert_eq!(
            lower_order_rates(Direction::Downlink, &allocation, elements),
            []
        );
    }

    #[test]
    fn two_layers_carry_the_size_of_twice_the_blocks() {
        let two = |resource_blocks| LteAllocation {
            resource_blocks,
            layers: 2,
            ..FULL
        };
        let one = |resource_blocks| LteAllocation {
            resource_blocks,
            ..FULL
        };
        assert_eq!(two(50).transport_block(20), one(100).transport_block(20));
        assert_eq!(two(100).transport_block(26), 150_752);
        assert_eq!(one(0).transport_block(26), 0);
        assert_eq!(one(500).transport_block(26), one(110).transport_block(26));
    }
}
