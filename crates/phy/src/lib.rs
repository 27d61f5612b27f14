//! The physical layer as the layers above see it: from SINR to blocks that arrive or do not.
//!
//! Frames, slots and delays: [`numerology`], [`frame`], [`tdd`], [`lte_tdd`], [`timing`]. What a block carries: [`mcs`],
//! [`cqi`], [`tbs`], [`lte`], [`overhead`], [`code_block`]. Whether it arrives:
//! [`mutual_information`], [`effective_sinr`], [`bler`], [`harq`]. Choice of the scheme:
//! [`link_adaptation`], [`sub_band`]; [`rate`] for links without blocks. Uplink [`power`].

pub mod bler;
pub mod code_block;
pub mod cqi;
pub mod effective_sinr;
mod error;
pub mod frame;
pub mod harq;
pub mod link_adaptation;
pub mod lte;
pub mod lte_tdd;
pub mod mcs;
pub mod mutual_information;
pub mod numerology;
pub mod overhead;
pub mod power;
pub mod rate;
pub mod sub_band;
pub mod tbs;
pub mod tdd;
pub mod timing;

pub use error::PhyError;
