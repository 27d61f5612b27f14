//! Continuation of a subflow as plain TCP.

use super::TcpEndpoint;
use crate::tcp::receiver::shared;

/// Makes `subflow` an endpoint whose segments have no MPTCP option. Must be called before the
/// handshake is complete, because the handshake decides the segment size.
///
/// Standard: RFC 8684 §3.7.
pub(crate) fn fall_back(subflow: &mut TcpEndpoint) {
    subflow.opening.leave_multipath();
    shared::leave_multipath(&mut subflow.receiver);
}
