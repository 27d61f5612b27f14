//! Registry of the RLC modes that a scenario can name.

use super::config::{Column, text};
use super::{AqmConfig, Generation, Mode, RlcConfig};
use fadeout_core::const_text;
use fadeout_core::registry::{
    Entry, FromSetting, Parameter, Registered, Settings, integer, named, number, span,
};

const BUFFER: Parameter = number(
    "buffer",
    (1500.0, 1e12, "bytes"),
    text("nr-am", Column::Buffer),
    "Limit of the transmission buffer. A limit below the bandwidth-delay product reduces the \
     throughput. A limit far above this product increases the delay. LTE and NR have the same \
     default.",
)
.depending();
/// Default buffer of transparent mode, which carries little data.
const SMALL_BUFFER: Parameter = Parameter {
    default: text("tm", Column::Buffer),
    ..BUFFER
};
const AQM: Parameter = named(
    "aqm",
    "aqm",
    "drop-tail",
    "Active queue management of the transmission buffer, in downlink and uplink. It uses the delay \
     of SDUs of which no part was sent yet. The delay includes the wait for a slot, and in the \
     uplink the wait for a grant. The delay target must exceed this wait.",
);
const T_REASSEMBLY: Parameter = span(
    "t-reassembly",
    text("nr-am", Column::TReassembly),
    const_text!(
        "Reordering time: t-Reassembly of NR, t-Reordering of LTE. During this time HARQ may still \
         deliver the missing data. With LTE's acknowledged mode the default is ",
        text("lte-am", Column::TReassembly),
        " (TS 36.508)."
    ),
)
.depending();

const SN_FIELD_LENGTH: Parameter = integer(
    "sn-field-length",
    (5, 18, "bits"),
    text("nr-am", Column::SnBits),
    const_text!(
        "Length of the sequence number (sn-FieldLength). Half of the sequence numbers may be \
         unacknowledged. Acknowledged mode allows 10 and 16 bits with LTE, 12 and 18 bits with NR. \
         With LTE the default is ",
        text("lte-am", Column::SnBits),
        "."
    ),
)
.depending();

/// Replaces a value by the parameter called `name`, if given. Otherwise the value of the
/// generation's named set stays.
fn replace<T: FromSetting>(value: &mut T, settings: &Settings<'_>, name: &str) {
    if let Some(given) = settings.get::<Option<T>>(name) {
        *value = given;
    }
}

/// Returns the generation's named set, with the parameters that all modes share.
fn shared(settings: &Settings<'_>, set: RlcConfig) -> RlcConfig {
    let mut config = set;
    replace(&mut config.buffer, settings, BUFFER.name);
    let (aqm, given) = settings.named(AQM.name);
    // The reader of scenarios rejects unknown names.
    config.aqm = AqmConfig::new(aqm, given).unwrap_or_default();
    config
}

/// Acknowledged mode.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Acknowledged(RlcConfig);

impl Registered<Generation> for Acknowledged {
    const ENTRY: Entry = Entry::new(
        "am",
        "RLC",
        "Acknowledged mode: RLC retransmits lost data.",
        "TS 38.322 and TS 36.322 clause 5.2.3",
    )
    .with_parameters(&[
        BUFFER,
        AQM,
        T_REASSEMBLY,
        SN_FIELD_LENGTH,
        span(
            "t-poll-retransmit",
            text("nr-am", Column::TPollRetransmit),
            const_text!(
                "Time without an answer to a poll after which RLC polls again (t-PollRetransmit). \
                 With LTE the default is ",
                text("lte-am", Column::TPollRetransmit),
                "."
            ),
        )
        .depending(),
        span(
            "t-status-prohibit",
            text("nr-am", Column::TStatusProhibit),
            const_text!(
                "Smallest time between two status reports (t-StatusProhibit). With LTE the default \
                 is ",
                text("lte-am", Column::TStatusProhibit),
                "."
            ),
        )
        .depending(),
        integer(
            "poll-pdu",
            (1, 65_536, "PDUs"),
            text("nr-am", Column::PollPdu),
            const_text!(
                "Number of PDUs after which RLC polls (pollPDU). With LTE the default is ",
                text("lte-am", Column::PollPdu),
                "."
            ),
        )
        .depending(),
        integer(
            "max-retx-threshold",
            (1, 32, ""),
            text("nr-am", Column::MaxRetxThreshold),
            const_text!(
                "Number of retransmissions of one PDU that cause a radio link failure \
                 (maxRetxThreshold). With LTE the default is ",
                text("lte-am", Column::MaxRetxThreshold),
                "."
            ),
        )
        .depending(),
    ]);

    fn from_settings(settings: &Settings<'_>, generation: Generation) -> Self {
        let mut config = shared(
            settings,
            match generation {
                Generation::Lte => RlcConfig::LTE_AM,
                Generation::Nr => RlcConfig::NR_AM,
            },
        );
        if let Mode::Am(am) = &mut config.mode {
            replace(&mut am.t_reassembly, settings, T_REASSEMBLY.name);
            if let Some(bits) = settings.get::<Option<u32>>(SN_FIELD_LENGTH.name) {
                am.sn_bits = bits as u8;
            }
            replace(&mut am.t_poll_retransmit, settings, "t-poll-retransmit");
            replace(&mut am.t_status_prohibit, settings, "t-status-prohibit");
            am.poll_pdu = settings.get::<Option<u32>>("poll-pdu").or(am.poll_pdu);
            replace(&mut am.max_retx_threshold, settings, "max-retx-threshold");
        }
        Acknowledged(config)
    }
}

/// Unacknowledged mode.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Unacknowledged(RlcConfig);

impl Registered<Generation> for Unacknowledged {
    const ENTRY: Entry = Entry::new(
        "um",
        "RLC",
        "Unacknowledged mode: RLC does not retransmit data that HARQ has lost.",
        "TS 38.322 and TS 36.322 clause 5.2.2",
    )
    .with_parameters(&[BUFFER, AQM, T_REASSEMBLY]);

    fn from_settings(settings: &Settings<'_>, generation: Generation) -> Self {
        let mut config = shared(
            settings,
            match generation {
                Generation::Lte => RlcConfig::LTE_UM,
                Generation::Nr => RlcConfig::NR_UM,
            },
        );
        if let Mode::Um(um) = &mut config.mode {
            replace(&mut um.t_reassembly, settings, T_REASSEMBLY.name);
        }
        Unacknowledged(config)
    }
}

/// Transparent mode.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Transparent(RlcConfig);

impl Registered<Generation> for Transparent {
    const ENTRY: Entry = Entry::new(
        "tm",
        "RLC",
        "Transparent mode: no headers and no segmentation.",
        "TS 38.322 and TS 36.322 clause 5.2.1",
    )
    .with_parameters(&[SMALL_BUFFER, AQM]);

    fn from_settings(settings: &Settings<'_>, generation: Generation) -> Self {
        Transparent(RlcConfig {
            generation,
            ..shared(settings, RlcConfig::TM)
        })
    }
}

fadeout_core::registry! {
    /// Every RLC mode that a scenario can name.
    pub static RLC_MODES;

    /// An RLC mode with its parameters for one generation.
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub enum RlcMode(generation: Generation = Generation::Nr) {
        Am(Acknowledged),
        Um(Unacknowledged),
        Tm(Transparent),
    }
    macro rlc_modes;
}

impl RlcMode {
    /// Returns the parameters of an entity.
    pub fn config(self) -> RlcConfig {
        rlc_modes!(self, mode => mode.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fadeout_core::registry::{Parameters, Value};

    #[test]
    fn without_parameters_a_mode_is_the_named_set_of_its_generation() {
        use Generation::{Lte, Nr};
        let lte_tm = RlcConfig {
            generation: Lte,
            ..RlcConfig::TM
        };
        for (name, generation, set) in [
            ("tm", Nr, RlcConfig::TM),
            ("tm", Lte, lte_tm),
            ("am", Nr, RlcConfig::NR_AM),
            ("am", Lte, RlcConfig::LTE_AM),
            ("um", Nr, RlcConfig::NR_UM),
            ("um", Lte, RlcConfig::LTE_UM),
        ] {
            let mode = RlcMode::new(name, Parameters::NONE, generation).expect(name);
            assert_eq!(mode.config(), set, "{name} {generation:?}");
        }
    }

    #[test]
    fn what_is_given_replaces_the_default_of_either_generation() {
        let given = Parameters(vec![("poll-pdu".to_owned(), Value::Number(4.0))]);
        for generation in [Generation::Nr, Generation::Lte] {
            let config = RlcMode::new("am", &given, generation).expect("am").config();
            assert!(matches!(config.mode, Mode::Am(am) if am.poll_pdu == Some(4)));
        }
    }
}
