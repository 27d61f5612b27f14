//! The radio access as hops of the world.

use fadeout_core::{NullProbe, PacketPool, Time, Wake};
use fadeout_mobility::Places;
use fadeout_radio::access::RadioAccess;

/// The radio access with the places of its nodes.
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
