//! Prediction of outages between UEs and cells, for cross-layer notices to transport protocols.
//!
//! The channel is a function of seed, time and positions. A second copy of the channel, evaluated
//! at the same grid instants as the radio access's channel, therefore predicts the same values. The
//! copy has no side effects on the run.

use crate::channel::{ChannelConfig, ConfigError, LargeScale, State};
use crate::config::{CellConfig, Channels, UeConfig};
use fadeout_core::{CellId, Motion, Span, Time, UeId};

/// Channels of all cells, for evaluation ahead of time.
#[derive(Debug)]
pub struct Outlook {
    cells: Vec<CellConfig>,
    channels: Channels,
}

impl Outlook {
    /// Builds the channels of `cells` for a run's seed.
    pub fn new(cells: Vec<CellConfig>, seed: u64) -> Outlook {
        Outlook {
            cells,
            channels: Channels::new(seed),
        }
    }

    /// Returns the outages between a UE and a cell that begin before `until`, with the UE at the
    /// positions of `motion`. During an outage the path's state is outage, or the beams are being
    /// recovered. A blockage loss above the threshold of beam failure is an outage too. If the
    /// channel has a reflected path, the loss of the reflected path replaces the blockage loss.
    ///
    /// Each outage begins and ends at an instant of the cell's gain period. An outage that still
    /// lasts at `until` is returned with its later end. The list is empty for a UE whose SINR is
    /// given.
    ///
    /// # Errors
    /// Returns an error if the cell's channel cannot be built.
    pub fn outages<M: Motion>(
        &mut self,
        (ue, config): (UeId, &UeConfig),
        cell: CellId,
        until: Time,
        motion: &mut M,
    ) -> Result<Vec<(Time, Time)>, ConfigError> {
        if config.fixed_sinr.is_some() {
            return Ok(Vec::new());
        }
        let mut channel =
            self.channels
                .between((ue, config.penetration), cell, self.cells.iter())?;
        channel.make_full();
        let cell = &self.cells[cell.index()];
        let threshold_db = threshold_db(&cell.channel);
        // The configuration check of cells rejects a period of zero.
        let period = cell.gain_period.max(Span::from_nanos(1));
        let mut outages = Vec::new();
        let mut began_at = None;
        let mut at = Time::ZERO;
        while at <= until {
            let place = motion.kinematics_at(config.node, at);
            let ends = cell.ends((config.node, at), place, motion);
            channel.large_scale_db(at, &ends);
            if is_cut_off(channel.large_scale(), threshold_db) {
                began_at.get_or_insert(at);
            } else if let Some(began_at) = began_at.take() {
                outages.push((began_at, at));
            }
            at = at.saturating_add(period);
        }
        outages.extend(began_at.filter(|&it| it < until).map(|it| (it, at)));
        Ok(outages)
    }
}

/// Returns the loss in dB above which a beam fails. The prediction counts a larger blockage loss as
/// an outage.
fn threshold_db(channel: &ChannelConfig) -> f64 {
    let failure = channel.beams.as_ref().and_then(|beams| beams.failure);
    failure.unwrap_or_default().threshold_db
}

fn is_cut_off(state: &LargeScale, threshold_db: f64) -> bool {
    state.state == State::Outage || state.is_recovering || state.blockage_db > threshold_db
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::antenna::{BeamFailure, BeamManagement};
    use crate::channel::blockage::{Blockage, Interval, Periodic, Phase, Scripted};
    use crate::channel::path_loss::{FreeSpace, PathLoss};
    use fadeout_core::{Decibel, Hertz, Kinematics, NodeId, Point};

    struct Still;

    impl Motion for Still {
        fn kinematics_at(&mut self, _node: NodeId, _time: Time) -> Kinematics {
            Kinematics::at_rest(Point::new(50.0, 0.0, 1.5))
        }
    }

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn outages(channel: ChannelConfig, ue: &UeConfig, until: Time) -> Vec<(Time, Time)> {
        let cell = CellConfig {
            channel: ChannelConfig {
                path_loss: PathLoss::FreeSpace(FreeSpace),
                ..channel
            },
            ..CellConfig::lte(Point::new(0.0, 0.0, 10.0), Hertz(28e9), 100)
        };
        let mut outlook = Outlook::new(vec![cell], 1);
        let ue = (UeId(0), ue);
        let found = outlook.outages(ue, CellId(0), until, &mut Still);
        found.expect("a channel")
    }

    fn periodic(loss_db: f64) -> ChannelConfig {
        ChannelConfig {
            blockages: vec![Blockage::Periodic(Periodic {
                phase: Phase::At(ms(1000)),
                period: Span::from_secs(2),
                duration: Span::from_millis(500),
                loss_db,
            })],
            ..ChannelConfig::default()
        }
    }

    #[test]
    fn a_deep_blockage_cuts_off_for_as_long_as_it_lasts() {
        let ue = UeConfig::new(NodeId(0));
        let expected = [(ms(1000), ms(1500)), (ms(3000), ms(3500))];
        assert_eq!(outages(periodic(25.0), &ue, ms(4_900)), expected);
        // A blockage loss of 9 dB is below the threshold of beam failure, so no outage is
        // predicted.
        assert_eq!(outages(periodic(9.0), &ue, ms(4_900)), []);
    }

    #[test]
    fn a_blockage_at_the_end_ends_after_it() {
        let ue = UeConfig::new(NodeId(0));
        let found = outages(periodic(25.0), &ue, ms(1_200));
        assert_eq!(found, [(ms(1000), ms(1201))]);
    }

    #[test]
    fn a_given_sinr_is_never_blocked() {
        let mut ue = UeConfig::new(NodeId(0));
        ue.fixed_sinr = Some(crate::config::FixedSinr {
            downlink: Decibel(20.0),
            uplink: Decibel(20.0),
        });
        assert_eq!(outages(periodic(25.0), &ue, ms(4_900)), []);
    }

    #[test]
    fn a_reflected_path_ends_the_outage_when_beam_recovery_has_found_it() {
        let interval = Interval {
            from: ms(1000),
            until: ms(2000),
            loss_db: 30.0,
        };
        let failure = BeamFailure {
            reflection_loss_db: Some(8.0),
            ..BeamFailure::default()
        };
        let channel = ChannelConfig {
            blockages: vec![Blockage::Scripted(Scripted {
                intervals: [interval].into(),
            })],
            beams: Some(BeamManagement {
                failure: Some(failure),
                ..BeamManagement::default()
            }),
            ..ChannelConfig::default()
        };
        let period = channel.beams.as_ref().map(|beams| beams.tracking_period);
        let found = outages(channel, &UeConfig::new(NodeId(0)), ms(5_000));
        let [(from, to)] = found[..] else {
            panic!("one outage: {found:?}");
        };
        assert_eq!(from, ms(1000));
        // Recovery begins after three failed measurements and takes 20 ms. The first failed
        // measurement is at most one period after the start of the blockage. Gains are evaluated on
        // a grid, which adds up to two grid intervals.
        let most = period.expect("beams") * 3 + Span::from_millis(20 + 2);
        assert!(
            to > ms(1020) && to <= ms(1000).saturating_add(most),
            "{to:?}"
        );
    }
}
