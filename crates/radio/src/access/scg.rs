//! The leg to the secondary node of a UE under mobility management: it goes when the UE leaves its master's cell.
//!
//! Standard: TS 37.340 §10.7; TS 38.331 §5.3.5.4, §5.3.7.2.

use super::managed::{Managed, note_cell};
use super::service::Service;
use crate::config::{Env, MobilityConfig, RadioError};
use fadeout_core::{Probe, RrcEvent, UeId};

/// Checks that a UE with two legs may change cell.
pub(super) fn check(
    service: &Service,
    ue: UeId,
    config: &MobilityConfig,
) -> Result<(), RadioError> {
    let rrc = &service.stack.ues[ue.index()];
    let over_carriers = rrc.bearers().iter().any(|bearer| {
        let split = service.stack.bearers[bearer.index()].config().split;
        split.is_some_and(|split| !split.carriers.cells().is_empty())
    });
    if over_carriers {
        return Err(RadioError::Ue {
            ue: ue.index(),
            what: "mobility management",
            value: "of a UE with PDCP duplication over carriers".into(),
            expected: "`split` without `carriers`: another cell may have others".into(),
        });
    }
    if rrc.config().pscell.is_none() {
        return Ok(());
    }
    let refuse = |value: &str, expected: &str| {
        Err(RadioError::Ue {
            ue: ue.index(),
            what: "mobility management",
            value: format!("of a UE with a `pscell`, {value}"),
            expected: expected.into(),
        })
    };
    if config.daps || config.conditional.is_some() {
        return refuse("by another procedure", "`procedure = \"plain\"`");
    }
    if config.gaps.is_some() {
        return refuse("with measurement gaps", "none, or a UE with one cell");
    }
    let is_other = |event: &crate::config::MeasurementEvent| event.kind.is_inter_rat();
    if config.events.iter().any(is_other) {
        return refuse(
            "with events b1 or b2",
            "events about cells of the master's generation",
        );
    }
    for bearer in rrc.bearers() {
        let bearer = service.stack.bearers[bearer.index()].config();
        let Some(split) = bearer.split else { continue };
        if split.duplicates != [false; 2] {
            return refuse("with PDCP duplication", "`split` without `duplication`");
        }
        if !bearer.is_acknowledged() {
            return refuse(
                "with a split bearer in unacknowledged mode",
                "acknowledged mode",
            );
        }
    }
    Ok(())
}

/// The secondary node of a UE, and all that it bears on.
pub(super) struct Scg<'m, 'a>(pub &'m mut Managed<'a>);

impl Scg<'_, '_> {
    /// The UE leaves its master's cell, and the secondary one with it.
    pub(super) fn release(&mut self, env: &mut Env<'_, impl Probe>) {
        let service = &mut *self.0.service;
        let Some(leg) = service.stack.ues[self.0.ue.index()].release_second() else {
            return;
        };
        let cell = service.stack.legs[leg.index()].config.cell;
        note_cell((self.0.ue, cell), RrcEvent::SecondaryReleased, env);
        service.secondary.forget(leg);
        service.leave_leg(leg);
    }
}
