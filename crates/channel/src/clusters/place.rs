//! Clusters as a function of the UE's position.
//!
//! The random numbers of the clusters are drawn at the corners of a square lattice, each corner
//! from its own stream. Between the corners they are interpolated. Neighbouring positions therefore
//! have similar clusters. A UE that returns to a position finds the same clusters, although nothing
//! is stored. All UEs of a site share its clusters. A cluster lies on the same side of the direct
//! path at all positions, so its direction never jumps.
//!
//! Standard: TR 38.901 §7.6.3.2.

use super::law::{ClusterLaw, MOST_CLUSTERS};
use crate::antenna::Angles;
use crate::normal::normal_share_below;
use crate::path_loss::Ends;
use fadeout_core::math::{from_db, ln, pow};
use fadeout_core::random::Stream;

/// Number of random numbers of a cluster at a position: delay, power, and the deviations of azimuth
/// and zenith of departure and arrival.
const NUMBERS: usize = 6;
/// Number of random numbers at a position: the numbers of all clusters, and four numbers for the
/// spreads.
const DRAWN: usize = 4 + NUMBERS * MOST_CLUSTERS;

/// Random numbers at the four corners of a lattice square.
type Corners = Box<[[f32; DRAWN]; 4]>;

/// Group of rays of about the same delay and the same directions.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Cluster {
    /// Share of the power of all clusters.
    pub(crate) share: f64,
    /// Delay relative to the cluster that arrives first, seconds.
    pub(crate) delay_s: f64,
    /// Direction of the cluster's centre from the base station.
    pub(crate) departure: Angles,
    /// Direction of the cluster's centre from the UE.
    pub(crate) arrival: Angles,
}

/// Clusters at one position in one LOS state.
#[derive(Debug, Clone)]
pub(crate) struct Scatter {
    pub(crate) clusters: [Cluster; MOST_CLUSTERS],
    pub(crate) count: usize,
    /// Spreads of the rays within each cluster, degrees: azimuth and zenith of departure, azimuth
    /// and zenith of arrival.
    pub(crate) within_deg: [f64; 4],
}

impl Scatter {
    pub(crate) fn clusters(&self) -> &[Cluster] {
        &self.clusters[..self.count]
    }
}

/// Inputs from which the clusters at a position are computed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Spot {
    /// Position of the UE, metres.
    pub(crate) place: (f64, f64),
    /// Geometry of the two ends.
    pub(crate) ends: Ends,
    /// Direction of the direct path from the base station, then from the UE.
    pub(crate) directions: (Angles, Angles),
    /// RMS delay spread, seconds.
    pub(crate) delay_spread_s: f64,
    /// K factor in dB. `None` without a direct path.
    pub(crate) k_db: Option<f64>,
}

/// Direct path to a position of the UE.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Direct {
    /// Direction of the direct path from the base station, then from the UE.
    pub(crate) directions: (Angles, Angles),
    /// K factor in dB. `None` if the direct path has no power.
    pub(crate) k_db: Option<f64>,
    /// Loss of the direct path by blockage, dB.
    pub(crate) blockage_db: f64,
}

impl Spot {
    pub(crate) fn direct(&self, blockage_db: f64) -> Direct {
        Direct {
            directions: self.directions,
            k_db: self.k_db,
            blockage_db,
        }
    }
}

/// Clusters of one site in one LOS state, over all positions.
#[derive(Debug, Clone)]
pub(crate) struct ClusterMap {
    law: ClusterLaw,
    seed: u64,
    domain: &'static str,
    site: u64,
    /// Side of the direct path on which each cluster lies: azimuth and zenith of departure, azimuth
    /// and zenith of arrival.
    sides: [[i8; 4]; MOST_CLUSTERS],
    /// Lattice square of the last lookup, and the random numbers at its corners. `None` before the
    /// first lookup.
    square: Option<((i64, i64), Corners)>,
    /// Inputs and result of the last lookup. `None` before the first lookup.
    last: Option<(Spot, Box<Scatter>)>,
}

impl ClusterMap {
    pub(crate) fn new(law: ClusterLaw, seed: u64, domain: &'static str, site: u64) -> ClusterMap {
        let mut stream = Stream::new(seed, domain, site);
        let mut side = || if stream.chance(0.5) { 1 } else { -1 };
        ClusterMap {
            sides: std::array::from_fn(|_| std::array::from_fn(|_| side())),
            square: None,
            last: None,
            law,
            seed,
            domain,
            site,
        }
    }

    /// Returns the number of clusters, which is the same at every position.
    pub(crate) fn count(&self) -> usize {
        self.law.clusters
    }

    /// Frees the results of lookups. Later lookups compute them again.
    pub(crate) fn forget(&mut self) {
        (self.square, self.last) = (None, None);
    }

    /// Returns the clusters at a position. A repeated call with the same inputs returns the stored
    /// result.
    pub(crate) fn scatter_at(&mut self, spot: &Spot) -> &Scatter {
        if self.last.as_ref().is_none_or(|(known, _)| known != spot) {
            let scatter = self.scatter(spot);
            match &mut self.last {
                Some((known, last)) => {
                    *known = *spot;
                    **last = scatter;
                }
                last => *last = Some((*spot, Box::new(scatter))),
            }
        }
        match &self.last {
            Some((_, scatter)) => scatter,
            None => unreachable!("it was just made"),
        }
    }

    fn sides(&self, cluster: usize) -> [f64; 4] {
        self.sides[cluster].map(f64::from)
    }

    /// Computes the clusters at a position, by steps 5 to 7 of the standard's procedure.
    ///
    /// Standard: TR 38.901 §7.5, §7.6.3.
    fn scatter(&mut self, spot: &Spot) -> Scatter {
        let drawn = self.drawn(spot.place);
        let law = &self.law;
        let count = law.clusters;
        let spread = |n: usize, mean: f64, most_deg: f64| {
            pow(10.0, mean + law.spreads[n].deviation * drawn[n]).min(most_deg)
        };
        let zenith_lg = law.zenith_departure_lg(&spot.ends);
        let (departure_deg, arrival_deg) = (
            [
                spread(0, law.spreads[0].mean, 104.0),
                spread(3, zenith_lg, 52.0),
            ],
            [
                spread(1, law.spreads[1].mean, 104.0),
                spread(2, law.spreads[2].mean, 52.0),
            ],
        );
        let [azimuth_by, zenith_by, delay_by] = law.divisors(spot.k_db.unwrap_or(0.0));

        let numbers = |cluster: usize| &drawn[4 + NUMBERS * cluster..][..NUMBERS];
        let mut excess = [0.0; MOST_CLUSTERS];
        let mut least = f64::INFINITY;
        for (n, excess) in excess[..count].iter_mut().enumerate() {
            let uniform = normal_share_below(numbers(n)[0]).clamp(1e-9, 1.0);
            *excess = -law.delay_scaling * spot.delay_spread_s * ln(uniform);
            least = least.min(*excess);
        }
        let slope = (law.delay_scaling - 1.0) / (law.delay_scaling * spot.delay_spread_s);
        let mut shares = [0.0; MOST_CLUSTERS];
        let mut total = 0.0;
        for n in 0..count {
            excess[n] -= least;
            let profile = fadeout_core::math::exp(-excess[n] * slope);
            shares[n] = profile * from_db(-law.shadowing_db * numbers(n)[1]);
            total += shares[n];
        }

        // For the angles of clusters, the power of the first cluster includes that of the direct
        // path.
        let k = spot.k_db.map(from_db);
        let power = |n: usize| match k {
            None => shares[n] / total,
            Some(k) => (shares[n] / total + if n == 0 { k } else { 0.0 }) / (k + 1.0),
        };
        let most = (0..count).map(power).fold(0.0, f64::max);
        let turned = |n: usize| {
            let (fall, sides, numbers) = (-ln(power(n) / most), self.sides(n), numbers(n));
            let azimuth = fall.max(0.0).sqrt() * (2.0 / 1.4) / azimuth_by;
            let zenith = fall.max(0.0) / zenith_by;
            [
                departure_deg[0] * (sides[0] * azimuth + numbers[2] / 7.0),
                departure_deg[1] * (sides[1] * zenith + numbers[3] / 7.0),
                arrival_deg[0] * (sides[2] * azimuth + numbers[4] / 7.0),
                arrival_deg[1] * (sides[3] * zenith + numbers[5] / 7.0),
            ]
        };
        // With a direct path the first cluster lies in the direction of that path.
        let first = if k.is_some() { turned(0) } else { [0.0; 4] };
        let below_deg = law.zenith_departure_offset_deg(&spot.ends);
        let mut clusters = [Cluster::default(); MOST_CLUSTERS];
        for (n, cluster) in clusters[..count].iter_mut().enumerate() {
            let [along, down, around, under] = turned(n);
            let (from_base, from_ue) = spot.directions;
            *cluster = Cluster {
                share: shares[n] / total,
                delay_s: excess[n] / delay_by.max(0.1),
                departure: turn(from_base, along - first[0], -(down - first[1]) - below_deg),
                arrival: turn(from_ue, around - first[2], -(under - first[3])),
            };
        }
        let [asd, asa, zsa] = law.within_deg;
        Scatter {
            clusters,
            count,
            within_deg: [asd, 0.375 * pow(10.0, zenith_lg), asa, zsa],
        }
    }

    /// Returns standard normal numbers at a position, interpolated from the corners of its lattice
    /// square.
    fn drawn(&mut self, (x, y): (f64, f64)) -> [f64; DRAWN] {
        let step = self.law.distance_m;
        let (column, row) = ((x / step).floor(), (y / step).floor());
        let cell = (column as i64, row as i64);
        let (known, mut corners) = match self.square.take() {
            Some((known, corners)) => (Some(known), corners),
            None => (None, Box::new([[0.0; DRAWN]; 4])),
        };
        if known != Some(cell) {
            for (n, numbers) in (0_i64..).zip(corners.iter_mut()) {
                self.draw(numbers, (cell.0 + (n & 1), cell.1 + (n >> 1)));
            }
        }
        let (right, up) = (x / step - column, y / step - row);
        let weights = [
            (1.0 - right) * (1.0 - up),
            right * (1.0 - up),
            (1.0 - right) * up,
            right * up,
        ];
        let norm = weights.iter().map(|weight| weight * weight).sum::<f64>();
        let mut out = [0.0; DRAWN];
        for (corner, weight) in corners.iter().zip(weights) {
            let weight = weight / norm.sqrt();
            for (out, number) in out.iter_mut().zip(corner.iter()) {
                *out += weight * f64::from(*number);
            }
        }
        self.square = Some((cell, corners));
        out
    }

    fn draw(&self, numbers: &mut [f32; DRAWN], (column, row): (i64, i64)) {
        // The corner's coordinates are hashed to a number that selects the random stream. Odd
        // multipliers keep neighbouring corners distinct, and the stream mixes the bits further.
        let entity = self
            .site
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .wrapping_add((column as u64).wrapping_mul(0xd6e8_feb8_6659_fd93))
            .wrapping_add((row as u64).wrapping_mul(0xa076_1d64_78bd_642f));
        let mut stream = Stream::new(self.seed ^ 0x636c_7573_7465_7273, self.domain, entity);
        for number in numbers {
            *number = stream.normal() as f32;
        }
    }
}

/// Returns a direction rotated by an azimuth and an elevation in degrees. A rotation beyond the
/// zenith continues at the opposite azimuth.
pub(crate) fn turn(direction: Angles, azimuth_deg: f64, elevation_deg: f64) -> Angles {
    let mut azimuth_deg = direction.azimuth_deg + azimuth_deg;
    let turns = (direction.elevation_deg + elevation_deg) / 360.0;
    let mut elevation_deg = 360.0 * (turns - (turns + 0.5).floor());
    if elevation_deg.abs() > 90.0 {
        elevation_deg = 180.0_f64.copysign(elevation_deg) - elevation_deg;
        azimuth_deg += 180.0;
    }
    Angles {
        azimuth_deg,
        elevation_deg,
    }
}
