//! Receiving PDCP entity.
//!
//! Standard: TS 38.323 §5.2.2; TS 36.323 §5.1.2.1.

use super::{Delivery, PdcpConfig};
use crate::rlc::{ParameterError, START, Sdu, SnSpace, Window};
use fadeout_core::{Span, Time};

/// Received PDU that waits until all PDUs before it are delivered or given up as lost.
#[derive(Clone, Copy, Default, Debug)]
struct Stored {
    sdu: Sdu,
    is_here: bool,
}

/// Receiving PDCP entity. It delivers each packet once, in the order of COUNT unless configured
/// otherwise.
///
/// Internal COUNTs are larger by a constant, so that a window below the first COUNT exists.
#[derive(Clone, Debug)]
pub struct Rx {
    space: SnSpace,
    delivery: Delivery,
    t_reordering: Option<Span>,
    /// Window from RX_DELIV to RX_NEXT.
    window: Window<Stored>,
    rx_reord: u64,
    /// t-Reordering.
    expires_at: Time,
    passed: u32,
    /// Number of received packets in the window that are not delivered.
    held: u32,
    useless: u64,
}

impl Rx {
    /// Returns an entity as after establishment.
    ///
    /// # Errors
    /// Returns an error if a parameter has a value that is not allowed.
    pub fn new(config: &PdcpConfig) -> Result<Rx, ParameterError> {
        config.check()?;
        Ok(Rx {
            space: SnSpace::new(config.sn_bits),
            delivery: config.delivery,
            t_reordering: match config.delivery {
                Delivery::InOrder(timer) | Delivery::OutOfOrder(timer) => timer,
                Delivery::FromRlc => None,
            },
            window: Window::new(START),
            rx_reord: START,
            expires_at: Time::NEVER,
            passed: 0,
            held: 0,
            useless: 0,
        })
    }

    /// Returns the COUNT of the first packet that is neither delivered nor given up.
    pub fn rx_deliv(&self) -> u64 {
        self.window.first() - START
    }

    /// Returns the serial number below which no packet will be delivered. Packets below it that
    /// have not left the bearer are lost.
    #[inline]
    pub fn passed(&self) -> u32 {
        self.passed
    }

    /// Returns the number of PDUs dropped as duplicates, or because they arrived after they were
    /// given up.
    #[inline]
    pub fn useless(&self) -> u64 {
        self.useless
    }

    /// Returns RCVD_COUNT, the COUNT nearest to RX_DELIV with this SN. It may be half of the SN
    /// space below RX_DELIV.
    #[inline]
    fn received_count(&self, sn: u32) -> u64 {
        self.space
            .extend(sn, self.window.first() - self.space.window)
    }

    /// Processes a PDU from RLC. Packets that can be delivered go to `out`.
    #[inline]
    pub fn on_sdu(&mut self, now: Time, sdu: Sdu, out: &mut Vec<Sdu>) {
        let sn = self.space.on_air(u64::from(sdu.count));
        let count = self.received_count(sn);
        let rx_deliv = self.window.first();
        if count < rx_deliv {
            self.useless += 1;
            return;
        }
        if self.window.is_empty() && (count == rx_deliv || self.delivery == Delivery::FromRlc) {
            self.window.advance_to(count + 1);
            self.passed = sdu.serial + 1;
            out.push(sdu);
            return;
        }
        if self.delivery == Delivery::FromRlc {
            self.deliver_around(count, sdu, out);
            return;
        }
        if count < self.window.end() && self.window[count].is_here {
            self.useless += 1;
            return;
        }
        self.window.extend_to(count + 1);
        self.window[count] = Stored { sdu, is_here: true };
        if matches!(self.delivery, Delivery::OutOfOrder(_)) {
            out.push(sdu);
        } else {
            self.held += 1;
        }
        if count == rx_deliv {
            self.deliver_run(out);
        }
        if self.window.first() >= self.rx_reord {
            self.expires_at = Time::NEVER;
        }
        if self.expires_at.is_never() {
            self.start_timer(now);
        }
        self.assert_invariants();
    }

    /// Asserts the order RX_DELIV <= RX_REORD <= RX_NEXT of the COUNTs, and that the packets held
    /// are in the window. If the window is short, all its entries are checked.
    ///
    /// Standard: TS 38.323 §7.1.
    #[inline]
    fn assert_invariants(&self) {
        let (first, end) = (self.window.first(), self.window.end());
        debug_assert!(
            end - first <= 2 * self.space.window,
            "the window holds {} COUNTs",
            end - first
        );
        debug_assert!(
            self.expires_at.is_never() || (first < self.rx_reord && self.rx_reord <= end),
            "reordering ends at {}, in a window from {first} to {end}",
            self.rx_reord
        );
        debug_assert!(
            u64::from(self.held) <= end - first,
            "{} SDUs are held in a window of {}",
            self.held,
            end - first
        );
        debug_assert!(
            !matches!(self.delivery, Delivery::OutOfOrder(_)) || self.held == 0,
            "an SDU is held that was delivered"
        );
        debug_assert!(
            end - first > 16
                || matches!(self.delivery, Delivery::OutOfOrder(_))
                || (first..end).filter(|&n| self.window[n].is_here).count() == self.held as usize,
            "the SDUs held are not those in the window"
        );
    }

    /// Processes a PDU that RLC delivered because of its re-establishment. If RLC restores the
    /// order, the PDU waits for the next one that arrives as usual.
    ///
    /// Standard: TS 36.323 §5.1.2.1.4.1; TS 38.323 §5.1.2.
    pub fn on_held(&mut self, now: Time, sdu: Sdu, out: &mut Vec<Sdu>) {
        if self.delivery != Delivery::FromRlc {
            self.on_sdu(now, sdu, out);
            return;
        }
        let count = self.received_count(self.space.on_air(u64::from(sdu.count)));
        let is_known = self.window.contains(count) && self.window[count].is_here;
        if count < self.window.first() || is_known {
            return;
        }
        self.window.extend_to(count + 1);
        self.window[count] = Stored { sdu, is_here: true };
        self.held += 1;
        self.assert_invariants();
    }

    /// Delivers a PDU that RLC delivers in order while earlier PDUs are stored. All PDUs below it
    /// are delivered or given up, and PDUs above it are delivered up to the next gap.
    ///
    /// Standard: TS 36.323 §5.1.2.1.4.1.
    fn deliver_around(&mut self, count: u64, sdu: Sdu, out: &mut Vec<Sdu>) {
        if self.window.contains(count) && self.window[count].is_here {
            return;
        }
        self.window.extend_to(count + 1);
        self.window[count] = Stored { sdu, is_here: true };
        self.held += 1;
        while self.window.first() <= count {
            self.deliver_first(out);
        }
        self.deliver_run(out);
    }

    /// Returns true if the PDU with this COUNT was received, as the status report says. It need not
    /// be sent again.
    ///
    /// Standard: TS 38.323 §5.4; TS 36.323 §5.3.
    pub fn has(&self, count: u32) -> bool {
        let count = self.received_count(self.space.on_air(u64::from(count)));
        count < self.window.first() || (self.window.contains(count) && self.window[count].is_here)
    }

    /// Keeps only those held PDUs for which `keep` returns true. Calls `keep` in the order of
    /// COUNT.
    pub fn retain_held(&mut self, mut keep: impl FnMut(&Sdu) -> bool) {
        for number in self.window.first()..self.window.end() {
            let Stored { sdu, is_here } = self.window[number];
            if is_here && !keep(&sdu) {
                self.window[number].is_here = false;
                self.held -= 1;
            }
        }
    }

    /// Returns the fields of a status report: FMC, and the octets of the bitmap. The bitmap covers
    /// the PDUs after FMC up to the last one received, the most significant bit first.
    ///
    /// Standard: TS 38.323 §5.4.1, §6.2.3.1.
    pub fn status_report(&self) -> (u64, Vec<u8>) {
        let first = self.window.first();
        let mut bitmap = Vec::new();
        for (position, number) in (first + 1..self.window.end()).enumerate() {
            if position % 8 == 0 {
                bitmap.push(0);
            }
            if let Some(octet) = bitmap.last_mut() {
                *octet |= u8::from(self.window[number].is_here) << (7 - position % 8);
            }
        }
        (first - START, bitmap)
    }

    /// Restarts COUNT at zero, after [`Rx::flush`] (re-establishment in unacknowledged mode).
    ///
    /// Standard: TS 38.323 §5.1.2.
    pub fn restart(&mut self) {
        debug_assert!(self.window.is_empty(), "what is held was delivered");
        self.window = Window::new(START);
        self.rx_reord = START;
    }

    /// Handles a possible expiry of t-Reordering.
    pub fn on_wake(&mut self, now: Time, out: &mut Vec<Sdu>) {
        if self.expires_at > now {
            return;
        }
        self.expires_at = Time::NEVER;
        while self.window.first() < self.rx_reord {
            self.deliver_first(out);
        }
        self.deliver_run(out);
        self.start_timer(now);
        self.assert_invariants();
    }

    /// Returns true if packets wait for earlier packets.
    #[inline]
    pub fn is_holding(&self) -> bool {
        !self.window.is_empty()
    }

    /// Returns the number of packets that wait for earlier packets.
    #[inline]
    pub fn held(&self) -> u32 {
        self.held
    }

    /// Returns the expiry of t-Reordering.
    #[inline]
    pub fn wake_at(&self) -> Time {
        self.expires_at
    }

    /// Delivers all received packets in spite of gaps, and starts a new window after them
    /// (re-establishment in unacknowledged mode).
    ///
    /// Standard: TS 38.323 §5.1.2.
    pub fn flush(&mut self, out: &mut Vec<Sdu>) {
        while !self.window.is_empty() {
            self.deliver_first(out);
        }
        self.expires_at = Time::NEVER;
    }

    /// Starts t-Reordering if a packet waits after a gap.
    fn start_timer(&mut self, now: Time) {
        if !self.window.is_empty() {
            self.rx_reord = self.window.end();
            self.expires_at = now.saturating_add(self.t_reordering.unwrap_or(Span::MAX));
        }
    }

    fn deliver_run(&mut self, out: &mut Vec<Sdu>) {
        while !self.window.is_empty() && self.window[self.window.first()].is_here {
            self.deliver_first(out);
        }
    }

    fn deliver_first(&mut self, out: &mut Vec<Sdu>) {
        let first = self.window.first();
        let Stored { sdu, is_here } = self.window[first];
        if is_here {
            self.passed = sdu.serial + 1;
            if !matches!(self.delivery, Delivery::OutOfOrder(_)) {
                debug_assert!(self.held > 0, "an SDU is delivered that was not held");
                out.push(sdu);
                self.held -= 1;
            }
        }
        self.window.advance_to(first + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sdu(count: u32) -> Sdu {
        Sdu {
            count,
            serial: count,
            ..Sdu::default()
        }
    }

    fn receiver_at(config: PdcpConfig, rx_deliv: u64) -> Rx {
        let mut rx = Rx::new(&config).expect("allowed");
        rx.window.advance_to(START + rx_deliv);
        rx
    }

    const SHORT: PdcpConfig = PdcpConfig {
        sn_bits: 12,
        ..PdcpConfig::NR
    };

    /// Three reference values of RCVD_COUNT (TS 38.323 clause 5.2.2.1).
    #[test]
    fn rcvd_count_is_the_one_nearest_to_rx_deliv() {
        assert_eq!(receiver_at(SHORT, 4094).received_count(1), START + 4097);
        assert_eq!(receiver_at(SHORT, 4097).received_count(4090), START + 4090);

        let mut out = Vec::new();
        let mut late = receiver_at(SHORT, 4097);
        late.on_sdu(Time::ZERO, sdu(4090), &mut out);
        assert!(out.is_empty() && late.wake_at().is_never());

        let mut early = receiver_at(SHORT, 100);
        early.on_sdu(Time::ZERO, sdu(200), &mut out);
        assert!(out.is_empty());
        assert_eq!(early.rx_reord, START + 201);
        assert_eq!(early.wake_at(), Time::ZERO + Span::from_millis(100));
    }

    #[test]
    fn a_gap_is_given_up_after_t_reordering() {
        let mut rx = receiver_at(SHORT, 0);
        let mut out = Vec::new();
        for count in [0, 2, 2, 3, 5] {
            rx.on_sdu(Time::ZERO, sdu(count), &mut out);
        }
        assert_eq!(out, [sdu(0)]);
        assert_eq!(rx.held(), 3);
        let expiry = Time::ZERO + Span::from_millis(100);
        assert_eq!(rx.wake_at(), expiry);
        rx.on_wake(expiry, &mut out);
        // PDU 2 started the timer. So the expiry gives up PDU 1, which is missing before PDU 2, but
        // not PDU 4.
        assert_eq!(out, [sdu(0), sdu(2), sdu(3)]);
        assert_eq!((rx.passed(), rx.held()), (4, 1));
        assert_eq!(rx.wake_at(), expiry + Span::from_millis(100));
        rx.on_sdu(expiry, sdu(1), &mut out);
        assert_eq!(out.len(), 3, "too late");
        rx.on_sdu(expiry, sdu(4), &mut out);
        assert_eq!(out[3..], [sdu(4), sdu(5)]);
        assert!(rx.wake_at().is_never());
        assert_eq!(rx.held(), 0);
    }

    #[test]
    fn out_of_order_delivery_keeps_back_duplicates_only() {
        let mut rx = receiver_at(
            PdcpConfig {
                delivery: Delivery::OutOfOrder(Some(Span::from_millis(100))),
                ..SHORT
            },
            0,
        );
        let mut out = Vec::new();
        for count in [1, 0, 1, 3, 3] {
            rx.on_sdu(Time::ZERO, sdu(count), &mut out);
        }
        assert_eq!(out, [sdu(1), sdu(0), sdu(3)]);
        assert_eq!((rx.rx_deliv(), rx.passed(), rx.held()), (2, 2, 0));
    }

    #[test]
    fn a_wake_before_t_reordering_expires_gives_nothing_up() {
        let mut rx = receiver_at(SHORT, 0);
        let mut out = Vec::new();
        assert!(!rx.is_holding());
        rx.on_sdu(Time::ZERO, sdu(1), &mut out);
        let expiry = rx.wake_at();
        rx.on_wake(expiry - Span::from_nanos(1), &mut out);
        assert!(out.is_empty() && rx.is_holding());
        assert_eq!((rx.rx_deliv(), rx.wake_at()), (0, expiry));
        rx.on_wake(expiry, &mut out);
        assert_eq!(out, [sdu(1)]);
        assert_eq!((rx.rx_deliv(), rx.is_holding()), (2, false));
        assert!(rx.wake_at().is_never());
    }

    #[test]
    fn a_flush_delivers_all_that_is_here_and_starts_behind_it() {
        let mut rx = receiver_at(SHORT, 0);
        let mut out = Vec::new();
        for count in [1, 3] {
            rx.on_sdu(Time::ZERO, sdu(count), &mut out);
        }
        rx.flush(&mut out);
        assert_eq!(out, [sdu(1), sdu(3)]);
        assert_eq!((rx.rx_deliv(), rx.passed(), rx.held()), (4, 4, 0));
        assert!(rx.wake_at().is_never() && !rx.is_holding());
        rx.on_sdu(Time::ZERO, sdu(2), &mut out);
        assert_eq!(out.len(), 2, "given up");
    }

    /// If RLC restores the order, the entity never waits for a missing COUNT, and delivers no COUNT
    /// twice.
    #[test]
    fn order_from_rlc_passes_gaps_and_takes_no_count_twice() {
        let mut rx = receiver_at(
            PdcpConfig {
                delivery: Delivery::FromRlc,
                ..SHORT
            },
            0,
        );
        let mut out = Vec::new();
        for count in [0, 3, 3, 1] {
            rx.on_sdu(Time::ZERO, sdu(count), &mut out);
        }
        assert_eq!(out, [sdu(0), sdu(3)]);
        assert_eq!((rx.rx_deliv(), rx.passed()), (4, 4));
        assert!(rx.wake_at().is_never());
    }

    fn counts(out: &[Sdu]) -> Vec<u32> {
        out.iter().map(|sdu| sdu.count).collect()
    }

    /// Vectors `status_report_bits`, `status_report_two_octets` and `status_report_no_gap` of
    /// handover_vectors.csv.
    #[test]
    fn a_status_report_has_a_bit_for_each_pdu_behind_the_first_missing_one() {
        let report = |first: u64, stored: &[u32]| {
            let mut rx = receiver_at(SHORT, first);
            for &count in stored {
                rx.on_sdu(Time::ZERO, sdu(count), &mut Vec::new());
            }
            rx.status_report()
        };
        assert_eq!(report(103, &[104, 106]), (103, vec![0xa0]));
        assert_eq!(report(10, &[11, 12, 20]), (10, vec![0xc0, 0x40]));
        assert_eq!(report(107, &[]), (107, vec![]));
        let mut rx = receiver_at(SHORT, 103);
        for count in [104, 106] {
            rx.on_sdu(Time::ZERO, sdu(count), &mut Vec::new());
        }
        // Vector `pdcp_reest_am_with_report` of handover_vectors.csv.
        let again = (103..110).filter(|&count| !rx.has(count));
        assert_eq!(again.collect::<Vec<_>>(), [103, 105, 107, 108, 109]);
        assert!(rx.has(102) && !rx.has(110));
    }

    /// Vectors `reorder_timer_survives_ho`, `reorder_timer_expires_in_ho`, `duplicates_after_ho`
    /// and `count_after_ho` of handover_vectors.csv. In acknowledged mode a handover changes
    /// nothing at the receiver.
    #[test]
    fn t_reordering_runs_on_over_a_handover() {
        let run = |first: u64, arrivals: &[(u64, u32)]| {
            let mut rx = receiver_at(SHORT, first);
            let mut out = Vec::new();
            for &(ms, count) in arrivals {
                let now = Time::ZERO + Span::from_millis(ms);
                rx.on_wake(now, &mut out);
                rx.on_sdu(now, sdu(count), &mut out);
            }
            counts(&out)
        };
        let arrivals = |later: u64| {
            let target = [(85, 50), (86, 51), (87, 54)];
            let target = target.map(|(ms, count)| (ms + later, count));
            [&[(0, 52), (1, 53)], &target[..]].concat()
        };
        assert_eq!(run(50, &arrivals(0)), [50, 51, 52, 53, 54]);
        assert_eq!(run(50, &arrivals(60)), [52, 53, 54]);
        let doubled: Vec<_> = [50, 51, 52, 51, 52, 53].map(|count| (0, count)).into();
        assert_eq!(run(50, &doubled), [50, 51, 52, 53]);
        let mut rx = receiver_at(SHORT, 4095);
        let mut out = Vec::new();
        for sn in [4095, 4096, 4097] {
            rx.on_sdu(Time::ZERO, sdu(sn), &mut out);
        }
        assert_eq!(rx.rx_deliv(), 4098, "the HFN goes on");
    }

    /// Vector `daps_two_legs` of handover_vectors.csv. Source and target send the same COUNTs.
    #[test]
    fn what_two_cells_send_goes_up_once_and_in_order() {
        let mut rx = receiver_at(SHORT, 100);
        let mut out = Vec::new();
        for count in [100, 101, 102, 103, 103, 104] {
            rx.on_sdu(Time::ZERO, sdu(count), &mut out);
        }
        assert_eq!(counts(&out), [100, 101, 102, 103, 104]);
        assert_eq!(rx.useless(), 1);
    }

    /// Vector `um_reset` of handover_vectors.csv.
    #[test]
    fn a_restart_in_unacknowledged_mode_expects_count_zero() {
        let mut rx = receiver_at(SHORT, 998);
        let mut out = Vec::new();
        rx.on_sdu(Time::ZERO, sdu(999), &mut out);
        rx.flush(&mut out);
        rx.restart();
        assert_eq!(counts(&out), [999]);
        assert_eq!((rx.rx_deliv(), rx.wake_at()), (0, Time::NEVER));
        rx.on_sdu(Time::ZERO, sdu(0), &mut out);
        assert_eq!((counts(&out), rx.rx_deliv()), (vec![999, 0], 1));
    }

    /// Vector `lte_pdcp_overtake` of handover_vectors.csv, for TS 36.323 clause 5.1.2.1.4.1.
    #[test]
    fn what_lte_stored_at_a_handover_goes_up_with_the_next_that_arrives_as_usual() {
        let lte = PdcpConfig::LTE;
        let mut rx = receiver_at(lte, 103);
        let mut out = Vec::new();
        for count in [104, 106, 106] {
            rx.on_held(Time::ZERO, sdu(count), &mut out);
        }
        assert_eq!((counts(&out), rx.held()), (vec![], 2));
        rx.on_sdu(Time::ZERO, sdu(103), &mut out);
        assert_eq!(counts(&out), [103, 104]);
        rx.on_sdu(Time::ZERO, sdu(106), &mut out);
        assert_eq!(counts(&out), [103, 104], "it is here already");
        rx.on_sdu(Time::ZERO, sdu(107), &mut out);
        assert_eq!(counts(&out), [103, 104, 106, 107], "the gap is given up");
        assert_eq!((rx.rx_deliv(), rx.held()), (108, 0));

        let mut rx = receiver_at(lte, 110);
        let mut out = Vec::new();
        for count in std::iter::once(120).chain(110..120) {
            rx.on_sdu(Time::ZERO, sdu(count), &mut out);
        }
        assert_eq!(counts(&out), [120], "ten SDUs are lost");
    }
}
