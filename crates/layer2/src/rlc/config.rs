//! Parameters of an RLC entity, under the names of RLC-Config, and their allowed values.
//!
//! Standard: TS 38.331 §6.3.2; TS 36.331 §6.3.2.

use super::{AqmConfig, MacSubheader, allowed};
use fadeout_core::aqm::DropTailConfig;
use fadeout_core::data;
use fadeout_core::{Bytes, Span};

pub use super::allowed::ParameterError;

/// Generation of the radio access.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Generation {
    /// LTE (TS 36.322), with concatenation and in-order delivery.
    Lte,
    /// NR (TS 38.322), without concatenation. SDUs are delivered when they are complete.
    #[default]
    Nr,
}

/// Parameters of one RLC entity, equal at both ends of a bearer.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RlcConfig {
    /// LTE or NR.
    pub generation: Generation,
    /// Mode, with its timers and counters.
    pub mode: Mode,
    /// Limit of the transmission buffer, which holds SDUs of which no part was sent. An SDU that
    /// does not fit is rejected.
    pub buffer: Bytes,
    /// Queue management of the transmission buffer.
    pub aqm: AqmConfig,
    /// MAC subheader of each PDU.
    pub subheader: MacSubheader,
    /// True if later SDUs take over the COUNT of a dropped unsent SDU. The receiving PDCP then does
    /// not wait for a PDU that never arrives. TS 38.323 clause 5.3 leaves it to the sender to keep
    /// gaps small. False for a bearer of several legs.
    pub closes_count_gaps: bool,
    /// True if values outside the enumerated ones are allowed, as in other simulators. They still
    /// must make sense.
    pub is_beyond_standard: bool,
}

/// Mode of an RLC entity.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Mode {
    /// Transparent mode: no header, no segmentation.
    Tm,
    /// Unacknowledged mode.
    Um(UmConfig),
    /// Acknowledged mode.
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
    /// t-PollRetransmit: time without an answer after which a poll is repeated.
    pub t_poll_retransmit: Span,
    /// pollPDU: number of PDUs after which the entity polls. `None` is infinity.
    pub poll_pdu: Option<u32>,
    /// pollByte: number of bytes after which the entity polls. `None` is infinity.
    pub poll_byte: Option<Bytes>,
    /// maxRetxThreshold: number of retransmissions after the first retransmission at which RLC
    /// declares a failure.
    pub max_retx_threshold: u32,
    /// t-Reassembly (NR), t-Reordering (LTE): time for which HARQ may fill a gap before it is
    /// reported.
    pub t_reassembly: Span,
    /// t-StatusProhibit: least time between two STATUS PDUs.
    pub t_status_prohibit: Span,
}

/// Named parameter sets. Each column is a parameter, and its cell is empty in sets without the
/// parameter.
pub(super) const SETS: &str = include_str!("../../data/rlc_sets.csv");

/// Returns a cell of [`SETS`] in the column of a parameter.
pub(super) const fn text(set: &str, column: Column) -> &'static str {
    data::cell(SETS, set, column as usize)
}

/// Columns of [`SETS`].
#[derive(Debug, Clone, Copy)]
pub(super) enum Column {
    SnBits = 1,
    TPollRetransmit,
    PollPdu,
    PollByte,
    MaxRetxThreshold,
    TReassembly,
    TStatusProhibit,
    Buffer,
}

const fn integer(set: &str, column: Column) -> u64 {
    data::number(SETS, set, column as usize) as u64
}

/// Returns a number. `None` for infinity.
const fn finite(set: &str, column: Column) -> Option<u64> {
    match text(set, column).as_bytes() {
        b"none" => None,
        _ => Some(integer(set, column)),
    }
}

/// Returns a time in whole milliseconds.
const fn timer(set: &str, column: Column) -> Span {
    let (number, unit) = text(set, column).split_at(text(set, column).len() - 3);
    assert!(
        matches!(unit.as_bytes(), b" ms"),
        "timers are in milliseconds"
    );
    match u64::from_str_radix(number, 10) {
        Ok(milliseconds) => Span::from_millis(milliseconds),
        Err(_) => panic!("a timer is a whole number"),
    }
}

const fn am(set: &str) -> Mode {
    Mode::Am(AmConfig {
        sn_bits: integer(set, Column::SnBits) as u8,
        t_poll_retransmit: timer(set, Column::TPollRetransmit),
        poll_pdu: match finite(set, Column::PollPdu) {
            Some(pdus) => Some(pdus as u32),
            None => None,
        },
        poll_byte: match finite(set, Column::PollByte) {
            Some(bytes) => Some(Bytes(bytes)),
            None => None,
        },
        max_retx_threshold: integer(set, Column::MaxRetxThreshold) as u32,
        t_reassembly: timer(set, Column::TReassembly),
        t_status_prohibit: timer(set, Column::TStatusProhibit),
    })
}

const fn um(set: &str) -> Mode {
    Mode::Um(UmConfig {
        sn_bits: integer(set, Column::SnBits) as u8,
        t_reassembly: timer(set, Column::TReassembly),
    })
}

const fn with_mode(set: &str, generation: Generation, mode: Mode) -> RlcConfig {
    RlcConfig {
        generation,
        mode,
        buffer: Bytes(integer(set, Column::Buffer)),
        aqm: AqmConfig::DropTail(DropTailConfig),
        subheader: match generation {
            Generation::Lte => MacSubheader::Lte,
            Generation::Nr => MacSubheader::Nr,
        },
        closes_count_gaps: true,
        is_beyond_standard: false,
    }
}

/// Returns the parameters with values outside the standard allowed, because they poll more often
/// than the standard permits.
const fn beyond(config: RlcConfig) -> RlcConfig {
    RlcConfig {
        is_beyond_standard: true,
        ..config
    }
}

/// Parameter sets by name, which is that of the row in `data/rlc_sets.csv`.
pub const NAMED: &[(&str, RlcConfig)] = &[
    ("nr-am", RlcConfig::NR_AM),
    ("nr-um", RlcConfig::NR_UM),
    ("lte-am", RlcConfig::LTE_AM),
    ("lte-um", RlcConfig::LTE_UM),
    ("nr-srb", RlcConfig::NR_SRB),
    ("lte-srb", RlcConfig::LTE_SRB),
    ("srsran-5qi-6-8", RlcConfig::SRSRAN_5QI_6_8),
    ("srsran-5qi-9", RlcConfig::SRSRAN_5QI_9),
    ("ns3-lte-am", RlcConfig::NS3_LTE_AM),
    ("ns3-mmwave-am", RlcConfig::NS3_MMWAVE_AM),
];

impl RlcConfig {
    /// NR acknowledged mode for data, the default.
    pub const NR_AM: RlcConfig = with_mode("nr-am", Generation::Nr, am("nr-am"));
    /// NR unacknowledged mode for data.
    pub const NR_UM: RlcConfig = with_mode("nr-um", Generation::Nr, um("nr-um"));
    /// LTE acknowledged mode for data, TS 36.508.
    pub const LTE_AM: RlcConfig = with_mode("lte-am", Generation::Lte, am("lte-am"));
    /// LTE unacknowledged mode for data.
    pub const LTE_UM: RlcConfig = with_mode("lte-um", Generation::Lte, um("lte-um"));
    /// NR signalling radio bearer.
    pub const NR_SRB: RlcConfig = with_mode("nr-srb", Generation::Nr, am("nr-srb"));
    /// LTE signalling radio bearer.
    pub const LTE_SRB: RlcConfig = with_mode("lte-srb", Generation::Lte, am("lte-srb"));
    /// Transparent mode.
    pub const TM: RlcConfig = with_mode("tm", Generation::Nr, Mode::Tm);
    /// Parameters of srsRAN for 5QI 6 and 8.
    pub const SRSRAN_5QI_6_8: RlcConfig =
        with_mode("srsran-5qi-6-8", Generation::Nr, am("srsran-5qi-6-8"));
    /// Parameters of srsRAN for 5QI 9.
    pub const SRSRAN_5QI_9: RlcConfig =
        with_mode("srsran-5qi-9", Generation::Nr, am("srsran-5qi-9"));
    /// Parameters of ns-3's LTE module.
    pub const NS3_LTE_AM: RlcConfig =
        beyond(with_mode("ns3-lte-am", Generation::Lte, am("ns3-lte-am")));
    /// Parameters of ns-3's mmWave module.
    pub const NS3_MMWAVE_AM: RlcConfig = beyond(with_mode(
        "ns3-mmwave-am",
        Generation::Lte,
        am("ns3-mmwave-am"),
    ));

    /// Returns the set called `name`. `None` if there is none.
    pub fn named(name: &str) -> Option<RlcConfig> {
        let mut sets = NAMED.iter();
        sets.find(|(known, _)| *known == name)
            .map(|&(_, config)| config)
    }

    /// Checks that every value is allowed.
    ///
    /// # Errors
    /// Returns an error with the parameter, the given and the allowed value.
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
    /// Returns the number of SNs that may be unacknowledged: half of all.
    pub const fn window(&self) -> u64 {
        1 << (self.sn_bits - 1)
    }

    /// Returns an error for values with which an entity makes no progress.
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
            LTE, MAX_RETX, NR, T_POLL_RETRANSMIT, T_REASSEMBLY, T_STATUS_PROHIBIT, milliseconds,
            one_of,
        };
        let polling = if lte { LTE } else { NR };
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
            one_of("pollPDU", pdu.into(), polling.pdus, "PDUs")?;
        }
        if let Some(bytes) = self.poll_byte {
            allowed::kilobytes("pollByte", bytes, polling.kilobytes)?;
        }
        one_of(
            "maxRetxThreshold",
            self.max_retx_threshold.into(),
            &MAX_RETX[0],
            "retransmissions",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_named_set_is_allowed() {
        for &(name, config) in NAMED {
            config.check().expect(name);
            assert_eq!(RlcConfig::named(name), Some(config));
        }
        assert_eq!(RlcConfig::named("nr"), None);
    }

    #[test]
    fn a_value_outside_the_enumeration_is_refused_with_the_nearest_one() {
        let refusal_with = |change: fn(&mut AmConfig)| {
            let mut config = RlcConfig::NR_AM;
            let Mode::Am(am) = &mut config.mode else {
                unreachable!("acknowledged mode");
            };
            change(am);
            config.check().expect_err("not allowed").to_string()
        };
        let text = refusal_with(|am| am.t_poll_retransmit = Span::from_millis(47));
        assert_eq!(
            text,
            "t-PollRetransmit is 47 ms; the nearest allowed value is 45 ms"
        );
        let text = refusal_with(|am| am.poll_pdu = Some(1));
        assert_eq!(
            text,
            "pollPDU is 1 PDUs; the nearest allowed value is 4 PDUs"
        );
        let text = refusal_with(|am| am.poll_byte = Some(Bytes(26_000)));
        assert_eq!(
            text,
            "pollByte is 26 kB; the nearest allowed value is 25 kB"
        );
        let text = refusal_with(|am| am.t_status_prohibit = Span::from_secs(9));
        assert_eq!(
            text,
            "t-StatusProhibit is 9 s; the nearest allowed value is 2.4 s"
        );
        let text = refusal_with(|am| am.sn_bits = 10);
        assert_eq!(
            text,
            "sn-FieldLength is 10 bits; the nearest allowed value is 12 bits"
        );
        let text = refusal_with(|am| am.max_retx_threshold = 5);
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

    fn change_am(config: RlcConfig, change: impl Fn(&mut AmConfig)) -> RlcConfig {
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
            let config = change_am(config, |am| am.t_reassembly = Span::from_millis(33));
            assert_eq!(
                config.check().expect_err("not allowed").to_string(),
                format!("{name} is 33 ms; the nearest allowed value is 35 ms")
            );
        }
    }

    #[test]
    fn the_window_is_half_of_the_sequence_numbers() {
        for (bits, window) in [(10, 512), (12, 2048), (16, 32_768), (18, 131_072)] {
            let config = change_am(RlcConfig::NR_AM, |am| am.sn_bits = bits);
            assert!(matches!(config.mode, Mode::Am(am) if am.window() == window));
        }
    }

    #[test]
    fn beyond_the_standard_only_what_makes_no_sense_is_refused() {
        let named = RlcConfig::named("ns3-lte-am").expect("a name");
        assert!(named.is_beyond_standard);
        let refused = |change: fn(&mut AmConfig)| change_am(named, change).check().is_err();
        assert!(!refused(|am| am.poll_pdu = Some(3)));
        assert!(refused(|am| am.poll_pdu = Some(0)));
        assert!(refused(|am| am.poll_byte = Some(Bytes(0))));
        assert!(refused(|am| am.t_poll_retransmit = Span::ZERO));
        assert!(refused(|am| am.max_retx_threshold = 0));
    }
}
