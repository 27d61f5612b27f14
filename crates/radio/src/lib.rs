//! The radio: what becomes of a packet between an antenna and another.
//!
//! ```text
//! access: carries packets, blocks and wake-ups between the machines below
//!    bearer    PDCP and RLC of one data radio bearer, over one leg or more
//!    leg       one UE in one cell: HARQ, reports, scheduling requests, DRX
//!    cell      whom a cell serves in which slot
//!    air       what of a transmission is received, and who else hears it
//!    rrc       which cells serve a UE, and what follows when a link fails
//! plan, config: what there is, and what follows from it and never changes
//! mac: the rules of scheduling, requests and DRX apart from the machines that follow them
//! ```
//!
//! Start at [`access::RadioAccess`], which runs all of them without clock or I/O. A machine uses
//! what stands below `rrc`, and no other machine. A radio link without blocks and bearers, a rate that
//! follows the geometry of a blocker, is a [`LinkBudget`].
//!
//! The floors below are crates of their own, so that none can know what stands on it; their names
//! are here too: [`channel`] and [`antenna`], [`phy`], and of layer 2 [`rlc`], [`pdcp`],
//! [`user_plane`] and [`wire`].

pub mod access;
mod air;
mod bearer;
mod cell;
mod config;
mod leg;
mod link_budget;
pub mod mac;
pub mod outlook;
mod plan;
mod rrc;
pub mod sight;

pub use config::technology;
pub use fadeout_channel as channel;
pub use fadeout_channel::antenna;
pub use fadeout_layer2::{pdcp, rlc, user_plane, wire};
pub use fadeout_phy as phy;
pub use link_budget::{Blocker, LinkBudget, LinkBudgetError, LinkState};
