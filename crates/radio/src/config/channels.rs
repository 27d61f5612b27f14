//! Channels between UEs and cells. The radio simulation and the prediction of outages both build
//! their channels here, so that the channels are equal.

use super::CellConfig;
use super::cell::link_key;
use crate::channel::knife_edge::clear_beyond;
use crate::channel::knife_edges::cascaded_loss;
use crate::channel::path_loss::vehicle::foliage_db_per_m;
use crate::channel::path_loss::wavelength;
use crate::channel::penetration::Penetration;
use crate::channel::{ChannelConfig, ConfigError, Environment, LineOfSight, LinkChannel, LinkEnds};
use fadeout_core::{CellId, Kinematics, Motion, NodeId, Point, Time, UeId};

/// Builder of the channels of a radio access. Cells with equal channel configurations share one
/// propagation environment.
#[derive(Debug)]
pub(crate) struct Channels {
    seed: u64,
    environments: Vec<(ChannelConfig, Environment)>,
}

impl Channels {
    /// Returns a builder without environments, for the seed of a run.
    pub(crate) fn new(seed: u64) -> Channels {
        Channels {
            seed,
            environments: Vec::new(),
        }
    }

    /// Returns the channel between a UE and cell `id`. `penetration` is the loss of walls around
    /// the UE. `cells` must contain all cells. The channel only gives its mean gain until
    /// [`LinkChannel::make_full`] is called.
    ///
    /// # Errors
    /// Returns an error if the cell's channel cannot be built.
    pub(crate) fn between<'a>(
        &mut self,
        (ue, penetration): (UeId, Penetration),
        id: CellId,
        cells: impl Iterator<Item = &'a CellConfig> + Clone,
    ) -> Result<LinkChannel, ConfigError> {
        let key = link_key(cells.clone().map(|cell| cell.site), id, ue.0);
        let mut cells = cells;
        let cell = cells.nth(id.index()).expect("a cell has its number");
        Ok(self.environment(cell)?.reduced_link(key, penetration))
    }

    fn environment(&mut self, cell: &CellConfig) -> Result<&Environment, ConfigError> {
        let config = ChannelConfig {
            carrier: cell.carrier,
            bandwidth: cell.occupied(),
            ..cell.channel.clone()
        };
        let mut known = self.environments.iter();
        let position = match known.position(|(known, _)| *known == config) {
            Some(position) => position,
            None => {
                let others = self.environments.iter().map(|(_, other)| other);
                let environment = Environment::sharing_maps(config.clone(), self.seed, others)?;
                self.environments.push((config, environment));
                self.environments.len() - 1
            }
        };
        Ok(&self.environments[position].1)
    }
}

impl CellConfig {
    /// Returns the two ends of the channel between the cell and the UE with motion `ue`, and the
    /// obstacles between the two ends. `node` is the node of the UE. Vehicles always count as
    /// obstacles. Buildings count if they determine the line-of-sight state.
    pub(crate) fn ends<M: Motion>(
        &self,
        (node, at): (NodeId, Time),
        ue: Kinematics,
        motion: &mut M,
    ) -> LinkEnds {
        let site = self.site + self.shift_toward(ue.position);
        self.ends_from(site, (node, at), ue, motion)
    }

    /// Returns the ends and obstacles as [`ends`](CellConfig::ends) does. `site` is the position of
    /// the cell's image that is nearest to the UE, which the caller has computed.
    pub(crate) fn ends_from<M: Motion>(
        &self,
        site: Point,
        (node, at): (NodeId, Time),
        ue: Kinematics,
        motion: &mut M,
    ) -> LinkEnds {
        let mut ends = LinkEnds::new(Kinematics::at_rest(site), ue);
        let wavelength = wavelength(self.carrier);
        let (line, clear) = ((site, ue.position), clear_beyond(wavelength));
        let edges = motion.vehicles((node, at), line, clear);
        if !edges.is_empty() {
            let length_m = site.distance_to(ue.position);
            ends.vehicles_db = cascaded_loss(edges, length_m, wavelength.0).0;
        }
        let foliage_m = motion.foliage_m(site, ue.position);
        if foliage_m > 0.0 {
            ends.vehicles_db += foliage_db_per_m(self.carrier.0 / 1e9) * foliage_m;
        }
        if self.channel.line_of_sight == LineOfSight::Geometry {
            ends.obstruction = Some(motion.obstruction(line, clear));
        }
        ends
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fadeout_core::Hertz;

    #[test]
    fn cells_that_describe_their_channels_alike_share_an_environment() {
        let site = Point::new(0.0, 0.0, 10.0);
        let cell = |carrier, blocks| CellConfig::lte(site, Hertz(carrier), blocks);
        let cells = [cell(2e9, 50), cell(2e9, 50), cell(2e9, 100), cell(3e9, 50)];
        let mut channels = Channels::new(1);
        let mut count = |id| {
            let ue = (UeId(0), Penetration::default());
            let built = channels.between(ue, CellId(id), cells.iter());
            built.expect("a channel");
            channels.environments.len()
        };
        assert_eq!([0, 1, 2, 3, 1].map(&mut count), [1, 1, 2, 3, 3]);
    }
}
