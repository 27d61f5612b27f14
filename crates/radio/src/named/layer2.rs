//! RLC modes, their queue management, and PDCP by name.

use super::entry;
use crate::pdcp::{Delivery, PdcpConfig};
use crate::rlc::{AqmConfig, Generation, Mode, RlcConfig};
use fadeout_core::aqm::{CoDelConfig, EcnStepConfig, PieConfig};
use fadeout_core::registry::{
    Entry, Parameter, Parameters, Registered, Settings, choice, find, integer, named, number, span,
};
use fadeout_core::{Bytes, Span, aqm as laws};

const BUFFER: Parameter = number(
    "buffer",
    (1500.0, 1e12, "bytes"),
    "2000000",
    "Limit of the transmission buffer. Below the bandwidth-delay product it costs throughput, far \
     above it delay. LTE's default is the same.",
);
const AQM: Parameter = named(
    "aqm",
    "aqm",
    "drop-tail",
    "Queue management of the transmission buffer, downlink and uplink. Its delay is that of SDUs of \
     which nothing was sent; it includes the wait for a slot and, uplink, for a grant, which a \
     target has to exceed.",
);
const T_REASSEMBLY: Parameter = span(
    "t-reassembly",
    "35 ms",
    "t-Reassembly of NR, t-Reordering of LTE: how long a gap may be HARQ's. With LTE's \
     acknowledged mode the default is 80 ms (TS 36.508).",
);

/// Every RLC mode that a scenario can name.
pub static RLC_MODES: &[Entry] = &[
    entry(
        ("am", "RLC"),
        "Acknowledged mode: what is lost is sent again.",
        "TS 38.322 and TS 36.322 clause 5.2.3",
        &[
            BUFFER,
            AQM,
            T_REASSEMBLY,
            span(
                "t-poll-retransmit",
                "45 ms",
                "After a poll without an answer, poll again. With LTE the default is 80 ms.",
            ),
            span(
                "t-status-prohibit",
                "10 ms",
                "Least time between status reports. With LTE the default is 60 ms.",
            ),
            integer(
                "poll-pdu",
                (1, 65_536, "PDUs"),
                "32",
                "Poll after so many PDUs. With LTE the default is 128.",
            ),
            integer(
                "max-retx-threshold",
                (1, 32, ""),
                "8",
                "Retransmissions of one PDU that make a radio link failure. With LTE the default \
                 is 4.",
            ),
        ],
    ),
    entry(
        ("um", "RLC"),
        "Unacknowledged mode: what HARQ loses is lost.",
        "TS 38.322 and TS 36.322 clause 5.2.2",
        &[BUFFER, AQM, T_REASSEMBLY],
    ),
    entry(
        ("tm", "RLC"),
        "Transparent mode: no header, no segmentation.",
        "TS 38.322 and TS 36.322 clause 5.2.1",
        &[BUFFER, AQM],
    ),
];

/// Every queue management of an RLC transmission buffer that a scenario can name. Disciplines of
/// links that need several queues are not among them: a bearer has one.
pub static AQMS: &[Entry] = &[
    <laws::DropTailConfig as Registered>::ENTRY,
    <CoDelConfig as Registered>::ENTRY,
    <PieConfig as Registered>::ENTRY,
    <EcnStepConfig as Registered>::ENTRY,
];

/// Every PDCP that a scenario can name.
pub static PDCPS: &[Entry] = &[entry(
    ("standard", "PDCP"),
    "The PDCP of the cell's generation.",
    "TS 38.323 and TS 36.323",
    &[
        choice(
            "delivery",
            &["by-generation", "in-order", "out-of-order", "from-rlc"],
            "by-generation",
            "Order of delivery. NR reorders at PDCP, LTE at RLC.",
        ),
        span(
            "t-reordering",
            "100 ms",
            "How long a gap is waited for where PDCP reorders.",
        ),
        span(
            "discard-timer",
            "0 ms",
            "A packet that was not sent within it is dropped; zero is infinity.",
        ),
    ],
)];

/// The queue management called `name`; `None` when there is none.
pub fn aqm(name: &str, parameters: &Parameters) -> Option<AqmConfig> {
    let entry = find(AQMS, name)?;
    let settings = Settings::new(entry, parameters);
    Some(match entry.name {
        "drop-tail" => AqmConfig::DropTail,
        "codel" => AqmConfig::CoDel(CoDelConfig::read(&settings)),
        "pie" => AqmConfig::Pie(PieConfig::read(&settings)),
        "ecn-step" => AqmConfig::EcnStep(EcnStepConfig::read(&settings)),
        _ => return None,
    })
}

/// The RLC mode called `name`; `None` when there is none, or none with its queue management.
pub fn rlc(name: &str, parameters: &Parameters, generation: Generation) -> Option<RlcConfig> {
    let is_lte = generation == Generation::Lte;
    let mut config = match name {
        "am" if is_lte => RlcConfig::LTE_AM,
        "am" => RlcConfig::NR_AM,
        "um" if is_lte => RlcConfig::LTE_UM,
        "um" => RlcConfig::NR_UM,
        "tm" => RlcConfig {
            generation,
            ..RlcConfig::TM
        },
        _ => return None,
    };
    config.buffer = Bytes(parameters.number("buffer", config.buffer.0 as f64) as u64);
    if let Some((name, given)) = parameters.named("aqm") {
        config.aqm = aqm(name, given)?;
    }
    match &mut config.mode {
        Mode::Tm => {}
        Mode::Um(um) => um.t_reassembly = parameters.span("t-reassembly", um.t_reassembly),
        Mode::Am(am) => {
            am.t_reassembly = parameters.span("t-reassembly", am.t_reassembly);
            am.t_poll_retransmit = parameters.span("t-poll-retransmit", am.t_poll_retransmit);
            am.t_status_prohibit = parameters.span("t-status-prohibit", am.t_status_prohibit);
            let given = parameters.number("poll-pdu", 0.0) as u32;
            if given > 0 {
                am.poll_pdu = Some(given);
            }
            let threshold = f64::from(am.max_retx_threshold);
            am.max_retx_threshold = parameters.number("max-retx-threshold", threshold) as u32;
        }
    }
    Some(config)
}

/// The PDCP called `name`; `None` when there is none.
pub fn pdcp(name: &str, parameters: &Parameters, generation: Generation) -> Option<PdcpConfig> {
    if name != "standard" {
        return None;
    }
    let default = match generation {
        Generation::Lte => PdcpConfig::LTE,
        Generation::Nr => PdcpConfig::NR,
    };
    let reordering = Some(parameters.span("t-reordering", Span::from_millis(100)));
    let discard = parameters.span("discard-timer", Span::ZERO);
    Some(PdcpConfig {
        discard_timer: (!discard.is_zero()).then_some(discard),
        delivery: match (
            parameters.choice("delivery", "by-generation"),
            default.delivery,
        ) {
            ("in-order", _) | ("by-generation", Delivery::InOrder(_)) => {
                Delivery::InOrder(reordering)
            }
            ("out-of-order", _) => Delivery::OutOfOrder(reordering),
            ("from-rlc", _) => Delivery::FromRlc,
            (_, delivery) => delivery,
        },
        ..default
    })
}
