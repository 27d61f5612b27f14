//! A TCP endpoint without clock or I/O.
//!
//! [`TcpEndpoint`] is an endpoint of a connection. `endpoint` holds handshake and close and carries
//! data between its machines. `sender` holds everything about outgoing data, `receiver` everything
//! about incoming data. A whole stack is chosen by name through a [profile](PROFILES): Linux's, the
//! plain RFCs', or an older one.

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
