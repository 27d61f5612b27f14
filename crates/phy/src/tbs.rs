//! Size of a transport block by NR's formula.
//!
//! Standard: TS 38.214 §5.1.3.2.

use super::mutual_information::Modulation;
use super::numerology::SUBCARRIERS;
use std::sync::LazyLock;

/// Sizes up to 3824 bits, ascending.
///
/// Standard: TS 38.214 Table 5.1.3.2-1.
static SMALL_SIZES: LazyLock<Vec<u32>> = LazyLock::new(|| {
    let size = |line: &str| line.split(',').nth(1)?.parse().ok();
    let table = include_str!("../data/nr_tbs_le_3824.csv");
    table.lines().filter_map(size).collect()
});

/// Largest number of resource elements that count in a resource block and slot (clause 5.1.3.2).
const MOST_ELEMENTS: u32 = 156;

/// Resources of one transmission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allocation {
    /// Number of resource blocks (n_PRB).
    pub resource_blocks: u32,
    /// Number of symbols, including those of the DM-RS (N_symb).
    pub symbols: u8,
    /// Resource elements of the DM-RS in each resource block (N_DMRS). These include the elements
    /// of CDM groups without data.
    pub dmrs: u32,
    /// Resource elements of other overhead in each resource block (N_oh): 0, 6, 12 or 18.
    pub overhead: u32,
}

impl Allocation {
    /// Returns the resource elements that carry data (N_RE).
    pub fn resource_elements(&self) -> u32 {
        let elements = SUBCARRIERS * u32::from(self.symbols);
        elements
            .saturating_sub(self.dmrs + self.overhead)
            .min(MOST_ELEMENTS)
            .saturating_mul(self.resource_blocks)
    }
}

/// Returns the size of NR's transport block in bits. Zero without resources.
///
/// `elements` is the result of [`Allocation::resource_elements`]. `scaling` is 1, except 0.5 and
/// 0.25 for paging and random access responses.
pub fn nr_transport_block(
    elements: u32,
    modulation: Modulation,
    code_rate: f64,
    layers: u32,
    scaling: f64,
) -> u32 {
    let bits_per_element = f64::from(modulation.bits()) * f64::from(layers) * scaling;
    // Code rates are fractions of 1024 (or 2048), so this product is exact.
    let info = f64::from(elements) * code_rate * bits_per_element;
    if info <= 0.0 {
        return 0;
    }
    if info <= 3824.0 {
        let info = info as u32;
        let n = info.max(1).ilog2().saturating_sub(6).max(3);
        let quantised = (info >> n << n).max(24);
        let sizes = &*SMALL_SIZES;
        let index = sizes.partition_point(|&size| size < quantised);
        return sizes.get(index).copied().unwrap_or(3824);
    }
    let over = info - 24.0;
    let step = (1_u64 << ((over as u64).ilog2() - 5)) as f64;
    // Ties round up.
    let rounded = (over / step + 0.5).floor() * step;
    let quantised = rounded.max(3840.0) as u64;
    let blocks = if code_rate <= 0.25 {
        (quantised + 24).div_ceil(3816)
    } else if quantised > 8424 {
        (quantised + 24).div_ceil(8424)
    } else {
        1
    };
    (8 * blocks * (quantised + 24).div_ceil(8 * blocks) - 24) as u32
}

/// Peak data rate of one carrier.
///
/// Standard: TS 38.306 §4.1.2.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PeakRate {
    /// Number of spatial layers.
    pub layers: u32,
    /// Highest modulation.
    pub modulation: Modulation,
    /// Scaling factor of the device: 1, 0.8, 0.75 or 0.4.
    pub scaling: f64,
    /// Number of resource blocks of the carrier.
    pub resource_blocks: u32,
    /// Number of the numerology.
    pub mu: u8,
    /// Share of resources without data. It is [`DOWNLINK_OVERHEAD`] in the downlink of frequency
    /// ranges 1 and 2. It is 0.08 and 0.10 in the uplink.
    pub overhead: f64,
}

/// Share of downlink resources without data, in frequency ranges 1 and 2.
///
/// Standard: TS 38.306 §4.1.2.
pub const DOWNLINK_OVERHEAD: [f64; 2] = [0.14, 0.18];

impl PeakRate {
    /// Returns the rate in bit/s.
    pub fn bits_per_sec(&self) -> f64 {
        let symbols_per_sec = 14_000.0 * f64::from(1_u32 << self.mu);
        f64::from(self.layers)
            * f64::from(self.modulation.bits())
            * self.scaling
            * (948.0 / 1024.0)
            * f64::from(SUBCARRIERS * self.resource_blocks)
            * symbols_per_sec
            * (1.0 - self.overhead)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_full_of_data_counts_no_more_than_156_elements_a_block() {
        let allocation = Allocation {
            resource_blocks: 10,
            symbols: 14,
            dmrs: 0,
            overhead: 0,
        };
        assert_eq!(allocation.resource_elements(), 1560);
        let without_room = Allocation {
            symbols: 1,
            dmrs: 12,
            ..allocation
        };
        assert_eq!(without_room.resource_elements(), 0);
        assert_eq!(nr_transport_block(0, Modulation::Qpsk, 0.1, 1, 1.0), 0);
    }

    #[test]
    fn a_transport_block_is_whole_bytes_and_grows_with_its_resources() {
        let size = |elements| nr_transport_block(elements, Modulation::Qam64, 0.65, 2, 1.0);
        let sizes: Vec<u32> = (1..40_000).step_by(7).map(size).collect();
        assert!(sizes.is_sorted() && sizes.iter().all(|size| size % 8 == 0));
        // Both parts of the formula join, because the table ends at 3824.
        assert_eq!((sizes.first(), size(490)), (Some(&24), 3824));
    }
}
