//! Receiving half of a connection: reassembly, acknowledgment rules, and the advertised window.

mod acknowledgment;
mod coalesced;
mod ecn;
mod exchange;
mod freeze;
pub(crate) mod growth;
mod invariants;
mod marks;
pub(crate) mod packets;
mod prediction;
mod reading;
pub(crate) mod reassembly;
pub(crate) mod shared;
mod timestamps;
pub(crate) mod window;

pub use coalesced::{Coalesced, Parts};
pub(super) use exchange::{Received, SynTerms};

use super::config::{AckRule, LossResponse, OutageResponse, ResilienceConfig, TcpConfig};
use super::expendable;
use super::sender::Agreed;
use acknowledgment::{AckPolicy, MAX_QUICK_ACKS, Unacknowledged, Urgency};
use fadeout_core::{Ecn, Flags, LinkInfo, MptcpOption, Segment, Span, Time};
use packets::{Held, Kind, Packets};
use reassembly::{Arrival, Reassembly};
use shared::ConnectionInfo;
use std::ops::Range;
use timestamps::Timestamps;
use window::AdvertisedWindow;

/// Initial estimate and minimum of the peer's MSS (Linux `TCP_MSS_DEFAULT`, `TCP_MIN_MSS`).
const FIRST_PEER_MSS: u32 = 536;
const SMALLEST_PEER_MSS: u32 = 88;
/// Smallest payload of a segment that lets the window grow.
const GROWS_FROM: u32 = 128;
/// Number of SACK blocks that fit into every ACK (Linux `TCP_SACK_BLOCKS_EXPECTED`).
const EXPECTED_BLOCKS: usize = 2;

/// Receiving half of a connection.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Receiver {
    reassembly: Reassembly,
    /// Packets with received and unread data.
    packets: Packets,
    policy: AckPolicy,
    window: AdvertisedWindow,
    /// Window advertised last. `None` after a change that may affect the window.
    advertised: Option<u64>,
    mss: u32,
    /// Assumed payload of the peer's full segments (Linux `rcv_mss`).
    peer_mss: u32,
    /// Payload of the last smaller segment.
    last_len: u32,
    has_sack: bool,
    /// True if the agreed options allow header prediction.
    may_predict: bool,
    /// Number of option bytes in each ACK that Multipath TCP uses.
    multipath_len: u32,
    marks: marks::ReceivedMarks,
    timestamps: Timestamps,
    /// RCV.NXT when the last ACK was sent.
    acked_up_to: u64,
    /// Sequence number of the peer's FIN. `None` before the FIN.
    fin_at: Option<u64>,
    is_reading: bool,
    /// True if the application's read causes the next ACK.
    has_read_first: bool,
    /// Arrival time of data that the application reads right after the due ACK was sent. The kernel
    /// sends the ACK before the application runs. `None` without such data.
    reads_since: Option<Time>,
    /// True if the read after the ACK doubled the window, so that a window update is due.
    owes_update: bool,
    /// Number of times, up to two, that unacknowledged data ended a burst or was less than a full
    /// segment (Linux `ICSK_ACK_PUSHED`, `ICSK_ACK_PUSHED2`).
    pushes: u8,
    /// True if the thinned ACKs sent just before the current segment also answer that segment.
    is_answered: bool,
    /// Packets that were merged into the current segment. `None` for a single packet.
    parts: Option<Parts>,
    resilience: ResilienceConfig,
    freeze: freeze::Freeze,
    /// Facts about the current segment from the multipath connection that owns the window. `None`
    /// without such a connection.
    of_connection: Option<ConnectionInfo>,
}

impl Receiver {
    pub(super) fn new(config: &TcpConfig) -> Receiver {
        Receiver {
            reassembly: Reassembly::new(config.acks.rule == AckRule::Linux),
            packets: Packets::new(config.buffers.packet_memory),
            policy: AckPolicy::new(config),
            window: AdvertisedWindow::new(config),
            advertised: None,
            mss: config.effective_mss(),
            peer_mss: config.effective_mss(),
            last_len: 0,
            has_sack: config.recovery.method.uses_sack(),
            may_predict: false,
            multipath_len: if config.multipath {
                MptcpOption::DATA_ACK_LEN
            } else {
                0
            },
            marks: marks::ReceivedMarks::new(config.acks.rule),
            timestamps: Timestamps::new(config.timestamps),
            acked_up_to: 0,
            fin_at: None,
            is_reading: true,
            has_read_first: false,
            reads_since: None,
            owes_update: false,
            pushes: 0,
            is_answered: false,
            parts: None,
            resilience: config.resilience,
            freeze: freeze::Freeze::default(),
            of_connection: ConnectionInfo::from_config(config),
        }
    }

    /// Completes the handshake with the agreed options.
    pub(super) fn on_established(&mut self, now: Time, agreed: &Agreed) {
        let mss = agreed.mss;
        self.advertised = None;
        self.mss = mss;
        self.peer_mss = if self.policy.rule() == AckRule::Linux {
            mss.min(FIRST_PEER_MSS)
        } else {
            mss
        };
        self.timestamps.agree(agreed.timestamps);
        self.has_sack = agreed.sack;
        self.may_predict = self.allows_prediction(agreed);
        self.window.on_established(now, mss);
        self.marks.on_established(agreed.ecn);
        if !agreed.is_crossed {
            self.policy.on_established(now);
        }
    }

    /// Processes the peer's SYN.
    pub(super) fn on_syn(&mut self, segment: &Segment, terms: SynTerms) {
        self.advertised = None;
        if !terms.window_scaling {
            self.window.forgo_scaling();
        }
        self.timestamps.agree(terms.timestamps);
        self.reassembly.begin(1);
        self.acked_up_to = 1;
        self.timestamps.on_syn(segment);
        self.window.begin(1, terms.answer_mss);
    }

    /// Processes payload or FIN of a segment in a synchronised state. `rto` and `srtt` are those of
    /// the sending half. `may_reply` is true if this end may still send after the peer's FIN, so
    /// that a reply may carry the ACK.
    #[inline]
    pub(super) fn on_segment(
        &mut self,
        now: Time,
        segment: &Segment,
        ecn: Ecn,
        (rto, srtt): (Span, Span),
        may_reply: bool,
    ) -> Received {
        self.timestamps.update_recent(segment, self.acked_up_to);
        (self.marks).process_header(segment, ecn, self.parts.map_or(1, |it| it.packets));
        if segment.seq_len() == 0 {
            // A probe or keep-alive below the window is answered (RFC 9293 section 3.10.7.4).
            let is_probe = segment.seq < self.acked_up_to;
            return Received {
                ack_now: is_probe,
                ..Received::default()
            };
        }
        self.on_data(now, segment, (rto, srtt), may_reply)
    }

    /// Processes the payload or the FIN of a segment.
    fn on_data(
        &mut self,
        now: Time,
        segment: &Segment,
        (rto, srtt): (Span, Span),
        may_reply: bool,
    ) -> Received {
        self.read_what_waits();
        self.advertised = None;
        let end = segment.end_seq();
        let next = self.reassembly.next();
        if segment.seq > next + self.window.offered(next) {
            return Received {
                ack_now: true,
                ..Received::default()
            };
        }
        if segment.flags.has(Flags::FIN) {
            self.fin_at = Some(end - 1);
        }
        if self.timestamps.is_on() {
            let is_full = segment.len >= self.peer_mss;
            let has_unread = self.packets.unread() > 0;
            (self.window).measure_rtt(now, segment.ts_echo, is_full, has_unread);
        }
        let leaves_gap = segment.seq > next;
        let held = leaves_gap.then(|| self.held());
        let arrival = self.reassembly.insert(segment.seq, end);
        // A segment below the last ACK is answered with an ACK, but Linux does not count it for
        // quick ACKs.
        let is_answered = std::mem::take(&mut self.is_answered);
        if end >= self.acked_up_to && !is_answered {
            self.policy.schedule();
        }
        match arrival {
            Arrival::Duplicate => self.enter_quick_mode(MAX_QUICK_ACKS),
            Arrival::HeldAlready => {
                self.process_mark();
                self.measure_segments(segment);
            }
            _ => self.take_news(now, segment, arrival, rto, (next, held)),
        }
        let advanced = self.reassembly.next() - next;
        let fin = self.has_received_fin() && self.fin_at >= Some(next);
        let bytes = advanced - u64::from(fin);
        if fin {
            self.reassembly.forget_duplicate();
        }
        if fin && may_reply {
            self.policy.expect_reply();
        }
        let urgency = match arrival {
            _ if self.marks.take_demand() => Urgency::Now,
            Arrival::Duplicate => Urgency::Now,
            Arrival::FilledLastGap => self.policy.urgency_in_gaps(Urgency::Now),
            Arrival::OutOfOrder | Arrival::HeldAlready => Urgency::OutOfOrder,
            Arrival::InOrder if self.reassembly.has_gap() => {
                self.policy.urgency_in_gaps(Urgency::OutOfOrder)
            }
            Arrival::InOrder => Urgency::Normal,
        };
        let must = self.marks.is_ack_due() || (fin && !self.delays_fin(may_reply));
        let ack_now = (!is_answered && self.is_ack_due(now, urgency, bytes, srtt)) || must;
        Received {
            bytes,
            ack_now,
            fin,
        }
    }

    /// Processes payload or FIN of a SYN or its answer. Such a segment does not update the assumed
    /// segment size (Linux `tcp_fastopen_add_skb`).
    pub(super) fn on_early_segment(&mut self, now: Time, segment: &Segment) -> Received {
        self.advertised = None;
        let next = self.reassembly.next();
        let end = segment.end_seq();
        if segment.flags.has(Flags::FIN) {
            self.fin_at = Some(end - 1);
        }
        self.reassembly.insert(segment.seq, end);
        let fin = self.has_received_fin();
        let bytes = self.reassembly.next() - next - u64::from(fin);
        self.packets.push(next, next + bytes, Kind::default());
        if self.is_reading {
            self.take_out(now, bytes);
        }
        Received {
            bytes,
            ack_now: false,
            fin,
        }
    }

    /// Returns true if the timestamp shows an old segment. `sender` returns a flag and the
    /// retransmission timeout of the sending half. The flag is true if the segment would change the
    /// sending half.
    #[inline]
    pub(super) fn is_outdated(
        &self,
        segment: &Segment,
        sender: impl FnOnce() -> (bool, Span),
    ) -> bool {
        let next = self.reassembly.next();
        self.timestamps.is_outdated(segment, next, sender)
    }

    /// Drops an old segment. Returns true if an ACK must answer the segment. A segment with data is
    /// always answered, and its data is reported as a duplicate. Other segments are answered at a
    /// limited rate (Linux `tcp_send_dupack`, `tcp_invalid_ratelimit`).
    pub(super) fn answers_outdated(&mut self, now: Time, segment: &Segment) -> bool {
        if segment.seq_len() > 0 {
            if segment.seq < self.reassembly.next() {
                self.enter_quick_mode(MAX_QUICK_ACKS);
                self.reassembly
                    .report_duplicate(segment.seq, segment.end_seq());
            }
            return true;
        }
        self.timestamps.answers_outdated(now)
    }

    /// Returns true if the ACK of a FIN may be delayed until a reply carries it.
    fn delays_fin(&self, may_reply: bool) -> bool {
        may_reply && self.policy.rule() == AckRule::Linux
    }

    /// Processes new data. Measures the peer's segment size and the round-trip time, and grows the
    /// window (Linux `tcp_event_data_recv`, `tcp_data_queue_ofo`). `next` is RCV.NXT before the
    /// segment. `held` is the content of the buffer if the segment leaves a gap. Data behind a
    /// filled gap does not count yet, because Linux merges this data after it computes RCV.NXT and
    /// the window (`tcp_ofo_queue` comes last).
    fn take_news(
        &mut self,
        now: Time,
        segment: &Segment,
        arrival: Arrival,
        rto: Span,
        (next, mut held): (u64, Option<Held>),
    ) {
        let is_in_order = arrival != Arrival::OutOfOrder;
        if !is_in_order {
            self.process_mark();
        }
        if segment.len > 0 {
            self.measure_segments(segment);
        }
        let start = segment.seq.max(next);
        let end = segment.seq + u64::from(segment.len);
        if is_in_order && segment.len > 0 {
            self.window.measure_round(now, end);
            self.policy
                .on_data(now, rto, self.window.last(), self.peer_mss);
            self.process_mark();
        }
        if start < end
            && self.store(segment, start..end, is_in_order)
            && self.window.counts_memory()
        {
            // Data that is merged into a packet is charged to the buffer at once. A separate packet
            // is charged after this point (Linux `skb_set_owner_r`).
            held = None;
        }
        let is_large = segment.len >= GROWS_FROM;
        if is_large && (is_in_order || self.has_sack) {
            let grows = match self.of_connection {
                Some(info) => info.grows,
                None => {
                    let held = held.unwrap_or_else(|| self.held());
                    self.window.grow(segment.len, self.mss, held)
                }
            };
            if grows {
                self.policy.on_window_growth();
            }
        }
        if is_in_order {
            self.packets.put_in_order(end);
        } else if start < end {
            self.window.on_gap(self.reassembly.reach());
        }
    }

    /// Stores data of a segment. Returns true if data behind a gap was merged into a packet.
    fn store(&mut self, segment: &Segment, range: Range<u64>, is_in_order: bool) -> bool {
        let kind = self.kinds();
        match self.parts {
            None => (self.packets).store_one(range, is_in_order, kind(segment.len)),
            Some(Parts { size, .. }) => {
                (self.packets).store_parts(range, segment.seq, size, is_in_order, kind)
            }
        }
    }

    /// Returns a function of a packet's payload in bytes. It returns the properties that decide
    /// into which packet the payload is merged.
    fn kinds(&self) -> impl Fn(u32) -> Kind + use<> {
        let mapping_end = self.of_connection.map_or(0, |info| info.mapping_end);
        let peer_mss = self.peer_mss;
        move |len| Kind {
            mapping_end,
            lacking: peer_mss.saturating_sub(len).into(),
        }
    }

    /// Updates the assumed size of a full segment, and counts segments that end a burst or are
    /// small (Linux `tcp_measure_rcv_mss`).
    fn measure_segments(&mut self, segment: &Segment) {
        let last = std::mem::take(&mut self.last_len);
        let pushes = segment.flags.has(Flags::PSH);
        let len = shared::size_of_parts(self, segment);
        if len >= self.peer_mss {
            if len > self.peer_mss {
                self.window.measure_share(len);
            }
            self.peer_mss = len.min(self.mss);
            if pushes {
                self.pushes = self.pushes.max(1);
            }
            return;
        }
        // Two consecutive segments of equal size count as the peer's full segments, unless a push
        // ended a small segment.
        let header = if self.timestamps.is_on() { 12 } else { 0 };
        let is_uncut = !pushes && !segment.flags.has(Flags::FIN);
        if len + header >= FIRST_PEER_MSS || (is_uncut && len + header >= SMALLEST_PEER_MSS) {
            self.last_len = len;
            if last == len && self.policy.rule() == AckRule::Linux {
                self.peer_mss = len;
                return;
            }
        }
        self.pushes = self.pushes.saturating_add(1);
    }

    /// Returns true if an ACK is sent after a segment with `bytes` of new in-order data (Linux
    /// `__tcp_ack_snd_check`, then `tcp_cleanup_rbuf` if the application has read it).
    fn is_ack_due(&mut self, now: Time, urgency: Urgency, bytes: u64, srtt: Span) -> bool {
        let is_full = self.is_more_than_a_segment_unacknowledged();
        let held = self.held();
        if self.policy.is_quick() && self.window.is_tight(held) {
            self.policy.forgo_quick_acks();
        }
        // If less space is free than was offered, the ACK waits until the application reads.
        let has_room = || {
            (self.is_reading && !self.window.counts_memory())
                || self.policy.rule() != AckRule::Linux
                || self.window.preview(held, self.peer_mss) >= self.window.last()
        };
        let cx = Unacknowledged {
            next: self.reassembly.next(),
            is_full: is_full && has_room() && !shared::is_held_up(self),
            has_sack: self.has_sack,
            // Only the thinning of ACKs uses the receiver's round-trip time.
            rtt: if urgency == Urgency::OutOfOrder {
                self.window.rtt_or(srtt)
            } else {
                Span::ZERO
            },
            srtt,
        };
        let leaves_first = self.policy.decide(now, urgency, &cx);
        if !self.is_reading {
            return leaves_first;
        }
        if !self.window.counts_memory() {
            self.take_out(now, bytes);
            self.has_read_first = !leaves_first && self.is_answered_read(bytes);
            return leaves_first || self.has_read_first;
        }
        if leaves_first && bytes > 0 {
            self.reads_since = Some(now);
            return true;
        }
        self.read(now, bytes) || leaves_first
    }

    fn is_more_than_a_segment_unacknowledged(&self) -> bool {
        self.reassembly.next() - self.acked_up_to > u64::from(self.peer_mss)
    }

    /// Returns true if thinned ACKs must be sent before `segment` is processed. An ACK after the
    /// segment could not report the block of the thinned ACKs any more (Linux
    /// `tcp_sack_new_ofo_skb`, which extends a block first).
    fn ends_compression(&self, segment: &Segment) -> bool {
        self.policy.holds_compressed()
            && segment.seq > self.reassembly.next()
            && self.reassembly.recency(segment.seq, segment.end_seq()) >= EXPECTED_BLOCKS
    }

    /// Writes the acknowledgment fields into a segment that is sent now.
    #[inline]
    pub(super) fn stamp(&mut self, now: Time, segment: &mut Segment) {
        let next = self.reassembly.next();
        segment.ack = next;
        segment.flags |= Flags::ACK;
        self.marks.stamp(segment);
        let window = self.advertised.unwrap_or_else(|| {
            let held = self.held();
            self.window.advertise(next, held, self.peer_mss)
        });
        self.advertised = Some(window);
        segment.window = window;
        if self.freeze.is_frozen() {
            segment.window = 0;
        }
        let reports_losses = self.resilience.loss == LossResponse::Casablanca;
        segment.is_radio_loss = reports_losses && self.is_radio_loss();
        if self.timestamps.is_on() {
            segment.has_timestamps = true;
            segment.ts_value = self.policy.stamped_at(now).as_millis() as u32;
            segment.ts_echo = self.timestamps.recent();
        }
        if self.has_sack && self.reassembly.has_blocks() {
            // RFC 2018 section 3: as many blocks as fit into the 40 bytes of options.
            let timestamps = if self.timestamps.is_on() { 12 } else { 0 };
            let room = 40 - timestamps - self.multipath_len - 4;
            let most = (room / 8) as usize;
            segment.sack = self.reassembly.take_sack_blocks(most);
        }
        if segment.len > 0 {
            self.policy.on_data_sent(now);
        }
        self.on_acknowledged();
        self.owes_update |= self.read_what_waits();
    }

    /// Delays the ACK of received data until the application's reply carries it.
    pub(super) fn expect_reply(&mut self) {
        self.policy.expect_reply();
    }

    /// Records that an ACK of all received data is sent.
    pub(super) fn on_acknowledged(&mut self) {
        self.acked_up_to = self.reassembly.next();
        self.pushes = 0;
        self.policy.on_ack_sent();
    }

    /// Returns true if data is missing and none of the missing segments is expendable. The radio,
    /// not a biased queue, then lost them (TCP-Casablanca).
    fn is_radio_loss(&self) -> bool {
        let every = self.resilience.expendable_every;
        self.reassembly.has_gap()
            && self
                .reassembly
                .holes()
                .all(|hole| expendable::spares_expendable(hole, self.mss, every))
    }

    /// Processes a report of a link. `srtt` is that of the sending half. Returns the number of
    /// acknowledgments that must be sent now.
    pub(super) fn on_link_info(&mut self, now: Time, info: &LinkInfo, srtt: Span) -> u32 {
        if self.resilience.outage != OutageResponse::Freeze {
            return 0;
        }
        let rtt = self.window.rtt_or(srtt).as_secs_f64();
        let lead = Span::from_secs_f64(rtt * self.resilience.freeze_lead_rtts);
        let announcements = self.freeze.on_link_info(info, lead);
        announcements + u32::from(self.freeze.on_wake(now))
    }

    /// Sets the socket option `TCP_QUICKACK`.
    pub(super) fn set_quick_acks(&mut self, is_on: bool) {
        let window = self.window.last();
        self.policy.set_quick(is_on, window, self.peer_mss);
    }

    /// Returns true if `seq` is beyond RCV.NXT and within the offered window.
    pub(super) fn is_within_window(&self, seq: u64) -> bool {
        let next = self.rcv_nxt();
        seq > next && seq <= next + self.window.offered(next)
    }

    /// Returns the time at which a delayed ACK is due.
    pub(super) fn wake_at(&self) -> Time {
        self.policy.wake_at().min(self.freeze.wake_at())
    }

    /// Returns true if an ACK is due because the delayed-ACK timer expired or the window closes.
    pub(super) fn on_wake(&mut self, now: Time, rto: Span) -> bool {
        let closes = self.freeze.on_wake(now);
        self.policy.on_wake(now, rto) || closes
    }

    /// Returns the window that a SYN advertises.
    pub(super) fn initial_window(&self) -> u64 {
        self.window.initial()
    }
    /// Returns the window scale of a SYN, the smallest scale that can express the largest window.
    pub(super) fn window_scale(&self) -> u8 {
        self.window.scale()
    }
    /// Returns the next sequence number expected (RCV.NXT).
    pub(super) fn rcv_nxt(&self) -> u64 {
        self.reassembly.next()
    }
    /// Returns the round-trip time at the receiver. `None` before the first sample.
    pub(super) fn rtt(&self) -> Option<Span> {
        self.window.rtt()
    }
    /// Returns the assumed payload of the peer's full segments.
    pub(super) fn peer_mss(&self) -> u32 {
        self.peer_mss
    }
    #[inline]
    pub(super) fn has_received_fin(&self) -> bool {
        self.fin_at.is_some_and(|at| at < self.reassembly.next())
    }
}

#[cfg(test)]
mod tests;
