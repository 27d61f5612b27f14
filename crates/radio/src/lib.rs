//! The radio: what becomes of a packet between an antenna and another.
//!
//! ```text
//! packets ─► pdcp ─► rlc ─► mac ─► phy: blocks of a size that arrive or do not ─► packets
//!                            │      ▲
//!               access: cells, UEs, HARQ, slots
//!                                   │ SINR
//!                    channel, antenna: gains, noise
//! ```
//!
//! Start at [`access::RadioAccess`], which runs cells, UEs and bearers as one machine without clock
//! or I/O. A radio link without blocks and bearers, a rate that follows the geometry of a blocker,
//! is a [`LinkBudget`].
//!
//! The floors below are crates of their own, so that none can know what stands on it; their names
//! are here too: [`channel`] and [`antenna`], [`phy`], and of layer 2 [`rlc`], [`pdcp`] and
//! [`wire`].

pub mod access;
mod air;
mod bearer;
mod cell;
mod config;
mod leg;
mod link_budget;
pub mod mac;
pub mod named;
pub mod outlook;
mod plan;
mod rrc;

pub use fadeout_channel as channel;
pub use fadeout_channel::antenna;
pub use fadeout_layer2::{pdcp, rlc, wire};
pub use fadeout_phy as phy;
pub use link_budget::{Blocker, LinkBudget, LinkBudgetError, LinkState};
