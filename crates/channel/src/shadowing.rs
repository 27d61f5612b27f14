//! Shadowing and the line-of-sight state as functions of the UE's position.
//!
//! Each site has maps, which are Gaussian fields: shadowing in LOS, shadowing in NLOS, and the LOS
//! state. K factor and delay spread have maps if they are drawn.
//!
//! The value at a position depends only on the map. Two UEs side by side therefore have about the
//! same value. A UE that returns to a position has the same value again. When the path of a UE
//! becomes blocked or clear, the UE changes to the other shadowing map. All sites share one more
//! field, which correlates their shadowing.

use super::field::{Lattice, Map};
use super::path_loss::Condition;
use fadeout_core::math::exp;
use fadeout_core::random::Stream;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Returns the correlation of the shadowing at two positions: `exp(-displacement / distance)`.
///
/// Standard: TR 38.901 §7.4.4, equation 7.4-5.
pub fn correlation(displacement_m: f64, distance_m: f64) -> f64 {
    debug_assert!(
        displacement_m >= 0.0 && distance_m > 0.0,
        "{displacement_m} m, with a correlation distance of {distance_m} m"
    );
    exp(-displacement_m / distance_m)
}

/// Returns the next value of the autoregressive form of the same process. It is `rho S + sqrt(1 -
/// rho^2) sigma w` with a standard normal w. The function is for models that follow a path instead
/// of reading a map.
pub fn next_db(shadowing_db: f64, sigma_db: f64, correlation: f64, normal: f64) -> f64 {
    debug_assert!(
        (0.0..=1.0).contains(&correlation),
        "a correlation of {correlation}"
    );
    correlation * shadowing_db + (1.0 - correlation * correlation).sqrt() * sigma_db * normal
}

/// Correlation distances and correlation between sites of the maps of a site.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct MapScales {
    /// Correlation distances of the shadowing in LOS and NLOS, metres.
    pub(crate) shadowing_m: [f64; 2],
    /// Correlation distance of the K factor in LOS, metres. `None` if the K factor has no map.
    pub(crate) k_factor_m: Option<f64>,
    /// Correlation distances of the delay spread in LOS and NLOS, metres. `None` if the delay
    /// spread has no map.
    pub(crate) delay_spread_m: [Option<f64>; 2],
    /// Correlation distance of the line-of-sight state, metres.
    pub(crate) state_m: f64,
    /// Correlation of the shadowing between sites.
    pub(crate) between_sites: f64,
}

/// Fields that all sites share: shadowing in LOS and NLOS.
#[derive(Debug)]
pub(crate) struct CommonMap {
    scales: MapScales,
    shadowing: [Map; 2],
}

impl CommonMap {
    pub(crate) fn new(scales: MapScales, seed: u64) -> CommonMap {
        debug_assert!(
            (0.0..=1.0).contains(&scales.between_sites),
            "sites share {} of their shadowing",
            scales.between_sites
        );
        CommonMap {
            scales,
            shadowing: shadowing_fields(&scales, seed, "radio.shadowing.common", 0),
        }
    }
}

fn shadowing_fields(scales: &MapScales, seed: u64, domain: &str, entity: u64) -> [Map; 2] {
    let mut stream = Stream::new(seed, domain, entity);
    scales
        .shadowing_m
        .map(|distance_m| Map::new(&mut stream, distance_m))
}

/// Maps of all sites. Each map is made at its first use. All antennas and powers of a run share one
/// `Maps`, so the sectors of a site read the same values.
#[derive(Debug)]
pub(crate) struct Maps {
    common: Arc<CommonMap>,
    sites: Mutex<BTreeMap<u32, Arc<SiteMap>>>,
    seed: u64,
}

impl Maps {
    pub(crate) fn new(scales: MapScales, seed: u64) -> Maps {
        Maps {
            common: Arc::new(CommonMap::new(scales, seed)),
            sites: Mutex::default(),
            seed,
        }
    }

    /// Returns true if these maps were made with these scales and this seed.
    pub(crate) fn are_of(&self, scales: &MapScales, seed: u64) -> bool {
        self.common.scales == *scales && self.seed == seed
    }

    /// Returns the maps of a site.
    pub(crate) fn of_site(&self, site: u32) -> Arc<SiteMap> {
        let mut sites = self.sites.lock().unwrap_or_else(PoisonError::into_inner);
        let make = || Arc::new(SiteMap::new(&self.common, self.seed, u64::from(site)));
        Arc::clone(sites.entry(site).or_insert_with(make))
    }
}

/// Maps of one site.
#[derive(Debug)]
pub(crate) struct SiteMap {
    common: Arc<CommonMap>,
    shadowing: [Map; 2],
    state: Map,
    k_factor: Option<Map>,
    delay_spread: [Option<Map>; 2],
}

impl SiteMap {
    pub(crate) fn new(common: &Arc<CommonMap>, seed: u64, site: u64) -> SiteMap {
        let mut stream = Stream::new(seed, "radio.line_of_sight", site);
        let mut spreads = Stream::new(seed, "radio.delay_spread", site);
        let mut factors = Stream::new(seed, "radio.k_factor", site);
        let scales = &common.scales;
        SiteMap {
            shadowing: shadowing_fields(scales, seed, "radio.shadowing.site", site),
            state: Map::new(&mut stream, scales.state_m),
            k_factor: scales
                .k_factor_m
                .map(|distance_m| Map::new(&mut factors, distance_m)),
            delay_spread: scales
                .delay_spread_m
                .map(|distance_m| distance_m.map(|m| Map::new(&mut spreads, m))),
            common: Arc::clone(common),
        }
    }
}

/// Reader of the maps of a site, for one UE.
#[derive(Debug)]
pub(crate) struct MapReader {
    map: Arc<SiteMap>,
    /// Lattice of the shadowing map that was read first.
    shadowing: Lattice,
    of: Option<u8>,
    /// Lattices of all other maps. `None` until one of these maps is read.
    others: Option<Box<Others>>,
}

/// Lattices of maps that are never read if the channel is always in the same LOS state.
#[derive(Debug, Default)]
struct Others {
    state: Lattice,
    /// Lattices of rarely read maps. `None` until one of these maps is read.
    rare: Option<Box<Rare>>,
}

/// Lattices of three kinds of maps: drawn K factors, drawn delay spreads, and the shadowing of the
/// second LOS state.
#[derive(Debug, Default)]
struct Rare {
    /// Lattice for the shadowing of the second LOS state.
    shadowing: Lattice,
    k_factor: Lattice,
    delay_spread: [Lattice; 2],
}

impl MapReader {
    pub(crate) fn new(map: Arc<SiteMap>) -> MapReader {
        MapReader {
            map,
            shadowing: Lattice::new(),
            of: None,
            others: None,
        }
    }

    /// Returns the maps of the reader's site.
    pub(crate) fn map(&self) -> &Arc<SiteMap> {
        &self.map
    }

    /// Returns the address of the map that all sites share, as an identity.
    pub(crate) fn common(&self) -> *const CommonMap {
        Arc::as_ptr(&self.map.common)
    }

    /// Returns the shared part of the shadowing, in standard deviations. The caller must use
    /// `lattice` only for the common map of one LOS state.
    pub(crate) fn common_by(
        &self,
        lattice: &mut Lattice,
        condition: Condition,
        place: (f64, f64),
    ) -> f64 {
        let common = &self.map.common;
        common.scales.between_sites.sqrt()
            * common.shadowing[number(condition)].read(lattice, place)
    }

    /// Returns the lower and upper bound of the site's own part of the shadowing at a position, in
    /// standard deviations.
    pub(crate) fn own_within(&self, condition: Condition, place: (f64, f64)) -> [f64; 2] {
        let share = (1.0 - self.map.common.scales.between_sites).sqrt();
        let within = self.map.shadowing[number(condition)].within(place);
        within.map(|bound| share * bound)
    }

    /// Returns the shadowing at a position, in standard deviations.
    pub(crate) fn shadowing(&mut self, condition: Condition, place: (f64, f64)) -> f64 {
        let n = number(condition);
        let (own, common) = (&self.map.shadowing[n], &self.map.common.shadowing[n]);
        let shared = self.map.common.scales.between_sites;
        let lattice = match *self.of.get_or_insert(n as u8) == n as u8 {
            true => &mut self.shadowing,
            false => {
                let others = self.others.get_or_insert_default();
                &mut others.rare.get_or_insert_default().shadowing
            }
        };
        lattice.interpolate(place, own.distance_m(), |square, needed| {
            let (own, common) = (own.corners(square, needed), common.corners(square, needed));
            let both = common.into_iter().zip(own);
            let mut corners = [0.0; 4];
            for (corner, (common, own)) in corners.iter_mut().zip(both) {
                *corner = shared.sqrt() * common + (1.0 - shared).sqrt() * own;
            }
            corners
        })
    }

    /// Returns the standard normal number at a position that decides the line-of-sight state. Its
    /// quantile is compared with the probability of LOS.
    pub(crate) fn state(&mut self, place: (f64, f64)) -> f64 {
        let others = self.others.get_or_insert_default();
        read(&mut others.state, Some(&self.map.state), place)
    }

    /// Returns the K factor at a position, in standard deviations from its mean. Zero if the K
    /// factor is not drawn.
    pub(crate) fn k_factor(&mut self, place: (f64, f64)) -> f64 {
        let others = self.others.get_or_insert_default();
        let rare = others.rare.get_or_insert_default();
        read(&mut rare.k_factor, self.map.k_factor.as_ref(), place)
    }

    /// Returns the delay spread at a position in LOS (0) or NLOS (1), in standard deviations of its
    /// logarithm. Zero if the delay spread is not drawn.
    pub(crate) fn delay_spread(&mut self, condition: usize, place: (f64, f64)) -> f64 {
        let others = self.others.get_or_insert_default();
        let rare = others.rare.get_or_insert_default();
        let map = self.map.delay_spread[condition].as_ref();
        read(&mut rare.delay_spread[condition], map, place)
    }
}

fn number(condition: Condition) -> usize {
    match condition {
        Condition::Los => 0,
        Condition::Nlos => 1,
    }
}

fn read(lattice: &mut Lattice, map: Option<&Map>, place: (f64, f64)) -> f64 {
    map.map_or(0.0, |map| {
        lattice.interpolate(place, map.distance_m(), |square, needed| {
            map.corners(square, needed)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fadeout_testkit::Cases;

    const SCALES: MapScales = MapScales {
        shadowing_m: [10.0, 13.0],
        k_factor_m: None,
        delay_spread_m: [None, None],
        state_m: 50.0,
        between_sites: 0.5,
    };

    #[test]
    fn two_sites_are_half_correlated_and_two_conditions_not_at_all() {
        let (mut sites, mut conditions) = (0.0, 0.0);
        let cases = Cases::new(3000);
        cases.run(|seed| {
            let common = Arc::new(CommonMap::new(SCALES, seed));
            let reader = |site| MapReader::new(Arc::new(SiteMap::new(&common, seed, site)));
            let (mut first, mut second) = (reader(0), reader(1));
            let place = (33.0, -7.0);
            let here = first.shadowing(Condition::Los, place);
            sites += here * second.shadowing(Condition::Los, place);
            conditions += here * first.shadowing(Condition::Nlos, place);
        });
        // The limit is four standard errors of a product of normal numbers. The variance of the
        // product is 1 + 0.5^2 or 1. The lattice adds an error of at most 2.6 %.
        let count = cases.count() as f64;
        let error = 4.0 / count.sqrt();
        let (sites, conditions) = (sites / count, conditions / count);
        assert!((sites - 0.5).abs() < 1.12 * error + 0.013, "{sites}");
        assert!(conditions.abs() < error, "{conditions}");
    }

    #[test]
    fn along_a_way_the_shadowing_keeps_its_correlation() {
        let common = Arc::new(CommonMap::new(SCALES, 7));
        let mut reader = MapReader::new(Arc::new(SiteMap::new(&common, 7, 0)));
        let values: Vec<f64> = (0..200_000)
            .map(|n| reader.shadowing(Condition::Nlos, (f64::from(n), 0.0)))
            .collect();
        let moment = |lag: usize| {
            let pairs = values.iter().zip(&values[lag..]);
            pairs.map(|(a, b)| a * b).sum::<f64>() / (values.len() - lag) as f64
        };
        let variance = moment(0);
        // The variance of one realisation of 192 waves has an error of a few percent.
        assert!((variance - 1.0).abs() < 0.08, "{variance}");
        for lag in [2, 5, 13, 26] {
            let found = moment(lag) / variance;
            let expected = correlation(lag as f64, 13.0);
            // The correlation of a realisation of N waves has an error of about sqrt(1 / 2N), here
            // 5 %.
            assert!(
                (found - expected).abs() < 0.12,
                "{lag} m: {found} {expected}"
            );
        }
    }
}
