//! An end of a flow whose transport is a Linux kernel.

use super::SequenceNumbers;
use super::arrivals::Arrivals;
use fadeout_core::{
    CongestionRow, FlowEnd, FlowId, RetransmitCause, RetransmitRow, Segment, Span, Time,
};
use fadeout_guest::agent::{Address, Command, SocketOptions};
use fadeout_guest::tcp_info::TcpInfo;
use fadeout_transport::tcp::{AppCommand, SenderStatistics};

/// Time between two reports of a connection's TCP state, milliseconds.
const SAMPLE_MS: u16 = 10;
/// Value of the slow-start threshold before the first loss (`TCP_INFINITE_SSTHRESH`).
const INFINITE: u32 = 0x7fff_ffff;

/// A path of a multipath connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Path {
    /// Addresses from which the kernel opens the additional paths. The second value is true for
    /// backup paths. Empty except for the first path, which opens the connection.
    pub(crate) others: Vec<([u8; 4], bool)>,
    /// Number of the multipath flow as a whole.
    pub(crate) whole: FlowId,
}

/// An end of a flow as a socket of a Linux kernel.
#[derive(Debug)]
pub(crate) struct KernelEnd {
    /// Number of the machine whose kernel has the socket.
    pub(crate) machine: u32,
    /// Number of the socket.
    pub(crate) socket: u32,
    flow: FlowId,
    pub(crate) end: FlowEnd,
    own: Address,
    peer: Address,
    congestion: &'static str,
    /// Path of a multipath connection that the socket belongs to. `None` for other connections.
    path: Option<Path>,
    pub(crate) numbers: SequenceNumbers,
    pub(crate) scale: u8,
    /// In-order bytes of the received stream.
    pub(crate) arrivals: Arrivals,
    statistics: SenderStatistics,
    info: TcpInfo,
    sampled_at: Option<Time>,
}

impl KernelEnd {
    pub(crate) fn new(
        (machine, socket): (u32, u32),
        flow: FlowId,
        end: FlowEnd,
        [own, peer]: [Address; 2],
        congestion: &'static str,
    ) -> KernelEnd {
        KernelEnd {
            machine,
            socket,
            flow,
            end,
            own,
            peer,
            congestion,
            path: None,
            numbers: SequenceNumbers::default(),
            scale: 0,
            arrivals: Arrivals::default(),
            statistics: SenderStatistics::default(),
            info: TcpInfo::default(),
            sampled_at: None,
        }
    }

    /// Turns the socket into a path of a multipath connection.
    #[must_use]
    pub(crate) fn on_path(mut self, path: Path) -> KernelEnd {
        self.path = Some(path);
        self
    }

    /// True if the socket is a path of a multipath connection.
    pub(crate) fn is_path(&self) -> bool {
        self.path.is_some()
    }

    /// Returns the number of the multipath flow as a whole. For other connections, returns the
    /// socket's flow.
    pub(crate) fn whole_flow(&self) -> FlowId {
        self.path.as_ref().map_or(self.flow, |path| path.whole)
    }

    /// Returns the addresses from which the kernel opens additional paths after it has connected.
    pub(crate) fn other_paths(&self) -> &[([u8; 4], bool)] {
        self.path.as_ref().map_or(&[], |path| &path.others)
    }

    /// Returns the port that both ends of the connection use.
    pub(crate) fn port(&self) -> u16 {
        self.own.port
    }

    /// Returns the agent's command for a command of an application. `None` if applications never
    /// give this command.
    pub(crate) fn command(&self, command: AppCommand) -> Option<Command<'static>> {
        let socket = self.socket;
        let is_sender = self.end == FlowEnd::Sender;
        let options = SocketOptions {
            congestion: self.congestion,
            is_multipath: self.is_path(),
            sample_ms: if is_sender { SAMPLE_MS } else { 0 },
        };
        let (own, peer) = (self.own, self.peer);
        Some(match command {
            AppCommand::Listen => Command::Listen {
                socket,
                own,
                options,
            },
            AppCommand::Connect => Command::Connect {
                socket,
                own,
                peer,
                options,
            },
            AppCommand::Write(bytes) => Command::Write {
                socket,
                bytes: bytes.0,
            },
            AppCommand::WriteForever => Command::WriteForever { socket },
            AppCommand::Close => Command::Close { socket },
            AppCommand::PauseReading
            | AppCommand::ResumeReading
            | AppCommand::Read(_)
            | AppCommand::Abort => return None,
        })
    }

    /// Records the arrival of a segment.
    pub(crate) fn on_arrival(&mut self, segment: &Segment) {
        // Sequence number zero is the SYN, so data begins at number one.
        let start = segment.seq.saturating_sub(1);
        self.arrivals
            .on_segment(start, start + u64::from(segment.len));
    }

    /// Counts a segment that the kernel sent. `highest` is the highest sequence number that was
    /// sent before the segment. Returns a row if the segment is a retransmission, and `None`
    /// otherwise.
    pub(crate) fn on_sent(
        &mut self,
        now: Time,
        segment: &Segment,
        highest: u64,
    ) -> Option<RetransmitRow> {
        if segment.len == 0 {
            return None;
        }
        self.statistics.sent_segments += 1;
        if segment.seq >= highest {
            return None;
        }
        self.statistics.retransmitted_segments += 1;
        Some(RetransmitRow {
            time_s: now,
            flow: self.flow,
            end: self.end,
            offset_bytes: segment.seq.saturating_sub(1),
            payload_bytes: segment.len,
            cause: RetransmitCause::Kernel,
            attempt: 1,
        })
    }

    /// Records a TCP state that the kernel reported.
    pub(crate) fn on_sample(&mut self, now: Time, info: TcpInfo) {
        let statistics = &mut self.statistics;
        if info.rtt_us > 0 {
            let srtt = f64::from(info.rtt_us) / 1e6;
            if let Some(before) = self.sampled_at {
                let passed = now.since(before).as_secs_f64();
                statistics.srtt_integral += srtt * passed;
                statistics.srtt_time_s += passed;
            }
            statistics.rtt_sum_s += srtt;
            statistics.rtt_samples += 1;
            self.sampled_at = Some(now);
        }
        let smallest = info.min_rtt_us;
        if smallest > 0 && smallest != u32::MAX {
            let smallest = Span::from_micros(u64::from(smallest));
            statistics.min_rtt = Some(statistics.min_rtt.map_or(smallest, |it| it.min(smallest)));
        }
        let was_recovering = self.info.ca_state == 3;
        statistics.recoveries += u64::from(info.ca_state == 3 && !was_recovering);
        statistics.timeouts = u64::from(info.total_rto);
        statistics.max_cwnd = statistics.max_cwnd.max(f64::from(info.snd_cwnd));
        self.info = info;
    }

    /// Returns a row of the congestion table from the last TCP state that the kernel reported.
    pub(crate) fn congestion_row(&self, now: Time) -> CongestionRow {
        let info = &self.info;
        let micros = |us: u32| Span::from_micros(u64::from(us));
        CongestionRow {
            time_s: now,
            flow: self.flow,
            cwnd_segments: f64::from(info.snd_cwnd),
            ssthresh_segments: match info.snd_ssthresh {
                INFINITE => f64::INFINITY,
                segments => f64::from(segments),
            },
            in_flight_segments: info.in_flight(),
            acked_bytes: info.bytes_acked.saturating_sub(1),
            srtt_s: micros(info.rtt_us),
            rtt_s: micros(info.rtt_us),
            rto_s: micros(info.rto_us),
            pacing_rate_mbps: match info.pacing_rate {
                u64::MAX => 0.0,
                rate => rate as f64 * 8.0 / 1e6,
            },
            state: info.ca_state_name(),
        }
    }

    /// Returns the counters of the socket as a sender.
    pub(crate) fn statistics(&self) -> SenderStatistics {
        self.statistics
    }
    /// Returns the congestion window, segments.
    pub(crate) fn cwnd(&self) -> f64 {
        f64::from(self.info.snd_cwnd)
    }
    /// Returns the maximum segment size, bytes.
    pub(crate) fn mss(&self) -> u32 {
        self.info.snd_mss
    }
}
