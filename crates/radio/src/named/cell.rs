//! Cells by the name of their technology.

use super::entry;
use crate::config::{
    Adaptation, CellConfig, ConfiguredGrant, HarqConfig, ReportedAdaptation, UplinkPower,
};
use crate::mac::DrxConfig;
use crate::phy::cqi::CqiTable;
use crate::phy::frame::{Duplex, SpecialSlot, TddPattern};
use crate::phy::harq::{Combining, FixedErrors};
use crate::phy::link_adaptation::{CsiReporting, OuterLoopConfig};
use crate::phy::mcs::McsTable;
use crate::phy::numerology::{ChannelKind, CyclicPrefix, Numerology, resource_blocks};
use fadeout_core::registry::{Entry, Parameter, Parameters, choice, flag, integer, number, span};
use fadeout_core::{Hertz, Point, Rate, Span};

/// Where a cell is and what spectrum it has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Carrier {
    /// Place of its antenna.
    pub site: Point,
    /// Carrier frequency.
    pub carrier: Hertz,
    /// Channel bandwidth, from which the resource blocks follow unless they are given.
    pub bandwidth: Hertz,
}

/// What a cell of every technology takes.
const SHARED: [Parameter; 27] = [
    integer(
        "resource-blocks",
        (0, 10_000, ""),
        "0",
        "Resource blocks of the carrier; 0 takes them from the standard's table. For an aggregate \
         that the table does not list.",
    ),
    integer(
        "layers",
        (1, 8, ""),
        "1",
        "Spatial layers of a transmission.",
    ),
    choice(
        "adaptation",
        &["reports", "fixed-mcs", "fixed-rate"],
        "reports",
        "How the scheme is chosen: from CQI reports, always `mcs`, or blocks of `downlink-rate` and \
         `uplink-rate` with the fixed errors of `bler`.",
    ),
    integer("mcs", (0, 28, ""), "10", "The scheme of `fixed-mcs`."),
    number(
        "downlink-rate",
        (1e3, 1e12, "bit/s"),
        "20000000",
        "Downlink rate of the carrier with `fixed-rate`.",
    ),
    number(
        "uplink-rate",
        (1e3, 1e12, "bit/s"),
        "20000000",
        "Uplink rate of the carrier with `fixed-rate`.",
    ),
    choice(
        "errors",
        &["model", "fixed"],
        "model",
        "Whether blocks fail by the error model, or with the probabilities `bler` and \
         `retransmission-bler`.",
    ),
    number(
        "bler",
        (0.0, 1.0, ""),
        "0.1",
        "Error rate of first transmissions, where errors are fixed.",
    ),
    number(
        "retransmission-bler",
        (0.0, 1.0, ""),
        "0",
        "Error rate of every further transmission, where errors are fixed.",
    ),
    number(
        "target-bler",
        (1e-6, 0.9, ""),
        "0.1",
        "Error rate of first transmissions that schemes are chosen for.",
    ),
    flag(
        "outer-loop",
        "true",
        "Whether HARQ feedback corrects the reported quality.",
    ),
    choice(
        "harq-combining",
        &["incremental-redundancy", "chase", "none"],
        "incremental-redundancy",
        "Use of earlier transmissions of a block.",
    ),
    integer(
        "harq-transmissions",
        (1, 28, ""),
        "4",
        "Most transmissions of a block; 1 switches HARQ off.",
    ),
    number(
        "nack-to-ack",
        (0.0, 1.0, ""),
        "0",
        "Chance that a NACK is taken for an ACK.",
    ),
    number(
        "ack-to-nack",
        (0.0, 1.0, ""),
        "0",
        "Chance that an ACK is taken for a NACK.",
    ),
    choice(
        "sr-offset",
        &["random", "zero"],
        "random",
        "Slot of a UE's first opportunity: drawn for each, or zero.",
    ),
    span(
        "sr-prohibit",
        "0 ms",
        "Least time between two requests of a UE (sr-ProhibitTimer).",
    ),
    integer(
        "first-grant",
        (16, 100_000, "bytes"),
        "256",
        "Size of the first grant after a request, when the buffer is not known yet.",
    ),
    integer(
        "configured-grant-period",
        (0, 10_240, "slots"),
        "0",
        "Slots between two uplink occasions that a UE may use without asking; 0 for none.",
    ),
    integer(
        "configured-grant-size",
        (1, 275, ""),
        "1",
        "Resource block groups of such an occasion, or symbols where one beam serves at a time.",
    ),
    span(
        "drx-cycle",
        "0 ms",
        "Long DRX cycle; zero for UEs that always listen.",
    ),
    span("drx-on", "10 ms", "How long a UE listens in each cycle."),
    span(
        "drx-inactivity",
        "100 ms",
        "How long a UE listens on after data.",
    ),
    choice(
        "uplink-power",
        &["default", "open-loop", "maximum"],
        "default",
        "Power of UEs: open loop with P0 = -84 dBm and alpha = 0.8 (TS 36.213 clause 5.1.1.1), or all \
         they have. The default is open loop below 6 GHz.",
    ),
    span(
        "gain-period",
        "1 ms",
        "Age at which path loss, shadowing, blockage and beams are looked at again; fading always is.",
    ),
    span(
        "recheck-period",
        "40 ms",
        "How often a UE out of range that has data waiting is tried again.",
    ),
    span(
        "reestablishment",
        "200 ms",
        "Time without service after a radio link failure (RLC's maxRetxThreshold).",
    ),
];

const OF_NR: [Parameter; 7] = [
    integer(
        "numerology",
        (0, 6, ""),
        "by carrier",
        "Numerology mu: slots of 1 ms / 2^mu. By default 3 above 6 GHz and 1 below.",
    ),
    choice(
        "duplex",
        &[
            "default",
            "fdd",
            "flexible",
            "DDDSU",
            "DDSU",
            "DSUUD",
            "DDDDDDDSUU",
        ],
        "default",
        "FDD, slots divided by the scheduler, or a TDD pattern with special slots of 10:2:2 \
         symbols.",
    ),
    choice(
        "mcs-table",
        &["64qam", "256qam"],
        "64qam",
        "Tables of CQI and MCS.",
    ),
    integer(
        "cqi-period",
        (1, 640, "slots"),
        "10",
        "Slots between two CQI reports.",
    ),
    integer(
        "cqi-delay",
        (0, 640, "slots"),
        "4",
        "Age of a report at its first use.",
    ),
    integer(
        "harq-processes",
        (1, 32, ""),
        "16",
        "HARQ processes in each direction.",
    ),
    integer(
        "sr-period",
        (1, 640, "slots"),
        "8",
        "Slots between two SR opportunities.",
    ),
];

const OF_LTE: [Parameter; 5] = [
    choice(
        "tti",
        &["1 ms", "0.5 ms", "0.1 ms"],
        "1 ms",
        "Transmission time interval. Processing times scale with it.",
    ),
    integer(
        "cqi-period",
        (1, 640, "slots"),
        "5",
        "TTIs between two CQI reports.",
    ),
    integer(
        "cqi-delay",
        (0, 640, "slots"),
        "6",
        "Age of a report at its first use, in TTIs.",
    ),
    integer(
        "harq-processes",
        (1, 32, ""),
        "8",
        "HARQ processes in each direction.",
    ),
    integer(
        "sr-period",
        (1, 640, "slots"),
        "10",
        "TTIs between two SR opportunities.",
    ),
];

static NR: [Parameter; OF_NR.len() + SHARED.len()] = join(&OF_NR);
static LTE: [Parameter; OF_LTE.len() + SHARED.len()] = join(&OF_LTE);

/// A technology's own parameters, then the shared ones.
const fn join<const ALL: usize>(own: &[Parameter]) -> [Parameter; ALL] {
    let mut all = [SHARED[0]; ALL];
    let mut index = 0;
    while index < ALL {
        all[index] = if index < own.len() {
            own[index]
        } else {
            SHARED[index - own.len()]
        };
        index += 1;
    }
    all
}

/// The radio technologies.
pub static RADIOS: &[Entry] = &[
    entry(
        ("nr", "3GPP"),
        "5G New Radio: one UE at a time and slots divided by the scheduler above 6 GHz, FDD and \
         resource block groups below.",
        "TS 38.211, 38.213, 38.214, 38.321",
        &NR,
    ),
    entry(
        ("lte", "3GPP"),
        "LTE FDD, also with the shorter transmission time intervals of the latency study.",
        "TS 36.211, 36.213, 36.321; R2-153493 Appendix A for short intervals",
        &LTE,
    ),
];

/// The cell of the technology called `name`; `None` when there is none.
///
/// # Errors
/// A bandwidth without a row in the standard's table, or a numerology without data channels; the
/// message names what there is.
pub fn cell(
    name: &str,
    parameters: &Parameters,
    carrier: &Carrier,
) -> Option<Result<CellConfig, String>> {
    match name {
        "lte" => Some(lte(parameters, carrier)),
        "nr" => Some(nr(parameters, carrier)),
        _ => None,
    }
}

fn lte(parameters: &Parameters, carrier: &Carrier) -> Result<CellConfig, String> {
    let blocks = blocks(parameters, ChannelKind::Lte, Numerology::KHZ_15, carrier)?;
    let tti = Span::from_micros(match parameters.choice("tti", "1 ms") {
        "0.5 ms" => 500,
        "0.1 ms" => 100,
        _ => 1000,
    });
    let cell = CellConfig::lte(carrier.site, carrier.carrier, blocks).with_tti(tti);
    // Reports come as many intervals apart, whatever the interval.
    apply(
        parameters,
        cell,
        Slots {
            now: tti,
            default: Span::from_millis(1),
        },
    )
}

fn nr(parameters: &Parameters, carrier: &Carrier) -> Result<CellConfig, String> {
    let is_fr2 = carrier.carrier.0 > 6e9;
    let (mu, kind) = if is_fr2 {
        (3.0, ChannelKind::NrFr2)
    } else {
        (1.0, ChannelKind::NrFr1)
    };
    let mu = parameters.number("numerology", mu) as u8;
    let text = |error: crate::phy::PhyError| error.to_string();
    let numerology = Numerology::new(mu, CyclicPrefix::Normal).map_err(text)?;
    let blocks = blocks(parameters, kind, numerology, carrier)?;
    let mut cell = CellConfig::nr(carrier.site, carrier.carrier, mu, blocks).map_err(text)?;
    cell.duplex = match parameters.choice("duplex", "default") {
        "default" => cell.duplex,
        "fdd" => Duplex::Fdd,
        "flexible" => Duplex::Flexible { guard: 0 },
        pattern => {
            let symbols = numerology.symbols();
            let pattern = TddPattern::new(pattern, SpecialSlot::default(), symbols);
            Duplex::Tdd(pattern.map_err(text)?)
        }
    };
    let slot = numerology.slot();
    apply(
        parameters,
        cell,
        Slots {
            now: slot,
            default: slot,
        },
    )
}

fn blocks(
    parameters: &Parameters,
    kind: ChannelKind,
    numerology: Numerology,
    carrier: &Carrier,
) -> Result<u32, String> {
    let given = parameters.number("resource-blocks", 0.0) as u32;
    if given > 0 {
        return Ok(given);
    }
    let listed = resource_blocks(kind, numerology, carrier.bandwidth.0 / 1e6);
    listed.map_err(|error| format!("{error}; or give `resource-blocks` for an aggregate"))
}

/// Length of a slot, and of one of those that the defaults are for.
#[derive(Debug, Clone, Copy)]
struct Slots {
    now: Span,
    default: Span,
}

/// What both technologies have.
fn apply(parameters: &Parameters, cell: CellConfig, slot: Slots) -> Result<CellConfig, String> {
    let whole = |name, default: u32| parameters.number(name, f64::from(default)) as u32;
    let mut cell = cell;
    cell.layers = whole("layers", cell.layers);
    cell.adaptation = adaptation(parameters, cell.adaptation, slot);
    let is_fixed = parameters.choice("errors", "model") == "fixed";
    if is_fixed || matches!(cell.adaptation, Adaptation::FixedRate { .. }) {
        cell.fixed_errors = Some(FixedErrors {
            first: parameters.number("bler", 0.1),
            retransmission: parameters.number("retransmission-bler", 0.0),
        });
    }
    let processes = whole("harq-processes", cell.harq.downlink_processes.into()) as u8;
    cell.harq = HarqConfig {
        downlink_processes: processes,
        uplink_processes: processes,
        most_transmissions: whole("harq-transmissions", cell.harq.most_transmissions.into()) as u8,
        combining: match parameters.choice("harq-combining", "incremental-redundancy") {
            "chase" => Combining::Chase,
            "none" => Combining::None,
            _ => Combining::IncrementalRedundancy,
        },
        nack_to_ack: parameters.number("nack-to-ack", 0.0),
        ack_to_nack: parameters.number("ack-to-nack", 0.0),
    };
    cell.requests.period = whole("sr-period", cell.requests.period);
    if parameters.choice("sr-offset", "random") == "zero" {
        cell.requests.offset = Some(0);
    }
    cell.requests.prohibit = parameters.span("sr-prohibit", cell.requests.prohibit);
    cell.requests.first_grant = whole("first-grant", cell.requests.first_grant);
    let period = whole("configured-grant-period", 0);
    cell.configured_grant = (period > 0).then(|| ConfiguredGrant {
        period,
        units: whole("configured-grant-size", 1),
        scheme: whole("mcs", 10),
    });
    let cycle = parameters.span("drx-cycle", Span::ZERO);
    cell.drx = (!cycle.is_zero()).then(|| DrxConfig {
        cycle,
        on_duration: parameters.span("drx-on", Span::from_millis(10)),
        inactivity: parameters.span("drx-inactivity", Span::from_millis(100)),
    });
    cell.uplink_power = match parameters.choice("uplink-power", "default") {
        "maximum" => UplinkPower::Maximum,
        "open-loop" => UplinkPower::OpenLoop {
            p0: fadeout_core::Dbm(-84.0),
            alpha: 0.8,
        },
        _ => cell.uplink_power,
    };
    cell.gain_period = parameters.span("gain-period", cell.gain_period);
    cell.recheck_after = parameters.span("recheck-period", cell.recheck_after);
    cell.reestablish_after = parameters.span("reestablishment", cell.reestablish_after);
    Ok(cell)
}

fn adaptation(parameters: &Parameters, default: Adaptation, slot: Slots) -> Adaptation {
    let (cqi_table, table) = match parameters.choice("mcs-table", "64qam") {
        "256qam" => (CqiTable::Qam256, McsTable::Qam256),
        _ => (CqiTable::Qam64, McsTable::Qam64),
    };
    match (parameters.choice("adaptation", "reports"), default) {
        ("fixed-mcs", _) => Adaptation::FixedScheme {
            index: parameters.number("mcs", 10.0) as u32,
            table,
        },
        ("fixed-rate", _) => {
            let rate = |name| Rate::from_bits_per_sec(parameters.number(name, 20e6) as u64);
            Adaptation::FixedRate {
                downlink: rate("downlink-rate"),
                uplink: rate("uplink-rate"),
            }
        }
        (_, Adaptation::Reports(reported)) => {
            let slots = |name, default: Span| {
                let default = default.as_nanos() / slot.default.as_nanos();
                slot.now * parameters.number(name, default as f64) as u64
            };
            let target_error = parameters.number("target-bler", reported.target_error);
            Adaptation::Reports(ReportedAdaptation {
                cqi_table,
                mcs_table: table,
                reporting: CsiReporting {
                    period: slots("cqi-period", reported.reporting.period),
                    offset: reported.reporting.offset,
                    delay: slots("cqi-delay", reported.reporting.delay),
                },
                outer_loop: if parameters.flag("outer-loop", true) {
                    OuterLoopConfig {
                        target_error,
                        ..reported.outer_loop
                    }
                } else {
                    OuterLoopConfig::OFF
                },
                target_error,
            })
        }
        (_, other) => other,
    }
}
