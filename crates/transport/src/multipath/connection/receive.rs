//! Mappings and DATA_ACKs that arrive, and the receive buffer that all paths share.

use super::MultipathConnection;
use super::path::{Mapping, Stage};
use crate::multipath::{PathId, PathOutbox};
use crate::tcp::AppEvent;
use fadeout_core::{Flags, MptcpOption, Segment, Time};

/// Smallest payload that lets the window grow, as in `tcp_grow_window`.
const GROWS_FROM: u32 = 128;

impl MultipathConnection {
    /// Takes the multipath option of a segment, before the subflow sees it.
    pub(super) fn take_option(&mut self, index: usize, segment: &Segment, out: &mut PathOutbox) {
        match segment.mptcp {
            MptcpOption::Dss(dss) => {
                if dss.data_ack > self.data_una && dss.data_ack <= self.data_nxt + 1 {
                    self.data_una = dss.data_ack;
                }
                self.window_end = self.window_end.max(dss.data_ack + segment.window);
                if dss.data_fin {
                    self.peer_fin_at = Some(dss.data_seq + u64::from(dss.data_len) - 1);
                }
                if segment.len > 0 {
                    let mapping = Mapping {
                        seq: segment.seq,
                        data_seq: dss.data_seq,
                        len: u64::from(segment.len),
                    };
                    let path = &mut self.paths[index];
                    let rcv_nxt = path.view().rcv_nxt;
                    path.hold(mapping, rcv_nxt);
                }
            }
            MptcpOption::RemoveAddress { path } => {
                if usize::from(path) < self.paths.len() {
                    self.lose_path(usize::from(path));
                }
            }
            MptcpOption::Capable if segment.flags.has(Flags::SYN) => {
                self.window_end = self.window_end.max(1 + segment.window);
            }
            MptcpOption::Capable => {
                self.window_end = self.window_end.max(self.data_una + segment.window);
            }
            MptcpOption::Join { backup } => self.paths[index].config.backup |= backup,
            MptcpOption::Priority { backup } => self.paths[index].config.backup = backup,
            MptcpOption::FastClose => self.on_fast_close(out),
            MptcpOption::AddAddress { .. } | MptcpOption::None => {}
        }
    }

    /// The subflow of path `index` has more in order: hands it to the connection.
    pub(super) fn take_arrived(
        &mut self,
        now: Time,
        index: usize,
        arrived: u64,
        out: &mut PathOutbox,
    ) {
        let path = &mut self.paths[index];
        let view = path.view();
        let mss = path.tcp.window().mss;
        let before = self.inbound.next();
        let mut last_len = 0;
        while let Some(mapping) = path.held.front().copied() {
            if mapping.seq >= view.rcv_nxt {
                break;
            }
            path.held.pop_front();
            last_len = mapping.len;
            self.inbound.insert(mapping.data_seq, mapping.data_end());
        }
        if arrived > 0 {
            path.statistics.arrived_bytes += arrived;
            out.arrived.push((PathId(index as u8), arrived));
        }
        if last_len >= u64::from(GROWS_FROM) {
            // What the connection holds is no longer in the subflow's buffer, whose room this asks for.
            self.window.grow(mss, mss, 0);
        }
        let bytes = self.inbound.next() - before;
        if self.is_reading {
            self.on_read(now, bytes, mss);
            out.delivered_bytes += bytes;
        } else {
            self.unread += bytes;
        }
        if self.peer_fin_at == Some(self.inbound.next()) {
            let fin = self.inbound.next();
            self.inbound.insert(fin, fin + 1);
            self.peer_has_closed = true;
            self.report(AppEvent::PeerClosed, out);
        }
    }

    /// The application read `bytes`. A round trip is that of the slowest subflow, looked up when the
    /// one before it would be over (Linux `mptcp_rcv_space_adjust`).
    fn on_read(&mut self, now: Time, bytes: u64, mss: u32) {
        if self.window.is_round_over(now) {
            let usable = self.paths.iter().filter(|path| path.stage == Stage::Usable);
            let slowest = usable
                .clone()
                .filter_map(|path| path.view().receiver_rtt)
                .max();
            self.window.set_rtt(slowest);
            // The share of payload is the least of the subflows', and a half on one that carried none.
            if usable.clone().all(|path| path.statistics.arrived_bytes > 0) {
                self.window.measure_share(mss);
            }
        }
        self.window.on_read(now, bytes, mss);
    }

    /// The application reads again.
    pub(super) fn resume_reading(&mut self, now: Time, out: &mut PathOutbox) {
        self.is_reading = true;
        let unread = std::mem::take(&mut self.unread);
        if unread == 0 {
            return;
        }
        out.delivered_bytes += unread;
        let next = self.inbound.next();
        let before = self.window.offered(next);
        let mss = self.paths[0].tcp.window().mss;
        self.on_read(now, unread, mss);
        let after = self.window.preview(self.inbound.buffered(), mss);
        // RFC 9293 section 3.8.6.2.2, at the level of the connection.
        if after >= before + u64::from(mss).min(after / 2) {
            self.acknowledge_on_best(now, out);
        }
    }

    /// Writes what the connection has to say into a segment that leaves on path `index`.
    pub(super) fn stamp(&mut self, index: usize, segment: &mut Segment) {
        let next = self.inbound.next();
        let is_first = index == 0;
        let handshake = if is_first {
            MptcpOption::Capable
        } else {
            MptcpOption::Join {
                backup: self.paths[index].config.backup,
            }
        };
        if segment.flags.has(Flags::SYN) {
            segment.mptcp = handshake;
            segment.window = self.window.initial();
            segment.window_scale = Some(self.window.scale());
            return;
        }
        let held = self.inbound.buffered() + self.unread;
        let mss = self.paths[index].tcp.window().mss;
        segment.window = self.window.advertise(next, held, mss);
        if segment.flags.has(Flags::RST) && self.is_aborting {
            segment.mptcp = MptcpOption::FastClose;
            return;
        }
        if segment.len == 0 && self.is_opener && !self.paths[index].has_confirmed {
            self.paths[index].has_confirmed = true;
            segment.mptcp = handshake;
            return;
        }
        if segment.len == 0 && self.paths[index].tells_priority {
            self.paths[index].tells_priority = false;
            segment.mptcp = MptcpOption::Priority {
                backup: self.paths[index].config.backup,
            };
            return;
        }
        if segment.len == 0
            && let Some(path) = self.paths.iter_mut().find(|path| path.owes_echo)
        {
            path.owes_echo = false;
            segment.mptcp = MptcpOption::AddAddress {
                path: path.id.0,
                is_echo: true,
            };
            return;
        }
        if segment.len == 0
            && let Some(new) = self.to_announce.take()
        {
            segment.mptcp = MptcpOption::AddAddress {
                path: new.0,
                is_echo: false,
            };
            return;
        }
        if segment.len == 0
            && let Some(gone) = self.to_remove.take()
        {
            segment.mptcp = MptcpOption::RemoveAddress { path: gone.0 };
            return;
        }
        segment.mptcp = MptcpOption::Dss(self.signal(index, segment, next));
    }
}
