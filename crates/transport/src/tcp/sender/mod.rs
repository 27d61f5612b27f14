//! The sending half of a connection: outstanding segments, new data that may leave, and segments to
//! retransmit.
//!
//! The state machine is Linux's (kernel `tcp_input.c`, `tcp_output.c`, `tcp_timer.c`,
//! `tcp_recovery.c`). Each part cites the RFC that it implements. The files are:
//!
//! - [`ack`]: processing of one ACK, in the order of Linux's `tcp_ack`
//! - [`buffer`]: writes into the send buffer of the socket
//! - [`sack`]: application of SACK and DSACK blocks to the scoreboard
//! - [`recovery`]: states Open, Disorder, CWR, Recovery and Loss, and proportional rate reduction
//! - [`classic`]: fast recovery without SACK (Tahoe, Reno, NewReno)
//! - [`early`]: data on the SYN (Fast Open)
//! - [`host`]: the queue of the sender's own host
//! - [`marks`]: ECN feedback
//! - [`rack`], [`probe`], [`timeout`]: loss by time, tail loss probes, the retransmission timer
//! - [`undo`]: undo of spurious reductions
//! - [`resilience`]: schemes for links that fail or lose without being congested
//! - [`pieces`]: size of bursts, and their wait for an ACK
//! - [`steering`]: changes by the caller of a simulation
//! - [`subflow`]: interface for a multipath connection
//! - [`transmit`]: transmission of new data, in bursts or single segments
//! - [`retransmit`][]: retransmissions
//! - [`pacing`]: departure clock and pacing rate
//! - [`usage`]: use of the window, and its reduction after idle time

mod ack;
mod agreed;
mod buffer;
mod classic;
mod early;
mod host;
mod invariants;
mod marks;
mod pacing;
mod pieces;
mod probe;
mod rack;
mod recovery;
mod resilience;
mod retransmit;
mod sack;
mod statistics;
mod steering;
pub(crate) mod subflow;
mod timeout;
mod transmit;
mod undo;
mod usage;

pub(super) use agreed::Agreed;
pub use host::HostQueue;
pub use statistics::{Delivery, SenderStatistics};
pub use steering::Steering;

use super::config::TcpConfig;
use super::info::TcpInfo;
use super::outbox::Outbox;
use super::rate::RateSampler;
use super::rtt::RttEstimator;
use super::scoreboard::Scoreboard;
use super::socket::SocketModel;
use super::socket::bursts::Bursts;
use super::timer::TimerClock;
use crate::congestion::{Congestion, CongestionControl, EcnFeedback, RecoveryState, Window};
use fadeout_core::{
    BbrRow, CongestionRow, FlowEnd, FlowEventRow, FlowId, Probe, SackBlock, Segment, Span, Time,
};
use std::collections::VecDeque;
use std::sync::Arc;

/// Time, outbox and probe that one call of the sender uses.
pub(super) struct SenderContext<'a, P> {
    pub(super) now: Time,
    pub(super) out: &'a mut Outbox,
    pub(super) probe: &'a mut P,
}

/// Purposes of the sender's only timer. In Linux one timer serves the first four purposes as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TimerKind {
    /// Retransmission timeout (RFC 6298).
    Rto,
    /// Tail loss probe (RFC 8985 section 7.2).
    LossProbe,
    /// RACK's reordering timer (RFC 8985 section 6.2 step 5).
    Reordering,
    /// Zero-window probe (RFC 9293 section 3.8.6.1).
    Persist,
    /// Wait of a loss response for the link layer (TCP-DCR).
    LossDelay,
    /// Timer of an outage response.
    Outage,
}

#[derive(Debug)]
pub(crate) struct Sender {
    config: Arc<TcpConfig>,
    flow: FlowId,
    /// End of the flow at which this sender is, for recorded rows.
    end: FlowEnd,
    congestion: Congestion,
    window: Window,
    board: Scoreboard,
    rtt: RttEstimator,
    rate: RateSampler,
    statistics: SenderStatistics,

    snd_una: u64,
    snd_nxt: u64,
    /// End of the data that the socket has accepted from the application.
    write_end: u64,
    socket: SocketModel,
    bursts: Bursts,
    fin_queued: bool,
    fin_sent: bool,
    /// True if the application closes right after its data was pushed once.
    closes_after_push: bool,
    /// True if a multipath connection has more data than it offers this subflow.
    holds_back: bool,
    /// Bytes that each data segment of a subflow reserves for a DATA_ACK of 64 bits instead of 32.
    long_ack_len: u32,
    /// Advertised window (RFC 9293 SND.WND).
    snd_wnd: u64,
    /// Sequence number of the segment that last updated the window (RFC 9293 SND.WL1).
    snd_wl1: u64,

    state: RecoveryState,
    /// Sequence number whose acknowledgment ends the recovery or reduction (RFC 6675
    /// RecoveryPoint).
    high_seq: u64,
    recovery: recovery::Reduction,
    undo: undo::Undo,
    classic: classic::Classic,
    next_seg: retransmit::NextSeg,
    rack: rack::Rack,
    probe: probe::LossProbe,
    /// True while F-RTO is under way (RFC 5682).
    frto: bool,
    /// Number of consecutive timeouts without progress.
    retransmits: u32,
    /// First departure of the segment that timed out.
    stalled_since: Time,
    /// Number of segments that may arrive out of order before a loss is inferred.
    reordering: u32,
    /// End of the highest SACKed segment.
    fack: u64,
    /// SACK blocks of the previous ACK, sorted. The segments that they cover are already tagged.
    sack_cache: [SackBlock; 4],
    /// Number of the segment at which the search for lost segments starts.
    retransmit_hint: u64,

    timer: Option<(TimerKind, Time)>,
    clock: TimerClock,
    persist_backoff: u32,
    /// Number of consecutive zero-window probes without an answer.
    unanswered_probes: u32,
    usage: usage::Usage,
    pacer: pacing::Pacer,
    /// True if small segments wait for more data even if nothing is outstanding (`TCP_CORK`).
    is_corked: bool,
    /// True if more data follows the last write. The end of the write is then sent without PSH.
    has_more: bool,
    /// True if small segments may be sent until the next write (Linux `TCP_NAGLE_PUSH`).
    pushes_small: bool,
    /// Ends of records. No segment contains data of two records.
    records: VecDeque<u64>,
    /// End of the last small segment sent (Linux `snd_sml`).
    small_end: u64,
    /// Largest window that the peer advertised.
    max_window: u64,
    last_sent_at: Time,
    marks: marks::ReportedMarks,
    resilience: resilience::Resilience,
    srtt_since: Time,
    /// Queue of the sender's host. `None` if segments enter the network at once.
    below: Option<host::Below>,
}

impl Sender {
    pub(super) fn new(config: &Arc<TcpConfig>, flow: FlowId, congestion: Congestion) -> Sender {
        let window = Window {
            cwnd: f64::from(config.initial_window),
            ssthresh: config.initial_ssthresh,
            mss: config.effective_mss(),
        };
        Sender {
            config: Arc::clone(config),
            flow,
            end: FlowEnd::default(),
            congestion,
            window,
            board: Scoreboard::default(),
            rtt: RttEstimator::new(config),
            rate: RateSampler::default(),
            statistics: SenderStatistics::default(),
            snd_una: 1,
            snd_nxt: 1,
            write_end: 1,
            socket: SocketModel::new(config.buffers.send),
            bursts: Bursts::new(&config.host),
            fin_queued: false,
            closes_after_push: false,
            fin_sent: false,
            holds_back: false,
            long_ack_len: 0,
            snd_wnd: 0,
            snd_wl1: 0,
            state: RecoveryState::Open,
            high_seq: 1,
            recovery: recovery::Reduction::default(),
            undo: undo::Undo::default(),
            classic: classic::Classic::default(),
            next_seg: retransmit::NextSeg::default(),
            rack: rack::Rack::default(),
            probe: probe::LossProbe::default(),
            frto: false,
            retransmits: 0,
            stalled_since: Time::ZERO,
            reordering: config.recovery.duplicate_threshold,
            fack: 1,
            sack_cache: [SackBlock::default(); 4],
            retransmit_hint: 0,
            timer: None,
            clock: TimerClock::new(config),
            persist_backoff: 0,
            unanswered_probes: 0,
            usage: usage::Usage::default(),
            pacer: pacing::Pacer::default(),
            is_corked: false,
            has_more: false,
            pushes_small: false,
            records: VecDeque::new(),
            small_end: 0,
            max_window: 0,
            last_sent_at: Time::ZERO,
            marks: marks::ReportedMarks::default(),
            resilience: resilience::Resilience::default(),
            srtt_since: Time::ZERO,
            below: None,
        }
    }

    /// Completes the handshake with the negotiated options, the peer's window, and the handshake's
    /// round-trip time if that is unambiguous.
    pub(super) fn on_established(&mut self, now: Time, agreed: Agreed) {
        self.window.mss = agreed.mss;
        self.marks
            .on_established(agreed.ecn, self.congestion.needs_ecn());
        self.congestion.on_ecn_agreed(agreed.ecn);
        // If the settings are unchanged, the configuration stays shared with other connections.
        if self.config.timestamps != agreed.timestamps {
            self.config_mut().timestamps = agreed.timestamps;
        }
        if !agreed.sack && self.config.recovery.method.uses_sack() {
            // RFC 2018 section 4: if SACK was not agreed on, the recovery is NewReno's.
            self.config_mut().recovery.method = super::config::LossRecovery::NewReno;
        }
        self.snd_wnd = agreed.peer_window;
        self.max_window = agreed.peer_window;
        if agreed.starts_from_one {
            self.window.cwnd = 1.0; // RFC 5681 section 3.1: loss window (LW) after a lost SYN
        }
        if let Some(rtt) = agreed.handshake_rtt {
            self.take_rtt_sample(now, rtt, rtt);
        }
        self.srtt_since = now;
        self.last_sent_at = now;
        self.pacer.next_at = now;
        self.usage.begin(now);
        self.congestion
            .on_established(&mut self.window, now, agreed.handshake_rtt);
        self.expand_buffer();
        self.update_pacing_rate();
    }

    /// Queues `bytes` that the application wrote. A write after [`Sender::finish`] is an error of
    /// the application and is ignored.
    pub(super) fn write(&mut self, now: Time, bytes: u64) {
        if self.is_finishing() {
            return;
        }
        if !self.socket.accepts_at_once(bytes) {
            return;
        }
        if self.board.is_empty() {
            self.restart_after_idle(now);
        }
        if bytes > 0 {
            self.pushes_small = false;
            self.socket.extend_piece(&self.stream());
        }
        self.write_end = self.write_end.saturating_add(bytes);
    }

    /// Returns the time at which a retransmission, a loss probe or the end of the reordering window
    /// is due. `None` if no timer runs.
    pub(super) fn timer_at(&self) -> Option<Time> {
        self.timer.map(|(_, at)| at)
    }

    /// Returns the time of the sender's next wake-up.
    pub(super) fn wake_at(&self) -> Time {
        let timer = self.timer_at().unwrap_or(Time::NEVER);
        timer.min(self.pacer.wake_at)
    }

    /// Handles the expired timers.
    pub(super) fn on_wake<P: Probe>(&mut self, cx: &mut SenderContext<'_, P>) -> TimerOutcome {
        if self.pacer.wake_at <= cx.now {
            self.pacer.wake_at = Time::NEVER;
            // A segment that the pacer delayed may be a retransmission, which is sent first.
            if self.has_losses_to_repair() {
                self.retransmit_lost(cx);
            }
            self.transmit(cx);
        }
        let Some((kind, at)) = self.timer else {
            return TimerOutcome::Done;
        };
        if at > cx.now {
            return TimerOutcome::Done;
        }
        self.timer = None;
        match kind {
            TimerKind::Rto => return self.on_retransmission_timeout(cx),
            TimerKind::LossProbe => self.on_probe_timeout(cx),
            TimerKind::Reordering => self.on_reordering_timeout(cx),
            TimerKind::Persist => return self.on_persist_timeout(cx),
            TimerKind::LossDelay => self.on_loss_delay_timeout(cx),
            TimerKind::Outage => self.on_outage_timeout(cx),
        }
        TimerOutcome::Done
    }

    /// Sets the timer. During an outage only the timer of the outage response may be set.
    fn arm(&mut self, kind: TimerKind, at: Time) {
        if kind == TimerKind::Outage || !self.is_suspended() {
            self.timer = Some((kind, at));
        }
    }

    /// Sets the timer to run for `after`, on the kernel's clock.
    fn arm_after(&mut self, kind: TimerKind, now: Time, after: Span) {
        let at = self.clock.fires_at(now, after);
        debug_assert!(at >= now, "{kind:?} is set for the past");
        self.arm(kind, at);
    }

    fn pending(&self) -> Option<TimerKind> {
        self.timer.map(|(kind, _)| kind)
    }

    fn in_flight(&self) -> u32 {
        self.board.in_flight()
    }

    /// Returns the first sequence number beyond the peer's window.
    fn window_end(&self) -> u64 {
        self.snd_una + self.snd_wnd
    }

    /// Returns true if rate reduction sets the window (Linux `tcp_in_cwnd_reduction`).
    fn in_reduction(&self) -> bool {
        matches!(self.state, RecoveryState::Cwr | RecoveryState::Recovery)
    }

    fn take_rtt_sample(&mut self, now: Time, rtt: Span, latest: Span) {
        self.statistics.rtt_sum_s += latest.as_secs_f64();
        self.statistics.rtt_samples += 1;
        self.statistics.min_rtt = Some(self.statistics.min_rtt.map_or(latest, |it| it.min(latest)));
        let held = now.since(self.srtt_since).as_secs_f64();
        if self.rtt.has_sample() {
            self.statistics.srtt_integral += self.rtt.srtt().as_secs_f64() * held;
            self.statistics.srtt_time_s += held;
        }
        self.srtt_since = now;
        self.rtt
            .on_sample(now, rtt, latest, self.snd_una, self.snd_nxt);
    }

    /// Releases memory after the connection is over. The statistics remain.
    pub(super) fn release(&mut self) {
        self.board.release();
    }
    /// Returns true if all written data, and the FIN if there is one, was acknowledged.
    pub(super) fn is_drained(&self) -> bool {
        self.board.is_empty()
            && self.snd_nxt >= self.write_end
            && self.fin_sent == self.fin_queued
            && self.backlog() == 0
    }
    /// Returns true if the FIN was sent.
    pub(super) fn has_sent_fin(&self) -> bool {
        self.fin_sent
    }
    pub(super) fn snd_una(&self) -> u64 {
        self.snd_una
    }
    pub(super) fn snd_nxt(&self) -> u64 {
        self.snd_nxt
    }
    /// Returns true if an acknowledgment with the window of `segment` would change SND.WND.
    ///
    /// Standard: RFC 9293 §3.10.7.4.
    pub(super) fn may_update_window(&self, segment: &Segment) -> bool {
        segment.ack > self.snd_una
            || segment.seq > self.snd_wl1
            || (segment.seq == self.snd_wl1
                && (segment.window > self.snd_wnd || segment.window == 0))
    }
    pub(super) fn statistics(&self) -> SenderStatistics {
        self.statistics
    }
    pub(super) fn delivery(&self) -> Delivery {
        Delivery {
            delivered: self.rate.delivered,
            lost: self.rate.lost,
        }
    }
    pub(super) fn window(&self) -> &Window {
        &self.window
    }
    pub(super) fn recovery_state(&self) -> RecoveryState {
        self.state
    }
    pub(super) fn timeouts_in_a_row(&self) -> u32 {
        self.retransmits
    }
    pub(super) fn segments_in_flight(&self) -> u32 {
        self.in_flight()
    }
    pub(super) fn pacing_rate(&self) -> fadeout_core::Rate {
        self.pacer.rate
    }
    /// Returns the ECN feedback that the congestion control needs.
    pub(super) fn needs_ecn(&self) -> EcnFeedback {
        self.congestion.needs_ecn()
    }
    pub(super) fn rtt(&self) -> &RttEstimator {
        &self.rtt
    }

    /// Returns the configuration for changes. From now on this sender has its own copy.
    fn config_mut(&mut self) -> &mut TcpConfig {
        Arc::make_mut(&mut self.config)
    }
    pub(super) fn set_nagle(&mut self, is_on: bool) {
        self.config_mut().host.nagle = is_on;
        self.pushes_small |= !is_on;
    }
    pub(super) fn set_user_timeout(&mut self, limit: Option<Span>) {
        self.config_mut().timers.user_timeout = limit;
    }
    /// Ends a record after the next `bytes` of written data.
    pub(super) fn end_record_after(&mut self, bytes: u64) {
        let end = self.write_end.saturating_add(self.backlog());
        self.records.push_back(end.saturating_add(bytes));
    }
    pub(super) fn set_cork(&mut self, is_on: bool) {
        self.is_corked = is_on;
    }
    pub(super) fn set_more(&mut self, follows: bool) {
        self.has_more = follows;
    }
    pub(super) fn set_congestion(&mut self, now: Time, congestion: Congestion) {
        self.congestion = congestion;
        let srtt = self.rtt.has_sample().then(|| self.rtt.srtt());
        self.congestion.on_established(&mut self.window, now, srtt);
        self.update_pacing_rate();
    }

    /// Returns the sender's fields of `tcp_info`.
    pub(super) fn info(&self) -> TcpInfo {
        TcpInfo {
            ca_state: self.state,
            retransmits: self.retransmits,
            probes: self.persist_backoff,
            backoff: self.rtt.backoff(),
            timestamps: self.config.timestamps,
            sack: self.config.recovery.method.uses_sack(),
            ecn: self.marks.is_agreed(),
            rto: self.rtt.rto(),
            rtt: self.rtt.srtt(),
            rttvar: self.rtt.deviation(),
            min_rtt: Some(self.rtt.min()).filter(|rtt| *rtt != Span::MAX),
            snd_mss: self.window.mss,
            unacked: self.board.packets_out(),
            sacked: self.board.sacked_out,
            lost: self.board.lost_out,
            retrans: self.board.retrans_out,
            total_retrans: self.statistics.retransmitted_segments,
            snd_ssthresh: self.window.ssthresh,
            snd_cwnd: self.window.cwnd,
            snd_wnd: self.snd_wnd,
            reordering: self.reordering,
            reord_seen: self.rack.reorderings,
            dsack_dups: self.rack.duplicates_reported,
            delivered: self.rate.delivered,
            delivered_ce: self.rate.delivered_ce,
            bytes_acked: self.snd_una.saturating_sub(1),
            notsent_bytes: self.unsent(),
            data_segs_out: self.statistics.sent_segments,
            pacing_rate: self.pacer.rate,
            rcv_mss: 0,
            has_taken_syn_data: false,
            accurate_ecn: None,
        }
    }

    /// Sets at which end of the flow this sender is.
    pub(super) fn set_end(&mut self, end: FlowEnd) {
        self.end = end;
    }

    /// Returns the end of the flow at which this sender is.
    pub(super) fn end(&self) -> FlowEnd {
        self.end
    }

    /// Records the state of the congestion control if a row is due. Only the sender of the flow's
    /// data has rows.
    #[inline]
    pub(super) fn record_state<P: Probe>(&self, now: Time, probe: &mut P) {
        if self.end == FlowEnd::Sender && probe.wants_congestion(now, self.flow) {
            probe.congestion(self.congestion_row(now));
            if let Some(row) = self.bbr_row(now) {
                probe.bbr(row);
            }
        }
    }

    /// Returns a row of the BBR table. `None` for other congestion controls.
    fn bbr_row(&self, now: Time) -> Option<BbrRow> {
        let model = self.congestion.path_model()?;
        Some(BbrRow {
            time_s: now,
            flow: self.flow,
            phase: self.congestion.phase(),
            bandwidth_mbps: model.bandwidth * f64::from(self.window.mss) * 8e-6,
            min_rtt_s: model.min_rtt.unwrap_or(Span::ZERO),
            pacing_gain: model.pacing_gain,
            cwnd_gain: model.cwnd_gain,
        })
    }

    /// Returns a row of the congestion table.
    pub(super) fn congestion_row(&self, now: Time) -> CongestionRow {
        let paces = self.is_pacing();
        CongestionRow {
            time_s: now,
            flow: self.flow,
            cwnd_segments: self.window.cwnd,
            ssthresh_segments: self.window.ssthresh,
            in_flight_segments: self.in_flight(),
            acked_bytes: self.snd_una.saturating_sub(1),
            srtt_s: self.rtt.srtt(),
            rtt_s: self.rtt.latest(),
            rto_s: self.rtt.rto(),
            pacing_rate_mbps: if paces {
                self.pacer.rate.as_mbps()
            } else {
                0.0
            },
            state: self.state.name(),
        }
    }

    pub(super) fn report<P: Probe>(&self, cx: &mut SenderContext<'_, P>, event: &'static str) {
        cx.probe.flow_event(FlowEventRow {
            time_s: cx.now,
            flow: self.flow,
            end: self.end,
            event,
            cwnd_segments: self.window.cwnd,
            ssthresh_segments: self.window.ssthresh,
        });
    }
}

/// Result of an expired timer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TimerOutcome {
    Done,
    /// The connection is given up after too many consecutive timeouts.
    GiveUp,
}

#[cfg(test)]
mod tests;
