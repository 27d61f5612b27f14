//! Configuration of a carrier's channel, as plain values.

use crate::antenna::{Antenna, BeamManagement};
use crate::blockage::{Blockage, MAX_BLOCKAGES};
use crate::error::ConfigError;
use crate::fading::{Fading, FadingModel, MAX_SUB_BANDS};
use crate::path_loss::{PathLoss, UrbanMicro};
use crate::penetration::Penetration;
use fadeout_core::agreed::{MOST_FADING_SUB_BANDS, MOST_RECEIVE_ANTENNAS};
use fadeout_core::registry::{Parameter, choice, flag, integer, named, number, span};
use fadeout_core::{Hertz, Span};

pub use fadeout_core::agreed::LineOfSight;

/// Shadowing around the median path loss.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Shadowing {
    /// Standard deviation, dB. `None` for the standard deviation of the path-loss model.
    pub sigma_db: Option<f64>,
    /// Correlation distance, metres. `None` for the correlation distance of the path-loss model.
    pub distance_m: Option<f64>,
    /// Correlation between sites. `None` for the correlation of the path-loss model. Sectors of one
    /// site share their shadowing.
    pub between_sites: Option<f64>,
}

/// Configuration of a carrier's channel in a network. All links of the carrier share it.
#[derive(Debug, Clone, PartialEq)]
pub struct ChannelConfig {
    /// Carrier frequency, 0.1 to 150 GHz.
    pub carrier: Hertz,
    /// Bandwidth over which frequency-selective fading is sampled.
    pub bandwidth: Hertz,
    /// Number of sub-bands for which frequency-selective fading is computed, 1 to 64. One sub-band
    /// for each coherence bandwidth, `1 / (5 delay spread)`, is enough.
    pub sub_bands: usize,
    /// Path-loss model.
    pub path_loss: PathLoss,
    /// Source of the line-of-sight state. In the soft mode, the LOS and NLOS channels add up near
    /// the border between LOS and NLOS. Outage still begins abruptly. In the geometry mode, the
    /// caller gives the obstruction of each path. A path without an obstruction is in LOS.
    ///
    /// Standard: TR 38.901 §7.6.3.3.
    pub line_of_sight: LineOfSight,
    /// Shadowing. `None` if the path loss is the median at all positions.
    pub shadowing: Option<Shadowing>,
    /// Fading model in LOS.
    pub los_fading: Fading,
    /// Fading model in NLOS. Rician fading becomes Rayleigh fading in NLOS, because there is no
    /// direct path.
    pub nlos_fading: Fading,
    /// True if the K factor in LOS is drawn for each position from
    /// [`large_scale::k_factor_db`](super::large_scale::k_factor_db). This applies to Rician fading
    /// and to clusters. False if the fading's own K factor is used.
    pub draws_k_factor: bool,
    /// True if the delay spread of tapped delay lines and clusters is drawn for each position from
    /// [`large_scale::delay_spread_lg`](super::large_scale::delay_spread_lg). False if the fading's
    /// own delay spread is used. Profiles with fixed delays ignore the drawn delay spread.
    pub draws_delay_spread: bool,
    /// Speed of objects around the UE, m/s. Because of it the channel of a stationary UE varies
    /// over time. TR 38.901 Table 7.8-1 gives every UE a speed of 3 km/h.
    pub environment_speed: f64,
    /// Blockage models, at most four. Their losses in dB add up.
    pub blockages: Vec<Blockage>,
    /// Antenna of the base station.
    pub base_antenna: Antenna,
    /// Antenna of the UE.
    pub ue_antenna: Antenna,
    /// Number of receive antennas at either end whose signals are combined, 1 to 8. The antennas
    /// fade independently.
    pub receive_antennas: u32,
    /// Beam management of steered antennas. `None` if beams always point at the other end.
    pub beams: Option<BeamManagement>,
    /// True if oxygen attenuates the signal (52 to 68 GHz only).
    pub has_oxygen: bool,
    /// Rain rate, mm/h. 25 mm/h is heavy rain.
    pub rain_mm_per_h: f64,
    /// Walls between base station and UE.
    pub penetration: Penetration,
    /// Lower limit of the loss including antenna gains, dB. TR 36.942 clause 4.5.1 has a minimum
    /// coupling loss of 70 dB for macro cells. With 0 the received power may not exceed the
    /// transmitted power.
    pub minimum_loss_db: f64,
}

fadeout_core::parameters! {
    /// Defaults of a channel's parameters.
    struct Keys {
        /// Rule that decides whether a UE is in line of sight.
        line_of_sight: LineOfSight = choice(LineOfSight::NAMES, "drawn"),
        /// True if shadowing is added to the path loss.
        shadowing: bool = flag("true"),
        /// Number of sub-bands for which frequency-selective fading is computed.
        sub_bands: u32 = integer((1, MOST_FADING_SUB_BANDS as u64, ""), "16"),
        /// Speed of objects around a UE, which makes the fading vary over time.
        environment_speed_kmh as "environment-speed": f64 = number((0.0, 1e4, "km/h"), "3"),
        /// Number of antennas of each receiver whose signals are combined.
        receive_antennas: u32 = integer((1, MOST_RECEIVE_ANTENNAS as u64, ""), "1"),
        /// Small-scale fading.
        fading: FadingModel = named("fading", "clusters"),
        /// Rician K factor in line of sight: power of the direct path over the power of all other
        /// paths.
        k_factor: Option<f64> = number((-60.0, 60.0, "dB"), "drawn"),
        /// RMS delay spread of the fading.
        delay_spread: Option<Span> = span("drawn"),
        /// True if oxygen attenuates the signal.
        oxygen: bool = flag("true"),
        /// Rain rate in millimetres per hour.
        rain: f64 = number((0.0, 500.0, ""), "0"),
    }
}

impl ChannelConfig {
    /// Parameters that a scenario may set as keys of a cell's channel, except those of its beams.
    pub const PARAMETERS: &'static [Parameter] = Keys::PARAMETERS;
}

impl Default for ChannelConfig {
    /// Returns a street canyon at 3.5 GHz with isotropic antennas and shadowing. The line-of-sight
    /// state is drawn. Fading uses clusters, whose K factor and delay spread are drawn.
    fn default() -> ChannelConfig {
        let keys = Keys::default();
        let k_db = keys.k_factor.unwrap_or(0.0);
        let fading = keys
            .fading
            .fading(k_db, keys.delay_spread.unwrap_or_default());
        ChannelConfig {
            carrier: Hertz(3.5e9),
            bandwidth: Hertz(100e6),
            sub_bands: keys.sub_bands as usize,
            path_loss: PathLoss::UrbanMicro(UrbanMicro),
            line_of_sight: keys.line_of_sight,
            shadowing: keys.shadowing.then(Shadowing::default),
            los_fading: fading,
            nlos_fading: fading,
            draws_k_factor: keys.k_factor.is_none(),
            draws_delay_spread: keys.delay_spread.is_none(),
            environment_speed: keys.environment_speed_kmh / 3.6,
            blockages: Vec::new(),
            base_antenna: Antenna::default(),
            ue_antenna: Antenna::default(),
            receive_antennas: keys.receive_antennas,
            beams: None,
            has_oxygen: keys.oxygen,
            rain_mm_per_h: keys.rain,
            penetration: Penetration::None,
            minimum_loss_db: 0.0,
        }
    }
}

impl ChannelConfig {
    /// Returns true if the fading of a LOS state has clusters.
    pub(crate) fn has_clusters(&self) -> bool {
        [self.los_fading, self.nlos_fading]
            .iter()
            .any(|fading| matches!(fading, Fading::Clusters { .. }))
    }

    /// Checks that all values are in their ranges.
    ///
    /// # Errors
    /// Returns an error if a value is out of its range.
    pub fn check(&self) -> Result<(), ConfigError> {
        ConfigError::within("carrier", self.carrier.0, 0.1e9..=150e9, "Hz")?;
        ConfigError::within("bandwidth", self.bandwidth.0, 1.0..=20e9, "Hz")?;
        ConfigError::within(
            "number of sub-bands",
            self.sub_bands as f64,
            1.0..=MAX_SUB_BANDS as f64,
            "",
        )?;
        self.path_loss.check()?;
        if let Some(shadowing) = &self.shadowing {
            let sigma = shadowing.sigma_db.unwrap_or(0.0);
            ConfigError::within("shadowing deviation", sigma, 0.0..=30.0, "dB")?;
            let distance = shadowing.distance_m.unwrap_or(10.0);
            ConfigError::within("shadowing correlation distance", distance, 0.1..=1e5, "m")?;
            ConfigError::within(
                "shadowing correlation between sites",
                shadowing.between_sites.unwrap_or(0.0),
                0.0..=1.0,
                "",
            )?;
        }
        for fading in [self.los_fading, self.nlos_fading] {
            match fading {
                Fading::Rician { k_db } => {
                    ConfigError::within("K factor", k_db, -60.0..=60.0, "dB")?;
                }
                Fading::Tdl { delay_spread, .. } => {
                    let spread = delay_spread.as_secs_f64();
                    ConfigError::within("delay spread", spread, 0.0..=1e-4, "s")?;
                }
                Fading::Clusters { k_db, delay_spread } => {
                    ConfigError::within("K factor", k_db, -60.0..=60.0, "dB")?;
                    let spread = delay_spread.as_secs_f64();
                    let least = if self.draws_delay_spread { 0.0 } else { 1e-10 };
                    ConfigError::within("delay spread", spread, least..=1e-4, "s")?;
                }
                Fading::None | Fading::Rayleigh => {}
            }
        }
        ConfigError::within(
            "speed of the environment",
            self.environment_speed,
            0.0..=300.0,
            "m/s",
        )?;
        ConfigError::within(
            "number of blockages",
            self.blockages.len() as f64,
            0.0..=MAX_BLOCKAGES as f64,
            "",
        )?;
        for blockage in &self.blockages {
            blockage.check()?;
        }
        ConfigError::within(
            "number of receive antennas",
            f64::from(self.receive_antennas),
            1.0..=f64::from(MOST_RECEIVE_ANTENNAS),
            "",
        )?;
        self.base_antenna.check()?;
        self.ue_antenna.check()?;
        if let Some(beams) = &self.beams {
            beams.check()?;
        }
        ConfigError::within("rain", self.rain_mm_per_h, 0.0..=500.0, "mm/h")?;
        ConfigError::within("minimum loss", self.minimum_loss_db, 0.0..=200.0, "dB")
    }
}
