//! Signal, noise and interference between UEs and cells.
//!
//! A UE has a path to its cell and to every other cell of the same carrier. Its slow part, all but
//! the fading, is looked at again when it is used and has reached a certain age; the other cells'
//! paths, which only interfere, seldom. Interference counts what the other cells really sent in
//! the slot, at their paths' slow gain; reports average it over time.

use super::cell::Cell;
use super::{
    CellConfig, Env, FixedSinr, RadioAccess, RadioError, Serving, Shape, Sharing, UeConfig,
    UplinkPower,
};
use crate::channel::fading::MAX_SUB_BANDS;
use crate::channel::{ChannelConfig, Environment, LineOfSight, LinkChannel, LinkEnds, LinkKey};
use crate::phy::mcs::Mcs;
use crate::phy::power::OpenLoopPower;
use fadeout_core::math::{from_db, to_db};
use fadeout_core::{CellId, Decibel, Hertz, Kinematics, Motion, Point, Probe, Span, Time, UeId};

/// What a UE's SINR comes from.
#[derive(Debug)]
pub(super) enum Link {
    /// It is given.
    Fixed(FixedSinr),
    /// The paths to the cells that serve or disturb it.
    Paths(Vec<Path>),
}

/// The path between a UE and a cell.
#[derive(Debug)]
pub(super) struct Path {
    cell: CellId,
    channel: LinkChannel,
    /// Received by transmitted power without fading, in dB and linear.
    gain_db: f64,
    gain: f64,
    /// When the gain is looked at again.
    due_at: Time,
}

/// How often the gains of paths that only interfere are looked at.
const INTERFERING_PERIOD: Span = Span::from_millis(100);

/// The channels of a carrier, for all cells that describe it alike.
#[derive(Debug, Default)]
pub(super) struct Environments(Vec<(ChannelConfig, Environment)>);

impl Environments {
    fn of(&mut self, index: usize, cell: &Cell, seed: u64) -> Result<&mut Environment, RadioError> {
        let config = ChannelConfig {
            carrier: cell.config.carrier,
            bandwidth: Hertz(cell.levels.bandwidth_hz),
            ..cell.config.channel.clone()
        };
        let known = self.0.iter().position(|(known, _)| *known == config);
        let position = match known {
            Some(position) => position,
            None => {
                let error = |error| RadioError::Channel { cell: index, error };
                let environment = Environment::new(config.clone(), seed).map_err(error)?;
                self.0.push((config, environment));
                self.0.len() - 1
            }
        };
        Ok(&mut self.0[position].1)
    }
}

impl Link {
    /// The link of UE number `index`.
    pub(super) fn new(
        cells: &[Cell],
        index: usize,
        ue: &UeConfig,
        environments: &mut Environments,
        seed: u64,
    ) -> Result<Link, RadioError> {
        if let Some(sinr) = ue.fixed_sinr {
            return Ok(Link::Fixed(sinr));
        }
        let carrier_of = |cell: &Cell| cell.config.carrier;
        let mut paths = Vec::new();
        for (number, cell) in cells.iter().enumerate() {
            // A UE that knows its cell has no use for other carriers.
            if let Serving::Cell(serving) = ue.serving
                && carrier_of(&cells[serving.index()]) != carrier_of(cell)
            {
                continue;
            }
            let same_site = |other: &Cell| other.config.site == cell.config.site;
            let site = cells.iter().position(same_site).unwrap_or(number);
            let key = LinkKey {
                site: site as u32,
                cell: number as u32,
                ue: index as u32,
            };
            paths.push(Path {
                cell: CellId(number as u32),
                channel: environments.of(number, cell, seed)?.link(key),
                gain_db: f64::NEG_INFINITY,
                gain: 0.0,
                due_at: Time::ZERO,
            });
        }
        Ok(Link::Paths(paths))
    }

    /// The UE is served by `serving`: only cells on its carrier matter from now on.
    pub(super) fn keep_carrier(&mut self, cells: &[Cell], serving: CellId) {
        let carrier = cells[serving.index()].config.carrier;
        if let Link::Paths(paths) = self {
            paths.retain(|path| cells[path.cell.index()].config.carrier == carrier);
            // The serving cell's first, as it is used most.
            paths.sort_by_key(|path| path.cell != serving);
        }
    }

    fn gain_db(&self) -> f64 {
        match self {
            Link::Paths(paths) => paths[0].gain_db,
            Link::Fixed(_) => 0.0,
        }
    }
}

impl Path {
    /// Looks at the slow gain as of `at`.
    fn look<M: Motion>(&mut self, at: Time, ends: &Ends, cell: &Cell, motion: &mut M) {
        let site = cell.config.site;
        let mut link_ends = LinkEnds::new(Kinematics::at_rest(site), ends.ue);
        if cell.config.channel.line_of_sight == LineOfSight::Geometry {
            link_ends.is_los = Some(motion.is_clear(site, ends.ue.position));
        }
        // Beams of a path that only disturbs point at others.
        if let Some(serving) = ends.serving_site {
            link_ends.ue_beam_at = Some(serving);
            link_ends.base_beam_at = cell.beam_at;
        }
        self.gain_db = self.channel.large_scale_db(at, &link_ends);
        self.gain = from_db(self.gain_db);
    }

    /// The fading at `at`; that of the sub-bands goes into `gains`.
    pub(super) fn fade<'a>(&self, at: Time, gains: &'a mut [f32; MAX_SUB_BANDS]) -> Fade<'a> {
        match self.channel.sub_bands() {
            None => Fade::Flat(self.channel.fading_flat(at)),
            Some(sub_bands) => {
                let gains = &mut gains[..sub_bands];
                self.channel.fading(at, gains);
                Fade::Wideband(gains)
            }
        }
    }

    /// SINR in dB that counts for a block of scheme `scheme` when it is `mean` without fading.
    fn sinr_db(&self, cell: &CellConfig, at: Time, scheme: &Mcs, mean: f64) -> f64 {
        let sinr = match self.fade(at, &mut [0.0; MAX_SUB_BANDS]) {
            Fade::Flat(gain) => mean * gain,
            Fade::Wideband(gains) => cell.effective_sinr.effective(scheme, mean, gains),
        };
        to_db(cell.sinr_range.clip(sinr))
    }
}

/// Fading power gain, linear.
pub(super) enum Fade<'a> {
    /// The same over the band.
    Flat(f64),
    /// Of each sub-band.
    Wideband(&'a [f32]),
}

/// Where the UE is, and the cell that serves it if that is another one.
#[derive(Debug, Clone, Copy)]
struct Ends {
    ue: Kinematics,
    serving_site: Option<Point>,
}

/// Whether a SINR is of a transmission, with the interference of its slot, or for a report, with
/// the mean over time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Transmission,
    Report,
}

impl Cell {
    /// Linear SINR in `slot` of a UE that puts `block_power_dbm` into each resource block, without
    /// fading.
    pub(super) fn uplink_mean(
        &self,
        path: &Path,
        slot: u64,
        block_power_dbm: f64,
        purpose: Purpose,
    ) -> f64 {
        let interference_mw = match purpose {
            Purpose::Transmission => self.uplink_interference.at(slot),
            Purpose::Report => self.uplink_interference.mean(slot),
        };
        let disturbance_mw = self.levels.block_noise_mw + interference_mw;
        from_db(block_power_dbm) * path.gain / disturbance_mw
    }
}

impl RadioAccess {
    /// The cell for a UE that is served by the strongest: whose power it receives best, or with a
    /// given SINR the nearest.
    pub(super) fn strongest_cell<M: Motion, P: Probe>(
        &mut self,
        ue: UeId,
        env: &mut Env<'_, M, P>,
    ) -> CellId {
        let state = &mut self.ues[ue.index()];
        let ends = Ends {
            ue: env.motion.at(state.config.node, env.now),
            serving_site: None,
        };
        let mut best = (CellId(0), f64::NEG_INFINITY);
        for (index, cell) in self.cells.iter().enumerate() {
            let value = match &mut state.link {
                Link::Fixed(_) => -cell.config.site.distance_to(ends.ue.position),
                Link::Paths(paths) => {
                    let path = &mut paths[index];
                    path.look(env.now, &ends, cell, env.motion);
                    cell.config.power.0 + path.gain_db
                }
            };
            if value > best.1 {
                best = (CellId(index as u32), value);
            }
        }
        best.0
    }

    /// Looks at the gains of a UE's paths that are due. They are looked at on a grid of instants,
    /// so that the channel does not depend on when it is used.
    pub(super) fn refresh_paths<M: Motion, P: Probe>(&mut self, ue: UeId, env: &mut Env<'_, M, P>) {
        let state = &mut self.ues[ue.index()];
        let Link::Paths(paths) = &mut state.link else {
            return;
        };
        if env.now < paths[0].due_at {
            return;
        }
        let serving = paths[0].cell;
        let CellConfig {
            gain_period, site, ..
        } = self.cells[serving.index()].config;
        let nanos = env.now.as_nanos();
        let at = Time::from_nanos(nanos - nanos % gain_period.as_nanos());
        let mut ends = Ends {
            ue: env.motion.at(state.config.node, at),
            serving_site: None,
        };
        for path in paths {
            if env.now >= path.due_at {
                let is_serving = path.cell == serving;
                let period = if is_serving {
                    gain_period
                } else {
                    INTERFERING_PERIOD
                };
                path.look(at, &ends, &self.cells[path.cell.index()], env.motion);
                path.due_at = at.saturating_add(period);
            }
            ends.serving_site = Some(site);
        }
        self.cells[serving.index()].beam_at = Some(ends.ue.position);
    }

    /// SINR in dB of a downlink transmission in a slot with a scheme.
    pub(super) fn downlink_sinr_db<M: Motion, P: Probe>(
        &mut self,
        ue: UeId,
        (slot, scheme): (u64, usize),
        env: &mut Env<'_, M, P>,
    ) -> f64 {
        self.refresh_paths(ue, env);
        let paths = match &self.ues[ue.index()].link {
            Link::Fixed(sinr) => return sinr.downlink.0,
            Link::Paths(paths) => paths,
        };
        let cell = &self.cells[paths[0].cell.index()];
        let mean = self.downlink_mean(ue, paths, slot, Purpose::Transmission);
        let (at, scheme) = (
            cell.frame.start_of(slot),
            cell.down.resources.scheme(scheme),
        );
        paths[0].sinr_db(&cell.config, at, scheme, mean)
    }

    /// Linear SINR of the downlink in `slot`, without fading.
    pub(super) fn downlink_mean(
        &self,
        ue: UeId,
        paths: &[Path],
        slot: u64,
        purpose: Purpose,
    ) -> f64 {
        let serving = &self.cells[paths[0].cell.index()];
        let at = serving.frame.start_of(slot);
        let signal_mw = serving.levels.power_mw * paths[0].gain;
        let mut disturbance_mw = serving.levels.thermal_mw * self.ues[ue.index()].noise_factor;
        for path in &paths[1..] {
            let cell = &self.cells[path.cell.index()];
            let slot = cell.frame.slot_at(at);
            let share = match purpose {
                Purpose::Transmission => cell.downlink_shares.at(slot),
                Purpose::Report => cell.downlink_shares.mean(slot),
            };
            if share > 0.0 {
                // What of a wider carrier falls into this one.
                let overlap = (serving.levels.bandwidth_hz / cell.levels.bandwidth_hz).min(1.0);
                disturbance_mw += cell.levels.power_mw * path.gain * share * overlap;
            }
        }
        signal_mw / disturbance_mw
    }

    /// SINR in dB of an uplink transmission in a slot with a scheme and `block_power_dbm` in each
    /// resource block.
    pub(super) fn uplink_sinr_db<M: Motion, P: Probe>(
        &mut self,
        ue: UeId,
        (slot, scheme): (u64, usize),
        block_power_dbm: f64,
        env: &mut Env<'_, M, P>,
    ) -> f64 {
        self.refresh_paths(ue, env);
        let path = match &self.ues[ue.index()].link {
            Link::Fixed(sinr) => return sinr.uplink.0,
            Link::Paths(paths) => &paths[0],
        };
        let cell = &self.cells[path.cell.index()];
        let mean = cell.uplink_mean(path, slot, block_power_dbm, Purpose::Transmission);
        let (at, scheme) = (cell.frame.start_of(slot), cell.up.resources.scheme(scheme));
        path.sinr_db(&cell.config, at, scheme, mean)
    }

    /// Power in dBm that a UE puts into each resource block of a transmission.
    pub(super) fn uplink_block_power(&self, id: CellId, ue: UeId, shape: Shape) -> f64 {
        let resources = &self.cells[id.index()].up.resources;
        let blocks = resources
            .occupied(shape.symbols, shape.units)
            .resource_blocks;
        self.block_power(id, ue, blocks)
    }

    fn block_power(&self, id: CellId, ue: UeId, blocks: u32) -> f64 {
        let state = &self.ues[ue.index()];
        let cell = &self.cells[id.index()];
        let total = match self.open_loop(id, ue) {
            Some(control) => {
                let loss = Decibel(-state.link.gain_db());
                control.power(cell.mu(), blocks, loss).0
            }
            None => state.config.power.0,
        };
        total - to_db(f64::from(blocks))
    }

    fn open_loop(&self, id: CellId, ue: UeId) -> Option<OpenLoopPower> {
        match self.cells[id.index()].config.uplink_power {
            UplinkPower::Maximum => None,
            UplinkPower::OpenLoop { p0, alpha } => Some(OpenLoopPower {
                most: self.ues[ue.index()].config.power,
                target: p0,
                compensation: alpha,
            }),
        }
    }

    /// By how many dB the power in a resource block falls short of all in one, when a UE is given
    /// `units` units.
    pub(super) fn uplink_spread_db(&self, id: CellId, ue: UeId, symbols: u8, units: u32) -> f64 {
        if let Link::Fixed(_) = self.ues[ue.index()].link {
            return 0.0;
        }
        let resources = &self.cells[id.index()].up.resources;
        let blocks = resources.occupied(symbols, units).resource_blocks;
        self.block_power(id, ue, blocks) - self.ues[ue.index()].config.power.0
    }

    /// The most of `units` units that a UE's power suffices for.
    pub(super) fn affordable_units(&self, id: CellId, ue: UeId, symbols: u8, units: u32) -> u32 {
        let cell = &self.cells[id.index()];
        let link = &self.ues[ue.index()].link;
        let control = match (self.open_loop(id, ue), link, cell.config.sharing) {
            (Some(control), Link::Paths(_), Sharing::Frequency) => control,
            _ => return units,
        };
        let one = cell.up.resources.occupied(symbols, 1).resource_blocks;
        let available = cell.up.resources.occupied(symbols, units).resource_blocks;
        let blocks = control.affordable(cell.mu(), available, Decibel(-link.gain_db()));
        if blocks >= available {
            return units;
        }
        (blocks / one.max(1)).clamp(1, units.max(1))
    }

    /// A UE sends on a share of the band: the other cells of the carrier hear it.
    pub(super) fn on_uplink_power(
        &mut self,
        id: CellId,
        ue: UeId,
        slot: u64,
        block_power_dbm: f64,
        share: f64,
    ) {
        let Link::Paths(paths) = &self.ues[ue.index()].link else {
            return;
        };
        if paths.len() < 2 {
            return;
        }
        let at = self.cells[id.index()].frame.start_of(slot);
        let block_power_mw = from_db(block_power_dbm);
        for path in &paths[1..] {
            let cell = &mut self.cells[path.cell.index()];
            let slot = cell.frame.slot_at(at);
            let heard_mw = block_power_mw * path.gain * share;
            cell.uplink_interference.add(slot, heard_mw);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::RadioConfig;
    use super::*;
    use crate::channel::fading::Fading;
    use crate::channel::path_loss::{FreeSpace, PathLoss};
    use fadeout_core::{NodeId, NullProbe, PacketPool};

    struct At(f64);

    impl Motion for At {
        fn at(&mut self, _node: NodeId, _time: Time) -> Kinematics {
            Kinematics::at_rest(Point::new(self.0, 0.0, 0.0))
        }
    }

    fn two_cells() -> RadioAccess {
        let site = |x| Point::new(x, 0.0, 0.0);
        let cell = |x| CellConfig {
            channel: ChannelConfig {
                path_loss: PathLoss::FreeSpace(FreeSpace),
                shadowing: None,
                los_fading: Fading::None,
                nlos_fading: Fading::None,
                ..ChannelConfig::default()
            },
            ..CellConfig::lte(site(x), Hertz(2e9), 50)
        };
        let config = RadioConfig {
            cells: vec![cell(0.0), cell(1000.0)],
            ues: vec![UeConfig::new(NodeId(0))],
            bearers: Vec::new(),
        };
        RadioAccess::new(config, 1).expect("two cells")
    }

    fn sinr_at(access: &mut RadioAccess, x: f64, slot: u64) -> f64 {
        let (mut pool, mut out) = (PacketPool::new(), Vec::new());
        let mut motion = At(x);
        let mut env = Env {
            now: access.cells[0].frame.start_of(slot),
            motion: &mut motion,
            pool: &mut pool,
            out: &mut out,
            probe: &mut NullProbe,
        };
        if access.ues[0].cell.is_none() {
            access.on_attach(UeId(0), &mut env);
        }
        access.downlink_sinr_db(UeId(0), (slot, 0), &mut env)
    }

    #[test]
    fn the_strongest_cell_serves_and_the_other_disturbs_when_it_sends() {
        let mut access = two_cells();
        let alone = sinr_at(&mut access, 700.0, 0);
        assert_eq!(access.serving_cell(UeId(0)), Some(CellId(1)));
        // Free space: 46 dBm - 88.01 dB over 300 m; noise over 9 MHz with 9 dB: -95.46 dBm. That is
        // 53 dB, which no receiver makes use of.
        assert_eq!(alone, 30.0);
        access.cells[0].downlink_shares.add(500, 0.5);
        let disturbed = sinr_at(&mut access, 700.0, 500);
        // Far above noise: 20 log10(700 / 300) and 3 dB for half the band.
        assert!((disturbed - (7.36 + 3.01)).abs() < 0.01, "{disturbed}");
        assert_eq!(sinr_at(&mut access, 700.0, 501), alone);
    }

    #[test]
    fn at_the_cells_own_place_the_signal_is_finite() {
        let mut access = two_cells();
        assert_eq!(sinr_at(&mut access, 0.0, 0), 30.0);
        let gain_db = access.ues[0].link.gain_db();
        // One metre of free space at 2 GHz.
        assert!((gain_db + 38.47).abs() < 0.01, "{gain_db}");
    }

    #[test]
    fn far_away_the_noise_decides() {
        let mut access = two_cells();
        let sinr = sinr_at(&mut access, -200_000.0, 0);
        // 46 dBm - 144.49 dB of free space over 200 km + 95.46 dBm.
        assert!((sinr - (46.0 - 144.49 + 95.46)).abs() < 0.01, "{sinr}");
    }

    #[test]
    fn uplink_power_follows_its_control() {
        let mut access = two_cells();
        sinr_at(&mut access, 100.0, 0);
        let (cell, ue) = (CellId(0), UeId(0));
        // -84 dBm + 0.8 x 78.47 dB is -21.2 dBm a block: enough for all 50.
        let shape = |units| Shape {
            symbols: 14,
            units,
            ..Shape::default()
        };
        let power = access.uplink_block_power(cell, ue, shape(17));
        assert!((power - (-84.0 + 0.8 * 78.468)).abs() < 0.01, "{power}");
        assert_eq!(access.affordable_units(cell, ue, 14, 17), 17);
        access.cells[0].config.uplink_power = UplinkPower::Maximum;
        let power = access.uplink_block_power(cell, ue, shape(1));
        assert!((power - (23.0 - to_db(3.0))).abs() < 1e-9, "{power}");
        let spread = access.uplink_spread_db(cell, ue, 14, 17);
        assert!((spread + to_db(50.0)).abs() < 1e-9, "{spread}");
    }

    #[test]
    fn what_a_ue_sends_is_heard_in_the_other_cell() {
        let mut access = two_cells();
        sinr_at(&mut access, 100.0, 0);
        assert_eq!(access.serving_cell(UeId(0)), Some(CellId(0)));
        access.on_uplink_power(CellId(0), UeId(0), 7, 6.0, 0.25);
        // 900 m of free space: 97.55 dB.
        let heard = to_db(access.cells[1].uplink_interference.at(7));
        assert!((heard - (6.0 - 97.55 - 6.02)).abs() < 0.01, "{heard}");
        assert_eq!(access.cells[0].uplink_interference.at(7), 0.0);
    }
}
