//! A bearer on several legs: of two base stations, or over carriers of one.

use crate::rlc::RlcConfig;
use crate::user_plane::FlowControlConfig;
use fadeout_core::{Bytes, CellId};

pub use fadeout_core::agreed::MOST_LEGS;

/// Number of the first leg over further carriers.
const FIRST_CARRIER: u8 = 2;

/// Legs are numbered: 0 that of the primary cell, 1 that at the other base station, from 2 on those over further
/// carriers.
pub(crate) const LEG_NUMBERS: usize = MOST_LEGS + 1;

/// Secondary cells beside a bearer's first leg that are legs of their own: RLC is kept to each of them
/// (allowedServingCells). The first leg has the other cells of its cell group.
///
/// Standard: TS 38.300 §16.1.3; TS 38.331 §6.3.2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CarrierLegs {
    cells: [CellId; MOST_LEGS - 1],
    count: u8,
}

impl CarrierLegs {
    /// One leg for all cells of the group.
    pub const NONE: CarrierLegs = CarrierLegs {
        cells: [CellId(0); MOST_LEGS - 1],
        count: 0,
    };

    /// A leg in each of these cells; none where they are more than PDCP may have.
    pub fn of(cells: &[CellId]) -> Option<CarrierLegs> {
        let mut all = CarrierLegs::NONE;
        all.cells.get_mut(..cells.len())?.copy_from_slice(cells);
        all.count = cells.len() as u8;
        Some(all)
    }

    /// The cells.
    pub fn cells(&self) -> &[CellId] {
        &self.cells[..usize::from(self.count)]
    }

    /// The numbers of the legs.
    pub(crate) fn numbers(&self) -> std::ops::Range<u8> {
        FIRST_CARRIER..FIRST_CARRIER + self.count
    }

    /// The number of the leg that a cell has for itself.
    pub(crate) fn rlc_in(&self, cell: CellId) -> Option<u8> {
        let mut legs = self.numbers().zip(self.cells());
        legs.find(|it| *it.1 == cell).map(|it| it.0)
    }
}

/// Which leg of a split bearer a downlink packet takes, where both may have it: the choice of the base station with
/// PDCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LegChoice {
    /// That over which it is expected to arrive first.
    ExpectedDelay,
    /// The secondary one, as long as its node asks for more.
    Demand,
    /// As many bytes to each.
    Turns,
}

/// A bearer with further legs beside its own, whose base station hosts PDCP: a split bearer, or one that PDCP
/// duplicates over carriers.
///
/// Standard: TS 37.340 §3.1, §4.2.2; TS 38.300 §16.1.3.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SplitConfig {
    /// Number of the leg at the other base station among those of its UE; none where there is no other one.
    pub leg: Option<u8>,
    /// Legs over carriers, whose RLC is as the bearer's.
    pub carriers: CarrierLegs,
    /// RLC on the leg at the other base station at both ends, of the generation of its cell; in the same mode as on the first. All legs share the
    /// first one's buffer, at PDCP.
    pub rlc: RlcConfig,
    /// pdcp-SN-Size for the further leg: that of the bearer.
    pub pdcp_sn_bits: u8,
    /// Number of the leg of primaryPath.
    ///
    /// Standard: TS 38.331 §6.3.2.
    pub primary: u8,
    /// What has to wait for the leg to be used that is not the primary one: ul-DataSplitThreshold, and the same for
    /// the downlink, which is the base station's choice. By direction; `None` is infinity.
    ///
    /// Standard: TS 38.323 §5.2.1.
    pub thresholds: [Option<Bytes>; 2],
    /// Which leg takes a downlink packet.
    pub choice: LegChoice,
    /// Directions in which each PDU goes to all legs (pdcp-Duplication). Nothing waits for a threshold in these.
    ///
    /// Standard: TS 38.331 §6.3.2; TS 38.323 §5.11.
    pub duplicates: [bool; 2],
    /// Flow control between the base stations.
    pub flow_control: FlowControlConfig,
}

impl SplitConfig {
    /// RLC of a leg: what waits does so at PDCP, and COUNTs go to both legs, so that no gap can be closed.
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

    /// What is wrong with a bearer of a UE with a PSCell and three secondary cells.
    fn error(change: impl FnOnce(&mut BearerConfig, &mut SplitConfig, &mut UeConfig)) -> String {
        let mut ue = UeConfig::new(NodeId(0));
        ue.serving = Serving::Cell(CellId(0));
        ue.pscell = Some(CellId(9));
        ue.aggregation = Aggregation::of(&[CellId(1), CellId(2), CellId(3)]).expect("few enough");
        ue.aggregation.has_uplink = true;
        let (mut bearer, mut split) = (BearerConfig::nr(UeId(0)), split());
        change(&mut bearer, &mut split, &mut ue);
        bearer.split = Some(split);
        let checked = check_bearer(0, &bearer, (Some(&ue), 1));
        checked.map_or_else(|error| error.to_string(), |()| String::new())
    }

    fn over(cells: &[u32]) -> CarrierLegs {
        let cells: Vec<CellId> = cells.iter().map(|&cell| CellId(cell)).collect();
        CarrierLegs::of(&cells).expect("few enough")
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
        assert_eq!(CarrierLegs::of(&[CellId(1); 4]), None);
    }
}
