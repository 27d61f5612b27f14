//! The border of a world with others: packets on links that lead there, and from there.

use super::World;
use fadeout_core::{LinkId, Packet, Probe, Time};
use fadeout_radio::access::handled;

/// A packet on the way into another world.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mail {
    packet: Packet,
    /// The link that it is on, whose far end is there.
    link: LinkId,
    /// When it arrives there.
    arrives_at: Time,
}

/// Hands over what arrives in other worlds by `until`: `send` is called for each packet with the number of the world, link
/// by link in the order of their ids, on each link in the order of the arrivals. This world is at `now`, and no
/// link's delay is shorter than what lies between. When the earliest of the packets arrives, and when the next one does that
/// is not yet handed over; never without one.
pub(crate) fn hand_over<P: Probe>(
    world: &mut World<P>,
    until: Time,
    mut send: impl FnMut(usize, Mail),
) -> (Time, Time) {
    let now = world.agenda.now();
    let (mut earliest, mut next) = (Time::NEVER, Time::NEVER);
    for &(id, to) in &world.ways_out {
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

/// Takes over packets from other worlds: each goes on from the far end of its link when it arrives there.
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

/// What a world has done so far, as a measure of its work: events, those within the radio access included.
pub(crate) fn work<P: Probe>(world: &World<P>) -> u64 {
    let radio = world.radio.as_ref();
    world.agenda.processed() + radio.map_or(0, |radio| handled(&radio.access))
}

/// What looks at a world.
pub(crate) fn probe_of<P>(world: &mut World<P>) -> &mut P {
    &mut world.probe
}
