//! Sources of interference: the downlink of other cells, and cross-link interference. Cross-link
//! interference arises where cells switch from downlink to uplink at different symbols.
//!
//! Between base stations, the path loss is the line-of-sight path loss of the disturbed cell's
//! model. Between UEs, it is the mean over line of sight and NLOS, weighted by probability. Neither
//! path loss includes shadowing or fading. Each beam keeps the direction of its last use.

use super::history::{Histories, History, Means};
use super::{Air, AirCell, AirLeg, SinrPurpose};
use crate::antenna::{Angles, Antenna};
use crate::channel::path_loss::{Condition, Ends};
use crate::config::{LegId, Sharing};
use fadeout_core::math::from_db;
use fadeout_core::{CellId, Point, Span};
use std::ops::Range;

/// Transmissions of UEs, for cross-link interference.
#[derive(Debug)]
pub(super) struct CrossLink {
    /// Share of the band and slot that the UEs of each cell use.
    shares: Histories,
    /// Transmit power per resource block in mW of each [`LegId`], averaged over band and slot.
    sent: Vec<History>,
}

/// Downlinks of all cells as sources of interference. Each report reads all cells of a carrier.
#[derive(Debug)]
pub(super) struct Downlinks {
    cells: Vec<Downlink>,
    /// Share of the band used for data.
    shares: Histories,
    /// Means at the latest link evaluations, in a ring buffer, and the index of the next entry.
    stored: (Vec<Means>, usize),
}

/// Constant properties of a cell's downlink.
#[derive(Debug)]
struct Downlink {
    slot: Span,
    bandwidth_hz: f64,
    power_mw: f64,
    /// Share of the band that is always in use, without simulated data.
    background_load: f64,
}

impl Downlinks {
    pub(super) fn new(cells: &[AirCell]) -> Downlinks {
        let downlink = |cell: &AirCell| Downlink {
            slot: cell.frame.slot(),
            bandwidth_hz: cell.levels.bandwidth_hz,
            power_mw: cell.levels.power_mw,
            background_load: cell.config.background_load,
        };
        Downlinks {
            cells: cells.iter().map(downlink).collect(),
            shares: Histories::new(cells.len()),
            stored: (Vec::new(), 0),
        }
    }

    /// Stores the present means. Only the latest `most` means remain stored.
    pub(super) fn store_means(&mut self, most: usize) {
        let (kept, next) = &mut self.stored;
        if kept.is_empty() {
            kept.resize(most, self.shares.means().clone());
        }
        kept[*next].clone_from(self.shares.means());
        *next = (*next + 1) % most;
    }

    /// Returns the mean share of the band that a cell sends on, as of `slot`. If `back` is zero,
    /// uses the present means. Otherwise uses the means stored `back` times before the latest.
    #[inline]
    pub(super) fn mean_share(&self, cell: CellId, slot: u64, back: usize) -> f64 {
        let mean = match back {
            0 => self.shares.mean(cell, slot),
            _ => {
                let (kept, next) = &self.stored;
                kept[(*next + 2 * kept.len() - 1 - back) % kept.len()].value_at(cell, slot)
            }
        };
        self.cells[cell.index()].background_load + mean
    }

    /// Returns the interference power in mW from a cell in a band of `own_hz`. The cell sends on
    /// the share `share` of its own band.
    #[inline]
    pub(super) fn received_mw(&self, (cell, own_hz): (CellId, f64), gain: f64, share: f64) -> f64 {
        let other = &self.cells[cell.index()];
        let received_mw = other.power_mw * gain * share;
        if other.bandwidth_hz > own_hz {
            // Only this part of the wider interferer's power falls into the disturbed band.
            return received_mw * (own_hz / other.bandwidth_hz);
        }
        received_mw
    }

    /// Records that a cell sends data on a share of its band.
    pub(super) fn on_sent(&mut self, cell: CellId, slot: u64, share: f64) {
        let share = match self.cells[cell.index()].background_load {
            0.0 => share,
            load => share.min(1.0 - load - self.shares.value_at(cell, slot)),
        };
        self.shares.add(cell, slot, share);
        // The shares of one slot add up to at most one, except for rounding errors.
        debug_assert!(
            self.share_at(cell, slot) <= 1.0 + 1e-9,
            "{} of slot {slot} is sent in",
            self.share_at(cell, slot)
        );
    }

    /// Returns the share of a slot that a cell sends on.
    fn share_at(&self, cell: CellId, slot: u64) -> f64 {
        self.cells[cell.index()].background_load + self.shares.value_at(cell, slot)
    }
}

/// Number of slots that a report averages over.
const REPORT_SLOTS: u64 = 32;

/// Part of a slot, from 0 at its start to 1 at its end.
#[derive(Debug, Clone, Copy, PartialEq)]
struct SlotPart {
    from: f64,
    to: f64,
}

impl SlotPart {
    fn length(self) -> f64 {
        (self.to - self.from).max(0.0)
    }

    /// Returns the share of this part that overlaps `other`.
    fn share_within(self, other: SlotPart) -> f64 {
        let both = SlotPart {
            from: self.from.max(other.from),
            to: self.to.min(other.to),
        };
        both.length() / self.length()
    }
}

impl CrossLink {
    pub(super) fn new(cells: usize) -> CrossLink {
        CrossLink {
            shares: Histories::new(cells),
            sent: Vec::new(),
        }
    }

    /// Adds the history of a new leg.
    pub(super) fn connect(&mut self) {
        self.sent.push(History::new());
    }

    /// Records that a UE sends on a share of the band and of the slot.
    pub(super) fn on_sent(
        &mut self,
        (leg, cell): (LegId, CellId),
        slot: u64,
        block_power_mw: f64,
        share: f64,
    ) {
        self.shares.add(cell, slot, share);
        self.sent[leg.index()].add(slot, block_power_mw * share);
    }
}

impl AirCell {
    /// Returns the part of a slot that the downlink occupies, including control symbols.
    fn downlink_part(&self, slot: u64, share: f64) -> SlotPart {
        let symbols = f64::from(self.frame.symbols());
        let to = match self.config.sharing {
            Sharing::Time => f64::from(self.config.timing.control_symbols) / symbols + share,
            Sharing::Frequency => f64::from(self.frame.format(slot).downlink) / symbols,
        };
        SlotPart {
            from: 0.0,
            to: to.min(1.0),
        }
    }

    /// Returns the part of a slot that the uplink occupies, without feedback symbols.
    fn uplink_part(&self, slot: u64, share: f64) -> SlotPart {
        let symbols = f64::from(self.frame.symbols());
        let to = 1.0 - f64::from(self.config.timing.feedback_symbols) / symbols;
        let from = match self.config.sharing {
            Sharing::Time => to - share,
            Sharing::Frequency => 1.0 - f64::from(self.frame.format(slot).uplink) / symbols,
        };
        SlotPart {
            from: from.max(0.0),
            to,
        }
    }

    /// Returns the share of the band that is in use at each instant of a transmission.
    fn density(&self, share: f64) -> f64 {
        match self.config.sharing {
            Sharing::Time => 1.0,
            Sharing::Frequency => share,
        }
    }
}

impl Air {
    /// Returns the linear downlink SINR in `slot` without fading.
    pub(super) fn downlink_mean(
        &self,
        leg: &AirLeg,
        serving: usize,
        carrier: &Range<usize>,
        slot: u64,
        purpose: SinrPurpose,
    ) -> f64 {
        let own = &self.cells[leg.cell.index()];
        let signal_mw = own.levels.power_mw * self.gains[serving];
        let mut disturbance_mw = own.levels.thermal_mw * self.ues[leg.ue.index()].noise_factor;
        let cells = self.spectrum.cells_on_carrier(leg.cell);
        let (before, after) = (
            0..serving - carrier.start,
            serving - carrier.start + 1..cells.len(),
        );
        for others in [before, after] {
            let gains = &self.gains[carrier.start + others.start..carrier.start + others.end];
            let heard = (&cells[others], gains, slot);
            disturbance_mw = match purpose {
                SinrPurpose::Transmission => {
                    self.received_mw(own, heard, disturbance_mw, Histories::value_at)
                }
                SinrPurpose::Report => {
                    self.received_mw(own, heard, disturbance_mw, Histories::mean)
                }
            };
        }
        if let Some(cross_link) = &self.cross_link
            && own.config.cross_link
        {
            disturbance_mw += mean_of(slot, purpose, |slot| {
                let share = self.downlinks.share_at(leg.cell, slot);
                let part = own.downlink_part(slot, share);
                (share > 0.0).then(|| self.sum_of_ues(cross_link, leg, slot, part))
            });
        }
        debug_assert!(
            signal_mw >= 0.0 && disturbance_mw > 0.0,
            "{signal_mw} mW in {disturbance_mw} mW"
        );
        signal_mw / disturbance_mw
    }

    /// Adds the power received from other cells in a slot of `own` to `sum_mw`. `gains` are the
    /// path gains of these cells. `share` returns the share of its band that a cell used.
    fn received_mw(
        &self,
        own: &AirCell,
        (cells, gains, slot): (&[CellId], &[f64], u64),
        mut sum_mw: f64,
        share: impl Fn(&Histories, CellId, u64) -> f64,
    ) -> f64 {
        let (own_slot, own_hz) = (own.frame.slot(), own.levels.bandwidth_hz);
        for (&cell, &gain) in cells.iter().zip(gains) {
            let other = &self.downlinks.cells[cell.index()];
            let mut slot = slot;
            if other.slot != own_slot {
                let frame = &self.cells[cell.index()].frame;
                slot = frame.slot_as_of(own_slot, slot);
            }
            let share = other.background_load + share(&self.downlinks.shares, cell, slot);
            if share > 0.0 {
                sum_mw += self.downlinks.received_mw((cell, own_hz), gain, share);
            }
        }
        sum_mw
    }

    /// Returns the interference power in mW from base stations on the carrier in an uplink
    /// resource block of a cell, averaged over band and symbols.
    pub(super) fn cross_link_mw(&self, cell: CellId, slot: u64, purpose: SinrPurpose) -> f64 {
        let own = &self.cells[cell.index()];
        match &self.cross_link {
            Some(cross_link) if own.config.cross_link => mean_of(slot, purpose, |slot| {
                let share = cross_link.shares.value_at(cell, slot);
                let part = own.uplink_part(slot, share);
                (share > 0.0).then(|| self.sum_of_bases(cell, slot, part))
            }),
            _ => 0.0,
        }
    }

    /// Returns the other cells on a cell's carrier.
    fn others_on_carrier(&self, cell: CellId) -> impl Iterator<Item = (CellId, &AirCell)> {
        let all = self.spectrum.cells_on_carrier(cell).iter();
        let others = all.filter(move |&&id| id != cell);
        others.map(|&id| (id, &self.cells[id.index()]))
    }

    fn sum_of_bases(&self, cell: CellId, slot: u64, part: SlotPart) -> f64 {
        let own = &self.cells[cell.index()];
        let received_mw = |(id, other): (CellId, &AirCell)| {
            let slot = other.frame.slot_as_of(own.frame.slot(), slot);
            let share = self.downlinks.share_at(id, slot);
            if share <= 0.0 {
                return 0.0;
            }
            let hit = part.share_within(other.downlink_part(slot, share)) * other.density(share);
            if hit <= 0.0 {
                return 0.0;
            }
            let per_hz = other.levels.power_mw / other.levels.bandwidth_hz;
            hit * per_hz * own.config.block().0 * between_bases(own, other)
        };
        self.others_on_carrier(cell).map(received_mw).sum()
    }

    /// Returns the interference power in mW from UEs of other cells in a leg's downlink.
    fn sum_of_ues(&self, cross_link: &CrossLink, leg: &AirLeg, slot: u64, part: SlotPart) -> f64 {
        let own = &self.cells[leg.cell.index()];
        let received_mw = |(id, other): (CellId, &AirCell)| {
            let slot = other.frame.slot_as_of(own.frame.slot(), slot);
            let share = cross_link.shares.value_at(id, slot);
            if share <= 0.0 {
                return 0.0;
            }
            // The recorded power is a mean over the slot, but UEs send in its uplink part only.
            let of_part = other.density(share) / share;
            let hit = part.share_within(other.uplink_part(slot, share)) * of_part;
            if hit <= 0.0 {
                return 0.0;
            }
            let legs = self.legs.iter().zip(&cross_link.sent);
            let heard = legs
                .filter(|(sender, _)| sender.cell == id)
                .map(|(sender, sent)| (sender, sent.value_at(slot)))
                .filter(|(_, mw)| *mw > 0.0)
                .map(|(sender, mw)| mw * self.between_ues(leg, sender));
            let per_hz = heard.sum::<f64>() / other.config.block().0;
            hit * per_hz * own.levels.bandwidth_hz
        };
        self.others_on_carrier(leg.cell).map(received_mw).sum()
    }

    /// Returns the power gain between two UEs. Zero if both are interfaces of one node.
    fn between_ues(&self, to: &AirLeg, from: &AirLeg) -> f64 {
        let own = &self.cells[to.cell.index()];
        let (to_ue, from_ue) = (&self.ues[to.ue.index()], &self.ues[from.ue.index()]);
        let (Some(here), Some(there)) = (to_ue.last_query.1, from_ue.last_query.1) else {
            return 0.0;
        };
        if to_ue.config.node == from_ue.config.node {
            return 0.0;
        }
        let (here, there) = (here.position, there.position);
        let channel = &own.config.channel;
        let ends = Ends::new(there, here, own.config.carrier);
        let los = channel.path_loss.state_probabilities(&ends).los;
        let gain = |condition| from_db(-channel.path_loss.loss_db(&ends, condition));
        let path = los * gain(Condition::Los) + (1.0 - los) * gain(Condition::Nlos);
        let sender = &self.cells[from.cell.index()].config;
        path * antenna_gain(&channel.ue_antenna, (here, there), Some(own.config.site))
            * antenna_gain(&sender.channel.ue_antenna, (there, here), Some(sender.site))
    }
}

/// Returns the value of `slot` for a transmission. For a report, returns the mean over the recent
/// slots that have a value.
fn mean_of(slot: u64, purpose: SinrPurpose, of: impl Fn(u64) -> Option<f64>) -> f64 {
    if purpose == SinrPurpose::Transmission {
        return of(slot).unwrap_or(0.0);
    }
    let slots = slot.saturating_sub(REPORT_SLOTS - 1)..=slot;
    let (count, sum) = slots
        .filter_map(of)
        .fold((0, 0.0), |(count, sum), mw| (count + 1, sum + mw));
    sum / f64::from(count.max(1))
}

/// Returns the power gain between two base stations, including the gains of their beams.
fn between_bases(to: &AirCell, from: &AirCell) -> f64 {
    let there = from.config.site + from.config.shift_toward(to.config.site);
    let here = to.config.site;
    let channel = &to.config.channel;
    let ends = Ends::new(there, here, to.config.carrier);
    let loss_db = channel.path_loss.loss_db(&ends, Condition::Los);
    let from_antenna = &from.config.channel.base_antenna;
    from_db(-loss_db.max(channel.minimum_loss_db))
        * antenna_gain(&channel.base_antenna, (here, there), to.beam_at)
        * antenna_gain(from_antenna, (there, here), from.beam_at)
}

/// Returns the gain from an antenna at `here` to `there`. Its beam points at `beam_at` or `there`.
fn antenna_gain(antenna: &Antenna, (here, there): (Point, Point), beam_at: Option<Point>) -> f64 {
    let toward = Angles::between(here, there);
    let beam = beam_at.map_or(toward, |at| Angles::between(here, at));
    from_db(antenna.gain_dbi(toward, beam))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::ChannelConfig;
    use crate::channel::fading::Fading;
    use crate::channel::path_loss::{FreeSpace, PathLoss};
    use crate::config::{CellConfig, UeConfig};
    use crate::phy::frame::Duplex;
    use crate::phy::mcs::McsTable;
    use crate::phy::tdd::{SpecialSlot, TddPattern};
    use crate::plan::LayeredScheme;
    use fadeout_core::math::to_db;
    use fadeout_core::random::Stream;
    use fadeout_core::{Hertz, Kinematics, Motion, NodeId, Time, UeId};

    const CARRIER: f64 = 28e9;
    const BLOCKS: u32 = 100;
    /// Positions in metres: two base stations, then the UE of each.
    const PLACES: [f64; 4] = [0.0, 900.0, 200.0, 600.0];

    struct Places;

    impl Motion for Places {
        fn kinematics_at(&mut self, node: NodeId, _time: Time) -> Kinematics {
            Kinematics::at_rest(Point::new(PLACES[2 + node.index()], 0.0, 0.0))
        }
    }

    fn cell(x: f64, duplex: Option<Duplex>) -> CellConfig {
        let site = Point::new(x, 0.0, 0.0);
        let cell = CellConfig::nr(site, Hertz(CARRIER), 3, BLOCKS).expect("a cell");
        CellConfig {
            cross_link: true,
            sharing: duplex.as_ref().map_or(cell.sharing, |_| Sharing::Frequency),
            duplex: duplex.unwrap_or(cell.duplex),
            channel: ChannelConfig {
                path_loss: PathLoss::FreeSpace(FreeSpace),
                shadowing: None,
                los_fading: Fading::None,
                nlos_fading: Fading::None,
                base_antenna: Antenna::default(),
                ue_antenna: Antenna::default(),
                ..cell.channel
            },
            ..cell
        }
    }

    fn air(cells: &[CellConfig]) -> Air {
        let ues = [0, 1].map(|node| UeConfig::new(NodeId(node)));
        let mut air = Air::new(cells, &ues, &[], 1).expect("cells");
        for n in [0, 1] {
            air.connect(LegId(n), UeId(n), CellId(n)).expect("a leg");
            air.refresh(LegId(n), Time::ZERO, &mut Places);
        }
        air
    }

    /// Returns the linear free-space gain between two of the positions in `PLACES`.
    fn gain(one: usize, other: usize) -> f64 {
        let wavelength = 299_792_458.0 / CARRIER;
        let distance = (PLACES[one] - PLACES[other]).abs();
        let amplitude = wavelength / (4.0 * std::f64::consts::PI * distance);
        amplitude * amplitude
    }

    fn scheme() -> LayeredScheme<'static> {
        LayeredScheme {
            mcs: &McsTable::Qam64.rows()[0],
            layers: 1,
        }
    }

    /// Returns the downlink and uplink SINR in dB of both cells.
    fn found(air: &Air, slot: u64, block_power_dbm: f64) -> [[f64; 2]; 2] {
        [0, 1].map(|n| {
            let extent = super::super::Extent::Whole;
            [
                air.downlink_sinr_db(LegId(n), slot, (scheme(), extent)),
                air.uplink_sinr_db(LegId(n), (slot, scheme()), block_power_dbm),
            ]
        })
    }

    #[test]
    fn a_background_load_is_always_there_and_data_comes_on_top_of_it() {
        let mut downlinks = Downlinks {
            cells: vec![Downlink {
                slot: Span::from_millis(1),
                bandwidth_hz: 1e7,
                power_mw: 1.0,
                background_load: 0.75,
            }],
            shares: Histories::new(1),
            stored: (Vec::new(), 0),
        };
        assert_eq!(downlinks.share_at(CellId(0), 5), 0.75);
        for slot in 0..2000 {
            downlinks.on_sent(CellId(0), slot, 0.2);
            downlinks.on_sent(CellId(0), slot, 0.2);
        }
        let share_at = |slot| downlinks.share_at(CellId(0), slot);
        assert_eq!((share_at(1999), share_at(2000)), (1.0, 0.75));
    }

    #[test]
    fn what_crosses_is_what_a_walk_through_the_symbols_finds() {
        let block_power_dbm = 0.0;
        let mut draw = Stream::new(1, "cross", 0);
        let mut hits = 0;
        for _ in 0..300 {
            let mut air = air(&[cell(PLACES[0], None), cell(PLACES[1], None)]);
            let config = air.cells[0].config.clone();
            let levels = air.cells[0].levels;
            let noise_mw = levels.thermal_mw * air.ues[0].noise_factor;
            // One symbol is for control, two are for feedback, and eleven carry data.
            let (control, feedback, symbols) = (1, 2, 14);
            let mut sent = [[0; 2]; 2];
            for (n, [down, up]) in sent.iter_mut().enumerate() {
                *down = 1 + draw.below(9);
                *up = 1 + draw.below(11 - *down);
                let share = |symbols: u64| symbols as f64 / 14.0;
                air.on_downlink_sent(CellId(n as u32), 500, share(*down));
                air.on_uplink_sent(LegId(n as u32), 500, block_power_dbm, share(*up));
            }
            let has_down = |n: usize, symbol: u64| symbol < control + sent[n][0];
            let has_up = |n: usize, symbol: u64| {
                let end = symbols - feedback;
                (end - sent[n][1]..end).contains(&symbol)
            };
            let found = found(&air, 500, block_power_dbm);
            for n in [0, 1] {
                let m = 1 - n;
                // UE m sends on the whole band. Base station m disturbs one uplink resource block.
                let ue_mw = from_db(block_power_dbm) * f64::from(BLOCKS);
                let base_mw = levels.power_mw / f64::from(BLOCKS);
                let mean = |mine: &dyn Fn(u64) -> bool, hit: &dyn Fn(u64) -> f64| {
                    let of: Vec<f64> = (0..symbols).filter(|&s| mine(s)).map(hit).collect();
                    of.iter().sum::<f64>() / of.len() as f64
                };
                let down_mw = mean(&|s| has_down(n, s), &|s| {
                    f64::from(u8::from(has_up(m, s))) * ue_mw * gain(2 + m, 2 + n)
                });
                let up_mw = mean(&|s| has_up(n, s), &|s| {
                    f64::from(u8::from(has_down(m, s))) * base_mw * gain(m, n)
                });
                hits += u32::from(down_mw > 0.0) + u32::from(up_mw > 0.0);
                // Interference from a transmission in the same direction is averaged over the slot.
                let same_down_mw = levels.power_mw * gain(m, 2 + n) * sent[m][0] as f64 / 14.0;
                let same_up_mw =
                    from_db(block_power_dbm) * gain(2 + m, n) * sent[m][1] as f64 / 14.0;
                let down = levels.power_mw * gain(n, 2 + n) / (noise_mw + same_down_mw + down_mw);
                let up = from_db(block_power_dbm) * gain(2 + n, n)
                    / (levels.block_noise_mw + same_up_mw + up_mw);
                for (found, expected) in found[n].into_iter().zip([down, up]) {
                    let expected = to_db(config.sinr_range.clip(expected));
                    assert!(
                        (found - expected).abs() < 1e-6,
                        "{found} {expected} {sent:?}"
                    );
                }
            }
        }
        assert!(hits > 200, "{hits}");
    }

    #[test]
    fn patterns_cross_where_they_differ_and_nowhere_else() {
        let pattern = |slots| {
            let pattern = TddPattern::new(slots, SpecialSlot::default(), 14);
            Some(Duplex::Tdd(pattern.expect("a pattern")))
        };
        let sinrs = |cross_link, other| {
            let mut cells = [
                cell(PLACES[0], pattern("DU")),
                cell(PLACES[1], pattern(other)),
            ];
            for cell in &mut cells {
                cell.cross_link = cross_link;
            }
            let mut air = air(&cells);
            // In the first cell, slot 500 is downlink and slot 501 is uplink. "UD" is the opposite.
            let turn = u64::from(other == "UD");
            for (n, turn) in [(0, 0), (1, turn)] {
                air.on_downlink_sent(CellId(n), 500 + turn, 0.5);
                air.on_uplink_sent(LegId(n), 501 - turn, 0.0, 0.5);
            }
            [found(&air, 500, 0.0)[0][0], found(&air, 501, 0.0)[0][1]]
        };
        assert_eq!(sinrs(true, "DU"), sinrs(false, "DU"), "they turn together");
        let (with, without) = (sinrs(true, "UD"), sinrs(false, "UD"));
        let noise_mw = 1.0 / from_db(without[0]) * from_db(40.0) * gain(0, 2);
        // The UE uses half of the band, in all symbols except the two feedback symbols.
        let received_mw = 12.0 / 14.0 * 0.5 * f64::from(BLOCKS) * gain(3, 2);
        let expected = to_db(from_db(40.0) * gain(0, 2) / (noise_mw + received_mw));
        assert!(
            without[0] < 29.9 && (with[0] - expected).abs() < 1e-6,
            "{with:?} {expected}"
        );
        assert!(with[1] < without[1] - 3.0, "{with:?} {without:?}");
    }
}
