//! Fallback to plain TCP with a peer that does not use Multipath TCP. The first subflow then
//! carries the whole stream without options.
//!
//! The numbers of the subflow equal those of the connection, because the subflow has carried no
//! other data. So its acknowledgment is the DATA_ACK, and its FIN is the DATA_FIN.
//!
//! Standard: RFC 8684 §3.7.

use super::{MultipathConnection, PathOutbox};
use crate::tcp::ConnectionState;
use crate::tcp::endpoint::fallback::fall_back;
use fadeout_core::{Dss, Flags, MptcpOption, Probe, Segment, Time};

impl MultipathConnection {
    /// Returns true if the connection continues as plain TCP.
    pub fn has_fallen_back(&self) -> bool {
        self.has_fallen_back
    }

    /// Falls back to plain TCP if `segment` is the peer's part of the handshake on path `index` and
    /// has no MP_CAPABLE. The part is the SYN, the SYN-ACK or the third packet.
    ///
    /// Standard: RFC 8684 §3.1, §3.7.
    pub(super) fn fall_back_if_plain(&mut self, index: usize, segment: &Segment) {
        let is_option_missing = segment.mptcp.is_empty() && !segment.flags.has(Flags::RST);
        if index != 0 || self.has_fallen_back || !is_option_missing {
            return;
        }
        let is_syn = segment.flags.has(Flags::SYN);
        let has_ack = segment.flags.has(Flags::ACK);
        let is_handshake = match self.paths[0].tcp.state() {
            ConnectionState::Listen => is_syn && !has_ack,
            ConnectionState::SynSent => is_syn && (!has_ack || segment.ack == 1),
            ConnectionState::SynReceived => !is_syn && has_ack && segment.ack == 1,
            _ => false,
        };
        if !is_handshake {
            return;
        }
        self.has_fallen_back = true;
        self.paths[0].is_plain = true;
        fall_back(&mut self.paths[0].tcp);
        self.manager.stay_alone();
        for other in 1..self.paths.len() {
            self.lose_path(other);
        }
    }

    /// Returns a segment of plain TCP with the option that has the same meaning. `None` if the
    /// connection has not fallen back.
    pub(super) fn signalled(&mut self, segment: &Segment) -> Option<Segment> {
        if !self.has_fallen_back {
            return None;
        }
        let mptcp = if segment.flags.has(Flags::RST) {
            MptcpOption::None
        } else if segment.flags.has(Flags::SYN) {
            MptcpOption::Capable
        } else {
            if segment.flags.has(Flags::FIN) {
                self.inbound
                    .on_data_fin(segment.seq + u64::from(segment.len));
            }
            MptcpOption::Dss(Dss {
                data_ack: segment.ack,
                data_seq: segment.seq,
                data_len: u16::try_from(segment.len).unwrap_or(u16::MAX),
                ..Dss::default()
            })
        };
        Some(Segment { mptcp, ..*segment })
    }

    /// Closes the subflow of a connection that has fallen back, once all written data was sent.
    pub(super) fn send_fin(&mut self, now: Time, out: &mut PathOutbox, probe: &mut impl Probe) {
        let has_sent = self.outbound.nxt() == self.outbound.end();
        let is_closing = self.outbound.is_finishing() && has_sent;
        if self.is_established && is_closing && !self.manager.is_closing() {
            self.outbound.enable_fin();
            self.close_subflows(now, out, probe);
        }
    }
}
