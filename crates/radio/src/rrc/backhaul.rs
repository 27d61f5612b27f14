//! Messages about a UE between base stations, and between base stations and the core.
//!
//! ```text
//! source ─ Request ─► target      new ─ ContextRequest ─► home
//!        ◄─ Acknowledge ─             ◄───── Context ────
//!        ─ StatusTransfer ─►
//! source ─ Bicast, BicastEnd ─► core
//! target ─ PathSwitch ─► core ─ PathSwitched ─► target ─ Release ─► source
//! ```
//!
//! If the messages go through the core, the standard uses other names. Request is then Handover
//! Required and Handover Request. Acknowledge is Handover Request Acknowledge and Handover Command.
//! PathSwitch is Handover Notify, and Release is UE Context Release Command.
//!
//! Standard: TS 36.423 §8.2, §8.3; TS 36.413 §8.4; TS 38.423 §8.2; TS 38.413 §8.4.

use super::round::Round;
use fadeout_core::CellId;

/// Origin or destination of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NetworkNode {
    /// A base station, by its number.
    Station(u32),
    /// The core: MME and serving gateway, or AMF and UPF.
    Core,
}

/// Content of a message between base stations, or between a base station and the core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NetworkSignal {
    /// Handover Request: the source asks the target cell to accept the UE.
    Request(CellId),
    /// Handover Request Acknowledge: the target cell accepts the UE.
    Acknowledge(CellId),
    /// Handover Preparation Failure: the target cell refuses the UE.
    Refuse(CellId),
    /// SN Status Transfer: COUNT values of the UE's bearers. Through the core the messages are eNB
    /// Status Transfer and MME Status Transfer.
    StatusTransfer,
    /// COUNT value of the first copy that the source sends to a candidate (Early Status Transfer).
    EarlyStatus,
    /// Request that the core also send the UE's data to the base station of this cell (bicast).
    Bicast(CellId),
    /// Request that the core end the bicast.
    BicastEnd,
    /// Path Switch Request: the UE is in this cell.
    PathSwitch(CellId),
    /// Path Switch Request Acknowledge: the core now sends the UE's data to the new base station.
    PathSwitched,
    /// UE Context Release: the source may delete the UE's context.
    Release,
    /// Retrieve UE Context Request of the cell that the UE selected after a failure.
    ContextRequest,
    /// Retrieve UE Context Response with the UE's context.
    Context,
    /// Handover Cancel: the source does not need a candidate any more.
    Cancel { source: CellId, cell: CellId },
    /// Conditional Handover Cancel: a candidate does not reserve resources any more.
    Withdraw { source: CellId, cell: CellId },
    /// Handover Success: the UE has entered this candidate.
    Success(CellId),
    /// Message of the attach procedure between the core and the base station. `is_answer` is true
    /// if the message is the UE's answer.
    Attach { round: Round, is_answer: bool },
}

impl NetworkSignal {
    /// Returns the size in bytes of the IP packet with SCTP's header. Sizes are typical values, not
    /// those of a standard.
    pub(crate) fn size(self) -> u32 {
        match self {
            // These messages contain the UE's context and RRC messages.
            NetworkSignal::Request(_) | NetworkSignal::Context => 600,
            NetworkSignal::Acknowledge(_) => 300,
            NetworkSignal::PathSwitch(_)
            | NetworkSignal::PathSwitched
            | NetworkSignal::ContextRequest => 150,
            NetworkSignal::Refuse(_)
            | NetworkSignal::Release
            | NetworkSignal::StatusTransfer
            | NetworkSignal::EarlyStatus
            | NetworkSignal::Bicast(_)
            | NetworkSignal::BicastEnd
            | NetworkSignal::Cancel { .. }
            | NetworkSignal::Withdraw { .. }
            | NetworkSignal::Success(_) => 100,
            NetworkSignal::Attach { round, is_answer } => round.wired_size(is_answer),
        }
    }
}

/// A message that is being transmitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NetworkMessage {
    number: u64,
    pub signal: NetworkSignal,
    /// Node at which the message arrives next.
    pub next: NetworkNode,
    /// Destination of the message.
    pub to: NetworkNode,
}

/// Messages about a UE that are being transmitted or are lost.
#[derive(Debug, Default)]
pub(crate) struct NetworkMessages(Vec<NetworkMessage>);

impl NetworkMessages {
    pub(crate) fn add(&mut self, number: u64, signal: NetworkSignal, [next, to]: [NetworkNode; 2]) {
        self.0.push(NetworkMessage {
            number,
            signal,
            next,
            to,
        });
    }

    /// Removes and returns a message that has arrived. `None` if the message was cancelled.
    pub(crate) fn take_arrived(&mut self, number: u64) -> Option<NetworkMessage> {
        let place = self.0.iter().position(|message| message.number == number)?;
        Some(self.0.swap_remove(place))
    }

    /// Cancels all messages, because another procedure begins.
    pub(crate) fn cancel_all(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_arrives_once_and_not_after_its_procedure() {
        let mut wire = NetworkMessages::default();
        let places = [NetworkNode::Core, NetworkNode::Station(3)];
        wire.add(4, NetworkSignal::Release, places);
        wire.add(5, NetworkSignal::PathSwitched, places);
        let there = wire
            .take_arrived(5)
            .map(|message| (message.signal, message.next, message.to));
        assert_eq!(
            there,
            Some((NetworkSignal::PathSwitched, places[0], places[1]))
        );
        assert_eq!(wire.take_arrived(5), None);
        wire.cancel_all();
        assert_eq!(wire.take_arrived(4), None);
    }
}
