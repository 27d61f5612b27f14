//! Warnings about forwarded packets that a link between base stations has dropped.

use crate::world::World;
use fadeout_core::{DropCause, Probe};

/// Returns a sentence about forwarded packets that links have dropped. The sentence names the links
/// whose queues were full. A base station sends all forwarded packets into a link at one instant.
/// `None` if no forwarded packet was dropped.
pub(super) fn dropped<P: Probe>(world: &World<P>) -> Option<String> {
    let machines = world.machines();
    let lost = machines.radio?.forwarded_drops();
    let on_the_way = machines.routes.links_of_forwarded().into_iter();
    let full = on_the_way.filter(|&link| {
        let stats = machines.links.get(link).stats();
        stats.dropped(DropCause::QueueFull) > 0
    });
    let full: Vec<String> = full
        .map(|link| format!("\"{}\"", machines.directory.link_name(link)))
        .collect();
    (lost > 0 && !full.is_empty()).then(|| {
        format!(
            "mobility-management: {lost} forwarded packets were lost on the way to another base station. The queue of \
             link {} was full; a longer `queue.limit`, such as \"100 ms\", holds what a base station forwards at once",
            full.join(" and of link ")
        )
    })
}
