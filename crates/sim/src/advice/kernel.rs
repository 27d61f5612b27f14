//! Warning about keys of flows that a Linux kernel ignores.

use super::by_kind::by_kind;
use crate::kernels::kernel_tcp_keys;
use fadeout_core::Span;
use fadeout_core::registry::{Parameters, Value};
use fadeout_scenario::{Flow, Scenario};
use fadeout_transport::tcp::TcpConfig;

/// Returns a sentence about the flows between kernels with keys that have no effect.
pub(super) fn advise(scenario: &Scenario) -> Vec<String> {
    let has_kernels = |flow: &&Flow| {
        let ends = [flow.from, flow.to];
        ends.iter()
            .all(|node| scenario.nodes[node.index()].kernel.is_some())
    };
    let flows = scenario.flows.iter().filter(has_kernels);
    let ignored = flows.map(|flow| (flow.name.as_str(), ignored(flow)));
    let ignored = ignored.filter(|(_, keys)| !keys.is_empty());
    by_kind("flow", ignored, Clone::clone, |keys, _| {
        let keys: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
        let (last, others) = keys.split_last().expect("the flow has ignored keys");
        let names = match others {
            [] => last.clone(),
            _ => format!("{} and {last}", others.join(", ")),
        };
        let verb = if others.is_empty() { "has" } else { "have" };
        format!("{names} {verb} no effect, because the ends are Linux kernels")
    })
}

/// Returns the keys of a flow that have an effect on fadeout's TCP, but none on a kernel.
fn ignored(flow: &Flow) -> Vec<String> {
    let mut keys = Vec::new();
    if !flow.profile.starts_with("linux") {
        keys.push("profile".to_owned());
    }
    // A kernel uses Nagle's algorithm, which `nagle = true` asks for.
    let is_kept = |key: &str| key == "nagle" || kernel_tcp_keys().any(|kept| kept == key);
    let (kept, others): (Vec<_>, Vec<_>) =
        (flow.tcp.0.iter().cloned()).partition(|(key, _)| is_kept(key));
    let with = |other: Option<&(String, Value)>| {
        let mut given = kept.clone();
        given.extend(other.cloned());
        TcpConfig::new("linux", &Parameters(given))
    };
    let alone = with(None);
    let effective = others.iter().filter(|other| with(Some(other)) != alone);
    keys.extend(effective.map(|(key, _)| format!("tcp.{key}")));
    if let Some(control) = &flow.congestion_control {
        let parameters = control.parameters.0.iter();
        keys.extend(parameters.map(|(key, _)| format!("congestion-control.{key}")));
    }
    if let Some(multipath) = &flow.multipath {
        let others = [
            ("join-delay", multipath.join_delay > Span::ZERO),
            ("signal-repeats", multipath.signal_repeats > 0),
            (
                "opportunistic-retransmission",
                multipath.opportunistic_retransmission == Some(true),
            ),
            ("penalisation", multipath.penalisation == Some(true)),
        ];
        let others = others.into_iter().filter(|(_, is_given)| *is_given);
        keys.extend(others.map(|(key, _)| format!("multipath.{key}")));
    }
    keys
}
