//! State of mobility management for all UEs.

use super::link_evaluation::EvaluationSchedule;
use super::managed::{CellKind, Managed};
use crate::access::plane::event::Event;
use crate::access::plane::moves::Move;
use crate::access::plane::service::Service;
use crate::access::plane::stack::Stack;
use crate::config::{AirInterface, LegId, MobilityConfig};
use crate::rrc::contention::Contention;
use crate::rrc::effect::Effects;
use crate::rrc::filter::Level;
use crate::rrc::mobility::UeMobility;
use crate::rrc::policy::Policy;
use fadeout_core::{CellId, Span, UeId};

/// State of mobility management, for all UEs that are under mobility management.
#[derive(Debug)]
pub(crate) struct Mobility {
    pub config: MobilityConfig,
    /// Cells that a UE in LTE measures, and cells that a UE in NR measures, each cell with its
    /// kind. The last two entries are for UEs with a managed secondary node.
    pub groups: [(Vec<CellId>, Vec<CellKind>); 4],
    pub policy: Policy,
    pub ues: Vec<Option<Box<UeMobility>>>,
    pub evaluations: EvaluationSchedule,
    /// Number of UEs in each cell.
    pub loads: Vec<u32>,
    /// Number of UEs for which each cell reserves resources before a handover.
    pub held: Vec<u32>,
    /// Number of the next message.
    pub next_message: u64,
    pub moves: Vec<Move>,
    pub effects: Effects,
    pub samples: Vec<Level>,
    pub visited: Vec<usize>,
    pub least_db: Vec<f64>,
    pub contention: Contention,
    pub past: Vec<(Span, f64)>,
}

impl Mobility {
    /// Returns the managed UEs and their states.
    pub(crate) fn states(&self) -> impl Iterator<Item = (UeId, &UeMobility)> {
        let ues = (0..).map(UeId).zip(&self.ues);
        ues.filter_map(|(ue, state)| Some((ue, state.as_deref()?)))
    }

    /// Returns all legs that a managed UE has ever had. Returns no leg for a UE that is not
    /// managed.
    pub(crate) fn legs_ever(&self, ue: UeId) -> impl Iterator<Item = LegId> + '_ {
        let state = self.ues.get(ue.index()).and_then(Option::as_ref);
        let legs = state.into_iter().flat_map(|state| &state.legs);
        legs.map(|&(_, leg)| leg)
    }

    /// Makes the UE report its data rate to listeners of its link, too. Returns false if the UE is
    /// not under mobility management.
    pub(crate) fn report_rates_of(&mut self, ue: UeId) -> bool {
        let state = self.ues.get_mut(ue.index()).and_then(Option::as_mut);
        state.map(|state| state.rates.begin()).is_some()
    }

    /// Returns true if the UE is under mobility management.
    pub(crate) fn is_managed(&self, ue: UeId) -> bool {
        self.ues.get(ue.index()).is_some_and(Option::is_some)
    }

    /// Queues the forwarded packets as [`Move`]s, and schedules the UE's next wake-up for mobility.
    pub(crate) fn finish_step(&mut self, ue: UeId, stack: &mut Stack) {
        stack.send_forwarded(&mut self.moves);
        self.arm(ue, stack);
    }

    /// Schedules the UE's next wake-up for mobility.
    pub(crate) fn arm(&mut self, ue: UeId, stack: &mut Stack) {
        let Some(Some(state)) = self.ues.get_mut(ue.index()) else {
            return;
        };
        self.evaluations.set_next(ue, state.link.next_at());
        let mut at = state.wake_at();
        for bearer in stack.ues[ue.index()].bearers() {
            at = at.min(stack.bearers[bearer.index()].transfers().guard_at());
        }
        if let Some(generation) = state.wake.arm(at) {
            stack.events.schedule(at, Event::Mobility(ue, generation));
        }
    }

    /// Applies `action` to a managed UE, then schedules the UE's next wake-up.
    pub(crate) fn with_managed(
        &mut self,
        service: &mut Service,
        ue: UeId,
        action: impl FnOnce(&mut Managed<'_>),
    ) {
        let Service { cells, stack, .. } = &mut *service;
        stack.changes.record(ue);
        let cell = stack.serving_cell(ue);
        let air = cell.map(|cell| cells[cell.index()].plan.config.air);
        let group = usize::from(matches!(air, Some(AirInterface::Nr { .. })));
        let Mobility {
            config,
            groups,
            policy,
            ues,
            loads,
            held,
            next_message,
            moves,
            effects,
            samples,
            visited,
            least_db,
            contention,
            past,
            evaluations: _,
        } = self;
        let has_node = service.stack.ues[ue.index()].has_managed_node;
        let (cells, kinds) = &groups[group + 2 * usize::from(has_node)];
        if let Some(Some(state)) = ues.get_mut(ue.index()) {
            action(&mut Managed {
                service,
                ue,
                config,
                cells,
                kinds,
                policy,
                state,
                loads,
                held,
                next_message,
                moves,
                effects,
                samples,
                visited,
                least_db,
                contention,
                past,
            });
        }
        self.finish_step(ue, &mut service.stack);
    }
}
