//! Downlink packets that the core sends to two base stations: what the second one keeps until the UE is
//! there, and which of them the first one has dropped.

use super::Storage;
use super::forwarding::{Identity, identity};
use super::transfer::{Transfers, Travel};
use crate::config::Env;
use fadeout_core::{Bytes, Direction, Packet, PacketId, Probe, RadioDropCause};
use std::collections::{BTreeMap, VecDeque};

/// Packets that come to the second base station.
#[derive(Debug)]
pub(super) struct Copies {
    station: u32,
    place: Place,
    waiting: VecDeque<PacketId>,
    bytes: u64,
    /// The most bytes that wait.
    most: Bytes,
    twins: BTreeMap<Identity, Twin>,
}

/// Where the UE is, as the second base station knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Still to come.
    Awaited,
    /// There: what comes is sent.
    Here,
    /// There, and the core sends here alone.
    Home,
    /// Elsewhere.
    Away,
}

/// A packet that the core may have sent to both.
#[derive(Debug, Clone, Copy, Default)]
struct Twin {
    /// It came to the first base station.
    original: bool,
    /// The first one dropped it.
    dropped: bool,
    /// The second one took it.
    copied: bool,
}

/// Counts of packets that went to both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct TwinCounts {
    /// Come to the first base station and taken by the second.
    pub(super) copied: u64,
    /// Those of them that the first one did not drop.
    pub(super) doubled: u64,
    /// Dropped by the first one, and not taken by the second.
    pub(super) lost: u64,
}

impl Copies {
    fn new(station: u32, most: Bytes) -> Copies {
        Copies {
            station,
            place: Place::Awaited,
            waiting: VecDeque::new(),
            bytes: 0,
            most,
            twins: BTreeMap::new(),
        }
    }

    /// Whether what comes to a base station is told here.
    fn takes_at(&self, station: u32) -> bool {
        self.station == station && self.place != Place::Home
    }

    /// The bearer begins to travel. Those of a journey before count no more.
    pub(super) fn begin_journey(&mut self) {
        if matches!(self.place, Place::Home | Place::Away) {
            self.twins.clear();
        }
    }

    /// The first base station drops a packet.
    pub(super) fn on_drop(&mut self, packet: &Packet) {
        let twin = self.twins.entry(identity(packet)).or_default();
        (twin.original, twin.dropped) = (true, true);
    }

    pub(super) fn counts(&self) -> TwinCounts {
        let count = |is_it: fn(&Twin) -> bool| {
            let twins = self.twins.values();
            twins.filter(|twin| is_it(twin)).count() as u64
        };
        TwinCounts {
            // The others came over the new path alone.
            copied: count(|twin| twin.copied && twin.original),
            doubled: count(|twin| twin.copied && twin.original && !twin.dropped),
            lost: count(|twin| twin.dropped && !twin.copied),
        }
    }

    /// The core sends to the base station that has the UE, and nobody waits for end markers.
    pub(super) fn settle(&mut self) {
        if self.place == Place::Here {
            self.place = Place::Home;
        }
    }
}

impl Transfers {
    /// Whether [`Travel::arrive`] takes downlink packets at a base station: the bearer is between two cells, or
    /// the core sends to both.
    #[inline]
    pub(crate) fn takes_at(&self, station: u32) -> bool {
        self.0.as_ref().is_some_and(|transfer| {
            let copies = transfer.copies.as_ref();
            transfer.journey.is_some() || copies.is_some_and(|copies| copies.takes_at(station))
        })
    }
}

impl Travel<'_> {
    /// The core sends to base station `station` too, which keeps `most` bytes; `serving` is that of the UE.
    pub(crate) fn expect_copies(
        &mut self,
        (station, serving): (u32, u32),
        most: Bytes,
        env: &mut Env<'_, impl Probe>,
        storage: &mut Storage,
    ) {
        self.drop_copies(env, storage);
        let has_resumed = self.journey().is_some_and(|journey| journey.has_resumed);
        if let Some(transfer) = &mut self.drb.transfer.0 {
            let mut copies = Copies::new(station, most);
            if has_resumed && station == serving {
                copies.place = Place::Here;
            }
            let before = transfer.copies.replace(copies);
            transfer.counts.lost += before.map_or(0, |before| before.counts().lost);
        }
    }

    /// A packet comes to the base station that the UE is in, while the core sends to another one too.
    #[inline]
    pub(crate) fn note_original(&mut self, packet: PacketId, env: &Env<'_, impl Probe>) {
        if let Some(copies) = self.copies()
            && copies.place == Place::Awaited
        {
            let twin = copies.twins.entry(identity(&env.pool.packet(packet)));
            twin.or_default().original = true;
        }
    }

    /// The core sends to one base station alone. What waits at the second is of no use unless the UE is on its
    /// way.
    pub(crate) fn end_copies(&mut self, env: &mut Env<'_, impl Probe>, storage: &mut Storage) {
        if !self.drb.transfer.is_travelling() {
            self.drop_copies(env, storage);
        }
    }

    /// Drops the packets that wait at the second base station, and those that come there later.
    pub(super) fn drop_copies(&mut self, env: &mut Env<'_, impl Probe>, storage: &mut Storage) {
        // To the base station that the core sends to alone the UE has come: none waits there.
        let Some(copies) = self.copies().filter(|copies| copies.place != Place::Home) else {
            return;
        };
        (copies.place, copies.bytes) = (Place::Away, 0);
        for packet in copies.waiting.drain(..) {
            if let Some(twin) = copies.twins.get_mut(&identity(&env.pool.packet(packet))) {
                twin.copied = false;
            }
            storage.lost.push(packet);
        }
        let (direction, cause) = (Direction::Downlink, RadioDropCause::Handover);
        self.drb.drop_lost(direction, cause, env, storage);
    }

    fn copies(&mut self) -> Option<&mut Copies> {
        self.drb.transfer.0.as_mut()?.copies.as_mut()
    }

    /// A packet is at a base station. Whether it is the second one.
    pub(super) fn take_copy(
        &mut self,
        station: u32,
        packet: PacketId,
        env: &mut Env<'_, impl Probe>,
    ) -> bool {
        let now = env.now;
        let Some(copies) = self.copies().filter(|copies| copies.takes_at(station)) else {
            return false;
        };
        let size = u64::from(env.pool[packet].wire_len());
        let cause = match copies.place {
            Place::Away => RadioDropCause::Handover,
            Place::Awaited if copies.bytes.saturating_add(size) > copies.most.0 => {
                RadioDropCause::BufferFull
            }
            place => {
                let twin = copies
                    .twins
                    .entry(identity(&env.pool.packet(packet)))
                    .or_default();
                twin.copied = true;
                if place == Place::Awaited {
                    copies.bytes += size;
                    copies.waiting.push_back(packet);
                } else {
                    self.drb.inlet.push((now, packet));
                }
                return true;
            }
        };
        self.drb.refuse(Direction::Downlink, packet, cause, env);
        true
    }

    /// The UE is in a cell of `station`: what waits there is sent, and dropped elsewhere.
    pub(super) fn release_copies(
        &mut self,
        station: u32,
        env: &mut Env<'_, impl Probe>,
        storage: &mut Storage,
    ) {
        let now = env.now;
        let Some(copies) = self.copies() else {
            return;
        };
        if copies.station != station {
            return self.drop_copies(env, storage);
        }
        (copies.place, copies.bytes) = (Place::Here, 0);
        let mut waiting = std::mem::take(&mut copies.waiting);
        for packet in waiting.drain(..) {
            self.drb.inlet.push((now, packet));
        }
    }
}
