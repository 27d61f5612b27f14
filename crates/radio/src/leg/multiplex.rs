//! Logical channel prioritisation: the choice of the bearers whose data fills a transport block.
//!
//! The standards do not specify the choice in the downlink. This implementation uses the uplink's
//! rules in the downlink too.
//!
//! Standard: TS 38.321 §5.4.3.1.3; TS 36.321 §5.4.3.1.

use super::Content;
use crate::config::BearerConfig;
use crate::mac::logical_channel::Bucket;
use crate::rlc::{Mode, TransportBlock};
use fadeout_core::{Direction, DrbId, Time};

/// Logical channels of a leg, the most urgent first.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct LogicalChannels {
    /// Most urgent channel. Most legs have only this channel. It is a separate field because cells
    /// read it in every slot.
    first: Option<Channel>,
    others: Vec<Channel>,
    /// True if a channel is restricted to some of the UE's cells.
    is_restricted: bool,
}

/// Logical channel: a bearer with RLC on this leg.
#[derive(Debug)]
#[repr(C)]
struct Channel {
    bearer: DrbId,
    priority: u8,
    /// Number of the bearer's RLC entity for this channel, if the entity is restricted to certain
    /// cells. `None` if the entity has the number of the leg.
    rlc: Option<u8>,
    /// True if packets are never segmented.
    is_whole_only: bool,
    /// Token buckets of the prioritised bit rate, by direction.
    buckets: [Bucket; 2],
}

/// RLC entities that send in a direction of a leg and fill its transport blocks.
pub(crate) trait RlcQueues {
    /// Returns the bytes of the STATUS PDU that an RLC entity of a bearer has to send. `rlc` is the
    /// number of the entity. If `rlc` is `None`, the entity has the number of the leg.
    fn status(&self, bearer: DrbId, rlc: Option<u8>) -> u64;
    /// Puts up to `grant` bytes of an RLC entity into a transport block. Returns the bytes used.
    fn pull(
        &mut self,
        bearer: DrbId,
        rlc: Option<u8>,
        grant: u32,
        block: &mut TransportBlock,
    ) -> u32;
}

/// Steps in which the bearers fill a transport block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FillStep {
    /// Each bearer sends its STATUS PDU.
    Status,
    /// Each bearer sends data up to its prioritised bit rate.
    Prioritised,
    /// Each bearer sends more data while the transport block has space.
    Remaining,
    /// The only bearer sends everything.
    Only,
}

impl LogicalChannels {
    /// Adds a bearer with RLC on this leg. Bearers of the same priority are served in the order in
    /// which they were added.
    pub(crate) fn add(&mut self, bearer: DrbId, config: &BearerConfig) {
        self.add_entity(bearer, config, None);
    }

    /// Adds a bearer whose RLC entity `rlc` is restricted to this leg (allowedServingCells).
    ///
    /// Standard: TS 38.321 §5.4.3.1.2; TS 38.331 §6.3.2.
    pub(crate) fn add_restricted(&mut self, bearer: DrbId, config: &BearerConfig, rlc: u8) {
        self.is_restricted = true;
        self.add_entity(bearer, config, Some(rlc));
    }

    fn add_entity(&mut self, bearer: DrbId, config: &BearerConfig, rlc: Option<u8>) {
        let bucket = Bucket::new(&config.channel);
        let priority = config.channel.priority;
        let channel = Channel {
            bearer,
            priority,
            rlc,
            is_whole_only: config.rlc.mode == Mode::Tm,
            buckets: [bucket; 2],
        };
        let is_behind = |other: &&Channel| other.priority <= priority;
        match self.iter().take_while(is_behind).count() {
            0 => {
                if let Some(first) = self.first.replace(channel) {
                    self.others.insert(0, first);
                }
            }
            position => self.others.insert(position - 1, channel),
        }
        debug_assert!(
            self.iter().is_sorted_by_key(|channel| channel.priority),
            "logical channels are not in the order of their priorities"
        );
    }

    fn iter(&self) -> impl Iterator<Item = &Channel> {
        self.first.iter().chain(&self.others)
    }

    /// Fills a transport block of `bytes` bytes. STATUS PDUs of all bearers come first. Each bearer
    /// then sends at its prioritised bit rate. The remaining bytes go to the bearers by priority.
    pub(crate) fn fill(
        &mut self,
        now: Time,
        direction: Direction,
        bytes: u32,
        content: &mut Content,
        queues: &mut impl RlcQueues,
    ) {
        let steps: &[FillStep] = if !self.others.is_empty() {
            &[FillStep::Status, FillStep::Prioritised, FillStep::Remaining]
        } else {
            &[FillStep::Only]
        };
        let mut left = bytes;
        for &step in steps {
            for channel in self.first.iter_mut().chain(&mut self.others) {
                let bucket = &mut channel.buckets[direction.index()];
                let grant = match step {
                    FillStep::Status => {
                        let status = queues.status(channel.bearer, channel.rlc);
                        status.min(u64::from(left)) as u32
                    }
                    FillStep::Prioritised => bucket.allowance(now).min(left),
                    // A bearer with an unlimited rate has already sent all it can in an earlier
                    // step.
                    FillStep::Remaining if bucket.is_unlimited() => 0,
                    FillStep::Remaining | FillStep::Only => left,
                };
                if grant == 0 {
                    continue;
                }
                let used = queues.pull(channel.bearer, channel.rlc, grant, &mut content.block);
                debug_assert!(
                    used <= grant && grant <= left,
                    "a bearer takes {used} bytes of {grant}, of {left} in the block"
                );
                if step == FillStep::Prioritised {
                    bucket.on_served(used);
                }
                if used > 0 {
                    let end = content.block.pdus.len() as u32;
                    content.bearers.push((channel.bearer, end));
                }
                left -= used;
            }
        }
        debug_assert!(
            content.bearers.is_sorted_by_key(|&(_, end)| end),
            "the bearers of a block are not in the order of their PDUs"
        );
    }

    /// Returns true if a bearer sends packets that are never segmented.
    pub(crate) fn has_whole_only(&self) -> bool {
        self.iter().any(|channel| channel.is_whole_only)
    }

    /// Returns the number of a bearer's RLC entity on this leg, if the entity is restricted to
    /// certain cells. `None` if the entity is not restricted.
    #[inline]
    pub(crate) fn restricted(&self, bearer: DrbId) -> Option<u8> {
        if !self.is_restricted {
            return None;
        }
        let mut channels = self.iter();
        channels.find(|it| it.bearer == bearer)?.rlc
    }

    /// Returns the bearers, the most urgent first.
    pub(crate) fn bearers(&self) -> impl Iterator<Item = DrbId> + '_ {
        self.iter().map(|channel| channel.bearer)
    }

    /// Returns the bearer at `position` in the order of urgency. `None` if the leg has fewer
    /// bearers.
    pub(crate) fn bearer(&self, position: usize) -> Option<DrbId> {
        let channel = match position.checked_sub(1) {
            None => self.first.as_ref(),
            Some(other) => self.others.get(other),
        };
        channel.map(|channel| channel.bearer)
    }
}
