//! Units of a slot, and the size of a transport block on a number of units.

use crate::config::{Adaptation, AirInterface, CellConfig, Rank, Sharing};
use crate::phy::code_block::{ChannelCode, TransportBlock, TransportCode};
use crate::phy::link_adaptation::{LinkAdaptation, LinkAdaptationConfig, Quality};
use crate::phy::lte::{self, LteAllocation, LteElements};
use crate::phy::mcs::Mcs;
use crate::phy::mutual_information::Modulation;
use crate::phy::tbs::{Allocation, nr_transport_block};
use crate::phy::{PhyError, cqi::CqiTable};
use fadeout_core::math::to_db;
use fadeout_core::{Direction, Rate, Span};

/// Resource elements of a resource block that one DM-RS symbol occupies (type 1, without data in
/// the same symbol).
///
/// Standard: TS 38.214 §5.1.6.2.
const DMRS_ELEMENTS: u32 = 12;
/// Resource elements of an LTE uplink resource block pair without its two DM-RS symbols.
const LTE_UPLINK_ELEMENTS: LteElements = LteElements { per_block: 144 };

/// Units, MCSs and transport block sizes of one direction of a cell.
#[derive(Debug, Clone)]
pub(crate) struct Resources {
    direction: Direction,
    sharing: Sharing,
    air: AirInterface,
    resource_blocks: u32,
    // Numbers of layers that transmissions may have. Every MCS may be used with each of them.
    ranks: Vec<u32>,
    group: u32,
    // Resource elements of a resource block that the computation of block sizes excludes
    // (xOverhead).
    x_overhead: u32,
    // Symbols of a whole slot.
    slot_symbols: u8,
    elements: LteElements,
    adaptation: Option<LinkAdaptation>,
    schemes: Vec<Mcs>,
    // Transport block sizes in bytes, in one table for each number of symbols. A table is indexed
    // by (layers, MCS) and then by `units - 1`. A row has `most_units` entries. With time sharing a
    // unit is a symbol, so there is one table.
    sizes: Vec<Vec<u32>>,
    most_units: u32,
}

/// Resources that a transport block occupies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Occupied {
    /// Number of resource blocks.
    pub resource_blocks: u32,
    /// Number of symbols.
    pub symbols: u8,
}

/// Modulation and coding scheme with its number of layers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LayeredScheme<'a> {
    pub mcs: &'a Mcs,
    /// Number of layers, which share the power.
    pub layers: u32,
}

/// Returns the loss in dB of SINR per layer if several layers share the power, compared with a
/// single layer.
pub(crate) fn split_db(layers: u32) -> f64 {
    match layers {
        1 => 0.0,
        layers => to_db(f64::from(layers)),
    }
}

impl Resources {
    /// Creates the resources of one direction of a cell, whose slots have `slot_symbols` symbols.
    /// `data_symbols` lists the possible numbers of symbols for data.
    pub(crate) fn new(
        cell: &CellConfig,
        direction: Direction,
        slot: Span,
        slot_symbols: u8,
        data_symbols: &[u8],
    ) -> Result<Resources, PhyError> {
        let elements = match direction {
            Direction::Downlink => LteElements::default(),
            Direction::Uplink => LTE_UPLINK_ELEMENTS,
        };
        let resource_blocks = match direction {
            Direction::Downlink => cell.resource_blocks,
            Direction::Uplink => cell
                .resource_blocks
                .saturating_sub(cell.pucch_blocks)
                .max(1),
        };
        let (adaptation, schemes) = adaptation(cell, direction, resource_blocks, elements)?;
        let group = group_size(cell);
        let most_units = match cell.sharing {
            Sharing::Frequency => resource_blocks.div_ceil(group),
            Sharing::Time => u32::from(slot_symbols),
        };
        let mut resources = Resources {
            direction,
            sharing: cell.sharing,
            air: cell.air,
            resource_blocks,
            ranks: match (&cell.adaptation, cell.rank) {
                (Adaptation::Reports(_), Rank::Adaptive) => (1..=cell.layers(direction)).collect(),
                _ => vec![cell.layers(direction)],
            },
            group,
            x_overhead: match direction {
                Direction::Downlink => cell.overhead.x_overhead,
                Direction::Uplink => 0,
            },
            slot_symbols,
            elements,
            adaptation,
            schemes,
            sizes: vec![Vec::new(); usize::from(slot_symbols) + 1],
            most_units,
        };
        let rate = match cell.adaptation {
            Adaptation::FixedRate { downlink, uplink } => Some(match direction {
                Direction::Downlink => downlink,
                Direction::Uplink => uplink,
            }),
            _ => None,
        };
        match cell.sharing {
            Sharing::Time => resources.sizes[0] = resources.table(slot_symbols, rate, slot),
            Sharing::Frequency => {
                for &symbols in data_symbols {
                    resources.sizes[usize::from(symbols)] = resources.table(symbols, rate, slot);
                }
            }
        }
        Ok(resources)
    }

    fn table(&self, symbols: u8, rate: Option<Rate>, slot: Span) -> Vec<u32> {
        let mut table = Vec::with_capacity(self.schemes().len() * self.most_units as usize);
        for scheme in self.schemes() {
            for units in 1..=self.most_units {
                table.push(match rate {
                    Some(rate) => {
                        let bits = rate.as_bits_per_sec() as f64 * slot.as_secs_f64();
                        let share = f64::from(units) / f64::from(self.most_units);
                        // Rounding errors could make a whole number of bytes smaller by one. The
                        // small addition prevents that.
                        (bits / 8.0 * share + 1e-6) as u32
                    }
                    None => self.compute_bits(scheme, self.occupied(symbols, units)) / 8,
                });
            }
        }
        table
    }

    /// Returns the units of a slot with `symbols` symbols for data.
    pub(crate) fn units(&self, symbols: u8) -> u32 {
        match self.sharing {
            Sharing::Time => u32::from(symbols),
            Sharing::Frequency if symbols == 0 => 0,
            Sharing::Frequency => self.most_units,
        }
    }

    /// Returns the number of resource blocks of a unit, if UEs share the band in frequency.
    pub(crate) fn group(&self) -> u32 {
        self.group
    }

    /// Returns the number of units that `resource_blocks` resource blocks occupy.
    pub(crate) fn units_of(&self, resource_blocks: u32) -> u32 {
        resource_blocks.div_ceil(self.group).min(self.most_units)
    }

    /// Returns the minimum number of units of a grant. If units are symbols, the minimum is two,
    /// because one unit carries DM-RS.
    pub(crate) fn least_units(&self) -> u32 {
        match self.sharing {
            Sharing::Time => 2.min(self.most_units),
            Sharing::Frequency => 1,
        }
    }

    /// Returns the resource blocks and symbols that `units` occupy in a slot with `symbols` data
    /// symbols.
    pub(crate) fn occupied(&self, symbols: u8, units: u32) -> Occupied {
        match self.sharing {
            Sharing::Time => Occupied {
                resource_blocks: self.resource_blocks,
                symbols: units.min(255) as u8,
            },
            Sharing::Frequency => Occupied {
                resource_blocks: (units * self.group).min(self.resource_blocks),
                symbols,
            },
        }
    }

    /// Returns the bytes of a transport block on `units` units with scheme number `scheme`, in a
    /// slot with `symbols` data symbols.
    #[inline]
    pub(crate) fn bytes(&self, symbols: u8, scheme: usize, units: u32) -> u32 {
        if units == 0 {
            return 0;
        }
        let table = match self.sharing {
            Sharing::Time => &self.sizes[0],
            Sharing::Frequency => &self.sizes[usize::from(symbols)],
        };
        let row = scheme * self.most_units as usize;
        table
            .get(row + units.min(self.most_units) as usize - 1)
            .copied()
            .unwrap_or(0)
    }

    /// Returns the smallest number of units, at most `most`, that carry `bytes`. Returns `most` if
    /// no such number suffices.
    pub(crate) fn units_for(&self, symbols: u8, scheme: usize, bytes: u64, most: u32) -> u32 {
        let least = self.least_units();
        if most <= least || u64::from(self.bytes(symbols, scheme, most)) <= bytes {
            return most;
        }
        let (mut low, mut high) = (least, most);
        while low < high {
            let middle = (low + high) / 2;
            if u64::from(self.bytes(symbols, scheme, middle)) >= bytes {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        low
    }

    /// Returns the link adaptation. `None` if the rate is fixed.
    pub(crate) fn adaptation(&self) -> Option<&LinkAdaptation> {
        self.adaptation.as_ref()
    }

    /// Returns the number of scheme `mcs` with the number of layers of rank index `rank`.
    /// [`Resources::scheme`] uses the same numbers.
    pub(crate) fn position(&self, mcs: &Mcs, rank: u8) -> usize {
        // MCS indices start at zero and have no gaps, so the MCS index is the position in the list.
        // Schemes with a lower modulation order than that of their index come behind the others.
        let index = (mcs.index as usize).min(self.schemes.len() - 1);
        let is_same = |it: &Mcs| it.index == mcs.index && it.modulation == mcs.modulation;
        let index = match self.schemes[index].modulation == mcs.modulation {
            true => index,
            false => self.schemes.iter().rposition(is_same).unwrap_or(index),
        };
        usize::from(rank) * self.schemes.len() + index
    }

    /// Returns the numbers of all schemes, with each number of layers.
    pub(crate) fn schemes(&self) -> std::ops::Range<usize> {
        0..self.schemes.len() * self.ranks.len()
    }

    /// Returns the modulation and coding scheme and the number of layers that have the number
    /// `position`. [`Resources::position`] returns this number.
    pub(crate) fn scheme(&self, position: usize) -> LayeredScheme<'_> {
        LayeredScheme {
            mcs: &self.schemes[position % self.schemes.len()],
            layers: self.ranks[position / self.schemes.len()],
        }
    }

    /// Returns the numbers of layers that transmissions may have.
    pub(crate) fn ranks(&self) -> &[u32] {
        &self.ranks
    }

    /// Returns the CQI and the rank index that carry the most bits. `quality` returns the quality
    /// of each layer for a number of layers. Among equal results, the smallest number of layers is
    /// chosen. The UE chooses its rank by the measured SINR, because the CQI is coarse.
    ///
    /// Standard: TS 38.214 §5.2.2.2; TS 36.213 §7.2.
    #[inline]
    pub(crate) fn report(
        &self,
        mut quality: impl FnMut(&LinkAdaptation, u32) -> Quality,
    ) -> (u8, u8) {
        let Some(adaptation) = &self.adaptation else {
            return (0, 0);
        };
        let first = quality(adaptation, self.ranks[0]);
        if self.ranks.len() == 1 {
            return (first.cqi, 0);
        }
        let carries = |reached, layers| f64::from(layers) * adaptation.efficiency_at(reached);
        let mut best = (first.cqi, 0);
        let mut most = carries(first, self.ranks[0]);
        for (number, &layers) in (0_u8..).zip(&self.ranks).skip(1) {
            let reached = quality(adaptation, layers);
            let carried = carries(reached, layers);
            if carried > most {
                (best, most) = ((reached.cqi, number), carried);
            }
        }
        best
    }

    /// Returns the bits that a resource element carries with the layers of MCS number `scheme`,
    /// computed from the CQI report only. Zero if no CQI report leads to this MCS.
    pub(crate) fn reported(&self, scheme: usize, cqi: u8) -> f64 {
        let of_layer = self.adaptation.as_ref();
        let of_layer = of_layer.map_or(0.0, |it| it.efficiency_of_cqi(cqi));
        of_layer * f64::from(self.scheme(scheme).layers)
    }

    /// Returns the parameters of a transport block that the error model needs.
    pub(crate) fn code(&self, scheme: usize, symbols: u8, units: u32) -> TransportCode {
        let occupied = self.occupied(symbols, units);
        let LayeredScheme { mcs, layers } = self.scheme(scheme);
        let (code, elements) = match self.air {
            AirInterface::Lte { .. } => (ChannelCode::Turbo, self.lte_elements(occupied, layers)),
            AirInterface::Nr { .. } => {
                let elements = self.allocation(occupied).resource_elements() * layers;
                (ChannelCode::Ldpc, f64::from(elements))
            }
        };
        TransportCode::new(&TransportBlock {
            code,
            gap: code.gap(),
            modulation: mcs.modulation,
            payload: 8 * self.bytes(symbols, scheme, units),
            elements,
        })
    }

    fn compute_bits(&self, scheme: usize, occupied: Occupied) -> u32 {
        let LayeredScheme { mcs, layers } = self.scheme(scheme);
        match self.air {
            AirInterface::Lte { tti } => {
                let index = lte::schemes(self.direction)[mcs.index as usize].tbs_index;
                let blocks = self.lte_blocks(occupied);
                let occupied = Occupied {
                    resource_blocks: blocks,
                    ..occupied
                };
                lte_allocation(occupied, layers, tti).transport_block(index)
            }
            AirInterface::Nr { .. } => nr_transport_block(
                self.allocation(occupied).resource_elements(),
                mcs.modulation,
                mcs.code_rate,
                layers,
                1.0,
            ),
        }
    }

    fn allocation(&self, occupied: Occupied) -> Allocation {
        Allocation {
            resource_blocks: occupied.resource_blocks,
            symbols: occupied.symbols,
            dmrs: DMRS_ELEMENTS,
            overhead: self.x_overhead,
        }
    }

    /// Returns the number of resource blocks with which the size of an LTE transport block is
    /// looked up in the table. The number is smaller in special subframes.
    ///
    /// Standard: TS 36.213 §7.1.7.
    fn lte_blocks(&self, occupied: Occupied) -> u32 {
        let eighths = match occupied.symbols {
            symbols if symbols == self.slot_symbols => 8,
            ..=6 => 3,
            _ => 6,
        };
        (occupied.resource_blocks * eighths / 8).max(1)
    }

    fn lte_elements(&self, occupied: Occupied, layers: u32) -> f64 {
        let AirInterface::Lte { tti } = self.air else {
            return 0.0;
        };
        let share = f64::from(occupied.symbols) / f64::from(self.slot_symbols);
        self.elements
            .count_in(&lte_allocation(occupied, layers, tti))
            * share
    }
}

fn lte_allocation(occupied: Occupied, layers: u32, tti: Span) -> LteAllocation {
    LteAllocation {
        resource_blocks: occupied.resource_blocks,
        layers,
        tti,
    }
}

/// Returns the number of resource blocks of a resource block group. NR uses configuration 1.
/// Carriers wider than the standard's carriers have groups of 16.
///
/// Standard: TS 36.213 Table 7.1.6.1-1; TS 38.214 Table 5.1.2.2.1-1.
fn group_size(cell: &CellConfig) -> u32 {
    match (cell.air, cell.resource_blocks) {
        (AirInterface::Lte { .. }, 0..=10) => 1,
        (AirInterface::Lte { .. }, 11..=26) => 2,
        (AirInterface::Lte { .. }, 27..=63) => 3,
        (AirInterface::Lte { .. }, _) => 4,
        (AirInterface::Nr { .. }, 0..=36) => 2,
        (AirInterface::Nr { .. }, 37..=72) => 4,
        (AirInterface::Nr { .. }, 73..=144) => 8,
        (AirInterface::Nr { .. }, _) => 16,
    }
}

/// Size and number of code blocks for which schemes are chosen. These code blocks represent a large
/// transport block.
const TYPICAL_BLOCK_BITS: f64 = 8448.0;
const TYPICAL_BLOCKS: u32 = 2;

fn adaptation(
    cell: &CellConfig,
    direction: Direction,
    resource_blocks: u32,
    elements: LteElements,
) -> Result<(Option<LinkAdaptation>, Vec<Mcs>), PhyError> {
    let (cqi_table, mcs_table, target_error, fixed) = match cell.adaptation {
        Adaptation::Reports(reports) => (
            reports.cqi_table,
            reports.mcs_table,
            reports.target_error,
            None,
        ),
        Adaptation::FixedScheme { index, table } => (CqiTable::Qam64, table, 0.1, Some(index)),
        Adaptation::FixedRate { .. } => {
            let only = Mcs {
                index: 0,
                modulation: Modulation::Qpsk,
                code_rate: 0.5,
                efficiency: 1.0,
            };
            return Ok((None, vec![only]));
        }
    };
    let (schemes, lower_order, code) = match cell.air {
        AirInterface::Nr { .. } => (mcs_table.rows().to_vec(), Vec::new(), ChannelCode::Ldpc),
        AirInterface::Lte { tti } => {
            let full = LteAllocation {
                resource_blocks,
                layers: cell.layers(direction),
                tti,
            };
            let lower_order = lte::lower_order_rates(direction, &full, elements);
            let schemes = lte::rates(direction, &full, elements);
            (schemes, lower_order, ChannelCode::Turbo)
        }
    };
    let adaptation = LinkAdaptation::new(&LinkAdaptationConfig {
        cqi_table,
        schemes: schemes.clone(),
        lower_order: lower_order.clone(),
        code,
        gap: code.gap(),
        target_error,
        block_bits: TYPICAL_BLOCK_BITS,
        blocks: TYPICAL_BLOCKS,
        fixed,
    })?;
    Ok((Some(adaptation), [schemes, lower_order].concat()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::mcs::McsTable;
    use fadeout_core::{Hertz, Point};

    #[test]
    fn lte_units_are_groups_of_four_blocks_and_carry_the_tables_size() {
        let cell = CellConfig::lte(Point::default(), Hertz(2e9), 100);
        let tti = Span::from_millis(1);
        let resources = Resources::new(&cell, Direction::Downlink, tti, 14, &[14]).expect("a cell");
        assert_eq!(resources.units(14), 25);
        assert_eq!(resources.bytes(14, 28, 25), 75_376 / 8);
        // MCS 15 has I_TBS 14. 50 resource blocks form 12.5 groups, so the last group is smaller.
        let narrow = CellConfig::lte(Point::default(), Hertz(2e9), 50);
        let narrow = Resources::new(&narrow, Direction::Downlink, tti, 14, &[14]).expect("a cell");
        assert_eq!(narrow.units(14), 17);
        assert_eq!(narrow.bytes(14, 15, 17), 14_112 / 8);
    }

    #[test]
    fn the_fewest_units_that_carry_the_bytes_are_found() {
        let cell = CellConfig::nr(Point::default(), Hertz(28e9), 3, 66).expect("a cell");
        let slot = Span::from_micros(125);
        let resources = Resources::new(&cell, Direction::Uplink, slot, 14, &[]).expect("a cell");
        for scheme in [0, 10, 28] {
            for bytes in [1, 100, 1000, 3000, 10_000, 100_000] {
                let units = resources.units_for(0, scheme, bytes, 12);
                let enough = |units| u64::from(resources.bytes(0, scheme, units)) >= bytes;
                assert!(
                    enough(units) || units == 12,
                    "scheme {scheme}, {bytes} bytes"
                );
                assert!(
                    units == 2 || !enough(units - 1),
                    "scheme {scheme}, {bytes} bytes"
                );
            }
        }
        assert_eq!(resources.bytes(0, 5, 1), 0, "one symbol is all DM-RS");
    }

    #[test]
    fn a_fixed_rate_fills_a_slot_with_its_bytes() {
        let cell = CellConfig {
            adaptation: Adaptation::FixedRate {
                downlink: Rate::from_bits_per_sec(21_000_000),
                uplink: Rate::from_bits_per_sec(10_000_000),
            },
            ..CellConfig::lte(Point::default(), Hertz(2e9), 100)
        };
        let tti = Span::from_micros(100);
        let new = |direction| Resources::new(&cell, direction, tti, 1, &[1]).expect("a cell");
        assert_eq!(new(Direction::Downlink).bytes(1, 0, 25), 262);
        assert_eq!(new(Direction::Uplink).bytes(1, 0, 25), 125);
    }
    /// Returns the number of layers that a UE reports at an SINR, at most four. Also returns the
    /// bits per resource element on all these layers.
    fn reported(rank: Rank, sinr_db: f64) -> (u32, f64) {
        let cell = CellConfig {
            layers: 4,
            rank,
            ..CellConfig::nr(Point::default(), Hertz(3.5e9), 1, 106).expect("a cell")
        };
        let slot = Span::from_micros(500);
        let resources =
            Resources::new(&cell, Direction::Downlink, slot, 14, &[13]).expect("a cell");
        let (_, rank) =
            resources.report(|adaptation, layers| adaptation.quality(sinr_db - split_db(layers)));
        let adaptation = resources.adaptation().expect("reports");
        let layers = resources.ranks()[usize::from(rank)];
        let quality = adaptation.quality(sinr_db - split_db(layers));
        (
            layers,
            f64::from(layers) * adaptation.efficiency_at(quality),
        )
    }

    #[test]
    fn layers_share_the_power_and_are_as_many_as_carry_most() {
        let mut before = 0.0;
        for sinr_db in (-8..=36).map(f64::from) {
            let (_, bits) = reported(Rank::Adaptive, sinr_db);
            assert!(bits >= before, "{sinr_db} dB");
            before = bits;
            let (layers, of_all) = reported(Rank::Fixed, sinr_db);
            assert!(layers == 4 && of_all <= bits, "{sinr_db} dB");
        }
        assert_eq!(reported(Rank::Adaptive, -6.0).0, 1);
        assert_eq!(reported(Rank::Adaptive, 36.0).0, 4);
        // Four layers at 0 dB carry less than four times as much as one layer: 4 lg(1 + 1/4) is
        // 1.29 times lg(1 + 1). Adjacent efficiencies of the CQI table have a ratio of at most 1.6.
        let (_, four) = reported(Rank::Fixed, 0.0);
        assert!((0.3770..1.29 * 1.6 * 0.8770).contains(&four), "{four}");
    }

    #[test]
    fn a_scheme_of_more_layers_has_a_number_of_its_own_and_carries_as_many_times_more() {
        let cell = CellConfig {
            layers: 4,
            ..CellConfig::nr(Point::default(), Hertz(3.5e9), 1, 106).expect("a cell")
        };
        let slot = Span::from_micros(500);
        let resources =
            Resources::new(&cell, Direction::Downlink, slot, 14, &[13]).expect("a cell");
        let bits_with = |rank| {
            let number = resources.position(&McsTable::Qam64.rows()[20], rank);
            let scheme = resources.scheme(number);
            assert_eq!((scheme.layers, scheme.mcs.index), (u32::from(rank) + 1, 20));
            f64::from(resources.bytes(13, number, 7))
        };
        // Transport block sizes have relative steps of at most 1/64.
        assert!((bits_with(3) / bits_with(0) - 4.0).abs() < 4.0 / 64.0);
        assert_eq!(resources.schemes(), 0..4 * 29);
    }
}
