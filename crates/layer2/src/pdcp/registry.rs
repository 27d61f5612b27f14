//! The PDCPs that a scenario can name.

use super::{Delivery, PdcpConfig, RohcConfig};
use crate::rlc::Generation;
use fadeout_core::Span;
use fadeout_core::registry::{Entry, Registered, Settings, choice, flag, integer, span};

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

fadeout_core::choices! {
    /// headerCompression.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    enum HeaderCompression {
        /// Headers go as they are.
        NotUsed = "not-used",
        /// ROHC, of TCP (profile 0x0006) and UDP (0x0102) over IP.
        Rohc = "rohc",
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
        /// Whether the headers of TCP, UDP and IP are compressed, in both directions. Not with out-of-order
        /// delivery, a split bearer, RLC's transparent mode or procedure daps.
        header_compression: HeaderCompression = choice(HeaderCompression::NAMES, "not-used"),
        /// Flows whose headers are known at a time, beside one; more of them take contexts from each other.
        max_cid: u32 = integer((1, 16_383, ""), "15"),
        /// How often the compressor sends what is new before it relies on it: whole headers first.
        rohc_repetitions: u32 = integer((1, 16, ""), "4"),
        /// After how long a whole header is sent again, in case the receiver has lost track; zero is never.
        rohc_refresh: Span = span("500 ms"),
        /// Whether what is known of headers outlasts a handover within a base station; with LTE in
        /// unacknowledged mode alone. Else handovers begin with whole headers.
        drb_continue_rohc: bool = flag("false"),
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
            rohc: (given.header_compression == HeaderCompression::Rohc).then_some(RohcConfig {
                max_cid: given.max_cid as u16,
                repetitions: given.rohc_repetitions as u8,
                refresh: given.rohc_refresh,
                continues: given.drb_continue_rohc,
            }),
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
