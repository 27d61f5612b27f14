//! Transmitting and receiving sides of an NR entity.
//!
//! Standard: TS 38.322.

mod am_rx;
mod am_tx;
mod um;

pub(super) use am_rx::AmRx;
pub(super) use am_tx::AmTx;
pub(super) use um::{UmRx, UmTx};
