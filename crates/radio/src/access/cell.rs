//! A cell: its frame, its resources, and which slots it has to look at.

use super::{AirInterface, CellConfig, RadioError, Sharing};
use crate::channel::noise;
use crate::mac::resources::Resources;
use crate::mac::scheduler::{Scheduler, SchedulerKind};
use crate::phy::frame::{Duplex, Frame};
use crate::phy::numerology::{CyclicPrefix, Numerology};
use fadeout_core::math::from_db;
use fadeout_core::{Decibel, Direction, Hertz, Point, Time, UeId, Wake};
use std::collections::VecDeque;

/// One direction of a cell.
#[derive(Debug)]
pub(super) struct Half {
    pub resources: Resources,
    pub scheduler: Scheduler,
    /// UEs that may have something for a coming slot.
    pub active: Vec<UeId>,
}

/// An uplink slot that a UE may use.
#[derive(Debug, Clone, Copy)]
pub(super) struct Granted {
    pub slot: u64,
    pub ue: UeId,
    pub process: u8,
}

/// Where a slot lies in relation to grants.
#[derive(Debug, Clone)]
struct Phase {
    /// Uplink slots that are granted in this slot: distances from it.
    targets: Vec<u64>,
    /// Slots to the first one, this one included, that grants anything.
    to_granting: u64,
}

#[derive(Debug)]
pub(super) struct Cell {
    pub config: CellConfig,
    pub frame: Frame,
    pub down: Half,
    pub up: Half,
    /// Uplink slots given away, in order.
    pub grants: VecDeque<Granted>,
    pub wake: Wake,
    /// The next slot to look at is not before this one.
    pub first_slot: u64,
    phases: Vec<Phase>,
    /// Uplink units given away, by slot.
    uplink_used: Vec<(u64, u32)>,
    /// Units of the largest downlink block that is to be sent again and found no room.
    pub blocked_units: u32,
    /// Occasions of configured grants in each slot of their period.
    occasions: Vec<u32>,
    /// Share of the band that downlink data used.
    pub downlink_shares: History,
    /// Power in mW that UEs of other cells put into a resource block here, averaged over the band.
    pub uplink_interference: History,
    pub levels: Levels,
    /// Where its beam pointed when it was last looked at.
    pub beam_at: Option<Point>,
}

impl Cell {
    pub(super) fn new(index: usize, config: CellConfig, ues: usize) -> Result<Cell, RadioError> {
        let error = |error| RadioError::Phy { cell: index, error };
        let frame = match config.air {
            AirInterface::Lte { tti } => Frame::lte(tti, config.duplex.clone()),
            AirInterface::Nr { mu } => Numerology::new(mu, CyclicPrefix::Normal)
                .and_then(|numerology| Frame::nr(numerology, config.duplex.clone())),
        }
        .map_err(error)?;
        let period = match &config.duplex {
            Duplex::Tdd(pattern) => pattern.slots().len() as u64,
            _ => 1,
        };
        let half = |direction, kind: SchedulerKind| {
            let data_symbols: Vec<u8> = (0..period)
                .map(|slot| data_symbols(&config, &frame, direction, slot))
                .filter(|&symbols| symbols > 0)
                .collect();
            let (slot, symbols) = (frame.slot(), frame.symbols());
            Resources::new(&config, direction, slot, symbols, &data_symbols)
                .map(|resources| Half {
                    resources,
                    scheduler: kind.start(ues),
                    active: Vec::new(),
                })
                .map_err(error)
        };
        let down = half(Direction::Downlink, config.downlink_scheduler)?;
        let up = half(Direction::Uplink, config.uplink_scheduler)?;
        let phases = phases(&config, &frame, period);
        let occasions = config.configured_grant.map_or(0, |grant| grant.period);
        Ok(Cell {
            frame,
            down,
            up,
            grants: VecDeque::new(),
            wake: Wake::default(),
            first_slot: 0,
            phases,
            uplink_used: vec![(u64::MAX, 0); 256],
            beam_at: None,
            blocked_units: 0,
            occasions: vec![0; occasions as usize],
            downlink_shares: History::new(),
            uplink_interference: History::new(),
            levels: Levels::new(&config, mu_of(config.air)),
            config,
        })
    }

    pub(super) fn half(&self, direction: Direction) -> &Half {
        match direction {
            Direction::Downlink => &self.down,
            Direction::Uplink => &self.up,
        }
    }
    pub(super) fn half_mut(&mut self, direction: Direction) -> &mut Half {
        match direction {
            Direction::Downlink => &mut self.down,
            Direction::Uplink => &mut self.up,
        }
    }

    /// Numerology; zero in LTE.
    pub(super) fn mu(&self) -> u8 {
        mu_of(self.config.air)
    }

    /// Symbols for downlink data in `slot`: those that uplink grants have left.
    pub(super) fn downlink_symbols(&self, slot: u64) -> u8 {
        let symbols = data_symbols(&self.config, &self.frame, Direction::Downlink, slot);
        match self.config.duplex {
            Duplex::Flexible { .. } => symbols.saturating_sub(self.uplink_used(slot) as u8),
            _ => symbols,
        }
    }

    /// Symbols for uplink data in `slot`.
    pub(super) fn uplink_symbols(&self, slot: u64) -> u8 {
        data_symbols(&self.config, &self.frame, Direction::Uplink, slot)
    }

    /// Units that the uplink may still give to new data in `slot`.
    pub(super) fn uplink_units_left(&self, slot: u64) -> u32 {
        let all = self.up.resources.units(self.uplink_symbols(slot));
        let mut units = all;
        if matches!(self.config.duplex, Duplex::Flexible { .. }) && !self.down.active.is_empty() {
            // Both directions want the slot: half each, unless a downlink block that is to be
            // sent again needs more.
            units = (all / 2).min(all.saturating_sub(self.blocked_units));
        }
        units.saturating_sub(self.reserved(slot) + self.uplink_used(slot))
    }

    /// Units that it may still give to blocks that are sent again.
    pub(super) fn uplink_units_for_repetition(&self, slot: u64) -> u32 {
        let units = self.up.resources.units(self.uplink_symbols(slot));
        units.saturating_sub(self.reserved(slot) + self.uplink_used(slot))
    }

    /// Units kept for configured grants.
    fn reserved(&self, slot: u64) -> u32 {
        self.config.configured_grant.map_or(0, |grant| {
            self.occasions[(slot % u64::from(grant.period)) as usize] * grant.units
        })
    }

    pub(super) fn uplink_used(&self, slot: u64) -> u32 {
        let (at, used) = self.uplink_used[slot as usize % self.uplink_used.len()];
        if at == slot { used } else { 0 }
    }

    /// Gives away units of `slot`.
    pub(super) fn use_uplink(&mut self, slot: u64, units: u32) {
        let used = self.uplink_used(slot) + units;
        let index = slot as usize % self.uplink_used.len();
        self.uplink_used[index] = (slot, used);
    }

    /// Keeps an occasion of the configured grant free for a UE with this offset. False when there
    /// is none, or half of the slot is kept already (a quarter where it is shared with the
    /// downlink): the rest is for everybody else, and for blocks that are sent again.
    pub(super) fn reserve_occasion(&mut self, offset: u32) -> bool {
        let Some(grant) = self.config.configured_grant else {
            return false;
        };
        let parts = match self.config.duplex {
            Duplex::Flexible { .. } => 4,
            _ => 2,
        };
        let most = self.up.resources.units(self.frame.symbols()) / parts;
        let count = &mut self.occasions[offset as usize];
        let has_room = (*count + 1) * grant.units <= most;
        *count += u32::from(has_room);
        has_room
    }

    /// Puts a grant in its place in the order of slots.
    pub(super) fn push_grant(&mut self, granted: Granted) {
        let behind = self.grants.iter().rev();
        let behind = behind.take_while(|other| other.slot > granted.slot).count();
        self.grants.insert(self.grants.len() - behind, granted);
    }

    /// Uplink slots that are granted in `slot`.
    pub(super) fn targets(&self, slot: u64) -> impl Iterator<Item = u64> + use<> {
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
    pub(super) fn granting_from(&self, slot: u64) -> u64 {
        slot + self.phases[(slot % self.phases.len() as u64) as usize].to_granting
    }

    /// The first slot from `slot` on with room for downlink data.
    pub(super) fn downlink_from(&self, slot: u64) -> u64 {
        let least = self.config.timing.control_symbols + self.least_symbols();
        self.frame.downlink_from(slot, least)
    }

    fn least_symbols(&self) -> u8 {
        match self.config.sharing {
            Sharing::Time => self.down.resources.least_units() as u8,
            Sharing::Frequency => 1,
        }
    }

    /// Slots after which the pattern of uplink and downlink repeats.
    pub(super) fn frame_period(&self) -> u64 {
        self.phases.len() as u64
    }

    /// Makes the cell look at `slot`. Returns when to schedule its event and with which
    /// generation, unless an earlier one is pending.
    pub(super) fn need(&mut self, slot: u64) -> Option<(Time, u32)> {
        let at = self.frame.start_of(slot.max(self.first_slot));
        self.wake.arm(at).map(|generation| (at, generation))
    }
}

fn mu_of(air: AirInterface) -> u8 {
    match air {
        AirInterface::Lte { .. } => 0,
        AirInterface::Nr { mu } => mu,
    }
}

/// Most uplink slots that one slot grants; a pattern with more in a row loses the rest.
const MOST_TARGETS: usize = 32;

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

/// A quantity of each of the latest slots, zero where nothing was added, and its mean.
#[derive(Debug, Clone)]
pub(super) struct History {
    slots: Vec<(u64, f64)>,
    /// Mean over about a hundred slots, and as of which.
    mean: (u64, f64),
}

/// Slots that are remembered: more than the longest decoding time.
const REMEMBERED: usize = 64;
/// Averaging time of the mean, in slots.
const AVERAGING_SLOTS: f64 = 100.0;

impl History {
    fn new() -> History {
        History {
            slots: vec![(u64::MAX, 0.0); REMEMBERED],
            mean: (0, 0.0),
        }
    }

    /// Adds to the quantity of `slot`.
    pub(super) fn add(&mut self, slot: u64, value: f64) {
        let before = self.at(slot);
        self.slots[slot as usize % REMEMBERED] = (slot, before + value);
        let mean = self.mean(slot) + value / AVERAGING_SLOTS;
        self.mean = (self.mean.0.max(slot), mean);
    }

    /// The quantity of `slot`; zero when that is forgotten.
    pub(super) fn at(&self, slot: u64) -> f64 {
        let (at, value) = self.slots[slot as usize % REMEMBERED];
        if at == slot { value } else { 0.0 }
    }

    /// The mean as of `slot`.
    pub(super) fn mean(&self, slot: u64) -> f64 {
        let (at, mean) = self.mean;
        let idle = slot.saturating_sub(at) as f64 / AVERAGING_SLOTS;
        // (1 + x/4)^-4 is e^-x for small x, and needs no transcendental function.
        let quarter = 1.0 / (1.0 + idle / 4.0);
        let square = quarter * quarter;
        mean * square * square
    }
}

/// Powers and noise that do not change.
#[derive(Debug, Clone, Copy)]
pub(super) struct Levels {
    /// Occupied bandwidth.
    pub bandwidth_hz: f64,
    /// Transmitted power over all of it.
    pub power_mw: f64,
    /// Thermal noise over all of it, without a receiver's noise figure.
    pub thermal_mw: f64,
    /// Noise of the base station's receiver in one resource block.
    pub block_noise_mw: f64,
}

impl Levels {
    fn new(config: &CellConfig, mu: u8) -> Levels {
        let block_hz = 12.0 * 15e3 * f64::from(1_u32 << mu);
        let bandwidth_hz = block_hz * f64::from(config.resource_blocks);
        let noise_mw = |hz, figure| from_db(noise::power(Hertz(hz), figure).0);
        Levels {
            bandwidth_hz,
            power_mw: from_db(config.power.0),
            thermal_mw: noise_mw(bandwidth_hz, Decibel(0.0)),
            block_noise_mw: noise_mw(block_hz, config.noise_figure),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::frame::{SpecialSlot, TddPattern};

    fn cell(duplex: Duplex) -> Cell {
        let config = CellConfig {
            duplex,
            ..CellConfig::lte(Point::default(), Hertz(2e9), 50)
        };
        Cell::new(0, config, 1).expect("a cell")
    }

    #[test]
    fn fdd_grants_one_slot_four_later() {
        let cell = cell(Duplex::Fdd);
        assert!(cell.targets(17).eq([21]));
        assert_eq!(cell.granting_from(17), 17);
    }

    #[test]
    fn every_uplink_slot_of_a_pattern_is_granted_once() {
        for configuration in 0..7 {
            let special = SpecialSlot::default();
            let pattern = TddPattern::lte(configuration, special).expect("0 to 6");
            let cell = cell(Duplex::Tdd(pattern));
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

    #[test]
    fn grants_stay_in_the_order_of_their_slots() {
        let mut cell = cell(Duplex::Fdd);
        for slot in [5, 7, 6, 7, 3] {
            cell.push_grant(Granted {
                slot,
                ue: UeId(0),
                process: 0,
            });
        }
        let slots: Vec<u64> = cell.grants.iter().map(|granted| granted.slot).collect();
        assert_eq!(slots, [3, 5, 6, 7, 7]);
    }

    #[test]
    fn a_history_is_known_by_slot_and_fades_from_the_mean() {
        let mut history = History::new();
        for slot in 0..2000 {
            history.add(slot, 0.25);
            history.add(slot, 0.25);
        }
        assert_eq!(
            (history.at(1999), history.at(2000), history.at(3)),
            (0.5, 0.0, 0.0)
        );
        let mean = history.mean(1999);
        assert!((mean - 0.5).abs() < 0.01, "{mean}");
        assert!(history.mean(12_000) < 1e-4);
    }
}
