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

pub mod access;
pub mod antenna;
pub mod channel;
mod link_budget;
pub mod mac;
pub mod named;
pub mod outlook;
pub mod pdcp;
pub mod phy;
pub mod rlc;
pub mod wire;

pub use link_budget::{Blocker, LinkBudget, LinkBudgetError, LinkState};
