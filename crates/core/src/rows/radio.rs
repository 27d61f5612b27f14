//! The rows of the radio access's tables.

use crate::rows::named;
use crate::table::{ColumnKind, ColumnSink, ColumnValue};
use crate::{CellId, DrbId, FlowId, Span, Time, UeId, table};

table! {
    /// A transmission of a transport block, one row each. The row is written when the receiver has
    /// tried to decode the block.
    pub struct TransportBlockRow = "transport_blocks" {
        /// Start of the slot in which the block was sent, in simulated time.
        time_s: Time, "s";
        /// Cell that sent or received the block.
        cell: CellId, "";
        /// UE that received or sent the block.
        ue: UeId, "";
        /// Direction of the block: `downlink` or `uplink`.
        direction: Direction, "";
        /// Effective SINR of this transmission over its resource blocks. Receiver distortion limits
        /// it to at most 30 dB.
        sinr_db: f64, "dB";
        /// Channel quality indicator (CQI) that the scheduler used. Zero if the channel quality is
        /// out of range or link adaptation is off.
        cqi: u32, "";
        /// Index of the modulation and coding scheme (MCS).
        mcs: u32, "";
        /// Size of the transport block.
        size_bytes: u32, "bytes";
        /// Number of resource blocks that the transmission occupies.
        n_prb: u32, "PRB";
        /// Number of OFDM symbols that the transmission occupies.
        symbols: u32, "";
        /// Number of spatial layers of the transmission.
        layers: u32, "";
        /// Number of the HARQ process.
        process: u32, "";
        /// HARQ round: number of this transmission of the block. Zero for the first transmission,
        /// one for the first retransmission.
        round: u32, "";
        /// True if the block was decoded.
        is_ok: bool, "";
    }
}

table! {
    /// Backlog of a bearer, one row for each sample. A sample is taken when a transport block was
    /// filled from the bearer.
    pub struct BearerRow = "bearers" {
        /// Simulated time of the sample.
        time_s: Time, "s";
        /// Name of the bearer.
        bearer: DrbId, "";
        /// Direction of the data: `downlink` or `uplink`.
        direction: Direction, "";
        /// RLC data that wait at the sender for their first transmission, headers included.
        rlc_new_bytes: u64, "bytes";
        /// RLC data at the sender that wait for a retransmission.
        rlc_retransmission_bytes: u64, "bytes";
        /// RLC status reports at the sender that wait to be sent.
        rlc_status_bytes: u64, "bytes";
        /// Packets in the bearer. A packet that overtook an older packet counts until the older
        /// packet has left the bearer.
        packets: u32, "packets";
        /// Packets that PDCP at the receiver holds until earlier packets arrive.
        pdcp_held_packets: u32, "packets";
    }
}

table! {
    /// Parts of the delay of a packet in a bearer, one row for each delivered packet. The parts add
    /// up to the time from the packet's entry to its delivery.
    pub struct RadioDelayRow = "radio_delay" {
        /// Simulated time at which the packet was delivered.
        time_s: Time, "s";
        /// Name of the bearer.
        bearer: DrbId, "";
        /// Direction of the packet: `downlink` or `uplink`.
        direction: Direction, "";
        /// Name of the packet's flow.
        flow: FlowId, "";
        /// Size of the IP packet.
        size_bytes: u32, "bytes";
        /// Time from the packet's entry to the first transport block with a part of it, less
        /// `sr_wait_s` and `grant_wait_s`.
        queue_s: Span, "s";
        /// Time from the packet's entry until the UE sent a scheduling request. Zero if no request
        /// was needed.
        sr_wait_s: Span, "s";
        /// Time from the scheduling request to the granted slot. Zero if no request was needed.
        grant_wait_s: Span, "s";
        /// Time of one transmission: one slot on the air, and the decoding at the receiver.
        transmission_s: Span, "s";
        /// Time of the HARQ retransmissions of the transport block that completed the packet.
        harq_s: Span, "s";
        /// Time from the first transport block with a part of the packet to the block that
        /// completed it. Segmentation and RLC retransmissions cause it.
        rlc_s: Span, "s";
        /// Time for which PDCP or RLC held the complete packet until earlier packets arrived.
        reordering_s: Span, "s";
    }
}

table! {
    /// A packet that a bearer lost, one row each.
    pub struct RadioDropRow = "radio_drops" {
        /// Simulated time at which the packet was lost.
        time_s: Time, "s";
        /// Name of the bearer.
        bearer: DrbId, "";
        /// Direction of the packet: `downlink` or `uplink`.
        direction: Direction, "";
        /// Name of the packet's flow.
        flow: FlowId, "";
        /// Size of the IP packet.
        size_bytes: u32, "bytes";
        /// Cause of the loss: `no-block`, `buffer-full`, `discard-timer`, `aqm`, `harq-failure`,
        /// `reordering`, `header-compression`, `not-attached`, `link-failure` or `handover`.
        cause: RadioDropCause, "";
    }
}

table! {
    /// A measurement of a cell by a UE, one row each.
    pub struct MeasurementRow = "measurements" {
        /// Simulated time of the measurement.
        time_s: Time, "s";
        /// UE that measured.
        ue: UeId, "";
        /// Cell that was measured.
        cell: CellId, "";
        /// True if the cell serves the UE. If several cells serve the UE, true only for the primary
        /// cell.
        is_serving: bool, "";
        /// True if the cell is a secondary cell of the UE.
        is_secondary: bool, "";
        /// Measured RSRP: power of a resource element of the reference signals.
        rsrp_dbm: f64, "dBm";
        /// RSRP after the layer 3 filter of the first event.
        filtered_dbm: f64, "dBm";
    }
}

table! {
    /// A step of radio resource control (RRC), one row each.
    pub struct RrcRow = "rrc" {
        /// Simulated time of the step.
        time_s: Time, "s";
        /// UE that is concerned by the step.
        ue: UeId, "";
        /// Cell that is concerned by the step: the target of a handover, or a secondary cell. In
        /// all other steps it is the serving cell.
        cell: CellId, "";
        /// Kind of step. Measurement: `condition-entered`, `condition-left`, `report-sent`,
        /// `report-received`. Preparation of a handover: `handover-request`, `handover-refused`,
        /// `preparation-expired`, `bicast-began`, `bicast-ended`. Execution: `command-sent`,
        /// `command-received`, `preamble-sent`, `contention-lost`, `first-uplink`,
        /// `timing-acquired`, `access-done`, `complete-received`. Completion:
        /// `path-switch-request`, `path-switched`, `context-released`, `end-marker`,
        /// `source-resumed`, `source-released`. Conditional handover: `candidate-prepared`,
        /// `candidates-sent`, `candidates-received`, `conditions-met`, `handover-success`,
        /// `candidate-cancelled`. Radio link: `out-of-sync`, `in-sync`, `link-failure`,
        /// `access-failure`, `access-problem`, `beam-failure`, `beam-recovered`,
        /// `beam-recovery-expired`. After a failure: `cell-selected`, `context-request`,
        /// `reestablished`, `released`. Secondary cell or node: `reconfiguration-sent`,
        /// `secondary-added`, `secondary-released`, `secondary-request`, `secondary-prepared`,
        /// `secondary-refused`, `secondary-expired`, `secondary-command`, `secondary-failed`,
        /// `secondary-failure-known`. Idle or inactive UE: `connection-released`, `return-begun`,
        /// `paged`, `connected`. Initial attach: `attach-begun`, `setup-complete`,
        /// `authentication-request`, `nas-security-command`, `context-setup-request`,
        /// `security-command`, `registration-accept`, `session-setup-request`, `attached`,
        /// `attach-failed`.
        event: RrcEvent, "";
    }
}

table! {
    /// A change of cell, one row for each that has ended, with success or without. Times are
    /// simulated times, and NaN for a step that did not happen.
    pub struct HandoverRow = "handovers" {
        /// Time at which the row was written: 100 ms after the last step, so that the gaps are
        /// known.
        time_s: Time, "s";
        /// UE that changed cell.
        ue: UeId, "";
        /// Cell that the UE left.
        source: CellId, "";
        /// Cell that the UE was to enter, or that it selected after a failure.
        target: CellId, "";
        /// Procedure of the change: `handover`, `conditional`, `daps`, `ltm`, `recovery`,
        /// `reestablishment`, `setup` or `attach`.
        procedure: Procedure, "";
        /// Outcome of the change. `success`: the UE is in the target. `refused`: the target was
        /// full. `cancelled`: the UE did not leave in time. `failed`: T304, T301, T300 or T3410
        /// expired, or the link failed.
        outcome: HandoverOutcome, "";
        /// Time at which a measurement report reached the source, or at which the link failed. With
        /// `conditional` the source asked the target at that time. With `attach` the UE began to
        /// search for a cell.
        triggered_s: f64, "s";
        /// Time at which the source sent the handover command. With `conditional` it sent the
        /// latest list of candidates.
        commanded_s: f64, "s";
        /// Time at which the UE left the source. With `daps` its uplink data moved to the target at
        /// that time.
        left_s: f64, "s";
        /// Time at which random access to the target was complete.
        entered_s: f64, "s";
        /// Time at which the UE's last message of the procedure reached the target.
        completed_s: f64, "s";
        /// Time at which the core network switched the path. NaN if the path was not switched, or
        /// if both cells belong to one base station.
        switched_s: f64, "s";
        /// Longest downlink interruption of the UE's bearers: time from the last packet at its IP
        /// layer before the change to the first one after. NaN without such packets.
        downlink_gap_s: f64, "s";
        /// Longest uplink interruption of the UE's bearers: time from the last packet behind the
        /// base station before the change to the first one after. NaN without such packets.
        uplink_gap_s: f64, "s";
        /// Number of random access preambles that the UE sent.
        preambles: u32, "";
        /// Downlink packets that the source forwarded with their PDCP sequence numbers. With `daps`
        /// this number includes copies of packets that the source also sent to the UE.
        forwarded_numbered: u32, "packets";
        /// Downlink packets that the source forwarded without a PDCP sequence number.
        forwarded_fresh: u32, "packets";
        /// Packets of both directions that were lost in the change. This number includes forwarded
        /// packets that links between base stations dropped. It also includes bicast packets that
        /// reached the UE from neither base station.
        lost_packets: u32, "packets";
        /// Time at which the core network began to send each packet to both base stations.
        bicast_s: f64, "s";
        /// Downlink packets that the core network sent to both base stations and the target
        /// accepted.
        bicast_packets: u32, "packets";
        /// Bicast packets that the source did not drop, so that the UE receives them twice. With
        /// `daps`, PDCP PDUs that arrived over both cells.
        doubled_packets: u32, "packets";
        /// Copies that the source of a conditional handover sent to candidates before the handover,
        /// with early data forwarding.
        early_copies: u32, "packets";
        /// Copies of early data forwarding that were not needed. The UE did not enter the candidate
        /// cell, or already had the packet.
        useless_copies: u32, "packets";
    }
}

named! {
    /// A step of radio resource control.
    RrcEvent {
        /// The entering condition of an event holds for a neighbour cell. The time to trigger
        /// starts.
        ConditionEntered = "condition-entered",
        /// The entering condition no longer holds.
        ConditionLeft = "condition-left",
        /// The UE sent a measurement report.
        ReportSent = "report-sent",
        /// The base station received the measurement report.
        ReportReceived = "report-received",
        /// The source asked the target to accept the UE.
        HandoverRequest = "handover-request",
        /// The target refused the UE, because the target is full.
        HandoverRefused = "handover-refused",
        /// The preparation timeout expired before the target answered.
        PreparationExpired = "preparation-expired",
        /// The core network began to send each packet to both base stations.
        BicastBegan = "bicast-began",
        /// The core network stopped sending to the target, because the UE did not enter the target.
        BicastEnded = "bicast-ended",
        /// The source sent the handover command, and stopped the downlink.
        CommandSent = "command-sent",
        /// The UE received the handover command, and left the source.
        CommandReceived = "command-received",
        /// The UE sent a random access preamble.
        PreambleSent = "preamble-sent",
        /// Contention resolution named another UE that sent the same preamble.
        ContentionLost = "contention-lost",
        /// In a change of cell without random access, the UE sent its last message with its first
        /// grant.
        FirstUplink = "first-uplink",
        /// A candidate received the preamble that the source ordered, so the UE's timing advance is
        /// known.
        TimingAcquired = "timing-acquired",
        /// Random access is complete: the UE is in the cell.
        AccessDone = "access-done",
        /// The target received the UE's last message.
        CompleteReceived = "complete-received",
        /// The target asked the core network to switch the path.
        PathSwitchRequest = "path-switch-request",
        /// The core network sends over the new path.
        PathSwitched = "path-switched",
        /// The source knows that the UE left, and released its context.
        ContextReleased = "context-released",
        /// An end marker reached the target.
        EndMarker = "end-marker",
        /// The source cancelled the handover, and serves the UE again.
        SourceResumed = "source-resumed",
        /// The source knows that a candidate accepted the UE.
        CandidatePrepared = "candidate-prepared",
        /// The source sent the list of candidates to the UE.
        CandidatesSent = "candidates-sent",
        /// The UE received the list of candidates.
        CandidatesReceived = "candidates-received",
        /// The conditions of a candidate hold, and the UE leaves the source for this candidate.
        ConditionsMet = "conditions-met",
        /// The source knows that the UE is in the target.
        HandoverSuccess = "handover-success",
        /// The UE left the source, which had served it together with the target.
        SourceReleased = "source-released",
        /// A candidate no longer reserves resources for the UE.
        CandidateCancelled = "candidate-cancelled",
        /// The UE detected N310 out-of-sync indications, and T310 started.
        OutOfSync = "out-of-sync",
        /// The link recovered, and T310 stopped.
        InSync = "in-sync",
        /// The radio link failed.
        LinkFailure = "link-failure",
        /// T304, T301 or T300 expired.
        AccessFailure = "access-failure",
        /// The UE counted beam-failure-instance-max-count instances. Recovery of the beams begins.
        BeamFailure = "beam-failure",
        /// beamFailureRecoveryTimer expired: the UE no longer has a dedicated preamble.
        BeamRecoveryExpired = "beam-recovery-expired",
        /// The base station answered the beam recovery, and other beams are in use.
        BeamRecovered = "beam-recovered",
        /// Random access within the cell sent the maximum number of preambles, so that the radio
        /// link failed.
        AccessProblem = "access-problem",
        /// The UE selected a cell.
        CellSelected = "cell-selected",
        /// The selected cell asked the UE's former base station for the context.
        ContextRequest = "context-request",
        /// The connection is re-established.
        Reestablished = "reestablished",
        /// The connection is lost.
        Released = "released",
        /// The base station sent the UE a reconfiguration of its secondary cells.
        ReconfigurationSent = "reconfiguration-sent",
        /// The UE released a secondary cell.
        SecondaryReleased = "secondary-released",
        /// The UE added a secondary cell, which is not active yet.
        SecondaryAdded = "secondary-added",
        /// One side found that the link to the secondary node's cell failed.
        SecondaryFailed = "secondary-failed",
        /// The master's base station knows that the link to the secondary node failed.
        SecondaryFailureKnown = "secondary-failure-known",
        /// The base station released the connection of a UE without traffic, which is idle or
        /// inactive from then on.
        ConnectionReleased = "connection-released",
        /// An idle or inactive UE has data to send, and begins to return.
        ReturnBegun = "return-begun",
        /// The base station paged the UE.
        Paged = "paged",
        /// The UE has its bearers again.
        Connected = "connected",
        /// The master's base station asked for a cell of a secondary node.
        SecondaryRequest = "secondary-request",
        /// The master's base station knows that the secondary node accepted the UE.
        SecondaryPrepared = "secondary-prepared",
        /// The secondary node refused the UE, because the node's cell is full.
        SecondaryRefused = "secondary-refused",
        /// The preparation timeout expired before the secondary node answered.
        SecondaryExpired = "secondary-expired",
        /// The UE received the command about its secondary node.
        SecondaryCommand = "secondary-command",
        /// A UE that was idle from the start searches for a cell.
        AttachBegun = "attach-begun",
        /// The base station received the answer to the RRC setup, with the first NAS message.
        SetupComplete = "setup-complete",
        /// The core network challenged the UE.
        AuthenticationRequest = "authentication-request",
        /// The core network sent the NAS security mode command.
        NasSecurityCommand = "nas-security-command",
        /// The core network gave the base station the UE's context.
        ContextSetupRequest = "context-setup-request",
        /// The base station sent the RRC security mode command.
        SecurityCommand = "security-command",
        /// The base station sent the registration accept to the UE.
        RegistrationAccept = "registration-accept",
        /// The core network asked for the bearers of a PDU session.
        SessionSetupRequest = "session-setup-request",
        /// The UE has its bearers.
        Attached = "attached",
        /// T300 or T3410 expired, or the link failed before the UE had its bearers.
        AttachFailed = "attach-failed",
    }
}

named! {
    /// A procedure by which a UE changes cell.
    #[derive(Default)]
    Procedure {
        /// The source orders the UE to change to the target.
        #[default]
        Handover = "handover",
        /// The UE decides itself to change to a prepared cell.
        Conditional = "conditional",
        /// The source orders the UE to change to the target. The source continues to serve the UE
        /// until the target ends this.
        Daps = "daps",
        /// A MAC command switches the UE to a prepared cell.
        Ltm = "ltm",
        /// After a failure, the UE enters a prepared cell.
        Recovery = "recovery",
        /// After a failure, the UE enters a cell that fetches its context.
        Reestablishment = "reestablishment",
        /// After the connection was lost, the UE sets up a new one.
        Setup = "setup",
        /// A UE that was idle from the start connects. Source and target are the cell that it
        /// connects to.
        Attach = "attach",
    }
}

named! {
    /// The outcome of a change of cell.
    #[derive(Default)]
    HandoverOutcome {
        /// The UE is in the target.
        #[default]
        Success = "success",
        /// The target refused the UE, because the target is full.
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
    /// Returns zero for the downlink and one for the uplink: an index into pairs.
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }
    /// Returns the other direction.
    pub const fn opposite(self) -> Direction {
        match self {
            Direction::Downlink => Direction::Uplink,
            Direction::Uplink => Direction::Downlink,
        }
    }
}

named! {
    /// The cause of the loss of a packet in a bearer.
    RadioDropCause {
        /// No transport block can carry the packet. In transparent mode it is larger than all
        /// blocks, or the given SINR is out of range.
        NoBlock = "no-block",
        /// The RLC buffer was full.
        BufferFull = "buffer-full",
        /// PDCP's discard timer expired before the packet was sent.
        DiscardTimer = "discard-timer",
        /// Active queue management dropped the packet.
        Aqm = "aqm",
        /// A transport block with a part of the packet failed its last HARQ transmission, and the
        /// RLC mode does not retransmit.
        HarqFailure = "harq-failure",
        /// The reordering timer expired before the missing parts of the packet arrived.
        Reordering = "reordering",
        /// ROHC could not decompress the header, because too many packets before it were lost.
        HeaderCompression = "header-compression",
        /// The core network had no bearer for the packet, because the packet's UE had not attached.
        NotAttached = "not-attached",
        /// RLC reached its maximum number of retransmissions: radio link failure.
        LinkFailure = "link-failure",
        /// The packet was lost in a handover. It was at a source that forwards nothing. Or it was
        /// transmitted at the source in an RLC mode without retransmissions, and did not arrive.
        Handover = "handover",
    }
}
