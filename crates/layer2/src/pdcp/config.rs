//! Parameters of PDCP, under the names of PDCP-Config.
//!
//! Standard: TS 38.331 §6.3.2; TS 36.331 §6.3.2.

use super::RohcConfig;
use crate::rlc::ParameterError;
use crate::rlc::allowed::{Milliseconds, milliseconds, one_of};
use fadeout_core::{Bytes, Span};

/// Order of delivery by the receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Delivery {
    /// Delivery in the order of COUNT (NR, and LTE with split bearers). The receiver waits
    /// t-Reordering for a missing packet. `None` is infinity.
    InOrder(Option<Span>),
    /// Delivery on arrival (outOfOrderDelivery). Only duplicates are dropped. The window moves by
    /// t-Reordering.
    OutOfOrder(Option<Span>),
    /// Delivery in the order of RLC (LTE), which is that of COUNT.
    FromRlc,
}

/// Parameters of PDCP, equal at both ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PdcpConfig {
    /// pdcp-SN-Size in bits: 12 or 18.
    pub sn_bits: u8,
    /// True if each packet has an SDAP header (NR).
    pub has_sdap_header: bool,
    /// discardTimer. `None` is infinity.
    pub discard_timer: Option<Span>,
    /// Order of delivery.
    pub delivery: Delivery,
    /// Header compression of both directions. `None` without it.
    pub rohc: Option<RohcConfig>,
}

impl PdcpConfig {
    /// Parameters of NR data: 18-bit SN, no discard, t-Reordering 100 ms, no SDAP header.
    pub const NR: PdcpConfig = PdcpConfig {
        sn_bits: 18,
        has_sdap_header: false,
        discard_timer: None,
        delivery: Delivery::InOrder(Some(Span::from_millis(100))),
        rohc: None,
    };
    /// Parameters of LTE data: 12-bit SN, no discard, order by RLC.
    pub const LTE: PdcpConfig = PdcpConfig {
        sn_bits: 12,
        has_sdap_header: false,
        discard_timer: None,
        delivery: Delivery::FromRlc,
        rohc: None,
    };

    /// Returns the bytes of the PDCP and SDAP headers. PDCP has 2 bytes with 12-bit SN and 3 with
    /// 18-bit SN. SDAP has 1.
    ///
    /// Standard: TS 38.323 §6.2.2; TS 36.323 §6.2; TS 37.324 §6.2.2.
    #[inline]
    pub fn header(&self) -> u32 {
        (if self.sn_bits == 18 { 3 } else { 2 }) + u32::from(self.has_sdap_header)
    }

    /// Checks that every value is allowed.
    ///
    /// # Errors
    /// Returns an error with the parameter, the given and the nearest allowed value.
    pub fn check(&self) -> Result<(), ParameterError> {
        one_of("pdcp-SN-Size", self.sn_bits.into(), &[12, 18], "bits")?;
        if let Some(timer) = self.discard_timer {
            milliseconds("discardTimer", timer, DISCARD_TIMER)?;
        }
        match self.delivery {
            Delivery::InOrder(Some(timer)) | Delivery::OutOfOrder(Some(timer)) => {
                milliseconds("t-Reordering", timer, T_REORDERING)
            }
            _ => Ok(()),
        }
    }
}

/// Checks that ul-DataSplitThreshold has a value of the standard. `None` is infinity.
///
/// # Errors
/// Returns an error with the given and the nearest allowed value.
///
/// Standard: TS 38.331 §6.3.2.
pub fn check_split_threshold(threshold: Option<Bytes>) -> Result<(), ParameterError> {
    threshold.map_or(Ok(()), |bytes| {
        one_of(
            "ul-DataSplitThreshold",
            bytes.0,
            UL_DATA_SPLIT_THRESHOLD,
            "bytes",
        )
    })
}

/// Values of ul-DataSplitThreshold, bytes.
const UL_DATA_SPLIT_THRESHOLD: &[u64] = &[
    0, 100, 200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 51_200, 102_400, 204_800, 409_600,
    819_200, 1_228_800, 1_638_400, 2_457_600, 3_276_800, 4_096_000, 4_915_200, 5_734_400,
    6_553_600,
];
/// Values of NR's discardTimer, which include those of LTE.
const DISCARD_TIMER: Milliseconds = &[
    (10, 60, 10),
    (75, 75, 1),
    (100, 300, 50),
    (500, 750, 250),
    (1500, 1500, 1),
];
/// Values of NR's t-Reordering, which include those of LTE.
const T_REORDERING: Milliseconds = &[
    (0, 2, 1),
    (4, 5, 1),
    (8, 10, 2),
    (15, 20, 5),
    (30, 60, 10),
    (80, 300, 20),
    (500, 750, 250),
    (1000, 3000, 250),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_have_the_standards_bytes() {
        assert_eq!(PdcpConfig::LTE.header(), 2);
        assert_eq!(PdcpConfig::NR.header(), 3);
        let sdap = PdcpConfig {
            has_sdap_header: true,
            ..PdcpConfig::NR
        };
        assert_eq!(sdap.header(), 4);
    }

    #[test]
    fn a_timer_outside_the_enumeration_is_refused_with_the_nearest_one() {
        PdcpConfig::NR.check().expect("allowed");
        PdcpConfig::LTE.check().expect("allowed");
        let discard = PdcpConfig {
            discard_timer: Some(Span::from_millis(80)),
            ..PdcpConfig::NR
        };
        assert_eq!(
            discard.check().expect_err("not allowed").to_string(),
            "discardTimer is 80 ms; the nearest allowed value is 75 ms"
        );
        let reordering = PdcpConfig {
            delivery: Delivery::OutOfOrder(Some(Span::from_millis(35))),
            ..PdcpConfig::NR
        };
        assert_eq!(
            reordering.check().expect_err("not allowed").to_string(),
            "t-Reordering is 35 ms; the nearest allowed value is 30 ms"
        );
    }
}
