//! Detection and repair of losses.

/// Constants of loss recovery.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RecoveryConfig {
    /// Method of detecting and repairing losses.
    pub method: LossRecovery,
    /// The variant of NewReno if the loss recovery is [`LossRecovery::NewReno`].
    pub newreno_variant: NewRenoVariant,
    /// Condition for duplicate ACKs to begin a fast retransmit without SACK.
    pub recover_guard: RecoverGuard,
    /// Number of duplicate ACKs, or of segments SACKed above a hole, that indicate a loss
    /// (DupThresh).
    pub duplicate_threshold: u32,
    /// True if proportional rate reduction moves the window in recovery (RFC 6937, RFC 9937).
    /// Otherwise the window drops to the threshold at once.
    pub prr: bool,
    /// True if each of the first duplicate ACKs sends one new segment (RFC 3042).
    pub limited_transmit: bool,
    /// True if tail loss probes are sent (RFC 8985 section 7).
    pub tail_loss_probe: bool,
    /// True if F-RTO detects spurious timeouts (RFC 5682).
    pub frto: bool,
    /// True if a reduction is undone once timestamps or DSACKs prove it spurious (RFC 3522, RFC
    /// 3708).
    pub undo: bool,
}

/// Method of detecting and repairing losses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LossRecovery {
    /// Losses are detected by time, with RACK on the SACK scoreboard (RFC 8985), as in Linux.
    Rack,
    /// A segment is lost if enough segments above it are SACKed (RFC 6675).
    Sack,
    /// Duplicate ACKs indicate a loss, without SACK. Partial ACKs continue the recovery (RFC 6582).
    NewReno,
    /// Duplicate ACKs indicate a loss, without SACK. The first new ACK ends the recovery (RFC
    /// 5681).
    Reno,
    /// Duplicate ACKs trigger slow start from one segment (Jacobson 1988).
    Tahoe,
}

impl LossRecovery {
    /// Returns true if SACK blocks drive the scoreboard.
    pub fn uses_sack(self) -> bool {
        matches!(self, LossRecovery::Rack | LossRecovery::Sack)
    }
}

fadeout_core::choices! {
    /// Rule for partial acknowledgments that restart the retransmission timer.
    ///
    /// Standard: RFC 6582 §3.2, step 3; RFC 3782 §4.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum NewRenoVariant {
        /// Only the first partial acknowledgment of a recovery restarts the timer. With many losses
        /// in a window the timer expires, and slow start repairs them.
        Impatient = "impatient",
        /// Each partial acknowledgment restarts the timer. One loss is repaired in each round trip,
        /// however many there are.
        SlowButSteady = "slow-but-steady",
    }
}

fadeout_core::choices! {
    /// Rule for the duplicate ACKs that may begin a fast retransmit without SACK. It compares them
    /// with RFC 6582's `recover`, the highest sequence number sent at the last fast retransmit or
    /// timeout. Duplicates at or below `recover` may come from unnecessary retransmissions.
    ///
    /// Standard: RFC 6582 §3.2, step 2.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum RecoverGuard {
        /// Duplicate ACKs of a number above `recover`.
        Above = "above",
        /// Duplicate ACKs of `recover` or a number above it, as in ns-3.
        From = "from",
        /// All duplicate ACKs, except while a timeout is being repaired: RFC 5681 alone.
        None = "none",
    }
}
