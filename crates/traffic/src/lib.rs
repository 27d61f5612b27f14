//! Applications at the two ends of a connection or datagram flow, without I/O.
//!
//! An [`Application`] stands for the programs at both ends. Its inputs are the start of the flow,
//! the bytes that arrive at each end, and wake-ups that it asked for. Its outputs are the requests
//! of the ends to their connection.

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

/// Request of an end to its connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request {
    /// Sends this many bytes, over UDP as one datagram.
    Write(Bytes),
    /// Sends without end.
    WriteForever,
    /// Closes when everything is sent.
    Close,
}

/// Request with the end that makes it.
pub type Ask = (FlowEnd, Request);
