//! Processing times between arrival, grant, data and feedback.
//!
//! All but the decoding are counted in slots from the start of one slot to the start of another.
//! In TDD, what would fall into a slot of the other direction moves to the next that fits.
//!
//! **LTE** is the arithmetic of TR 36.912 clause B.2 and of the latency reduction study: the base
//! station's 1.5 TTI before a downlink transmission are here 1 TTI of processing and the wait for
//! the next TTI, whose mean is 0.5 TTI when packets arrive at any phase. The uplink has no such
//! wait: a scheduling request is sent at the start of a TTI, and everything after it lies on the
//! grid of TTIs. All of it scales with the TTI.
//!
//! **NR**: the UE takes T_proc,1 and T_proc,2 of TS 38.214 clauses 5.3 and 6.4, capability 1; the
//! base station, for which there is no standard, two slots.

use fadeout_core::Span;

/// Processing times of one cell and its UEs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// From a packet's arrival at the base station to the earliest start of a slot with it.
    pub downlink_preparation: Span,
    /// From the end of a downlink transmission until the UE's upper layers have its data.
    pub ue_decoding: Span,
    /// Slots from a downlink transmission to its HARQ feedback (K1).
    pub data_to_feedback: u32,
    /// Slots from the feedback to the earliest use of the HARQ process, a retransmission or new
    /// data.
    pub feedback_to_data: u32,
    /// Slots from a scheduling request to the earliest grant.
    pub request_to_grant: u32,
    /// Slots from a grant to the uplink transmission (K2).
    pub grant_to_data: u32,
    /// From the end of an uplink transmission until the base station's upper layers have its
    /// data.
    pub bs_decoding: Span,
    /// Slots from an uplink transmission to the earliest grant that follows from it: for a
    /// retransmission, or because of its buffer status report.
    pub data_to_grant: u32,
}

impl Timing {
    /// LTE FDD: feedback after four TTIs, retransmission after eight (TS 36.213 clauses 7.3, 8).
    pub fn lte(tti: Span) -> Timing {
        Timing {
            downlink_preparation: tti,
            ue_decoding: tti * 3 / 2,
            data_to_feedback: 4,
            feedback_to_data: 4,
            request_to_grant: 4,
            grant_to_data: 4,
            bs_decoding: tti * 3 / 2,
            data_to_grant: 4,
        }
    }

    /// NR with numerology `mu`, from 0 to 6.
    pub fn nr(mu: u8) -> Timing {
        let slot = Span::from_nanos(1_000_000 >> mu);
        // Symbols of TS 38.214 Tables 5.3-1 and 6.4-1 for mu up to 3. Above, the tables double
        // the symbols with each step, which keeps the time.
        const DECODING_SYMBOLS: [u64; 4] = [8, 10, 17, 20];
        const PREPARATION_SYMBOLS: [u64; 4] = [10, 12, 23, 36];
        let row = usize::from(mu.min(3));
        // One symbol with its prefix is 2192 * 64 * T_c at 15 kHz: 71.35 us.
        let time = |symbols: u64| Span::from_nanos(symbols * 71_354 >> row);
        let in_slots = |span: Span| span.as_nanos().div_ceil(slot.as_nanos()) as u32;
        // The grant itself takes two symbols.
        let control = slot * 2 / 14;
        const BS_SLOTS: u32 = 2;
        Timing {
            downlink_preparation: slot * u64::from(BS_SLOTS),
            ue_decoding: time(DECODING_SYMBOLS[row]),
            data_to_feedback: 1 + in_slots(time(DECODING_SYMBOLS[row])),
            feedback_to_data: 1 + BS_SLOTS,
            request_to_grant: 1 + BS_SLOTS,
            grant_to_data: in_slots(control + time(PREPARATION_SYMBOLS[row])),
            bs_decoding: time(DECODING_SYMBOLS[row]),
            data_to_grant: 1 + BS_SLOTS.max(in_slots(time(DECODING_SYMBOLS[row]))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nr_times_are_those_of_the_standard() {
        // T_proc,1 in us and the default K2 of TS 38.214 Table 6.1.2.1.1-4, whose j is the least.
        for (mu, decoding, k2) in [
            (0, 570.83, 1),
            (1, 356.77, 1),
            (2, 303.26, 2),
            (3, 178.39, 3),
        ] {
            let timing = Timing::nr(mu);
            let found = timing.ue_decoding.as_secs_f64() * 1e6;
            assert!((found - decoding).abs() < 0.01, "{found} beside {decoding}");
            assert_eq!(timing.grant_to_data, k2, "mu {mu}");
        }
        assert_eq!(Timing::nr(5).ue_decoding, Timing::nr(3).ue_decoding);
    }

    #[test]
    fn lte_times_scale_with_the_interval() {
        let (long, short) = (
            Timing::lte(Span::from_millis(1)),
            Timing::lte(Span::from_micros(100)),
        );
        assert_eq!(long.ue_decoding, short.ue_decoding * 10);
        assert_eq!(long.grant_to_data, short.grant_to_data);
    }
}
