//! Data that arrives: it is put in order across paths, into the receive buffer that all share.
//!
//! Standard: RFC 8684 §3.3.

use crate::multipath::MAX_PATHS;
use crate::tcp::receiver::packets::{Held, MOST_FRAGMENTS};
use crate::tcp::receiver::reassembly::Reassembly;
use crate::tcp::receiver::window::AdvertisedWindow;
use crate::tcp::{PacketMemory, TcpConfig};
use fadeout_core::{MptcpOption, Span, Time};

/// Smallest payload that lets the window grow, as in `tcp_grow_window`.
const GROWS_FROM: u32 = 128;

/// Round-trip times at the end of a round of the receive buffer (Linux
/// `mptcp_rcv_space_adjust`).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Round {
    /// Round-trip time of the slowest.
    pub(super) slowest: Option<Span>,
    /// All carried data.
    pub(super) all_carried: bool,
}

/// Result of inserting data that arrived.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Delivered {
    /// Bytes for the application.
    pub(super) bytes: u64,
    /// The peer's DATA_FIN is in order.
    pub(super) fin: bool,
}

/// The receiving half of a connection.
#[derive(Debug)]
pub(super) struct Inbound {
    reassembly: Reassembly,
    window: AdvertisedWindow,
    /// What this end says in its SYN (Linux `advmss`, before the options of a segment are taken off).
    mss: u32,
    /// How much of it each subflow offers at most: that grows with what arrives on it.
    limits: [u64; MAX_PATHS],
    /// As Linux has it, and not the papers' stack.
    is_linux: bool,
    /// The window that each last offered (`rcv_wnd`).
    offered: [u64; MAX_PATHS],
    /// Payload of the largest segment that came on it.
    largest: [u32; MAX_PATHS],
    /// Data below was counted for the application.
    counted_up_to: u64,
    fin_at: Option<u64>,
    is_finished: bool,
    is_reading: bool,
    unread: u64,
    /// Bytes that the application reads once the segment that brought them is acknowledged.
    fresh: u64,
    packet_memory: PacketMemory,
    /// Short segments behind a gap: where they begin, and by how much they are short.
    short: Vec<(u64, u64)>,
    /// The segment that came last, and what it put in order, is in the buffer when it is acknowledged: nobody
    /// has read it yet.
    is_fresh: bool,
}

impl Inbound {
    /// `is_linux`: as Linux has it, and not the papers' stack.
    pub(super) fn new(config: &TcpConfig, is_linux: bool) -> Inbound {
        let mut reassembly = Reassembly::default();
        reassembly.begin(1);
        let mut config = config.clone();
        config.packet_memory = config.packet_memory.beside_less(MptcpOption::MAPPING_LEN);
        let mut window = AdvertisedWindow::new(&config);
        // What the SYN says counts from here.
        window.begin(1, None);
        Inbound {
            reassembly,
            limits: [window.limit(); MAX_PATHS],
            is_linux,
            offered: [0; MAX_PATHS],
            largest: [0; MAX_PATHS],
            window,
            mss: config.mss,
            counted_up_to: 1,
            fin_at: None,
            is_finished: false,
            is_reading: true,
            unread: 0,
            fresh: 0,
            packet_memory: config.packet_memory,
            short: Vec::new(),
            is_fresh: false,
        }
    }

    /// The peer's SYN is answered, by an end whose full segments have `mss` bytes without the option.
    pub(super) fn answer(&mut self, mss: u32) {
        self.window.begin(1, Some(mss));
        self.limits = [self.window.limit(); MAX_PATHS];
    }

    /// The first subflow is established.
    pub(super) fn on_established(&mut self, now: Time) {
        self.window.on_established(now, self.mss);
        self.limits = [self.window.limit(); MAX_PATHS];
    }

    /// A segment of `len` bytes that was not there came on a subflow, in order on it or not.
    /// What the connection holds is no longer in the subflow's buffer, whose room this asks for: `held` is there.
    /// Returns whether the subflow offers more.
    pub(super) fn grow(&mut self, path: usize, len: u32, advertised_mss: u32, held: Held) -> bool {
        if len < GROWS_FROM {
            return false;
        }
        let held = if self.window.counts_memory() {
            held
        } else {
            Held::Payload(0)
        };
        let largest = &mut self.largest[path];
        *largest = len.max(*largest);
        self.window.set_limit(self.limits[path]);
        // A subflow's own share of payload is known as soon as it has carried something.
        let grows = (self.window).grow_with_segments(*largest, len, advertised_mss, held);
        self.limits[path] = self.window.limit();
        grows
    }

    /// Whether the application has nothing left to read once data from `start` to `end` is there, having read some.
    pub(super) fn is_drained_by(&self, start: u64, end: u64) -> bool {
        let next = self.reassembly.next();
        let is_next = start <= next && next < end;
        is_next && self.is_reading && self.unread == 0 && self.reassembly.is_whole_with(end)
    }

    /// Whether data that ends at `end` is there already, all of it, and `path` could offer less than it last did (Linux).
    pub(super) fn has_all_of(&mut self, path: usize, end: u64, mss: u32) -> bool {
        if !self.is_linux || end > self.reassembly.next() {
            return false;
        }
        self.window.set_limit(self.limits[path]);
        self.window.preview(self.held(mss), mss) < self.offered[path]
    }

    /// Whether `path` could offer less than it last did while nobody has read data from `start` to `end`, of which `bytes` are
    /// put in order on it (Linux).
    pub(super) fn is_crowded_by(
        &mut self,
        path: usize,
        (start, end): (u64, u64),
        bytes: u64,
        mss: u32,
    ) -> bool {
        let next = self.reassembly.next();
        if !self.is_linux || !self.window.counts_memory() || start > next || end <= next {
            return false;
        }
        self.window.set_limit(self.limits[path]);
        let Held::Memory(held) = self.held(mss) else {
            return false;
        };
        let held = Held::Memory(held + self.memory_of(bytes, mss));
        self.window.preview(held, mss) < self.offered[path]
    }

    /// Memory of `bytes` in order, in segments of `mss`.
    fn memory_of(&self, bytes: u64, mss: u32) -> u64 {
        let PacketMemory { alone, joined } = self.packet_memory;
        let segments = bytes.div_ceil(mss.into());
        bytes + segments * joined + segments.div_ceil(MOST_FRAGMENTS) * (alone - joined)
    }

    /// Whether less than half of the buffer is free, the peer sending segments of `mss`.
    pub(super) fn is_tight(&self, mss: u32) -> bool {
        self.window.is_tight(self.held(mss))
    }

    /// Next data sequence number expected, the DATA_ACK.
    #[inline]
    pub(super) fn next(&self) -> u64 {
        self.reassembly.next()
    }

    /// Bytes in the buffer: out of order, or not read.
    pub(super) fn buffered(&self) -> u64 {
        self.reassembly.buffered() + self.unread
    }

    /// Whether the peer's DATA_FIN came in order.
    pub(super) fn is_finished(&self) -> bool {
        self.is_finished
    }

    /// What of the buffer is taken, the peer sending segments of `mss`. Data behind a gap is a packet for each run
    /// of it, to which segments are joined as far as it has room.
    fn held(&self, mss: u32) -> Held {
        let payload = self.buffered();
        if !self.window.counts_memory() {
            return Held::Payload(payload);
        }
        let PacketMemory { alone, joined } = self.packet_memory;
        // A short segment takes the memory of a whole one.
        let lacking: u64 = self.short.iter().map(|&(_, lacking)| lacking).sum();
        let room = payload + lacking;
        let segments = room.div_ceil(u64::from(mss));
        let packets = self.reassembly.runs() as u64 + segments / MOST_FRAGMENTS;
        let mut held = room + packets * (alone - joined) + segments * joined;
        if self.is_fresh {
            held += self.memory_of(self.fresh.max(mss.into()), mss);
        }
        Held::Memory(held)
    }

    /// The peer's DATA_FIN has the number `at`.
    pub(super) fn on_data_fin(&mut self, at: u64) {
        self.fin_at = Some(at);
    }

    /// A segment of data from `start` to `end` is in order on its subflow, whose whole ones have `mss` bytes.
    pub(super) fn insert(&mut self, start: u64, end: u64, mss: u32) {
        self.reassembly.insert(start, end);
        let lacking = (start + u64::from(mss)).saturating_sub(end);
        let is_behind_gap = start > self.reassembly.next();
        if lacking > 0 && is_behind_gap && self.short.iter().all(|&(known, _)| known != start) {
            self.short.push((start, lacking));
        }
    }

    /// Hands on what was inserted; the last piece of it came on a subflow with segments of `mss`.
    /// `measure` looks at the subflows.
    pub(super) fn deliver(
        &mut self,
        now: Time,
        mss: u32,
        measure: impl FnOnce() -> Round,
    ) -> Delivered {
        let arrived = self.reassembly.next() - self.counted_up_to;
        let mut delivered = Delivered::default();
        self.is_fresh = self.is_reading && arrived > 0;
        if self.is_reading {
            if self.is_linux {
                self.fresh += arrived;
            } else {
                self.on_read(now, arrived, mss, measure);
            }
            delivered.bytes = arrived;
        } else {
            self.unread += arrived;
        }
        let next = self.reassembly.next();
        self.short.retain(|&(start, _)| start > next);
        if self.fin_at == Some(next) {
            self.reassembly.insert(next, next + 1);
            self.is_finished = true;
            delivered.fin = true;
        }
        self.counted_up_to = self.reassembly.next();
        delivered
    }

    /// The application reads what has arrived, once that is acknowledged: so the buffer grows after the acknowledgment. Returns
    /// whether nothing is left, where it was something.
    pub(super) fn read_fresh(
        &mut self,
        now: Time,
        mss: u32,
        measure: impl FnOnce() -> Round,
    ) -> Option<bool> {
        let bytes = std::mem::take(&mut self.fresh);
        self.on_read(now, bytes, mss, measure);
        self.is_fresh = false;
        (bytes > 0).then(|| self.buffered() == 0)
    }

    /// The application read `bytes`. A round trip is that of the slowest subflow, looked up when the
    /// one before it would be over.
    fn on_read(&mut self, now: Time, bytes: u64, mss: u32, measure: impl FnOnce() -> Round) {
        if bytes == 0 {
            return;
        }
        if self.window.is_round_over(now) {
            let round = measure();
            self.window.set_rtt(round.slowest);
            // The share of payload is the least of the subflows', and a half on one that carried none.
            if round.all_carried {
                self.window.measure_share(mss);
            } else {
                self.window.forget_share();
            }
        }
        let said = mss + MptcpOption::MAPPING_LEN;
        self.window.on_read(now, bytes, bytes, said);
    }

    /// The application stops reading.
    pub(super) fn pause(&mut self) {
        self.is_reading = false;
    }

    /// The application reads again. Returns what waited for it, and whether the window opens by so
    /// much that the peer is told.
    pub(super) fn resume(
        &mut self,
        now: Time,
        mss: u32,
        measure: impl FnOnce() -> Round,
    ) -> (u64, bool) {
        self.is_reading = true;
        let unread = std::mem::take(&mut self.unread);
        if unread == 0 {
            return (0, false);
        }
        let before = self.window.offered(self.reassembly.next());
        let widest = self.limits.iter().copied().max();
        self.window.set_limit(widest.unwrap_or_default());
        self.on_read(now, unread, mss, measure);
        let after = self.window.preview(self.reassembly.buffered(), mss);
        // RFC 9293 section 3.8.6.2.2, at the level of the connection.
        (unread, after >= before + u64::from(mss).min(after / 2))
    }

    /// Window and scale of a SYN. What it offers stays offered.
    ///
    /// Standard: RFC 8684 §3.3.4; RFC 9293 §3.8.6.
    pub(super) fn syn_window(&self) -> (u64, u8) {
        (self.window.initial(), self.window.scale())
    }

    /// The window that a segment offers which leaves now on a subflow with segments of `mss`. What another
    /// one offered stays offered.
    pub(super) fn advertise(&mut self, path: usize, mss: u32) -> u64 {
        let held = self.held(mss);
        self.window.set_limit(self.limits[path]);
        let next = self.reassembly.next();
        if self.is_linux {
            let window = self.window.advertise_shared(next, held, mss);
            self.offered[path] = self.window.last();
            window
        } else {
            self.window.advertise(next, held, mss)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::ReceiveWindow;

    const MSS: u32 = 1_000;

    fn inbound() -> Inbound {
        let mut inbound = Inbound::new(
            &TcpConfig {
                receive_window: ReceiveWindow::Fixed { bytes: 20_000 },
                ..TcpConfig::linux()
            },
            false,
        );
        inbound.on_established(Time::ZERO);
        inbound
    }

    fn deliver(inbound: &mut Inbound) -> Delivered {
        inbound.deliver(Time::ZERO, MSS, Round::default)
    }

    fn bytes(bytes: u64) -> Delivered {
        Delivered { bytes, fin: false }
    }

    #[test]
    fn data_of_several_paths_is_put_in_order_and_counted_once() {
        let mut inbound = inbound();
        inbound.insert(1_001, 2_001, MSS);
        assert_eq!(deliver(&mut inbound), bytes(0));
        assert_eq!((inbound.next(), inbound.buffered()), (1, 1_000));
        inbound.insert(1, 1_001, MSS);
        inbound.insert(2_001, 2_501, MSS);
        assert_eq!(deliver(&mut inbound), bytes(2_500));
        assert_eq!((inbound.next(), inbound.buffered()), (2_501, 0));
        inbound.insert(1_001, 2_001, MSS);
        assert_eq!(deliver(&mut inbound), bytes(0));
    }

    #[test]
    fn a_data_fin_waits_for_what_is_before_it_and_is_no_data() {
        let mut inbound = inbound();
        inbound.on_data_fin(1_001);
        assert_eq!(deliver(&mut inbound), bytes(0));
        assert!(!inbound.is_finished());
        inbound.insert(1, 1_001, MSS);
        let all = Delivered {
            bytes: 1_000,
            fin: true,
        };
        assert_eq!(deliver(&mut inbound), all);
        assert!(inbound.is_finished());
        assert_eq!((inbound.next(), inbound.buffered()), (1_002, 0));
        assert_eq!(deliver(&mut inbound), bytes(0));
    }

    #[test]
    fn what_is_not_read_fills_the_window_and_reading_opens_it() {
        let mut inbound = inbound();
        let (_, scale) = inbound.syn_window();
        let whole = inbound.advertise(0, MSS);
        assert!(whole <= 20_000 && whole > 20_000 - (1_000 << scale));
        inbound.pause();
        inbound.insert(1, 10_001, MSS);
        assert_eq!(deliver(&mut inbound), bytes(0));
        assert_eq!(inbound.buffered(), 10_000);
        assert!(inbound.advertise(0, MSS) <= whole - 9_000);
        let resumed = inbound.resume(Time::ZERO, MSS, Round::default);
        assert_eq!(resumed, (10_000, true));
        assert_eq!(inbound.buffered(), 0);
        assert_eq!(inbound.resume(Time::ZERO, MSS, Round::default), (0, false));
        inbound.advertise(0, MSS);
        inbound.pause();
        inbound.insert(10_001, 10_101, MSS);
        deliver(&mut inbound);
        let resumed = inbound.resume(Time::ZERO, MSS, Round::default);
        assert_eq!(resumed, (100, false), "too little to speak of");
    }

    #[test]
    fn what_the_syn_offered_is_never_taken_back() {
        // Small segments take more of the buffer than a SYN can know. The peer may use all of it on one path
        // and have nothing left to fill the hole of the other with.
        for mss in [150, 1_000, 9_000] {
            let mut inbound = Inbound::new(&TcpConfig::linux(), false);
            let (offered, _) = inbound.syn_window();
            assert!(inbound.advertise(0, mss) >= offered, "{mss}");
            inbound.on_established(Time::ZERO);
            assert!(inbound.advertise(0, mss) >= offered, "{mss}");
            inbound.insert(1 + u64::from(mss), 1 + offered, mss);
            inbound.grow(0, mss, mss, Held::Memory(0));
            inbound.deliver(Time::ZERO, mss, Round::default);
            let edge = inbound.next() + inbound.advertise(0, mss);
            assert!(edge > offered, "{mss}: {edge}");
        }
    }

    #[test]
    fn the_subflows_are_looked_at_once_a_round_trip() {
        let mut inbound = Inbound::new(&TcpConfig::linux(), false);
        let mut looks = Vec::new();
        for millis in [0, 1, 30, 49, 50, 51] {
            let now = Time::ZERO + Span::from_millis(millis);
            let next = inbound.next();
            inbound.insert(next, next + 1_000, MSS);
            inbound.deliver(now, MSS, || {
                looks.push(millis);
                Round {
                    slowest: Some(Span::from_millis(50)),
                    all_carried: true,
                }
            });
        }
        assert_eq!(looks, [0, 50]);
    }

    #[test]
    fn a_subflow_offers_more_with_what_arrives_and_keeps_room_for_a_segment() {
        let limit = |mss, len| {
            let mut inbound = Inbound::new(
                &TcpConfig {
                    mss,
                    ..TcpConfig::linux()
                },
                false,
            );
            inbound.on_established(Time::ZERO);
            let grows = inbound.grow(0, len, MSS, Held::Memory(0));
            (inbound.limits[0], grows)
        };
        let (before, _) = limit(1_460, 127);
        assert_eq!(before, 65_536 - 1_460, "small ones do not count");
        assert_eq!(limit(1_460, MSS), (before + 2 * u64::from(MSS), true));
        assert!(limit(4_000, 127).0 < before);
    }

    #[test]
    fn a_subflow_offers_no_more_than_what_is_free_in_its_own_buffer() {
        let mut inbound = Inbound::new(&TcpConfig::linux(), false);
        inbound.on_established(Time::ZERO);
        let before = inbound.limits[0];
        assert!(!inbound.grow(0, MSS, MSS, Held::Memory(128 << 10)));
        assert_eq!(inbound.limits[0], before);
    }

    #[test]
    fn what_comes_next_drains_the_buffer_unless_a_gap_is_left() {
        let mut inbound = inbound();
        assert!(inbound.is_drained_by(1, 1_001));
        assert!(!inbound.is_drained_by(1_001, 2_001), "nothing to read");
        inbound.insert(1_001, 2_001, MSS);
        assert!(inbound.is_drained_by(1, 1_001));
        inbound.insert(3_001, 4_001, MSS);
        assert!(!inbound.is_drained_by(1, 1_001));
        inbound.pause();
        assert!(!inbound.is_drained_by(1, 4_001));
    }

    #[test]
    fn what_arrives_on_a_subflow_lets_that_one_offer_more() {
        let mut inbound = Inbound::new(&TcpConfig::linux(), false);
        inbound.on_established(Time::ZERO);
        inbound.insert(1, 30_001, MSS);
        inbound.grow(1, MSS, MSS, Held::Memory(0));
        inbound.deliver(Time::ZERO, MSS, Round::default);
        let first = inbound.advertise(0, MSS);
        let second = inbound.advertise(1, MSS);
        assert!(second > first, "{second}");
        assert!(inbound.advertise(0, MSS) >= second, "it stays offered");
    }

    #[test]
    fn a_short_segment_behind_a_gap_takes_the_memory_of_a_whole_one() {
        let memory = |len: u64| {
            let mut inbound = Inbound::new(&TcpConfig::linux(), true);
            inbound.window.measure_share(MSS);
            inbound.insert(1_001, 1_001 + len, MSS);
            inbound.insert(1_001, 1_001 + len, MSS);
            deliver(&mut inbound);
            let held = inbound.held(MSS);
            inbound.insert(1, 1_001, MSS);
            deliver(&mut inbound);
            inbound.is_fresh = false;
            assert_eq!(inbound.held(MSS), Held::Memory(0), "{len}");
            held
        };
        assert_eq!(memory(100), memory(1_000));
    }

    #[test]
    fn in_linux_the_buffer_grows_once_what_was_read_is_acknowledged() {
        let mut inbound = Inbound::new(&TcpConfig::linux(), true);
        inbound.on_established(Time::ZERO);
        let measure = || Round {
            slowest: Some(Span::from_millis(1)),
            all_carried: true,
        };
        let whole = |inbound: &Inbound| inbound.window.preview(Held::Memory(0), MSS);
        inbound.window.set_limit(1 << 24);
        inbound.insert(1, 60_001, MSS);
        let now = Time::ZERO + Span::from_millis(50);
        assert_eq!(inbound.deliver(now, MSS, measure), bytes(60_000));
        let before = whole(&inbound);
        assert_eq!(inbound.read_fresh(now, MSS, measure), Some(true));
        let after = whole(&inbound);
        assert!(after > before, "{before} {after}");
        let again = inbound.read_fresh(now, MSS, || unreachable!("it was read"));
        assert_eq!(again, None);
        assert_eq!(whole(&inbound), after);
    }

    #[test]
    fn what_is_there_already_is_nothing_new_where_less_can_be_offered_than_was() {
        let mut inbound = Inbound::new(&TcpConfig::linux(), true);
        inbound.on_established(Time::ZERO);
        inbound.insert(1, 1_001, MSS);
        deliver(&mut inbound);
        inbound.read_fresh(Time::ZERO, MSS, Round::default);
        inbound.advertise(0, MSS);
        assert!(!inbound.has_all_of(0, 1_001, MSS), "as much as was");
        inbound.offered[0] += 1 << 20;
        assert!(inbound.has_all_of(0, 1_001, MSS));
        assert!(!inbound.has_all_of(0, 1_002, MSS));
        inbound.is_linux = false;
        assert!(!inbound.has_all_of(0, 1_001, MSS));
    }
}
