//! Accurate ECN on the wire: the three flags of the handshake, the three-bit counter, the option,
//! and checks for paths that change them (Linux `tcp_ecn.h`). Simulations do not use this module,
//! because their segments carry the complete counts.
//!
//! Standard: RFC 9768 §3.

#[cfg(test)]
mod tests;

use super::ConnectionState;
use super::config::AccurateEcn;
use fadeout_core::{AccurateEcnOption, Ecn, Flags, Segment};

/// Initial value of the three-bit counter.
///
/// Standard: RFC 9768 §3.2.1.
const FIRST_ACE: u32 = 5;
/// Largest number of marks that the three-bit counter can report at once.
const MOST_MARKS: u32 = 7;
/// Fraction bits and weight of the average number of packets that an ACK delivers.
const AVERAGE_BITS: u32 = 6;
/// Initial values of the byte counters of ECT(1), CE and ECT(0).
///
/// Standard: RFC 9768 §3.2.1.
const FIRST_BYTES: [u32; 3] = [1, 0, 1];
/// Number of bytes in a header that options may use.
const OPTION_ROOM: u32 = 40;
/// Number of SYNs or SYN-ACKs that request accurate ECN. Later ones do not request it, because the
/// path may drop such packets.
///
/// Standard: RFC 9768 §3.1.4.1.
const MOST_ASKING: u32 = 2;
/// Number of SYN-ACKs that carry the accurate ECN option.
///
/// Standard: RFC 9768 §3.2.3.2.1.
const MOST_WITH_OPTION: u32 = 1;

/// Counters of packets and bytes in one direction, as in `tcp_info`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AccurateCounters {
    /// Number of packets received with a congestion mark (CE).
    pub ce: u32,
    /// Bytes received as ECT(1), CE and ECT(0).
    pub bytes: [u32; 3],
}

/// Packets and bytes that an ACK newly acknowledges.
#[derive(Debug, Clone, Copy)]
pub(super) struct Delivery {
    pub(super) packets: u32,
    pub(super) bytes: u64,
    /// True if data was acknowledged for the first time.
    pub(super) is_progress: bool,
    pub(super) mss: u32,
}

#[derive(Debug)]
pub(super) struct Accurate {
    rules: AccurateEcn,
    /// True if both ends agreed on accurate ECN.
    is_on: bool,
    /// ECN field of the IP header of the peer's newest SYN or SYN-ACK. The next segment must report
    /// this field.
    syn_field: Ecn,
    reflects: bool,
    /// True if a SYN was repeated. The answer then carries no accurate ECN option.
    was_repeated: bool,
    /// True if the path clears the flags. No segment is then sent as ECN-capable.
    is_bleached: bool,
    /// True if the peer has sent the accurate ECN option.
    has_option: bool,
    /// Range of the last segment that was received twice.
    repeated: (u64, u64),
    /// True if a segment was received three times. Then the path probably drops acknowledgments
    /// with the option.
    is_dropped: bool,
    received: AccurateCounters,
    /// Minimum number of counters that the next option must contain.
    least_fields: u8,
    delivered: AccurateCounters,
    /// Average number of packets that an ACK delivers, with [`AVERAGE_BITS`] fraction bits.
    average: u64,
    latest_ts: u32,
}

impl Accurate {
    pub(super) fn new(rules: AccurateEcn) -> Accurate {
        Accurate {
            rules,
            is_on: false,
            syn_field: Ecn::NotEct,
            reflects: false,
            was_repeated: false,
            is_bleached: false,
            has_option: false,
            repeated: (0, 0),
            is_dropped: false,
            received: AccurateCounters::default(),
            least_fields: 0,
            delivered: AccurateCounters::default(),
            average: 0,
            latest_ts: 0,
        }
    }

    pub(super) fn received(&self) -> AccurateCounters {
        self.received
    }
    pub(super) fn delivered(&self) -> AccurateCounters {
        self.delivered
    }

    /// Processes a segment for a connection in `state` with RCV.NXT `next`. Returns the segment
    /// with the complete count of marks. `delivery` is called for an ACK and returns the packets
    /// that the ACK delivers.
    #[cold]
    pub(super) fn decode(
        &mut self,
        state: ConnectionState,
        segment: &Segment,
        field: Ecn,
        next: u64,
        delivery: impl FnOnce() -> Delivery,
    ) -> Segment {
        use ConnectionState as S;
        let mut decoded = *segment;
        let is_syn = segment.flags.has(Flags::SYN);
        let is_ack = segment.flags.has(Flags::ACK);
        match state {
            S::Closed => {}
            S::Listen | S::SynSent if is_syn && !is_ack => self.on_syn(segment, field, true),
            S::SynReceived if is_syn => self.on_syn(segment, field, false),
            S::SynSent if is_syn && is_ack => self.on_syn_ack(segment, field, true),
            S::Listen | S::SynSent => {}
            _ if is_syn => self.on_syn_ack(segment, field, false),
            S::SynReceived if is_ack => {
                self.on_third_ack(segment);
                self.on_received(segment, field);
            }
            _ => {
                self.on_received(segment, field);
                self.notice_repetition(segment, next);
                decoded.ce_packets = self.on_ack(segment, &delivery());
            }
        }
        decoded
    }

    /// Returns the number of bytes that full segments reserve for the accurate ECN option.
    pub(super) fn room(&self) -> u32 {
        if self.sends_option() { 12 } else { 0 }
    }

    fn sends_option(&self) -> bool {
        self.is_on && self.rules.sends_option && self.has_option && !self.is_dropped
    }

    /// Processes the peer's SYN or its repeat.
    fn on_syn(&mut self, segment: &Segment, field: Ecn, is_first: bool) {
        self.syn_field = field;
        if !is_first {
            self.was_repeated = true;
            self.is_bleached |= ace(segment) == 0;
        }
    }

    /// Returns the flags of a SYN (`asks`) or SYN-ACK with accurate ECN. No flag is set if several
    /// SYNs were lost.
    pub(super) fn syn_flags(&self, asks: bool, number: u32) -> Flags {
        if number > MOST_ASKING {
            Flags::default()
        } else if asks {
            Flags::AE | Flags::CWR | Flags::ECE
        } else {
            reflection(self.syn_field)
        }
    }

    /// Returns the accurate ECN option of the `number`th SYN-ACK.
    pub(super) fn syn_option(&self, number: u32) -> AccurateEcnOption {
        if self.rules.sends_option && !self.was_repeated && number <= MOST_WITH_OPTION {
            AccurateEcnOption::new(FIRST_BYTES, 3, false)
        } else {
            AccurateEcnOption::default()
        }
    }

    /// Records that both ends agreed on accurate ECN, by the SYN-ACK or by the ACK that completes
    /// the handshake.
    pub(super) fn agree(&mut self) {
        self.is_on = true;
    }

    /// Processes a SYN-ACK. The answer reports the SYN-ACK's IP field.
    fn on_syn_ack(&mut self, segment: &Segment, field: Ecn, is_first: bool) {
        self.syn_field = field;
        self.reflects = true;
        self.has_option |= segment.accurate.is_present();
        if is_first && field == Ecn::Ce {
            self.received.ce += 1;
        }
    }

    /// Processes the ACK of the SYN-ACK, which reports the IP field of the SYN-ACK (Linux
    /// `tcp_accecn_third_ack`).
    fn on_third_ack(&mut self, segment: &Segment) {
        self.latest_ts = segment.ts_value;
        match ace(segment) {
            0 => self.is_bleached = true,
            1 | 5 | 7 => {}
            _ if segment.len > 0 => {}
            // The SYN-ACK was sent without ECN. If the peer reports another field, the path changed
            // it.
            reported if self.rules.validates && reported != 2 => self.is_bleached = true,
            6 => self.delivered.ce += 1,
            _ => {}
        }
    }

    /// Counts a received segment other than a SYN.
    fn on_received(&mut self, segment: &Segment, field: Ecn) {
        self.has_option |= segment.accurate.is_present();
        let index = match field {
            Ecn::NotEct => return,
            Ecn::Ect1 => 0,
            Ecn::Ce => 1,
            Ecn::Ect0 => 2,
        };
        self.received.ce += u32::from(field == Ecn::Ce);
        if segment.len > 0 {
            let bytes = &mut self.received.bytes[index];
            *bytes = bytes.wrapping_add(segment.len);
            self.least_fields = self.least_fields.max(index as u8 + 1);
        }
    }

    /// Detects a segment that was received three times, after which the accurate ECN option is not
    /// sent any more. `next` is RCV.NXT.
    ///
    /// Standard: RFC 9768 §3.2.3.2.2.
    fn notice_repetition(&mut self, segment: &Segment, next: u64) {
        let range = (segment.seq, segment.end_seq());
        if segment.len > 0 && range.1 <= next {
            self.is_dropped |= self.sends_option() && range == self.repeated;
            self.repeated = range;
        }
    }

    /// Processes the counters of an ACK. Returns the number of marked packets that the peer has
    /// reported so far.
    fn on_ack(&mut self, segment: &Segment, delivery: &Delivery) -> u32 {
        let ticks = segment.ts_value.wrapping_sub(self.latest_ts) as i32;
        let is_later = segment.has_timestamps && ticks > 0;
        if is_later {
            self.latest_ts = segment.ts_value;
        }
        if !(delivery.is_progress || is_later) {
            return self.delivered.ce;
        }
        let marked_before = self.delivered.bytes[1];
        let has_option = segment.accurate.fields() > 0;
        for (index, bytes) in self.delivered.bytes.iter_mut().enumerate() {
            if let Some(counter) = segment.accurate.counter(index) {
                let known = bytes.wrapping_add(FIRST_BYTES[index]);
                let more = counter.wrapping_sub(known) & 0xff_ffff;
                if more < 0x80_0000 {
                    *bytes = bytes.wrapping_add(more);
                }
            }
        }
        let marked_bytes = self.delivered.bytes[1].wrapping_sub(marked_before);
        let marks = self.marks(segment, delivery, has_option.then_some(marked_bytes));
        self.delivered.ce = self.delivered.ce.wrapping_add(marks);
        self.delivered.ce
    }

    /// Returns the number of marks that an ACK reports in its three bits. If the ACK covers many
    /// packets, the bits may have wrapped. Then returns a number that is safe to assume (Linux
    /// `__tcp_accecn_process`).
    ///
    /// Standard: RFC 9768 §3.2.2.5.
    fn marks(&mut self, segment: &Segment, delivery: &Delivery, bytes: Option<u32>) -> u32 {
        let packets = delivery.packets;
        if packets > 0 {
            let now = u64::from(packets) << AVERAGE_BITS;
            self.average = if self.average == 0 {
                now
            } else {
                ((self.average << AVERAGE_BITS) - self.average + now) >> AVERAGE_BITS
            };
        }
        let reported = ace(segment).wrapping_sub(FIRST_ACE);
        let least = reported.wrapping_sub(self.delivered.ce) & 7;
        if packets <= MOST_MARKS {
            return least;
        }
        let safe = packets - (packets.wrapping_sub(least) & 7);
        let Some(bytes) = bytes else {
            // Without the accurate ECN option, an ACK that covers many packets is normal if the
            // average is large. So the bits are trusted.
            let is_usual = self.average > u64::from(MOST_MARKS) << AVERAGE_BITS;
            return if is_usual { least } else { safe };
        };
        if bytes == 0 {
            return least;
        }
        if packets >= 2 * (MOST_MARKS + 1) {
            let share = u64::from(bytes) * u64::from(packets);
            let estimate = share.div_ceil(delivery.bytes.max(1)) as u32;
            return safe.min(least.saturating_add(estimate & !7));
        }
        if bytes > least * delivery.mss {
            safe
        } else {
            least
        }
    }

    /// Writes the counters into a segment to send, whose ECN field is `ecn`. `is_over` is true if
    /// the connection is over and no longer counts.
    pub(super) fn stamp(&mut self, segment: &mut Segment, ecn: &mut Ecn, is_over: bool) {
        if !self.is_on || segment.flags.has(Flags::RST) {
            return;
        }
        if self.is_bleached {
            *ecn = Ecn::NotEct;
        } else if *ecn == Ecn::NotEct {
            *ecn = Ecn::Ect0;
        }
        let bits = Flags::AE | Flags::CWR | Flags::ECE;
        segment.flags = Flags(segment.flags.0 & !bits.0);
        if is_over {
            return;
        }
        segment.flags |= if std::mem::take(&mut self.reflects) {
            reflection(self.syn_field)
        } else {
            flags(FIRST_ACE.wrapping_add(self.received.ce))
        };
        if self.sends_option() {
            self.add_option(segment);
        }
    }

    /// Adds the accurate ECN option with as many counters as fit, and at least those that changed.
    /// A SACK block may be removed to make space (Linux `tcp_options_fit_accecn`).
    fn add_option(&mut self, segment: &mut Segment) {
        let mut counters = FIRST_BYTES;
        for (counter, bytes) in counters.iter_mut().zip(self.received.bytes) {
            *counter = counter.wrapping_add(bytes);
        }
        let blocks = segment.sack.as_slice().len();
        let fewer = if blocks > 1 { blocks - 1 } else { blocks };
        for kept in [blocks, fewer] {
            let sack = if kept > 0 { 4 + 8 * kept as u32 } else { 0 };
            let timestamps = if segment.has_timestamps { 12 } else { 0 };
            let room = OPTION_ROOM - timestamps - sack.min(OPTION_ROOM - timestamps);
            for fields in (self.least_fields.max(1)..=3).rev() {
                let option = AccurateEcnOption::new(counters, fields, false);
                if option.len() <= room {
                    segment.sack.truncate(kept);
                    segment.accurate = option;
                    self.least_fields = 0;
                    return;
                }
            }
        }
    }
}

/// Returns the three flags as a number.
fn ace(segment: &Segment) -> u32 {
    let bit = |flag: Flags, value: u32| if segment.flags.has(flag) { value } else { 0 };
    bit(Flags::ECE, 1) | bit(Flags::CWR, 2) | bit(Flags::AE, 4)
}

fn flags(ace: u32) -> Flags {
    let mut flags = Flags::default();
    for (bit, flag) in [(0, Flags::ECE), (1, Flags::CWR), (2, Flags::AE)] {
        if ace >> bit & 1 == 1 {
            flags |= flag;
        }
    }
    flags
}

/// Returns the flags by which the handshake reports the IP field of a SYN or SYN-ACK.
///
/// Standard: RFC 9768 §3.1.1, Table 2.
fn reflection(field: Ecn) -> Flags {
    flags(match field {
        Ecn::NotEct => 2,
        Ecn::Ect1 => 3,
        Ecn::Ect0 => 4,
        Ecn::Ce => 6,
    })
}

/// Returns true if a SYN-ACK agrees to accurate ECN. Old or faulty peers answer with all flags or
/// none. A peer with classic ECN (RFC 3168) answers with ECE alone.
///
/// Standard: RFC 9768 §3.1.1, Table 2.
pub(super) fn is_agreed_by(segment: &Segment) -> bool {
    !matches!(ace(segment), 0 | 1 | 7)
}
