//! SNR and rate of a link, computed from two antennas, their distance and an optional blocker.

use crate::antenna::beam::peak_gain;
use crate::channel::blockage_model_b::{DirectPath, Screen, screen_loss};
use crate::channel::{noise, path_loss, wavelength};
use crate::phy::rate::{AttenuatedShannon, NrMcs, RateModel, ShannonGap};
use fadeout_core::math::{hypot, to_db};
use fadeout_core::registry::{Parameter, integer, number};
use fadeout_core::{Dbm, Decibel, Hertz, Meters, Rate};

/// A line-of-sight link between two antennas whose beams point at each other.
///
/// The received power is the transmit power plus the peak gains of both beams, minus the free-space
/// loss and the blocker's diffraction loss. Both beams keep pointing along the direct path during a
/// blockage. Re-pointing and reflections are not modelled. Rays diffracted at the blocker's edges
/// get the beams' peak gain (see [`blockage_model_b`](crate::channel::blockage_model_b)).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinkBudget {
    /// Carrier frequency.
    pub carrier: Hertz,
    /// Occupied bandwidth: resource blocks times 12 subcarriers.
    pub bandwidth: Hertz,
    /// Transmit power, all layers together.
    pub tx_power: Dbm,
    /// Half-power beamwidth of the transmitter in azimuth, degrees.
    pub tx_hpbw_deg: f64,
    /// Half-power beamwidth of the receiver in azimuth, degrees.
    pub rx_hpbw_deg: f64,
    /// Half-power beamwidth of both antennas in elevation, degrees. Only peak gains depend on it.
    pub elevation_hpbw_deg: f64,
    /// Share of the ideal directivity that the antennas reach, in (0, 1].
    pub antenna_efficiency: f64,
    /// Distance on the ground.
    pub distance: Meters,
    /// Height of the transmitting antenna.
    pub tx_height: Meters,
    /// Height of the receiving antenna. A vehicle close to the receiver blocks a low antenna only.
    /// [`Default`] states the reason for its value.
    pub rx_height: Meters,
    /// Noise figure of the receiver.
    pub noise_figure: Decibel,
    /// Number of spatial layers. They share the power, and each carries the full spectral
    /// efficiency.
    pub layers: u32,
    /// Share of resource elements that carry no data, in [0, 1) (TS 38.306 clause 4.1.2: 0.18 in
    /// the downlink of frequency range 2).
    pub overhead: f64,
    /// Model that maps the SNR to a spectral efficiency.
    pub adaptation: RateModel,
}

fadeout_core::parameters! {
    /// Default values of a link budget.
    struct Keys {
        /// Antenna height of the transmitter.
        tx_height: f64 = number((0.0, 1e6, "m"), "10"),
        /// Antenna height of the receiver.
        rx_height: f64 = number((0.0, 1e6, "m"), "1"),
        /// Noise figure of the receiver.
        noise_figure: f64 = number((0.0, 50.0, "dB"), "10"),
        /// Implementation loss: distance of code and receiver from the Shannon bound.
        implementation_loss: Decibel = number((0.0, 50.0, "dB"), "1"),
        /// Half-power beamwidth of both antennas in elevation.
        elevation_beamwidth: f64 = number((0.0, 360.0, "deg"), "65"),
        /// Antenna efficiency: share of the ideal directivity that both antennas reach.
        antenna_efficiency: f64 = number((0.01, 1.0, ""), "0.7"),
        /// Number of spatial layers.
        layers: u32 = integer((1, 8, ""), "1"),
        /// Share of resource elements that carry no data (frequency range 2).
        overhead: f64 = number((0.0, 0.99, ""), "0.18"),
    }
}

impl LinkBudget {
    /// Optional parameters of a link budget, as keys of a link's `radio`.
    pub const PARAMETERS: &'static [Parameter] = Keys::PARAMETERS;
}

impl Default for LinkBudget {
    /// Returns a 38 GHz downlink with beams of 12 and 30 degrees.
    ///
    /// The receiver's height is 1.0 m, not the 1.5 m of TR 38.901's users. A path to a receiver at
    /// 1.5 m passes over a vehicle of 1.4 m, with almost no loss. The base station's height of 10 m
    /// is that of TR 38.901's street canyon. Distance, transmit power and noise figure (10 dB) are
    /// typical of a small outdoor cell. Beamwidths of 12 and 30 degrees are those of horizontal
    /// rows of eight and four elements, spaced half a wavelength. Such rows keep the elevation
    /// beamwidth of a single element: 65 degrees. All these values are assumptions. Users should
    /// vary them.
    ///
    /// Standard: TR 38.901 Table 7.3-1.
    fn default() -> Self {
        let keys = Keys::default();
        LinkBudget {
            carrier: Hertz(38e9),
            // 132 resource blocks of 120 kHz subcarriers: a 200 MHz channel (TS 38.101-2
            // Table 5.3.2-1).
            bandwidth: Hertz(190.08e6),
            tx_power: Dbm(30.0),
            tx_hpbw_deg: 12.0,
            rx_hpbw_deg: 30.0,
            elevation_hpbw_deg: keys.elevation_beamwidth,
            antenna_efficiency: keys.antenna_efficiency,
            distance: Meters(100.0),
            tx_height: Meters(keys.tx_height),
            rx_height: Meters(keys.rx_height),
            noise_figure: Decibel(keys.noise_figure),
            layers: keys.layers,
            overhead: keys.overhead,
            adaptation: RateModel::NrMcs(NrMcs {
                gap: keys.implementation_loss,
                ..NrMcs::default()
            }),
        }
    }
}

/// Obstacle between transmitter and receiver.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Blocker {
    /// Width of the obstacle.
    pub width: Meters,
    /// Height of the obstacle's upper edge above ground.
    pub height: Meters,
    /// Distance to the receiver along the path. Must be less than the length of the path.
    pub distance_to_rx: Meters,
    /// Horizontal distance of the obstacle's centre line from the direct path.
    pub offset: Meters,
}

impl Blocker {
    /// Returns the vehicle of TR 38.901 Table 7.6.4.2-5, 4.8 m by 1.4 m, centred on the path.
    pub fn vehicle(distance_to_rx: Meters) -> Blocker {
        Blocker {
            width: Meters(4.8),
            height: Meters(1.4),
            distance_to_rx,
            offset: Meters(0.0),
        }
    }
}

/// State of a link under a given attenuation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinkState {
    /// Loss of the path without the blocker.
    pub path_loss: Decibel,
    /// Loss that the blocker adds. Zero without a blocker.
    pub blockage_loss: Decibel,
    /// Signal-to-noise ratio per layer.
    pub snr: Decibel,
    /// Data rate of the link. Zero in outage.
    pub rate: Rate,
}

/// Reason why a link budget cannot be computed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LinkBudgetError {
    /// A quantity is outside its range.
    #[error("{name} is {value}; expected {expected}")]
    OutOfRange {
        /// Name of the quantity.
        name: &'static str,
        /// Value of the quantity, in the unit of `expected`.
        value: f64,
        /// Allowed range.
        expected: &'static str,
    },
}

impl LinkBudget {
    /// Returns the state of the link without a blocker.
    ///
    /// # Errors
    /// Returns an error if a quantity is out of its range.
    pub fn clear(&self) -> Result<LinkState, LinkBudgetError> {
        self.check()?;
        Ok(self.state(Decibel(0.0)))
    }

    /// Returns the state of the link with an additional loss.
    ///
    /// # Errors
    /// Returns an error if a quantity is out of its range.
    pub fn attenuated(&self, loss: Decibel) -> Result<LinkState, LinkBudgetError> {
        self.check()?;
        Ok(self.state(loss))
    }

    /// Returns the state of the link with `blocker` between the antennas.
    ///
    /// # Errors
    /// Returns an error if a quantity is out of its range, or if the blocker is not between the
    /// antennas.
    pub fn blocked(&self, blocker: &Blocker) -> Result<LinkState, LinkBudgetError> {
        self.check()?;
        positive("blocker width", blocker.width.0)?;
        positive("blocker height", blocker.height.0)?;
        let between = 0.0 < blocker.distance_to_rx.0 && blocker.distance_to_rx.0 < self.distance.0;
        let expected = "a distance above 0 m and below that of the link";
        within(
            "blocker distance to receiver",
            blocker.distance_to_rx.0,
            between,
            expected,
        )?;
        let offset = blocker.offset.0;
        within(
            "blocker offset",
            offset,
            offset.is_finite(),
            "a distance in m",
        )?;
        let path = DirectPath {
            wavelength: wavelength(self.carrier),
            distance: self.distance,
            tx_height: self.tx_height,
            rx_height: self.rx_height,
        };
        let screen = Screen {
            width: blocker.width,
            height: blocker.height,
            from_tx: Meters(self.distance.0 - blocker.distance_to_rx.0),
            offset: blocker.offset,
        };
        Ok(self.state(screen_loss(&path, &screen).loss))
    }

    fn state(&self, blockage_loss: Decibel) -> LinkState {
        let slant = hypot(self.distance.0, self.tx_height.0 - self.rx_height.0);
        let path_loss = path_loss::free_space(Meters(slant), self.carrier);
        let beam = |azimuth| {
            let elevation = self.elevation_hpbw_deg;
            peak_gain(azimuth, elevation, self.antenna_efficiency).0
        };
        let received = self.tx_power.0 + beam(self.tx_hpbw_deg) + beam(self.rx_hpbw_deg)
            - path_loss.0
            - blockage_loss.0
            - to_db(f64::from(self.layers));
        let snr = Decibel(received - noise::power(self.bandwidth, self.noise_figure).0);
        let rate = self.adaptation.efficiency(snr)
            * self.bandwidth.0
            * f64::from(self.layers)
            * (1.0 - self.overhead);
        LinkState {
            path_loss,
            blockage_loss,
            snr,
            rate: Rate::from_bits_per_sec(rate as u64),
        }
    }

    fn check(&self) -> Result<(), LinkBudgetError> {
        positive("carrier", self.carrier.0)?;
        positive("bandwidth", self.bandwidth.0)?;
        positive("distance", self.distance.0)?;
        positive("transmitter height", self.tx_height.0)?;
        positive("receiver height", self.rx_height.0)?;
        for (name, hpbw) in [
            ("transmitter beamwidth", self.tx_hpbw_deg),
            ("receiver beamwidth", self.rx_hpbw_deg),
        ] {
            within(
                name,
                hpbw,
                0.0 < hpbw && hpbw <= 180.0,
                "an angle above 0 and up to 180 deg",
            )?;
        }
        let efficiency = self.antenna_efficiency;
        let in_range = 0.0 < efficiency && efficiency <= 1.0;
        within(
            "antenna efficiency",
            efficiency,
            in_range,
            "a share above 0 and up to 1",
        )?;
        let overhead = self.overhead;
        within(
            "overhead",
            overhead,
            (0.0..1.0).contains(&overhead),
            "a share from 0 to below 1",
        )?;
        let layers = self.layers;
        within(
            "layers",
            f64::from(layers),
            (1..=8).contains(&layers),
            "1 to 8",
        )?;
        let (power, figure) = (self.tx_power.0, self.noise_figure.0);
        within("transmit power", power, power.is_finite(), "a power in dBm")?;
        within("noise figure", figure, figure.is_finite(), "a ratio in dB")?;
        match self.adaptation {
            RateModel::NrMcs(NrMcs {
                target_error,
                block_bits,
                gap,
                ..
            }) => {
                let in_range = 0.0 < target_error && target_error < 1.0;
                within(
                    "target block error",
                    target_error,
                    in_range,
                    "a share between 0 and 1",
                )?;
                let in_range = (32.0..=8448.0).contains(&block_bits);
                within("code block", block_bits, in_range, "32 to 8448 bits")?;
                within(
                    "gap to the bound",
                    gap.0,
                    gap.0.is_finite(),
                    "a ratio in dB",
                )
            }
            RateModel::AttenuatedShannon(AttenuatedShannon { share, cap, .. }) => {
                within(
                    "share of Shannon's bound",
                    share,
                    0.0 < share && share <= 1.0,
                    "a share above 0 and up to 1",
                )?;
                positive("greatest spectral efficiency", cap)
            }
            RateModel::ShannonGap(ShannonGap { bit_error_rate }) => within(
                "bit error rate",
                bit_error_rate,
                0.0 < bit_error_rate && bit_error_rate < 0.2,
                "a share above 0 and below 0.2",
            ),
        }
    }
}

fn positive(name: &'static str, value: f64) -> Result<(), LinkBudgetError> {
    within(
        name,
        value,
        value.is_finite() && value > 0.0,
        "a positive number",
    )
}

fn within(
    name: &'static str,
    value: f64,
    holds: bool,
    expected: &'static str,
) -> Result<(), LinkBudgetError> {
    if holds {
        Ok(())
    } else {
        Err(LinkBudgetError::OutOfRange {
            name,
            value,
            expected,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::antenna::beam::BeamParameters;
    use crate::phy::tbs::DOWNLINK_OVERHEAD;

    #[test]
    fn the_defaults_are_those_of_the_parts_it_is_made_of() {
        let budget = LinkBudget::default();
        assert_eq!(budget.overhead, DOWNLINK_OVERHEAD[1]);
        assert_eq!(budget.adaptation, RateModel::default());
        assert_eq!(
            budget.antenna_efficiency,
            BeamParameters::default().efficiency
        );
    }

    fn vehicle_at(distance: f64) -> Blocker {
        Blocker::vehicle(Meters(distance))
    }

    #[test]
    fn the_budget_adds_up() {
        let budget = LinkBudget::default();
        let clear = budget.clear().expect("valid");
        // The beams have gains of 0.7 times 41253, divided by 12 x 65 and 30 x 65 square degrees.
        // The path loss is that of free space over the slant distance of 100.404 m. Noise is -174 +
        // 10 log10(190.08 MHz) + 10 dBm.
        let gains = to_db(41_253.0 * 0.7 / 780.0) + to_db(41_253.0 * 0.7 / 1950.0);
        let expected = 30.0 + gains - 104.079 - (-174.0 + 82.7894 + 10.0);
        assert!(
            (clear.snr.0 - expected).abs() < 2e-3,
            "{} beside {expected}",
            clear.snr.0
        );
        assert_eq!(clear.blockage_loss.0, 0.0);
        // The best MCS of table 5.1.3.1-1 has 5.5547 bits per resource element.
        assert_eq!(
            clear.rate.as_bits_per_sec(),
            (5.5547 * 190.08e6 * 0.82) as u64
        );
    }

    #[test]
    fn a_vehicle_near_a_low_receiver_blocks_and_under_a_high_one_does_not() {
        let low = LinkBudget::default();
        let high = LinkBudget {
            rx_height: Meters(1.5),
            ..low
        };
        for distance in [0.5, 0.75, 1.0] {
            let deep = low
                .blocked(&vehicle_at(distance))
                .expect("valid")
                .blockage_loss
                .0;
            let shallow = high
                .blocked(&vehicle_at(distance))
                .expect("valid")
                .blockage_loss
                .0;
            assert!((20.0..35.0).contains(&deep), "{deep} dB at {distance} m");
            assert!(shallow < 1.0, "{shallow} dB at {distance} m");
        }
    }

    #[test]
    fn a_weak_link_is_in_outage_when_blocked() {
        let budget = LinkBudget {
            tx_power: Dbm(12.0),
            ..LinkBudget::default()
        };
        let blocked = budget.blocked(&vehicle_at(0.5)).expect("valid");
        assert!(budget.clear().expect("valid").rate > Rate::ZERO);
        assert_eq!(blocked.rate, Rate::ZERO, "{:?}", blocked.snr);
    }

    #[test]
    fn more_power_never_lowers_the_rate() {
        let rate = |dbm: i32| {
            let budget = LinkBudget {
                tx_power: Dbm(f64::from(dbm)),
                ..LinkBudget::default()
            };
            budget.blocked(&vehicle_at(0.7)).expect("valid").rate
        };
        assert!((-30..60).all(|dbm| rate(dbm) <= rate(dbm + 1)));
    }

    #[test]
    fn impossible_budgets_are_errors_that_say_what_was_expected() {
        let budget = LinkBudget::default();
        let behind = budget
            .blocked(&vehicle_at(100.0))
            .expect_err("behind the transmitter");
        assert!(
            behind
                .to_string()
                .starts_with("blocker distance to receiver is 100; expected")
        );
        let adaptation = RateModel::NrMcs(NrMcs {
            target_error: 0.0,
            ..NrMcs::default()
        });
        for wrong in [
            LinkBudget {
                adaptation,
                ..budget
            },
            LinkBudget {
                carrier: Hertz(0.0),
                ..budget
            },
            LinkBudget {
                bandwidth: Hertz(f64::NAN),
                ..budget
            },
            LinkBudget {
                tx_hpbw_deg: 0.0,
                ..budget
            },
            LinkBudget {
                overhead: 1.0,
                ..budget
            },
            LinkBudget {
                layers: 0,
                ..budget
            },
            LinkBudget {
                distance: Meters(-1.0),
                ..budget
            },
        ] {
            assert!(wrong.clear().is_err(), "{wrong:?}");
        }
    }
}
