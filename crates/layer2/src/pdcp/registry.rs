//! Registry of the PDCP types that a scenario can name.

use super::{Delivery, PdcpConfig, RohcConfig};
use crate::rlc::Generation;
use fadeout_core::Span;
use fadeout_core::registry::{Entry, Registered, Settings, choice, flag, integer, span};

fadeout_core::choices! {
    /// Layer that puts packets in order.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    enum Reordering {
        /// PDCP reorders in NR, RLC in LTE.
        ByGeneration = "by-generation",
        /// PDCP reorders.
        InOrder = "in-order",
        /// Nothing reorders.
        OutOfOrder = "out-of-order",
        /// RLC reorders.
        FromRlc = "from-rlc",
    }
}

fadeout_core::choices! {
    /// headerCompression.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    enum HeaderCompression {
        /// Headers are not compressed.
        NotUsed = "not-used",
        /// ROHC compresses headers of TCP (profile 0x0006) and UDP (0x0102) over IP.
        Rohc = "rohc",
    }
}

fadeout_core::parameters! {
    /// The parameters of PDCP that a scenario may give.
    #[derive(Clone, Copy, PartialEq, Debug)]
    struct PdcpParameters {
        /// Layer that reorders packets before delivery. `by-generation`: PDCP in NR, RLC in LTE.
        /// `in-order`: PDCP. `from-rlc`: RLC. `out-of-order`: no layer, so packets may be delivered
        /// out of order.
        delivery: Reordering = choice(Reordering::NAMES, "by-generation"),
        /// Time for which PDCP waits for a missing packet when it reorders (t-Reordering).
        t_reordering: Span = span("100 ms"),
        /// Time after which PDCP drops a packet that was not sent (discardTimer). Zero means never.
        discard_timer: Span = span("0 ms"),
        /// Compression of the headers of TCP, UDP and IP in both directions: none, or ROHC.
        /// Compression is not possible with out-of-order delivery, a split bearer, RLC's
        /// transparent mode or `procedure = "daps"`.
        header_compression: HeaderCompression = choice(HeaderCompression::NAMES, "not-used"),
        /// Largest context identifier (maxCID). At most `max-cid` + 1 flows have a compression
        /// context at the same time. An additional flow takes over the context of another flow.
        max_cid: u32 = integer((1, 16_383, ""), "15"),
        /// Number of times that the compressor sends a changed header field before it assumes that
        /// the decompressor knows the field. A new flow starts with whole headers.
        rohc_repetitions: u32 = integer((1, 16, ""), "4"),
        /// Time after which a whole header is sent again, in case the decompressor has lost its
        /// context. Zero means never.
        rohc_refresh: Span = span("500 ms"),
        /// True if contexts survive a handover within a base station (drb-ContinueROHC). With LTE
        /// this needs unacknowledged mode. If false, a handover starts with whole headers.
        drb_continue_rohc: bool = flag("false"),
    }
}

impl Registered<Generation> for PdcpConfig {
    const ENTRY: Entry = Entry::new(
        "standard",
        "PDCP",
        "PDCP of the cell's generation: of NR or of LTE.",
        "TS 38.323 and TS 36.323",
    )
    .with_parameters(PdcpParameters::PARAMETERS);

    fn from_settings(settings: &Settings<'_>, generation: Generation) -> Self {
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
    /// Returns the parameters of both ends.
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
