//! Clusters of a link in LOS and in NLOS, and the beams that point at them.

use super::aim::{Aim, BeamKey};
use super::beams::{Antennas, Beams};
use super::law::ClusterLaw;
use super::link::{LinkClusters, Mix, cell, middle};
use super::place::{ClusterMap, Direct, Spot};
use crate::antenna::Angles;
use crate::antenna::recovery::CallerBeams;
use crate::antenna::tracking::BeamTrack;
use crate::config::ChannelConfig;
use crate::ends::LinkEnds;
use crate::large_scale::PlaceLaw;
use crate::path_loss;
use crate::shadowing::MapReader;
use crate::small_scale::{LOS, NLOS};
use fadeout_core::math::{from_db, pow};
use fadeout_core::{Point, Time};

/// Distributions of the parameters of a carrier's clusters.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Laws {
    /// Distributions of clusters in LOS and in NLOS. `None` for a LOS state in which the fading has
    /// no clusters.
    pub(crate) clusters: [Option<ClusterLaw>; 2],
    /// Distribution of the K factor in dB. `None` if there is no K factor.
    pub(crate) k_factor: Option<PlaceLaw>,
    /// Distribution of the decimal logarithm of the delay spread in seconds. `None` if there is no
    /// delay spread.
    pub(crate) delay_spread: [Option<PlaceLaw>; 2],
}

/// Clusters of one link.
#[derive(Debug)]
pub(crate) struct Scattering {
    clusters: Conditions,
    /// Beams toward the clusters. `None` before the first measurement or use of beams.
    aim: Option<Box<Aim>>,
    /// Time of the next measurement of the beams.
    due_at: Time,
}

/// Clusters of a link in LOS and in NLOS.
///
/// A LOS state takes several kilobytes. Most pairs of a UE and a cell are never in LOS, so the
/// clusters of a state are made at their first use.
#[derive(Debug)]
struct Conditions {
    made: [Option<Box<LinkClusters>>; 2],
    /// True for a LOS state that has clusters, made or not.
    has: [bool; 2],
    seed: u64,
    site: u64,
}

impl Conditions {
    /// Returns the clusters in LOS state `n`. `None` if this state has none.
    fn get(&mut self, n: usize, laws: &Laws) -> Option<&mut LinkClusters> {
        let law = laws.clusters[n]?;
        let (seed, site) = (self.seed, self.site);
        Some(self.made[n].get_or_insert_with(|| {
            let map = ClusterMap::new(law, seed, DOMAINS[n], site);
            Box::new(LinkClusters::new(map))
        }))
    }
}

/// Inputs of an evaluation of the clusters.
pub(crate) struct ScatteringInputs<'a> {
    pub(crate) config: &'a ChannelConfig,
    pub(crate) laws: &'a Laws,
    pub(crate) maps: &'a mut MapReader,
    pub(crate) now: Time,
    pub(crate) ends: &'a LinkEnds,
    /// Loss of the direct path by blockage, dB.
    pub(crate) blockage_db: f64,
    /// Power of the LOS channel over that of the NLOS channel, before antennas, dB. Infinite if
    /// only one of these channels exists.
    pub(crate) los_lead_db: f64,
    /// State of the beams if the caller detects beam failure. `None` if the link itself detects it.
    pub(crate) caller_beams: Option<&'a CallerBeams>,
    /// Positions of the UE at beam measurements. `None` if the UE's position is not predicted.
    pub(crate) track: Option<&'a BeamTrack>,
}

/// Difference in power between LOS and NLOS channel beyond which only the stronger channel
/// determines the beams, dB.
const NO_MATTER_DB: f64 = 40.0;

const DOMAINS: [&str; 2] = ["radio.clusters.los", "radio.clusters.nlos"];

impl Scattering {
    pub(crate) fn new(laws: &Laws, seed: u64, site: u64) -> Scattering {
        Scattering {
            clusters: Conditions {
                made: [None, None],
                has: laws.clusters.map(|law| law.is_some()),
                seed,
                site,
            },
            aim: None,
            due_at: Time::ZERO,
        }
    }

    /// Returns the power received over each path at the last evaluation in LOS state `n`. `None` if
    /// this state has no clusters.
    pub(crate) fn mix(&self, n: usize) -> Option<&Mix> {
        let made = self.clusters.made[n].as_deref();
        self.has(n)
            .then(|| made.map_or(&Mix::NONE, LinkClusters::mix))
    }

    /// Records the blockage of the direct path at a measurement of the beams.
    pub(crate) fn record_blockage(&mut self, at: Time, blockage_db: f64) {
        if self.clusters.has.contains(&true) {
            self.aim
                .get_or_insert_default()
                .record_blockage(at, blockage_db);
        }
    }

    /// Returns the time of the next beam measurement that is due by `now`. `None` if no measurement
    /// is due. Used if failure detection does not measure the beams. After a long pause only the
    /// last few measurements are computed.
    pub(crate) fn due(&mut self, now: Time, config: &ChannelConfig) -> Option<Time> {
        let period = config.beams.as_ref()?.tracking_period;
        if self.clusters.has == [false; 2] || self.due_at > now {
            return None;
        }
        let remembered = period * super::aim::MEMORY as u64;
        if now.since(self.due_at) > remembered {
            let nanos = now.saturating_sub(remembered).as_nanos();
            self.due_at = Time::from_nanos(nanos - nanos % period.as_nanos().max(1));
        }
        let at = self.due_at;
        self.due_at = at.saturating_add(period);
        Some(at)
    }

    /// Returns the beams in use and the inputs from which they were chosen. `None` before the first
    /// use of beams.
    pub(crate) fn in_use(&self) -> Option<(BeamKey, Beams)> {
        self.aim.as_ref()?.in_use()
    }

    /// Restores the beams in use and their inputs.
    pub(crate) fn restore(&mut self, in_use: Option<(BeamKey, Beams)>) {
        self.aim.get_or_insert_default().restore(in_use);
    }

    /// Returns true if LOS state `n` has clusters.
    #[inline]
    pub(crate) fn has(&self, n: usize) -> bool {
        self.clusters.has[n]
    }

    /// Computes the power received in LOS state `n` with the beams in use. `None` if this state has
    /// no clusters.
    pub(crate) fn evaluate(&mut self, n: usize, mut inputs: ScatteringInputs<'_>) -> Option<&Mix> {
        let antennas = Antennas {
            base: &inputs.config.base_antenna,
            ue: &inputs.config.ue_antenna,
        };
        let (ends, blockage_db) = (inputs.ends, inputs.blockage_db);
        let positions = (ends.base.position, ends.ue.position);
        let target = |from: Point, at: Option<Point>| at.map(|at| Angles::between(from, at));
        let others = (
            target(positions.0, ends.base_beam_at),
            target(positions.1, ends.ue_beam_at),
        );
        if let (Some(base), Some(ue)) = others {
            let spot = inputs.spot(n, positions);
            let clusters = self.clusters.get(n, inputs.laws)?;
            return Some(clusters.evaluate_once(&spot, antennas, Beams { base, ue }, blockage_db));
        }
        let mut beams = self.beams(&mut inputs, antennas);
        beams.base = others.0.unwrap_or(beams.base);
        beams.ue = others.1.unwrap_or(beams.ue);
        let clusters = self.clusters.get(n, inputs.laws)?;
        let place = (positions.1.x, positions.1.y);
        let direct = Direct {
            directions: directions(positions),
            k_db: inputs.k_db(n, place),
            blockage_db,
        };
        let corner = |(x, y): (f64, f64)| {
            let there = Point {
                x,
                y,
                ..positions.1
            };
            inputs.spot(n, (positions.0, there))
        };
        Some(clusters.evaluate(place, direct, antennas, beams, corner))
    }

    /// Returns the beams in use at both ends. They are the best beams for the centre of the map
    /// square that contains the UE's measured or predicted position. If both LOS and NLOS
    /// contribute, the stronger channel determines the beams. The comparison uses true powers, not
    /// measured powers.
    fn beams(&mut self, inputs: &mut ScatteringInputs<'_>, antennas: Antennas<'_>) -> Beams {
        let (mut age, mut blockage_db) = (0.0, inputs.blockage_db);
        let mut expected = None;
        if let Some(management) = &inputs.config.beams {
            let now = inputs.now;
            let measured_at = match inputs.caller_beams {
                Some(caller_beams) => caller_beams.measured_at(management, now),
                None => management.measured_at(now),
            };
            age = now.since(measured_at).as_secs_f64();
            blockage_db = self.aim.get_or_insert_default().blockage_db(measured_at);
            let steered_at = inputs.caller_beams.map_or(now, |it| it.steered_at(now));
            let base = inputs.ends.base.position;
            expected = inputs
                .track
                .and_then(|track| track.expected(management, base, (measured_at, steered_at)));
        }
        let (base, then) = inputs.ends.before(age);
        let ue = expected.unwrap_or(then);
        let lead_db = inputs.los_lead_db;
        let lead_db = lead_db.clamp(-NO_MATTER_DB, NO_MATTER_DB).round();
        let key = BeamKey {
            cell: cell((ue.x, ue.y)),
            blockage_db: blockage_db.round() as i64,
            los_lead_db: lead_db as i64,
        };
        let held = self
            .in_use()
            .filter(|_| inputs.caller_beams.is_some_and(CallerBeams::is_held));
        let key = held.map_or(key, |(key, _)| key);
        let all_clusters = &mut self.clusters;
        let mut beams = self.aim.get_or_insert_default().beams(key, || {
            let (x, y) = middle(key.cell);
            let there = Point { x, y, ..ue };
            let spots = [
                inputs.spot(LOS, (base, there)),
                inputs.spot(NLOS, (base, there)),
            ];
            let blockage_db = key.blockage_db as f64;
            let mut best = |n: usize| match all_clusters.get(n, inputs.laws) {
                Some(clusters) => clusters.choose(&spots[n], antennas, blockage_db),
                None => Beams {
                    base: spots[n].directions.0,
                    ue: spots[n].directions.1,
                },
            };
            if lead_db >= NO_MATTER_DB {
                return best(LOS);
            }
            if lead_db <= -NO_MATTER_DB {
                return best(NLOS);
            }
            let (los, nlos) = (best(LOS), best(NLOS));
            let mut power = |beams| {
                let mut of_condition = |n: usize| match all_clusters.get(n, inputs.laws) {
                    Some(clusters) => {
                        let tried = clusters.evaluate_once(&spots[n], antennas, beams, blockage_db);
                        tried.gain
                    }
                    None => straight(&spots[n], antennas, beams, blockage_db),
                };
                from_db(lead_db) * of_condition(LOS) + of_condition(NLOS)
            };
            if power(los) > power(nlos) { los } else { nlos }
        });
        if let Some(management) = &inputs.config.beams {
            beams.ue.azimuth_deg += management.rotation_deg_per_s * age;
        }
        beams
    }
}

/// Returns the power received with these beams if only the direct path has power.
fn straight(spot: &Spot, antennas: Antennas<'_>, beams: Beams, blockage_db: f64) -> f64 {
    let (base, ue) = spot.directions;
    let gain = antennas.base.gain_dbi(base, beams.base) + antennas.ue.gain_dbi(ue, beams.ue);
    from_db(gain - blockage_db)
}

impl ScatteringInputs<'_> {
    /// Returns the inputs from which the clusters at these positions are computed.
    fn spot(&mut self, n: usize, (base, ue): (Point, Point)) -> Spot {
        let place = (ue.x, ue.y);
        let delay_spread_lg = self.laws.delay_spread[n]
            .map_or(-7.0, |law| drawn(law, self.maps.delay_spread(n, place)));
        Spot {
            place,
            ends: path_loss::Ends::new(base, ue, self.config.carrier),
            directions: directions((base, ue)),
            delay_spread_s: pow(10.0, delay_spread_lg),
            k_db: self.k_db(n, place),
        }
    }

    /// Returns the K factor in dB. `None` without line of sight.
    fn k_db(&mut self, n: usize, place: (f64, f64)) -> Option<f64> {
        let law = self.laws.k_factor.filter(|_| n == LOS)?;
        Some(drawn(law, self.maps.k_factor(place)))
    }
}

fn drawn(law: PlaceLaw, deviations: f64) -> f64 {
    law.mean + law.deviation * deviations
}

/// Returns the directions of the direct path from the base station and from the UE.
fn directions((base, ue): (Point, Point)) -> (Angles, Angles) {
    (Angles::between(base, ue), Angles::between(ue, base))
}
