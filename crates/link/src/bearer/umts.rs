//! UMTS of Release 99: dedicated channels of fixed rate, repeated by RLC alone.

use super::{
    BearerConfig, Common, DCH_TIMER, FACH_PROMOTION, FACH_TIMER, IDLE_PROMOTION, JITTER,
    RADIO_STATES, delay, radio_states, rlc_delay, rlc_error, without_harq,
};
use crate::LinkConfig;
use fadeout_core::registry::{Entry, Parameters, choice};
use fadeout_core::{Rate, Span};

/// Rates of the reference bearers in kbit/s, with their intervals in milliseconds.
const RATES: [(&str, u64, u64); 3] = [
    ("64 kbit/s", 64, 20),
    ("128 kbit/s", 128, 20),
    ("384 kbit/s", 384, 10),
];
const NAMES: &[&str] = &[RATES[0].0, RATES[1].0, RATES[2].0];

pub(super) const ENTRY: Entry = Entry {
    name: "umts",
    aliases: &["r99", "dch"],
    family: "3G",
    summary: "UMTS of Release 99: a dedicated channel of fixed rate (DCH).",
    citation: "TS 34.108 clause 6.10 (reference bearers); TS 25.322",
    parameters: &[
        choice(
            "downlink-rate",
            NAMES,
            "384 kbit/s",
            "Rate of the downlink's DCH, without RLC's header: blocks of 10 ms at 384 kbit/s, of \
             20 ms below.",
        ),
        choice(
            "uplink-rate",
            NAMES,
            "64 kbit/s",
            "Rate of the uplink's DCH.",
        ),
        delay("60 ms"),
        JITTER,
        rlc_error("0.01"),
        rlc_delay("100 ms"),
        RADIO_STATES,
        IDLE_PROMOTION,
        FACH_PROMOTION,
        DCH_TIMER,
        FACH_TIMER,
    ],
};

pub(super) fn umts(given: &Parameters) -> BearerConfig {
    let common = Common {
        delay: Span::from_millis(60),
        jitter: Span::ZERO,
        rlc_error: 0.01,
        rlc_delay: Span::from_millis(100),
    };
    let common = common.with(given);
    BearerConfig {
        downlink: channel(&common, given.choice("downlink-rate", "384 kbit/s")),
        uplink: channel(&common, given.choice("uplink-rate", "64 kbit/s")),
        states: radio_states(given),
    }
}

fn channel(common: &Common, rate: &str) -> LinkConfig {
    let (_, kbps, interval) = RATES
        .into_iter()
        .find(|(name, ..)| *name == rate)
        .expect("every rate that can be named is listed");
    common.direction(
        Rate::from_bits_per_sec(kbps * 1000),
        without_harq(Span::from_millis(interval)),
    )
}
