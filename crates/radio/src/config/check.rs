//! Checks of a configuration before the radio access is built.

use super::{
    Adaptation, AirInterface, BearerConfig, CellConfig, MOST_LEGS, RadioConfig, RadioError,
    Serving, Sharing, SplitConfig, UeConfig,
};
use crate::mac::request::request_periods;
use crate::pdcp::{Delivery, check_split_threshold};
use crate::phy::frame::Duplex;
use crate::rlc::{AqmConfig, Generation, Mode, RlcConfig};
use fadeout_core::{CellId, Direction};
use std::fmt::Display;

/// Checks every value of `config`.
pub(crate) fn check(config: &RadioConfig) -> Result<(), RadioError> {
    for (index, cell) in config.cells.iter().enumerate() {
        check_cell(index, cell)?;
    }
    for (index, ue) in config.ues.iter().enumerate() {
        check_ue(index, ue, &config.cells)?;
    }
    for (index, bearer) in config.bearers.iter().enumerate() {
        let ue = config.ues.get(bearer.ue.index());
        check_bearer(index, bearer, (ue, config.ues.len()))?;
    }
    Ok(())
}

fn check_ue(index: usize, ue: &UeConfig, cells: &[CellConfig]) -> Result<(), RadioError> {
    let error = |what, value: &dyn Display, expected: String| RadioError::Ue {
        ue: index,
        what,
        value: value.to_string(),
        expected,
    };
    if cells.is_empty() {
        let expected = "a cell; there is none".to_owned();
        return Err(error("serving cell", &"missing", expected));
    }
    let is_there = |what, id: CellId| {
        if id.index() < cells.len() {
            return Ok(());
        }
        Err(error(what, &id.0, format!("a cell below {}", cells.len())))
    };
    if let Serving::Cell(id) | Serving::StrongestOnCarrier(id) = ue.serving {
        is_there("serving cell", id)?;
    }
    if let Some(id) = ue.pscell {
        is_there("PSCell", id)?;
        // If the strongest cell were chosen as serving cell, the choice could fall on the PSCell.
        // So the serving cell must be named.
        let expected = "a serving cell that is named, and another one".to_owned();
        if !matches!(ue.serving, Serving::Cell(other) if other != id) {
            return Err(error("PSCell", &id.0, expected));
        }
    }
    for (position, &id) in ue.aggregation.cells().iter().enumerate() {
        is_there("secondary cell", id)?;
        let Serving::Cell(primary) = ue.serving else {
            let expected = "a primary cell that is named".to_owned();
            return Err(error("secondary cell", &id.0, expected));
        };
        let before = &ue.aggregation.cells()[..position];
        let own = &cells[id.index()];
        let shares = |other: &CellId| cells[other.index()].carrier == own.carrier;
        let expected = if id == primary || before.contains(&id) || ue.pscell == Some(id) {
            "each cell once, the primary one included"
        } else if own.is_nr() != cells[primary.index()].is_nr() {
            "a cell of the primary cell's technology"
        } else if shares(&primary) || before.iter().any(shares) {
            "a carrier for each cell"
        } else if own.drx != cells[primary.index()].drx {
            "a cell with the primary cell's DRX: a UE has one"
        } else {
            continue;
        };
        return Err(error("secondary cell", &id.0, expected.to_owned()));
    }
    if !ue.power.0.is_finite() {
        return Err(error("power", &ue.power.0, "a number of dBm".to_owned()));
    }
    Ok(())
}

/// Checks that the UE of bearer `index` and its leg exist. `ues` is the number of UEs.
pub(crate) fn check_bearer(
    index: usize,
    bearer: &BearerConfig,
    (ue, ues): (Option<&UeConfig>, usize),
) -> Result<(), RadioError> {
    let Some(ue) = ue else {
        return Err(RadioError::NoUe {
            bearer: index,
            ue: bearer.ue.0,
            ues,
        });
    };
    let legs = legs_of(ue);
    if bearer.leg >= legs {
        return Err(RadioError::NoLeg {
            bearer: index,
            leg: bearer.leg,
            legs,
        });
    }
    check_compression(index, bearer)?;
    bearer
        .split
        .map_or(Ok(()), |split| check_split(index, bearer, &split, ue))
}

/// Checks that a bearer may use header compression, if header compression is configured.
///
/// Standard: TS 38.331 §6.3.2; TS 36.331 §6.3.2; TS 38.323 §5.7.1.
fn check_compression(index: usize, bearer: &BearerConfig) -> Result<(), RadioError> {
    let Some(rohc) = bearer.pdcp.rohc else {
        return Ok(());
    };
    let is_lte = bearer.rlc.generation == Generation::Lte;
    let (what, value, expected) = if matches!(bearer.pdcp.delivery, Delivery::OutOfOrder(_)) {
        let value = "out-of-order".to_owned();
        ("delivery with header-compression", value, "in order")
    } else if bearer.split.is_some() {
        let value = "split".to_owned();
        let what = "bearer with header-compression";
        (what, value, "one that is not split")
    } else if matches!(bearer.rlc.mode, Mode::Tm) {
        let value = "transparent".to_owned();
        let expected = "acknowledged or unacknowledged";
        ("RLC mode with header-compression", value, expected)
    } else if rohc.continues && is_lte && bearer.is_acknowledged() {
        let expected = "false in acknowledged mode of LTE, whose handovers reset contexts";
        ("drb-continue-rohc", "true".to_owned(), expected)
    } else {
        return Ok(());
    };
    Err(RadioError::Bearer {
        bearer: index,
        what,
        value,
        expected,
    })
}

/// Returns the number of legs that a UE has, or may get during the run.
fn legs_of(ue: &UeConfig) -> u8 {
    1 + u8::from(ue.pscell.is_some() || ue.takes_secondary)
}

/// Checks the legs of a UE's bearer. Returns the name of the wrong value, the value, and the
/// expected values. `None` if the legs are valid.
fn wrong_legs(
    bearer: &BearerConfig,
    split: &SplitConfig,
    ue: &UeConfig,
) -> Option<(&'static str, String, &'static str)> {
    let legs = legs_of(ue);
    let carriers = &split.carriers;
    let is_far = matches!(split.leg, None | Some(1));
    if bearer.leg != 0 || !is_far || split.leg.is_some_and(|leg| leg >= legs) {
        let far = split.leg.map_or("none".to_owned(), |leg| leg.to_string());
        let value = format!("{} and {far} of {legs}", bearer.leg);
        let expected = "the first and the second of two";
        return Some(("legs of a split bearer", value, expected));
    }
    let cells = carriers.cells();
    let all = 1 + cells.len() + usize::from(split.leg.is_some());
    if !(2..=MOST_LEGS).contains(&all) {
        return Some(("legs of a bearer", all.to_string(), "two to four"));
    }
    let is_ours = |cell: &CellId| ue.aggregation.cells().contains(cell);
    let is_twice = |at: usize| cells[..at].contains(&cells[at]);
    let expected = if !cells.iter().all(is_ours) {
        "secondary cells of the UE"
    } else if (0..cells.len()).any(is_twice) {
        "each cell once: copies go over carriers of their own"
    } else if cells.is_empty() {
        return None;
    } else if split.duplicates == [false; 2] {
        "duplication: legs over carriers have no other use"
    } else if !ue.aggregation.has_uplink && (bearer.is_acknowledged() || split.duplicates[1]) {
        "secondary cells with uplink, for status reports and copies"
    } else {
        return None;
    };
    let cells: Vec<String> = cells.iter().map(|cell| cell.0.to_string()).collect();
    Some(("legs over carriers", cells.join(", "), expected))
}

/// Checks a bearer that is split, or that has legs on several carriers.
fn check_split(
    index: usize,
    bearer: &BearerConfig,
    split: &SplitConfig,
    ue: &UeConfig,
) -> Result<(), RadioError> {
    let mode = |rlc: &RlcConfig| match rlc.mode {
        Mode::Tm => "transparent",
        Mode::Um(_) => "unacknowledged",
        Mode::Am(_) => "acknowledged",
    };
    let modes = [mode(&bearer.rlc), mode(&split.rlc)];
    let sizes = [bearer.pdcp.sn_bits, split.pdcp_sn_bits];
    let is_in_order = !matches!(bearer.pdcp.delivery, Delivery::FromRlc);
    let has_aqm = !matches!(bearer.rlc.aqm, AqmConfig::DropTail(_));
    let wrong = if let Some(wrong) = wrong_legs(bearer, split, ue) {
        Some(wrong)
    } else if modes.contains(&"transparent") {
        let value = modes.join(" and ");
        Some((
            "RLC mode of a split bearer",
            value,
            "acknowledged or unacknowledged on both legs",
        ))
    } else if modes[0] != modes[1] {
        Some((
            "RLC mode of a split bearer",
            modes.join(" and "),
            "one mode on both legs",
        ))
    } else if sizes[0] != sizes[1] {
        let value = format!("{} and {} bits", sizes[0], sizes[1]);
        Some((
            "pdcp-SN-Size of a split bearer",
            value,
            "one size: both legs have one PDCP",
        ))
    } else if !is_in_order {
        let value = "RLC's".to_owned();
        let expected =
            "PDCP's own, \"in-order\" or \"out-of-order\": each leg's RLC knows its own alone";
        Some(("order of delivery of a split bearer", value, expected))
    } else if has_aqm {
        let value = "at RLC".to_owned();
        Some((
            "queue management of a split bearer",
            value,
            "\"drop-tail\": packets wait at PDCP",
        ))
    } else if split.primary > 1 || (split.primary == 1 && split.leg.is_none()) {
        Some((
            "primaryPath",
            split.primary.to_string(),
            "leg 0 or 1 that is there",
        ))
    } else {
        None
    };
    if let Some((what, value, expected)) = wrong {
        return Err(RadioError::Bearer {
            bearer: index,
            what,
            value,
            expected,
        });
    }
    let threshold = split.thresholds[Direction::Uplink.index()];
    check_split_threshold(threshold).map_err(|error| RadioError::Parameter {
        bearer: index,
        error,
    })
}

/// Largest number of resource blocks of a cell. The limit exceeds the standards' carriers, because
/// studies use wider carriers.
const MOST_RESOURCE_BLOCKS: u32 = 3300;

fn check_cell(index: usize, cell: &CellConfig) -> Result<(), RadioError> {
    let ensure = |what, value: &dyn Display, is_valid: bool, expected: &str| {
        if is_valid {
            return Ok(());
        }
        Err(RadioError::Cell {
            cell: index,
            what,
            value: value.to_string(),
            expected: expected.to_owned(),
        })
    };
    let (mu, most_blocks, blocks_text) = match cell.air {
        AirInterface::Lte { .. } => (None, 110, "1 to 110"),
        AirInterface::Nr { mu } => (Some(mu), MOST_RESOURCE_BLOCKS, "1 to 3300"),
    };
    let blocks = cell.resource_blocks;
    ensure(
        "resource blocks",
        &blocks,
        (1..=most_blocks).contains(&blocks),
        blocks_text,
    )?;
    let carrier = cell.carrier.0;
    let carrier_ok = (1e8..=1e12).contains(&carrier);
    ensure("carrier in Hz", &carrier, carrier_ok, "100 MHz to 1 THz")?;
    ensure(
        "power in dBm",
        &cell.power.0,
        cell.power.0.is_finite(),
        "a number",
    )?;
    check_layers(cell, &ensure)?;
    ensure(
        "UEs in a slot",
        &cell.most_ues,
        cell.most_ues > 0,
        "at least 1",
    )?;
    let harq = &cell.harq;
    for (what, processes) in [
        ("downlink HARQ processes", harq.downlink_processes),
        ("uplink HARQ processes", harq.uplink_processes),
    ] {
        ensure(what, &processes, (1..=32).contains(&processes), "1 to 32")?;
    }
    let most = harq.most_transmissions;
    ensure(
        "HARQ transmissions",
        &most,
        (1..=32).contains(&most),
        "1 to 32",
    )?;
    for (what, chance) in [
        ("NACK to ACK", harq.nack_to_ack),
        ("ACK to NACK", harq.ack_to_nack),
        (
            "error rate",
            cell.fixed_errors.map_or(0.0, |errors| errors.first),
        ),
        (
            "error rate of retransmissions",
            cell.fixed_errors
                .map_or(0.0, |errors| errors.retransmission),
        ),
    ] {
        let is_valid = (0.0..=1.0).contains(&chance);
        ensure(what, &chance, is_valid, "a probability between 0 and 1")?;
    }
    if let Adaptation::FixedRate { downlink, uplink } = cell.adaptation {
        let has_errors = cell.fixed_errors.is_some();
        let expected = "fixed_errors, as a fixed rate has no error model";
        ensure("adaptation", &"a fixed rate", has_errors, expected)?;
        let slowest = downlink.min(uplink).as_bits_per_sec();
        ensure(
            "fixed rate in bit/s",
            &slowest,
            slowest >= 1000,
            "1 kbit/s or more",
        )?;
    }
    let gain_period = cell.gain_period;
    ensure(
        "gain period",
        &gain_period,
        !gain_period.is_zero(),
        "more than zero",
    )?;
    if let Some(drx) = cell.drx {
        let on = drx.on_duration;
        let is_valid = !on.is_zero() && on <= drx.cycle;
        ensure(
            "DRX on-duration",
            &on,
            is_valid,
            "above zero, and at most the cycle",
        )?;
    }
    let is_divided = match &cell.duplex {
        Duplex::Fdd => false,
        Duplex::Flexible { .. } => true,
        Duplex::Tdd(pattern) => pattern.slots().iter().any(|slot| slot.shared() > 0),
    };
    ensure(
        "duplex",
        &"slots that the scheduler divides",
        !is_divided || cell.sharing == Sharing::Time,
        "FDD or a TDD pattern where UEs share a slot in frequency",
    )?;
    ensure(
        "cross-link interference",
        &"FDD",
        !cell.cross_link || cell.duplex != Duplex::Fdd,
        "TDD or flexible slots: nothing crosses between the bands of FDD",
    )?;
    check_feedback(cell, &ensure)?;
    check_requests(mu, cell, &ensure)
}

/// Checks that a slot of the TDD pattern has enough uplink symbols for PUCCH.
fn check_feedback(cell: &CellConfig, ensure: &Ensure<'_>) -> Result<(), RadioError> {
    let Duplex::Tdd(pattern) = &cell.duplex else {
        return Ok(());
    };
    let most = pattern.slots().iter().map(|slot| slot.uplink).max();
    let (symbols, most) = (cell.timing.feedback_symbols, most.unwrap_or(0));
    let expected = format!("at most {most}: no slot of the pattern has more uplink symbols");
    ensure("PUCCH symbols", &symbols, symbols <= most, &expected)
}

/// Checks that both ends have enough antennas for the number of layers.
fn check_layers(cell: &CellConfig, ensure: &Ensure<'_>) -> Result<(), RadioError> {
    for (what, layers, most) in [
        ("layers", cell.layers, 8),
        ("uplink layers", cell.uplink_layers, 4),
    ] {
        let is_valid = (1..=most).contains(&layers);
        ensure(what, &layers, is_valid, &format!("1 to {most}"))?;
        for (end, antenna) in [
            ("the cell's antenna", &cell.channel.base_antenna),
            ("the UE's antenna", &cell.channel.ue_antenna),
        ] {
            let most = antenna.most_layers().unwrap_or(layers);
            let expected = format!("at most {most}: two for each element of {end}");
            ensure(what, &layers, layers <= most, &expected)?;
        }
    }
    let antennas = cell.channel.receive_antennas;
    let has_layers = cell.layers > 1 || cell.uplink_layers > 1;
    ensure(
        "receive antennas",
        &antennas,
        antennas == 1 || !has_layers,
        "1 where there are layers: these are received with antennas of their own",
    )
}

type Ensure<'a> = dyn Fn(&'static str, &dyn Display, bool, &str) -> Result<(), RadioError> + 'a;

fn check_requests(
    mu: Option<u8>,
    cell: &CellConfig,
    ensure: &Ensure<'_>,
) -> Result<(), RadioError> {
    let requests = &cell.requests;
    let periods = request_periods(mu);
    let list: Vec<String> = periods.iter().map(u32::to_string).collect();
    let period = requests.period;
    ensure(
        "SR period in slots",
        &period,
        periods.contains(&period),
        &format!("one of {}", list.join(", ")),
    )?;
    if let Some(offset) = requests.offset {
        let expected = format!("below the period of {period}");
        ensure("SR offset in slots", &offset, offset < period, &expected)?;
    }
    ensure(
        "first grant in bytes",
        &requests.first_grant,
        requests.first_grant >= 16,
        "at least 16",
    )?;
    ensure(
        "time until a request is repeated",
        &requests.repeat_after,
        !requests.repeat_after.is_zero(),
        "more than zero",
    )?;
    ensure(
        "most scheduling requests",
        &requests.most,
        requests.most > 0,
        "at least 1",
    )?;
    if let Some(grant) = cell.configured_grant {
        let is_valid = (1..=128).contains(&grant.period);
        ensure(
            "period of the configured grant",
            &grant.period,
            is_valid,
            "1 to 128",
        )?;
        ensure(
            "units of the configured grant",
            &grant.units,
            grant.units > 0,
            "at least 1",
        )?;
    }
    Ok(())
}
