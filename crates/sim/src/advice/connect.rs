//! Flows whose connection was never open, or was given up.

use super::by_kind;
use crate::radio::Accesses;
use crate::world::{Endpoints, Flow, World};
use fadeout_core::{FlowEnd, NodeId, Probe, Time};
use fadeout_radio::access;
use fadeout_scenario::Scenario;
use fadeout_transport::tcp::Calls;
use std::collections::BTreeSet;

/// What became of a connection that carried nothing, or not all.
#[derive(Debug, Clone, Copy)]
enum Loss {
    /// Nothing answered the end that opens it.
    Unanswered {
        calls: Calls,
        /// It calls no more.
        is_given_up: bool,
        /// The peer heard it: its own answers are lost.
        is_heard: bool,
        is_multipath: bool,
    },
    /// It was open, or a kernel's, which does not tell its SYNs.
    GivenUp {
        at: Time,
        was_open: bool,
        delivered: u64,
    },
}

/// A sentence for flows whose SYNs nothing answered, and for flows whose connection was given up. Those of UEs that never
/// attached are named there.
pub(super) fn missing<P: Probe>(scenario: &Scenario, world: &World<P>) -> Vec<String> {
    let radio = world.machines().radio.and_then(Accesses::whole).into_iter();
    let unattached = radio.flat_map(access::unattached);
    let unattached: BTreeSet<NodeId> = unattached
        .map(|(ue, _)| scenario.ues[ue.index()].node)
        .collect();
    let is_told = |node: NodeId| unattached.contains(&node);
    let flows = scenario.flows.iter().zip(world.machines().flows);
    let lost = flows.filter_map(|(described, flow)| {
        if is_told(described.from) || is_told(described.to) {
            return None;
        }
        let is_multipath = described.multipath.is_some();
        let loss = loss(flow, world.machines().endpoints, is_multipath)?;
        Some((described.name.as_str(), loss))
    });
    by_kind("flow", lost, kind, sentence)
}

fn loss(flow: &Flow, endpoints: &Endpoints, is_multipath: bool) -> Option<Loss> {
    let (opener, other) = match flow.application.opener() {
        FlowEnd::Sender => (flow.sender, flow.receiver),
        FlowEnd::Receiver => (flow.receiver, flow.sender),
    };
    if flow.established_at.is_none()
        && let Some(account) = endpoints.account(opener)
    {
        let calls = account.calls?;
        let is_given_up = account.is_closed;
        // One may just be under way at the end of the run.
        return (is_given_up || calls.count > 1).then(|| Loss::Unanswered {
            calls,
            is_given_up,
            is_heard: (endpoints.account(other)).is_some_and(|it| it.calls.is_some()),
            is_multipath,
        });
    }
    flow.aborted_at.map(|at| Loss::GivenUp {
        at,
        was_open: flow.established_at.is_some(),
        delivered: flow.delivered,
    })
}

/// What is told apart: all but numbers.
fn kind(loss: &Loss) -> impl PartialEq + use<> {
    match *loss {
        Loss::Unanswered {
            is_given_up,
            is_heard,
            is_multipath,
            ..
        } => (true, is_given_up, is_heard, is_multipath),
        Loss::GivenUp { was_open, .. } => (false, was_open, false, false),
    }
}

fn sentence(loss: &Loss, first: &str) -> String {
    match *loss {
        Loss::Unanswered {
            calls,
            is_given_up,
            is_heard,
            is_multipath,
        } => {
            let Calls {
                count,
                first_at,
                last_at,
            } = calls;
            let (from, to) = (first_at.as_secs_f64(), last_at.as_secs_f64());
            let path = match is_multipath {
                true => " on its first path, which all others need",
                false => "",
            };
            let when = match count {
                1 => format!("1 SYN at {from:.3} s"),
                _ => format!("{count} SYNs from {from:.3} to {to:.3} s"),
            };
            let heard = match is_heard {
                true => "; the other end received it, but its answer was lost",
                false => "",
            };
            let end = match is_given_up {
                true => "; the connection was given up",
                false => "",
            };
            format!("never connected{first}: no answer to {when}{path}{heard}{end}")
        }
        Loss::GivenUp {
            at,
            was_open,
            delivered,
        } => {
            let at = at.as_secs_f64();
            match was_open {
                true => format!(
                    "the connection was given up{first} at {at:.3} s, when {delivered} B had arrived"
                ),
                false => format!("never connected{first}: given up at {at:.3} s"),
            }
        }
    }
}
