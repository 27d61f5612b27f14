//! The PDCPs that a scenario can name.

use super::{Delivery, PdcpConfig};
use crate::rlc::Generation;
use fadeout_core::Span;
use fadeout_core::registry::{Entry, Registered, Settings, choice, span};

fadeout_core::choices! {
    /// Who puts packets in order.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    enum Reordering {
        /// NR reorders at PDCP, LTE at RLC.
        ByGeneration = "by-generation",
        /// PDCP.
        InOrder = "in-order",
        /// Nobody.
        OutOfOrder = "out-of-order",
        /// RLC.
        FromRlc = "from-rlc",
    }
}

fadeout_core::parameters! {
    /// The parameters of PDCP that a scenario may give.
    #[derive(Clone, Copy, PartialEq, Debug)]
    struct PdcpParameters {
        /// Order of delivery. NR reorders at PDCP, LTE at RLC.
        delivery: Reordering = choice(Reordering::NAMES, "by-generation"),
        /// How long a gap is waited for where PDCP reorders.
        t_reordering: Span = span("100 ms"),
        /// A packet that was not sent within it is dropped; zero is infinity.
        discard_timer: Span = span("0 ms"),
    }
}

impl Registered<Generation> for PdcpConfig {
    const ENTRY: Entry = Entry::new(
        "standard",
        "PDCP",
        "The PDCP of the cell's generation.",
        "TS 38.323 and TS 36.323",
    )
    .with_parameters(PdcpParameters::PARAMETERS);

    fn with(settings: &Settings<'_>, generation: Generation) -> Self {
        let given = PdcpParameters::read(settings);
        let set = match generation {
            Generation::Lte => PdcpConfig::LTE,
            Generation::Nr => PdcpConfig::NR,
        };
        let reordering = Some(given.t_reordering);
        let discard = given.discard_timer;
        PdcpConfig {
            discard_timer: (!discard.is_zero()).then_some(discard),
            delivery: match (given.delivery, set.delivery) {
                (Reordering::InOrder, _) | (Reordering::ByGeneration, Delivery::InOrder(_)) => {
                    Delivery::InOrder(reordering)
                }
                (Reordering::OutOfOrder, _) => Delivery::OutOfOrder(reordering),
                (Reordering::FromRlc, _) => Delivery::FromRlc,
                (Reordering::ByGeneration, delivery) => delivery,
            },
            ..set
        }
    }
}

fadeout_core::registry! {
    /// Every PDCP that a scenario can name.
    pub static PDCPS;

    /// A PDCP with its parameters for one generation.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum Pdcp(generation: Generation = Generation::Nr) {
        Standard(PdcpConfig),
    }
    macro pdcps;
}

impl Pdcp {
    /// Parameters of both ends.
    pub fn config(self) -> PdcpConfig {
        pdcps!(self, config => config)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fadeout_core::registry::{Parameters, Value};

    #[test]
    fn without_parameters_the_standard_is_the_set_of_its_generation() {
        let config = |generation| {
            let pdcp = Pdcp::new("standard", Parameters::NONE, generation);
            pdcp.expect("a name").config()
        };
        assert_eq!(config(Generation::Nr), PdcpConfig::NR);
        assert_eq!(config(Generation::Lte), PdcpConfig::LTE);
    }

    #[test]
    fn what_is_given_replaces_the_default_of_either_generation() {
        let config = |name: &str, value: Value, generation| {
            let given = Parameters(vec![(name.to_owned(), value)]);
            let pdcp = Pdcp::new("standard", &given, generation);
            pdcp.expect("allowed").config()
        };
        let wait = Some(Span::from_millis(100));
        for generation in [Generation::Nr, Generation::Lte] {
            let discard = Value::Span(Span::from_millis(50));
            let config_of = |value: &str| {
                config("delivery", Value::Choice(value.to_owned()), generation).delivery
            };
            assert_eq!(
                config("discard-timer", discard, generation).discard_timer,
                Some(Span::from_millis(50))
            );
            assert_eq!(config_of("in-order"), Delivery::InOrder(wait));
            assert_eq!(config_of("out-of-order"), Delivery::OutOfOrder(wait));
            assert_eq!(config_of("from-rlc"), Delivery::FromRlc);
        }
    }
}
