//! Clusters of one link in one LOS state, as the UE moves and beams change.

use super::beams::{Antennas, Beams, Gains, Pair, Steered, choose, gains};
use super::law::MOST_CLUSTERS;
use super::place::{ClusterMap, Direct, Spot};
use crate::wide::wide;
use fadeout_core::math::from_db;

/// Distance between the positions at which gains are computed, metres. Gains at other positions are
/// interpolated. A beam of six degrees covers this width at a distance of five metres.
const STEP_M: f64 = 0.5;

/// Clusters of a link in one LOS state.
#[derive(Debug)]
pub(crate) struct LinkClusters {
    map: ClusterMap,
    corners: [Gains; 4],
    /// Map square whose corners are computed, and the beams and steerings for which they were
    /// computed.
    known: Option<((i64, i64), Beams, Steered)>,
    mix: Mix,
}

/// Power received over each path, for a transmitted power of 1 and without path loss.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Mix {
    /// Power over the direct path.
    pub(crate) direct: f64,
    /// Power over each cluster.
    pub(crate) clusters: [f32; MOST_CLUSTERS],
    /// Delay of each cluster, seconds.
    pub(crate) delays_s: [f32; MOST_CLUSTERS],
    /// Number of clusters.
    pub(crate) count: usize,
    /// Total power.
    pub(crate) gain: f64,
    /// Total power if the direct path were clear.
    pub(crate) clear_gain: f64,
    /// Total power with the gain of the base station's antenna only.
    pub(crate) base_gain: f64,
}

impl Mix {
    /// Powers before the first evaluation.
    pub(super) const NONE: Mix = Mix {
        direct: 0.0,
        clusters: [0.0; MOST_CLUSTERS],
        delays_s: [0.0; MOST_CLUSTERS],
        count: 0,
        gain: 0.0,
        clear_gain: 0.0,
        base_gain: 0.0,
    };
}

impl LinkClusters {
    pub(crate) fn new(map: ClusterMap) -> LinkClusters {
        LinkClusters {
            map,
            corners: [Gains::NONE; 4],
            known: None,
            mix: Mix::NONE,
        }
    }

    /// Returns the powers of the last [`evaluate`](LinkClusters::evaluate).
    pub(crate) fn mix(&self) -> &Mix {
        &self.mix
    }

    /// Returns the best beams at a position if blockage reduces the direct path by `blockage_db`.
    pub(crate) fn choose(
        &mut self,
        spot: &Spot,
        antennas: Antennas<'_>,
        blockage_db: f64,
    ) -> Beams {
        let scatter = self.map.scatter_at(spot);
        let k = spot.k_db.map_or(0.0, from_db);
        let shares = (k * from_db(-blockage_db) / (k + 1.0), 1.0 / (k + 1.0));
        choose(scatter, antennas, spot.directions, shares)
    }

    /// Computes the power received at a position with these beams. Gains are interpolated between
    /// the stored corners.
    pub(crate) fn evaluate(
        &mut self,
        place: (f64, f64),
        direct: Direct,
        antennas: Antennas<'_>,
        beams: Beams,
        mut corner: impl FnMut((f64, f64)) -> Spot,
    ) -> &Mix {
        let (x, y) = (place.0 / STEP_M, place.1 / STEP_M);
        let cell = (x.floor() as i64, y.floor() as i64);
        let known = self
            .known
            .filter(|known| (known.0, known.1) == (cell, beams));
        let steered = known.map_or_else(|| antennas.steering(beams), |(_, _, steered)| steered);
        let pair = antennas.steered_as(&steered);
        if known.is_none() {
            let is_first = self.known.is_none();
            self.known = Some((cell, beams, steered));
            for n in 0..4_i64 {
                let place = (
                    (cell.0 + (n & 1)) as f64 * STEP_M,
                    (cell.1 + (n >> 1)) as f64 * STEP_M,
                );
                let scatter = self.map.scatter_at(&corner(place));
                self.corners[n as usize] = gains(scatter, &pair);
            }
            // Many pairs of a UE and a cell are evaluated once, when the UE chooses a cell.
            if is_first {
                self.map.forget();
            }
        }
        let (right, up) = (x - x.floor(), y - y.floor());
        let [a, b, c, d] = &self.corners;
        let here = wide(
            #[inline(always)]
            || {
                Gains::mix([
                    (a, (1.0 - right) * (1.0 - up)),
                    (b, right * (1.0 - up)),
                    (c, (1.0 - right) * up),
                    (d, right * up),
                ])
            },
        );
        self.add_up(direct, &pair, &here)
    }

    /// Computes the power received with beams whose gains are not stored. These are candidate beams
    /// or beams toward other UEs.
    pub(crate) fn evaluate_once(
        &mut self,
        spot: &Spot,
        antennas: Antennas<'_>,
        beams: Beams,
        blockage_db: f64,
    ) -> &Mix {
        let pair = antennas.steered_as(&antennas.steering(beams));
        let here = gains(self.map.scatter_at(spot), &pair);
        self.add_up(spot.direct(blockage_db), &pair, &here)
    }

    fn add_up(&mut self, direct: Direct, pair: &Pair<'_>, gains: &Gains) -> &Mix {
        let k = direct.k_db.map_or(0.0, from_db);
        let (direct_share, share) = (k / (k + 1.0), 1.0 / (k + 1.0));
        let (mut base_gain, mut clear) = (0.0, 0.0);
        if direct_share > 0.0 {
            base_gain = pair.base.gain(direct.directions.0);
            clear = direct_share * base_gain * pair.ue.gain(direct.directions.1);
        }
        let mix = &mut self.mix;
        mix.count = self.map.count();
        mix.direct = match direct.blockage_db {
            0.0 => clear,
            blockage_db => clear * from_db(-blockage_db),
        };
        mix.delays_s = gains.delays_s;
        let (mut scattered, mut base_scattered) = (0.0, 0.0);
        for (n, power) in mix.clusters.iter_mut().enumerate() {
            *power = share as f32 * gains.both[n];
            scattered += f64::from(*power);
            base_scattered += f64::from(gains.base[n]);
        }
        mix.base_gain = direct_share * base_gain + share * base_scattered;
        mix.gain = mix.direct + scattered;
        mix.clear_gain = clear + scattered;
        debug_assert!(mix.count <= MOST_CLUSTERS, "{} clusters", mix.count);
        debug_assert!(
            scattered >= 0.0 && clear >= 0.0,
            "gains of {scattered} by clusters and {clear} on the direct path"
        );
        debug_assert!(
            mix.gain <= mix.clear_gain,
            "what is in the way adds to the gain"
        );
        mix
    }
}

/// Returns the map square of a position. The best beams are the same within a square. A position on
/// a border always belongs to the same square, despite rounding.
pub(crate) fn cell((x, y): (f64, f64)) -> (i64, i64) {
    let number = |metres: f64| (metres / STEP_M + 1e-7).floor() as i64;
    (number(x), number(y))
}

/// Returns the centre of a map square.
pub(crate) fn middle((column, row): (i64, i64)) -> (f64, f64) {
    ((column as f64 + 0.5) * STEP_M, (row as f64 + 0.5) * STEP_M)
}
