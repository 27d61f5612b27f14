//! Uplink delays in TDD against slot arithmetic that knows the standard's tables and nothing of the
//! stack.

use crate::common::Rig;
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

/// Subframes in which a grant can be sent, and to its data (TS 36.213 Table 8-2). In configuration
/// 0 the UL index lets subframes 1 and 6 grant the subframe behind the table's.
const GRANTS: [&[(u64, u64)]; 7] = [
    &[(0, 4), (1, 7), (5, 4), (6, 7)],
    &[(1, 6), (4, 4), (6, 6), (9, 4)],
    &[(3, 4), (8, 4)],
    &[(0, 4), (8, 4), (9, 4)],
    &[(8, 4), (9, 4)],
    &[(8, 4)],
    &[(0, 7), (1, 7), (5, 7), (6, 7), (9, 5)],
];

/// Patterns of NR, and symbols of N1 and N2 by numerology (TS 38.214 Tables 5.3-1 and 6.4-1).
const NR: [&str; 4] = ["DDDSU", "DDSU", "DDDDDDDSUU", "DSUUD"];
const N1: [u64; 4] = [8, 10, 17, 20];
const N2: [u64; 4] = [10, 12, 23, 36];

/// The slots of a cell as a reader of the standard draws them.
#[derive(Clone, Copy)]
struct Slots {
    pattern: &'static str,
    /// Length of a slot in ns.
    length: u64,
    /// The numerology; none of LTE.
    mu: Option<usize>,
    /// LTE's configuration.
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
        let letters = self.pattern.as_bytes();
        char::from(letters[(slot % letters.len() as u64) as usize])
    }

    /// PUCCH is in uplink slots, and NR's short formats fit into the two uplink symbols of the
    /// special slot.
    fn has_pucch(&self, slot: u64) -> bool {
        self.kind(slot) == 'U' || self.mu.is_some() && self.kind(slot) == 'S'
    }

    /// N symbols in ns: 2192 samples of 30.72 MHz each, in slots of 1 ms / 2^mu.
    fn symbols(count: u64, mu: usize) -> u64 {
        (count * 2192 * 15_625 / 480) >> mu
    }

    /// The first occasion from `slot` on that `is_there`.
    fn occasion(slot: u64, offset: u64, period: u64, is_there: impl Fn(u64) -> bool) -> u64 {
        let at_offset = |slot: &u64| slot % period == offset % period && is_there(*slot);
        (slot..).find(at_offset).expect("numbers do not end")
    }

    /// The data of a request in `slot`.
    fn data(&self, slot: u64) -> u64 {
        let Some(mu) = self.mu else {
            // Three subframes to read it (TR 36.912 clause B.2), and the table.
            let entry = |from: u64| {
                let grants = GRANTS[self.configuration].iter();
                let of = grants.filter(|(subframe, _)| from % 10 == *subframe);
                of.map(|(_, distance)| from + distance).next()
            };
            return (slot + 4..).find_map(entry).expect("some subframe grants");
        };
        // N1 and a slot to read it, and a slot with PDCCH. N2 from the end of that, and an uplink
        // slot.
        let read_at = (slot + 1) * self.length + Slots::symbols(N1[mu], mu) + self.length;
        let is_down = |slot: &u64| self.kind(*slot) != 'U';
        let grant = (read_at.div_ceil(self.length)..).find(is_down);
        let grant = grant.expect("there is downlink");
        let ready_at = grant * self.length + self.length / 14 + Slots::symbols(N2[mu], mu);
        let is_up = |slot: &u64| self.kind(*slot) == 'U' && slot * self.length >= ready_at;
        (grant + 1..).find(is_up).expect("there is uplink")
    }

    /// The delay in ns of a packet that comes at `at` and whose data are in `slot`: to the end of
    /// that, and decoding.
    fn delay(&self, at: u64, slot: u64) -> u64 {
        let decoding = match self.mu {
            Some(mu) => Slots::symbols(N1[mu], mu),
            None => 1_500_000,
        };
        (slot + 1) * self.length + decoding - at
    }

    /// The delay in ns of a lone packet at `at` for which a UE has to ask.
    fn asked(&self, at: u64, offset: u64, period: u64) -> u64 {
        let first = at.div_ceil(self.length);
        let request = Slots::occasion(first, offset, period, |slot| self.has_pucch(slot));
        self.delay(at, self.data(request))
    }

    /// The delay in ns of a packet at `at` that goes with a configured grant.
    fn granted(&self, at: u64, offset: u64, period: u64) -> u64 {
        let first = at.div_ceil(self.length);
        let is_up = |slot| self.kind(slot) == 'U';
        self.delay(at, Slots::occasion(first, offset, period, is_up))
    }

    /// The offsets with which a request can be sent in each period. If there are none, those whose
    /// occasions have PUCCH most often.
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

    /// The mean in ms of a delay over evenly spread times of arrival, in all phases of pattern and
    /// period.
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

/// `ues` UEs in a cell.
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
    rig.rows.is_off = true;
    rig
}

/// Packets of each UE in a run, far enough from each other that the UE has nothing else to send.
const PACKETS: u32 = 12;
const APART_NS: u64 = 300_000_000;

/// Times of arrival in ns and delays of all packets of each UE. With `load` the first UE sends 12
/// Mbit/s instead, more than it is granted.
fn delays(mut rig: Rig, ues: u32, load: bool) -> Vec<Vec<(u64, u64)>> {
    let mut at = Vec::new();
    for number in 0..PACKETS {
        for ue in u32::from(load)..ues {
            // Phases in steps of the golden ratio.
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
            rig.put(0, Direction::Uplink, 1500, u32::MAX);
            busy_until += 1_000_000;
        }
        rig.run_until(Time::from_nanos(nanos));
        rig.put(ue, Direction::Uplink, 100, number * ues + ue);
    }
    rig.run_for(Span::from_nanos(APART_NS));
    let mut found = vec![Vec::new(); ues as usize];
    for &(nanos, ue, number) in &at {
        let of = |arrival: &&crate::common::Arrival| arrival.number == number * ues + ue;
        let arrival = rig.arrivals.iter().find(of).expect("it arrived");
        found[ue as usize].push((nanos, arrival.at.as_nanos() - nanos));
    }
    found
}

/// The mean in ms.
fn mean_ms(delays: &[(u64, u64)]) -> f64 {
    let total: u64 = delays.iter().map(|(_, delay)| delay).sum();
    total as f64 / delays.len() as f64 / 1e6
}

/// The offset by which each packet of a UE has the delay of the closed form.
fn offset_of(
    delays: &[(u64, u64)],
    offsets: &[u64],
    expected: impl Fn(u64, u64) -> u64,
) -> Option<u64> {
    let fits = |offset: u64| {
        let mut all = delays.iter();
        // Symbols of the processing times are rounded once here and once in the stack.
        all.all(|&(at, delay)| expected(at, offset).abs_diff(delay) <= 2)
    };
    offsets.iter().copied().find(|&offset| fits(offset))
}

/// Every packet of 20 UEs has the closed form's delay to the nanosecond, at one of the offsets that
/// the network may choose. So its mean and distribution are theirs. All offsets come up.
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
    // 40 draws leave out one of four offsets with a chance of 4 (3/4)^40, one in 25,000.
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

/// Means in ms by hand. With a period of 10 each UE of configuration 1 waits 5 ms on average. Ten
/// subframes pass from the request to its data, and 2.5 ms end it: 17.5. DDDSU, 30 kHz, a period of
/// 10: 2.5 ms of waiting. From requests in slots 3 and 4 of five to their data 3 and 2.5 ms pass. A
/// slot and N1, 857 us, end it.
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
    // A configured grant in each slot: half of the pattern, and the rest as before.
    let slots = Slots::nr("DDDSU", 1);
    let mean = slots.mean_ms(1, |at| slots.granted(at, 0, 1));
    assert!((mean - (1.25 + 0.857)).abs() < 0.01, "{mean} ms");
}

/// One UE that is never idle takes the rest of each slot. The others get their first grant as
/// before: round robin gives each UE its demand up to an equal share.
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
            // Requests would take up to 80 ms.
            let cell = slots.config(RequestConfig::every(160), Some(period));
            let found = delays(rig(cell, UES, 1), UES, false);
            let is_up = |slot| slots.kind(slot) == 'U';
            let offsets = slots.offsets(u64::from(period), is_up);
            for (ue, delays) in found.iter().enumerate() {
                // The base station spreads UEs over the offsets by their numbers.
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

/// Packets each `every_us` of one UE for a second, in FDD or a pattern: their delays in ms, sorted.
fn stream(cell: CellConfig, every_us: u64) -> Vec<f64> {
    let mut rig = rig(cell, 1, 3);
    let count = 1_000_000 / every_us as u32;
    for number in 0..count {
        let at = Time::from_nanos(u64::from(number) * every_us * 1000 + 123_457);
        rig.run_until(at);
        rig.put(0, Direction::Uplink, 100, number);
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

/// sr-ProhibitTimer starts when a request is sent (TS 38.321 clause 5.4.4). A timer shorter than
/// the period of the opportunities forbids none of them. A longer one costs its own length and no
/// more.
#[test]
fn a_prohibit_timer_delays_by_what_it_lasts_at_most() {
    let fdd = CellConfig::nr(Point::default(), Hertz(3.5e9), 1, 106).expect("a cell");
    let tdd = Slots::nr("DDDSU", 1).config(RequestConfig::every(10), None);
    let with = |cell: &CellConfig, period, prohibit_us| CellConfig {
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
            let without = stream(with(cell, period, 0), every_us);
            assert_eq!(stream(with(cell, period, 500), every_us), without);
            for prohibit_us in [8_000, 64_000] {
                let longer = stream(with(cell, period, prohibit_us), every_us);
                let most = |delays: &[f64]| delays[delays.len() - 1];
                // The timer, and the opportunity behind it. In a pattern of five the period may be
                // stretched to 48 slots.
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
        let found = StretchedPeriod::of(&cell);
        let is_multiple = period % 5 == 0;
        assert_eq!(found.is_empty(), is_multiple, "{period}");
        // Two of five slots have PUCCH.
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
