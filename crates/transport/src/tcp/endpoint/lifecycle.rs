//! States of a connection, and the events that change the state.
//!
//! Standard: RFC 9293 §3.3.2, §3.6.

/// State of a connection.
///
/// Standard: RFC 9293 §3.3.2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the standard's names")]
pub enum ConnectionState {
    Closed,
    Listen,
    SynSent,
    SynReceived,
    Established,
    FinWait1,
    FinWait2,
    CloseWait,
    Closing,
    LastAck,
    TimeWait,
}

use ConnectionState as S;

/// Action after the application closed the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Close {
    /// No action, because the connection is closing or was never open.
    Nothing,
    /// The connection ends at once.
    Over,
    /// A FIN is sent after the written data.
    Finish,
}

/// Action after the application reset the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reset {
    /// No action, because there is no connection.
    Nothing,
    /// The connection ends without a reset. The peer either does not know the connection or has
    /// closed it too.
    Over,
    /// The connection ends, and the peer receives a reset.
    Sent,
}

/// State machine of a connection.
#[derive(Debug)]
pub(super) struct Lifecycle {
    state: ConnectionState,
}

impl Lifecycle {
    pub(super) fn new() -> Lifecycle {
        Lifecycle { state: S::Closed }
    }

    #[inline]
    pub(super) fn state(&self) -> ConnectionState {
        self.state
    }

    /// Returns true if data may be sent. During the handshake only `before_established` (Fast Open)
    /// allows it.
    #[inline]
    pub(super) fn may_send(&self, before_established: bool) -> bool {
        matches!(
            self.state,
            S::Established | S::CloseWait | S::FinWait1 | S::LastAck | S::Closing
        ) || (self.state == S::SynReceived && before_established)
    }

    /// Waits for a peer, if no connection was opened.
    pub(super) fn listen(&mut self) {
        if matches!(self.state, S::Closed | S::Listen) {
            self.state = S::Listen;
        }
    }

    /// Opens a connection. Returns true if a SYN must be sent. Returns false if the endpoint was
    /// opened before, because an endpoint opens only once.
    pub(super) fn connect(&mut self) -> bool {
        let may = matches!(self.state, S::Closed | S::Listen);
        if may {
            self.state = S::SynSent;
        }
        may
    }

    /// Records that this end answers the SYN of the peer.
    pub(super) fn answer(&mut self) {
        self.state = S::SynReceived;
    }

    /// Completes the handshake. The application may have closed already.
    pub(super) fn establish(&mut self, is_finishing: bool) {
        self.state = if is_finishing {
            S::FinWait1
        } else {
            S::Established
        };
    }

    /// Closes the connection for writing. If the SYN carries data (`carries_data`), the handshake
    /// continues. A connection that `may_send` before it is established closes like an established
    /// one.
    ///
    /// Standard: RFC 9293 §3.10.4.
    pub(super) fn close(&mut self, carries_data: bool, may_send: bool) -> Close {
        match self.state {
            S::SynSent if carries_data => Close::Finish,
            S::Listen | S::SynSent => {
                self.state = S::Closed;
                Close::Over
            }
            // The FIN is sent once the connection is established.
            S::SynReceived if !may_send => Close::Finish,
            S::Established | S::SynReceived => {
                self.state = S::FinWait1;
                Close::Finish
            }
            S::CloseWait => {
                self.state = S::LastAck;
                Close::Finish
            }
            _ => Close::Nothing,
        }
    }

    /// Drops the connection for the application. The peer receives a reset if it may know the
    /// connection.
    ///
    /// Standard: RFC 9293 §3.10.5.
    pub(super) fn reset(&mut self) -> Reset {
        let was = std::mem::replace(&mut self.state, S::Closed);
        match was {
            S::Closed => Reset::Nothing,
            S::Listen | S::SynSent | S::Closing | S::LastAck | S::TimeWait => Reset::Over,
            S::SynReceived | S::Established | S::FinWait1 | S::FinWait2 | S::CloseWait => {
                Reset::Sent
            }
        }
    }

    /// Ends a connection that was given up, that the peer reset, or that lost its path.
    pub(super) fn end(&mut self) {
        self.state = S::Closed;
    }

    /// Returns true if the application must be notified of the FIN that is now in order.
    pub(super) fn reports_fin(&self) -> bool {
        matches!(self.state, S::Established | S::FinWait1 | S::FinWait2)
    }

    /// Updates the state after a segment that acknowledged this end's FIN or carried the peer's
    /// FIN. Returns true if both directions are closed now.
    ///
    /// Standard: RFC 9293 §3.6.
    pub(super) fn follow_fins(&mut self, own_is_acked: bool, peers_came: bool) -> bool {
        let next = match self.state {
            S::Established if peers_came => S::CloseWait,
            S::FinWait1 if own_is_acked && peers_came => S::TimeWait,
            S::FinWait1 if own_is_acked => S::FinWait2,
            S::FinWait1 if peers_came => S::Closing,
            S::FinWait2 if peers_came => S::TimeWait,
            S::Closing if own_is_acked => S::TimeWait,
            S::LastAck if own_is_acked => S::Closed,
            same => same,
        };
        let is_over = next != self.state && matches!(next, S::TimeWait | S::Closed);
        self.state = next;
        is_over
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> [ConnectionState; 11] {
        [
            S::Closed,
            S::Listen,
            S::SynSent,
            S::SynReceived,
            S::Established,
            S::FinWait1,
            S::FinWait2,
            S::CloseWait,
            S::Closing,
            S::LastAck,
            S::TimeWait,
        ]
    }

    #[test]
    fn an_endpoint_opens_once() {
        for state in all() {
            let is_unused = matches!(state, S::Closed | S::Listen);
            let mut opens = Lifecycle { state };
            assert_eq!(opens.connect(), is_unused, "{state:?}");
            let expected = if is_unused { S::SynSent } else { state };
            assert_eq!(opens.state(), expected);
            let mut listens = Lifecycle { state };
            listens.listen();
            let expected = if is_unused { S::Listen } else { state };
            assert_eq!(listens.state(), expected);
        }
    }

    #[test]
    fn data_leaves_while_this_end_has_not_closed_its_half() {
        let may: Vec<_> = all()
            .into_iter()
            .filter(|&state| Lifecycle { state }.may_send(false))
            .collect();
        let expected = [
            S::Established,
            S::FinWait1,
            S::CloseWait,
            S::Closing,
            S::LastAck,
        ];
        assert_eq!(may, expected);
        let early: Vec<_> = all()
            .into_iter()
            .filter(|&state| {
                let life = Lifecycle { state };
                life.may_send(true) && !life.may_send(false)
            })
            .collect();
        assert_eq!(early, [S::SynReceived]);
    }

    #[test]
    fn a_close_finishes_what_is_open_and_ends_what_never_was() {
        for (state, carries_data, may_send, asked, then) in [
            (S::Closed, false, false, Close::Nothing, S::Closed),
            (S::Listen, false, false, Close::Over, S::Closed),
            (S::SynSent, false, false, Close::Over, S::Closed),
            (S::SynSent, true, false, Close::Finish, S::SynSent),
            (S::SynReceived, true, false, Close::Finish, S::SynReceived),
            (S::SynReceived, false, true, Close::Finish, S::FinWait1),
            (S::Established, false, false, Close::Finish, S::FinWait1),
            (S::CloseWait, false, false, Close::Finish, S::LastAck),
            (S::FinWait1, true, true, Close::Nothing, S::FinWait1),
            (S::FinWait2, true, true, Close::Nothing, S::FinWait2),
            (S::Closing, true, true, Close::Nothing, S::Closing),
            (S::LastAck, true, true, Close::Nothing, S::LastAck),
            (S::TimeWait, true, true, Close::Nothing, S::TimeWait),
        ] {
            let mut life = Lifecycle { state };
            assert_eq!(life.close(carries_data, may_send), asked, "{state:?}");
            assert_eq!(life.state(), then, "{state:?}");
        }
    }

    #[test]
    fn a_reset_is_told_to_a_peer_that_may_wait() {
        for state in all() {
            let mut life = Lifecycle { state };
            let expected = match state {
                S::Closed => Reset::Nothing,
                S::SynReceived | S::Established | S::FinWait1 | S::FinWait2 | S::CloseWait => {
                    Reset::Sent
                }
                _ => Reset::Over,
            };
            assert_eq!(life.reset(), expected, "{state:?}");
            assert_eq!(life.state(), S::Closed);
        }
    }

    #[test]
    fn the_fins_move_a_connection_to_its_end() {
        for (state, own, peers, then, is_over) in [
            (S::Established, false, false, S::Established, false),
            (S::Established, true, true, S::CloseWait, false),
            (S::FinWait1, false, false, S::FinWait1, false),
            (S::FinWait1, true, false, S::FinWait2, false),
            (S::FinWait1, false, true, S::Closing, false),
            (S::FinWait1, true, true, S::TimeWait, true),
            (S::FinWait2, true, false, S::FinWait2, false),
            (S::FinWait2, true, true, S::TimeWait, true),
            (S::CloseWait, true, true, S::CloseWait, false),
            (S::Closing, false, true, S::Closing, false),
            (S::Closing, true, true, S::TimeWait, true),
            (S::LastAck, false, true, S::LastAck, false),
            (S::LastAck, true, true, S::Closed, true),
            (S::TimeWait, true, true, S::TimeWait, false),
            (S::Closed, true, true, S::Closed, false),
        ] {
            let mut life = Lifecycle { state };
            let reports = matches!(state, S::Established | S::FinWait1 | S::FinWait2);
            assert_eq!(life.reports_fin(), reports, "{state:?}");
            assert_eq!(life.follow_fins(own, peers), is_over, "{state:?}");
            assert_eq!(life.state(), then, "{state:?}");
        }
    }

    #[test]
    fn a_handshake_ends_open_or_in_the_close_that_came_before() {
        let mut life = Lifecycle::new();
        life.listen();
        life.answer();
        assert_eq!(life.state(), S::SynReceived);
        life.establish(false);
        assert_eq!(life.state(), S::Established);
        life.establish(true);
        assert_eq!(life.state(), S::FinWait1);
        life.end();
        assert_eq!(life.state(), S::Closed);
    }
}
