//! Tests of uplink delays in TDD against slot arithmetic from the tables of the standard,
//! independent of the stack.

use crate::common::{Rig, Rows};
use fadeout_core::{CellId, Decibel, Direction, Hertz, NodeId, Point, Rate, Span, Time, UeId};
use fadeout_radio::access::{
    Adaptation, BearerConfig, CellConfig, ConfiguredGrant, FixedSinr, RadioAccess, RadioConfig,
    Serving, StretchedPeriod, UeConfig,
};
use fadeout_radio::mac::RequestConfig;
use fadeout_radio::mac::request::request_periods;
use fadeout_radio::phy::frame::{Duplex, SpecialSlot, TddPattern};
use fadeout_radio::phy::harq::FixedErrors;
use fadeout_radio::phy::lte_tdd::LteTdd;
use fadeout_radio::phy::timing::Timing;
use fadeout_radio::rlc::RlcConfig;

/// Uplink-downlink configurations (TS 36.211 Table 4.2-2).
const LTE: [&str; 7] = [
    "DSUUUDSUUU",
    "DSUUDDSUUD",
    "DSUDDDSUDD",
    "DSUUUDDDDD",
    "DSUUDDDDDD",
    "DSUDDDDDDD",
    "DSUUUDSUUD",
];

/// Subframes in which a grant can be sent, and the number of subframes from the grant to its data
/// (TS 36.213 Table 8-2). In configuration 0, the UL index lets subframes 1 and 6 grant the
/// subframe after the one in the table.
const GRANTS: [&[(u64, u64)]; 7] = [
    &[(0, 4), (1, 7), (5, 4), (6, 7)],
    &[(1, 6), (4, 4), (6, 6), (9, 4)],
    &[(3, 4), (8, 4)],
    &[(0, 4), (8, 4), (9, 4)],
    &[(8, 4), (9, 4)],
    &[(8, 4)],
    &[(0, 7), (1, 7), (5, 7), (6, 7), (9, 5)],
];

/// TDD patterns of NR, and the symbols of N1 and N2 for each numerology (TS 38.214 Tables 5.3-1 and
/// 6.4-1).
const NR: [&str; 4] = ["DDDSU", "DDSU", "DDDDDDDSUU", "DSUUD"];
const N1: [u64; 4] = [8, 10, 17, 20];
const N2: [u64; 4] = [10, 12, 23, 36];

/// Pattern and slot length of a cell, as the standard defines them.
#[derive(Clone, Copy)]
struct Slots {
    pattern: &'static str,
    /// Length of a slot in ns.
    length: u64,
    /// Numerology of NR. `None` for LTE.
    mu: Option<usize>,
    /// Uplink-downlink configuration of LTE.
    configuration: usize,
}

impl Slots {
    fn lte(configuration: usize) -> Slots {
        Slots {
            pattern: LTE[configuration],
            length: 1_000_000,
            mu: None,
            configuration,
        }
    }

    fn nr(pattern: &'static str, mu: usize) -> Slots {
        Slots {
            pattern,
            length: 1_000_000 >> mu,
            mu: Some(mu),
            configuration: 0,
        }
    }

    fn kind(&self, slot: u64) -> char {
        let pattern = self.pattern.as_bytes();
        char::from(pattern[(slot % pattern.len() as u64) as usize])
    }

    /// Returns true if a slot has PUCCH. In NR, short formats fit into the two uplink symbols of
    /// the special slot.
    fn has_pucch(&self, slot: u64) -> bool {
        self.kind(slot) == 'U' || self.mu.is_some() && self.kind(slot) == 'S'
    }

    /// Returns the duration of `count` symbols in ns. A symbol has 2192 samples at 30.72 MHz, in
    /// slots of 1 ms / 2^mu.
    fn symbols(count: u64, mu: usize) -> u64 {
        (count * 2192 * 15_625 / 480) >> mu
    }

    /// Returns the first slot from `slot` on that has the given offset in the period and for which
    /// `is_there` returns true.
    fn occasion(slot: u64, offset: u64, period: u64, is_there: impl Fn(u64) -> bool) -> u64 {
        let at_offset = |slot: &u64| slot % period == offset % period && is_there(*slot);
        (slot..).find(at_offset).expect("numbers do not end")
    }

    /// Returns the slot of the data for a request in `slot`.
    fn data(&self, slot: u64) -> u64 {
        let Some(mu) = self.mu else {
            // The base station takes three subframes to decode the request (TR 36.912 clause B.2).
            // The table gives the time from the grant to the data.
            let entry = |from: u64| {
                let grants = GRANTS[self.configuration].iter();
                let of = grants.filter(|(subframe, _)| from % 10 == *subframe);
                of.map(|(_, distance)| from + distance).next()
            };
            return (slot + 4..).find_map(entry).expect("some subframe grants");
        };
        // The base station needs N1 and one slot to decode the request. It sends the grant in the
        // next slot with PDCCH. The UE needs N2 after the PDCCH, and sends in the next uplink slot.
        let read_at = (slot + 1) * self.length + Slots::symbols(N1[mu], mu) + self.length;
        let is_down = |slot: &u64| self.kind(*slot) != 'U';
        let grant = (read_at.div_ceil(self.length)..).find(is_down);
        let grant = grant.expect("there is downlink");
        let ready_at = grant * self.length + self.length / 14 + Slots::symbols(N2[mu], mu);
        let is_up = |slot: &u64| self.kind(*slot) == 'U' && slot * self.length >= ready_at;
        (grant + 1..).find(is_up).expect("there is uplink")
    }

    /// Returns the delay in ns of a packet that arrives at time `at` and is sent in `slot`. The
    /// delay includes decoding.
    fn delay(&self, at: u64, slot: u64) -> u64 {
        let decoding = match self.mu {
            Some(mu) => Slots::symbols(N1[mu], mu),
            None => 1_500_000,
        };
        (slot + 1) * self.length + decoding - at
    }

    /// Returns the delay in ns of a single packet that arrives at time `at`. The UE sends a
    /// scheduling request for the packet.
    fn asked(&self, at: u64, offset: u64, period: u64) -> u64 {
        let first = at.div_ceil(self.length);
        let request = Slots::occasion(first, offset, period, |slot| self.has_pucch(slot));
        self.delay(at, self.data(request))
    }

    /// Returns the delay in ns of a packet that arrives at time `at` and uses a configured grant.
    fn granted(&self, at: u64, offset: u64, period: u64) -> u64 {
        let first = at.div_ceil(self.length);
        let is_up = |slot| self.kind(slot) == 'U';
        self.delay(at, Slots::occasion(first, offset, period, is_up))
    }

    /// Returns the offsets at which every period has a request opportunity. If no offset has one in
    /// every period, returns the offsets with the most opportunities.
    fn offsets(&self, period: u64, is_there: impl Fn(u64) -> bool) -> Vec<u64> {
        let all = period * self.pattern.len() as u64;
        let count = |offset: u64| {
            let slots = (0..all).filter(|slot| slot % period == offset);
            slots.filter(|&slot| is_there(slot)).count()
        };
        let most = (0..period).map(count).max().expect("a period has a slot");
        (0..period)
            .filter(|&offset| count(offset) == most)
            .collect()
    }

    /// Returns the mean delay in ms over evenly spread arrival times. The arrivals cover all phases
    /// of the pattern and of the period.
    fn mean_ms(&self, period: u64, delay: impl Fn(u64) -> u64) -> f64 {
        let all = period * self.pattern.len() as u64 * self.length;
        let count = 10_007;
        let total: u64 = (0..count).map(|n| delay(n * all / count)).sum();
        total as f64 / count as f64 / 1e6
    }

    fn config(&self, requests: RequestConfig, grant_period: Option<u32>) -> CellConfig {
        let special = SpecialSlot::default();
        let pattern = TddPattern::new(self.pattern, special, 14).expect("a pattern");
        let base = match self.mu {
            None => CellConfig {
                timing: Timing::lte_tdd(LteTdd::new(self.configuration as u8).expect("0 to 6")),
                ..CellConfig::lte(Point::default(), Hertz(2e9), 100)
            },
            Some(mu) => {
                CellConfig::nr(Point::default(), Hertz(3.5e9), mu as u8, 106).expect("a cell")
            }
        };
        let rate = Rate::from_bits_per_sec(100_000_000);
        CellConfig {
            duplex: Duplex::Tdd(pattern),
            adaptation: Adaptation::FixedRate {
                downlink: rate,
                uplink: rate,
            },
            fixed_errors: Some(FixedErrors {
                first: 0.0,
                retransmission: 0.0,
            }),
            requests,
            configured_grant: grant_period.map(|period| ConfiguredGrant {
                period,
                units: 1,
                scheme: 4,
            }),
            ..base
        }
    }
}

/// Returns a test bench of a cell with `ues` UEs.
fn rig(cell: CellConfig, ues: u32, seed: u64) -> Rig {
    let sinr = FixedSinr {
        downlink: Decibel(20.0),
        uplink: Decibel(20.0),
    };
    let config = RadioConfig {
        cells: vec![cell],
        ues: (0..ues)
            .map(|ue| UeConfig {
                serving: Serving::Cell(CellId(0)),
                fixed_sinr: Some(sinr),
                ..UeConfig::new(NodeId(ue))
            })
            .collect(),
        bearers: (0..ues)
            .map(|ue| BearerConfig {
                rlc: RlcConfig::NR_UM,
                ..BearerConfig::nr(UeId(ue))
            })
            .collect(),
    };
    let mut rig = Rig::new(config, seed);
    rig.rows = Rows::default();
    rig
}

/// Number of packets of each UE in a run. The packets are so far apart that the UE has no other
/// data when it sends one.
const PACKETS: u32 = 12;
const APART_NS: u64 = 300_000_000;

/// Returns arrival times in ns and delays of all packets of each UE. With `load`, the first UE
/// instead sends 12 Mbit/s, which is more than its grants allow.
fn delays(mut rig: Rig, ues: u32, load: bool) -> Vec<Vec<(u64, u64)>> {
    let mut at = Vec::new();
    for number in 0..PACKETS {
        for ue in u32::from(load)..ues {
            // Arrival phases advance by the golden ratio, so that they spread evenly.
            let step = f64::from(number * ues + ue) * 0.618_033_988_749_895;
            let phase = (step.fract() * APART_NS as f64 / 2.0) as u64;
            at.push((u64::from(number) * APART_NS + phase, ue, number));
        }
    }
    at.sort_unstable();
    let mut busy_until = 0;
    for &(nanos, ue, number) in &at {
        while load && busy_until <= nanos {
            rig.run_until(Time::from_nanos(busy_until));
            rig.send_packet(0, Direction::Uplink, 1500, u32::MAX);
            busy_until += 1_000_000;
        }
        rig.run_until(Time::from_nanos(nanos));
        rig.send_packet(ue, Direction::Uplink, 100, number * ues + ue);
    }
    rig.run_for(Span::from_nanos(APART_NS));
    let mut found = vec![Vec::new(); ues as usize];
    for &(nanos, ue, number) in &at {
        let is_of_ue = |arrival: &&crate::common::Arrival| arrival.number == number * ues + ue;
        let arrival = rig.arrivals.iter().find(is_of_ue).expect("it arrived");
        found[ue as usize].push((nanos, arrival.at.as_nanos() - nanos));
    }
    found
}

/// Returns the mean in ms of delays given in ns.
fn mean_ms(delays: &[(u64, u64)]) -> f64 {
    let total: u64 = delays.iter().map(|(_, delay)| delay).sum();
    total as f64 / delays.len() as f64 / 1e6
}

/// Returns the offset with which all packets of a UE have the delay of the closed form. `None` if
/// there is no such offset.
fn offset_of(
    delays: &[(u64, u64)],
    offsets: &[u64],
    expected: impl Fn(u64, u64) -> u64,
) -> Option<u64> {
    let fits = |offset: u64| {
        let mut all = delays.iter();
        // Processing times in symbols are rounded once in this test and once in the stack, so
        // delays may differ by 2 ns.
        all.all(|&(at, delay)| expected(at, offset).abs_diff(delay) <= 2)
    };
    offsets.iter().copied().find(|&offset| fits(offset))
}

/// Asserts that every packet of 20 UEs has the delay of the closed form, to the nanosecond. The
/// offset of a UE may be any that the network may choose, and all of these must be used. So mean
/// and distribution of the delay match the closed form too.
fn assert_asked(slots: Slots, period: u32, seeds: std::ops::Range<u64>) {
    const UES: u32 = 20;
    let offsets = slots.offsets(u64::from(period), |slot| slots.has_pucch(slot));
    let mut used = Vec::new();
    for seed in seeds {
        let cell = slots.config(RequestConfig::every(period), None);
        let found = delays(rig(cell, UES, seed), UES, false);
        for (ue, delays) in found.iter().enumerate() {
            let asked = |at, offset| slots.asked(at, offset, u64::from(period));
            let offset = offset_of(delays, &offsets, asked);
            let mean = mean_ms(delays);
            let pattern = slots.pattern;
            assert!(
                offset.is_some(),
                "{pattern}, period {period}, seed {seed}, UE {ue}: {mean} ms on average, {delays:?}"
            );
            used.extend(offset);
        }
    }
    used.sort_unstable();
    used.dedup();
    // The probability that 40 draws miss one of four offsets is 4 (3/4)^40, or one in 25,000.
    let is_drawn = used.len() == offsets.len() || offsets.len() > 4;
    assert!(is_drawn, "{} of {offsets:?} are {used:?}", slots.pattern);
}

#[test]
fn every_ue_of_every_lte_tdd_configuration_has_the_delay_of_its_tables() {
    for configuration in 0..7 {
        for &period in request_periods(None) {
            assert_asked(Slots::lte(configuration), period, 1..3);
        }
    }
}

#[test]
fn every_ue_of_every_nr_pattern_has_the_delay_of_its_slots() {
    for pattern in NR {
        for &period in request_periods(Some(1)) {
            assert_asked(Slots::nr(pattern, 1), period, 1..3);
        }
    }
}

#[test]
fn slots_of_other_lengths_keep_to_the_same_arithmetic() {
    for (mu, periods) in [(0, [5, 8]), (2, [8, 20]), (3, [8, 40])] {
        for period in periods {
            assert_asked(Slots::nr("DDDSU", mu), period, 1..3);
        }
    }
}

/// Compares mean delays with values computed by hand. In LTE's configuration 1 with a period of 10,
/// a packet waits 5 ms on average for a request. Ten subframes pass from the request to its data,
/// and transmission with decoding takes 2.5 ms. The sum is 17.5 ms. In DDDSU at 30 kHz with a
/// period of 10, the wait is 2.5 ms. From a request in slot 3 or 4 of five to its data, 3 or 2.5 ms
/// pass. Transmission with decoding takes a slot and N1, together 857 us.
#[test]
fn means_are_those_by_hand() {
    let asked = |slots: Slots, period: u64, offset| {
        slots.mean_ms(period, |at| slots.asked(at, offset, period))
    };
    for offset in [2, 3, 7, 8] {
        let mean = asked(Slots::lte(1), 10, offset);
        assert!((mean - 17.5).abs() < 0.01, "{mean} ms at {offset}");
    }
    for (offset, expected) in [(3, 6.357), (4, 5.857), (8, 6.357), (9, 5.857)] {
        let mean = asked(Slots::nr("DDDSU", 1), 10, offset);
        assert!((mean - expected).abs() < 0.01, "{mean} ms at {offset}");
    }
    // With a configured grant in each uplink slot, the mean wait is half of the pattern's length.
    let slots = Slots::nr("DDDSU", 1);
    let mean = slots.mean_ms(1, |at| slots.granted(at, 0, 1));
    assert!((mean - (1.25 + 0.857)).abs() < 0.01, "{mean} ms");
}

/// Checks delays while another UE always has data and uses all remaining resources of each slot.
/// Round robin gives each UE its demand up to an equal share. So the other UEs get their first
/// grant at the same time as without the busy UE.
#[test]
fn beside_a_greedy_ue_the_others_have_the_same_delay() {
    const UES: u32 = 20;
    for (slots, period) in [
        (Slots::lte(1), 10),
        (Slots::lte(5), 20),
        (Slots::nr("DDDSU", 1), 10),
    ] {
        let cell = slots.config(RequestConfig::every(period), None);
        let found = delays(rig(cell, UES, 5), UES, true);
        let offsets = slots.offsets(u64::from(period), |slot| slots.has_pucch(slot));
        for delays in &found[1..] {
            let asked = |at, offset| slots.asked(at, offset, u64::from(period));
            let offset = offset_of(delays, &offsets, asked);
            assert!(offset.is_some(), "{}: {delays:?}", slots.pattern);
        }
    }
}

#[test]
fn a_configured_grant_waits_for_its_next_uplink_slot_and_asks_for_nothing() {
    const UES: u32 = 6;
    for pattern in NR {
        let slots = Slots::nr(pattern, 1);
        for period in [1_u32, 2, 4, 5, 8, 10, 20, 40] {
            // With scheduling requests alone, a packet would wait up to 80 ms for a request
            // opportunity.
            let cell = slots.config(RequestConfig::every(160), Some(period));
            let found = delays(rig(cell, UES, 1), UES, false);
            let is_up = |slot| slots.kind(slot) == 'U';
            let offsets = slots.offsets(u64::from(period), is_up);
            for (ue, delays) in found.iter().enumerate() {
                // The base station assigns offsets to UEs in turn, in the order of their ids.
                let own = [offsets[ue % offsets.len()]];
                let granted = |at, offset| slots.granted(at, offset, u64::from(period));
                let offset = offset_of(delays, &own, granted);
                let mean = mean_ms(delays);
                assert!(offset.is_some(), "{pattern}, period {period}: {mean} ms");
            }
        }
    }
}

#[test]
fn an_offset_of_zero_is_the_first_slot_with_pucch() {
    for (slots, period, first) in [
        (Slots::lte(1), 10, 2),
        (Slots::nr("DDDSU", 1), 10, 3),
        (Slots::nr("DDDDDDDSUU", 1), 20, 7),
    ] {
        let requests = RequestConfig {
            offset: Some(0),
            ..RequestConfig::every(period)
        };
        let found = delays(rig(slots.config(requests, None), 3, 1), 3, false);
        for delays in &found {
            let asked = |at, offset| slots.asked(at, offset, u64::from(period));
            assert_eq!(offset_of(delays, &[first], asked), Some(first));
        }
    }
}

/// Returns the sorted delays in ms of one UE's packets. The UE sends a packet every `every_us` for
/// a second.
fn stream(cell: CellConfig, every_us: u64) -> Vec<f64> {
    let mut rig = rig(cell, 1, 3);
    let count = 1_000_000 / every_us as u32;
    for number in 0..count {
        let at = Time::from_nanos(u64::from(number) * every_us * 1000 + 123_457);
        rig.run_until(at);
        rig.send_packet(0, Direction::Uplink, 100, number);
    }
    rig.run_for(Span::from_secs_f64(10.0));
    assert_eq!(rig.arrivals.len(), count as usize, "all arrive");
    let delay = |arrival: &crate::common::Arrival| {
        let entered = u64::from(arrival.number) * every_us * 1000 + 123_457;
        (arrival.at.as_nanos() - entered) as f64 / 1e6
    };
    let mut delays: Vec<f64> = rig.arrivals.iter().map(delay).collect();
    delays.sort_by(f64::total_cmp);
    delays
}

/// Checks sr-ProhibitTimer, which starts when a scheduling request is sent (TS 38.321 clause
/// 5.4.4). A timer shorter than the period of request opportunities delays no packet. A longer
/// timer delays a packet by at most the timer's length.
#[test]
fn a_prohibit_timer_delays_by_what_it_lasts_at_most() {
    let fdd = CellConfig::nr(Point::default(), Hertz(3.5e9), 1, 106).expect("a cell");
    let tdd = Slots::nr("DDDSU", 1).config(RequestConfig::every(10), None);
    let cell_with = |cell: &CellConfig, period, prohibit_us| CellConfig {
        requests: RequestConfig {
            prohibit: Span::from_micros(prohibit_us),
            ..RequestConfig::every(period)
        },
        adaptation: tdd.adaptation,
        fixed_errors: Some(FixedErrors {
            first: 0.1,
            retransmission: 0.0,
        }),
        ..cell.clone()
    };
    for cell in [&fdd, &tdd] {
        for (period, every_us) in [(8, 1000), (20, 1000), (40, 2000), (10, 5000)] {
            let without = stream(cell_with(cell, period, 0), every_us);
            assert_eq!(stream(cell_with(cell, period, 500), every_us), without);
            for prohibit_us in [8_000, 64_000] {
                let longer = stream(cell_with(cell, period, prohibit_us), every_us);
                let most = |delays: &[f64]| delays[delays.len() - 1];
                // The bound is the timer plus the wait for the next opportunity. In a pattern of
                // five slots, the period may be stretched to 48 slots.
                let bound =
                    most(&without) + prohibit_us as f64 / 1e3 + f64::from(period) / 2.0 + 24.0;
                assert!(most(&longer) <= bound, "{} beside {bound}", most(&longer));
            }
        }
    }
}

#[test]
fn a_period_that_the_pattern_stretches_is_named_with_what_is_left_of_it() {
    let slots = Slots::nr("DDDSU", 1);
    for &period in request_periods(Some(1)) {
        let cell = slots.config(RequestConfig::every(period), None);
        let found = StretchedPeriod::find_all(&cell);
        let is_multiple = period % 5 == 0;
        assert_eq!(found.is_empty(), is_multiple, "{period}");
        // Two of five slots have PUCCH, so the mean period is stretched by a factor of 2.5.
        let means = found.iter().map(|it| it.mean_slots);
        assert!(means.eq(found.iter().map(|_| f64::from(period) * 2.5)));
    }
}

#[test]
fn a_pattern_without_room_for_pucch_is_an_error() {
    let nr = CellConfig::nr(Point::default(), Hertz(3.5e9), 1, 106).expect("a cell");
    let special = SpecialSlot {
        downlink: 10,
        guard: 3,
        uplink: 1,
    };
    let pattern = TddPattern::new("DDS", special, 14).expect("a pattern");
    let config = RadioConfig {
        cells: vec![CellConfig {
            duplex: Duplex::Tdd(pattern),
            ..nr
        }],
        ues: Vec::new(),
        bearers: Vec::new(),
    };
    let error = RadioAccess::new(config, 1)
        .expect_err("no PUCCH")
        .to_string();
    assert!(error.contains("PUCCH symbols"), "{error}");
    assert!(
        error.contains("at most 1: no slot of the pattern"),
        "{error}"
    );
}
