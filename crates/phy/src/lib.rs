//! Physical layer as seen by the layers above: from SINR to blocks that are decoded or lost.
//!
//! Frames, slots and delays are in [`numerology`], [`frame`], [`tdd`], [`lte_tdd`] and [`timing`].
//! Sizes of blocks are in [`mcs`], [`cqi`], [`tbs`], [`lte`], [`overhead`] and [`code_block`].
//! Error rates are in [`mutual_information`], [`effective_sinr`], [`bler`] and [`harq`]. The choice
//! of the scheme is in [`link_adaptation`] and [`sub_band`]. [`rate`] serves links without blocks,
//! and [`power`] the uplink.

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
