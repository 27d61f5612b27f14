//! Values of a world that the caller of a simulation observes between two steps.

use super::{Transport, World};
use crate::observe::{FlowCounts, InterfaceCounts, LinkCounts};
use fadeout_core::{
    BearerRow, CongestionRow, Direction, DrbId, EndpointId, FlowId, LinkId, Probe, QueueRow, Span,
    UeId,
};
use fadeout_transport::tcp::{Delivery, SenderStatistics, TcpEndpoint};

impl<P: Probe> World<P> {
    /// Returns the connection of an endpoint, or the subflow. `None` before the start of the flow,
    /// after the end of the connection, and for other transports.
    pub(crate) fn tcp_at(&self, id: EndpointId) -> Option<&TcpEndpoint> {
        match &self.endpoints[id].transport {
            Transport::Tcp(tcp) => Some(tcp),
            &Transport::Subflow { connection, path } => {
                Some(self.endpoints.host(connection).connection.subflow(path))
            }
            _ => None,
        }
    }

    /// True if the endpoint is one of a TCP connection, also before its start and after its end.
    pub(crate) fn is_tcp(&self, id: EndpointId) -> bool {
        matches!(
            self.endpoints[id].transport,
            Transport::Waiting(_)
                | Transport::Tcp(_)
                | Transport::Over(_)
                | Transport::Subflow { .. }
        )
    }

    /// Returns a row of the congestion table for the present. All values are zero before the start
    /// of the flow and after the end of the connection.
    pub(crate) fn congestion_row(&self, flow: FlowId, sender: EndpointId) -> CongestionRow {
        let now = self.now();
        let absent = || CongestionRow {
            time_s: now,
            flow,
            cwnd_segments: 0.0,
            ssthresh_segments: 0.0,
            in_flight_segments: 0,
            acked_bytes: 0,
            srtt_s: Span::ZERO,
            rtt_s: Span::ZERO,
            rto_s: Span::ZERO,
            pacing_rate_mbps: 0.0,
            state: "",
        };
        let tcp = self.tcp_at(sender);
        tcp.map_or_else(absent, |tcp| tcp.congestion_row(now))
    }

    /// Returns the counters of a flow, or of a path of a multipath flow.
    pub(crate) fn flow_counts(&self, flow: FlowId, sender: EndpointId) -> FlowCounts {
        let (statistics, delivery, mss) = self.sender_counts(flow, sender);
        FlowCounts {
            delivered_bytes: self.delivered_bytes(flow, sender),
            sent_segments: statistics.sent_segments,
            delivered_segments: delivery.delivered,
            lost_segments: delivery.lost,
            retransmitted_segments: statistics.retransmitted_segments,
            timeouts: statistics.timeouts,
            recoveries: statistics.recoveries,
            rtt_sum_s: statistics.rtt_sum_s,
            rtt_samples: statistics.rtt_samples,
            min_rtt_s: statistics.min_rtt.map_or(0.0, Span::as_secs_f64),
            mss_bytes: mss,
        }
    }

    /// Returns the counters of a flow's sender, and its segment size. For a multipath flow, the
    /// sums over its paths.
    fn sender_counts(&self, flow: FlowId, sender: EndpointId) -> (SenderStatistics, Delivery, u32) {
        let of = |tcp: &TcpEndpoint| (tcp.statistics(), tcp.delivery(), tcp.window().mss);
        if let Transport::Over(account) = &self.endpoints[sender].transport {
            return (account.statistics, account.delivery, account.window.mss);
        }
        let is_whole = flow.index() < self.flows.len();
        let connection = self.endpoints.connection(sender).filter(|_| is_whole);
        let Some(connection) = connection else {
            return self.tcp_at(sender).map(of).unwrap_or_default();
        };
        let paths = || connection.subflows();
        let delivery = paths().fold(Delivery::default(), |sum, tcp| Delivery {
            delivered: sum.delivered + tcp.delivery().delivered,
            lost: sum.lost + tcp.delivery().lost,
        });
        let statistics = paths().map(TcpEndpoint::statistics).sum();
        (
            statistics,
            delivery,
            paths().next().map_or(0, |tcp| tcp.window().mss),
        )
    }

    fn delivered_bytes(&self, flow: FlowId, sender: EndpointId) -> u64 {
        if let Some(flow) = self.flows.get(flow.index()) {
            return flow.delivered;
        }
        let receiver = self.endpoints[sender].peer;
        match &self.endpoints[receiver].transport {
            &Transport::Subflow { connection, path } => {
                let connection = &self.endpoints.host(connection).connection;
                connection.statistics(path).arrived_bytes
            }
            _ => 0,
        }
    }

    /// Returns a row of the queue table for the present.
    pub(crate) fn queue_row(&mut self, link: LinkId) -> QueueRow {
        let now = self.now();
        self.links.get_mut(link).queue_row(now)
    }

    /// Returns the counters of a direction of a link.
    pub(crate) fn link_counts(&self, link: LinkId) -> LinkCounts {
        let link = self.links.get(link);
        let stats = link.stats();
        LinkCounts {
            received_packets: stats.packets_in,
            sent_packets: stats.packets_out,
            sent_bytes: stats.bytes_out.0,
            marked_packets: stats.packets_marked,
            dropped_packets: stats.dropped_total(),
            rate_mbps: match link.constant_rate() {
                Some(rate) if rate.is_unlimited() => f64::INFINITY,
                Some(rate) => rate.as_mbps(),
                None => f64::NAN,
            },
        }
    }

    /// Returns a row of the bearer table for the present. `None` without a radio access.
    pub(crate) fn bearer_row(&self, bearer: DrbId, direction: Direction) -> Option<BearerRow> {
        let access = &self.radio.as_ref()?.access;
        Some(access.backlog_row(self.now(), bearer, direction))
    }

    /// Returns the counters of a direction of a UE's interface. `None` without a radio access.
    pub(crate) fn interface_counts(
        &self,
        ue: UeId,
        direction: Direction,
    ) -> Option<InterfaceCounts> {
        let access = &self.radio.as_ref()?.access;
        let counters = access.counters_of(ue, direction);
        Some(InterfaceCounts {
            cell: access.serving_cell(ue).map_or(-1.0, |it| f64::from(it.0)),
            delivered_packets: counters.delivered_packets,
            delivered_bytes: counters.delivered_bytes,
            dropped_packets: counters.dropped_packets,
            marked_packets: counters.marked_packets,
            transport_blocks: counters.blocks,
            harq_retransmissions: counters.retransmissions,
            lost_transport_blocks: counters.lost_blocks,
        })
    }

    /// True if a flow has completed or was given up.
    pub(crate) fn has_ended(&self, flow: FlowId) -> bool {
        let flow = self.flows.get(flow.index());
        flow.is_some_and(|flow| flow.completed_at.is_some() || flow.aborted_at.is_some())
    }
}
