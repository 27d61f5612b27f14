//! Exchange of packets between worlds over the links that connect them.

use super::World;
use fadeout_core::{LinkId, Packet, Probe, Time};
use fadeout_radio::access::events_handled;

/// A packet on a link into another world.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mail {
    packet: Packet,
    /// The link, whose receiving end is in the other world.
    link: LinkId,
    /// Time of arrival at the receiving end.
    arrives_at: Time,
}

/// Hands over all packets that arrive in other worlds by `until`. `send` is called for each packet
/// with the number of the world. The calls are in the order of link ids, and on each link in the
/// order of arrivals. The time of this world is `now`, and the delay of each link is at least
/// `until - now`.
///
/// Returns the earliest arrival of the packets, and that of the next packet to hand over. Each is
/// [`Time::NEVER`] if there is no such packet.
pub(crate) fn hand_over<P: Probe>(
    world: &mut World<P>,
    until: Time,
    mut send: impl FnMut(usize, Mail),
) -> (Time, Time) {
    let now = world.agenda.now();
    let (mut earliest, mut next) = (Time::NEVER, Time::NEVER);
    for &(id, to) in &world.outgoing_links {
        let link = world.links.get_mut(id);
        if link.next_arrival_at() <= until {
            earliest = earliest.min(link.next_arrival_at());
            let give = |arrives_at, packet| {
                let mail = Mail {
                    packet,
                    link: id,
                    arrives_at,
                };
                send(to, mail);
            };
            link.hand_over((now, until), &mut world.pool, give, &mut world.probe);
        }
        next = next.min(link.next_arrival_at());
    }
    (earliest, next)
}

/// Accepts packets from other worlds. Each packet continues at the receiving end of its link, at
/// its time of arrival.
pub(crate) fn take_over<P: Probe>(world: &mut World<P>, mail: &mut Vec<Mail>) {
    for Mail {
        packet,
        link,
        arrives_at,
    } in mail.drain(..)
    {
        debug_assert!(arrives_at > world.agenda.now(), "it is on its way");
        let id = world.pool.insert(packet);
        world.links.get_mut(link).take_over(arrives_at, id);
        world.links.arm(link, &mut world.agenda);
    }
}

/// Returns the number of events processed so far, with those within the radio access. It measures
/// the work of a world.
pub(crate) fn work<P: Probe>(world: &World<P>) -> u64 {
    let radio = world.radio.as_ref();
    world.agenda.processed() + radio.map_or(0, |radio| events_handled(&radio.access))
}

/// Returns the probe that records a world.
pub(crate) fn probe_of<P>(world: &mut World<P>) -> &mut P {
    &mut world.probe
}
