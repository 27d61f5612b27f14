//! The link budget of a directional radio link.

use crate::keys::{BEAMWIDTH, LENGTH, RATE};
use crate::quantity::Dimension;
use crate::shape::Presence::{Default, Optional, Required};
use crate::shape::{Presence, Range, Shape};
use crate::table::{key_table, nested, word_choice};
use fadeout_core::{Dbm, Decibel, Hertz, Meters, Rate};

/// Presence of keys whose default value is that of the radio layer.
const BUDGET: Presence = Presence::OfPart("link-budget");

key_table! {
    /// Link budget from which the rate of a link is computed.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Radio {
        own {}
        /// Carrier frequency of the link.
        carrier: Hertz =
            Shape::Quantity(Dimension::Frequency, Range::closed(1e8, 1e12)), Required;
        /// Occupied bandwidth of the link.
        bandwidth: Hertz =
            Shape::Quantity(Dimension::Frequency, Range::closed(1e3, 1e11)), Required;
        /// Transmit power of the link.
        tx_power: Dbm = Shape::Quantity(Dimension::Power, Range::closed(-100.0, 100.0)), Required;
        /// Half-power beamwidth of the transmitting antenna in azimuth.
        tx_beamwidth_deg as "tx-beamwidth": f64 = BEAMWIDTH, Required;
        /// Half-power beamwidth of the receiving antenna in azimuth.
        rx_beamwidth_deg as "rx-beamwidth": f64 = BEAMWIDTH, Required;
        /// Distance on the ground between transmitter and receiver.
        distance: Meters = LENGTH, Required;
        /// Antenna height of the transmitter.
        tx_height: Meters = LENGTH, BUDGET;
        /// Antenna height of the receiver. At 1.5 m the path passes just over a nearby car of 1.4
        /// m.
        rx_height: Meters = LENGTH, BUDGET;
        /// Noise figure of the receiver.
        noise_figure: Decibel =
            Shape::Quantity(Dimension::Ratio, Range::closed(0.0, 50.0)), BUDGET;
        /// Implementation loss: the loss of signal-to-noise ratio of code and receiver, compared
        /// with the Shannon bound.
        implementation_loss: Decibel =
            Shape::Quantity(Dimension::Ratio, Range::closed(0.0, 50.0)), BUDGET;
        /// Half-power beamwidth of both antennas in elevation. It affects only the antenna gains.
        elevation_beamwidth_deg as "elevation-beamwidth": f64 = BEAMWIDTH, BUDGET;
        /// Antenna efficiency: share of the ideal directivity that both antennas reach.
        antenna_efficiency: f64 = Shape::Number(Range::positive(1.0)), BUDGET;
        /// Number of spatial layers. The layers share the transmit power. Each layer has the full
        /// spectral efficiency.
        layers: u32 = Shape::Integer { min: 1, max: 8 }, BUDGET;
        /// Share of resource elements that carry no data (TS 38.306 clause 4.1.2).
        overhead: f64 = Shape::Number(Range::closed(0.0, 0.99)), BUDGET;
        /// Table of modulation and coding schemes.
        mcs_table: McsTable = McsTable::SHAPE, Default("\"64qam\"");
        /// Upper bound of the link's rate. Default: no bound.
        max_rate: Option<Rate> = RATE, Optional;
    }
}

nested!(Radio);

word_choice! {
    /// A table of modulation and coding schemes of TS 38.214 clause 5.1.3.1.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum McsTable {
        /// Modulation and coding schemes up to 64QAM (TS 38.214 Table 5.1.3.1-1).
        Qam64 = "64qam",
        /// Modulation and coding schemes up to 256QAM (TS 38.214 Table 5.1.3.1-2).
        Qam256 = "256qam",
        /// Modulation and coding schemes up to 64QAM with low spectral efficiency (TS 38.214 Table
        /// 5.1.3.1-3).
        Qam64LowSe = "64qam-low-se",
    }
}
