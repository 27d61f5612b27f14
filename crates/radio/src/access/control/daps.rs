//! Checks of the configuration for handovers with DAPS. The decisions of such a handover are in
//! `rrc/daps.rs`.

use crate::access::plane::service::Service;
use crate::cell::CellMac;
use crate::config::{CellConfig, MobilityConfig, RadioError};
use crate::pdcp::Delivery;
use crate::rlc::Mode;
use fadeout_core::{DrbId, Hertz, UeId};

/// Lower edge of frequency range 2 (FR2).
///
/// Standard: TS 38.101-1 §5.1.
const RANGE_2: Hertz = Hertz(24.25e9);

/// Checks that a UE may be connected to two of these cells at once.
///
/// Standard: TS 38.300 §9.2.3.1.
pub(crate) fn check(config: &MobilityConfig, cells: &[CellMac]) -> Result<(), RadioError> {
    if !config.is_daps() {
        return Ok(());
    }
    let refuse = |cell: usize, value: String, expected: &str| {
        Err(RadioError::Cell {
            cell,
            what: "`procedure = \"daps\"`",
            value,
            expected: expected.into(),
        })
    };
    let configs = cells.iter().map(|cell| &cell.plan.config);
    if let Some(place) = configs.clone().position(|cell| !cell.is_nr()) {
        let expected = "cells of NR alone, or `procedure = \"plain\"`";
        return refuse(place, "with a cell of LTE".into(), expected);
    }
    let is_high = |cell: &&CellConfig| cell.carrier.0 >= RANGE_2.0;
    if configs.clone().filter(is_high).count() > 1 {
        let place = configs.clone().position(|cell| is_high(&cell));
        let value = "from one cell above 24.25 GHz (FR2) to another".into();
        let expected = "one such cell at most, or `procedure = \"plain\"` or \"conditional\"";
        return refuse(place.unwrap_or_default(), value, expected);
    }
    Ok(())
}

/// Checks if the UE's configuration allows a connection to two cells at once.
pub(crate) fn check_ue(service: &Service, ue: UeId) -> Result<(), RadioError> {
    let rrc = &service.stack.ues[ue.index()];
    let aggregation = &rrc.config().aggregation;
    if !aggregation.cells().is_empty() || aggregation.most > 0 {
        return Err(RadioError::Ue {
            ue: ue.index(),
            what: "`procedure = \"daps\"`",
            value: "with carrier aggregation".into(),
            expected: "no secondary cells, or `procedure = \"plain\"`".into(),
        });
    }
    let is_wrong = |bearer: &&DrbId| {
        let config = service.stack.bearers[bearer.index()].config();
        let keeps_order = matches!(config.pdcp.delivery, Delivery::FromRlc);
        keeps_order || matches!(config.rlc.mode, Mode::Tm)
    };
    if let Some(bearer) = rrc.bearers().iter().find(is_wrong) {
        return Err(RadioError::Bearer {
            bearer: bearer.index(),
            what: "`procedure = \"daps\"`",
            value: "with PDCP that leaves the order to RLC, or RLC in transparent mode".into(),
            expected: "t-Reordering, and acknowledged or unacknowledged mode",
        });
    }
    Ok(())
}
