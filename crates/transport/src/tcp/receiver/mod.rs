//! The receiving half: reassembly, what is acknowledged when, and how much may be sent.

mod acknowledgment;
mod freeze;
mod marks;
pub(crate) mod reassembly;
pub(crate) mod window;

use super::config::{AckRule, LossResponse, OutageResponse, ResilienceConfig, TcpConfig};
use super::expendable;
use crate::congestion::EcnFeedback;
use acknowledgment::{AckPolicy, Urgency};
use fadeout_core::{Ecn, Flags, LinkInfo, MptcpOption, SackList, Segment, Span, Time};
use reassembly::{Arrival, Reassembly};
use window::AdvertisedWindow;

/// The receiving half of a connection.
#[derive(Debug)]
pub(super) struct Receiver {
    reassembly: Reassembly,
    policy: AckPolicy,
    window: AdvertisedWindow,
    mss: u32,
    has_timestamps: bool,
    has_sack: bool,
    /// Bytes of each ACK's option space that Multipath TCP takes.
    multipath_len: u32,
    marks: marks::Marks,
    /// Newest timestamp to echo (RFC 7323 section 4.3 TS.Recent).
    ts_recent: u32,
    /// RCV.NXT when the last ACK was sent.
    acked_up_to: u64,
    /// Sequence number of the peer's FIN.
    fin_at: Option<u64>,
    is_reading: bool,
    unread: u64,
    /// Unacknowledged data ends a burst or is less than a full segment, once or more often (Linux
    /// `ICSK_ACK_PUSHED`, `ICSK_ACK_PUSHED2`).
    pushes: u8,
    resilience: ResilienceConfig,
    freeze: freeze::Freeze,
}

/// What became of a segment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Received {
    /// In-order bytes for the application.
    pub(super) bytes: u64,
    /// An acknowledgment must leave now.
    pub(super) ack_now: bool,
    /// The peer's FIN is in order.
    pub(super) fin: bool,
}

impl Receiver {
    pub(super) fn new(config: &TcpConfig) -> Receiver {
        Receiver {
            reassembly: Reassembly::default(),
            policy: AckPolicy::new(config),
            window: AdvertisedWindow::new(config),
            mss: config.effective_mss(),
            has_timestamps: config.timestamps,
            has_sack: config.recovery.uses_sack(),
            multipath_len: if config.multipath {
                MptcpOption::DATA_ACK_LEN
            } else {
                0
            },
            marks: marks::Marks::default(),
            ts_recent: 0,
            acked_up_to: 0,
            fin_at: None,
            is_reading: true,
            unread: 0,
            pushes: 0,
            resilience: config.resilience,
            freeze: freeze::Freeze::default(),
        }
    }

    /// The peer's SYN arrived with what is agreed.
    pub(super) fn on_established(
        &mut self,
        mss: u32,
        timestamps: bool,
        sack: bool,
        ecn: EcnFeedback,
    ) {
        self.mss = mss;
        self.has_timestamps = timestamps;
        self.has_sack = sack;
        self.marks.on_established(ecn);
    }

    /// Takes the peer's SYN.
    pub(super) fn on_syn(&mut self, segment: &Segment) {
        self.reassembly.begin(1);
        self.acked_up_to = 1;
        self.ts_recent = segment.ts_value;
    }

    /// Takes payload or FIN of a segment in a synchronised state. `rto` and `srtt` are the
    /// sender half's.
    pub(super) fn on_segment(
        &mut self,
        now: Time,
        segment: &Segment,
        ecn: Ecn,
        rto: Span,
        srtt: Span,
    ) -> Received {
        if segment.has_timestamps && segment.seq <= self.acked_up_to {
            self.ts_recent = segment.ts_value; // RFC 7323 section 4.3 step 2
        }
        if self.marks.take(segment, ecn) {
            self.policy
                .enter_quick_mode(self.window.offered(self.reassembly.next()), self.mss);
        }
        let end = segment.end_seq();
        let next = self.reassembly.next();
        if segment.seq_len() == 0 {
            // A probe or keep-alive below the window is answered (RFC 9293 section 3.10.7.4).
            let is_probe = segment.seq < self.acked_up_to;
            return Received {
                ack_now: is_probe,
                ..Received::default()
            };
        }
        if segment.seq > next + self.window.offered(next) {
            return Received {
                ack_now: true,
                ..Received::default()
            };
        }
        if segment.flags.has(Flags::FIN) {
            self.fin_at = Some(end - 1);
        }
        self.policy
            .on_data(now, rto, self.window.offered(next), self.mss);
        let arrival = self.reassembly.insert(segment.seq, end);
        let advanced = self.reassembly.next() - next;
        let is_pushed = self.is_reading
            && segment.flags.has(Flags::PSH)
            && segment.len >= self.mss
            && self.policy.rule() == AckRule::Linux;
        let is_small = segment.len > 0 && segment.len < self.mss;
        if is_small || segment.flags.has(Flags::PSH) {
            self.pushes = if is_small {
                self.pushes.saturating_add(1)
            } else {
                self.pushes.max(1)
            };
        }
        let urgency = match arrival {
            Arrival::Duplicate => {
                self.policy
                    .enter_quick_mode(self.window.offered(next), self.mss);
                Urgency::Now
            }
            Arrival::OutOfOrder => Urgency::OutOfOrder,
            Arrival::FilledLastGap => Urgency::Now,
            Arrival::InOrder if self.reassembly.has_gap() => Urgency::OutOfOrder,
            // A full segment that ends a burst, read at once: nothing may follow soon (Linux
            // since 6.6, `ICSK_ACK_PUSHED`).
            Arrival::InOrder if is_pushed => Urgency::Now,
            Arrival::InOrder => Urgency::Normal,
        };
        let fin = self.fin_at.is_some_and(|at| at < self.reassembly.next());
        let bytes = advanced - u64::from(fin && advanced > 0 && self.fin_is_new(next));
        if self.is_reading {
            self.window.on_read(now, bytes, self.mss);
        } else {
            self.unread += bytes;
        }
        if segment.len >= 128 && matches!(arrival, Arrival::InOrder | Arrival::FilledLastGap) {
            self.window
                .grow(self.mss, self.reassembly.buffered() + self.unread);
        }
        if !self.has_timestamps {
            self.window.measure_round(now, self.reassembly.next());
        } else if segment.len >= self.mss {
            self.window.measure_rtt(now, segment.ts_echo);
        }
        let unacknowledged = self.reassembly.next() - self.acked_up_to;
        let is_full = unacknowledged > u64::from(self.mss);
        let rtt = self.window.rtt_or(srtt);
        let ack_now = fin
            || self.marks.is_ack_due()
            || self
                .policy
                .decide(now, urgency, is_full, self.has_sack, rtt, srtt);
        Received {
            bytes,
            ack_now,
            fin,
        }
    }

    fn fin_is_new(&self, before: u64) -> bool {
        self.fin_at.is_some_and(|at| at >= before)
    }

    /// Whether what was received before must be acknowledged before a segment with `ecn` is taken,
    /// because its mark differs.
    ///
    /// Standard: RFC 8257 §3.2.
    pub(super) fn must_acknowledge_before(&self, segment: &Segment, ecn: Ecn) -> bool {
        segment.len > 0 && self.reassembly.next() > self.acked_up_to && self.marks.ends_run(ecn)
    }

    /// Writes the acknowledgment fields into a segment that leaves now.
    pub(super) fn stamp(&mut self, now: Time, segment: &mut Segment) {
        let next = self.reassembly.next();
        segment.ack = next;
        segment.flags |= Flags::ACK;
        self.marks.stamp(segment);
        segment.window = self
            .window
            .advertise(next, self.reassembly.buffered() + self.unread);
        if self.freeze.is_frozen() {
            segment.window = 0;
        }
        if self.resilience.loss == LossResponse::Casablanca {
            segment.is_radio_loss = self.is_radio_loss();
        }
        if self.has_timestamps {
            segment.has_timestamps = true;
            segment.ts_value = now.as_millis() as u32;
            segment.ts_echo = self.ts_recent;
        }
        if self.has_sack {
            // RFC 2018 section 3: as many as the 40 bytes of options leave room for.
            let timestamps = if self.has_timestamps { 12 } else { 0 };
            let room = 40 - timestamps - self.multipath_len - 4;
            let most = (room / 8) as usize;
            segment.sack = self.reassembly.take_sack_blocks(most);
        } else {
            segment.sack = SackList::EMPTY;
        }
        if segment.len > 0 {
            self.policy.on_data_sent(now);
        }
        self.acked_up_to = next;
        self.pushes = 0;
        self.policy.on_ack_sent();
    }

    /// Whether something is missing, and no segment of it is one that a biased queue would have
    /// dropped (TCP-Casablanca's discriminator).
    fn is_radio_loss(&self) -> bool {
        let every = self.resilience.expendable_every;
        self.reassembly.has_gap()
            && self
                .reassembly
                .holes()
                .all(|hole| expendable::spares_expendable(hole, self.mss, every))
    }

    /// A link tells something of itself. `srtt` is the sender half's. Returns how many
    /// acknowledgments must leave now.
    pub(super) fn on_link_info(&mut self, now: Time, info: &LinkInfo, srtt: Span) -> u32 {
        if self.resilience.outage != OutageResponse::Freeze {
            return 0;
        }
        let rtt = self.window.rtt_or(srtt).as_secs_f64();
        let lead = Span::from_secs_f64(rtt * self.resilience.freeze_lead_rtts);
        let announcements = self.freeze.on_link_info(info, lead);
        announcements + u32::from(self.freeze.on_wake(now))
    }

    /// The application stops or resumes reading. Returns whether a window update should leave.
    pub(super) fn set_reading(&mut self, now: Time, is_reading: bool) -> bool {
        self.is_reading = is_reading;
        if !is_reading || self.unread == 0 {
            return false;
        }
        let before = self.window.offered(self.reassembly.next());
        self.window.on_read(now, self.unread, self.mss);
        self.unread = 0;
        let after = self.window.preview(self.reassembly.buffered());
        // RFC 9293 section 3.8.6.2.2: announce an opening worth a segment or half the buffer.
        after >= before + u64::from(self.mss).min(after / 2)
    }

    /// The application takes up to `bytes` out of the buffer while it is not reading by itself.
    /// Returns whether an ACK should leave (Linux `tcp_cleanup_rbuf`): one that is due for more
    /// than a segment, or for the end of a burst that is all read, or a window that doubles.
    pub(super) fn read(&mut self, now: Time, bytes: u64) -> bool {
        let bytes = bytes.min(self.unread);
        self.unread -= bytes;
        let before = self.window.offered(self.reassembly.next());
        self.window.on_read(now, bytes, self.mss);
        let held = self.reassembly.buffered() + self.unread;
        let after = self.window.preview(held);
        let unacknowledged = self.reassembly.next() - self.acked_up_to;
        let is_answered_all = bytes > 0
            && self.unread == 0
            && (self.pushes > 1 || (self.pushes > 0 && !self.policy.is_interactive()));
        let is_due = unacknowledged > 0
            && self.policy.rule() == AckRule::Linux
            && (unacknowledged > u64::from(self.mss) || is_answered_all);
        is_due || (bytes > 0 && after > 0 && after >= 2 * before)
    }

    /// `TCP_QUICKACK`.
    pub(super) fn set_quick_acks(&mut self, is_on: bool) {
        let window = self.window.offered(self.reassembly.next());
        self.policy.set_quick(is_on, window, self.mss);
    }

    /// The window will not be scaled.
    ///
    /// Standard: RFC 7323 §2.2.
    pub(super) fn forgo_window_scaling(&mut self) {
        self.window.forgo_scaling();
    }

    /// Whether `seq` is beyond RCV.NXT and within what was offered.
    pub(super) fn is_within_window(&self, seq: u64) -> bool {
        let next = self.next();
        seq > next && seq <= next + self.window.offered(next)
    }

    /// RCV.NXT.
    pub(super) fn next(&self) -> u64 {
        self.reassembly.next()
    }

    /// When a delayed ACK is due.
    pub(super) fn wake_at(&self) -> Time {
        self.policy.wake_at().min(self.freeze.wake_at())
    }

    /// Whether the delayed-ACK timer expired.
    pub(super) fn on_wake(&mut self, now: Time, rto: Span) -> bool {
        let closes = self.freeze.on_wake(now);
        self.policy.on_wake(now, rto) || closes
    }

    /// Window for a SYN.
    pub(super) fn initial_window(&self) -> u64 {
        self.window.initial()
    }
    /// Window scale for a SYN: the smallest that can express the largest window.
    pub(super) fn window_scale(&self) -> u8 {
        self.window.scale()
    }
    /// Next sequence number expected (RCV.NXT).
    pub(super) fn rcv_nxt(&self) -> u64 {
        self.reassembly.next()
    }
    /// Round-trip time at the receiver.
    pub(super) fn rtt(&self) -> Option<Span> {
        self.window.rtt()
    }
    pub(super) fn ts_recent(&self) -> u32 {
        self.ts_recent
    }
    pub(super) fn has_received_fin(&self) -> bool {
        self.fin_at.is_some_and(|at| at < self.reassembly.next())
    }
}
