//! Downlink packets that the core sends to two base stations during a handover. The second base
//! station stores its copies until the UE arrives. The bearer also records the packets that the
//! first base station dropped.

use super::Storage;
use super::forwarding::{Identity, identity};
use super::transfer::{MobileBearer, Transfers};
use crate::config::Env;
use fadeout_core::{Bytes, Direction, Packet, PacketId, Probe, RadioDropCause};
use std::collections::{BTreeMap, VecDeque};

/// Copies of downlink packets that the core sends to the second base station.
#[derive(Debug)]
pub(super) struct BicastCopies {
    station: u32,
    location: UeLocation,
    waiting: VecDeque<PacketId>,
    bytes: u64,
    /// Maximum number of bytes that the second base station stores.
    most: Bytes,
    packets: BTreeMap<Identity, BicastPacket>,
}

/// Location of the UE, as far as the second base station knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum UeLocation {
    /// The UE has not arrived at the second base station yet.
    Awaited,
    /// The UE has arrived at the second base station, which sends packets to the UE at once.
    Arrived,
    /// The UE has arrived at the second base station, and the core sends only to that base station.
    Settled,
    /// The UE is in a cell of a base station other than the second one.
    Elsewhere,
}

/// Record of one packet that the core may have sent to both base stations of the handover.
#[derive(Debug, Clone, Copy, Default)]
struct BicastPacket {
    /// True if the packet arrived at the first of the two base stations.
    original: bool,
    /// True if the first of the two base stations dropped the packet.
    dropped: bool,
    /// True if the second of the two base stations accepted the packet.
    copied: bool,
}

/// Counts of the packets that the core sent to both base stations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct BicastCounts {
    /// Packets that arrived at the first of the two base stations and that the second one accepted.
    pub(super) copied: u64,
    /// Packets among `copied` that the first base station did not drop.
    pub(super) doubled: u64,
    /// Packets that the first of the two base stations dropped and the second one did not accept.
    pub(super) lost: u64,
}

impl BicastCopies {
    fn new(station: u32, most: Bytes) -> BicastCopies {
        BicastCopies {
            station,
            location: UeLocation::Awaited,
            waiting: VecDeque::new(),
            bytes: 0,
            most,
            packets: BTreeMap::new(),
        }
    }

    /// Returns true if packets that arrive at `station` are recorded as copies.
    fn records_at(&self, station: u32) -> bool {
        self.station == station && self.location != UeLocation::Settled
    }

    /// Begins a new change of cell. Records of an earlier change of cell are removed.
    pub(super) fn begin_change(&mut self) {
        if matches!(self.location, UeLocation::Settled | UeLocation::Elsewhere) {
            self.packets.clear();
        }
    }

    /// Records that the first of the two base stations has dropped a packet.
    pub(super) fn on_drop(&mut self, packet: &Packet) {
        let record = self.packets.entry(identity(packet)).or_default();
        (record.original, record.dropped) = (true, true);
    }

    pub(super) fn counts(&self) -> BicastCounts {
        let count = |is_it: fn(&BicastPacket) -> bool| {
            let packets = self.packets.values();
            packets.filter(|record| is_it(record)).count() as u64
        };
        BicastCounts {
            // A packet without `original` arrived over the new path only, so the packet is no copy.
            copied: count(|record| record.copied && record.original),
            doubled: count(|record| record.copied && record.original && !record.dropped),
            lost: count(|record| record.dropped && !record.copied),
        }
    }

    /// Records the end of the change of cell. From now on the core sends only to the UE's base
    /// station, and no end marker is awaited.
    pub(super) fn on_change_ended(&mut self) {
        if self.location == UeLocation::Arrived {
            self.location = UeLocation::Settled;
        }
    }
}

impl Transfers {
    /// Returns true if [`MobileBearer::on_downlink_packet`] handles downlink packets at a base
    /// station. The bearer is then between two cells, or the core sends to two base stations.
    #[inline]
    pub(crate) fn handles_packets_at(&self, station: u32) -> bool {
        self.0.as_ref().is_some_and(|transfer| {
            let copies = transfer.copies.as_ref();
            transfer.change.is_some() || copies.is_some_and(|copies| copies.records_at(station))
        })
    }
}

impl MobileBearer<'_> {
    /// Records that the core now also sends packets to base station `station`, which stores at most
    /// `most` bytes. `serving` is the base station of the UE.
    pub(crate) fn expect_copies(
        &mut self,
        (station, serving): (u32, u32),
        most: Bytes,
        env: &mut Env<'_, impl Probe>,
        storage: &mut Storage,
    ) {
        self.drop_copies(env, storage);
        let has_resumed = self.change().is_some_and(|change| change.has_resumed);
        if let Some(transfer) = &mut self.drb.transfer.0 {
            let mut copies = BicastCopies::new(station, most);
            if has_resumed && station == serving {
                copies.location = UeLocation::Arrived;
            }
            let before = transfer.copies.replace(copies);
            transfer.counts.lost += before.map_or(0, |before| before.counts().lost);
        }
    }

    /// Records a packet that arrives at the UE's base station, while the core sends to two base
    /// stations.
    #[inline]
    pub(crate) fn record_original(&mut self, packet: PacketId, env: &Env<'_, impl Probe>) {
        if let Some(copies) = self.copies()
            && copies.location == UeLocation::Awaited
        {
            let record = copies.packets.entry(identity(&env.pool.packet(packet)));
            record.or_default().original = true;
        }
    }

    /// Records that the core no longer sends to two base stations. Packets that wait at the second
    /// one are dropped, unless the UE is between two cells.
    pub(crate) fn end_copies(&mut self, env: &mut Env<'_, impl Probe>, storage: &mut Storage) {
        if !self.drb.transfer.is_between_cells() {
            self.drop_copies(env, storage);
        }
    }

    /// Drops the packets at the second base station, now and when they arrive later.
    pub(super) fn drop_copies(&mut self, env: &mut Env<'_, impl Probe>, storage: &mut Storage) {
        // In `UeLocation::Settled` the core sends only to the UE's base station, so no copy waits
        // anywhere.
        let Some(copies) = self
            .copies()
            .filter(|copies| copies.location != UeLocation::Settled)
        else {
            return;
        };
        (copies.location, copies.bytes) = (UeLocation::Elsewhere, 0);
        for packet in copies.waiting.drain(..) {
            if let Some(record) = copies.packets.get_mut(&identity(&env.pool.packet(packet))) {
                record.copied = false;
            }
            storage.lost.push(packet);
        }
        let (direction, cause) = (Direction::Downlink, RadioDropCause::Handover);
        self.drb.drop_lost(direction, cause, env, storage);
    }

    fn copies(&mut self) -> Option<&mut BicastCopies> {
        self.drb.transfer.0.as_mut()?.copies.as_mut()
    }

    /// Accepts or drops a packet that has arrived at a base station. Returns false if that base
    /// station is not the second of the two.
    pub(super) fn accept_copy(
        &mut self,
        station: u32,
        packet: PacketId,
        env: &mut Env<'_, impl Probe>,
    ) -> bool {
        let now = env.now;
        let Some(copies) = self.copies().filter(|copies| copies.records_at(station)) else {
            return false;
        };
        let size = u64::from(env.pool[packet].wire_len());
        let cause = match copies.location {
            UeLocation::Elsewhere => RadioDropCause::Handover,
            UeLocation::Awaited if copies.bytes.saturating_add(size) > copies.most.0 => {
                RadioDropCause::BufferFull
            }
            location => {
                let record = copies
                    .packets
                    .entry(identity(&env.pool.packet(packet)))
                    .or_default();
                record.copied = true;
                if location == UeLocation::Awaited {
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

    /// Handles the UE's arrival in a cell of `station`. If copies wait at `station`, they are sent
    /// to the UE. Copies that wait at another base station are dropped.
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
        (copies.location, copies.bytes) = (UeLocation::Arrived, 0);
        let mut waiting = std::mem::take(&mut copies.waiting);
        for packet in waiting.drain(..) {
            self.drb.inlet.push((now, packet));
        }
    }
}
