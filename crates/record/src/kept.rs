//! Selection of the recorded tables, and the times at which their next rows are due.

use crate::RecorderConfig;
use crate::latest::Latest;
use crate::sampler::Sampler;
use crate::throughput::Throughput;
use fadeout_core::table::Row;
use fadeout_core::{
    BbrRow, BearerRow, BlockageRow, CongestionRow, DatagramRow, DropRow, FlowEnd, FlowEventRow,
    FlowId, HandoverRow, LinkHandoverRow, MeasurementRow, QueueRow, QuicRow, RadioDelayRow,
    RadioDropRow, RetransmitRow, RrcRow, Sampling, SecondaryChangeRow, SegmentRow, ThroughputRow,
    TimeoutRow, TransportBlockRow,
};

/// Times of the next samples, and the current throughput bin.
#[derive(Debug)]
pub(crate) struct Due {
    pub(crate) congestion: Sampler,
    pub(crate) queues: Sampler,
    pub(crate) bearers: Sampler,
    /// Sampler of the segments at both ends of each flow.
    pub(crate) segments: Sampler,
    /// Sampler of the datagrams at both ends of each flow.
    pub(crate) datagrams: Sampler,
    pub(crate) bins: Option<Throughput>,
    /// Latest rows of the radio, for the caller of the simulation. `None` if they are not observed.
    pub(crate) latest: Option<Box<Latest>>,
}

impl Due {
    pub(crate) fn new(config: &RecorderConfig) -> Self {
        let probes = &config.probes;
        let width = probes.throughput.filter(|_| ThroughputRow::is_kept(config));
        // Without bearers, the table of bearers is not written.
        let bearers = if BearerRow::is_kept(config) {
            probes.bearers
        } else {
            Sampling::Off
        };
        let datagrams = if DatagramRow::is_kept(config) {
            probes.datagrams
        } else {
            Sampling::Off
        };
        Due {
            congestion: Sampler::new(probes.congestion, config.flows.len()),
            queues: Sampler::new(probes.queue, config.links.len()),
            bearers: Sampler::new(bearers, config.bearers.len()),
            segments: Sampler::new(probes.segments, 2 * config.flows.len()),
            datagrams: Sampler::new(datagrams, 2 * config.flows.len()),
            bins: width.map(|width| Throughput::new(width, &config.flows)),
            latest: None,
        }
    }
}

/// Returns the index of a flow's end in a list of the ends of all flows.
pub(crate) fn end_index(flow: FlowId, end: FlowEnd) -> usize {
    2 * flow.index() + usize::from(end == FlowEnd::Sender)
}

/// Row of a table that can be switched on in the probe settings.
pub(crate) trait Kept: Row {
    /// Returns true if the table is recorded.
    fn is_kept(config: &RecorderConfig) -> bool;
    /// Updates the times of the next samples after this row was recorded.
    #[inline]
    fn update_due(&self, _due: &mut Due) {}
}

impl Kept for CongestionRow {
    fn is_kept(config: &RecorderConfig) -> bool {
        config.probes.congestion.is_on()
    }
    #[inline]
    fn update_due(&self, due: &mut Due) {
        due.congestion.on_sample(self.time_s, self.flow.index());
    }
}

impl Kept for BbrRow {
    /// Returns true if the congestion table is recorded, which has rows at the same times.
    fn is_kept(config: &RecorderConfig) -> bool {
        config.probes.congestion.is_on() && config.has_bbr
    }
}

impl Kept for QuicRow {
    /// Returns true if the congestion table is recorded, which has rows at the same times.
    fn is_kept(config: &RecorderConfig) -> bool {
        config.probes.congestion.is_on() && config.has_quic
    }
}

impl Kept for ThroughputRow {
    fn is_kept(config: &RecorderConfig) -> bool {
        config.probes.throughput.is_some_and(|bin| !bin.is_zero())
    }
}

impl Kept for QueueRow {
    fn is_kept(config: &RecorderConfig) -> bool {
        config.probes.queue.is_on()
    }
    #[inline]
    fn update_due(&self, due: &mut Due) {
        due.queues.on_sample(self.time_s, self.link.index());
    }
}

impl Kept for DropRow {
    fn is_kept(config: &RecorderConfig) -> bool {
        config.probes.drops
    }
}

impl Kept for RetransmitRow {
    fn is_kept(config: &RecorderConfig) -> bool {
        config.probes.retransmissions
    }
}

impl Kept for TimeoutRow {
    fn is_kept(config: &RecorderConfig) -> bool {
        config.probes.timeouts
    }
}

impl Kept for FlowEventRow {
    fn is_kept(config: &RecorderConfig) -> bool {
        config.probes.flow_events
    }
    fn update_due(&self, due: &mut Due) {
        if let Some(bins) = &mut due.bins
            && matches!(self.event, "completed" | "closed" | "aborted")
        {
            bins.on_done(self.time_s, self.flow);
        }
    }
}

impl Kept for SegmentRow {
    fn is_kept(config: &RecorderConfig) -> bool {
        config.probes.segments.is_on()
    }
    #[inline]
    fn update_due(&self, due: &mut Due) {
        let index = end_index(self.flow, self.end);
        due.segments.on_sample(self.time_s, index);
    }
}

impl Kept for DatagramRow {
    fn is_kept(config: &RecorderConfig) -> bool {
        config.probes.datagrams.is_on() && config.has_datagrams
    }
    #[inline]
    fn update_due(&self, due: &mut Due) {
        let index = end_index(self.flow, self.end);
        due.datagrams.on_sample(self.time_s, index);
    }
}

impl Kept for BlockageRow {
    fn is_kept(config: &RecorderConfig) -> bool {
        config.probes.blockages
    }
}

impl Kept for TransportBlockRow {
    fn is_kept(config: &RecorderConfig) -> bool {
        config.probes.transport_blocks
    }
    #[inline]
    fn update_due(&self, due: &mut Due) {
        if let Some(latest) = &mut due.latest {
            latest.on_block(self);
        }
    }
}

impl Kept for BearerRow {
    fn is_kept(config: &RecorderConfig) -> bool {
        config.probes.bearers.is_on() && !config.bearers.is_empty()
    }
    #[inline]
    fn update_due(&self, due: &mut Due) {
        due.bearers.on_sample(self.time_s, self.bearer.index());
    }
}

impl Kept for RadioDelayRow {
    fn is_kept(config: &RecorderConfig) -> bool {
        config.probes.radio_delay
    }
}

impl Kept for RadioDropRow {
    fn is_kept(config: &RecorderConfig) -> bool {
        config.probes.drops && !config.bearers.is_empty()
    }
}

impl Kept for MeasurementRow {
    fn is_kept(config: &RecorderConfig) -> bool {
        config.probes.measurements && config.has_mobility
    }
    #[inline]
    fn update_due(&self, due: &mut Due) {
        if let Some(latest) = &mut due.latest {
            latest.on_measurement(self);
        }
    }
}

impl Kept for HandoverRow {
    fn is_kept(config: &RecorderConfig) -> bool {
        config.probes.handovers && config.has_mobility
    }
}

impl Kept for LinkHandoverRow {
    fn is_kept(config: &RecorderConfig) -> bool {
        config.probes.handovers && config.has_link_handovers
    }
}

impl Kept for SecondaryChangeRow {
    fn is_kept(config: &RecorderConfig) -> bool {
        config.probes.handovers && config.has_secondary_changes
    }
}

impl Kept for RrcRow {
    fn is_kept(config: &RecorderConfig) -> bool {
        config.probes.rrc && config.has_rrc
    }
}

/// Defines the methods of a probe that ask whether a row is wanted. They return true if the table
/// is recorded and the next row is due, or if the caller of the simulation observes the rows.
macro_rules! wanted_rows {
    () => {
        #[inline]
        fn wants_congestion(&self, now: fadeout_core::Time, flow: fadeout_core::FlowId) -> bool {
            self.due.congestion.is_due(now, flow.index())
        }
        #[inline]
        fn wants_segment(
            &self,
            now: fadeout_core::Time,
            flow: fadeout_core::FlowId,
            end: fadeout_core::FlowEnd,
        ) -> bool {
            self.due
                .segments
                .is_due(now, $crate::kept::end_index(flow, end))
        }
        #[inline]
        fn wants_datagram(
            &self,
            now: fadeout_core::Time,
            flow: fadeout_core::FlowId,
            end: fadeout_core::FlowEnd,
        ) -> bool {
            self.due
                .datagrams
                .is_due(now, $crate::kept::end_index(flow, end))
        }
        #[inline]
        fn wants_queue(&self, now: fadeout_core::Time, link: fadeout_core::LinkId) -> bool {
            self.due.queues.is_due(now, link.index())
        }
        #[inline]
        fn wants_transport_blocks(&self, _cell: fadeout_core::CellId) -> bool {
            self.tables.transport_blocks.is_some() || self.due.latest.is_some()
        }
        #[inline]
        fn wants_bearer(&self, now: fadeout_core::Time, bearer: fadeout_core::DrbId) -> bool {
            self.tables.bearers.is_some() && self.due.bearers.is_due(now, bearer.index())
        }
        #[inline]
        fn wants_radio_delay(&self, _bearer: fadeout_core::DrbId) -> bool {
            self.tables.radio_delay.is_some()
        }
        #[inline]
        fn wants_measurements(&self, _ue: fadeout_core::UeId) -> bool {
            self.tables.measurements.is_some() || self.due.latest.is_some()
        }
    };
}
pub(crate) use wanted_rows;
