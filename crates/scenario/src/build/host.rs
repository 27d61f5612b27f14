//! Tables of hosts: contradictions between their keys, and the tables of groups of UEs.

use super::builder::Builder;
use crate::model::Node;
use crate::read::Fields;
use fadeout_core::NodeId;
use std::collections::BTreeMap;

/// Checks that the keys of a host do not contradict each other.
pub(super) fn check(builder: &mut Builder<'_, '_>, fields: &Fields, node: &Node) {
    let has_queue = node.send_queue.is_some();
    let has_kernel = node.kernel.is_some();
    let contradictions = [
        (
            "receive-hold",
            !node.receive_hold.is_zero() && !node.receive_offload,
            "`receive-hold` without `receive-offload`",
            "`receive-offload = true`, or no `receive-hold`",
        ),
        (
            "send-queue",
            has_queue && node.device_queue.is_none(),
            "`send-queue` without `device-queue`",
            "both keys, or none of them",
        ),
        (
            "device-queue",
            !has_queue && node.device_queue.is_some(),
            "`device-queue` without `send-queue`",
            "both keys, or none of them",
        ),
        (
            "small-queues",
            !has_queue && !node.small_queues,
            "`small-queues` without `send-queue`",
            "`send-queue` and `device-queue`, or no `small-queues`",
        ),
        (
            "receive-hold",
            has_kernel && !node.receive_hold.is_zero(),
            "a kernel has no `receive-hold`",
            "no `receive-hold`, or no `kernel`",
        ),
        (
            "receive-delay",
            has_kernel && !node.receive_delay.is_zero(),
            "a kernel has no `receive-delay`",
            "no `receive-delay`, or no `kernel`",
        ),
        (
            "receive-rate",
            has_kernel && node.receive_rate.is_some(),
            "a kernel has no `receive-rate`",
            "no `receive-rate`, or no `kernel`",
        ),
        (
            "send-queue",
            has_kernel && has_queue,
            "a kernel has no `send-queue` of fadeout",
            "no `send-queue`, or no `kernel`",
        ),
    ];
    for (key, is_wrong, message, expected) in contradictions {
        if is_wrong {
            builder.mistake(fields.place_of(key), message, expected);
        }
    }
}

/// Copies the keys of a node to all UEs of a group, if the node has the name of the group.
pub(super) fn share(nodes: &mut [Node], groups: &BTreeMap<String, Vec<NodeId>>) {
    for (group, members) in groups {
        let Some(own) = nodes.iter().position(|node| node.name == *group) else {
            continue;
        };
        let shared = std::mem::replace(&mut nodes[own], Node::named(group.clone()));
        for member in members {
            let node = &mut nodes[member.index()];
            *node = Node {
                name: std::mem::take(&mut node.name),
                ..shared.clone()
            };
        }
    }
}
