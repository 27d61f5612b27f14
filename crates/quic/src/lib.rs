//! QUIC endpoints, sans-IO. The protocol machine is that of the library noq, and no other crate
//! knows this library.
//!
//! Time enters as an argument. Random numbers and connection IDs come from the scenario's seed.
//! The encryption changes no byte and has the sizes of TLS 1.3, which the module `handshake` lists.
//! So a connection has the same packets on every machine.

mod clock;
mod config;
mod control;
mod delivery;
mod end;
mod estimator;
mod handshake;
mod identifiers;
mod observer;
mod protection;
mod streams;

pub use config::{QuicConfig, QuicConfigError};
pub use end::{QuicEnd, QuicOutbox, QuicStatistics, Sending};
