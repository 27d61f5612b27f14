//! Schemes for links that fail or lose without being congested.

use fadeout_core::Span;
use fadeout_core::registry::{choice, integer, number, span};

fadeout_core::parameters! {
    /// Schemes for links that fail or lose without being congested.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct ResilienceConfig {
        /// Response to an indication of loss. TCP-DCR waits for the link layer to retransmit. NCR
        /// waits for duplicate ACKs of a share of the window (RFC 4653). TCP-Casablanca keeps the
        /// window if a loss is due to the radio and not to a `biased` queue.
        pub loss as "loss-response": LossResponse = choice(LossResponse::NAMES, "standard"),
        /// Time for which TCP-DCR waits before it responds to a loss, in smoothed round-trip times.
        /// The default is the value of the paper.
        pub loss_delay_rtts as "dcr-delay": f64 = number((0.0, 100.0, "round-trip times"), "1"),
        /// Period of expendable segments in TCP-Casablanca: one of this number of segments is
        /// expendable. The paper gives no pattern. If fewer than one in ten segments are
        /// expendable, a full queue may contain no expendable segment.
        pub expendable_every as "casablanca-period": u32 = integer((2, 1_000, "segments"), "5"),
        /// Response to an outage that `link-info` reports. With TCP-Feedback the sender stops. With
        /// ELFN the sender sends probes. With Freeze-TCP the receiver closes its window before the
        /// outage.
        pub outage as "outage-response": OutageResponse = choice(OutageResponse::NAMES, "none"),
        /// Longest time for which a sender with TCP-Feedback waits for the notice of a new route.
        /// It must exceed the longest outage. The paper gives no value.
        pub route_timeout as "feedback-timeout": Span = span("5 s"),
        /// Time between two probes of ELFN. After a shorter outage the sender still waits for the
        /// whole interval. The default is the paper's value for a radio of 2 Mbit/s.
        pub probe_interval as "elfn-probe-interval": Span = span("2 s"),
        /// Time before an outage at which the receiver of Freeze-TCP closes its window. In the
        /// paper, one round-trip time is the best value.
        pub freeze_lead_rtts as "freeze-lead": f64 = number((0.0, 100.0, "round-trip times"), "1"),
    }
}

fadeout_core::choices! {
    /// A sender's response to an indication of loss.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum LossResponse {
        /// The loss recovery responds at once.
        Standard = "standard",
        /// The response waits for the link layer first (TCP-DCR).
        Delayed = "dcr",
        /// The response waits for two thirds of a window of duplicates (RFC 4653, careful).
        NcrCareful = "ncr-careful",
        /// The response waits for half a window of duplicates (RFC 4653, aggressive).
        NcrAggressive = "ncr-aggressive",
        /// The window stays as it is if the receiver reports that the radio lost the segment
        /// (TCP-Casablanca).
        Casablanca = "casablanca",
    }
}

fadeout_core::choices! {
    /// Response of the ends to a notice of an outage.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum OutageResponse {
        /// The sender does not react to outages.
        None = "none",
        /// The sender stops sending until it learns that the outage is over (TCP-Feedback).
        Feedback = "feedback",
        /// The sender stops sending and probes (ELFN).
        Elfn = "elfn",
        /// The receiver closes its window before an outage (Freeze-TCP).
        Freeze = "freeze",
    }
}
