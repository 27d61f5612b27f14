//! Parameters of an RLC entity, under the names of RLC-Config, with the values that it allows.
//!
//! Standard: TS 38.331 §6.3.2; TS 36.331 §6.3.2.

use super::{AqmConfig, MacSubheader, allowed};
use fadeout_core::aqm::DropTailConfig;
use fadeout_core::{Bytes, Span};

pub use super::allowed::ParameterError;

/// Which radio access the entity belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Generation {
    /// TS 36.322: concatenation, delivery in order.
    Lte,
    /// TS 38.322: no concatenation, SDUs are delivered when they are complete.
    #[default]
    Nr,
}

/// Parameters of one RLC entity. Both ends of a bearer have the same.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RlcConfig {
    /// LTE or NR.
    pub generation: Generation,
    /// Mode with its timers and counters.
    pub mode: Mode,
    /// Limit of the transmission buffer: SDUs of which nothing was sent yet. An SDU that does not
    /// fit is refused.
    pub buffer: Bytes,
    /// Queue management of the transmission buffer, at the sending end of each direction.
    pub aqm: AqmConfig,
    /// MAC subheader that each PDU needs.
    pub subheader: MacSubheader,
    /// Whether the SDUs behind one that is dropped unsent take over its COUNT, so that the
    /// receiver's PDCP does not wait for a PDU that never comes (TS 38.323 clause 5.3 leaves the
    /// sender to keep gaps small). False for a bearer of several legs.
    pub closes_count_gaps: bool,
    /// Whether values outside the enumerated ones are taken, as simulators use them. They still
    /// have to make sense.
    pub is_beyond_standard: bool,
}

/// Mode of an RLC entity.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Mode {
    /// Transparent: no header, no segmentation.
    Tm,
    /// Unacknowledged.
    Um(UmConfig),
    /// Acknowledged.
    Am(AmConfig),
}

/// Parameters of unacknowledged mode.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct UmConfig {
    /// sn-FieldLength in bits: 6 or 12 in NR, 5 or 10 in LTE.
    pub sn_bits: u8,
    /// t-Reassembly (NR), t-Reordering (LTE).
    pub t_reassembly: Span,
}

/// Parameters of acknowledged mode.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AmConfig {
    /// sn-FieldLength in bits: 12 or 18 in NR, 10 or 16 in LTE.
    pub sn_bits: u8,
    /// t-PollRetransmit: after a poll without an answer, poll again.
    pub t_poll_retransmit: Span,
    /// pollPDU: poll after so many PDUs; `None` is infinity.
    pub poll_pdu: Option<u32>,
    /// pollByte: poll after so many bytes; `None` is infinity.
    pub poll_byte: Option<Bytes>,
    /// maxRetxThreshold: so many retransmissions after the first make a failure.
    pub max_retx_threshold: u32,
    /// t-Reassembly (NR), t-Reordering (LTE): how long a gap may be HARQ's before it is reported.
    pub t_reassembly: Span,
    /// t-StatusProhibit: least time between STATUS PDUs.
    pub t_status_prohibit: Span,
}

/// Limit of the transmission buffer unless set: 2 MB, the least of the suggested
/// max(1.5 bandwidth-delay products, 2 MB).
pub const DEFAULT_BUFFER: Bytes = Bytes(2_000_000);

/// A named set of parameters.
#[derive(Clone, Copy, Debug)]
pub struct NamedConfig {
    /// Name, lower case with hyphens.
    pub name: &'static str,
    /// Where the values come from.
    pub source: &'static str,
    /// The values.
    pub config: RlcConfig,
}

const fn am(
    sn_bits: u8,
    poll_retransmit_ms: u64,
    poll_pdu: Option<u32>,
    poll_byte: Option<u64>,
    retx_reassembly_prohibit: (u32, u64, u64),
) -> AmConfig {
    let (max_retx_threshold, reassembly_ms, prohibit_ms) = retx_reassembly_prohibit;
    AmConfig {
        sn_bits,
        t_poll_retransmit: Span::from_millis(poll_retransmit_ms),
        poll_pdu,
        poll_byte: match poll_byte {
            Some(bytes) => Some(Bytes(bytes)),
            None => None,
        },
        max_retx_threshold,
        t_reassembly: Span::from_millis(reassembly_ms),
        t_status_prohibit: Span::from_millis(prohibit_ms),
    }
}

const fn set(generation: Generation, mode: Mode, buffer: u64) -> RlcConfig {
    let subheader = match generation {
        Generation::Lte => MacSubheader::Lte,
        Generation::Nr => MacSubheader::Nr,
    };
    RlcConfig {
        generation,
        mode,
        buffer: Bytes(buffer),
        aqm: AqmConfig::DropTail(DropTailConfig),
        subheader,
        closes_count_gaps: true,
        is_beyond_standard: false,
    }
}

const fn beyond(config: RlcConfig) -> RlcConfig {
    RlcConfig {
        is_beyond_standard: true,
        ..config
    }
}

/// Every named set.
pub const NAMED: &[NamedConfig] = &[
    NamedConfig {
        name: "nr-am",
        source: "NR eMBB: timers between those of the SRB default and of live networks",
        config: RlcConfig::NR_AM,
    },
    NamedConfig {
        name: "nr-um",
        source: "t-Reassembly of the NR SRB default, 12-bit SN",
        config: RlcConfig::NR_UM,
    },
    NamedConfig {
        name: "lte-am",
        source: "TS 36.508 clause 4.8.2.1 (DRB of the conformance tests)",
        config: RlcConfig::LTE_AM,
    },
    NamedConfig {
        name: "lte-um",
        source: "t-Reordering of the LTE SRB default, 10-bit SN",
        config: RlcConfig::LTE_UM,
    },
    NamedConfig {
        name: "nr-srb",
        source: "TS 38.331 clause 9.2.1",
        config: RlcConfig::NR_SRB,
    },
    NamedConfig {
        name: "lte-srb",
        source: "TS 36.331 clause 9.2.1",
        config: RlcConfig::LTE_SRB,
    },
    NamedConfig {
        name: "srsran-5qi-6-8",
        source: "srsRAN gNB defaults for 5QI 6 and 8",
        config: set(
            Generation::Nr,
            Mode::Am(am(18, 80, Some(64), Some(125_000), (4, 80, 10))),
            6_170_000,
        ),
    },
    NamedConfig {
        name: "srsran-5qi-9",
        source: "srsRAN gNB defaults for 5QI 9",
        config: set(
            Generation::Nr,
            Mode::Am(am(18, 100, Some(16), None, (32, 20, 10))),
            6_170_000,
        ),
    },
    NamedConfig {
        name: "ns3-lte-am",
        source: "ns-3 LTE module; polls every PDU, which TS 36.331 does not allow",
        config: beyond(set(
            Generation::Lte,
            Mode::Am(am(10, 20, Some(1), Some(50), (5, 10, 10))),
            1 << 20,
        )),
    },
    NamedConfig {
        name: "ns3-mmwave-am",
        source: "ns-3 mmWave module, dual connectivity example; polls every PDU",
        config: beyond(set(
            Generation::Lte,
            Mode::Am(am(10, 20, Some(1), Some(50), (5, 10, 10))),
            20_000_000,
        )),
    },
];

impl RlcConfig {
    /// NR acknowledged mode for data: the default.
    pub const NR_AM: RlcConfig = set(
        Generation::Nr,
        Mode::Am(am(18, 45, Some(32), Some(25_000), (8, 35, 10))),
        DEFAULT_BUFFER.0,
    );
    /// NR unacknowledged mode for data.
    pub const NR_UM: RlcConfig = set(
        Generation::Nr,
        Mode::Um(UmConfig {
            sn_bits: 12,
            t_reassembly: Span::from_millis(35),
        }),
        DEFAULT_BUFFER.0,
    );
    /// LTE acknowledged mode for data, TS 36.508.
    pub const LTE_AM: RlcConfig = set(
        Generation::Lte,
        Mode::Am(am(10, 80, Some(128), Some(125_000), (4, 80, 60))),
        DEFAULT_BUFFER.0,
    );
    /// LTE unacknowledged mode for data.
    pub const LTE_UM: RlcConfig = set(
        Generation::Lte,
        Mode::Um(UmConfig {
            sn_bits: 10,
            t_reassembly: Span::from_millis(35),
        }),
        DEFAULT_BUFFER.0,
    );
    /// NR signalling radio bearer.
    pub const NR_SRB: RlcConfig = set(
        Generation::Nr,
        Mode::Am(am(12, 45, None, None, (8, 35, 0))),
        64_000,
    );
    /// LTE signalling radio bearer.
    pub const LTE_SRB: RlcConfig = set(
        Generation::Lte,
        Mode::Am(am(10, 45, None, None, (4, 35, 0))),
        64_000,
    );
    /// Transparent mode.
    pub const TM: RlcConfig = set(Generation::Nr, Mode::Tm, 64_000);

    /// The set called `name`.
    pub fn named(name: &str) -> Option<RlcConfig> {
        NAMED
            .iter()
            .find(|named| named.name == name)
            .map(|named| named.config)
    }

    /// Checks that every value is allowed.
    ///
    /// # Errors
    /// Names the parameter, what was given and what is allowed.
    pub fn check(&self) -> Result<(), ParameterError> {
        allowed::at_least("buffer", self.buffer.0, 1, "bytes")?;
        self.aqm.check()?;
        let lte = self.generation == Generation::Lte;
        match &self.mode {
            Mode::Tm => Ok(()),
            Mode::Um(um) => {
                let bits: &[u64] = if lte { &[5, 10] } else { &[6, 12] };
                allowed::one_of("sn-FieldLength", um.sn_bits.into(), bits, "bits")?;
                if self.is_beyond_standard {
                    return Ok(());
                }
                allowed::milliseconds(reassembly(lte), um.t_reassembly, allowed::T_REASSEMBLY)
            }
            Mode::Am(am) => {
                let bits: &[u64] = if lte { &[10, 16] } else { &[12, 18] };
                allowed::one_of("sn-FieldLength", am.sn_bits.into(), bits, "bits")?;
                if self.is_beyond_standard {
                    return am.check_sense();
                }
                am.check(lte)
            }
        }
    }
}

fn reassembly(lte: bool) -> &'static str {
    if lte { "t-Reordering" } else { "t-Reassembly" }
}

impl AmConfig {
    /// SNs that may be under way without acknowledgement: half of all.
    pub const fn window(&self) -> u64 {
        1 << (self.sn_bits - 1)
    }

    /// What an entity needs to make progress.
    fn check_sense(&self) -> Result<(), ParameterError> {
        let poll = self.t_poll_retransmit.as_nanos();
        allowed::at_least("t-PollRetransmit", poll, 1, "ns")?;
        allowed::at_least("pollPDU", self.poll_pdu.map_or(1, u64::from), 1, "PDUs")?;
        allowed::at_least("pollByte", self.poll_byte.map_or(1, |b| b.0), 1, "bytes")?;
        allowed::at_least(
            "maxRetxThreshold",
            self.max_retx_threshold.into(),
            1,
            "retransmissions",
        )
    }

    fn check(&self, lte: bool) -> Result<(), ParameterError> {
        use allowed::{
            MAX_RETX, POLL_BYTE_KB_LTE, POLL_BYTE_KB_NR, POLL_PDU_LTE, POLL_PDU_NR,
            T_POLL_RETRANSMIT, T_REASSEMBLY, T_STATUS_PROHIBIT, milliseconds, one_of,
        };
        let (pdus, kilobytes) = if lte {
            (POLL_PDU_LTE, POLL_BYTE_KB_LTE)
        } else {
            (POLL_PDU_NR, POLL_BYTE_KB_NR)
        };
        milliseconds(
            "t-PollRetransmit",
            self.t_poll_retransmit,
            T_POLL_RETRANSMIT,
        )?;
        milliseconds(reassembly(lte), self.t_reassembly, T_REASSEMBLY)?;
        milliseconds(
            "t-StatusProhibit",
            self.t_status_prohibit,
            T_STATUS_PROHIBIT,
        )?;
        if let Some(pdu) = self.poll_pdu {
            one_of("pollPDU", pdu.into(), pdus, "PDUs")?;
        }
        if let Some(bytes) = self.poll_byte {
            allowed::kilobytes("pollByte", bytes, kilobytes)?;
        }
        one_of(
            "maxRetxThreshold",
            self.max_retx_threshold.into(),
            MAX_RETX,
            "retransmissions",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_named_set_is_allowed() {
        for named in NAMED {
            named.config.check().expect(named.name);
            assert_eq!(RlcConfig::named(named.name), Some(named.config));
        }
        assert_eq!(RlcConfig::named("nr"), None);
    }

    #[test]
    fn a_value_outside_the_enumeration_is_refused_with_the_nearest_one() {
        let with = |change: fn(&mut AmConfig)| {
            let mut config = RlcConfig::NR_AM;
            let Mode::Am(am) = &mut config.mode else {
                unreachable!("acknowledged mode");
            };
            change(am);
            config.check().expect_err("not allowed").to_string()
        };
        let text = with(|am| am.t_poll_retransmit = Span::from_millis(47));
        assert_eq!(
            text,
            "t-PollRetransmit is 47 ms; the nearest allowed value is 45 ms"
        );
        let text = with(|am| am.poll_pdu = Some(1));
        assert_eq!(
            text,
            "pollPDU is 1 PDUs; the nearest allowed value is 4 PDUs"
        );
        let text = with(|am| am.poll_byte = Some(Bytes(26_000)));
        assert_eq!(
            text,
            "pollByte is 26 kB; the nearest allowed value is 25 kB"
        );
        let text = with(|am| am.t_status_prohibit = Span::from_secs(9));
        assert_eq!(
            text,
            "t-StatusProhibit is 9 s; the nearest allowed value is 2.4 s"
        );
        let text = with(|am| am.sn_bits = 10);
        assert_eq!(
            text,
            "sn-FieldLength is 10 bits; the nearest allowed value is 12 bits"
        );
        let text = with(|am| am.max_retx_threshold = 5);
        assert_eq!(
            text,
            "maxRetxThreshold is 5 retransmissions; the nearest allowed value is 4 retransmissions"
        );
        let empty = RlcConfig {
            buffer: Bytes(0),
            ..RlcConfig::NR_AM
        };
        let text = empty.check().expect_err("not allowed").to_string();
        assert_eq!(
            text,
            "buffer is 0 bytes; the nearest allowed value is 1 bytes"
        );
    }

    fn with(config: RlcConfig, change: impl Fn(&mut AmConfig)) -> RlcConfig {
        let Mode::Am(mut am) = config.mode else {
            unreachable!("acknowledged mode");
        };
        change(&mut am);
        RlcConfig {
            mode: Mode::Am(am),
            ..config
        }
    }

    #[test]
    fn the_timer_for_what_is_missing_has_its_generations_name() {
        for (config, name) in [
            (RlcConfig::NR_AM, "t-Reassembly"),
            (RlcConfig::LTE_AM, "t-Reordering"),
        ] {
            let config = with(config, |am| am.t_reassembly = Span::from_millis(33));
            assert_eq!(
                config.check().expect_err("not allowed").to_string(),
                format!("{name} is 33 ms; the nearest allowed value is 35 ms")
            );
        }
    }

    #[test]
    fn the_window_is_half_of_the_sequence_numbers() {
        for (bits, window) in [(10, 512), (12, 2048), (16, 32_768), (18, 131_072)] {
            let config = with(RlcConfig::NR_AM, |am| am.sn_bits = bits);
            assert!(matches!(config.mode, Mode::Am(am) if am.window() == window));
        }
    }

    #[test]
    fn beyond_the_standard_only_what_makes_no_sense_is_refused() {
        let named = RlcConfig::named("ns3-lte-am").expect("a name");
        assert!(named.is_beyond_standard);
        let refused = |change: fn(&mut AmConfig)| with(named, change).check().is_err();
        assert!(!refused(|am| am.poll_pdu = Some(3)));
        assert!(refused(|am| am.poll_pdu = Some(0)));
        assert!(refused(|am| am.poll_byte = Some(Bytes(0))));
        assert!(refused(|am| am.t_poll_retransmit = Span::ZERO));
        assert!(refused(|am| am.max_retx_threshold = 0));
    }
}
