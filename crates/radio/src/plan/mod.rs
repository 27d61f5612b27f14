//! Constant properties of a cell, computed from its configuration: its frame, its resources, and
//! the uplink slots that each slot grants.

mod measurement;
mod reports;
mod resources;
mod stretched;
mod sub_bands;

pub(crate) use measurement::{Measurement, wideband_quality};
pub(crate) use resources::{LayeredScheme, Resources, split_db};
pub use stretched::StretchedPeriod;
pub(crate) use sub_bands::{BandCqi, MOST_BAND_GAINS, SubBands};

use crate::config::{Adaptation, AirInterface, CellConfig, RadioError, Sharing};
use crate::mac::Occasions;
use crate::phy::PhyError;
use crate::phy::frame::Frame;
use crate::phy::link_adaptation::LinkAdaptation;
use crate::phy::numerology::{CyclicPrefix, Numerology};
use crate::phy::overhead::{SSB_RESOURCE_BLOCKS, SSB_SYMBOLS, common_multiple};
use crate::phy::timing::Timing;
use crate::wire::BufferStatus;
use fadeout_core::{CellId, Direction};

/// Constant properties of a cell.
#[derive(Debug)]
pub(crate) struct CellPlan {
    pub id: CellId,
    pub config: CellConfig,
    pub frame: Frame,
    pub down: Resources,
    pub up: Resources,
    /// Sub-bands for which UEs report a CQI. `None` if UEs report one CQI for the whole band.
    pub sub_bands: Option<SubBands>,
    /// Opportunities for scheduling requests.
    pub requests: Occasions,
    /// Occasions of configured grants. `None` if the cell has no configured grants.
    pub grants: Option<Occasions>,
    phases: Vec<SlotPhase>,
}

/// Number of symbols of a slot for data. In NR, this number excludes symbols of control and
/// feedback channels. In LTE it includes them, because LTE's transport block sizes already account
/// for these channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct DataSymbols {
    /// Number of downlink symbols of a slot in which no uplink data is scheduled.
    pub down: u8,
    /// Number of uplink symbols of a slot in which no downlink data is scheduled.
    pub up: u8,
    /// Maximum number of data symbols of both directions together.
    pub both: u8,
}

impl DataSymbols {
    /// Returns the number of symbols that either direction may use.
    pub(crate) fn shared(self) -> u8 {
        self.down + self.up - self.both
    }
}

/// Symbols and grant timing of one slot of the period.
#[derive(Debug, Clone)]
struct SlotPhase {
    symbols: DataSymbols,
    /// Symbols at the beginning of the slot that carry no data.
    before_data: u8,
    /// Downlink units that reference signals occupy, if UEs share the band in frequency.
    taken_units: u32,
    /// Number of earlier slots in the period with uplink data.
    uplink_before: u32,
    /// Uplink slots that this slot grants, as numbers of slots after this slot.
    targets: Vec<u64>,
    /// Number of slots from this slot to the first slot that grants uplink data. Zero if this slot
    /// grants uplink data.
    to_granting: u64,
}

/// Maximum number of uplink slots that one slot grants. In a pattern with more consecutive uplink
/// slots, the other uplink slots stay unused.
const MOST_TARGETS: usize = 32;

/// Returns the format of the buffer status reports of LTE or NR.
pub(crate) fn status_format(air: AirInterface) -> BufferStatus {
    match air {
        AirInterface::Lte { .. } => BufferStatus::Lte,
        AirInterface::Nr { .. } => BufferStatus::Nr,
    }
}

/// Returns the frame structure of a cell.
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
        config.overhead.validate(&frame).map_err(error)?;
        let period = slots_period(&config, &frame);
        let resources = |direction| {
            let data_symbols: Vec<u8> = (0..period)
                .map(|slot| data_symbols(&config, &frame, slot))
                .map(|symbols| match direction {
                    Direction::Downlink => symbols.down,
                    Direction::Uplink => symbols.up,
                })
                .filter(|&symbols| symbols > 0)
                .collect();
            let (slot, symbols) = (frame.slot(), frame.symbols());
            Resources::new(&config, direction, slot, symbols, &data_symbols).map_err(error)
        };
        let down = resources(Direction::Downlink)?;
        let up = resources(Direction::Uplink)?;
        let phases = phases(
            &config,
            &frame,
            (period, down.units_of(SSB_RESOURCE_BLOCKS)),
        );
        Ok(CellPlan {
            id,
            requests: request_occasions(config.requests.period, &config.timing, &frame),
            grants: grant_occasions(&config, &frame, period),
            frame,
            sub_bands: SubBands::new(&config, down.group()),
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

    /// Returns the bytes that the highest MCS carries in a slot.
    pub(crate) fn largest_block(&self) -> u64 {
        let rate = self.config.peak_rate().as_bytes_per_sec_f64();
        (rate * self.frame.slot().as_secs_f64()) as u64
    }

    /// Returns the bytes of the largest transport block of a direction with MCS number `scheme` on
    /// at most `units` units. The block is in the slot with the most symbols.
    pub(crate) fn most_bytes(&self, direction: Direction, scheme: usize, units: u32) -> u32 {
        let resources = self.resources(direction);
        let of_slot = |slot| {
            let symbols = match direction {
                Direction::Downlink => self.data_symbols(slot).down,
                Direction::Uplink => self.data_symbols(slot).up,
            };
            resources.bytes(symbols, scheme, units.min(resources.units(symbols)))
        };
        (0..self.frame_period()).map(of_slot).max().unwrap_or(0)
    }

    /// Returns the payload bytes of the largest transport block that a UE of the cell can get in a
    /// direction. `given_db` is the UE's SINR if that SINR is constant. Returns zero if that SINR
    /// is out of range.
    pub(crate) fn largest_room(&self, direction: Direction, given_db: Option<f64>) -> u32 {
        let resources = self.resources(direction);
        let most = |scheme| self.most_bytes(direction, scheme, u32::MAX);
        let bytes = match (resources.adaptation(), &self.config.adaptation, given_db) {
            (Some(adaptation), Adaptation::Reports(reports), Some(sinr_db)) => {
                let highest_db = reports.outer_loop.range_db.1;
                let of_rank = |(rank, &layers): (u8, &u32)| {
                    let cqi = adaptation.cqi(sinr_db - split_db(layers));
                    let mcs = adaptation.scheme(cqi, highest_db)?;
                    Some(most(resources.position(&mcs, rank)))
                };
                let ranks = (0_u8..).zip(resources.ranks());
                ranks.filter_map(of_rank).max().unwrap_or(0)
            }
            (Some(adaptation), Adaptation::FixedScheme { .. }, _) => {
                let scheme = adaptation.scheme(0, 0.0);
                scheme.map_or(0, |mcs| most(resources.position(&mcs, 0)))
            }
            _ => resources.schemes().map(most).max().unwrap_or(0),
        };
        match direction {
            Direction::Downlink => bytes,
            Direction::Uplink => self.room_without_report(bytes),
        }
    }

    /// Returns the payload bytes of an uplink transport block of `bytes`, without its buffer status
    /// report.
    pub(crate) fn room_without_report(&self, bytes: u32) -> u32 {
        bytes.saturating_sub(status_format(self.config.air).size())
    }

    /// Returns the symbols for data in `slot`.
    #[inline]
    pub(crate) fn data_symbols(&self, slot: u64) -> DataSymbols {
        self.phase(slot).symbols
    }

    /// Returns the first symbol for downlink data in `slot`, and the number of units for data.
    /// `symbols` is the number of downlink symbols.
    #[inline]
    pub(crate) fn downlink_room(&self, slot: u64, symbols: u8) -> (u8, u32) {
        let phase = self.phase(slot);
        let units = self.down.units(symbols);
        (phase.before_data, units.saturating_sub(phase.taken_units))
    }

    #[inline]
    fn phase(&self, slot: u64) -> &SlotPhase {
        match &self.phases[..] {
            [always] => always,
            phases => &phases[(slot % phases.len() as u64) as usize],
        }
    }

    /// Returns the number of symbols for uplink data in `slot`, if the slot has no downlink data.
    pub(crate) fn uplink_symbols(&self, slot: u64) -> u8 {
        self.data_symbols(slot).up
    }

    /// Returns true if the scheduler divides slots between the directions.
    pub(crate) fn divides_slots(&self) -> bool {
        self.phases.iter().any(|phase| phase.symbols.shared() > 0)
    }

    /// Returns the fraction of a whole slot and band that `units` occupy.
    pub(crate) fn share(&self, direction: Direction, units: u32) -> f64 {
        let all = self.resources(direction).units(self.frame.symbols()).max(1);
        f64::from(units) / f64::from(all)
    }

    /// Returns the downlink rate in bit/s of a UE that is alone in the cell. The rate is that of
    /// the MCS that a UE reports at this SINR.
    pub(crate) fn downlink_rate(&self, sinr_db: f64) -> f64 {
        let Some(adaptation) = self.down.adaptation() else {
            return self.config.peak_rate().as_bits_per_sec() as f64;
        };
        let (cqi, rank) = self.down.report(|adaptation: &LinkAdaptation, layers| {
            adaptation.quality(sinr_db - split_db(layers))
        });
        let Some(mcs) = adaptation.scheme(cqi, 0.0) else {
            return 0.0;
        };
        let scheme = self.down.position(&mcs, rank);
        let carried = self.phases.iter().map(|phase| {
            let symbols = phase.symbols.down;
            let units = self.down.units(symbols).saturating_sub(phase.taken_units);
            f64::from(self.down.bytes(symbols, scheme, units)) * 8.0
        });
        carried.sum::<f64>() / self.phases.len() as f64 / self.frame.slot().as_secs_f64()
    }

    /// Returns the uplink slots that `slot` grants.
    pub(crate) fn targets(&self, slot: u64) -> impl Iterator<Item = u64> + use<> {
        let phase = &self.phases[(slot % self.phases.len() as u64) as usize];
        // The distances to the granted slots are copied, so that the iterator does not borrow the
        // cell. No distance exceeds one period.
        let mut offsets = [0_u64; MOST_TARGETS];
        let count = phase.targets.len().min(MOST_TARGETS);
        offsets[..count].copy_from_slice(&phase.targets[..count]);
        offsets
            .into_iter()
            .take(count)
            .map(move |offset| slot + offset)
    }

    /// Returns the first slot, not before `slot`, that can grant an uplink slot.
    pub(crate) fn granting_from(&self, slot: u64) -> u64 {
        slot + self.phases[(slot % self.phases.len() as u64) as usize].to_granting
    }

    /// Returns the first slot, not before `slot`, with symbols for downlink data.
    pub(crate) fn downlink_from(&self, slot: u64) -> u64 {
        let symbols = match self.config.sharing {
            Sharing::Time => self.down.least_units() as u8,
            Sharing::Frequency => 1,
        };
        let least = self.config.timing.control_symbols + symbols;
        self.frame.downlink_from(slot, least)
    }

    /// Returns the first slot, not before `slot`, in which a direction can be scheduled.
    pub(crate) fn schedulable_from(&self, direction: Direction, slot: u64) -> u64 {
        match direction {
            Direction::Downlink => self.downlink_from(slot),
            Direction::Uplink => self.granting_from(slot),
        }
    }

    /// Returns the number of slots after which the pattern of uplink and downlink repeats.
    pub(crate) fn frame_period(&self) -> u64 {
        self.phases.len() as u64
    }

    /// Returns the number of units of uplink slot `slot` that the sub-band reports of `ues` UEs
    /// occupy. Reports are distributed evenly over the uplink slots of their period. On average,
    /// the units contain as many resource blocks as the reports need.
    pub(crate) fn report_units(&self, slot: u64, ues: usize) -> u32 {
        let (Some(bands), Adaptation::Reports(reports)) = (&self.sub_bands, self.config.adaptation)
        else {
            return 0;
        };
        let period = self.phases.len() as u64;
        let last = &self.phases[self.phases.len() - 1];
        let uplink = u64::from(last.uplink_before) + u64::from(last.symbols.up > 0);
        let index = slot / period * uplink + u64::from(self.phase(slot).uplink_before);
        // Mean number of units per uplink slot that reports occupy. The numerator is the number of
        // resource blocks of all reports. The denominator is the number of uplink slots times the
        // blocks per unit.
        let slots = reports.reporting.period.as_nanos() / self.frame.slot().as_nanos();
        let blocks = ues as u64 * u64::from(bands.report_blocks) * period;
        let groups = (slots.max(1) * uplink * u64::from(self.up.group())).max(1);
        let until = |index: u64| index * blocks / groups;
        (until(index + 1) - until(index)) as u32
    }

    /// Returns the number of slots after which an out-of-range UE with data is tried again.
    pub(crate) fn recheck_slots(&self) -> u64 {
        let recheck = self.config.recheck_after.as_nanos();
        recheck.div_ceil(self.frame.slot().as_nanos()).max(1)
    }
}

/// Returns the number of slots after which the formats of a cell's slots repeat.
fn slots_period(config: &CellConfig, frame: &Frame) -> u64 {
    common_multiple(frame.pattern_slots(), config.overhead.period(frame))
}

/// Returns the opportunities for scheduling requests, one every `period` slots.
fn request_occasions(period: u32, timing: &Timing, frame: &Frame) -> Occasions {
    let slots = 0..frame.pattern_slots();
    let usable = slots.map(|slot| timing.carries_request(frame, slot));
    Occasions::new(period, usable.collect())
}

/// Returns the occasions of the configured grant. Only slots with enough symbols for a transport
/// block are usable. The formats of slots repeat after `period`. `None` without a configured grant.
fn grant_occasions(config: &CellConfig, frame: &Frame, period: u64) -> Option<Occasions> {
    let grant = config.configured_grant?;
    let least = least_symbols(config);
    let usable = (0..period).map(|slot| data_symbols(config, frame, slot).up >= least);
    Some(Occasions::new(grant.period, usable.collect()))
}

/// Returns the minimum number of symbols of a transport block. One symbol suffices if UEs share the
/// band in frequency. With one beam at a time, DM-RS needs a second symbol.
fn least_symbols(config: &CellConfig) -> u8 {
    match config.sharing {
        Sharing::Time => 2,
        Sharing::Frequency => 1,
    }
}

fn data_symbols(config: &CellConfig, frame: &Frame, slot: u64) -> DataSymbols {
    let format = frame.format(slot);
    if let AirInterface::Lte { .. } = config.air {
        let whole = frame.symbols();
        // Special subframes have no PUSCH. If the downlink of a special subframe carries control
        // alone, it has no PDSCH.
        let down = match format.downlink {
            all if all == whole => all,
            few if few <= LTE_CONTROL_SYMBOLS => 0,
            some => some,
        };
        let up = if format.uplink == whole { whole } else { 0 };
        let both = down + up;
        return DataSymbols { down, up, both };
    }
    let (control, feedback) = (
        config.timing.control_symbols,
        config.timing.feedback_symbols,
    );
    let less = |symbols: u8, taken: u8| symbols.saturating_sub(taken);
    let taken = taken_symbols(config, frame, slot);
    if format.shared() == 0 {
        let down = less(format.downlink, control + taken);
        let up = less(format.uplink, feedback);
        let both = down + up;
        return DataSymbols { down, up, both };
    }
    // Control and feedback first use the symbols that the opposite direction cannot use.
    let (own_down, own_up) = (
        format.budget - format.uplink,
        format.budget - format.downlink,
    );
    let before = control + taken;
    DataSymbols {
        down: less(format.downlink, before + less(feedback, own_up)),
        up: less(format.uplink, feedback + less(before, own_down)),
        both: less(format.budget, before + feedback),
    }
}

/// Returns the number of downlink symbols of a slot that carry reference signals instead of data.
/// These signals are CSI-RS. With one beam at a time, synchronisation signal blocks also take
/// symbols, because they have beams of their own.
fn taken_symbols(config: &CellConfig, frame: &Frame, slot: u64) -> u8 {
    let ssb = match config.sharing {
        Sharing::Time => config.overhead.ssb_blocks(frame, slot) * SSB_SYMBOLS,
        Sharing::Frequency => 0,
    };
    ssb + config.overhead.csi_rs_symbols(frame, slot)
}

/// Number of PDCCH symbols in special subframes whose downlink carries control alone.
///
/// Standard: TS 36.213 §7.1.7.
const LTE_CONTROL_SYMBOLS: u8 = 3;

fn phases(config: &CellConfig, frame: &Frame, (period, ssb_units): (u64, u32)) -> Vec<SlotPhase> {
    // An uplink slot needs symbols for feedback and for data.
    let least = least_symbols(config);
    let has_data = |slot: u64| data_symbols(config, frame, slot).up >= least;
    let control = config.timing.control_symbols.max(1);
    let earliest = |slot: u64| {
        let times = config.timing.uplink(frame, slot, least);
        (times.data_slot..)
            .take(period as usize + 1)
            .find(|&slot| has_data(slot))
            .unwrap_or(times.data_slot)
    };
    // All periods are equal. The second period is used, so that no slot number becomes negative.
    let mut phases: Vec<SlotPhase> = (period..2 * period)
        .map(|slot| {
            let mut targets = Vec::new();
            if let Some(tdd) = config.timing.lte_tdd {
                targets.extend(tdd.granted(slot));
            } else if frame.format(slot).downlink >= control {
                let next = frame.downlink_from(slot + 1, control);
                targets.extend((earliest(slot)..earliest(next)).filter(|&slot| has_data(slot)));
            }
            let taken = taken_symbols(config, frame, slot);
            let has_ssb = config.overhead.ssb_blocks(frame, slot) > 0;
            SlotPhase {
                symbols: data_symbols(config, frame, slot),
                before_data: config.timing.control_symbols + taken,
                taken_units: match config.sharing {
                    Sharing::Frequency if has_ssb => ssb_units,
                    _ => 0,
                },
                uplink_before: 0,
                targets: targets.into_iter().map(|target| target - slot).collect(),
                to_granting: 0,
            }
        })
        .collect();
    let mut uplink = 0;
    for phase in &mut phases {
        phase.uplink_before = uplink;
        uplink += u32::from(phase.symbols.up > 0);
    }
    let grants: Vec<bool> = phases.iter().map(|p| !p.targets.is_empty()).collect();
    for (slot, phase) in phases.iter_mut().enumerate() {
        let distance = (0..grants.len()).find(|n| grants[(slot + n) % grants.len()]);
        phase.to_granting = distance.unwrap_or(0) as u64;
    }
    phases
}

#[cfg(test)]
mod tests;
