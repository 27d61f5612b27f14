//! Physical units as types.

use crate::Span;
use std::fmt;

/// Number of bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Bytes(pub u64);

/// Rate in bits per second.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Rate(u64);

impl Rate {
    /// Rate at which nothing passes.
    pub const ZERO: Rate = Rate(0);
    /// Rate at which a transmission takes no time.
    pub const UNLIMITED: Rate = Rate(u64::MAX);

    /// Returns a rate of `bits` bits per second.
    pub const fn from_bits_per_sec(bits: u64) -> Rate {
        Rate(bits)
    }
    /// Returns the bits per second.
    pub const fn as_bits_per_sec(self) -> u64 {
        self.0
    }
    /// Returns the bytes per second.
    pub fn as_bytes_per_sec_f64(self) -> f64 {
        self.0 as f64 / 8.0
    }
    /// Returns the megabits per second.
    pub fn as_mbps(self) -> f64 {
        self.0 as f64 / 1e6
    }
    /// Returns true if the rate is zero.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
    /// Returns true if transmission takes no time.
    pub const fn is_unlimited(self) -> bool {
        self.0 == u64::MAX
    }
    /// Returns the time to send `bytes` at this rate, rounded down to the nanosecond. Zero if the
    /// rate is unlimited, [`Span::MAX`] if it is zero.
    pub fn time_to_send(self, bytes: Bytes) -> Span {
        if self.is_unlimited() {
            return Span::ZERO;
        }
        if self.is_zero() {
            return Span::MAX;
        }
        let bit_nanos = u128::from(bytes.0) * 8_000_000_000;
        Span::from_nanos(u64::try_from(bit_nanos / u128::from(self.0)).unwrap_or(u64::MAX))
    }
}

impl fmt::Debug for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_unlimited() {
            f.write_str("unlimited")
        } else {
            write!(f, "{} Mbit/s", self.as_mbps())
        }
    }
}

macro_rules! float_unit {
    ($(#[$doc:meta])* $name:ident, $suffix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, PartialOrd, Default)]
        pub struct $name(pub f64);

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!("{} ", $suffix), self.0)
            }
        }
    };
}

float_unit!(
    /// Frequency in hertz.
    Hertz, "Hz"
);
float_unit!(
    /// Ratio of powers in decibel.
    Decibel, "dB"
);
float_unit!(
    /// Power in decibel relative to one milliwatt.
    Dbm, "dBm"
);
float_unit!(
    /// Length in metres.
    Meters, "m"
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_frame_takes_its_time_on_a_gigabit_link() {
        let rate = Rate::from_bits_per_sec(1_000_000_000);
        assert_eq!(rate.time_to_send(Bytes(1500)), Span::from_micros(12));
        assert_eq!(Rate::UNLIMITED.time_to_send(Bytes(1500)), Span::ZERO);
        assert_eq!(Rate::ZERO.time_to_send(Bytes(1)), Span::MAX);
    }
}
