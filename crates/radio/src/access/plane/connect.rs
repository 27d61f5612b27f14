//! Connection of UEs to cells, and setup of bearers.

use super::service::Service;
use super::stack::{Stack, add_to_secondary_cell};
use crate::air::Air;
use crate::bearer::Drb;
use crate::config::{BearerConfig, LegId, RadioError, check_bearer};
use crate::leg::{Leg, LegConfig, UplinkRequests};
use crate::plan::CellPlan;
use crate::rrc::UeRrc;
use crate::wire::{BearerFormat, Form};
use fadeout_core::{CellId, Direction, DrbId, Time, UeId};

/// Returns the payload bytes of the largest transport block that a leg can get, by direction.
fn block_capacities(plan: &CellPlan, air: &Air, leg: LegId) -> [u32; 2] {
    [Direction::Downlink, Direction::Uplink]
        .map(|direction| plan.largest_room(direction, air.given_sinr_db(leg, direction)))
}

/// Returns the PDU format of a bearer on its first leg.
fn format_of(drb: &Drb) -> &BearerFormat {
    drb.format(drb.config().leg)
}

/// Connects bearers of a UE to a leg, if `which` returns true for the bearer.
/// [`Service::connect_bearers`] instead connects every bearer that has RLC on the leg.
pub(crate) fn connect_some_bearers(
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
    pub(crate) fn connect(&mut self, ue: UeId, id: CellId) -> Result<LegId, RadioError> {
        let number = self.stack.ues[ue.index()].next_leg();
        let leg = self.add_leg(ue, id, (number, number.into()))?;
        self.connect_bearers(ue, leg);
        self.stack.ues[ue.index()].on_connected(leg);
        Ok(leg)
    }

    /// Adds a leg to a UE, without bearers. `number` is the leg's number, `nth` the number of its
    /// random streams.
    pub(crate) fn add_leg(
        &mut self,
        ue: UeId,
        id: CellId,
        (number, nth): (u8, u64),
    ) -> Result<LegId, RadioError> {
        let stack = &mut self.stack;
        let leg = LegId(stack.legs.len() as u32);
        stack.air.connect(leg, ue, id)?;
        let cell = &mut self.cells[id.index()];
        let of_ue = stack.ues[ue.index()].config();
        let drawn_as = of_ue.draws_of(ue);
        let config = LegConfig {
            id: leg,
            ue,
            number,
            cell: id,
            rnti: cell.connect(leg, ue),
            modulation: of_ue.modulation,
        };
        let state = Leg::new(config, (drawn_as, nth), &cell.plan, self.seed);
        stack.legs.push(state);
        let requests = UplinkRequests::new(drawn_as, nth, &cell.plan, self.seed);
        stack.requests.push(requests);
        Ok(leg)
    }

    /// Connects the bearers of a UE that have RLC on `leg` to that leg.
    pub(crate) fn connect_bearers(&mut self, ue: UeId, leg: LegId) {
        connect_some_bearers(self, (ue, leg), |_| true);
    }

    /// Sets up a bearer, as [`RadioAccess::establish`](crate::access::RadioAccess::establish) does.
    /// The new bearer uses the random numbers of bearer `drawn_as`, or random numbers of its own if
    /// `drawn_as` is `None`.
    pub(crate) fn establish(
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
