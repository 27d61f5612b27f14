//! GPRS and EDGE: a coding scheme on several timeslots, with radio blocks of 20 ms.

use super::{Common, Configures, RabConfig, rows, without_harq};
use crate::LinkError;
use fadeout_core::registry::{Entry, Registered, Settings, choice, integer};
use fadeout_core::{Rate, Span};

/// Mean length of a radio block: twelve blocks in a 52-frame of 240 ms.
///
/// Standard: TS 43.064 §6.3.2.1.
const BLOCK: Span = Span::from_millis(20);

const SCHEMES: &str = include_str!("../../data/gprs_edge_schemes.csv");

const CITATION: &str =
    "TS 43.064, TS 44.060 clause 10.2.1; delay within the range of RFC 3481 section 2.1";

fadeout_core::parameters! {
    /// Timeslots.
    #[derive(Debug, Clone, Copy, PartialEq)]
    struct Slots {
        /// Number of timeslots in the downlink (4 in multislot classes 8, 10 and 12).
        downlink_slots: u64 = integer((1, 8, ""), "4"),
        /// Number of timeslots in the uplink (1 in multislot class 8, up to 2 in class 10).
        uplink_slots: u64 = integer((1, 8, ""), "1"),
    }
}

fadeout_core::parameters! {
    /// GPRS with its parameters.
    #[derive(Debug, Clone, PartialEq)]
    pub(super) struct Gprs {
        /// Channel coding scheme, with 8, 12, 14.4 or 20 kbit/s for each timeslot, RLC headers
        /// excluded.
        coding_scheme: String = choice(&["cs-1", "cs-2", "cs-3", "cs-4"], "cs-2"),
        slots: Slots = group(),
        common: Common = group(&[
            ("delay", "250 ms"),
            ("rlc-error", "0.01"),
            ("rlc-delay", "200 ms"),
        ]),
    }
}

impl Registered for Gprs {
    const ENTRY: Entry = Entry::new(
        "gprs",
        "2G",
        "GPRS: up to 20 kbit/s for each timeslot, with GMSK.",
        CITATION,
    )
    .with_parameters(Gprs::PARAMETERS);

    fn from_settings(settings: &Settings<'_>, (): ()) -> Self {
        Gprs::read(settings)
    }
}

impl Configures for Gprs {
    fn configured(&self) -> Result<RabConfig, LinkError> {
        Ok(rab(&self.coding_scheme, self.slots, &self.common))
    }
}

const MCS: &[&str] = &[
    "mcs-1", "mcs-2", "mcs-3", "mcs-4", "mcs-5", "mcs-6", "mcs-7", "mcs-8", "mcs-9",
];

fadeout_core::parameters! {
    /// EDGE with its parameters.
    #[derive(Debug, Clone, PartialEq)]
    pub(super) struct Edge {
        /// Modulation and coding scheme, with 8.8 to 59.2 kbit/s for each timeslot.
        coding_scheme: String = choice(MCS, "mcs-6"),
        slots: Slots = group(),
        common: Common = group(&[
            ("delay", "150 ms"),
            ("rlc-error", "0.01"),
            ("rlc-delay", "200 ms"),
        ]),
    }
}

impl Registered for Edge {
    const ENTRY: Entry = Entry::new(
        "edge",
        "2G",
        "EDGE (EGPRS): up to 59.2 kbit/s for each timeslot, with 8-PSK.",
        CITATION,
    )
    .with_aliases(&["egprs"])
    .with_parameters(Edge::PARAMETERS);

    fn from_settings(settings: &Settings<'_>, (): ()) -> Self {
        Edge::read(settings)
    }
}

impl Configures for Edge {
    fn configured(&self) -> Result<RabConfig, LinkError> {
        Ok(rab(&self.coding_scheme, self.slots, &self.common))
    }
}

fn rab(scheme: &str, slots: Slots, common: &Common) -> RabConfig {
    let slot = octets(scheme);
    let direction = |slots: u64| {
        // A radio block of 20 ms carries these octets, and 50 blocks are sent in a second.
        let rate = Rate::from_bits_per_sec(slots * slot * 8 * 50);
        common.direction(rate, without_harq(BLOCK))
    };
    RabConfig {
        downlink: direction(slots.downlink_slots),
        uplink: direction(slots.uplink_slots),
        states: None,
    }
}

/// Returns the octets of data in a radio block of one timeslot.
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
    use fadeout_core::registry::ParameterKind;

    #[test]
    fn every_scheme_that_can_be_named_has_its_octets() {
        for entry in [Gprs::ENTRY, Edge::ENTRY] {
            let ParameterKind::Choice(names) = entry.parameters[0].kind else {
                panic!("the first parameter is the scheme");
            };
            assert!(names.iter().all(|name| octets(name) > 0));
        }
    }

    #[test]
    fn a_rate_is_that_of_the_scheme_on_every_timeslot() {
        let edge = Edge {
            coding_scheme: "mcs-9".to_owned(),
            slots: Slots {
                downlink_slots: 4,
                uplink_slots: 2,
            },
            ..Edge::default()
        };
        let rab = edge.configured().expect("every scheme has a rate");
        // MCS-9 has 59.2 kbit/s in each timeslot (TS 43.064 Table 2).
        let rate = |kbps: u64| RateConfig::Constant(Rate::from_bits_per_sec(kbps * 100));
        assert_eq!(rab.downlink.rate, rate(4 * 592));
        assert_eq!(rab.uplink.rate, rate(2 * 592));
    }
}
