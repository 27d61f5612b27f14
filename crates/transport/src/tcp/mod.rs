//! A TCP endpoint without clock or I/O.
//!
//! [`TcpEndpoint`] is one end of a connection: `endpoint` holds handshake and close and carries
//! between its machines, `sender` everything about data going out, `receiver` everything about data
//! coming in. A whole stack is chosen by name through a [profile](PROFILES): Linux's, the plain RFCs', or an older one.

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
pub(crate) mod timer;

pub use accurate::AccurateCounters;
pub use config::{
    AccurateEcn, AckRule, EcnMode, LossRecovery, LossResponse, NewRenoVariant, OutageResponse,
    Pacing, PacketMemory, ReceiveWindow, RecoverGuard, ResilienceConfig, RtoRule, SendBufferConfig,
    SendBufferRule, TcpConfig,
};
pub(crate) use endpoint::SubflowView;
pub use endpoint::{AppCommand, Calls, ConnectionState, SocketOption, TcpEndpoint};
pub use info::TcpInfo;
pub use outbox::{AppEvent, Outbox, Outgoing};
pub use profile::PROFILES;
pub use sender::SenderStatistics;
