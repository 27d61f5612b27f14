//! QUIC endpoints, sans-IO. The protocol machine is that of the library noq, and no other crate
//! knows this library.
//!
//! Time enters as an argument. Random numbers and connection IDs come from the scenario's seed.
//! By default the encryption changes no byte and has the sizes of TLS 1.3, which the module
//! `handshake` lists. The module `tls` has real encryption. In both cases a connection has the same
//! packets on every machine.

mod clock;
mod clocks;
mod config;
mod control;
mod delivery;
mod end;
mod estimator;
mod handshake;
mod identifiers;
mod observer;
mod paths;
mod protection;
mod qlog;
mod statistics;
mod streams;
#[cfg_attr(target_family = "wasm", path = "tls_absent.rs")]
mod tls;

pub use config::{QuicConfig, QuicConfigError, QuicPaths};
pub use end::{QuicDatagram, QuicEnd, QuicOutbox};
pub use statistics::{PathStatistics, QuicStatistics, Sending};
