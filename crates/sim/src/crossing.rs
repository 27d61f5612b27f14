//! A phone's change from one link to another: what is known before the run, where it stands, and what
//! became of its packets.
//!
//! ```text
//! given:  bicast ─► command ─► switch, resume ─► row
//! links:  Required ─► Request ─► Answer (bicast) ─► Order: command ─► resume ─► Complete: switch ─► row
//!         source      anchor     target             anchor            target               anchor
//! ```

use fadeout_core::{
    EndpointId, FlowId, HandoverOutcome, LinkHandoverRow, LinkId, Packet, RouteId, Span, Time, Wake,
};
use std::collections::BTreeMap;

/// From the last step to the row: what waited at the target has come by then.
pub(crate) const ROW_DELAY: Span = Span::from_secs(1);

/// A message of a handover, or what stands in the user plane like one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Signal {
    /// Handover Required: from the source to the anchor.
    Required,
    /// Relocation Request: from the anchor to the target.
    Request,
    /// Its acknowledgment: from the target to the anchor.
    Answer,
    /// Handover Command: from the anchor to the source.
    Order,
    /// Relocation Complete: from the target to the anchor.
    Complete,
    /// The end marker of the old path, at the source.
    OldPathEnd,
    /// The same at the target, behind the last forwarded packet.
    ForwardingEnd,
}

impl Signal {
    /// Bytes of an IP packet: usual sizes, not those of a standard. An end marker has 36 bytes of IP,
    /// UDP and GTP-U, and a packet here at least 40.
    pub(crate) fn size(self) -> u32 {
        match self {
            Signal::Required | Signal::Request | Signal::Answer | Signal::Order => 200,
            Signal::Complete => 100,
            Signal::OldPathEnd | Signal::ForwardingEnd => 40,
        }
    }
}

/// The fate of downlink data at the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Data {
    Dropped,
    /// It goes over this route.
    Forwarded(RouteId),
    /// It is dropped, and the anchor sends to both before.
    Bicast,
}

/// The way of one direction of a flow, before and after.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Way {
    /// Who sends over it.
    pub(crate) endpoint: EndpointId,
    /// Who receives.
    pub(crate) receiver: EndpointId,
    pub(crate) flow: FlowId,
    pub(crate) old: RouteId,
    pub(crate) new: RouteId,
    /// Position of the first hop that differs.
    pub(crate) parted: u8,
    /// From the anchor to the source, with [`Signal::OldPathEnd`] behind.
    pub(crate) marker: RouteId,
}

/// Where a handover stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    Waiting,
    /// The source has decided, or the anchor bicasts.
    Preparing,
    /// The source has stopped.
    Commanded,
    Ended,
}

/// When something is next to be done.
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
    /// Downlink and uplink that are left.
    pub(crate) source: [LinkId; 2],
    /// Downlink and uplink of the target.
    pub(crate) target: [LinkId; 2],
    pub(crate) data: Data,
    pub(crate) downs: Vec<Way>,
    pub(crate) ups: Vec<Way>,
    /// Routes of the messages from [`Signal::Required`] to [`Signal::Complete`]; none where times are
    /// given.
    pub(crate) messages: Option<[RouteId; 5]>,
    /// From the source to the target, with [`Signal::ForwardingEnd`] behind.
    pub(crate) forwarding_end: Option<RouteId>,
    /// Whether forwarded packets go before those of the anchor.
    pub(crate) forwarded_first: bool,
    pub(crate) interruption: Span,
    pub(crate) preparation_timeout: Span,
    pub(crate) stage: Stage,
    pub(crate) times: Times,
    pub(crate) wake: Wake,
    /// End markers that are still to come.
    pub(crate) markers: u32,
    pub(crate) row: LinkHandoverRow,
    /// Forwarded packets that reached the target.
    pub(crate) reached: u32,
    /// Packets that the target's downlink had lost before.
    pub(crate) lost_before: u64,
}

/// The packets that anchors sent to both.
#[derive(Debug, Default)]
pub(crate) struct Copies(BTreeMap<Identity, Copied>);

/// The fields that the copies of a packet have in common: endpoint, time of sending, sequence numbers.
type Identity = (EndpointId, Time, u64, u64);

/// A packet that an anchor sent to both links.
#[derive(Debug, Clone, Copy)]
struct Copied {
    /// The last handover that copied it.
    handover: u16,
    /// Neither arrived nor dropped at a source.
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
    /// An anchor sends a packet to both.
    pub(crate) fn on_copy(&mut self, packet: &Packet, handover: u16) {
        let copied = self.0.entry(identity(packet)).or_insert(Copied {
            handover,
            under_way: 1,
            arrived: 0,
        });
        copied.handover = handover;
        copied.under_way += 1;
    }

    /// A packet is dropped. Whether it is lost with that.
    pub(crate) fn on_drop(&mut self, packet: &Packet) -> bool {
        self.0.get_mut(&identity(packet)).is_none_or(|copied| {
            copied.under_way = copied.under_way.saturating_sub(1);
            copied.under_way == 0 && copied.arrived == 0
        })
    }

    /// A packet arrives: in which handover it was copied if it came before.
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
            downs: Vec::new(),
            ups: Vec::new(),
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

    /// When something is next to be done.
    pub(crate) fn wake_at(&self) -> Time {
        self.times.next()
    }

    /// The route of a message of preparation or completion.
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

    /// A packet reaches the phone, so long after the one before, perhaps after one that was sent later.
    pub(crate) fn on_arrival(&mut self, gap: Span, is_late: bool) {
        if matches!(self.stage, Stage::Waiting | Stage::Ended) {
            return;
        }
        if self.stage == Stage::Commanded {
            self.row.downlink_gap_s = self.row.downlink_gap_s.max(gap.as_secs_f64());
        }
        self.row.reordered += u32::from(is_late);
    }

    /// Its end; the row.
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
