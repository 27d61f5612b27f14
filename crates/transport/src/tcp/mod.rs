//! A TCP endpoint without clock or I/O.
//!
//! [`TcpEndpoint`] is an endpoint of a connection. `endpoint` implements handshake and close, and
//! connects the other modules. `sender` implements outgoing data and `receiver` incoming data. A
//! [profile](PROFILES) chooses a whole TCP stack by its name: Linux, the plain RFCs, or an older
//! stack.

mod accurate;
mod config;
pub(crate) mod endpoint;
mod expendable;
mod info;
mod outbox;
mod profile;
mod rate;
pub(crate) mod receiver;
mod rtt;
mod scoreboard;
pub(crate) mod sender;
pub(crate) mod socket;
pub(crate) mod timer;

pub use accurate::AccurateCounters;
pub use config::{
    AccurateEcn, AckConfig, AckRule, BufferConfig, BufferGrowth, EcnMode, HostConfig, LossRecovery,
    LossResponse, NewRenoVariant, OutageResponse, Pacing, PacketMemory, ReceiveWindow,
    RecoverGuard, RecoveryConfig, ResilienceConfig, RtoRule, SendBufferConfig, SendBufferRule,
    SocketKind, TcpConfig, TimerConfig,
};
pub(crate) use endpoint::SubflowView;
pub use endpoint::{AppCommand, Calls, ConnectionState, SocketOption, TcpEndpoint};
pub use info::TcpInfo;
pub use outbox::{AppEvent, Outbox, Outgoing};
pub use profile::PROFILES;
pub use receiver::{Coalesced, Parts};
pub use sender::{Delivery, HostQueue, SenderStatistics, Steering};
