//! Transmit power: open-loop control of the uplink and the power of a resource element.
//!
//! Standard: TS 36.213 §5.1; TS 38.213 §7.1.

use super::numerology::SUBCARRIERS;
use fadeout_core::math::{from_db, to_db};
use fadeout_core::{Dbm, Decibel};

/// Open-loop power control with fractional compensation of the path loss.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OpenLoopPower {
    /// Largest power of the device (P_CMAX). Power class 3 has 23 dBm.
    pub most: Dbm,
    /// Target power at the base station in one resource block of 15 kHz (P_0).
    pub target: Dbm,
    /// Share of the path loss in dB that is compensated (alpha), 0 to 1.
    pub compensation: f64,
}

impl Default for OpenLoopPower {
    /// Returns full compensation of the path loss, with a target of -106 dBm in a resource block.
    fn default() -> Self {
        OpenLoopPower {
            most: Dbm(23.0),
            target: Dbm(-106.0),
            compensation: 1.0,
        }
    }
}

impl OpenLoopPower {
    /// Returns the transmit power of PUSCH on `resource_blocks` of numerology `mu` at this path
    /// loss, over all blocks. Adjustments for the scheme and by commands are not modelled.
    pub fn power(&self, mu: u8, resource_blocks: u32, path_loss: Decibel) -> Dbm {
        let blocks = f64::from(resource_blocks.max(1)) * f64::from(1_u32 << mu);
        let wanted = to_db(blocks) + self.target.0 + self.compensation * path_loss.0;
        debug_assert!(!wanted.is_nan(), "a transmit power of {wanted} dBm");
        Dbm(wanted.min(self.most.0))
    }

    /// Returns the largest number of resource blocks that the device can send at the target power,
    /// 1 to `available`.
    pub fn affordable(&self, mu: u8, available: u32, path_loss: Decibel) -> u32 {
        let of_one = self.target.0 + self.compensation * path_loss.0;
        let blocks = from_db(self.most.0 - of_one) / f64::from(1_u32 << mu);
        // The cast saturates. The margin prevents that rounding reduces a whole number of blocks by
        // one.
        ((blocks * (1.0 + 1e-12)) as u32).clamp(1, available.max(1))
    }
}

/// Returns the power of one resource element if `total` is spread evenly over `resource_blocks`.
pub fn per_resource_element(total: Dbm, resource_blocks: u32) -> Dbm {
    Dbm(total.0 - to_db(f64::from(SUBCARRIERS * resource_blocks.max(1))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn power_follows_blocks_and_path_loss_up_to_the_most() {
        let power = OpenLoopPower::default();
        let found = power.power(0, 10, Decibel(110.0));
        assert!((found.0 - 14.0).abs() < 1e-9, "{found:?}");
        let fractional = OpenLoopPower {
            target: Dbm(-80.0),
            compensation: 0.8,
            ..power
        };
        assert_eq!(fractional.power(1, 50, Decibel(120.0)), Dbm(23.0));
        let found = per_resource_element(Dbm(46.0), 100);
        assert!((found.0 - 15.2082).abs() < 1e-4, "{found:?}");
    }

    #[test]
    fn a_device_affords_as_many_blocks_as_its_power_serves() {
        let power = OpenLoopPower::default();
        // One block needs -106 + 109 = 3 dBm. The difference to 23 dBm is 20 dB, a hundred blocks.
        assert_eq!(power.affordable(0, 273, Decibel(109.0)), 100);
        assert_eq!(power.affordable(1, 273, Decibel(109.0)), 50);
        assert_eq!(power.affordable(0, 50, Decibel(109.0)), 50);
        assert_eq!(power.affordable(0, 50, Decibel(160.0)), 1);
        assert_eq!(power.affordable(0, 50, Decibel(f64::NEG_INFINITY)), 50);
    }
}
