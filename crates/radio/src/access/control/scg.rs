//! The secondary node of a UE under mobility management: checks, measurements, random access, and
//! the UE's secondary leg. The decisions are in `rrc/secondary_node/`.
//!
//! A secondary node without management is released when the UE leaves its master's cell.
//!
//! Standard: TS 37.340 §10.2, §10.4, §10.5, §10.7; TS 38.331 §5.3.5.4, §5.3.7.2.

use super::managed::{CellKind, Managed, record_cell_event};
use super::random_access::run_random_access;
use crate::access::plane::service::Service;
use crate::bearer::{
    close_secondary, hold_secondary, leave_secondary, manage_secondary, open_secondary,
};
use crate::config::{Env, MeasurementEvent, MobilityConfig, RadioError};
use crate::rlc::Generation;
use crate::rrc::effect::{LegStep, NodeRowTime};
use crate::rrc::mobility::UeMobility;
use crate::rrc::random_access::{Progress, RandomAccess};
use crate::rrc::secondary_node::{ScgState, SecondaryNetwork, SecondaryNode};
use crate::rrc::survey::Survey;
use fadeout_core::{
    CellId, Direction, DrbId, HandoverOutcome, Motion, Probe, RrcEvent, Span, Time, UeId,
};

/// Number of the secondary leg.
const SECONDARY_LEG: u8 = 1;

/// Checks that the configuration allows cell changes of a UE that has two legs.
pub(crate) fn check(
    service: &Service,
    ue: UeId,
    config: &MobilityConfig,
) -> Result<(), RadioError> {
    let rrc = &service.stack.ues[ue.index()];
    let is_managed = is_managed(service, ue, config);
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
    if rrc.config().pscell.is_none() && !is_managed {
        return Ok(());
    }
    let whose = match rrc.config().pscell {
        Some(_) => "a `pscell`",
        None => "a `split` bearer",
    };
    let refuse = |value: &str, expected: &str| {
        Err(RadioError::Ue {
            ue: ue.index(),
            what: "mobility management",
            value: format!("of a UE with {whose}, {value}"),
            expected: expected.into(),
        })
    };
    if config.is_daps() || config.conditional().is_some() || config.ltm().is_some() {
        return refuse("by another procedure", "`procedure = \"plain\"`");
    }
    if is_managed && config.rach_less.is_some() {
        return refuse(
            "without random access, and a `secondary-node` that comes and goes",
            "one of `rach-less` and `secondary-node`",
        );
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
    let aggregation = &rrc.config().aggregation;
    if is_managed && (aggregation.most > 0 || !aggregation.cells().is_empty()) {
        return refuse(
            "with carrier aggregation and a `secondary-node` that comes and goes",
            "one of the two",
        );
    }
    for bearer in rrc.bearers() {
        let bearer = service.stack.bearers[bearer.index()].config();
        if bearer.split.is_some() && !bearer.is_acknowledged() {
            return refuse(
                "with a split bearer in unacknowledged mode",
                "acknowledged mode",
            );
        }
    }
    Ok(())
}

/// Returns true if the network manages the secondary node of a UE, which must have a split bearer.
pub(crate) fn is_managed(service: &Service, ue: UeId, config: &MobilityConfig) -> bool {
    let stack = &service.stack;
    let is_split = |bearer: &DrbId| stack.bearers[bearer.index()].config().split.is_some();
    config.secondary_node.is_some() && stack.ues[ue.index()].bearers().iter().any(is_split)
}

/// Puts the secondary node of a UE under management by the network. The UE may have a secondary
/// node already.
pub(crate) fn begin_management(
    service: &mut Service,
    (config, cells): (&MobilityConfig, usize),
    state: &mut UeMobility,
    (ue, loads): (UeId, &mut [u32]),
) {
    let Some(node) = &config.secondary_node else {
        return;
    };
    let stack = &mut service.stack;
    let rrc = &mut stack.ues[ue.index()];
    rrc.has_managed_node = true;
    let mut generation = Generation::Nr;
    for bearer in rrc.bearers() {
        let drb = &mut stack.bearers[bearer.index()];
        if let Some(split) = &drb.config().split {
            generation = split.rlc.generation;
        }
        manage_secondary(drb);
    }
    let leg = rrc.second_leg();
    let cell = leg.map(|leg| stack.legs[leg.index()].config.cell);
    let mut network = SecondaryNetwork::default();
    network.set_cell(cell);
    if let Some(cell) = cell {
        loads[cell.index()] += 1;
    }
    let period = config.measurement_period;
    let survey = |events: &[MeasurementEvent]| Survey::new((events, cells), Time::NEVER, period);
    // Every cell is measured each time, so past positions of the UE are not needed.
    state.places = None;
    state.secondary_node = Some(Box::new(SecondaryNode {
        addition_survey: survey(&node.addition_events),
        pscell_survey: survey(&node.pscell_events),
        config: node.clone(),
        generation,
        network,
        leg_state: match cell {
            Some(_) => ScgState::Serving,
            None => ScgState::Alone,
        },
        answer: None,
        last_order: 0,
        record: None,
        without_leg_since: None,
    }));
}

impl Managed<'_> {
    /// Feeds measured levels to the secondary node's events, as [`Survey::on_samples`] does.
    pub(crate) fn measure_for_node(
        &mut self,
        (now, over): (Time, Span),
        serving: usize,
        env: &mut Env<'_, impl Probe>,
    ) {
        let Managed {
            ue,
            cells,
            kinds,
            samples,
            visited,
            state,
            ..
        } = &mut *self;
        // A UE with a managed secondary node measures all its cells each time, without bounds.
        let all = (&visited[..], std::iter::empty());
        let Some(node) = state.secondary_node.as_deref_mut() else {
            return;
        };
        let generation = node.generation;
        let master = cells[serving];
        let offset = |_: &MeasurementEvent, position: usize| {
            is_usable((cells, kinds), generation, (position, master)).then_some(0.0)
        };
        let pscell = node.network.cell();
        let place = pscell.and_then(|cell| cells.binary_search(&cell).ok());
        let (meant, other, place) = match (node.leg_state, place) {
            (ScgState::Serving, Some(place)) => (
                Some(&mut node.pscell_survey),
                &mut node.addition_survey,
                place,
            ),
            (ScgState::Alone, _) => (
                Some(&mut node.addition_survey),
                &mut node.pscell_survey,
                serving,
            ),
            _ => (None, &mut node.pscell_survey, serving),
        };
        let feed = |survey: &mut Survey| {
            for (position, &sample) in samples.iter().enumerate() {
                if !sample.is_none() {
                    survey.on_sample(position, sample, over);
                }
            }
        };
        feed(other);
        match meant {
            Some(survey) => survey.on_samples(all, (now, over), (place, samples), offset, {
                |position, holds| {
                    let event = match holds {
                        true => RrcEvent::ConditionEntered,
                        false => RrcEvent::ConditionLeft,
                    };
                    record_cell_event((*ue, cells[position]), event, env);
                }
            }),
            None => feed(&mut node.addition_survey),
        }
    }

    /// Runs the due steps of the secondary node's procedures.
    pub(crate) fn proceed_node<M: Motion>(
        &mut self,
        motion: &mut M,
        env: &mut Env<'_, impl Probe>,
    ) {
        if self.state.secondary_node.is_none() {
            return;
        }
        self.with_node(env, |node, step| node.network.on_due(step));
        if self.with_node(env, SecondaryNode::on_access_due) == Some(true) {
            self.advance_node_access(motion, env);
        }
        let cells = self.cells;
        self.with_node(env, |node, step| node.send_messages(cells, step));
    }

    /// Runs the next step of random access to the cell of the secondary node.
    fn advance_node_access<M: Motion>(&mut self, motion: &mut M, env: &mut Env<'_, impl Probe>) {
        let node = self.state.secondary_node.as_ref();
        let Some(ScgState::Entering {
            cell, mut access, ..
        }) = node.map(|node| node.leg_state)
        else {
            return;
        };
        let Some(leg) = self.leg_of(cell) else {
            return;
        };
        let (progress, sent) = run_random_access(self, (leg, &mut access), true, motion, env);
        // Only T304 ends the entry. Until then MAC starts random access again.
        if progress == Progress::Problem {
            access = RandomAccess::new(self.access_in(cell), env.now, true);
        }
        self.with_node(env, |node, step| {
            node.update_row(|row| row.preambles += sent);
            node.on_access_step(access, progress, step);
        });
    }

    /// Handles the failure of the secondary leg at the network. `found_at` is the time at which the
    /// failure was detected.
    pub(crate) fn on_node_failed(&mut self, found_at: Time, env: &mut Env<'_, impl Probe>) {
        let serving = self.service.stack.serving_cell(self.ue);
        let (cells, kinds) = (self.cells, self.kinds);
        let master = serving.unwrap_or_default();
        self.with_node(env, |node, step| {
            let may_be = usable_with(cells, kinds, node.generation, master);
            let strongest = node.strongest_cell(cells, may_be);
            node.on_leg_failed(found_at, strongest, step);
        });
    }

    /// Requests a secondary cell for the UE's handover to `target`. Returns false if the target's
    /// base station plans no secondary node.
    pub(crate) fn request_node_for_handover(
        &mut self,
        target: CellId,
        env: &mut Env<'_, impl Probe>,
    ) -> bool {
        let (cells, kinds) = (self.cells, self.kinds);
        let requested = self.with_node(env, |node, step| {
            let may_be = usable_with(cells, kinds, node.generation, target);
            let strongest = node.strongest_cell(cells, &may_be);
            node.request_for_handover(target, strongest, may_be, step)
        });
        requested == Some(true)
    }

    /// Writes the result row of the secondary node's change, if a change is under way.
    pub(crate) fn end_node_row(&mut self, outcome: HandoverOutcome, env: &mut Env<'_, impl Probe>) {
        let node = self.state.secondary_node.as_mut();
        if let Some(mut row) = node.and_then(|node| node.record.take()) {
            (row.time_s, row.outcome) = (env.now, outcome);
            env.probe.secondary_change(row);
        }
    }

    /// Carries out a step of the secondary leg.
    pub(crate) fn step_secondary_leg(&mut self, step: LegStep, env: &mut Env<'_, impl Probe>) {
        match step {
            LegStep::Hold => self.each_bearer(|bearer, Service { stack, .. }| {
                hold_secondary(&mut stack.bearers[bearer.index()]);
            }),
            LegStep::Enter { cell, ready_at } => self.begin_node_access(cell, ready_at, env.now),
            LegStep::Leave { enters } => self.leave_node_cell(enters, env),
            LegStep::Release => self.drop_secondary_leg(env),
            LegStep::Open { cell, is_confirmed } => self.open_leg(cell, is_confirmed, env.now),
            LegStep::Close => {
                let mut again = 0;
                self.each_bearer(|bearer, Service { stack, .. }| {
                    let drb = &mut stack.bearers[bearer.index()];
                    again += close_secondary(drb, env, &mut stack.storage);
                });
                if let Some(node) = &mut self.state.secondary_node {
                    node.update_row(|row| row.downlink_again += again);
                }
            }
            LegStep::SendData => self.send_waiting_data(env),
        }
    }

    /// Starts transmission of waiting data, at both ends, on the legs that exist.
    fn send_waiting_data(&mut self, env: &mut Env<'_, impl Probe>) {
        self.each_bearer(|bearer, Service { stack, .. }| {
            for direction in [Direction::Downlink, Direction::Uplink] {
                stack.arm(env.now, bearer, direction);
            }
        });
        if let Some(leg) = self.leg() {
            self.service.serve_split(leg, env);
        }
    }

    /// Starts random access to a cell of a secondary node.
    fn begin_node_access(&mut self, cell: CellId, ready_at: Time, now: Time) {
        let access = RandomAccess::new(self.access_in(cell), ready_at, true);
        let leg = self.leg_in(cell);
        if let Some(leg) = leg {
            self.service.stack.legs[leg.index()].config.number = SECONDARY_LEG;
        }
        if let Some(node) = &mut self.state.secondary_node {
            match leg {
                Some(_) => node.on_access_begun(cell, access, now),
                None => node.leg_state = ScgState::Lost,
            }
        }
    }

    /// Makes the UE leave the cell of its secondary node. The master's leg continues.
    fn leave_node_cell(&mut self, enters: bool, env: &mut Env<'_, impl Probe>) {
        if self.service.stack.ues[self.ue.index()]
            .second_leg()
            .is_none()
        {
            return;
        }
        let mut again = 0;
        self.each_bearer(|bearer, Service { stack, .. }| {
            let drb = &mut stack.bearers[bearer.index()];
            again += leave_secondary(drb, env, &mut stack.storage);
        });
        self.drop_secondary_leg(env);
        if let Some(node) = &mut self.state.secondary_node {
            if enters {
                node.without_leg_since.get_or_insert(env.now);
            }
            node.stamp_row(NodeRowTime::Left, env.now);
            node.update_row(|row| row.uplink_again = again);
        }
        self.send_waiting_data(env);
    }

    /// Releases the UE's secondary leg, if there is one.
    pub(crate) fn drop_secondary_leg(&mut self, env: &mut Env<'_, impl Probe>) {
        let service = &mut *self.service;
        let Some(leg) = service.stack.ues[self.ue.index()].second_leg() else {
            return;
        };
        let cell = service.stack.legs[leg.index()].config.cell;
        record_cell_event((self.ue, cell), RrcEvent::SecondaryReleased, env);
        service.stack.ues[self.ue.index()].release_second();
        service.secondary.forget(leg);
        service.leave_leg(leg);
        if self.state.secondary_node.is_some() {
            let load = &mut self.loads[cell.index()];
            *load = load.saturating_sub(1);
        }
    }

    /// Makes the bearers use the secondary leg, after the UE has entered its cell.
    fn open_leg(&mut self, cell: CellId, is_confirmed: bool, now: Time) {
        let Some(leg) = self.leg_of(cell) else {
            return;
        };
        self.each_bearer(|bearer, Service { stack, .. }| {
            open_secondary(&mut stack.bearers[bearer.index()], now, is_confirmed);
        });
        self.service.stack.ues[self.ue.index()].on_connected(leg);
        self.service.connect_bearers(self.ue, leg);
        self.loads[cell.index()] += 1;
    }
}

/// Returns a function that returns true for each cell that may become the cell of a secondary node
/// of `generation`, with `master` as PCell. `cells` are the measured cells.
fn usable_with<'a>(
    cells: &'a [CellId],
    kinds: &'a [CellKind],
    generation: Generation,
    master: CellId,
) -> impl Fn(CellId) -> bool + 'a {
    move |cell| {
        let position = cells.binary_search(&cell);
        position.is_ok_and(|position| is_usable((cells, kinds), generation, (position, master)))
    }
}

/// Returns true if a cell may become the cell of a secondary node of `generation`, with `master` as
/// PCell. `position` is the cell's index among the measured cells.
fn is_usable(
    (cells, kinds): (&[CellId], &[CellKind]),
    generation: Generation,
    (position, master): (usize, CellId),
) -> bool {
    let kind = &kinds[position];
    let of_master = cells
        .binary_search(&master)
        .map(|place| kinds[place].carrier);
    !kind.is_utra && kind.generation == generation && of_master != Ok(kind.carrier)
}
