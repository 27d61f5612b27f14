//! Warnings about flows whose connection was never established, or was given up.

use super::by_kind::by_kind;
use crate::radio::Accesses;
use crate::world::{Endpoints, Flow, World};
use fadeout_core::{Direction, FlowEnd, NodeId, Probe, Time, UeId};
use fadeout_radio::access::{self, RangeExceeded};
use fadeout_scenario::{self as scenario, Scenario};
use fadeout_transport::tcp::Calls;
use std::collections::BTreeSet;

/// Failure of a connection that delivered none or only a part of its data.
#[derive(Debug, Clone, Copy)]
enum Loss<'a> {
    /// The end that opens the connection received no answer.
    Unanswered {
        calls: Calls,
        /// True if the end sends no more SYNs.
        is_given_up: bool,
        /// True if the peer received a SYN. Then the peer's answers were lost.
        is_heard: bool,
        is_multipath: bool,
    },
    /// The connection was established and then given up. A flow between kernels may never have been
    /// established, because kernels do not report their SYNs.
    GivenUp {
        at: Time,
        was_open: bool,
        delivered: u64,
        /// Reason in the words of the QUIC stack. `None` for other connections.
        reason: Option<&'a str>,
    },
}

/// Returns sentences for flows whose SYNs were not answered, and for flows whose connection was
/// given up. Flows of UEs without a radio connection are left out, because these UEs have sentences
/// of their own.
pub(super) fn missing<P: Probe>(scenario: &Scenario, world: &World<P>) -> Vec<String> {
    let radio = world.machines().radio.and_then(Accesses::whole);
    let unattached = radio.into_iter().flat_map(access::unattached);
    let unconnected = radio.into_iter().flat_map(access::unconnected);
    let named: BTreeSet<NodeId> = unattached
        .map(|(ue, _)| ue)
        .chain(unconnected.map(|(ue, _)| ue))
        .map(|ue| scenario.ues[ue.index()].node)
        .collect();
    let is_named = |node: NodeId| named.contains(&node);
    let flows = scenario.flows.iter().zip(world.machines().flows);
    let lost = flows.filter_map(|(described, flow)| {
        if is_named(described.from) || is_named(described.to) {
            return None;
        }
        let is_multipath = described.multipath.is_some();
        let loss = loss(flow, world.machines().endpoints, is_multipath)?;
        let cause = match loss {
            Loss::Unanswered { .. } => cause(scenario, described, world),
            Loss::GivenUp { .. } => None,
        };
        Some((described.name.as_str(), (loss, cause)))
    });
    by_kind(
        "flow",
        lost,
        |(loss, cause)| (kind(loss), cause.is_some()),
        |(loss, cause), first| {
            let message = sentence(loss, first);
            match cause {
                Some(cause) => format!("{message}; {}", reason(scenario, cause)),
                None => message,
            }
        },
    )
}

/// A UE at an end of a flow, and the cell whose range it exceeds.
struct Cause {
    ue: usize,
    range: RangeExceeded,
}

/// Returns the UE of a flow that is out of a cell's range. `None` if there is none.
fn cause<P: Probe>(scenario: &Scenario, flow: &scenario::Flow, world: &World<P>) -> Option<Cause> {
    let radio = world.machines().radio?;
    let ends = [flow.from, flow.to];
    let ues = scenario.ues.iter().enumerate();
    ues.filter(|(_, ue)| ends.contains(&ue.node))
        .find_map(|(ue, _)| {
            let (access, local) = radio.of_ue(UeId(ue as u32))?;
            let range = access::out_of_range(access, local, world.now())?;
            Some(Cause { ue, range })
        })
}

fn reason(scenario: &Scenario, cause: &Cause) -> String {
    let ue = &scenario.ues[cause.ue].name;
    let RangeExceeded {
        cell,
        direction,
        sinr_db,
        least_db,
    } = cause.range;
    let power = match direction {
        Direction::Uplink => " with all its power in one resource block",
        Direction::Downlink => "",
    };
    format!(
        "UE \"{ue}\" is out of range of cell \"{}\" in the {}: its SINR is {sinr_db:.1} dB{power}, and the \
         lowest CQI takes {least_db:.1} dB",
        scenario.cells[cell.index()].name,
        direction.name()
    )
}

fn loss<'a>(flow: &Flow, endpoints: &'a Endpoints, is_multipath: bool) -> Option<Loss<'a>> {
    let (opener, other) = match flow.application.opener() {
        FlowEnd::Sender => (flow.sender, flow.receiver),
        FlowEnd::Receiver => (flow.receiver, flow.sender),
    };
    if flow.established_at.is_none()
        && let Some(account) = endpoints.account(opener)
    {
        let calls = account.calls?;
        let is_given_up = account.is_closed;
        // A first SYN without an answer may still be answered after the end of the run. So a single
        // SYN causes no warning.
        return (is_given_up || calls.count > 1).then(|| Loss::Unanswered {
            calls,
            is_given_up,
            is_heard: (endpoints.account(other)).is_some_and(|it| it.calls.is_some()),
            is_multipath,
        });
    }
    // An end that waits for the lost close of its peer gives up after all data have arrived.
    let aborted_at = flow.aborted_at.filter(|_| flow.completed_at.is_none());
    aborted_at.map(|at| Loss::GivenUp {
        at,
        was_open: flow.established_at.is_some(),
        delivered: flow.delivered,
        // The end that found the reason names it, and the other end only that its peer gave up.
        reason: [flow.receiver, flow.sender]
            .into_iter()
            .filter_map(|end| endpoints.quic(end)?.statistics().failure.as_deref())
            .min_by_key(|reason| reason.starts_with("aborted by peer")),
    })
}

/// Returns the key of a group. Flows whose failures differ only in numbers share a sentence.
fn kind<'a>(loss: &Loss<'a>) -> impl PartialEq + use<'a> {
    match *loss {
        Loss::Unanswered {
            is_given_up,
            is_heard,
            is_multipath,
            ..
        } => (true, is_given_up, is_heard, is_multipath, None),
        Loss::GivenUp {
            was_open, reason, ..
        } => (false, was_open, false, false, reason),
    }
}

fn sentence(loss: &Loss<'_>, first: &str) -> String {
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
            reason,
        } => {
            let at = at.as_secs_f64();
            let why = reason.map_or_else(String::new, |it| format!(" (QUIC: {it})"));
            match was_open {
                true => format!(
                    "the connection was given up{first} at {at:.3} s, when {delivered} B had \
                     arrived{why}"
                ),
                false => format!("never connected{first}: given up at {at:.3} s{why}"),
            }
        }
    }
}
