//! Packet Data Convergence Protocol (PDCP) of NR and LTE: COUNT, reordering, duplicates, discard.
//!
//! [`Tx`] numbers packets and hands them to an RLC entity. [`Rx`] restores their order. [`Rohc`]
//! compresses packet headers at the sender and decompresses them at the receiver. Ciphering is left
//! out, because it has no effect here. [`Ledger`] records the packets between the two ends, so that
//! each packet leaves the bearer once, delivered or lost.
//!
//! Standard: TS 38.323; TS 36.323.

mod config;
mod ledger;
mod registry;
mod rohc;
mod rx;
mod tx;

pub use config::{Delivery, PdcpConfig, check_split_threshold};
pub use ledger::Ledger;
pub use registry::{PDCPS, Pdcp};
pub use rohc::{Rohc, RohcConfig, RohcCounts};
pub use rx::Rx;
pub use tx::Tx;
