//! GPRS and EDGE: a coding scheme on some timeslots, in radio blocks of 20 ms.

use super::{BearerConfig, Common, JITTER, delay, rlc_delay, rlc_error, rows, without_harq};
use fadeout_core::registry::{Entry, Parameter, Parameters, choice, integer};
use fadeout_core::{Rate, Span};

/// A radio block on average: twelve in a 52-frame of 240 ms (TS 43.064 clause 6.3.2.1).
const BLOCK: Span = Span::from_millis(20);

const SCHEMES: &str = include_str!("../../../../data/gprs_edge_schemes.csv");

const DOWNLINK_SLOTS: Parameter = integer(
    "downlink-slots",
    (1, 8, ""),
    "4",
    "Timeslots of the downlink (4 in multislot classes 8, 10 and 12).",
);
const UPLINK_SLOTS: Parameter = integer(
    "uplink-slots",
    (1, 8, ""),
    "1",
    "Timeslots of the uplink (1 in multislot class 8, up to 2 in class 10).",
);

pub(super) const GPRS: Entry = Entry {
    name: "gprs",
    aliases: &[],
    family: "2G",
    summary: "GPRS: up to 20 kbit/s a timeslot, with GMSK.",
    citation: "TS 43.064, TS 44.060 clause 10.2.1; delay within the range of RFC 3481 section 2.1",
    parameters: &[
        choice(
            "coding-scheme",
            &["cs-1", "cs-2", "cs-3", "cs-4"],
            "cs-2",
            "Channel coding scheme; 8, 12, 14.4 or 20 kbit/s a timeslot without RLC's header.",
        ),
        DOWNLINK_SLOTS,
        UPLINK_SLOTS,
        delay("250 ms"),
        JITTER,
        rlc_error("0.01"),
        rlc_delay("200 ms"),
    ],
};

pub(super) const EDGE: Entry = Entry {
    name: "edge",
    aliases: &["egprs"],
    family: "2G",
    summary: "EDGE (EGPRS): up to 59.2 kbit/s a timeslot, with 8-PSK.",
    citation: "TS 43.064, TS 44.060 clause 10.2.1; delay within the range of RFC 3481 section 2.1",
    parameters: &[
        choice(
            "coding-scheme",
            &[
                "mcs-1", "mcs-2", "mcs-3", "mcs-4", "mcs-5", "mcs-6", "mcs-7", "mcs-8", "mcs-9",
            ],
            "mcs-6",
            "Modulation and coding scheme; 8.8 to 59.2 kbit/s a timeslot.",
        ),
        DOWNLINK_SLOTS,
        UPLINK_SLOTS,
        delay("150 ms"),
        JITTER,
        rlc_error("0.01"),
        rlc_delay("200 ms"),
    ],
};

pub(super) fn gprs(given: &Parameters) -> BearerConfig {
    bearer(given, "cs-2", Span::from_millis(250))
}

pub(super) fn edge(given: &Parameters) -> BearerConfig {
    bearer(given, "mcs-6", Span::from_millis(150))
}

fn bearer(given: &Parameters, scheme: &str, delay: Span) -> BearerConfig {
    let common = Common {
        delay,
        jitter: Span::ZERO,
        rlc_error: 0.01,
        rlc_delay: Span::from_millis(200),
    };
    let common = common.with(given);
    let slot = octets(given.choice("coding-scheme", scheme));
    let slots = |name, default| given.number(name, default) as u64;
    let direction = |slots: u64| {
        // Octets in 20 ms.
        let rate = Rate::from_bits_per_sec(slots * slot * 8 * 50);
        common.direction(rate, without_harq(BLOCK))
    };
    BearerConfig {
        downlink: direction(slots("downlink-slots", 4.0)),
        uplink: direction(slots("uplink-slots", 1.0)),
        states: None,
    }
}

/// Octets of data in a radio block of one timeslot.
fn octets(scheme: &str) -> u64 {
    rows(SCHEMES)
        .find(|row| row[0] == scheme)
        .and_then(|row| row[1].parse().ok())
        .expect("every scheme that can be named is in the table")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RateConfig;
    use fadeout_core::registry::{ParameterKind, Value};

    #[test]
    fn every_scheme_that_can_be_named_has_its_octets() {
        for entry in [GPRS, EDGE] {
            let ParameterKind::Choice(names) = entry.parameters[0].kind else {
                panic!("the first parameter is the scheme");
            };
            assert!(names.iter().all(|name| octets(name) > 0));
        }
    }

    #[test]
    fn a_rate_is_that_of_the_scheme_on_every_timeslot() {
        let given = Parameters(vec![
            ("coding-scheme".into(), Value::Choice("mcs-9".into())),
            ("downlink-slots".into(), Value::Number(4.0)),
            ("uplink-slots".into(), Value::Number(2.0)),
        ]);
        let bearer = edge(&given);
        // MCS-9 has 59.2 kbit/s a timeslot (TS 43.064 Table 2).
        let rate = |kbps: u64| RateConfig::Constant(Rate::from_bits_per_sec(kbps * 100));
        assert_eq!(bearer.downlink.rate, rate(4 * 592));
        assert_eq!(bearer.uplink.rate, rate(2 * 592));
    }
}
