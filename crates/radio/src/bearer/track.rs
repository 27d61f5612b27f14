//! Delay of each packet in a bearer, by its causes.

use super::{Drb, Storage};
use crate::config::Env;
use crate::rlc::{Backlog, TransportBlock};
use fadeout_core::aqm::{Threshold, ThresholdError};
use fadeout_core::{BearerRow, Direction, DrbId, PacketId, Probe, RadioDelayRow, Span, Time};
use std::ops::Range;

/// Times of one packet in a bearer. Recorded only if the delay of the bearer's packets is
/// requested.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Track {
    /// Serial number of the packet on its bearer. The number distinguishes the packet from an
    /// earlier packet with the same id in the pool.
    serial: u32,
    bearer: DrbId,
    is_uplink: bool,
    entered_at: Time,
    /// Wait for a scheduling request and wait for the grant. They are those of the first transport
    /// block that carries a part of the packet.
    sr_wait: Span,
    grant_wait: Span,
    /// Start of the first transmission of the first transport block with a part of the packet.
    first_at: Time,
    /// Start of the first transmission of the latest decoded transport block, and start of the
    /// transmission that was decoded.
    block_first_at: Time,
    block_last_at: Time,
    decoded_at: Time,
}

/// Times of a transport block, for the packets that it carries.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BlockTimes {
    pub first_at: Time,
    pub last_at: Time,
    pub decoded_at: Time,
}

/// Delay records, indexed by the packet's id in the pool.
#[derive(Debug, Default)]
pub(crate) struct Tracks {
    tracks: Vec<Track>,
}

impl Tracks {
    /// Records that a packet enters a bearer.
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

    /// Records the serial number that PDCP assigned to a packet.
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

    /// Records that the first byte of a packet is in a transport block that is sent at `at`.
    /// `requested_at` is the time of the scheduling request that led to the block's grant. Only the
    /// first call for a packet has an effect. Later blocks carry a repetition of RLC, or the copy
    /// of another leg.
    pub(crate) fn first_part(
        &mut self,
        key: (PacketId, u32, DrbId, Direction),
        (at, requested_at): (Time, Option<Time>),
    ) {
        let Some(track) = self.find(key.0, key.1, key.2, key.3) else {
            return;
        };
        if track.first_at > Time::ZERO {
            return;
        }
        track.first_at = at;
        if let Some(requested_at) = requested_at {
            track.sr_wait = requested_at.since(track.entered_at);
            track.grant_wait = at.since(requested_at.max(track.entered_at));
        }
    }

    /// Records that the receiver decoded a transport block with a part of the packet.
    pub(crate) fn decoded(&mut self, key: (PacketId, u32, DrbId, Direction), times: &BlockTimes) {
        if let Some(track) = self.find(key.0, key.1, key.2, key.3) {
            track.block_first_at = times.first_at;
            track.block_last_at = times.last_at;
            track.decoded_at = times.decoded_at;
        }
    }

    /// Returns the row of a packet that leaves at `now`. The caller fills in flow and size. `None`
    /// if the packet has no record.
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
    /// Records the packets whose first byte is in the given PDUs of a transport block, which is
    /// sent at `at`. `requested_at` is the time of the scheduling request that led to the block's
    /// grant.
    pub(crate) fn mark_first_parts(
        &self,
        direction: Direction,
        (block, pdus): (&TransportBlock, Range<usize>),
        (at, requested_at): (Time, Option<Time>),
        storage: &mut Storage,
    ) {
        for pdu in &block.pdus[pdus] {
            for part in block.data_parts(pdu) {
                if part.is_first() {
                    let key = (part.sdu.packet, part.sdu.serial, self.id, direction);
                    let times = (at, requested_at);
                    storage.tracks.first_part(key, times);
                }
            }
        }
    }

    /// Writes a row of the data that waits in a direction, if the probe wants one.
    pub(crate) fn sample(&self, direction: Direction, env: &mut Env<'_, impl Probe>) {
        if self.is_signalling || !env.probe.wants_bearer(env.now, self.id) {
            return;
        }
        env.probe.bearer(self.backlog_row(env.now, direction));
    }

    /// Changes a threshold of queue management on all legs of a direction. A leg of another radio
    /// may have another algorithm, so one leg with the threshold is enough.
    ///
    /// # Errors
    /// Returns an error if no leg has the threshold, or if the value is out of its range.
    pub(crate) fn set_threshold(
        &mut self,
        now: Time,
        direction: Direction,
        threshold: Threshold,
    ) -> Result<(), ThresholdError> {
        let mut result = Err(ThresholdError::Absent);
        for leg in self.legs.iter_mut() {
            let set = leg.sender(direction).set_threshold(now, threshold);
            if set != Err(ThresholdError::Absent) {
                result = set;
            }
        }
        result
    }

    /// Returns a row of the data that waits in a direction.
    pub(crate) fn backlog_row(&self, now: Time, direction: Direction) -> BearerRow {
        let mut backlog = Backlog::default();
        for leg in self.legs.iter() {
            let of_leg = leg.ends[direction.index()].rlc.backlog(now);
            backlog.new += of_leg.new;
            backlog.retransmission += of_leg.retransmission;
            backlog.status += of_leg.status;
        }
        let (bytes, packets) = (self.split.as_ref()).map_or((0, 0), |it| it.waiting(direction));
        BearerRow {
            time_s: now,
            bearer: self.id,
            direction,
            rlc_new_bytes: backlog.new + bytes,
            rlc_retransmission_bytes: backlog.retransmission,
            rlc_status_bytes: backlog.status,
            packets: self.anchors[direction.index()].ledger.len() as u32 + packets,
            pdcp_held_packets: self.anchors[direction.opposite().index()].rx.held(),
        }
    }
}
