//! The consequences of a cell's configuration, which never change: its frame, its resources, and which
//! slot grants which.

mod measurement;
mod resources;

pub(crate) use measurement::{Measurement, wideband_cqi};
pub(crate) use resources::Resources;

use crate::config::{Adaptation, AirInterface, CellConfig, RadioError, Sharing};
use crate::phy::PhyError;
use crate::phy::frame::{Duplex, Frame};
use crate::phy::numerology::{CyclicPrefix, Numerology};
use crate::wire::BufferStatus;
use fadeout_core::{CellId, Direction};

/// A cell as everybody in it knows it.
#[derive(Debug)]
pub(crate) struct CellPlan {
    pub id: CellId,
    pub config: CellConfig,
    pub frame: Frame,
    pub down: Resources,
    pub up: Resources,
    phases: Vec<Phase>,
}

/// Where a slot lies in relation to grants.
#[derive(Debug, Clone)]
struct Phase {
    /// Uplink slots that are granted in this slot: distances from it.
    targets: Vec<u64>,
    /// Slots to the first one, this one included, that grants anything.
    to_granting: u64,
}

/// Most uplink slots that one slot grants; a pattern with more in a row loses the rest.
const MOST_TARGETS: usize = 32;

/// The buffer status reports of a generation.
pub(crate) fn status_format(air: AirInterface) -> BufferStatus {
    match air {
        AirInterface::Lte { .. } => BufferStatus::Lte,
        AirInterface::Nr { .. } => BufferStatus::Nr,
    }
}

/// The frame of a cell.
pub(crate) fn frame(config: &CellConfig) -> Result<Frame, PhyError> {
    match config.air {
        AirInterface::Lte { tti } => Frame::lte(tti, config.duplex.clone()),
        AirInterface::Nr { mu } => Numerology::new(mu, CyclicPrefix::Normal)
            .and_then(|numerology| Frame::nr(numerology, config.duplex.clone())),
    }
}

impl CellPlan {
    pub(crate) fn new(id: CellId, config: CellConfig) -> Result<CellPlan, RadioError> {
        let error = |error| RadioError::Phy {
            cell: id.index(),
            error,
        };
        let frame = frame(&config).map_err(error)?;
        let period = match &config.duplex {
            Duplex::Tdd(pattern) => pattern.slots().len() as u64,
            _ => 1,
        };
        let resources = |direction| {
            let data_symbols: Vec<u8> = (0..period)
                .map(|slot| data_symbols(&config, &frame, direction, slot))
                .filter(|&symbols| symbols > 0)
                .collect();
            let (slot, symbols) = (frame.slot(), frame.symbols());
            Resources::new(&config, direction, slot, symbols, &data_symbols).map_err(error)
        };
        let down = resources(Direction::Downlink)?;
        let up = resources(Direction::Uplink)?;
        let phases = phases(&config, &frame, period);
        Ok(CellPlan {
            id,
            frame,
            down,
            up,
            phases,
            config,
        })
    }

    pub(crate) fn resources(&self, direction: Direction) -> &Resources {
        match direction {
            Direction::Downlink => &self.down,
            Direction::Uplink => &self.up,
        }
    }

    /// Bytes that the highest scheme carries in a slot.
    pub(crate) fn largest_block(&self) -> u64 {
        let rate = self.config.peak_rate().as_bytes_per_sec_f64();
        (rate * self.frame.slot().as_secs_f64()) as u64
    }

    /// Bytes of the largest block of a direction with scheme number `scheme` on at most `units` units: that
    /// of the slot with the most room.
    pub(crate) fn most_bytes(&self, direction: Direction, scheme: usize, units: u32) -> u32 {
        let resources = self.resources(direction);
        let of_slot = |slot| {
            let symbols = self.data_symbols(direction, slot);
            resources.bytes(symbols, scheme, units.min(resources.units(symbols)))
        };
        (0..self.frame_period()).map(of_slot).max().unwrap_or(0)
    }

    /// Bytes for data in the largest block that a UE of the cell can get in a direction, at an SINR
    /// that is given or at any; none where that is out of range.
    pub(crate) fn largest_room(&self, direction: Direction, given_db: Option<f64>) -> u32 {
        let resources = self.resources(direction);
        let most = |scheme| self.most_bytes(direction, scheme, u32::MAX);
        let bytes = match (resources.adaptation(), &self.config.adaptation, given_db) {
            (Some(adaptation), Adaptation::Reports(reports), Some(sinr_db)) => {
                let highest_db = reports.outer_loop.range_db.1;
                let scheme = adaptation.scheme(adaptation.cqi(sinr_db), highest_db);
                scheme.map_or(0, |mcs| most(resources.position(&mcs)))
            }
            (Some(adaptation), Adaptation::FixedScheme { .. }, _) => {
                let scheme = adaptation.scheme(0, 0.0);
                scheme.map_or(0, |mcs| most(resources.position(&mcs)))
            }
            _ => resources.schemes().map(most).max().unwrap_or(0),
        };
        match direction {
            Direction::Downlink => bytes,
            Direction::Uplink => self.room_beside_report(bytes),
        }
    }

    /// Bytes for data in an uplink block of `bytes`, beside its buffer status report.
    pub(crate) fn room_beside_report(&self, bytes: u32) -> u32 {
        bytes.saturating_sub(status_format(self.config.air).size())
    }

    /// Symbols for data of one direction in `slot`, as if it had the slot alone.
    pub(crate) fn data_symbols(&self, direction: Direction, slot: u64) -> u8 {
        data_symbols(&self.config, &self.frame, direction, slot)
    }

    /// Symbols for uplink data in `slot`.
    pub(crate) fn uplink_symbols(&self, slot: u64) -> u8 {
        self.data_symbols(Direction::Uplink, slot)
    }

    /// Share of the band and of a slot that `units` are.
    pub(crate) fn share(&self, direction: Direction, units: u32) -> f64 {
        let all = self.resources(direction).units(self.frame.symbols()).max(1);
        f64::from(units) / f64::from(all)
    }

    /// Uplink slots that are granted in `slot`.
    pub(crate) fn targets(&self, slot: u64) -> impl Iterator<Item = u64> + use<> {
        let phase = &self.phases[(slot % self.phases.len() as u64) as usize];
        // At most one period of them, copied so that the cell may change meanwhile.
        let mut offsets = [0_u64; MOST_TARGETS];
        let count = phase.targets.len().min(MOST_TARGETS);
        offsets[..count].copy_from_slice(&phase.targets[..count]);
        offsets
            .into_iter()
            .take(count)
            .map(move |offset| slot + offset)
    }

    /// The first slot from `slot` on that can grant an uplink slot.
    pub(crate) fn granting_from(&self, slot: u64) -> u64 {
        slot + self.phases[(slot % self.phases.len() as u64) as usize].to_granting
    }

    /// The first slot from `slot` on with room for downlink data.
    pub(crate) fn downlink_from(&self, slot: u64) -> u64 {
        let symbols = match self.config.sharing {
            Sharing::Time => self.down.least_units() as u8,
            Sharing::Frequency => 1,
        };
        let least = self.config.timing.control_symbols + symbols;
        self.frame.downlink_from(slot, least)
    }

    /// The first slot from `slot` on in which a direction can be scheduled.
    pub(crate) fn schedulable_from(&self, direction: Direction, slot: u64) -> u64 {
        match direction {
            Direction::Downlink => self.downlink_from(slot),
            Direction::Uplink => self.granting_from(slot),
        }
    }

    /// Slots after which the pattern of uplink and downlink repeats.
    pub(crate) fn frame_period(&self) -> u64 {
        self.phases.len() as u64
    }

    /// Slots after which a UE with data that is out of range is tried again.
    pub(crate) fn recheck_slots(&self) -> u64 {
        let recheck = self.config.recheck_after.as_nanos();
        recheck.div_ceil(self.frame.slot().as_nanos()).max(1)
    }
}

/// Symbols of `slot` for data: without those of control and feedback channels, which LTE's sizes
/// account for themselves.
fn data_symbols(config: &CellConfig, frame: &Frame, direction: Direction, slot: u64) -> u8 {
    let format = frame.format(slot);
    let (control, feedback) = match config.air {
        AirInterface::Lte { .. } => (0, 0),
        AirInterface::Nr { .. } => (
            config.timing.control_symbols,
            config.timing.feedback_symbols,
        ),
    };
    match (&config.duplex, direction) {
        (Duplex::Flexible { .. }, _) => format.budget.saturating_sub(control + feedback),
        (_, Direction::Downlink) => format.downlink.saturating_sub(control),
        (_, Direction::Uplink) => format.uplink.saturating_sub(feedback),
    }
}

fn phases(config: &CellConfig, frame: &Frame, period: u64) -> Vec<Phase> {
    // Uplink slots need feedback's symbols and data's.
    let least = match config.sharing {
        Sharing::Time => 2,
        Sharing::Frequency => 1,
    };
    let has_data = |slot: u64| data_symbols(config, frame, Direction::Uplink, slot) >= least;
    let control = config.timing.control_symbols.max(1);
    let earliest = |slot: u64| {
        let times = config.timing.uplink(frame, slot, least);
        (times.data_slot..)
            .take(period as usize + 1)
            .find(|&slot| has_data(slot))
            .unwrap_or(times.data_slot)
    };
    // A period later everything repeats; start there so that nothing is before slot zero.
    let mut phases: Vec<Phase> = (period..2 * period)
        .map(|slot| {
            let mut targets = Vec::new();
            if frame.format(slot).downlink >= control {
                let next = frame.downlink_from(slot + 1, control);
                targets.extend((earliest(slot)..earliest(next)).filter(|&slot| has_data(slot)));
            }
            Phase {
                targets: targets.into_iter().map(|target| target - slot).collect(),
                to_granting: 0,
            }
        })
        .collect();
    let grants: Vec<bool> = phases.iter().map(|p| !p.targets.is_empty()).collect();
    for (slot, phase) in phases.iter_mut().enumerate() {
        let distance = (0..grants.len()).find(|n| grants[(slot + n) % grants.len()]);
        phase.to_granting = distance.unwrap_or(0) as u64;
    }
    phases
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::frame::{SpecialSlot, TddPattern};
    use fadeout_core::{Hertz, Point};

    fn plan(duplex: Duplex) -> CellPlan {
        let config = CellConfig {
            duplex,
            ..CellConfig::lte(Point::default(), Hertz(2e9), 50)
        };
        CellPlan::new(CellId(0), config).expect("a cell")
    }

    #[test]
    fn fdd_grants_one_slot_four_later() {
        let cell = plan(Duplex::Fdd);
        assert!(cell.targets(17).eq([21]));
        assert_eq!(cell.granting_from(17), 17);
    }

    #[test]
    fn the_largest_block_is_that_of_the_longest_slot_with_the_highest_scheme_there_can_be() {
        let (down, up) = (Direction::Downlink, Direction::Uplink);
        let pattern = TddPattern::lte(1, SpecialSlot::default()).expect("0 to 6");
        let tdd = plan(Duplex::Tdd(pattern));
        let highest = tdd.down.schemes().end - 1;
        assert_eq!(
            tdd.largest_room(down, None),
            tdd.down.bytes(14, highest, 17)
        );
        assert_eq!(tdd.most_bytes(down, 3, 5), tdd.down.bytes(14, 3, 5));
        // The report of LTE has two bytes.
        let up_most = tdd.up.schemes().map(|scheme| tdd.up.bytes(14, scheme, 17));
        assert_eq!(Some(tdd.largest_room(up, None) + 2), up_most.max());
        // Where the SINR is given the outer loop adds at most 10 dB, and CQI 0 stays what it is.
        let given = |sinr_db| tdd.largest_room(up, Some(sinr_db));
        assert!(given(-5.0) < given(0.0) && given(0.0) < tdd.largest_room(up, None));
        assert_eq!(given(-12.0), 0);
        let fixed = CellConfig {
            adaptation: Adaptation::FixedScheme {
                index: 4,
                table: crate::phy::mcs::McsTable::Qam64,
            },
            ..tdd.config.clone()
        };
        let fixed = CellPlan::new(CellId(0), fixed).expect("a cell");
        assert_eq!(
            fixed.largest_room(down, Some(-12.0)),
            fixed.down.bytes(14, 4, 17)
        );
    }

    #[test]
    fn every_uplink_slot_of_a_pattern_is_granted_once() {
        for configuration in 0..7 {
            let special = SpecialSlot::default();
            let pattern = TddPattern::lte(configuration, special).expect("0 to 6");
            let cell = plan(Duplex::Tdd(pattern));
            let mut targets: Vec<u64> = (20..120).flat_map(|slot| cell.targets(slot)).collect();
            targets.sort_unstable();
            let expected: Vec<u64> = (targets[0]..=targets[targets.len() - 1])
                .filter(|&slot| cell.uplink_symbols(slot) > 0)
                .collect();
            assert_eq!(targets, expected, "configuration {configuration}");
            for slot in 20..40 {
                let granting = cell.granting_from(slot);
                assert!(granting < slot + 10 && cell.targets(granting).next().is_some());
            }
        }
    }
}
