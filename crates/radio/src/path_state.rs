//! State of the paths between cells and UEs at an instant, without a run.
//!
//! The channel is a function of seed, time and positions. Copies of the channels therefore return
//! the values of a run, and have no side effects on the run.

use crate::channel::{Causes, ConfigError, LargeScale, LinkChannel, noise};
use crate::config::{CellConfig, Channels, UeConfig};
use fadeout_core::{CellId, Motion, Time, UeId};
use std::collections::BTreeMap;

/// Channels between UEs and cells, evaluated from the start of simulated time on.
#[derive(Debug)]
pub struct PathStates {
    cells: Vec<CellConfig>,
    channels: Channels,
    between: BTreeMap<(UeId, CellId), LinkChannel>,
}

/// State of the path between a cell and a UE, as if the cell had served the UE from the start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PathState {
    /// Large-scale gain and its parts.
    pub large_scale: LargeScale,
    /// Losses of the path in dB, and the direction of the beam.
    pub causes: Causes,
    /// Downlink signal-to-noise ratio without fading, dB.
    pub snr_db: f64,
}

impl PathStates {
    /// Builds the channels of `cells` for a run's seed.
    pub fn new(cells: Vec<CellConfig>, seed: u64) -> PathStates {
        PathStates {
            cells,
            channels: Channels::new(seed),
            between: BTreeMap::new(),
        }
    }

    /// Returns the state of the path between a cell and a UE at `now`. `motion` gives the UE's
    /// position. The time of successive calls must not decrease. `None` for a UE whose SINR is
    /// given.
    ///
    /// # Errors
    /// Returns an error if the cell's channel cannot be built.
    pub fn state_at<M: Motion>(
        &mut self,
        (ue, config): (UeId, &UeConfig),
        cell: CellId,
        now: Time,
        motion: &mut M,
    ) -> Result<Option<PathState>, ConfigError> {
        if config.fixed_sinr.is_some() {
            return Ok(None);
        }
        let key = (ue, cell);
        if !self.between.contains_key(&key) {
            let behind = (ue, config.penetration);
            let mut made = self.channels.between(behind, cell, self.cells.iter())?;
            made.make_full();
            self.between.insert(key, made);
        }
        let channel = self.between.get_mut(&key).expect("just made");
        let cell = &self.cells[cell.index()];
        let place = motion.kinematics_at(config.node, now);
        let ends = cell.ends((config.node, now), place, motion);
        let gain_db = channel.large_scale_db(now, &ends);
        let noise = noise::power(cell.occupied(), config.noise_figure);
        Ok(channel.causes().map(|causes| PathState {
            large_scale: *channel.large_scale(),
            causes,
            snr_db: cell.power.0 + gain_db - noise.0,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::ChannelConfig;
    use crate::channel::blockage::{Blockage, Deafness, Interval, Scripted};
    use crate::channel::fading::Fading;
    use crate::channel::path_loss::{FreeSpace, PathLoss};
    use fadeout_core::{Hertz, Kinematics, NodeId, Point, Span};

    struct Still;

    impl Motion for Still {
        fn kinematics_at(&mut self, _node: NodeId, _time: Time) -> Kinematics {
            Kinematics::at_rest(Point::new(50.0, 0.0, 1.5))
        }
    }

    #[test]
    fn causes_are_told_apart() {
        let interval = Interval {
            from: Time::ZERO + Span::from_millis(10),
            until: Time::ZERO + Span::from_millis(20),
            loss_db: 7.0,
        };
        // The receiver's antenna is blocked for about half of the time.
        let deafness = Deafness {
            mean_clear: Span::from_millis(5),
            dwell: Span::from_millis(5),
            ..Deafness::default()
        };
        let channel = ChannelConfig {
            path_loss: PathLoss::FreeSpace(FreeSpace),
            // With fading, each cluster would have a blockage loss of its own. Without fading, all
            // of the power has the same blockage loss.
            los_fading: Fading::None,
            blockages: vec![
                Blockage::Scripted(Scripted {
                    intervals: [interval].into(),
                }),
                Blockage::Deafness(deafness),
            ],
            ..ChannelConfig::default()
        };
        let site = Point::new(0.0, 0.0, 10.0);
        let cell = CellConfig {
            channel,
            ..CellConfig::lte(site, Hertz(28e9), 100)
        };
        let mut states = PathStates::new(vec![cell], 1);
        let ue = UeConfig::new(NodeId(0));
        let mut deaf = 0;
        for ms in 0..200 {
            let now = Time::ZERO + Span::from_millis(ms);
            let state = states.state_at((UeId(0), &ue), CellId(0), now, &mut Still);
            let state = state.expect("a channel").expect("a UE with places");
            let blocked_db = if (10..20).contains(&ms) { 7.0 } else { 0.0 };
            assert_eq!(state.causes.blockage_db, blocked_db, "{ms} ms");
            assert!([0.0, 200.0].contains(&state.causes.deafness_db), "{ms} ms");
            deaf += usize::from(state.causes.deafness_db > 0.0);
            let both_db = state.causes.blockage_db + state.causes.deafness_db;
            assert_eq!(state.large_scale.blockage_db, both_db);
            assert_eq!(state.causes.misalignment_db, 0.0);
            assert_eq!(state.causes.beam_deg, None);
        }
        assert!((20..180).contains(&deaf), "{deaf} of 200 ms");
    }
}
