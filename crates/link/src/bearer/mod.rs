//! Radio bearers of 2G and 3G: links between a base station and a phone whose rates, intervals,
//! delays and errors follow from a technology by name.
//!
//! A technology is a file: its registry entry, its parameters, its tables and their tests. It
//! gives two [`LinkConfig`]s, downlink and uplink, and the radio states that they share.

mod gsm;
mod hspa;
mod umts;

use crate::radio_states::RadioStateConfig;
use crate::{BlockConfig, Limit, LinkConfig, LinkError, QueueConfig, RateConfig};
use fadeout_core::registry::{Entry, Parameter, Parameters, find, flag, number, span};
use fadeout_core::{Bytes, Rate, Span};

/// Every technology that a bearer can name.
pub static BEARERS: &[Entry] = &[
    hspa::HSPA,
    hspa::HSPA_PLUS,
    umts::ENTRY,
    gsm::EDGE,
    gsm::GPRS,
];

/// Both directions of a bearer.
#[derive(Debug, Clone, PartialEq)]
pub struct BearerConfig {
    /// From the base station to the phone.
    pub downlink: LinkConfig,
    /// From the phone to the base station.
    pub uplink: LinkConfig,
    /// The phone's states without which nothing is sent; always connected without them.
    pub states: Option<RadioStateConfig>,
}

impl BearerConfig {
    /// The bearer of the technology called `name` in [`BEARERS`] or by an alias, with the
    /// parameters given; `None` when there is none of that name.
    ///
    /// # Errors
    /// Where parameters exclude each other; the message says what was expected.
    pub fn new(name: &str, given: &Parameters) -> Option<Result<BearerConfig, LinkError>> {
        Some(match find(BEARERS, name)?.name {
            "hspa" => hspa::hspa(given),
            "hspa-plus" => hspa::hspa_plus(given),
            "umts" => Ok(umts::umts(given)),
            "edge" => Ok(gsm::edge(given)),
            "gprs" => Ok(gsm::gprs(given)),
            _ => return None,
        })
    }
}

/// Least default of a queue's limit.
const LEAST_QUEUE: u64 = 30_000;
/// A queue holds what its direction sends in this time unless a limit is given: twice the product
/// of bandwidth and delay at a round trip of 150 ms, HSPA's with 70 ms of network.
const QUEUE_TIME: Span = Span::from_millis(300);

/// The limit of the queue in front of a direction of this rate, where none is given.
pub fn default_limit(rate: Rate) -> Limit {
    let bytes = rate.as_bytes_per_sec_f64() * QUEUE_TIME.as_secs_f64();
    Limit::Bytes(Bytes((bytes as u64).max(LEAST_QUEUE)))
}

/// A direction that sends blocks at `rate`.
fn direction(rate: Rate, delay: Span, blocks: BlockConfig) -> LinkConfig {
    LinkConfig {
        rate: RateConfig::Constant(rate),
        blocks: Some(blocks),
        delay: delay.into(),
        queue: QueueConfig {
            limit: Some(default_limit(rate)),
            ..QueueConfig::default()
        },
        ..LinkConfig::default()
    }
}

/// What every technology has: its delay, its jitter and RLC's retransmissions.
struct Common {
    delay: Span,
    jitter: Span,
    rlc_error: f64,
    rlc_delay: Span,
}

impl Common {
    /// What is given, and `self` for the rest.
    fn with(self, given: &Parameters) -> Common {
        Common {
            delay: given.span("delay", self.delay),
            jitter: given.span("jitter", self.jitter),
            rlc_error: given.number("rlc-error", self.rlc_error),
            rlc_delay: given.span("rlc-delay", self.rlc_delay),
        }
    }

    fn direction(&self, rate: Rate, blocks: BlockConfig) -> LinkConfig {
        let blocks = BlockConfig {
            residual_error: self.rlc_error,
            repeat_after: self.rlc_delay,
            ..blocks
        };
        LinkConfig {
            jitter: self.jitter,
            ..direction(rate, self.delay, blocks)
        }
    }
}

/// Blocks of `interval` that only RLC repeats.
fn without_harq(interval: Span) -> BlockConfig {
    BlockConfig {
        interval,
        processes: 1,
        transmissions: 1,
        ..BlockConfig::default()
    }
}

const fn delay(default: &'static str) -> Parameter {
    span(
        "delay",
        default,
        "One-way delay of each direction through radio network and core, besides the wait for a \
         block and its transmissions.",
    )
}

const JITTER: Parameter = span(
    "jitter",
    "0 s",
    "Largest extra delay, uniform and never reordering; what blocks and their repetitions make of \
     it comes on top.",
);

const fn rlc_error(default: &'static str) -> Parameter {
    number(
        "rlc-error",
        (0.0, 0.9, ""),
        default,
        "Probability that a block is left broken without HARQ's knowledge, or without HARQ at \
         all, and RLC sends it again.",
    )
}

const fn rlc_delay(default: &'static str) -> Parameter {
    span(
        "rlc-delay",
        default,
        "From a broken block to its repetition by RLC: poll and status report. Later packets wait \
         for it.",
    )
}

const RADIO_STATES: Parameter = flag(
    "radio-states",
    "false",
    "Whether the phone starts idle and must be promoted to CELL_DCH before anything is sent, and \
     falls back after inactivity (TS 25.331 clause 7.1). Without it, it is always in CELL_DCH.",
);
const IDLE_PROMOTION: Parameter = span(
    "idle-promotion",
    "2 s",
    "From idle to CELL_DCH (Qian et al., IMC 2010).",
);
const FACH_PROMOTION: Parameter = span(
    "fach-promotion",
    "1500 ms",
    "From CELL_FACH to CELL_DCH (Qian et al., IMC 2010).",
);
const DCH_TIMER: Parameter = span(
    "dch-timer",
    "5 s",
    "Inactivity after which CELL_DCH falls to CELL_FACH (Qian et al., IMC 2010: 5 to 6 s).",
);
const FACH_TIMER: Parameter = span(
    "fach-timer",
    "12 s",
    "Inactivity after which CELL_FACH falls to idle (Qian et al., IMC 2010: 4 to 12 s).",
);

/// The radio states of 3G, when they are wanted.
fn radio_states(given: &Parameters) -> Option<RadioStateConfig> {
    let default = RadioStateConfig::default();
    given
        .flag("radio-states", false)
        .then_some(RadioStateConfig {
            idle_promotion: given.span("idle-promotion", default.idle_promotion),
            fach_promotion: given.span("fach-promotion", default.fach_promotion),
            dch_timer: given.span("dch-timer", default.dch_timer),
            fach_timer: given.span("fach-timer", default.fach_timer),
        })
}

/// The rows of a table: its lines after comment and header, in fields.
fn rows(table: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    let lines = table.lines().filter(|line| !line.starts_with('#')).skip(1);
    lines.map(|line| line.split(',').collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use fadeout_core::registry::{ParameterKind, Value};

    /// The parameters of `entry` with the defaults that its documentation names.
    fn with_every_default(entry: &Entry) -> Parameters {
        let value = |parameter: &Parameter| match parameter.kind {
            ParameterKind::Number { .. } | ParameterKind::Integer { .. } => {
                Value::Number(parameter.default.parse().expect("a number"))
            }
            ParameterKind::Bool => Value::Bool(parameter.default == "true"),
            ParameterKind::Named(kind) => panic!("no bearer names {kind}"),
            ParameterKind::Choice(names) => {
                assert!(names.contains(&parameter.default), "{}", parameter.name);
                Value::Choice(parameter.default.to_owned())
            }
            ParameterKind::Span => {
                let (number, unit) = parameter.default.split_once(' ').expect("a unit");
                let number: f64 = number.parse().expect("a number");
                let seconds = if unit == "ms" { number / 1e3 } else { number };
                Value::Span(Span::from_secs_f64(seconds))
            }
        };
        let parameters = entry.parameters.iter();
        Parameters(
            parameters
                .map(|parameter| (parameter.name.to_owned(), value(parameter)))
                .collect(),
        )
    }

    #[test]
    fn a_documented_default_is_the_default() {
        for entry in BEARERS {
            let given = BearerConfig::new(entry.name, &with_every_default(entry));
            let none = BearerConfig::new(entry.name, &Parameters::default());
            assert!(matches!(none, Some(Ok(_))), "{}", entry.name);
            assert_eq!(given, none, "{}", entry.name);
        }
    }

    #[test]
    fn every_parameter_changes_something() {
        for entry in BEARERS {
            let plain = with_every_default(entry);
            for (index, parameter) in entry.parameters.iter().enumerate() {
                // What is off while another parameter is off is looked at while that is on.
                let mut base = plain.clone();
                for (name, value) in &mut base.0 {
                    match name.as_str() {
                        "radio-states" if parameter.name != "radio-states" => {
                            *value = Value::Bool(true);
                        }
                        "uplink-category" if parameter.name == "uplink-2ms" => {
                            *value = Value::Number(6.0);
                        }
                        _ => {}
                    }
                }
                let mut changed = base.clone();
                changed.0[index].1 = match (&base.0[index].1, parameter.kind) {
                    (Value::Span(span), _) => Value::Span(*span + Span::from_millis(7)),
                    (Value::Bool(flag), _) => Value::Bool(!flag),
                    (Value::Choice(chosen), ParameterKind::Choice(names)) => {
                        let other = names.iter().find(|name| *name != chosen);
                        Value::Choice((*other.expect("another choice")).to_owned())
                    }
                    (Value::Number(number), ParameterKind::Number { max, .. }) => {
                        Value::Number((number * 0.5 + 0.01).min(max))
                    }
                    (Value::Number(number), _) if parameter.name == "uplink-category" => {
                        Value::Number(if *number == 6.0 { 4.0 } else { 1.0 })
                    }
                    (Value::Number(number), _) if parameter.name == "category" => {
                        // The CQI table of the other category differs at every CQI.
                        Value::Number(if *number == 14.0 { 10.0 } else { 14.0 })
                    }
                    (Value::Number(number), _) => Value::Number(number + 1.0),
                    (value, _) => panic!("{value:?}"),
                };
                let before = BearerConfig::new(entry.name, &base).expect("it is listed");
                let after = BearerConfig::new(entry.name, &changed).expect("it is listed");
                assert!(before.is_ok() && after.is_ok(), "{}", parameter.name);
                assert_ne!(before, after, "{}: {}", entry.name, parameter.name);
            }
        }
    }

    #[test]
    fn a_technology_that_is_not_listed_is_none() {
        assert!(BearerConfig::new("cdma2000", &Parameters::default()).is_none());
    }
}
