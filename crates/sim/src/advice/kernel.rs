//! Warning about keys of flows that a Linux kernel ignores.

use super::by_kind::{by_kind, enumeration};
use crate::kernels::kernel_tcp_keys;
use fadeout_core::Span;
use fadeout_core::registry::Parameters;
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
        let names = enumeration(&keys);
        let verb = if keys.len() == 1 { "has" } else { "have" };
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
    let with = |other: Option<&str>| {
        let given = flow.tcp.0.iter();
        let given = given.filter(|(key, _)| is_kept(key) || other == Some(key.as_str()));
        TcpConfig::new("linux", &Parameters(given.cloned().collect()))
    };
    let alone = with(None);
    let given = flow.tcp.0.iter().map(|(key, _)| key.as_str());
    let effective = given.filter(|&key| with(Some(key)) != alone);
    keys.extend(effective.map(|key| format!("tcp.{key}")));
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
