//! Environment of a carrier: data that its links share.

use super::LinkChannel;
use super::link_path::LinkPath;
use super::reach::Slopes;
use crate::antenna::Antenna;
use crate::atmosphere;
use crate::clusters::{ClusterLaw, Laws};
use crate::config::{ChannelConfig, LineOfSight};
use crate::ends::LinkKey;
use crate::error::ConfigError;
use crate::fading::{Fading, Plan};
use crate::large_scale::{self, PlaceLaw};
use crate::path_loss::{Condition, wavelength};
use crate::penetration::Penetration;
use crate::shadowing::{MapReader, MapScales, Maps};
use crate::small_scale::{Fadings, LOS, NLOS};
use fadeout_core::math::log10;
use fadeout_core::random::Stream;
use std::sync::Arc;

/// Data that the links of one carrier share: the configuration and the maps of its sites.
#[derive(Debug)]
pub struct Environment {
    shared: Arc<Shared>,
    maps: Arc<Maps>,
}

/// Data that every link refers to.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) config: ChannelConfig,
    /// Seed of the random streams of links.
    pub(super) seed: u64,
    /// True if a link's mean gain depends only on its ends and not on time. This requires that
    /// there are no blockage models and that no antenna is steered.
    pub(super) is_timeless: bool,
    /// True if a link's mean gain depends only on the positions of its ends. This requires that
    /// clusters do not affect the gain. There must be no soft transitions between LOS and NLOS.
    pub(super) is_plain: bool,
    /// True if clusters affect a link's mean gain. Two isotropic antennas receive the same power
    /// from all directions, so only the fading depends on their clusters.
    pub(super) clusters_affect_gain: bool,
    /// Identity of a group of environments. Their configurations differ only in the base station's
    /// antenna.
    pub(super) antenna_group: Arc<()>,
    /// Upper bounds of the change of a link's gain over distance. `None` if no bound is known.
    pub(super) slopes: Option<Slopes>,
    /// Loss by oxygen and rain, dB/m.
    pub(super) absorption_db_per_m: f64,
    pub(super) fadings: Fadings,
    /// Distributions of all parameters that are drawn for each position.
    pub(super) laws: Laws,
}

/// Returns true if the mean gain does not depend on time.
fn is_timeless(config: &ChannelConfig) -> bool {
    config.blockages.is_empty()
        && config.beams.is_none()
        && !config.base_antenna.is_steered()
        && !config.ue_antenna.is_steered()
}

/// Returns true if the mean gain depends only on positions. The caller must know that
/// [`Shared::is_timeless`] is true.
fn is_plain(config: &ChannelConfig) -> bool {
    let is_one_of_two = matches!(
        config.line_of_sight,
        LineOfSight::Clear | LineOfSight::Obstructed | LineOfSight::Drawn
    );
    !clusters_affect_gain(config) && is_one_of_two && config.ue_antenna.is_the_same_everywhere()
}

/// Returns true if the directions of clusters affect the mean gain.
fn clusters_affect_gain(config: &ChannelConfig) -> bool {
    let antennas = [config.base_antenna, config.ue_antenna];
    config.has_clusters() && !antennas.iter().all(Antenna::is_the_same_everywhere)
}

impl Environment {
    /// Returns the environment of a carrier.
    ///
    /// # Errors
    /// Returns an error if a value of the configuration is out of its range.
    pub fn new(config: ChannelConfig, seed: u64) -> Result<Environment, ConfigError> {
        Environment::sharing_maps(config, seed, std::iter::empty())
    }

    /// Returns the environment of a carrier. If its maps would equal the maps of one of the other
    /// environments, both share these maps.
    ///
    /// # Errors
    /// Returns an error if a value of the configuration is out of its range.
    pub fn sharing_maps<'a>(
        config: ChannelConfig,
        seed: u64,
        others: impl Iterator<Item = &'a Environment>,
    ) -> Result<Environment, ConfigError> {
        config.check()?;
        let others: Vec<&Environment> = others.collect();
        let differs_in_antenna_only = |other: &&&Environment| {
            let of_antenna = ChannelConfig {
                base_antenna: config.base_antenna,
                ..other.shared.config.clone()
            };
            of_antenna == config
        };
        let antenna_group = others
            .iter()
            .find(differs_in_antenna_only)
            .map_or_else(Arc::default, |it| Arc::clone(&it.shared.antenna_group));
        let carrier_ghz = config.carrier.0 / 1e9;
        let always = |mean| PlaceLaw {
            mean,
            deviation: 0.0,
            distance_m: 1.0,
        };
        let spread = |fading, condition| {
            let drawn = || large_scale::delay_spread_lg(&config.path_loss, condition, carrier_ghz);
            match fading {
                Fading::Tdl { profile, .. } if profile.has_own_delays() => None,
                Fading::Tdl { .. } | Fading::Clusters { .. } if config.draws_delay_spread => {
                    Some(drawn())
                }
                Fading::Clusters { delay_spread, .. } => {
                    Some(always(log10(delay_spread.as_secs_f64())))
                }
                Fading::Tdl { .. } | Fading::None | Fading::Rayleigh | Fading::Rician { .. } => {
                    None
                }
            }
        };
        let delay_spread = [
            spread(config.los_fading, Condition::Los),
            spread(config.nlos_fading, Condition::Nlos),
        ];
        let k_factor = match config.los_fading {
            Fading::Rician { .. } | Fading::Clusters { .. } if config.draws_k_factor => {
                Some(large_scale::k_factor_db(&config.path_loss))
            }
            Fading::Clusters { k_db, .. } => Some(always(k_db)),
            Fading::Rician { .. } | Fading::None | Fading::Rayleigh | Fading::Tdl { .. } => None,
        };
        let own = config.shadowing.and_then(|shadowing| shadowing.distance_m);
        let places = config.path_loss.places();
        let distance = |it| own.unwrap_or_else(|| places.shadowing_m.for_condition(it));
        let scales = MapScales {
            shadowing_m: [distance(Condition::Los), distance(Condition::Nlos)],
            state_m: places.state_m,
            k_factor_m: k_factor.map(|law| law.distance_m),
            delay_spread_m: delay_spread.map(|law| law.map(|law| law.distance_m)),
            between_sites: config
                .shadowing
                .and_then(|shadowing| shadowing.between_sites)
                .unwrap_or(config.path_loss.between_sites()),
        };
        let oxygen = if config.has_oxygen {
            atmosphere::oxygen_db_per_km(carrier_ghz)
        } else {
            0.0
        };
        let rain = atmosphere::Rain::for_carrier(carrier_ghz.max(1.0))
            .slanted_db_per_km(config.rain_mm_per_h);
        let wavelength_m = wavelength(config.carrier).0;
        let clusters = [
            (config.los_fading, Condition::Los),
            (config.nlos_fading, Condition::Nlos),
        ]
        .map(|(fading, condition)| {
            let has_clusters = matches!(fading, Fading::Clusters { .. });
            has_clusters.then(|| ClusterLaw::new(&config.path_loss, condition, carrier_ghz))
        });
        let plan = |fading, clusters: Option<ClusterLaw>| {
            let (bandwidth, sub_bands) = (config.bandwidth, config.sub_bands);
            clusters.map_or_else(
                || Plan::new(fading, bandwidth, sub_bands),
                |law| Plan::of_clusters(law.clusters, bandwidth, sub_bands),
            )
        };
        // NLOS has no direct path, so it has no K factor.
        let nlos_fading = match config.nlos_fading {
            Fading::Rician { .. } => Fading::Rayleigh,
            other => other,
        };
        let is_timeless = is_timeless(&config);
        Ok(Environment {
            maps: others
                .iter()
                .find(|other| other.maps.are_of(&scales, seed))
                .map_or_else(
                    || Arc::new(Maps::new(scales, seed)),
                    |other| Arc::clone(&other.maps),
                ),
            shared: Arc::new(Shared {
                seed,
                is_timeless,
                is_plain: is_timeless && is_plain(&config),
                clusters_affect_gain: clusters_affect_gain(&config),
                antenna_group,
                slopes: Slopes::from_config(&config),
                absorption_db_per_m: (oxygen + rain) / 1000.0,
                fadings: Fadings {
                    plans: [
                        plan(config.los_fading, clusters[LOS]),
                        plan(nlos_fading, clusters[NLOS]),
                    ],
                    wavelength_m,
                    environment_doppler_hz: config.environment_speed / wavelength_m,
                    antennas: config.receive_antennas,
                },
                laws: Laws {
                    clusters,
                    k_factor,
                    delay_spread,
                },
                config,
            }),
        })
    }

    /// Returns the configuration of the environment.
    pub fn config(&self) -> &ChannelConfig {
        &self.shared.config
    }

    /// Returns the link between a UE and a cell. The link depends only on configuration, seed and
    /// key.
    pub fn link(&self, key: LinkKey) -> LinkChannel {
        self.link_behind(key, self.shared.config.penetration)
    }

    /// Returns the link between a cell and a UE. `penetration` replaces the penetration loss of the
    /// configuration.
    pub fn link_behind(&self, key: LinkKey, penetration: Penetration) -> LinkChannel {
        let mut link = self.reduced_link(key, penetration);
        link.make_full();
        link
    }

    /// Returns the link in its reduced form, which computes only the mean gain.
    /// [`LinkChannel::make_full`] turns it into a full link. Most links of a network stay reduced.
    /// A reduced link needs a third of the memory of a full link.
    pub fn reduced_link(&self, key: LinkKey, penetration: Penetration) -> LinkChannel {
        let carrier_ghz = self.shared.config.carrier.0 / 1e9;
        let mut walls = Stream::new(self.shared.seed, "radio.penetration", u64::from(key.ue));
        let walls = penetration.draw(carrier_ghz, &mut walls);
        let maps = MapReader::new(self.maps.of_site(key.site));
        LinkChannel::new(LinkPath::new(Arc::clone(&self.shared), maps, walls, key))
    }
}
