//! Applications: what drives the two ends of a connection or of a flow of datagrams, sans-IO.
//!
//! An [`Application`] stands for the programs at both ends. It is told when its flow starts, what
//! bytes arrived where, and when the time it asked for has come; it answers with what the ends ask
//! of their connection.

mod bulk;
mod countdown;
mod download;
mod echo;
mod full_buffer;
mod on_off;
mod packet_stream;
mod registry;
mod request_response;
mod transfer;

pub use bulk::Bulk;
pub use download::Download;
pub use echo::Echo;
pub use full_buffer::FullBuffer;
pub use on_off::OnOff;
pub use packet_stream::PacketStream;
pub use registry::{APPLICATIONS, Application};
pub use request_response::RequestResponse;
pub use transfer::Transfer;

use fadeout_core::{Bytes, FlowEnd};

/// A request of an end to its connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request {
    /// Send this many bytes; over UDP as one datagram.
    Write(Bytes),
    /// Send without end.
    WriteForever,
    /// Close when everything is sent.
    Close,
}

/// A request and the end that makes it.
pub type Ask = (FlowEnd, Request);
