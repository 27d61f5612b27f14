//! Configuration of one end of a connection.

mod acks;
mod buffers;
mod host;
mod recovery;
mod resilience;
mod timers;

pub use acks::{AccurateEcn, AckConfig, AckRule, EcnMode};
pub use buffers::{
    BufferConfig, BufferGrowth, PacketMemory, ReceiveWindow, SendBufferConfig, SendBufferRule,
    SocketKind,
};
pub use host::{HostConfig, Pacing};
pub use recovery::{LossRecovery, NewRenoVariant, RecoverGuard, RecoveryConfig};
pub use resilience::{LossResponse, OutageResponse, ResilienceConfig};
pub use timers::{RtoRule, TimerConfig};

use super::profile::Profile;
use fadeout_core::MptcpOption;
use fadeout_core::registry::Parameters;

/// Constants of a TCP endpoint. [`TcpConfig::new`] builds them from a profile and the scenario's
/// overrides.
#[derive(Debug, Clone, PartialEq)]
pub struct TcpConfig {
    /// Largest payload of a segment without options (the MSS option), bytes.
    pub mss: u32,
    /// True if timestamps are offered (RFC 7323).
    pub timestamps: bool,
    /// True if segments carry Multipath TCP options. A mapping takes 24 bytes of each data segment,
    /// a DATA_ACK 12 bytes of each ACK.
    pub multipath: bool,
    /// Initial window, segments (RFC 6928).
    pub initial_window: u32,
    /// Initial slow-start threshold, segments. Infinite when there is no limit.
    pub initial_ssthresh: f64,
    /// True if the window shrinks after idle or application-limited periods (RFC 2861, as Linux).
    pub slow_start_after_idle: bool,
    /// Detection and repair of losses.
    pub recovery: RecoveryConfig,
    /// Timers, and the expiries after which the connection is given up.
    pub timers: TimerConfig,
    /// Acknowledgments, and the ECN feedback that they carry.
    pub acks: AckConfig,
    /// Receive buffer with its window, and send buffer.
    pub buffers: BufferConfig,
    /// Calls of the application, and the division of its data into packets.
    pub host: HostConfig,
    /// Schemes for links that fail.
    pub resilience: ResilienceConfig,
}

impl TcpConfig {
    /// Returns the configuration of profile `name` with the scenario's `overrides`. `None` if there
    /// is no such profile.
    pub fn new(name: &str, overrides: &Parameters) -> Option<TcpConfig> {
        Profile::new(name, overrides).map(Profile::config)
    }

    /// Returns the default configuration, which is that of Linux.
    pub fn linux() -> TcpConfig {
        TcpConfig::new("linux", Parameters::NONE).expect("the linux profile exists")
    }

    /// Returns the configuration with the changes that `change` makes.
    ///
    /// ```
    /// use fadeout_core::Span;
    /// use fadeout_transport::tcp::TcpConfig;
    ///
    /// let patient = TcpConfig::linux().changed(|tcp| tcp.timers.minimum_rto = Span::from_secs(1));
    /// assert_eq!(patient.recovery, TcpConfig::linux().recovery);
    /// ```
    #[must_use]
    pub fn changed(mut self, change: impl FnOnce(&mut TcpConfig)) -> TcpConfig {
        change(&mut self);
        self
    }

    /// Returns the payload of a full segment with options, bytes.
    pub fn effective_mss(&self) -> u32 {
        let mapping = if self.multipath {
            MptcpOption::MAPPING_LEN
        } else {
            0
        };
        self.mss - if self.timestamps { 12 } else { 0 } - mapping
    }
}
