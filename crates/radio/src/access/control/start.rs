//! Start of mobility management: checks the configuration, and builds the state of each UE.

use super::beam_failure;
use super::carriers;
use super::daps;
use super::link_evaluation::EvaluationSchedule;
use super::ltm;
use super::managed::{CellKind, Managed};
use super::mobility::Mobility;
use super::rach_less;
use super::scg;
use crate::access::plane::event::Event;
use crate::access::plane::service::Service;
use crate::air::beams::BeamView;
use crate::config::{BearerConfig, Env, Fate, MobilityConfig, RadioError};
use crate::rlc::Generation;
use crate::rrc::attach::Attach;
use crate::rrc::contention::Contention;
use crate::rrc::effect::Effects;
use crate::rrc::mobility::UeMobility;
use crate::rrc::policy::{HandoverPolicy, Policy};
use crate::rrc::stage::Stage;
use fadeout_core::{CellId, NullProbe, PacketPool, Probe, Time, UeId};

/// Checks the configuration and builds the state of all UEs, as
/// [`RadioAccess::manage_mobility`](crate::access::RadioAccess::manage_mobility) describes.
pub(crate) fn begin(
    service: &mut Service,
    config: MobilityConfig,
    policy: Policy,
) -> Result<Box<Mobility>, RadioError> {
    let events = policy.events(&config.events, config.measurement_period);
    let has_utra = events.iter().any(|event| event.scope.has_utra());
    // With an event B1 or B2, UEs also measure cells of the other generation.
    let is_inter_rat = events.iter().any(|event| event.kind.is_inter_rat());
    let kind = |cell: &CellId| {
        let config = &service.cells[cell.index()].plan.config;
        CellKind {
            carrier: config.carrier,
            generation: config.generation(),
            is_utra: config.pilot.is_some(),
        }
    };
    let kinds_of_ues = [false, true].into_iter().flat_map(|has_node| {
        [Generation::Lte, Generation::Nr].map(|generation| (generation, has_node))
    });
    let groups = kinds_of_ues.map(|(generation, has_node)| {
        let cells = (0..service.cells.len() as u32).map(CellId);
        let is_meant = |kind: CellKind| match kind.is_utra {
            true => has_utra,
            false => is_inter_rat || has_node || kind.generation == generation,
        };
        let cells: Vec<CellId> = cells.filter(|cell| is_meant(kind(cell))).collect();
        let kinds: Vec<CellKind> = cells.iter().map(kind).collect();
        (cells, kinds)
    });
    let mut groups = groups.collect::<Vec<_>>().into_iter();
    let mut group = || groups.next().unwrap_or_default();
    let groups = [group(), group(), group(), group()];
    carriers::check(&config, &service.cells)?;
    daps::check(&config, &service.cells)?;
    ltm::check(&config, &service.cells)?;
    rach_less::check(&config, &service.cells)?;
    let mut ues = Vec::new();
    let mut loads = vec![0; service.cells.len()];
    for ue in (0..service.stack.ues.len() as u32).map(UeId) {
        let rrc = &service.stack.ues[ue.index()];
        if config.stations.len() != service.cells.len() {
            return Err(RadioError::Ue {
                ue: ue.index(),
                what: "mobility management",
                value: "without a base station for each cell".into(),
                expected: "as many base stations as cells".into(),
            });
        }
        scg::check(service, ue, &config)?;
        let first = rrc.legs().first().copied();
        let Some(leg) = first.filter(|&leg| service.stack.air.has_level(leg)) else {
            ues.push(None);
            continue;
        };
        let cell = service.stack.legs[leg.index()].config.cell;
        let group = usize::from(service.cells[cell.index()].plan.config.is_nr());
        let has_node = scg::is_managed(service, ue, &config);
        let (cells, kinds) = &groups[group + 2 * usize::from(has_node)];
        if config.is_daps() {
            daps::check_ue(service, ue)?;
        }
        service.stack.air.prepare_measurements(ue, cells)?;
        let signalling = BearerConfig::signalling(ue, group == 1);
        let signalling = service.establish(signalling, None)?;
        let generation = service.cells[cell.index()].plan.config.generation();
        let control = match config.ltm().is_some() {
            true => Some(service.establish(BearerConfig::control(ue), None)?),
            false => None,
        };
        service.stack.manage(ue, (signalling, control), generation);
        let own = (ue, cell, leg);
        let mut state = UeMobility::new(own, &config, (&events, cells.len()), service.seed);
        let legs = service.begin_aggregated(leg, &config)?;
        state.legs.extend(legs);
        if let Some(leg) = service.stack.ues[ue.index()].second_leg() {
            let cell = service.stack.legs[leg.index()].config.cell;
            state.legs.push((cell, leg));
        }
        if has_node {
            let own = (ue, &mut loads[..]);
            scg::begin_management(service, (&config, cells.len()), &mut state, own);
        }
        let aggregation = service.stack.ues[ue.index()].config().aggregation;
        let ever = state.legs.iter().map(|&(_, leg)| leg);
        state.gap_carriers = service.begin_gaps(ever, kinds, config.gaps.as_ref());
        if let Some(watch) = &mut state.beams {
            let period = beam_failure::check_interval(service, cell);
            watch.on_entered(Time::ZERO, period);
            BeamView(&mut service.stack.air).disable_beam_failure_model(ue);
        }
        carriers::set_secondary_cells(&mut state, (cells, kinds), &aggregation);
        loads[cell.index()] += 1;
        ues.push(Some(Box::new(state)));
    }
    let first = ues.iter().map(|state: &Option<Box<UeMobility>>| {
        state.as_ref().map_or(Time::NEVER, |it| it.link.next_at())
    });
    let evaluations = EvaluationSchedule::new(first.collect(), config.monitoring.period);
    if ues.iter().any(Option::is_some) {
        let at = evaluations.wake_at();
        service.stack.events.schedule(at, Event::LinkEvaluations);
    }
    let mut mobility = Box::new(Mobility {
        config,
        evaluations,
        groups,
        policy,
        ues,
        held: vec![0; loads.len()],
        loads,
        next_message: 0,
        moves: Vec::new(),
        effects: Effects::new(),
        samples: Vec::new(),
        visited: Vec::new(),
        least_db: Vec::new(),
        contention: Contention::default(),
        past: Vec::new(),
    });
    for ue in (0..service.stack.ues.len() as u32).map(UeId) {
        mobility.arm(ue, &mut service.stack);
    }
    begin_idle(&mut mobility, service);
    Ok(mobility)
}

/// Disconnects the UEs that are idle at the start. The constructor had connected them to cells.
fn begin_idle(mobility: &mut Mobility, service: &mut Service) {
    let env = &mut Env {
        now: Time::ZERO,
        pool: &mut PacketPool::new(),
        out: &mut Vec::new(),
        probe: &mut NullProbe,
    };
    for ue in (0..service.stack.ues.len() as u32).map(UeId) {
        if let Some(at) = service.stack.ues[ue.index()].config().attaches_at {
            mobility.with_managed(service, ue, |managed| managed.begin_idle(at, env));
        }
    }
}

impl Managed<'_> {
    /// Makes the UE idle. Its first attach attempt is at the time `at`.
    fn begin_idle(&mut self, at: Time, env: &mut Env<'_, impl Probe>) {
        let Some(cell) = self.service.stack.serving_cell(self.ue) else {
            return;
        };
        let generation = self.service.cells[cell.index()].plan.config.generation();
        self.stop_downlink(Fate::Dropped, env);
        self.detach(None, env);
        self.state.attach = Some(Box::new(Attach::new(generation)));
        self.state.stage = Stage::Released { at };
    }
}
