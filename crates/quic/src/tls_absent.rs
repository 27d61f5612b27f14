//! Absence of TLS on WebAssembly, for which the library ring is not built.

use fadeout_core::random::Stream;
use noq_proto::crypto::{ClientConfig, ServerConfig};
use std::sync::{Arc, Mutex};

/// True if connections may have real encryption.
pub(crate) const IS_PRESENT: bool = false;

/// Text of the keys of a connection, which stays empty.
pub(crate) type Secrets = Arc<Mutex<String>>;

/// Runs a step without random numbers. Returns the result of the step, and the stream.
pub(crate) fn lend<R>(random: Stream, step: impl FnOnce() -> R) -> (R, Stream) {
    (step(), random)
}

/// Never returns, because configurations with TLS are refused.
pub(crate) fn client(_: u64) -> Arc<dyn ClientConfig> {
    unreachable!("a configuration with TLS is refused")
}

/// Never returns, because configurations with TLS are refused.
pub(crate) fn server(_: u64, _: u64, _: &Secrets) -> Arc<dyn ServerConfig> {
    unreachable!("a configuration with TLS is refused")
}
