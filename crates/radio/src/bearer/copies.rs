//! Downlink packets that the core sends to two base stations during a handover. The second base
//! station keeps its copies until the UE arrives. The first one records the packets that it
//! dropped.

use super::Storage;
use super::forwarding::{Identity, identity};
use super::transfer::{Transfers, Travel};
use crate::config::Env;
use fadeout_core::{Bytes, Direction, Packet, PacketId, Probe, RadioDropCause};
use std::collections::{BTreeMap, VecDeque};

/// Copies of downlink packets that the core sends to the second base station.
#[derive(Debug)]
pub(super) struct Copies {
    station: u32,
    place: Place,
    waiting: VecDeque<PacketId>,
    bytes: u64,
    /// Maximum number of bytes that may wait at the second base station.
    most: Bytes,
    twins: BTreeMap<Identity, Twin>,
}

/// Location of the UE, as far as the second base station knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// The UE has not arrived at the second base station yet.
    Awaited,
    /// The UE has arrived at the second base station, which sends it packets as they come.
    Here,
    /// The UE has arrived at the second base station, and the core sends only there.
    Home,
    /// The UE is in a cell of a base station other than the second one.
    Away,
}

/// Record of one packet that the core may have sent to both base stations.
#[derive(Debug, Clone, Copy, Default)]
struct Twin {
    /// True if the core's packet came to the first of the two base stations.
    original: bool,
    /// True if the first of the two base stations dropped the packet.
    dropped: bool,
    /// True if the second of the two base stations accepted the packet.
    copied: bool,
}

/// Counts of the packets that the core sent to both base stations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct TwinCounts {
    /// Packets that came to the first of the two base stations and that the second one accepted.
    pub(super) copied: u64,
    /// Packets among `copied` that the first base station did not drop.
    pub(super) doubled: u64,
    /// Packets that the first of the two base stations dropped and the second one did not accept.
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

    /// Returns true if packets that come to a base station are recorded as copies.
    fn takes_at(&self, station: u32) -> bool {
        self.station == station && self.place != Place::Home
    }

    /// Begins a new change of cell. Records of an earlier change of cell are removed.
    pub(super) fn begin_journey(&mut self) {
        if matches!(self.place, Place::Home | Place::Away) {
            self.twins.clear();
        }
    }

    /// Records that the first base station drops a packet.
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
            // Packets without `original` came over the new path only, so they are no copies.
            copied: count(|twin| twin.copied && twin.original),
            doubled: count(|twin| twin.copied && twin.original && !twin.dropped),
            lost: count(|twin| twin.dropped && !twin.copied),
        }
    }

    /// Records the end of the change of cell. From now on the core sends only to the UE's base
    /// station, and no end marker is awaited.
    pub(super) fn settle(&mut self) {
        if self.place == Place::Here {
            self.place = Place::Home;
        }
    }
}

impl Transfers {
    /// Returns true if [`Travel::arrive`] handles downlink packets at a base station. The bearer is
    /// then between two cells, or the core sends to two base stations.
    #[inline]
    pub(crate) fn takes_at(&self, station: u32) -> bool {
        self.0.as_ref().is_some_and(|transfer| {
            let copies = transfer.copies.as_ref();
            transfer.journey.is_some() || copies.is_some_and(|copies| copies.takes_at(station))
        })
    }
}

impl Travel<'_> {
    /// Begins a time in which the core also sends to base station `station`, which keeps at most
    /// `most` bytes. `serving` is the base station of the UE.
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

    /// Records a packet at the UE's base station, while the core also sends to a second one.
    #[inline]
    pub(crate) fn note_original(&mut self, packet: PacketId, env: &Env<'_, impl Probe>) {
        if let Some(copies) = self.copies()
            && copies.place == Place::Awaited
        {
            let twin = copies.twins.entry(identity(&env.pool.packet(packet)));
            twin.or_default().original = true;
        }
    }

    /// Ends the sending to two base stations. Packets that wait at the second one are dropped,
    /// unless the UE is between two cells.
    pub(crate) fn end_copies(&mut self, env: &mut Env<'_, impl Probe>, storage: &mut Storage) {
        if !self.drb.transfer.is_travelling() {
            self.drop_copies(env, storage);
        }
    }

    /// Drops the packets at the second base station. Packets that come there later are dropped too.
    pub(super) fn drop_copies(&mut self, env: &mut Env<'_, impl Probe>, storage: &mut Storage) {
        // In `Place::Home` the UE is at the only base station that the core sends to. No packet
        // waits there.
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

    /// Accepts or drops a packet that has come to a base station. Returns false if it is not the
    /// second base station.
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

    /// Handles the UE's arrival in a cell of `station`. Packets that wait there are sent. Packets
    /// that wait at another base station are dropped.
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
