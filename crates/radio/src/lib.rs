//! The radio: transport of packets from one antenna to another.
//!
//! ```text
//! access: carries packets, transport blocks and wake-ups between the machines below
//!    bearer    PDCP and RLC of one data radio bearer, over one leg or more
//!    leg       one UE in one cell: HARQ, reports, scheduling requests, DRX
//!    cell      scheduling of the UEs of a cell
//!    air       reception of transmissions, and interference
//!    rrc       serving cells of a UE, and the procedures after a link failure
//! plan, config: cells, UEs and bearers, and constants derived from them
//! mac: rules of scheduling, requests and DRX, apart from the machines that follow them
//! ```
//!
//! Start at [`access::RadioAccess`], which runs all machines without clock or I/O. A machine uses
//! the modules listed below `rrc`, and no other machine. [`LinkBudget`] is a radio link without
//! transport blocks and bearers, whose rate depends on the geometry of a blocker.
//!
//! The lower layers are crates of their own, so that none can depend on a higher one. Their names
//! are re-exported here: [`channel`] and [`antenna`], [`phy`], and of layer 2 [`rlc`], [`pdcp`],
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
pub mod path_state;
mod plan;
mod rrc;

pub use config::technology;
pub use fadeout_channel as channel;
pub use fadeout_channel::antenna;
pub use fadeout_layer2::{pdcp, rlc, user_plane, wire};
pub use fadeout_phy as phy;
pub use link_budget::{Blocker, LinkBudget, LinkBudgetError, LinkState};
