//! The radio access as hops of the world.

use fadeout_core::{BearerId, Direction, LinkId, NullProbe, PacketPool, Time, Wake};
use fadeout_mobility::Places;
use fadeout_radio::access::RadioAccess;

/// The radio access with the places of its nodes. Its bearers are hops: their ids follow those of
/// the links, the downlink of each before its uplink.
#[derive(Debug)]
pub(crate) struct Radio {
    pub(crate) access: RadioAccess,
    pub(crate) places: Places,
    pub(crate) wake: Wake,
}

impl Radio {
    pub(crate) fn new(access: RadioAccess, places: Places) -> Radio {
        let mut radio = Radio {
            access,
            places,
            wake: Wake::default(),
        };
        radio.attach();
        radio
    }

    /// Lets the UEs that look for the strongest cell find it: routes depend on it.
    fn attach(&mut self) {
        let Radio { access, places, .. } = self;
        let mut pool = PacketPool::new();
        let mut out = Vec::new();
        access.on_wake(Time::ZERO, places, &mut pool, &mut out, &mut NullProbe);
    }
}

/// The bearer that a hop beyond the links stands for, and its direction.
#[inline]
pub(crate) fn bearer_of(hop: LinkId, links: usize) -> (BearerId, Direction) {
    let index = hop.index() - links;
    let direction = if index.is_multiple_of(2) {
        Direction::Downlink
    } else {
        Direction::Uplink
    };
    (BearerId((index / 2) as u32), direction)
}

/// What a direction of a radio interface or bearer is called.
pub(crate) fn direction_of(name: &str, direction: Direction) -> String {
    let direction = match direction {
        Direction::Downlink => "downlink",
        Direction::Uplink => "uplink",
    };
    format!("{name}/{direction}")
}

/// What both directions of a bearer are called.
pub(crate) fn both_directions_of(name: &str) -> [String; 2] {
    [Direction::Downlink, Direction::Uplink].map(|direction| direction_of(name, direction))
}
