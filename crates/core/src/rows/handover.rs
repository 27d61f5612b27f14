//! Rows of changes from one link to another.

use super::HandoverOutcome;
use crate::{LinkId, NodeId, Time, table};

table! {
    /// A change of a phone from one link or radio access bearer to another that has ended, one row
    /// each. Times are those of the run; what did not happen is NaN. Counts are of the downlink.
    pub struct LinkHandoverRow = "link_handovers" {
        /// One second after the last step, when what waited has come.
        time_s: Time, "s";
        /// The phone.
        node: NodeId, "";
        /// Downlink that was left.
        source: LinkId, "";
        /// Downlink that took its place.
        target: LinkId, "";
        /// success; cancelled, as a message was lost or nobody was there.
        outcome: HandoverOutcome, "";
        /// The source decided.
        decided_s: f64, "s";
        /// The anchor began to send to both.
        bicast_s: f64, "s";
        /// The source commanded, and stopped.
        commanded_s: f64, "s";
        /// The target began to send.
        resumed_s: f64, "s";
        /// The anchor sent to the target alone.
        switched_s: f64, "s";
        /// The end marker was at the target.
        end_marker_s: f64, "s";
        /// Longest time between two packets at the phone from the command on.
        downlink_gap_s: f64, "s";
        /// Packets forwarded that waited at the source, or were not sent whole.
        forwarded_waiting: u32, "packets";
        /// Packets forwarded that came to the source later.
        forwarded_later: u32, "packets";
        /// Packets that the anchor sent to both.
        bicast: u32, "packets";
        /// Of those, the ones that reached the phone twice.
        doubled: u32, "packets";
        /// Packets that reached the phone after one that was sent later.
        reordered: u32, "packets";
        /// Packets lost that waited at the source, unless the phone got the copy.
        lost_waiting: u32, "packets";
        /// Packets lost that came to the source later, unless the phone got the copy.
        lost_later: u32, "packets";
        /// Packets lost on their way from the source to the target.
        lost_forwarding: u32, "packets";
        /// Packets that the target had no room for.
        lost_at_target: u32, "packets";
    }
}
