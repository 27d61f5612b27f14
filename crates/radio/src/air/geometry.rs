//! Wideband coupling loss and SINR of each UE before the run. Both are those of the UE's best cell,
//! with interference from other cells.

use super::path::{InstantCache, Placement};
use super::{AirCell, PathChannel, RadioPath};
use crate::channel::State;
use crate::channel::fading::Fading;
use crate::channel::recorded::Quantity;
use crate::config::{CellConfig, Channels, RadioConfig, RadioError, RecordedPath, Serving, check};
use fadeout_core::math::{from_db, to_db};
use fadeout_core::{CellId, Motion, Time, UeId};
use std::collections::BTreeMap;

/// Wideband downlink levels of one UE without fading, with all cells on its carrier at full power.
///
/// Standard: TR 36.873 §8.2; TR 38.901 §7.8.1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Geometry {
    /// Strongest cell of the UE, or the cell that the scenario gives the UE.
    pub cell: CellId,
    /// Ground distance in metres to the antenna of `cell`, or to the nearest image of that antenna.
    pub distance_m: f64,
    /// Transmitted power over received power in dB, including antenna gains.
    pub coupling_loss_db: f64,
    /// Signal-to-noise ratio of `cell` in dB.
    pub snr_db: f64,
    /// Signal-to-interference ratio of `cell` in dB. Infinite if no other cell is on the carrier.
    pub sir_db: f64,
    /// Ratio of signal to interference plus noise of `cell` in dB.
    pub sinr_db: f64,
    /// True if the cell is in line of sight.
    pub is_los: bool,
}

/// Received level of one cell at a UE.
#[derive(Debug, Clone, Copy)]
struct Heard {
    cell: CellId,
    gain_db: f64,
    power_mw: f64,
    is_los: bool,
}

/// Returns the geometry of each UE at the start of a run. `None` for a UE whose SINR is given or
/// recorded. Gains in `recorded` replace the channel's gains. Small-scale fading and temporary
/// blockage are ignored. Antenna gains are those along the direct path. Steered antennas of serving
/// cells use their best beam.
///
///  # Errors
/// Returns an error that names the invalid parameter, where it is configured, and the expected
/// value.
pub fn geometry<M: Motion>(
    config: &RadioConfig,
    recorded: &[RecordedPath],
    seed: u64,
    motion: &mut M,
) -> Result<Vec<Option<Geometry>>, RadioError> {
    check(config)?;
    let bare = |cell: &CellConfig| {
        let mut bare = cell.clone();
        bare.channel.los_fading = Fading::None;
        bare.channel.nlos_fading = Fading::None;
        bare.channel.blockages.clear();
        bare.channel.beams = None;
        bare
    };
    let cells = (0..).map(CellId).zip(&config.cells);
    let cells = cells
        .map(|(id, cell)| AirCell::new(id, &bare(cell)))
        .collect::<Result<Vec<_>, _>>()?;
    let bare_configs: Vec<CellConfig> = cells.iter().map(|cell| cell.config.clone()).collect();
    let recorded: BTreeMap<_, _> = recorded
        .iter()
        .map(|one| ((one.ue, one.cell), &one.quantity))
        .collect();
    let mut channels = Channels::new(seed);
    let mut found = Vec::with_capacity(config.ues.len());
    let mut heard: Vec<Heard> = Vec::with_capacity(cells.len());
    for (ue, described) in (0..).map(UeId).zip(&config.ues) {
        let of_ue = recorded.range((ue, CellId(0))..=(ue, CellId(u32::MAX)));
        let mut of_ue = of_ue.map(|(_, quantity)| *quantity);
        let has_recorded_sinr = of_ue.any(|one| matches!(one, Quantity::Sinr { .. }));
        if described.fixed_sinr.is_some() || has_recorded_sinr {
            found.push(None);
            continue;
        }
        let own = motion.kinematics_at(described.node, Time::ZERO);
        let placement = Placement {
            node: described.node,
            ue: own,
            stay: 1,
            serving_site: None,
        };
        heard.clear();
        let mut cache = InstantCache::default();
        for id in (0..cells.len() as u32).map(CellId) {
            let behind = (ue, described.penetration);
            let channel = channels.between(behind, id, bare_configs.iter());
            let error = |error| RadioError::Channel {
                cell: id.index(),
                error,
            };
            let mut channel = PathChannel::new(channel.map_err(error)?);
            if let Some(Quantity::Gain(series)) = recorded.get(&(ue, id)) {
                channel.record(series.clone(), false);
            }
            let cell = &cells[id.index()];
            let mut path = RadioPath::new(id, &channel);
            let (at, mut gain) = ((Time::ZERO, &mut cache), 0.0);
            path.evaluate((&mut channel, &mut gain), at, &placement, cell, motion);
            heard.push(Heard {
                cell: id,
                gain_db: channel.gain_db,
                power_mw: cell.levels.power_mw * gain,
                is_los: channel.state() == State::Los,
            });
        }
        let best = match described.serving {
            Serving::Cell(cell) => heard.get(cell.index()).copied(),
            Serving::Strongest | Serving::StrongestOnCarrier(_) => {
                heard.iter().copied().reduce(|best, one| {
                    if one.power_mw > best.power_mw {
                        one
                    } else {
                        best
                    }
                })
            }
        };
        found.push(best.map(|best| {
            let cell = &cells[best.cell.index()];
            let mut interference_mw = 0.0;
            for other in &heard {
                let its = &cells[other.cell.index()];
                if other.cell != best.cell && its.config.carrier == cell.config.carrier {
                    let overlap = (cell.levels.bandwidth_hz / its.levels.bandwidth_hz).min(1.0);
                    interference_mw += other.power_mw * overlap;
                }
            }
            let noise_mw = cell.levels.thermal_mw * from_db(described.noise_figure.0);
            let site = cell.config.site + cell.config.shift_toward(own.position);
            Geometry {
                cell: best.cell,
                distance_m: site.ground_distance_to(own.position),
                coupling_loss_db: -best.gain_db,
                snr_db: to_db(best.power_mw / noise_mw),
                sir_db: to_db(best.power_mw / interference_mw),
                sinr_db: to_db(best.power_mw / (interference_mw + noise_mw)),
                is_los: best.is_los,
            }
        }));
    }
    Ok(found)
}
