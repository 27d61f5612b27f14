//! Radio link control of NR and LTE: transparent, unacknowledged and acknowledged mode.
//!
//! Standard: TS 38.322; TS 36.322.
//!
//! ```text
//! push_sdu ─► buffer ─► pull(grant) ─► TransportBlock ─► HARQ ─► on_block ─► SDUs
//!                          ▲                                        │
//!                          └────────── STATUS PDUs ◄────────────────┘
//! ```
//!
//! An [`Entity`] has both directions of one end of a bearer. It communicates with the other end
//! only by [`TransportBlock`]s. Sequence numbers in PDUs have the standard's length, and internal
//! ones never wrap.

pub(crate) mod allowed;
mod aqm;
mod block;
mod buffer;
mod config;
mod entity;
mod lte;
mod nr;
mod outstanding;
mod pieces;
mod poll;
mod pull;
mod reception;
mod registry;
mod report;
mod sdu;
mod sequence;
mod status;
mod tm;
mod unacked;

pub use aqm::{AQMS, Aqm, AqmConfig, AtHead};
pub use block::{Backlog, MacSubheader, Nack, Pdu, PduKind, TransportBlock};
pub use buffer::{DropTail, QueueManagement, SduQueue};
pub use config::{AmConfig, Generation, Mode, NAMED, ParameterError, RlcConfig, UmConfig};
pub use entity::Entity;
pub use lte::LONGEST_DATA_FIELD;
pub use registry::{Acknowledged, RLC_MODES, RlcMode, Transparent, Unacknowledged};
pub use sdu::{Sdu, SduPart};
pub(crate) use sequence::{START, SnSpace, Window};
