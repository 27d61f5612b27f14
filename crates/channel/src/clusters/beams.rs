//! Gains of antennas and their beams toward clusters.

use super::law::MOST_CLUSTERS;
use super::place::{Cluster, Scatter, turn};
use crate::antenna::{Aimed, Angles, Antenna, Steering};
use fadeout_core::data;

/// Offsets of the rays in a cluster from its centre, as multiples of the RMS spread. Each offset
/// occurs with both signs.
///
/// Standard: TR 38.901 Table 7.5-3.
const OFFSETS: [f64; 10] = {
    let [offsets] = data::numbers(include_str!("../../data/ray_offsets.csv"), "all", 1);
    offsets
};

/// Number of rays in a cluster.
const RAYS: usize = 2 * OFFSETS.len();

/// Difference between the index of a ray's azimuth offset and that of its zenith offset. The
/// standard pairs these offsets at random. A difference of seven uses every zenith offset, because
/// seven and twenty have no common divisor.
const COUPLING: usize = 7;

/// Both antennas of a link.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Antennas<'a> {
    pub(crate) base: &'a Antenna,
    pub(crate) ue: &'a Antenna,
}

/// Directions of the beams of both ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Beams {
    pub(crate) base: Angles,
    pub(crate) ue: Angles,
}

/// Steering of both antennas.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Steered {
    base: Steering,
    ue: Steering,
}

/// Both antennas with their beams.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pair<'a> {
    pub(crate) base: Aimed<'a>,
    pub(crate) ue: Aimed<'a>,
}

impl<'a> Antennas<'a> {
    pub(crate) fn steering(&self, beams: Beams) -> Steered {
        Steered {
            base: self.base.steering(beams.base),
            ue: self.ue.steering(beams.ue),
        }
    }

    pub(crate) fn steered_as(&self, steered: &Steered) -> Pair<'a> {
        Pair {
            base: self.base.steered_as(steered.base),
            ue: self.ue.steered_as(steered.ue),
        }
    }
}

/// Power gain of each cluster through the antennas, and delay of each cluster.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Gains {
    /// Gain of each cluster at the base station, linear.
    pub(crate) base: [f32; MOST_CLUSTERS],
    /// Gain of each cluster at both ends, multiplied by the cluster's share of the total power.
    pub(crate) both: [f32; MOST_CLUSTERS],
    /// Delay of each cluster, seconds.
    pub(crate) delays_s: [f32; MOST_CLUSTERS],
}

impl Gains {
    pub(crate) const NONE: Gains = Gains {
        base: [0.0; MOST_CLUSTERS],
        both: [0.0; MOST_CLUSTERS],
        delays_s: [0.0; MOST_CLUSTERS],
    };

    /// Returns the weighted sum of four gains.
    #[inline(always)]
    pub(crate) fn mix(parts: [(&Gains, f64); 4]) -> Gains {
        let mut mix = Gains::NONE;
        for (part, weight) in parts {
            let weight = weight as f32;
            for n in 0..MOST_CLUSTERS {
                mix.base[n] += weight * part.base[n];
                mix.both[n] += weight * part.both[n];
                mix.delays_s[n] += weight * part.delays_s[n];
            }
        }
        mix
    }
}

/// Returns the gains of all clusters with these beams. The gain at each end is the mean over the
/// rays of a cluster, because the standard pairs rays of departure and arrival at random.
///
/// Standard: TR 38.901 §7.5.
pub(crate) fn gains(scatter: &Scatter, pair: &Pair<'_>) -> Gains {
    let mut gains = Gains::NONE;
    let [asd, zsd, asa, zsa] = scatter.within_deg;
    for (n, cluster) in scatter.clusters().iter().enumerate() {
        let base = over_rays(&pair.base, cluster.departure, [asd, zsd]);
        let ue = over_rays(&pair.ue, cluster.arrival, [asa, zsa]);
        gains.base[n] = (cluster.share * base) as f32;
        gains.both[n] = (cluster.share * base * ue) as f32;
        gains.delays_s[n] = cluster.delay_s as f32;
    }
    gains
}

/// Returns the mean gain over the rays around a direction.
fn over_rays(aimed: &Aimed<'_>, middle: Angles, within_deg: [f64; 2]) -> f64 {
    if aimed.is_the_same_everywhere() {
        return aimed.gain(middle);
    }
    let offset = |ray: usize| {
        let offset = OFFSETS[ray / 2];
        if ray.is_multiple_of(2) {
            offset
        } else {
            -offset
        }
    };
    let rays = (0..RAYS).map(|ray| {
        let (azimuth, elevation) = (offset(ray), offset(ray * COUPLING % RAYS));
        let toward = turn(middle, within_deg[0] * azimuth, within_deg[1] * elevation);
        aimed.gain(toward)
    });
    rays.sum::<f64>() / RAYS as f64
}

/// Returns the best pair of beams at a position. The candidates at each end point at the centre of
/// a cluster or along the direct path. `direct_power` and `scattered_power` are the powers of the
/// direct path and of all clusters.
pub(crate) fn choose(
    scatter: &Scatter,
    antennas: Antennas<'_>,
    direct: (Angles, Angles),
    (direct_power, scattered_power): (f64, f64),
) -> Beams {
    let mut shares = [0.0; MOST_CLUSTERS + 1];
    shares[0] = direct_power;
    for (share, cluster) in shares[1..].iter_mut().zip(scatter.clusters()) {
        *share = scattered_power * cluster.share;
    }
    let [asd, _, asa, _] = scatter.within_deg;
    let base = Candidates::new(scatter, antennas.base, (direct.0, asd), |cluster| {
        cluster.departure
    });
    let ue = Candidates::new(scatter, antennas.ue, (direct.1, asa), |cluster| {
        cluster.arrival
    });
    let mut best = (
        f64::NEG_INFINITY,
        Beams {
            base: direct.0,
            ue: direct.1,
        },
    );
    for (b, of_base) in base.gains[..base.count].iter().enumerate() {
        for (u, of_ue) in ue.gains[..ue.count].iter().enumerate() {
            let power = (0..=scatter.count)
                .map(|n| shares[n] * of_base[n] * of_ue[n])
                .sum::<f64>();
            if power > best.0 {
                let beams = Beams {
                    base: base.directions[b],
                    ue: ue.directions[u],
                };
                best = (power, beams);
            }
        }
    }
    best.1
}

/// Offset of the two outer directions of three that represent a cluster's rays. The three
/// directions have weights of a quarter, a half and a quarter. With this offset their RMS spread
/// equals that of the rays.
const OUTER: f64 = std::f64::consts::SQRT_2;

/// Candidate directions of a beam at one end, and the gain of each toward the direct path and the
/// clusters.
struct Candidates {
    directions: [Angles; MOST_CLUSTERS + 1],
    gains: [[f64; MOST_CLUSTERS + 1]; MOST_CLUSTERS + 1],
    count: usize,
}

impl Candidates {
    fn new(
        scatter: &Scatter,
        antenna: &Antenna,
        (direct, within_deg): (Angles, f64),
        direction: impl Fn(&Cluster) -> Angles,
    ) -> Candidates {
        let mut directions = [direct; MOST_CLUSTERS + 1];
        for (known, cluster) in directions[1..].iter_mut().zip(scatter.clusters()) {
            *known = direction(cluster);
        }
        let count = if antenna.is_steered() {
            scatter.count + 1
        } else {
            1
        };
        let mut gains = [[0.0; MOST_CLUSTERS + 1]; MOST_CLUSTERS + 1];
        for (row, beam) in gains[..count].iter_mut().zip(directions) {
            let aimed = antenna.aimed(beam);
            for (gain, toward) in row[..=scatter.count].iter_mut().zip(directions) {
                *gain = aimed.gain(toward);
            }
            if !antenna.is_steered() {
                continue;
            }
            for (gain, middle) in row[1..=scatter.count].iter_mut().zip(&directions[1..]) {
                let side = |sign: f64| aimed.gain(turn(*middle, sign * OUTER * within_deg, 0.0));
                *gain = 0.5 * *gain + 0.25 * (side(1.0) + side(-1.0));
            }
        }
        Candidates {
            directions,
            gains,
            count,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rays_have_the_spread_that_they_are_scaled_by() {
        // The root mean square of the table's offsets is 1, up to the rounding of the table.
        let square = OFFSETS.iter().map(|offset| offset * offset).sum::<f64>() / 10.0;
        assert!((square - 1.0).abs() < 0.01, "{square}");
        let mut met = [false; RAYS];
        (0..RAYS).for_each(|ray| met[ray * COUPLING % RAYS] = true);
        assert!(met.iter().all(|met| *met));
    }
}
