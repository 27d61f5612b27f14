//! Construction of a radio access, addition of bearers, and queries about its state.

use super::secondary::SecondaryFailures;
use super::service::Service;
use super::stack::{Stack, add_to_secondary_cell};
use super::states::States;
use super::{Counters, DirectionCounters, Event, RadioAccess};
use crate::air::Air;
use crate::bearer::{Drb, Storage};
use crate::cell::CellMac;
use crate::config::{
    BearerConfig, LegId, RadioConfig, RadioError, RecordedPath, check, check_bearer,
    check_recorded, co_sited,
};
use crate::leg::{Contents, Leg, LegConfig, UplinkRequests};
use crate::plan::CellPlan;
use crate::rrc::{Start, UeRrc};
use crate::wire::{BearerFormat, Encoder, Form};
use fadeout_core::{Agenda, CellId, Direction, DrbId, Rate, Time, UeId};

/// First random stream number of legs in secondary cells.
const SECONDARY_STREAMS: u64 = 1 << 16;

/// Returns the payload bytes of the largest transport block that a leg can get, by direction.
fn block_capacities(plan: &CellPlan, air: &Air, leg: LegId) -> [u32; 2] {
    [Direction::Downlink, Direction::Uplink]
        .map(|direction| plan.largest_room(direction, air.given_sinr_db(leg, direction)))
}

/// Returns the PDU format of a bearer on its first leg.
fn format_of(drb: &Drb) -> &BearerFormat {
    drb.format(drb.config().leg)
}

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

    /// Returns true if a recording describes the path between a UE and a cell.
    pub fn is_recorded(&self, ue: UeId, cell: CellId) -> bool {
        self.service.stack.air.is_recorded(ue, cell)
    }

    /// Sets up another bearer. Bearer ids continue after those of [`RadioConfig::bearers`].
    ///
    /// # Errors
    /// Returns an error if the bearer's UE or leg does not exist, or if a parameter has a value
    /// that is not allowed.
    pub fn establish(&mut self, config: BearerConfig) -> Result<DrbId, RadioError> {
        self.service.establish(config, None)
    }

    /// Returns the cell of the UE's first leg. `None` before the UE has selected a cell.
    pub fn serving_cell(&self, ue: UeId) -> Option<CellId> {
        self.service.stack.serving_cell(ue)
    }

    /// Returns the cells at the site of `cell` on other carriers, which may be secondary cells of
    /// `cell`. The likeliest secondary cell comes first.
    pub fn co_sited(&self, cell: CellId) -> Vec<CellId> {
        let cells = self.service.cells.iter().map(|cell| &cell.plan.config);
        co_sited(cells, &self.service.cells[cell.index()].plan.config)
    }

    /// Returns the downlink rate of a UE that is alone in the cell. The rate is that of the MCS
    /// that a UE reports at this SNR.
    pub fn downlink_rate(&self, cell: CellId, snr_db: f64) -> Rate {
        let plan = &self.service.cells[cell.index()].plan;
        Rate::from_bits_per_sec(plan.downlink_rate(snr_db) as u64)
    }

    /// Returns the serving cells of a UE in the order of its legs. The secondary cells of each leg
    /// follow the leg's primary cell.
    pub fn serving_cells(&self, ue: UeId) -> impl Iterator<Item = CellId> + '_ {
        self.service.stack.serving_cells(ue)
    }

    /// Returns the PDU format of each bearer on each of its legs, in the order of the legs.
    pub fn formats(&self) -> impl Iterator<Item = &BearerFormat> {
        let numbers = |config: &BearerConfig| {
            let split = config.split.into_iter();
            let others =
                split.flat_map(|split| split.leg.into_iter().chain(split.carriers.numbers()));
            std::iter::once(config.leg).chain(others)
        };
        let bearers = self.service.stack.bearers.iter();
        bearers.flat_map(move |drb| numbers(drb.config()).map(|leg| drb.format(leg)))
    }

    /// Returns the counters of the whole radio access.
    pub fn counters(&self) -> Counters {
        let Stack { ues, requests, .. } = &self.service.stack;
        Counters {
            events: events_handled(self),
            slots: self.service.cells.iter().map(CellMac::slots).sum(),
            requests: requests.iter().map(UplinkRequests::sent).sum(),
            link_failures: ues.iter().map(UeRrc::failures).sum(),
        }
    }

    /// Returns the counters of one direction of a UE, summed over all its legs.
    pub fn counters_of(&self, ue: UeId, direction: Direction) -> DirectionCounters {
        let Stack {
            ues, legs, bearers, ..
        } = &self.service.stack;
        let mut counters = DirectionCounters::default();
        let now = ues[ue.index()].legs().iter();
        let now = now.flat_map(|&leg| self.service.stack.carriers_of(leg));
        let mobility = self.mobility.as_ref();
        let ever = mobility.into_iter().flat_map(|it| it.legs_ever(ue));
        let is_managed = self.is_managed(ue);
        for leg in now.filter(|_| !is_managed).chain(ever) {
            counters.add_leg(legs[leg.index()].half(direction).counters());
        }
        let ue = &ues[ue.index()];
        for bearer in ue.bearers() {
            counters.add_bearer(bearers[bearer.index()].counters(direction));
        }
        counters
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

/// Connects bearers of a UE to a leg, if `which` returns true for the bearer.
/// [`Service::connect_bearers`] instead connects every bearer that has RLC on the leg.
pub(super) fn connect_some_bearers(
    service: &mut Service,
    (ue, leg): (UeId, LegId),
    which: impl Fn(&Drb) -> bool,
) {
    let Stack {
        ues,
        legs,
        requests,
        bearers,
        air,
        ..
    } = &mut service.stack;
    let state = &mut legs[leg.index()];
    let requests = &mut requests[leg.index()];
    let cell = &mut service.cells[state.config.cell.index()];
    if !requests.has_occasions() && cell.reserve_occasion(requests.occasion()) {
        requests.keep_occasions();
    }
    let capacities = block_capacities(&cell.plan, air, leg);
    for bearer in ues[ue.index()].all_bearers() {
        let drb = &mut bearers[bearer.index()];
        if which(drb) && drb.on_connected(state.config.number, leg, capacities) {
            state.channels.add(bearer, drb.config());
        }
    }
}

impl Service {
    /// Connects a UE to a cell on a new leg.
    pub(super) fn connect(&mut self, ue: UeId, id: CellId) -> Result<LegId, RadioError> {
        let number = self.stack.ues[ue.index()].next_leg();
        let leg = self.add_leg(ue, id, (number, number.into()))?;
        self.connect_bearers(ue, leg);
        self.stack.ues[ue.index()].on_connected(leg);
        Ok(leg)
    }

    /// Adds a leg to a UE, without bearers. `number` is the leg's number, `nth` the number of its
    /// random streams.
    pub(super) fn add_leg(
        &mut self,
        ue: UeId,
        id: CellId,
        (number, nth): (u8, u64),
    ) -> Result<LegId, RadioError> {
        let stack = &mut self.stack;
        let leg = LegId(stack.legs.len() as u32);
        stack.air.connect(leg, ue, id)?;
        let cell = &mut self.cells[id.index()];
        let config = LegConfig {
            id: leg,
            ue,
            number,
            cell: id,
            rnti: cell.connect(leg, ue),
        };
        let drawn_as = stack.ues[ue.index()].config().draws_of(ue);
        let state = Leg::new(config, (drawn_as, nth), &cell.plan, self.seed);
        stack.legs.push(state);
        let requests = UplinkRequests::new(drawn_as, nth, &cell.plan, self.seed);
        stack.requests.push(requests);
        Ok(leg)
    }

    /// Connects the bearers of a UE that have RLC on `leg` to that leg.
    pub(super) fn connect_bearers(&mut self, ue: UeId, leg: LegId) {
        connect_some_bearers(self, (ue, leg), |_| true);
    }

    /// Sets up a bearer, as [`RadioAccess::establish`] does. The new bearer uses the random numbers
    /// of bearer `drawn_as`, or random numbers of its own if `drawn_as` is `None`.
    pub(super) fn establish(
        &mut self,
        config: BearerConfig,
        drawn_as: Option<DrbId>,
    ) -> Result<DrbId, RadioError> {
        let stack = &mut self.stack;
        let index = stack.bearers.len();
        let id = DrbId(index as u32);
        let ue = stack.ues.get(config.ue.index()).map(UeRrc::config);
        check_bearer(index, &config, (ue, stack.ues.len()))?;
        let rrc = &mut stack.ues[config.ue.index()];
        let form = Form::from_config(&config.rlc);
        let has_form = |id: &&DrbId| format_of(&stack.bearers[id.index()]).rlc == form;
        let nth = rrc.bearers().iter().filter(has_form).count();
        let nth = nth.min(u8::MAX.into()) as u8;
        let drb = Drb::new((id, drawn_as.unwrap_or(id), nth), config, self.seed);
        let mut drb = drb.map_err(|error| RadioError::Parameter {
            bearer: index,
            error,
        })?;
        rrc.on_bearer(id);
        for (number, &leg) in (0..).zip(rrc.legs()) {
            let cell = stack.legs[leg.index()].config.cell;
            let plan = &self.cells[cell.index()].plan;
            if drb.on_connected(number, leg, block_capacities(plan, &stack.air, leg)) {
                stack.legs[leg.index()].channels.add(id, &config);
                for position in 0..stack.legs[leg.index()].carriers.scells().len() {
                    let carrier = stack.legs[leg.index()].carriers.scells()[position];
                    let cell = stack.legs[carrier.index()].config.cell;
                    let plan = &self.cells[cell.index()].plan;
                    let capacities = block_capacities(plan, &stack.air, carrier);
                    add_to_secondary_cell(&mut stack.legs, (id, &mut drb), carrier, capacities);
                }
            }
        }
        let is_split = config.split.is_some();
        stack.bearers.push(drb);
        if is_split {
            stack.arm_interface(Time::ZERO, id);
        }
        Ok(id)
    }
}
