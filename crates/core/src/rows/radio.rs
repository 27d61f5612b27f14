//! The rows of the radio access's tables.

use crate::rows::named;
use crate::table::{ColumnKind, ColumnSink, ColumnValue};
use crate::{CellId, DrbId, FlowId, Span, Time, UeId, table};

table! {
    /// A transport block, one row each transmission, written when the receiver has tried to
    /// decode it.
    pub struct TransportBlockRow = "transport_blocks" {
        /// Start of the slot it was sent in.
        time_s: Time, "s";
        /// Cell.
        cell: CellId, "";
        /// UE.
        ue: UeId, "";
        /// downlink or uplink.
        direction: Direction, "";
        /// Signal to interference and noise of this transmission, effective over the band.
        sinr_db: f64, "dB";
        /// Channel quality indicator that the scheduler knew; zero is out of range, and also
        /// where link adaptation is off.
        cqi: u32, "";
        /// Modulation and coding scheme.
        mcs: u32, "";
        /// Size of the transport block.
        size_bytes: u32, "bytes";
        /// Resource blocks that it occupies.
        n_prb: u32, "PRB";
        /// OFDM symbols that it occupies.
        symbols: u32, "";
        /// Spatial layers.
        layers: u32, "";
        /// HARQ process.
        process: u32, "";
        /// Transmission of this block, zero the first.
        round: u32, "";
        /// Whether it was decoded.
        is_ok: bool, "";
    }
}

table! {
    /// What waits in a bearer, one row a sample, taken when a transport block was filled from it.
    pub struct BearerRow = "bearers" {
        /// Simulated time.
        time_s: Time, "s";
        /// Bearer.
        bearer: DrbId, "";
        /// downlink or uplink.
        direction: Direction, "";
        /// RLC data at the sending side that has not been sent yet, headers included.
        rlc_new_bytes: u64, "bytes";
        /// RLC data at the sending side that waits to be sent again.
        rlc_retransmission_bytes: u64, "bytes";
        /// RLC status reports that wait at the sending side.
        rlc_status_bytes: u64, "bytes";
        /// Packets that have entered and not left it, and some that left before an older one.
        packets: u32, "packets";
        /// Packets at the receiving side that PDCP holds until those before them arrive.
        pdcp_held_packets: u32, "packets";
    }
}

table! {
    /// What a packet's way through a bearer was made of, one row a delivered packet. The parts
    /// add up to the time from its entry to its delivery.
    pub struct RadioDelayRow = "radio_delay" {
        /// When it left the bearer at the far end.
        time_s: Time, "s";
        /// Bearer.
        bearer: DrbId, "";
        /// downlink or uplink.
        direction: Direction, "";
        /// Flow.
        flow: FlowId, "";
        /// Size of the IP packet.
        size_bytes: u32, "bytes";
        /// From its entry until it was first in a transport block, but for the next two.
        queue_s: Span, "s";
        /// Part of that wait in which the UE had no way to ask but a scheduling request, until
        /// the request was sent.
        sr_wait_s: Span, "s";
        /// Part of that wait from the scheduling request to the granted slot.
        grant_wait_s: Span, "s";
        /// One slot on the air and the decoding at the receiver.
        transmission_s: Span, "s";
        /// HARQ retransmissions of the transport block that completed it.
        harq_s: Span, "s";
        /// From the first transport block with a part of it to the one that completed it:
        /// segmentation and RLC retransmission.
        rlc_s: Span, "s";
        /// Complete at the receiver, held until the packets before it arrived.
        reordering_s: Span, "s";
    }
}

table! {
    /// A packet that a bearer lost, one row each.
    pub struct RadioDropRow = "radio_drops" {
        /// Simulated time.
        time_s: Time, "s";
        /// Bearer.
        bearer: DrbId, "";
        /// downlink or uplink.
        direction: Direction, "";
        /// Flow.
        flow: FlowId, "";
        /// Size of the IP packet.
        size_bytes: u32, "bytes";
        /// Why: no-block, buffer-full, discard-timer, aqm, harq-failure, reordering, header-compression,
        /// link-failure or handover.
        cause: RadioDropCause, "";
    }
}

table! {
    /// A cell as a UE measured it, one row a cell and measurement.
    pub struct MeasurementRow = "measurements" {
        /// Simulated time.
        time_s: Time, "s";
        /// UE.
        ue: UeId, "";
        /// Cell.
        cell: CellId, "";
        /// Whether it serves the UE: the primary cell, where there are several.
        is_serving: bool, "";
        /// Whether it is a secondary cell of the UE.
        is_secondary: bool, "";
        /// RSRP as measured: power of a resource element of the reference signals.
        rsrp_dbm: f64, "dBm";
        /// RSRP behind the layer 3 filter of the first event.
        filtered_dbm: f64, "dBm";
    }
}

table! {
    /// A step of radio resource control, one row each.
    pub struct RrcRow = "rrc" {
        /// Simulated time.
        time_s: Time, "s";
        /// UE.
        ue: UeId, "";
        /// Cell that it is about: the target of a handover, else the one that serves.
        cell: CellId, "";
        /// report-sent, report-received, handover-request, handover-refused, command-sent,
        /// command-received, preamble-sent, access-done, complete-received, path-switched,
        /// end-marker, source-resumed, out-of-sync, in-sync, link-failure, access-failure,
        /// cell-selected, reestablished or released; beam-failure, beam-recovered, beam-recovery-expired and
        /// access-problem of beams; reconfiguration-sent, secondary-released and
        /// secondary-added of secondary cells; candidate-prepared, candidates-sent,
        /// candidates-received, conditions-met, handover-success and candidate-cancelled of
        /// conditional handovers; connection-released, return-begun, paged and connected of a UE
        /// that is idle or inactive at times; source-released of one that was in two cells;
        /// secondary-request, secondary-prepared, secondary-refused, secondary-expired, secondary-command, secondary-failed
        /// and secondary-failure-known of a secondary node, whose cell is meant by secondary-added and
        /// secondary-released too; attach-begun, setup-complete, authentication-request, nas-security-command,
        /// context-setup-request, security-command, registration-accept, session-setup-request, attached and attach-failed of
        /// a UE that was idle at the start.
        event: RrcEvent, "";
    }
}

table! {
    /// A change of cell that has ended, well or not, one row each. Times are those of the run; what did
    /// not happen is NaN.
    pub struct HandoverRow = "handovers" {
        /// When it ended; 100 ms after the last step, so that the gaps are known.
        time_s: Time, "s";
        /// UE.
        ue: UeId, "";
        /// Cell that was left.
        source: CellId, "";
        /// Cell that was meant, or found.
        target: CellId, "";
        /// handover, conditional, daps, ltm, recovery, reestablishment, setup or attach.
        procedure: Procedure, "";
        /// success; refused, as the target was full; cancelled, as the UE did not leave in time;
        /// failed, as T304, T301, T300 or T3410 expired or the link failed before its end.
        outcome: HandoverOutcome, "";
        /// A measurement report reached the source, or the link failed; of a conditional handover the
        /// source asked the target; of an attach the UE began to look for a cell.
        triggered_s: f64, "s";
        /// The source sent the command; of a conditional handover the latest list of candidates.
        commanded_s: f64, "s";
        /// The UE left the source; with daps its uplink data did.
        left_s: f64, "s";
        /// Random access was done.
        entered_s: f64, "s";
        /// The UE's last message reached the target.
        completed_s: f64, "s";
        /// The core switched the path; NaN too where both cells are of one base station.
        switched_s: f64, "s";
        /// Longest time between two downlink packets at the UE's IP layer around the change, of its
        /// bearers; NaN where none came.
        downlink_gap_s: f64, "s";
        /// The same of the uplink behind the base station.
        uplink_gap_s: f64, "s";
        /// Preambles sent.
        preambles: u32, "";
        /// Downlink packets forwarded with their PDCP sequence numbers; with daps copies of what the source sends too.
        forwarded_numbered: u32, "packets";
        /// Downlink packets forwarded without.
        forwarded_fresh: u32, "packets";
        /// Packets of both directions that the change lost, with those of the forwarded ones that links between base
        /// stations dropped until then; of those that the core sent to both base stations where neither came on.
        lost_packets: u32, "packets";
        /// The core began to send to both base stations.
        bicast_s: f64, "s";
        /// Downlink packets that it sent to both, and the target took.
        bicast_packets: u32, "packets";
        /// Those of them that the source has not dropped: the UE gets them twice. With daps PDUs that came over both cells.
        doubled_packets: u32, "packets";
        /// Of a conditional handover with early forwarding: copies that the source sent to candidates before it.
        early_copies: u32, "packets";
        /// Those of them that nobody needed: of candidates that the UE did not come to, and of what it had.
        useless_copies: u32, "packets";
    }
}

named! {
    /// A step of radio resource control.
    RrcEvent {
        /// The condition of an event holds for a neighbour: the time to trigger starts.
        ConditionEntered = "condition-entered",
        /// It does not hold any more.
        ConditionLeft = "condition-left",
        /// The UE sends a measurement report.
        ReportSent = "report-sent",
        /// The base station has it.
        ReportReceived = "report-received",
        /// The source asks the target.
        HandoverRequest = "handover-request",
        /// The target has no room.
        HandoverRefused = "handover-refused",
        /// The source has waited long enough for the target's answer.
        PreparationExpired = "preparation-expired",
        /// The core sends to the target too from now on.
        BicastBegan = "bicast-began",
        /// It does not any more, though the UE is not there.
        BicastEnded = "bicast-ended",
        /// The source sends the command, and stops the downlink.
        CommandSent = "command-sent",
        /// The UE has it, and leaves.
        CommandReceived = "command-received",
        /// The UE sends a preamble.
        PreambleSent = "preamble-sent",
        /// Contention resolution names another UE, which has sent the same preamble.
        ContentionLost = "contention-lost",
        /// Without random access: the UE sends its last message with its first grant.
        FirstUplink = "first-uplink",
        /// A candidate has heard the preamble that was ordered: its timing advance is known.
        TimingAcquired = "timing-acquired",
        /// The UE is in the cell.
        AccessDone = "access-done",
        /// The target has the UE's last message.
        CompleteReceived = "complete-received",
        /// The target asks the core for the new path.
        PathSwitchRequest = "path-switch-request",
        /// The core sends over the new path.
        PathSwitched = "path-switched",
        /// The source knows that the UE is elsewhere.
        ContextReleased = "context-released",
        /// An end marker is at the target.
        EndMarker = "end-marker",
        /// The source gives the handover up, and goes on.
        SourceResumed = "source-resumed",
        /// The source knows that a candidate takes the UE.
        CandidatePrepared = "candidate-prepared",
        /// The source tells the UE of its candidates.
        CandidatesSent = "candidates-sent",
        /// The UE has them.
        CandidatesReceived = "candidates-received",
        /// The conditions of a candidate are fulfilled: the UE leaves for it.
        ConditionsMet = "conditions-met",
        /// The source knows that the UE is in a candidate.
        HandoverSuccess = "handover-success",
        /// The UE leaves the source, which served it beside the target.
        SourceReleased = "source-released",
        /// A candidate holds no room for the UE any more.
        CandidateCancelled = "candidate-cancelled",
        /// T310 starts.
        OutOfSync = "out-of-sync",
        /// T310 stops.
        InSync = "in-sync",
        /// The radio link has failed.
        LinkFailure = "link-failure",
        /// T304, T301 or T300 has expired.
        AccessFailure = "access-failure",
        /// As many beam failure instances as may be: recovery of the beams begins.
        BeamFailure = "beam-failure",
        /// beamFailureRecoveryTimer has expired: preambles are not dedicated any more.
        BeamRecoveryExpired = "beam-recovery-expired",
        /// The base station has answered the recovery: other beams are in use.
        BeamRecovered = "beam-recovered",
        /// Random access within the cell has sent as many preambles as may be: the radio link has failed.
        AccessProblem = "access-problem",
        /// The UE has selected a cell.
        CellSelected = "cell-selected",
        /// The cell asks the base station that had the UE for its context.
        ContextRequest = "context-request",
        /// The connection is re-established.
        Reestablished = "reestablished",
        /// The connection is lost.
        Released = "released",
        /// The base station tells the UE of another secondary cell.
        ReconfigurationSent = "reconfiguration-sent",
        /// A secondary cell is one no more.
        SecondaryReleased = "secondary-released",
        /// A secondary cell is one from now on, not yet active.
        SecondaryAdded = "secondary-added",
        /// The link to the cell of the secondary node has failed, as one side finds.
        SecondaryFailed = "secondary-failed",
        /// The master's base station knows of it.
        SecondaryFailureKnown = "secondary-failure-known",
        /// Nothing came for long: the UE is idle or inactive.
        ConnectionReleased = "connection-released",
        /// An idle or inactive UE has something to send.
        ReturnBegun = "return-begun",
        /// It is paged.
        Paged = "paged",
        /// It has its bearers again.
        Connected = "connected",
        /// The master's base station asks for a cell of a secondary node.
        SecondaryRequest = "secondary-request",
        /// It knows that the cell takes the UE.
        SecondaryPrepared = "secondary-prepared",
        /// The cell has no room.
        SecondaryRefused = "secondary-refused",
        /// It has waited long enough for an answer.
        SecondaryExpired = "secondary-expired",
        /// The UE has heard of its other secondary node.
        SecondaryCommand = "secondary-command",
        /// A UE that was idle from the start looks for a cell.
        AttachBegun = "attach-begun",
        /// The base station has the answer to RRC's setup, with the first message for the core.
        SetupComplete = "setup-complete",
        /// The core challenges the UE.
        AuthenticationRequest = "authentication-request",
        /// The core commands NAS's security.
        NasSecurityCommand = "nas-security-command",
        /// The core gives the base station the UE's context.
        ContextSetupRequest = "context-setup-request",
        /// The base station commands RRC's security.
        SecurityCommand = "security-command",
        /// The base station passes on that the UE is registered.
        RegistrationAccept = "registration-accept",
        /// The core asks for the bearers of a PDU session.
        SessionSetupRequest = "session-setup-request",
        /// The UE has its bearers.
        Attached = "attached",
        /// T300 or T3410 has expired, or the link has failed before that.
        AttachFailed = "attach-failed",
    }
}

named! {
    /// How a UE changes cell.
    #[derive(Default)]
    Procedure {
        /// By command.
        #[default]
        Handover = "handover",
        /// By the UE on its own, to a cell that was prepared.
        Conditional = "conditional",
        /// By command, while the source serves on.
        Daps = "daps",
        /// By a command of MAC, to a cell that was prepared.
        Ltm = "ltm",
        /// After a failure, to a cell that was prepared.
        Recovery = "recovery",
        /// After a failure, with its context.
        Reestablishment = "reestablishment",
        /// After the connection was lost.
        Setup = "setup",
        /// Of a UE that was idle from the start; source and target are the cell that it is in then.
        Attach = "attach",
    }
}

named! {
    /// How a change of cell ended.
    #[derive(Default)]
    HandoverOutcome {
        /// The UE is in the target.
        #[default]
        Success = "success",
        /// The target had no room.
        Refused = "refused",
        /// The UE did not leave in time.
        Cancelled = "cancelled",
        /// A timer expired, or the link failed.
        Failed = "failed",
    }
}

named! {
    /// A direction of the radio access.
    #[derive(PartialOrd, Ord, Hash)]
    Direction {
        /// From the base station to the UE.
        Downlink = "downlink",
        /// From the UE to the base station.
        Uplink = "uplink",
    }
}

impl Direction {
    /// Zero for the downlink, one for the uplink: an index into pairs.
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }
    /// The other direction.
    pub const fn opposite(self) -> Direction {
        match self {
            Direction::Downlink => Direction::Uplink,
            Direction::Uplink => Direction::Downlink,
        }
    }
}

named! {
    /// Why a bearer lost a packet.
    RadioDropCause {
        /// No transport block that the UE could get carries it: in transparent mode it is larger
        /// than all of them, or the SINR that is given is out of range.
        NoBlock = "no-block",
        /// The RLC buffer was full.
        BufferFull = "buffer-full",
        /// PDCP's discard timer expired before it was sent.
        DiscardTimer = "discard-timer",
        /// Active queue management chose it.
        Aqm = "aqm",
        /// A transport block with a part of it failed its last HARQ transmission, and the RLC
        /// mode does not repeat.
        HarqFailure = "harq-failure",
        /// The receiver gave up waiting for the rest of it.
        Reordering = "reordering",
        /// ROHC could not find its header: too much was lost before it.
        HeaderCompression = "header-compression",
        /// The core had no bearer for it: its UE had not attached.
        NotAttached = "not-attached",
        /// RLC gave up repeating it: radio link failure.
        LinkFailure = "link-failure",
        /// It was at the source of a handover that forwards nothing, or sent there without having
        /// arrived in an RLC mode that does not repeat.
        Handover = "handover",
    }
}
