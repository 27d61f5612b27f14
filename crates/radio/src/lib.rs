//! Radio access: so far the geometry of blockage and a directional link budget, down to a rate.
//!
//! ```text
//! geometry ──► channel (path loss, diffraction at a blocker, noise)
//!                  │        antenna (beams) ──► gains
//!                  └──────────────┬───────────────┘
//!                            LinkBudget ──► SNR ──► phy (MCS for a target BLER) ──► rate
//! ```
//!
//! Start at [`LinkBudget`]. Everything is a function of its arguments; nothing here is random.

pub mod access;
pub mod antenna;
pub mod channel;
mod link_budget;
pub mod mac;
pub mod pdcp;
pub mod phy;
pub mod rlc;

pub use link_budget::{Blocker, LinkBudget, LinkBudgetError, LinkState};
