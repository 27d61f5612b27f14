//! Radio access bearers (RABs) of 2G and 3G. They are links between a base station and a phone.
//! Rates, intervals, delays and errors follow from the name of a technology.
//!
//! Each technology has a file with its registry entry, parameters, tables and tests. It defines a
//! [`LinkConfig`] for the downlink and one for the uplink, and the radio states that both share.
//!
//! Standard: TS 23.107.

mod gsm;
mod hspa;
mod umts;

use crate::radio_states::RadioStateConfig;
use crate::{BlockConfig, Limit, LinkConfig, LinkError, QueueConfig, RateConfig};
use fadeout_core::registry::{Parameters, flag, number, span};
use fadeout_core::{Bytes, Rate, Span};

fadeout_core::registry! {
    /// Every technology that a RAB can name.
    pub static RABS;

    /// A technology with its parameters.
    #[derive(Debug, Clone, PartialEq)]
    enum Technology {
        Hspa(hspa::Hspa),
        HspaPlus(hspa::Hspa) = hspa::HSPA_PLUS,
        Umts(umts::Umts),
        Edge(gsm::Edge),
        Gprs(gsm::Gprs),
    }
    macro each;
}

/// Technology, which builds the configuration of a RAB from its parameters.
trait Configures {
    /// Returns both directions and the radio states of the phone.
    fn configured(&self) -> Result<RabConfig, LinkError>;
}

/// Configuration of both directions of a RAB.
#[derive(Debug, Clone, PartialEq)]
pub struct RabConfig {
    /// Direction from the base station to the phone.
    pub downlink: LinkConfig,
    /// Direction from the phone to the base station.
    pub uplink: LinkConfig,
    /// Radio states of the phone, which must be connected to send. `None` if it always is.
    pub states: Option<RadioStateConfig>,
}

impl RabConfig {
    /// Returns the RAB of the technology called `name` in [`RABS`] or by an alias, with the given
    /// parameters. `None` if no technology has that name.
    ///
    /// # Errors
    /// Returns an error if parameters exclude each other. The message has the expected values.
    pub fn new(name: &str, given: &Parameters) -> Option<Result<RabConfig, LinkError>> {
        let technology = Technology::new(name, given)?;
        Some(each!(technology, technology => technology.configured()))
    }
}

/// Smallest default of a queue's limit, bytes.
const LEAST_QUEUE: u64 = 30_000;
/// Duration of the data that a queue holds by default. It is twice the bandwidth-delay product at a
/// round trip of 150 ms. HSPA has that round trip with a network of 70 ms.
const QUEUE_TIME: Span = Span::from_millis(300);

/// Returns the default queue limit for a direction with this rate.
pub fn default_limit(rate: Rate) -> Limit {
    let bytes = rate.as_bytes_per_sec_f64() * QUEUE_TIME.as_secs_f64();
    Limit::Bytes(Bytes((bytes as u64).max(LEAST_QUEUE)))
}

/// Returns a direction that sends blocks at `rate`.
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

fadeout_core::parameters! {
    /// Parameters of every technology: delay, jitter and RLC's retransmissions. Each technology has
    /// its own defaults.
    #[derive(Debug, Clone, Copy, PartialEq)]
    struct Common {
        /// One-way delay of each direction through the radio network and the core network. The wait
        /// for a block and the transmissions of the block are not included.
        delay: Span = span("60 ms"),
        /// Largest additional delay of a packet. Each packet draws its additional delay uniformly
        /// from zero to this value, without reordering. Blocks and their repetitions cause
        /// additional jitter.
        jitter: Span = span("0 s"),
        /// Probability that HARQ does not detect that a block was received in error, so that RLC
        /// repeats the block. Without HARQ, probability that a block is received in error.
        rlc_error: f64 = number((0.0, 0.9, ""), "0.01"),
        /// Time from a block received in error to its repetition by RLC, for poll and status
        /// report. Later packets wait for the repetition.
        rlc_delay: Span = span("100 ms"),
    }
}

impl Common {
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

/// Returns blocks of `interval` that only RLC retransmits.
fn without_harq(interval: Span) -> BlockConfig {
    BlockConfig {
        interval,
        processes: 1,
        transmissions: 1,
        ..BlockConfig::default()
    }
}

fadeout_core::parameters! {
    /// The radio states of 3G.
    #[derive(Debug, Clone, Copy, PartialEq)]
    struct RadioStates {
        /// True if RRC states are simulated. The phone starts idle, is promoted to CELL_DCH before
        /// data is sent, and leaves CELL_DCH after inactivity (TS 25.331 clause 7.1). If false, the
        /// phone is always in CELL_DCH.
        radio_states: bool = flag("false"),
        /// Time of the promotion from idle to CELL_DCH (Qian et al., IMC 2010).
        idle_promotion: Span = span("2 s"),
        /// Time of the promotion from CELL_FACH to CELL_DCH (Qian et al., IMC 2010).
        fach_promotion: Span = span("1500 ms"),
        /// Time without data after which the phone changes from CELL_DCH to CELL_FACH (Qian et al.,
        /// IMC 2010: 5 to 6 s).
        dch_timer: Span = span("5 s"),
        /// Time without data after which the phone changes from CELL_FACH to idle (Qian et al., IMC
        /// 2010: 4 to 12 s).
        fach_timer: Span = span("12 s"),
    }
}

impl RadioStates {
    /// Returns the states. `None` if they are not simulated.
    fn config(self) -> Option<RadioStateConfig> {
        self.radio_states.then_some(RadioStateConfig {
            idle_promotion: self.idle_promotion,
            fach_promotion: self.fach_promotion,
            dch_timer: self.dch_timer,
            fach_timer: self.fach_timer,
        })
    }
}

/// Returns the rows of a table as fields, without comments and header.
fn rows(table: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    let lines = table.lines().filter(|line| !line.starts_with('#')).skip(1);
    lines.map(|line| line.split(',').collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use fadeout_core::registry::{ParameterKind, Value};

    #[test]
    fn every_parameter_changes_something() {
        for entry in RABS {
            let plain = Parameters::with_every_default(entry);
            for (index, parameter) in entry.parameters.iter().enumerate() {
                // Some parameters have no effect unless another parameter is on. They are tested
                // with this other parameter on.
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
                let before = RabConfig::new(entry.name, &base).expect("it is listed");
                let after = RabConfig::new(entry.name, &changed).expect("it is listed");
                assert!(before.is_ok() && after.is_ok(), "{}", parameter.name);
                assert_ne!(before, after, "{}: {}", entry.name, parameter.name);
            }
        }
    }

    #[test]
    fn a_technology_that_is_not_listed_is_none() {
        assert!(RabConfig::new("cdma2000", &Parameters::default()).is_none());
    }
}
