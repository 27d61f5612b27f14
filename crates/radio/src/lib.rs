//! Radio channel, blockage, antennas and PHY abstraction.
