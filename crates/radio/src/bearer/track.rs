//! Where a packet's time in a bearer went.

use super::{Drb, Storage};
use crate::config::Env;
use crate::rlc::{Backlog, TransportBlock};
use fadeout_core::{BearerRow, Direction, DrbId, PacketId, Probe, RadioDelayRow, Span, Time};
use std::ops::Range;

/// The instants of one packet's way. Filled in only for bearers whose delay is asked for.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Track {
    /// Running number on its bearer, by which copies of earlier packets in the same slot of the
    /// pool are told apart.
    serial: u32,
    bearer: DrbId,
    is_uplink: bool,
    entered_at: Time,
    /// Waits for a scheduling request and its grant, of the block that first had a part of it.
    sr_wait: Span,
    grant_wait: Span,
    /// Start of that block's first transmission.
    first_at: Time,
    /// Starts of the first and the successful transmission of the block decoded last.
    block_first_at: Time,
    block_last_at: Time,
    decoded_at: Time,
}

/// The times of a block, for the packets it carries.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BlockTimes {
    pub first_at: Time,
    pub last_at: Time,
    pub decoded_at: Time,
}

/// Tracks beside the packet pool.
#[derive(Debug, Default)]
pub(crate) struct Tracks {
    tracks: Vec<Track>,
}

impl Tracks {
    /// A packet enters a bearer.
    pub(crate) fn enter(
        &mut self,
        packet: PacketId,
        bearer: DrbId,
        direction: Direction,
        entered_at: Time,
    ) {
        if packet.index() >= self.tracks.len() {
            self.tracks.resize(packet.index() + 1, Track::default());
        }
        self.tracks[packet.index()] = Track {
            serial: u32::MAX,
            bearer,
            is_uplink: direction == Direction::Uplink,
            entered_at,
            ..Track::default()
        };
    }

    /// PDCP has numbered it.
    pub(crate) fn number(&mut self, packet: PacketId, serial: u32) {
        if let Some(track) = self.tracks.get_mut(packet.index()) {
            track.serial = serial;
        }
    }

    fn find(
        &mut self,
        packet: PacketId,
        serial: u32,
        bearer: DrbId,
        direction: Direction,
    ) -> Option<&mut Track> {
        self.tracks.get_mut(packet.index()).filter(|track| {
            track.serial == serial
                && track.bearer == bearer
                && track.is_uplink == (direction == Direction::Uplink)
        })
    }

    /// Its first byte is in a block that is sent at `at`. `requested_at` is when the UE sent the
    /// scheduling request that the block's grant answers. Of copies on several legs the first one counts.
    pub(crate) fn first_part(
        &mut self,
        key: (PacketId, u32, DrbId, Direction),
        (at, requested_at): (Time, Option<Time>),
        is_copied: bool,
    ) {
        let Some(track) = self.find(key.0, key.1, key.2, key.3) else {
            return;
        };
        if is_copied && track.first_at > Time::ZERO {
            return;
        }
        track.first_at = at;
        if let Some(requested_at) = requested_at {
            track.sr_wait = requested_at.since(track.entered_at);
            track.grant_wait = at.since(requested_at.max(track.entered_at));
        }
    }

    /// A block with a part of it was decoded.
    pub(crate) fn decoded(&mut self, key: (PacketId, u32, DrbId, Direction), times: &BlockTimes) {
        if let Some(track) = self.find(key.0, key.1, key.2, key.3) {
            track.block_first_at = times.first_at;
            track.block_last_at = times.last_at;
            track.decoded_at = times.decoded_at;
        }
    }

    /// The row of a packet that leaves at `now`; flow and size are the caller's.
    pub(crate) fn row(
        &mut self,
        key: (PacketId, u32, DrbId, Direction),
        now: Time,
    ) -> Option<RadioDelayRow> {
        let track = *self.find(key.0, key.1, key.2, key.3)?;
        debug_assert!(
            track.decoded_at <= now,
            "a packet is delivered before it was decoded"
        );
        let waited = track.first_at.since(track.entered_at);
        Some(RadioDelayRow {
            time_s: now,
            bearer: key.2,
            direction: key.3,
            flow: fadeout_core::FlowId::default(),
            size_bytes: 0,
            queue_s: waited.saturating_sub(track.sr_wait + track.grant_wait),
            sr_wait_s: track.sr_wait,
            grant_wait_s: track.grant_wait,
            transmission_s: track.decoded_at.since(track.block_last_at),
            harq_s: track.block_last_at.since(track.block_first_at),
            rlc_s: track.block_first_at.since(track.first_at),
            reordering_s: now.since(track.decoded_at),
        })
    }
}

impl Drb {
    /// Notes which packets are first on the air at `at` with these PDUs of a block. `requested_at`
    /// is when the UE sent the scheduling request that the block's grant answers.
    pub(crate) fn mark_first_parts(
        &self,
        direction: Direction,
        (block, pdus): (&TransportBlock, Range<usize>),
        (at, requested_at): (Time, Option<Time>),
        storage: &mut Storage,
    ) {
        let is_copied = (self.split.as_ref()).is_some_and(|split| split.duplicates(direction));
        for pdu in &block.pdus[pdus] {
            for part in block.data_parts(pdu) {
                if part.is_first() {
                    let key = (part.sdu.packet, part.sdu.serial, self.id, direction);
                    let times = (at, requested_at);
                    storage.tracks.first_part(key, times, is_copied);
                }
            }
        }
    }

    /// A row of what waits in a direction, when the probe wants one.
    pub(crate) fn sample(&self, direction: Direction, env: &mut Env<'_, impl Probe>) {
        if self.is_signalling || !env.probe.wants_bearer(env.now, self.id) {
            return;
        }
        let mut backlog = Backlog::default();
        for leg in self.legs.iter() {
            let of_leg = leg.ends[direction.index()].rlc.backlog(env.now);
            backlog.new += of_leg.new;
            backlog.retransmission += of_leg.retransmission;
            backlog.status += of_leg.status;
        }
        let (bytes, packets) = (self.split.as_ref()).map_or((0, 0), |it| it.waiting(direction));
        env.probe.bearer(BearerRow {
            time_s: env.now,
            bearer: self.id,
            direction,
            rlc_new_bytes: backlog.new + bytes,
            rlc_retransmission_bytes: backlog.retransmission,
            rlc_status_bytes: backlog.status,
            packets: self.anchors[direction.index()].ledger.len() as u32 + packets,
            pdcp_held_packets: self.anchors[direction.opposite().index()].rx.held(),
        });
    }
}
