//! Transmitting and receiving sides of an LTE entity.
//!
//! Standard: TS 36.322.

mod am_rx;
mod am_tx;
mod assembly;
mod order;
mod um;

pub(super) use am_rx::AmRx;
pub(super) use am_tx::AmTx;
pub use assembly::LONGEST_DATA_FIELD;
pub(super) use um::{UmRx, UmTx};
