//! Layer 2 above the MAC: RLC and PDCP of NR and LTE, and their formats on the air.
//!
//! ```text
//! packets ─► pdcp: numbers, order, discard ─► rlc: segments, retransmissions ─► transport blocks
//!                                                                                   │
//!                                             wire: MAC PDUs as bytes, for captures ◄
//! ```
//!
//! Each entity is one end of one bearer, without clock or I/O. The caller gives it the time and
//! carries its [`TransportBlock`](rlc::TransportBlock)s.

pub mod pdcp;
pub mod rlc;
pub mod user_plane;
pub mod wire;
