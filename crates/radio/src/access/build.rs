//! Construction of a radio access and addition of bearers.

use super::RadioAccess;
use super::plane::changes::Changes;
use super::plane::event::Event;
use super::plane::failures::SecondaryFailures;
use super::plane::service::Service;
use super::plane::stack::Stack;
use super::plane::states::States;
use crate::air::Air;
use crate::bearer::Storage;
use crate::cell::CellMac;
use crate::config::{BearerConfig, RadioConfig, RadioError, RecordedPath, check, check_recorded};
use crate::leg::Contents;
use crate::plan::CellPlan;
use crate::rrc::{Start, UeRrc};
use crate::wire::Encoder;
use fadeout_core::{Agenda, CellId, DrbId, Time, UeId};

/// First random stream number of legs in secondary cells.
const SECONDARY_STREAMS: u64 = 1 << 16;

impl RadioAccess {
    /// Builds the radio access that `config` describes.
    ///
    ///  # Errors
    /// Returns an error that names the invalid parameter, where it is configured, and the expected
    /// value.
    pub fn new(config: RadioConfig, seed: u64) -> Result<RadioAccess, RadioError> {
        RadioAccess::with_recordings(config, &[], seed)
    }

    /// Builds the radio access that `config` describes. `recorded` lists the paths whose channels
    /// come from recordings.
    ///
    ///  # Errors
    /// Returns an error that names the invalid parameter, where it is configured, and the expected
    /// value.
    pub fn with_recordings(
        config: RadioConfig,
        recorded: &[RecordedPath],
        seed: u64,
    ) -> Result<RadioAccess, RadioError> {
        check(&config)?;
        check_recorded(recorded, &config.ues, config.cells.len())?;
        let ues = config.ues.len();
        let cells = (0..).map(CellId).zip(&config.cells);
        let cells = cells
            .map(|(id, cell)| Ok(CellMac::new(CellPlan::new(id, cell.clone())?, ues)))
            .collect::<Result<Vec<_>, RadioError>>()?;
        let air = Air::new(&config.cells, &config.ues, recorded, seed)?;
        let largest_block = cells.iter().map(|cell| cell.plan.largest_block()).max();
        let mut service = Service {
            stack: Stack {
                ues: config.ues.into_iter().map(UeRrc::new).collect(),
                legs: Vec::with_capacity(ues),
                requests: Vec::with_capacity(ues),
                bearers: Vec::with_capacity(config.bearers.len()),
                air,
                contents: Contents::new(largest_block.unwrap_or(0)),
                storage: Storage::new(),
                events: Agenda::new(),
                encoder: Encoder::default(),
                changes: Changes::new(ues),
                lost: Default::default(),
            },
            cells,
            states: States::default(),
            secondary: SecondaryFailures::default(),
            seed,
        };
        for ue in (0..ues as u32).map(UeId) {
            match service.stack.ues[ue.index()].start() {
                Start::Connect(first, second) => {
                    let primary = service.connect(ue, first)?;
                    let aggregation = &service.stack.ues[ue.index()].config().aggregation;
                    let number = service.stack.legs[primary.index()].config.number;
                    // A leg in a secondary cell has the number of its primary leg. Its random
                    // streams have numbers from `SECONDARY_STREAMS` on, so that the numbers of
                    // other legs' streams do not change.
                    for (nth, cell) in (SECONDARY_STREAMS..).zip(aggregation.cells().to_vec()) {
                        let leg = service.add_leg(ue, cell, (number, nth))?;
                        service.stack.aggregate(primary, leg);
                    }
                    if let Some(second) = second {
                        service.connect(ue, second)?;
                    }
                }
                Start::Measure => service
                    .stack
                    .events
                    .schedule(Time::ZERO, Event::CellSelection(ue)),
            }
        }
        for bearer in config.bearers {
            service.establish(bearer, None)?;
        }
        service.states = States::new(&mut service.stack, seed);
        Ok(RadioAccess {
            service,
            mobility: None,
        })
    }

    /// Sets up another bearer. Bearer ids continue after those of [`RadioConfig::bearers`].
    ///
    /// # Errors
    /// Returns an error if the bearer's UE or leg does not exist, or if a parameter has a value
    /// that is not allowed.
    pub fn establish(&mut self, config: BearerConfig) -> Result<DrbId, RadioError> {
        self.service.establish(config, None)
    }
}

/// Sets up another bearer, as [`RadioAccess::establish`] does, with the random numbers of bearer
/// `drawn_as`. Used if this radio access is one part of a larger network, in which the bearer has
/// the id `drawn_as`.
///
///  # Errors
/// Returns the same errors as [`RadioAccess::establish`].
pub fn establish_as(
    access: &mut RadioAccess,
    drawn_as: DrbId,
    config: BearerConfig,
) -> Result<DrbId, RadioError> {
    access.service.establish(config, Some(drawn_as))
}

/// Returns the number of events that a radio access has handled.
pub fn events_handled(access: &RadioAccess) -> u64 {
    access.service.stack.events.processed()
}
