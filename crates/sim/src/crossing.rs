//! A handover of a phone from one link to another: its configuration, its state and its packet
//! counts. The diagram shows the steps of a handover with given times, and of a handover whose
//! messages cross links.
//!
//! ```text
//! given:  bicast ─► command ─► switch, resume ─► row
//! links:  Required ─► Request ─► Answer (bicast) ─► Order: command ─► resume
//!         source      anchor     target             anchor            target
//!         ─► Complete: switch ─► row
//!            anchor
//! ```

use fadeout_core::{
    EndpointId, FlowId, HandoverOutcome, LinkHandoverRow, LinkId, Packet, RouteId, Span, Time, Wake,
};
use std::collections::BTreeMap;

/// Time from the last step of a handover to its result row. Forwarded packets that waited at the
/// target have reached the phone before the row is written.
pub(crate) const ROW_DELAY: Span = Span::from_secs(1);

/// A message of a handover between links, or an end marker of the user plane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Signal {
    /// Handover Required, from the source to the anchor.
    Required,
    /// Relocation Request, from the anchor to the target.
    Request,
    /// Acknowledgment of the Relocation Request, from the target to the anchor.
    Answer,
    /// Handover Command, from the anchor to the source.
    Order,
    /// Relocation Complete, from the target to the anchor.
    Complete,
    /// End marker of the old path, sent to the source.
    OldPathEnd,
    /// End marker at the target, sent behind the last forwarded packet.
    ForwardingEnd,
}

impl Signal {
    /// Returns the size of the message as an IP packet, bytes. No standard defines the sizes, so
    /// they are typical values. An end marker has 36 bytes of IP, UDP and GTP-U, but the smallest
    /// packet in the simulator has 40 bytes.
    pub(crate) fn size(self) -> u32 {
        match self {
            Signal::Required | Signal::Request | Signal::Answer | Signal::Order => 200,
            Signal::Complete => 100,
            Signal::OldPathEnd | Signal::ForwardingEnd => 40,
        }
    }
}

/// Treatment of downlink data that reaches the source during a handover.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Data {
    Dropped,
    /// The source forwards data to the target. The value is the route of the forwarded packets.
    Forwarded(RouteId),
    /// The source drops data. The anchor has sent a copy of each packet to the target.
    Bicast,
}

/// Routes of one direction of a flow before and after a handover.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RouteChange {
    /// Endpoint that sends packets on the old and on the new route.
    pub(crate) endpoint: EndpointId,
    /// Endpoint that receives packets from the old and from the new route.
    pub(crate) receiver: EndpointId,
    pub(crate) flow: FlowId,
    pub(crate) old: RouteId,
    pub(crate) new: RouteId,
    /// Index of the first hop at which the old and the new route differ.
    pub(crate) fork: u8,
    /// Route from the anchor to the source, followed by [`Signal::OldPathEnd`].
    pub(crate) marker: RouteId,
}

/// Stage of a handover between links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    Waiting,
    /// The source has decided on the handover, or the anchor already sends packets to both links.
    Preparing,
    /// The source has stopped sending.
    Commanded,
    Ended,
}

/// Times of the next steps of a handover.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    pub(crate) decide: Time,
    pub(crate) bicast: Time,
    pub(crate) command: Time,
    pub(crate) switch: Time,
    pub(crate) resume: Time,
    pub(crate) give_up: Time,
    pub(crate) row: Time,
}

impl Times {
    pub(crate) const NONE: Times = Times {
        decide: Time::NEVER,
        bicast: Time::NEVER,
        command: Time::NEVER,
        switch: Time::NEVER,
        resume: Time::NEVER,
        give_up: Time::NEVER,
        row: Time::NEVER,
    };

    fn next(&self) -> Time {
        let preparing = self.decide.min(self.bicast).min(self.give_up);
        let executing = self.command.min(self.switch).min(self.resume);
        preparing.min(executing).min(self.row)
    }
}

/// A handover from one link to another.
#[derive(Debug)]
pub(crate) struct Crossing {
    /// Downlink and uplink of the source.
    pub(crate) source: [LinkId; 2],
    /// Downlink and uplink of the target.
    pub(crate) target: [LinkId; 2],
    pub(crate) data: Data,
    pub(crate) downlinks: Vec<RouteChange>,
    pub(crate) uplinks: Vec<RouteChange>,
    /// Routes of the messages from [`Signal::Required`] to [`Signal::Complete`]. `None` if the
    /// scenario gives the times of the steps.
    pub(crate) messages: Option<[RouteId; 5]>,
    /// Route from the source to the target, followed by [`Signal::ForwardingEnd`].
    pub(crate) forwarding_end: Option<RouteId>,
    /// True if the target sends forwarded packets before packets from the anchor.
    pub(crate) forwarded_first: bool,
    pub(crate) interruption: Span,
    pub(crate) preparation_timeout: Span,
    pub(crate) stage: Stage,
    pub(crate) times: Times,
    pub(crate) wake: Wake,
    /// Number of end markers that have not arrived at the target yet.
    pub(crate) markers: u32,
    pub(crate) row: LinkHandoverRow,
    /// Number of forwarded packets that reached the target.
    pub(crate) reached: u32,
    /// Number of packets that the target's downlink had lost before the handover.
    pub(crate) lost_before: u64,
}

/// Packets that an anchor has sent to both links.
#[derive(Debug, Default)]
pub(crate) struct Copies(BTreeMap<Identity, Copied>);

/// Fields that all copies of a packet share: endpoint, time of sending, sequence number and
/// acknowledgment number.
type Identity = (EndpointId, Time, u64, u64);

/// A packet that an anchor sent to both links.
#[derive(Debug, Clone, Copy)]
struct Copied {
    /// Number of the last handover that copied the packet.
    handover: u16,
    /// Number of copies that are still in the network.
    under_way: u32,
    arrived: u32,
}

fn identity(packet: &Packet) -> Identity {
    (
        packet.to,
        packet.sent_at,
        packet.segment.seq,
        packet.segment.ack,
    )
}

impl Copies {
    /// Records that an anchor sends a packet to both links.
    pub(crate) fn on_copy(&mut self, packet: &Packet, handover: u16) {
        let copied = self.0.entry(identity(packet)).or_insert(Copied {
            handover,
            under_way: 1,
            arrived: 0,
        });
        copied.handover = handover;
        copied.under_way += 1;
    }

    /// Records the drop of a packet. Returns true if the packet is lost: no other copy has arrived
    /// or can still arrive.
    pub(crate) fn on_drop(&mut self, packet: &Packet) -> bool {
        self.0.get_mut(&identity(packet)).is_none_or(|copied| {
            copied.under_way = copied.under_way.saturating_sub(1);
            copied.under_way == 0 && copied.arrived == 0
        })
    }

    /// Records the arrival of a packet. If another copy has arrived before, returns the handover
    /// that copied the packet. `None` if this is the first copy to arrive.
    pub(crate) fn on_arrival(&mut self, packet: &Packet) -> Option<u16> {
        let copied = self.0.get_mut(&identity(packet))?;
        copied.under_way = copied.under_way.saturating_sub(1);
        copied.arrived += 1;
        (copied.arrived > 1).then_some(copied.handover)
    }
}

impl Crossing {
    pub(crate) fn new(row: LinkHandoverRow, links: [[LinkId; 2]; 2], data: Data) -> Crossing {
        let [source, target] = links;
        Crossing {
            source,
            target,
            data,
            downlinks: Vec::new(),
            uplinks: Vec::new(),
            messages: None,
            forwarding_end: None,
            forwarded_first: true,
            interruption: Span::ZERO,
            preparation_timeout: Span::ZERO,
            stage: Stage::Waiting,
            times: Times::NONE,
            wake: Wake::default(),
            markers: 0,
            row,
            reached: 0,
            lost_before: 0,
        }
    }

    /// Returns the time of the next step.
    pub(crate) fn wake_at(&self) -> Time {
        self.times.next()
    }

    /// Returns the route of a message or of the end marker at the target. `None` if the handover
    /// sends no such message.
    pub(crate) fn route_of(&self, signal: Signal) -> Option<RouteId> {
        let number = match signal {
            Signal::Required => 0,
            Signal::Request => 1,
            Signal::Answer => 2,
            Signal::Order => 3,
            Signal::Complete => 4,
            Signal::OldPathEnd => return None,
            Signal::ForwardingEnd => return self.forwarding_end,
        };
        Some(self.messages?[number])
    }

    /// Records that a packet reaches the phone, `gap` after the one before. `is_late` is true if a
    /// packet that was sent later has already arrived.
    pub(crate) fn on_arrival(&mut self, gap: Span, is_late: bool) {
        if matches!(self.stage, Stage::Waiting | Stage::Ended) {
            return;
        }
        if self.stage == Stage::Commanded {
            self.row.downlink_gap_s = self.row.downlink_gap_s.max(gap.as_secs_f64());
        }
        self.row.reordered += u32::from(is_late);
    }

    /// Ends the handover and returns its result row.
    pub(crate) fn end(
        &mut self,
        now: Time,
        outcome: HandoverOutcome,
        lost: u64,
    ) -> LinkHandoverRow {
        self.stage = Stage::Ended;
        self.times = Times::NONE;
        let row = &mut self.row;
        row.time_s = now;
        row.outcome = outcome;
        if outcome == HandoverOutcome::Success {
            let forwarded = row.forwarded_waiting + row.forwarded_later;
            row.lost_forwarding = forwarded.saturating_sub(self.reached);
            row.lost_at_target = (lost - self.lost_before) as u32;
        }
        *row
    }
}
