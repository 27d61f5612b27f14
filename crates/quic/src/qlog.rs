//! Events of a connection in the format qlog (draft-ietf-quic-qlog-main-schema), which the QUIC
//! stack writes.

use crate::clock::Clock;
use noq_proto::TransportConfig;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// Text that the stack has written and the end has not taken.
#[derive(Debug, Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    /// Returns the text written since the last call.
    pub(crate) fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut text = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Lets the stack write into a log. Times count from the start of the simulation.
#[cfg(not(target_family = "wasm"))]
pub(crate) fn attach(config: &mut TransportConfig, log: &Log, clock: Clock) {
    config.qlog_factory(Arc::new(factory::Logs {
        log: log.clone(),
        clock,
    }));
}

/// Does nothing, because the stack has no logs on WebAssembly.
#[cfg(target_family = "wasm")]
pub(crate) fn attach(_: &mut TransportConfig, _: &Log, _: Clock) {}

#[cfg(not(target_family = "wasm"))]
mod factory {
    use super::Log;
    use crate::clock::Clock;
    use fadeout_core::Time;
    use noq_proto::{ConnectionId, QlogConfig, QlogFactory, Side};
    use std::net::SocketAddr;
    use std::time::Instant;

    /// Factory of an end's log.
    pub(super) struct Logs {
        pub(super) log: Log,
        pub(super) clock: Clock,
    }

    impl QlogFactory for Logs {
        fn for_connection(
            &self,
            _: Side,
            _: SocketAddr,
            _: ConnectionId,
            _: Instant,
        ) -> Option<QlogConfig> {
            let mut config = QlogConfig::new(Box::new(self.log.clone()));
            config.start_time(self.clock.instant(Time::ZERO));
            Some(config)
        }
    }
}
