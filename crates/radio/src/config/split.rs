//! Configuration of a bearer with several legs. The legs are at two base stations, or on several
//! carriers of one base station.

use crate::rlc::RlcConfig;
use crate::user_plane::FlowControlConfig;
use fadeout_core::{Bytes, CellId};

pub use fadeout_core::agreed::MOST_LEGS;

/// Number of the first leg on a secondary carrier.
const FIRST_CARRIER: u8 = 2;

/// Upper bound of leg numbers. Leg 0 is in the primary cell and leg 1 at the other base station.
/// Legs from 2 on are on secondary carriers.
pub(crate) const LEG_NUMBERS: usize = MOST_LEGS + 1;

/// Secondary cells in which a bearer has an additional RLC leg. The RLC entity of such a leg uses
/// that cell only (allowedServingCells). The first leg uses the other cells of the cell group.
///
/// Standard: TS 38.300 §16.1.3; TS 38.331 §6.3.2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CarrierLegs {
    cells: [CellId; MOST_LEGS - 1],
    count: u8,
}

impl CarrierLegs {
    /// No legs on secondary carriers: the bearer has one RLC leg for all cells of the group.
    pub const NONE: CarrierLegs = CarrierLegs {
        cells: [CellId(0); MOST_LEGS - 1],
        count: 0,
    };

    /// Returns one leg in each of these cells. `None` if PDCP would have more legs than allowed.
    pub fn new(cells: &[CellId]) -> Option<CarrierLegs> {
        let mut all = CarrierLegs::NONE;
        all.cells.get_mut(..cells.len())?.copy_from_slice(cells);
        all.count = cells.len() as u8;
        Some(all)
    }

    /// Returns the cells of the legs.
    pub fn cells(&self) -> &[CellId] {
        &self.cells[..usize::from(self.count)]
    }

    /// Returns the numbers of the legs.
    pub(crate) fn numbers(&self) -> std::ops::Range<u8> {
        FIRST_CARRIER..FIRST_CARRIER + self.count
    }

    /// Returns the number of the leg that is restricted to this cell. `None` if there is no such
    /// leg.
    pub(crate) fn rlc_in(&self, cell: CellId) -> Option<u8> {
        let mut legs = self.numbers().zip(self.cells());
        legs.find(|it| *it.1 == cell).map(|it| it.0)
    }
}

/// Rule by which the base station with PDCP chooses the leg of a downlink packet of a split bearer.
/// The rule applies to packets that may use both legs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LegChoice {
    /// The packet uses the leg with the lower expected delay.
    ExpectedDelay,
    /// The packet uses the secondary leg while the secondary node requests more data.
    Demand,
    /// The legs take turns, so that each leg carries the same number of bytes.
    Turns,
}

/// Configuration of a bearer with several RLC legs. The bearer is a split bearer, or a bearer that
/// PDCP duplicates over carriers. PDCP is at the base station of the first leg.
///
/// Standard: TS 37.340 §3.1, §4.2.2; TS 38.300 §16.1.3.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SplitConfig {
    /// Number of the UE's leg at the second base station. `None` if the bearer uses one base
    /// station.
    pub leg: Option<u8>,
    /// Legs on secondary carriers. Their RLC configuration is that of the bearer.
    pub carriers: CarrierLegs,
    /// RLC configuration of the leg at the second base station, for both ends. Its generation must
    /// be that of the leg's cell, and its mode that of the first leg. All legs share the buffer of
    /// the first leg, at PDCP.
    pub rlc: RlcConfig,
    /// pdcp-SN-Size in bits for the leg at the second base station. The value must equal that of
    /// the bearer.
    pub pdcp_sn_bits: u8,
    /// Number of the primary path's leg (primaryPath).
    ///
    /// Standard: TS 38.331 §6.3.2.
    pub primary: u8,
    /// Number of buffered bytes from which the secondary leg may be used, by direction. In the
    /// uplink this is ul-DataSplitThreshold. The base station applies the same rule to the
    /// downlink. `None` stands for infinity.
    ///
    /// Standard: TS 38.323 §5.2.1.
    pub thresholds: [Option<Bytes>; 2],
    /// Rule for the leg of a downlink packet.
    pub choice: LegChoice,
    /// True if every PDU goes to all legs (pdcp-Duplication), by direction. The threshold does not
    /// apply to a direction with duplication.
    ///
    /// Standard: TS 38.331 §6.3.2; TS 38.323 §5.11.
    pub duplicates: [bool; 2],
    /// Flow control between the two base stations.
    pub flow_control: FlowControlConfig,
}

impl SplitConfig {
    /// Returns the RLC configuration of a leg. RLC's buffer is unlimited, because packets wait at
    /// PDCP. RLC keeps the gaps between COUNT values, because the missing COUNT values belong to
    /// other legs.
    pub(crate) fn of_leg(&self, rlc: RlcConfig) -> RlcConfig {
        RlcConfig {
            buffer: Bytes(u64::MAX),
            closes_count_gaps: false,
            ..rlc
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Aggregation, BearerConfig, Serving, UeConfig, check_bearer};
    use fadeout_core::{NodeId, UeId};

    fn split() -> SplitConfig {
        SplitConfig {
            leg: Some(1),
            carriers: CarrierLegs::NONE,
            rlc: RlcConfig::NR_AM,
            pdcp_sn_bits: 18,
            primary: 0,
            thresholds: [Some(Bytes(0)), None],
            choice: LegChoice::ExpectedDelay,
            duplicates: [true; 2],
            flow_control: FlowControlConfig::USUAL,
        }
    }

    /// Returns the error text for a bearer of a UE with a PSCell and three secondary cells.
    fn error(change: impl FnOnce(&mut BearerConfig, &mut SplitConfig, &mut UeConfig)) -> String {
        let mut ue = UeConfig::new(NodeId(0));
        ue.serving = Serving::Cell(CellId(0));
        ue.pscell = Some(CellId(9));
        ue.aggregation = Aggregation::new(&[CellId(1), CellId(2), CellId(3)]).expect("few enough");
        ue.aggregation.has_uplink = true;
        let (mut bearer, mut split) = (BearerConfig::nr(UeId(0)), split());
        change(&mut bearer, &mut split, &mut ue);
        bearer.split = Some(split);
        let checked = check_bearer(0, &bearer, (Some(&ue), 1));
        checked.map_or_else(|error| error.to_string(), |()| String::new())
    }

    fn over(cells: &[u32]) -> CarrierLegs {
        let cells: Vec<CellId> = cells.iter().map(|&cell| CellId(cell)).collect();
        CarrierLegs::new(&cells).expect("few enough")
    }

    #[test]
    fn legs_that_cannot_be_are_refused() {
        for (found, expected) in [
            (
                error(|_, split, _| split.pdcp_sn_bits = 12),
                "one size: both legs have one PDCP",
            ),
            (
                error(|bearer, _, _| bearer.rlc = RlcConfig::TM),
                "acknowledged or unacknowledged on both legs",
            ),
            (
                error(|bearer, _, _| bearer.rlc = RlcConfig::NR_UM),
                "one mode on both legs",
            ),
            (
                error(|_, _, ue| ue.pscell = None),
                "the first and the second of two",
            ),
            (error(|_, split, _| split.leg = None), "two to four"),
            (
                error(|_, split, _| split.carriers = over(&[1, 2, 3])),
                "two to four",
            ),
            (
                error(|_, split, _| split.carriers = over(&[0])),
                "secondary cells of the UE",
            ),
            (
                error(|_, split, _| split.carriers = over(&[2, 2])),
                "each cell once: copies go over carriers of their own",
            ),
            (
                error(|_, split, _| {
                    split.carriers = over(&[1]);
                    split.duplicates = [false; 2];
                }),
                "duplication: legs over carriers have no other use",
            ),
            (
                error(|_, split, ue| {
                    split.carriers = over(&[1]);
                    ue.aggregation.has_uplink = false;
                }),
                "secondary cells with uplink",
            ),
            (
                error(|_, split, _| {
                    (split.leg, split.primary) = (None, 1);
                    split.carriers = over(&[1]);
                }),
                "leg 0 or 1 that is there",
            ),
        ] {
            assert!(found.contains(expected), "{expected}: {found}");
        }
        assert_eq!(error(|_, _, _| {}), "");
        assert_eq!(error(|_, split, _| split.carriers = over(&[1, 3])), "");
        assert_eq!(
            error(|_, split, _| {
                split.leg = None;
                split.carriers = over(&[3, 2, 1]);
            }),
            ""
        );
    }

    #[test]
    fn each_further_leg_has_a_number_and_a_cell() {
        let legs = over(&[7, 3]);
        assert_eq!(legs.numbers().collect::<Vec<_>>(), [2, 3]);
        assert_eq!(
            [7, 3, 4].map(|cell| legs.rlc_in(CellId(cell))),
            [Some(2), Some(3), None]
        );
        assert_eq!(CarrierLegs::new(&[CellId(1); 4]), None);
    }
}
