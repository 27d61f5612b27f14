//! Messages between base stations, and between them and the core, about a UE.
//!
//! ```text
//! source ─ Request ─► target      new ─ ContextRequest ─► home
//!        ◄─ Acknowledge ─             ◄───── Context ────
//!        ─ StatusTransfer ─►
//! source ─ Bicast, BicastEnd ─► core
//! target ─ PathSwitch ─► core ─ PathSwitched ─► target ─ Release ─► source
//! ```
//!
//! By way of the core the same steps have other names: Handover Required and Handover Request, their
//! Acknowledge and Handover Command, Handover Notify, UE Context Release Command.
//!
//! Standard: TS 36.423 §8.2, §8.3; TS 36.413 §8.4; TS 38.423 §8.2; TS 38.413 §8.4.

use super::attach::Round;
use fadeout_core::CellId;

/// Where a message begins or ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// A base station, by its number.
    Station(u32),
    /// The core: MME and serving gateway, or AMF and UPF.
    Core,
}

/// Content of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    /// The source asks whether this cell takes the UE.
    Request(CellId),
    /// It does.
    Acknowledge(CellId),
    /// It has no room.
    Refuse(CellId),
    /// The COUNTs of the UE's bearers (SN Status Transfer; by way of the core eNB and MME Status Transfer).
    StatusTransfer,
    /// The COUNT of the first copy that the source sends a candidate (Early Status Transfer).
    EarlyStatus,
    /// The core is to send to this cell too.
    Bicast(CellId),
    /// It is not to any more.
    BicastEnd,
    /// The UE is in this cell.
    PathSwitch(CellId),
    /// The core sends there.
    PathSwitched,
    /// The source may forget the UE.
    Release,
    /// A cell that the UE has come to asks for its context.
    ContextRequest,
    /// Here it is.
    Context,
    /// The source does not want a candidate any more (Handover Cancel).
    Cancel { source: CellId, cell: CellId },
    /// A candidate holds no room any more (Conditional Handover Cancel).
    Withdraw { source: CellId, cell: CellId },
    /// The UE is in this candidate (Handover Success).
    Success(CellId),
    /// A UE that attaches is asked, or has answered.
    Attach { round: Round, is_answer: bool },
}

impl Signal {
    /// Bytes of an IP packet with SCTP's header: usual sizes, not those of a standard.
    pub(crate) fn size(self) -> u32 {
        match self {
            // With the UE's context and RRC's containers.
            Signal::Request(_) | Signal::Context => 600,
            Signal::Acknowledge(_) => 300,
            Signal::PathSwitch(_) | Signal::PathSwitched | Signal::ContextRequest => 150,
            Signal::Refuse(_)
            | Signal::Release
            | Signal::StatusTransfer
            | Signal::EarlyStatus
            | Signal::Bicast(_)
            | Signal::BicastEnd
            | Signal::Cancel { .. }
            | Signal::Withdraw { .. }
            | Signal::Success(_) => 100,
            Signal::Attach { round, is_answer } => round.wired_size(is_answer),
        }
    }
}

/// A message on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wired {
    number: u64,
    pub signal: Signal,
    /// Where it is read next.
    pub next: Place,
    /// Whom it is for.
    pub to: Place,
}

/// The messages about a UE that are under way, or lost.
#[derive(Debug, Default)]
pub(crate) struct Wire(Vec<Wired>);

impl Wire {
    pub(crate) fn send(&mut self, number: u64, signal: Signal, [next, to]: [Place; 2]) {
        self.0.push(Wired {
            number,
            signal,
            next,
            to,
        });
    }

    /// A message is where it was sent. None when nobody waits for it any more.
    pub(crate) fn take(&mut self, number: u64) -> Option<Wired> {
        let place = self.0.iter().position(|wired| wired.number == number)?;
        Some(self.0.swap_remove(place))
    }

    /// Another procedure begins: messages of the one before mean nothing any more.
    pub(crate) fn begin_anew(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_arrives_once_and_not_after_its_procedure() {
        let mut wire = Wire::default();
        let way = [Place::Core, Place::Station(3)];
        wire.send(4, Signal::Release, way);
        wire.send(5, Signal::PathSwitched, way);
        let there = wire
            .take(5)
            .map(|wired| (wired.signal, wired.next, wired.to));
        assert_eq!(there, Some((Signal::PathSwitched, way[0], way[1])));
        assert_eq!(wire.take(5), None);
        wire.begin_anew();
        assert_eq!(wire.take(4), None);
    }
}
