//! RRC messages between a UE and its base station.

use super::candidates::Candidates;
use super::report::MeasurementReport;
use super::round::Round;
use super::secondary_node::message::NodeMessage;
use crate::config::Aggregation;
use fadeout_core::{CellId, Span};

/// Bits of RRC messages in a transport block of the 13.6 kbit/s signalling bearer, and the block
/// interval. Each 10 ms block has 148 bits, of which RLC uses 16 and MAC uses 4.
///
/// Standard: TS 34.108 §6.10.2.4.1.3.
const BLOCK: (u32, Span) = (128, Span::from_millis(10));

/// RRC message, or MAC control element.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Message {
    /// MeasurementReport.
    Report(MeasurementReport),
    /// RRCReconfiguration with reconfigurationWithSync.
    Command(CellId),
    /// RRCReconfigurationComplete.
    Complete,
    /// RRCReconfiguration that replaces the secondary cells (sCellToAddModList,
    /// sCellToReleaseList).
    Secondaries(Aggregation),
    /// RRCReconfigurationComplete that confirms new secondary cells.
    SecondariesReady,
    /// RRCReconfiguration that replaces the candidates (conditionalReconfiguration).
    Candidates(Candidates),
    /// RRCReconfigurationComplete that confirms new candidates.
    CandidatesReady,
    /// FailureInformation (failureType dapsFailure): the UE could not enter the target and stays in
    /// the source.
    AccessFailed,
    /// RRCReconfiguration with daps-SourceRelease.
    ReleaseSource,
    /// Message about the secondary node.
    Node(NodeMessage),
    /// LTM Cell Switch Command, which is a MAC control element.
    Switch(CellId),
    /// Message to a UE that attaches: DLInformationTransfer, SecurityModeCommand or
    /// RRCReconfiguration.
    Question(Round),
    /// Answer of an attaching UE to [`Message::Question`].
    Answer(Round),
}

impl Message {
    /// Returns the size in bytes with ASN.1 and without PDCP's header. Sizes are typical values,
    /// not those of a standard.
    pub(crate) fn size(self) -> u32 {
        match self {
            Message::Report(_) => 40,
            Message::Command(_) => 200,
            Message::Complete | Message::SecondariesReady | Message::CandidatesReady => 40,
            // The message contains a cell configuration for each candidate.
            Message::Candidates(all) => 60 + 160 * all.cells().len() as u32,
            Message::Secondaries(_) => 100,
            Message::AccessFailed => 20,
            // The headers of PDCP, RLC and MAC add 5 bytes. The command contains a timing advance
            // and TCI states, but no preambles.
            Message::Switch(_) => 5,
            Message::ReleaseSource => 40,
            Message::Node(message) => message.size(),
            Message::Question(round) => round.question_size(),
            Message::Answer(round) => round.answer_size(),
        }
    }

    /// Returns the transmission time over the signalling bearer of 3G.
    pub(crate) fn time_in_utra(self) -> Span {
        let (bits, interval) = BLOCK;
        interval * u64::from((8 * self.size()).div_ceil(bits))
    }
}

/// RRC messages that are being transmitted or are lost, by number.
#[derive(Debug, Default)]
pub(crate) struct RrcMessages(Vec<(u64, Message)>);

impl RrcMessages {
    /// Stores a message that is being transmitted.
    pub(crate) fn add(&mut self, number: u64, message: Message) {
        self.0.push((number, message));
    }

    /// Removes and returns a message that has arrived. `None` if the message was cancelled.
    pub(crate) fn take_arrived(&mut self, number: u64) -> Option<Message> {
        let place = self.0.iter().position(|&(known, _)| known == number)?;
        Some(self.0.remove(place).1)
    }

    /// Cancels handover commands that have not arrived.
    pub(crate) fn cancel_command(&mut self) {
        let is_command =
            |message: &Message| matches!(message, Message::Command(_) | Message::Switch(_));
        self.0.retain(|(_, message)| !is_command(message));
    }

    /// True if a message with candidates has not arrived.
    pub(crate) fn has_candidates(&self) -> bool {
        let mut all = self.0.iter();
        all.any(|(_, message)| matches!(message, Message::Candidates(_)))
    }

    /// Cancels all messages, because the UE leaves the link that carries them.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_read_once_and_a_cancelled_command_never() {
        let mut messages = RrcMessages::default();
        messages.add(1, Message::Command(CellId(2)));
        messages.add(2, Message::Complete);
        messages.cancel_command();
        assert_eq!(messages.take_arrived(1), None);
        assert_eq!(messages.take_arrived(2), Some(Message::Complete));
        assert_eq!(messages.take_arrived(2), None);
        messages.add(3, Message::Complete);
        messages.clear();
        assert_eq!(messages.take_arrived(3), None);
    }

    #[test]
    fn a_message_takes_as_many_blocks_of_3g_as_its_bits_fill() {
        assert_eq!(Message::Complete.time_in_utra(), Span::from_millis(30));
        let command = Message::Command(CellId(0));
        assert_eq!(command.time_in_utra(), Span::from_millis(130));
    }
}
