//! Options offered by a peer's SYN or SYN-ACK.
//!
//! Standard: RFC 9293 §3.7.1; RFC 3168 §6.1.1; RFC 9768 §3.1.1.

use crate::congestion::EcnFeedback;
use crate::tcp::accurate;
use fadeout_core::{Flags, Segment};

/// MSS of a peer that sends no MSS option.
///
/// Standard: RFC 9293 §3.7.1.
const DEFAULT_MSS: u16 = 536;
/// Smallest MSS used, even if the peer's option is smaller (Linux `TCP_MIN_SND_MSS`). Smaller
/// segments would mainly carry headers.
const SMALLEST_MSS: u16 = 48;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Offer {
    pub(super) mss: u16,
    pub(super) timestamps: bool,
    pub(super) sack: bool,
    pub(super) ecn: EcnFeedback,
    pub(super) window_scaling: bool,
}

impl Offer {
    /// Returns the options that `segment` offers. `knows_accurate` is true if this end uses
    /// accurate ECN on the wire.
    pub(super) fn from_segment(segment: &Segment, knows_accurate: bool) -> Offer {
        let is_reply = segment.flags.has(Flags::ACK);
        Offer {
            mss: match segment.mss {
                0 => DEFAULT_MSS,
                mss => mss.max(SMALLEST_MSS),
            },
            timestamps: segment.has_timestamps,
            sack: segment.sack_permitted,
            ecn: if knows_accurate && is_reply && accurate::is_agreed_by(segment) {
                EcnFeedback::Accurate
            } else {
                ecn(segment.flags, is_reply)
            },
            window_scaling: segment.window_scale.is_some(),
        }
    }
}

/// Returns the ECN feedback that the flags of a SYN or SYN-ACK offer.
fn ecn(flags: Flags, is_reply: bool) -> EcnFeedback {
    let all = Flags::AE.0 | Flags::CWR.0 | Flags::ECE.0;
    let accurate = if is_reply { Flags::CWR.0 } else { all };
    if flags.0 & all == accurate {
        EcnFeedback::Accurate
    } else if flags.has(Flags::ECE) && flags.has(Flags::CWR) != is_reply {
        // RFC 3168 section 6.1.1: a SYN requests ECN with both flags, and a SYN-ACK agrees with ECE
        // alone.
        EcnFeedback::Classic
    } else {
        EcnFeedback::None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn syn(flags: Flags) -> Segment {
        Segment {
            flags: Flags::SYN | flags,
            ..Segment::default()
        }
    }

    #[test]
    fn a_peer_that_names_no_segment_or_a_tiny_one_gets_the_least_allowed() {
        for (offered, taken) in [(0, 536), (1, 48), (48, 48), (49, 49), (1460, 1460)] {
            let segment = Segment {
                mss: offered,
                ..syn(Flags::default())
            };
            assert_eq!(Offer::from_segment(&segment, false).mss, taken);
        }
    }

    #[test]
    fn options_are_offered_by_being_there() {
        assert_eq!(
            Offer::from_segment(&syn(Flags::default()), false),
            Offer {
                mss: 536,
                ..Offer::default()
            }
        );
        let segment = Segment {
            mss: 1460,
            has_timestamps: true,
            sack_permitted: true,
            window_scale: Some(0),
            ..syn(Flags::default())
        };
        let offer = Offer::from_segment(&segment, false);
        assert!(offer.timestamps && offer.sack && offer.window_scaling);
    }

    #[test]
    fn the_flags_of_a_syn_ask_and_those_of_its_answer_agree() {
        let (ae, cwr, ece, ack) = (Flags::AE, Flags::CWR, Flags::ECE, Flags::ACK);
        let none = Flags::default();
        for (flags, expected) in [
            (none, EcnFeedback::None),
            (ece, EcnFeedback::None),
            (cwr, EcnFeedback::None),
            (ece | cwr, EcnFeedback::Classic),
            (ae | ece | cwr, EcnFeedback::Accurate),
            (ack, EcnFeedback::None),
            (ack | ece, EcnFeedback::Classic),
            (ack | cwr, EcnFeedback::Accurate),
            (ack | ece | cwr, EcnFeedback::None),
            (ack | ae | ece | cwr, EcnFeedback::None),
        ] {
            assert_eq!(
                Offer::from_segment(&syn(flags), false).ecn,
                expected,
                "{flags:?}"
            );
        }
        // With accurate ECN on the wire, the answer reports the ECN field with which the SYN
        // arrived.
        for (flags, expected) in [
            (ack, EcnFeedback::None),
            (ack | ece, EcnFeedback::Classic),
            (ack | cwr, EcnFeedback::Accurate),
            (ack | ece | cwr, EcnFeedback::Accurate),
            (ack | ae, EcnFeedback::Accurate),
            (ack | ae | ece | cwr, EcnFeedback::None),
            (ae, EcnFeedback::None),
        ] {
            assert_eq!(
                Offer::from_segment(&syn(flags), true).ecn,
                expected,
                "{flags:?}"
            );
        }
    }
}
