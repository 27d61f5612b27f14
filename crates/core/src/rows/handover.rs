//! Rows of changes from one link to another.

use super::HandoverOutcome;
use crate::{LinkId, NodeId, Time, table};

table! {
    /// A change of a phone from one link or radio access bearer to another, one row for each change
    /// that has ended. Times are simulated times, and NaN for a step that did not happen. Counts
    /// are of downlink packets.
    pub struct LinkHandoverRow = "link_handovers" {
        /// Time at which the change ended: one second after the last step, when waiting packets
        /// have arrived, or the time of the cancellation.
        time_s: Time, "s";
        /// Phone that changed from one link to the other.
        node: NodeId, "";
        /// Downlink of the link that the phone left.
        source: LinkId, "";
        /// Downlink of the link that the phone changed to.
        target: LinkId, "";
        /// Outcome of the change. `success`: the target serves the phone. `cancelled`: a message
        /// was lost, or no flow used the old link.
        outcome: HandoverOutcome, "";
        /// Time at which the source decided to hand the phone over.
        decided_s: f64, "s";
        /// Time at which the anchor began to send each packet to both links.
        bicast_s: f64, "s";
        /// Time at which the source stopped sending, at the handover command.
        commanded_s: f64, "s";
        /// Time at which the target began to send.
        resumed_s: f64, "s";
        /// Time at which the anchor began to send to the target alone.
        switched_s: f64, "s";
        /// Time at which the last end marker reached the target.
        end_marker_s: f64, "s";
        /// Longest time between two consecutive downlink packets at the phone, from the handover
        /// command on. NaN if no packet reached the phone.
        downlink_gap_s: f64, "s";
        /// Forwarded packets that waited at the source or were partly sent when the source stopped
        /// sending.
        forwarded_waiting: u32, "packets";
        /// Forwarded packets that reached the source after the source had stopped sending.
        forwarded_later: u32, "packets";
        /// Bicast packets, which the anchor sent to both links.
        bicast: u32, "packets";
        /// Bicast packets that reached the phone twice.
        doubled: u32, "packets";
        /// Packets that reached the phone after a packet that was sent later.
        reordered: u32, "packets";
        /// Lost packets that waited at the source when the source stopped sending. A packet does
        /// not count if its copy reached the phone.
        lost_waiting: u32, "packets";
        /// Lost packets that reached the source after the source had stopped sending. A packet does
        /// not count if its copy reached the phone.
        lost_later: u32, "packets";
        /// Packets lost on their way from the source to the target.
        lost_forwarding: u32, "packets";
        /// Packets that the target's downlink dropped during the change, for example because its
        /// queue was full.
        lost_at_target: u32, "packets";
    }
}
