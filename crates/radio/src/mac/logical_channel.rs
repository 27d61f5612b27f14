//! Logical channels: the shares of a UE's bearers in a transport block.

use fadeout_core::registry::{Parameter, integer, span};
use fadeout_core::{Rate, Span, Time};

/// Parameters of a logical channel, as in LogicalChannelConfig of TS 38.331 and TS 36.331.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogicalChannel {
    /// Priority of the channel, 1 to 16 in the standards. A lower value is served first.
    pub priority: u8,
    /// Rate that each channel gets before any channel gets more (prioritisedBitRate). `None` means
    /// infinity: the channel then sends all its data when it is served.
    pub prioritised_bit_rate: Option<Rate>,
    /// Time over which an unused rate accumulates (bucketSizeDuration).
    pub bucket_size_duration: Span,
}

impl LogicalChannel {
    /// Parameters that a scenario may give as keys of a bearer.
    pub const PARAMETERS: &'static [Parameter] = Keys::PARAMETERS;
}

fadeout_core::parameters! {
    /// Default values of a logical channel.
    struct Keys {
        /// Priority of the logical channel, from 1 to 16. 1 is served first.
        priority: u32 = integer((1, 16, ""), "8"),
        /// Time over which an unused prioritised bit rate accumulates.
        bucket_size_duration: Span = span("100 ms"),
    }
}

impl Default for LogicalChannel {
    fn default() -> LogicalChannel {
        let keys = Keys::default();
        LogicalChannel {
            priority: keys.priority as u8,
            prioritised_bit_rate: None,
            bucket_size_duration: keys.bucket_size_duration,
        }
    }
}

/// Bytes of a 1500-byte SDU with headers. RLC does not segment an SDU that fits into the transport
/// block. A channel may therefore exceed its allowance by up to this size. The excess reduces its
/// later allowances.
const WHOLE_SDU: u32 = 1600;

/// Variable Bj of logical channel prioritisation: the bytes that a channel may still send at its
/// prioritised rate.
///
/// Standard: TS 38.321 §5.4.3.1.1; TS 36.321 §5.4.3.1.
#[derive(Debug, Clone, Copy)]
pub struct Bucket {
    /// Rate in bytes per second. `None` for infinity.
    rate: Option<f64>,
    limit: f64,
    bytes: f64,
    filled_at: Time,
}

impl Bucket {
    /// Creates the empty bucket of a channel.
    pub fn new(channel: &LogicalChannel) -> Bucket {
        let rate = channel.prioritised_bit_rate.map(Rate::as_bytes_per_sec_f64);
        Bucket {
            rate,
            limit: rate.unwrap_or(0.0) * channel.bucket_size_duration.as_secs_f64(),
            bytes: 0.0,
            filled_at: Time::ZERO,
        }
    }

    /// Returns true if the channel's prioritised bit rate is infinite.
    #[inline]
    pub fn is_unlimited(&self) -> bool {
        self.rate.is_none()
    }

    /// Returns the bytes that the channel may send at its prioritised bit rate. The remaining bytes
    /// of the block are assigned to the channels by priority later.
    pub fn allowance(&mut self, now: Time) -> u32 {
        let Some(rate) = self.rate else {
            return u32::MAX;
        };
        let gained = rate * now.since(self.filled_at).as_secs_f64();
        self.filled_at = now;
        debug_assert!(
            gained >= 0.0 && gained.is_finite(),
            "a bucket gains {gained} bytes"
        );
        self.bytes = (self.bytes + gained).min(self.limit);
        if self.bytes > 0.0 {
            WHOLE_SDU.max(self.bytes as u32)
        } else {
            0
        }
    }

    /// Records that the channel has sent `bytes`, which may exceed its allowance.
    #[inline]
    pub fn on_served(&mut self, bytes: u32) {
        self.bytes -= f64::from(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_ms(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn a_bucket_fills_at_its_rate_up_to_its_duration() {
        let channel = LogicalChannel {
            prioritised_bit_rate: Some(Rate::from_bits_per_sec(8_000_000)),
            ..LogicalChannel::default()
        };
        let mut bucket = Bucket::new(&channel);
        assert_eq!(bucket.allowance(at_ms(0)), 0);
        assert_eq!(bucket.allowance(at_ms(10)), 10_000);
        bucket.on_served(4_000);
        assert_eq!(bucket.allowance(at_ms(10)), 6_000);
        assert_eq!(bucket.allowance(at_ms(1_000)), 100_000);
    }

    #[test]
    fn a_debt_is_paid_before_more_is_allowed() {
        let channel = LogicalChannel {
            prioritised_bit_rate: Some(Rate::from_bits_per_sec(64_000)),
            ..LogicalChannel::default()
        };
        let mut bucket = Bucket::new(&channel);
        // The bucket contains 8 bytes. The allowance is still that of a whole SDU, because RLC does
        // not segment an SDU that fits into the block.
        assert_eq!(bucket.allowance(at_ms(1)), WHOLE_SDU);
        bucket.on_served(1_508);
        assert_eq!(bucket.allowance(at_ms(188)), 0);
        assert_eq!(bucket.allowance(at_ms(190)), WHOLE_SDU);
    }

    #[test]
    fn without_a_rate_everything_is_allowed() {
        let mut bucket = Bucket::new(&LogicalChannel::default());
        assert!(bucket.is_unlimited());
        bucket.on_served(u32::MAX);
        assert_eq!(bucket.allowance(at_ms(0)), u32::MAX);
    }
}
