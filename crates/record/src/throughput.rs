//! Throughput of each flow: in-order bytes, summed in time bins.

use crate::FlowInfo;
use fadeout_core::{FlowId, Span, ThroughputRow, Time};

/// State of the current time bin.
#[derive(Debug)]
pub(crate) struct Throughput {
    width: Span,
    begin: Time,
    end: Time,
    flows: Vec<FlowBin>,
    /// Flows that may have a row in this bin. Flows that have not begun or are complete are left
    /// out, so that they need no processing time.
    open: Vec<FlowId>,
    /// Flows that have not begun. The next flow to begin is the last one.
    waiting: Vec<FlowId>,
}

#[derive(Debug)]
struct FlowBin {
    start: Time,
    /// Time from which on the flow delivers no more bytes.
    done_at: Time,
    is_open: bool,
    bytes: u64,
}

impl Throughput {
    /// Creates bins of duration `width`, which must not be zero.
    pub(crate) fn new(width: Span, flows: &[FlowInfo]) -> Self {
        let bins = flows.iter().map(|f| FlowBin {
            start: f.start,
            done_at: Time::NEVER,
            is_open: false,
            bytes: 0,
        });
        let ids = 0..u32::try_from(flows.len()).expect("a flow's id is 32 bits");
        let mut waiting: Vec<FlowId> = ids.map(FlowId).collect();
        waiting.sort_by_key(|flow| std::cmp::Reverse(flows[flow.index()].start));
        Throughput {
            width,
            begin: Time::ZERO,
            end: Time::ZERO.saturating_add(width),
            flows: bins.collect(),
            open: Vec::new(),
            waiting,
        }
    }

    /// Returns true if the current bin ended before `now`. The caller must then call
    /// [`Throughput::roll`] first.
    #[inline]
    pub(crate) fn is_over(&self, now: Time) -> bool {
        now >= self.end
    }

    /// Counts `bytes` that the flow delivered.
    #[inline]
    pub(crate) fn add(&mut self, flow: FlowId, bytes: u64) {
        let bin = &mut self.flows[flow.index()];
        bin.bytes += bytes;
        if !bin.is_open {
            bin.is_open = true;
            self.open.push(flow);
        }
    }

    /// Records that a flow delivers no more bytes from `now` on. The bin before `now` is the flow's
    /// last.
    pub(crate) fn on_done(&mut self, now: Time, flow: FlowId) {
        let bin = &mut self.flows[flow.index()];
        bin.done_at = bin.done_at.min(now);
    }

    /// Emits the rows of every bin that ended by `now`, and begins the bin that contains `now`.
    pub(crate) fn roll(&mut self, now: Time, emit: &mut impl FnMut(ThroughputRow)) {
        while now >= self.end && !self.end.is_never() {
            self.close(self.end, emit);
            self.begin = self.end;
            self.end = self.end.saturating_add(self.width);
        }
    }

    /// Emits the remaining rows at the end of the run. The last bin may be shorter.
    pub(crate) fn finish(&mut self, end: Time, emit: &mut impl FnMut(ThroughputRow)) {
        self.roll(end, emit);
        if end > self.begin || self.flows.iter().any(|flow| flow.bytes > 0) {
            self.close(end, emit);
        }
    }

    fn close(&mut self, end: Time, emit: &mut impl FnMut(ThroughputRow)) {
        let seconds = end.since(self.begin).as_secs_f64();
        while let Some(&flow) = self.waiting.last()
            && self.flows[flow.index()].start < end
        {
            self.waiting.pop();
            let bin = &mut self.flows[flow.index()];
            if !bin.is_open {
                bin.is_open = true;
                self.open.push(flow);
            }
        }
        // The flows are nearly in order, so sorting is a single pass.
        self.open.sort_unstable();
        self.open.retain(|&id| {
            let flow = &mut self.flows[id.index()];
            let bytes = std::mem::take(&mut flow.bytes);
            // If the run stops at the start of a bin, this bin has zero width.
            let rate_mbps = if seconds > 0.0 {
                bytes as f64 * 8.0 / 1e6 / seconds
            } else {
                0.0
            };
            // A bin may be closed long after its end, when the flow has completed in a later bin.
            let is_done = flow.done_at < end;
            if bytes > 0 || !is_done {
                emit(ThroughputRow {
                    time_s: end,
                    flow: id,
                    bytes,
                    rate_mbps,
                });
            }
            // A flow that receives bytes before its start is closed again until its start.
            flow.is_open = !is_done && flow.start < end;
            flow.is_open
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(start_ms: u64) -> FlowInfo {
        FlowInfo {
            name: String::new(),
            start: time_at_ms(start_ms),
        }
    }
    fn time_at_ms(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }
    fn brief(rows: &[ThroughputRow]) -> Vec<(u64, u32, u64)> {
        rows.iter()
            .map(|r| (r.time_s.as_millis(), r.flow.0, r.bytes))
            .collect()
    }

    #[test]
    fn bins_without_arrivals_have_rows_too() {
        let mut bins = Throughput::new(Span::from_millis(100), &[flow(0)]);
        let mut rows = Vec::new();
        bins.add(FlowId(0), 1000);
        bins.roll(time_at_ms(350), &mut |row| rows.push(row));
        bins.add(FlowId(0), 7);
        bins.finish(time_at_ms(360), &mut |row| rows.push(row));
        assert_eq!(
            brief(&rows),
            [(100, 0, 1000), (200, 0, 0), (300, 0, 0), (360, 0, 7)]
        );
        assert!(
            (rows[0].rate_mbps - 0.08).abs() < 1e-12,
            "1000 bytes in 100 ms"
        );
    }

    #[test]
    fn a_flow_has_rows_from_its_start_to_its_completion() {
        let mut bins = Throughput::new(Span::from_millis(100), &[flow(0), flow(250)]);
        let mut rows = Vec::new();
        bins.add(FlowId(0), 5);
        bins.on_done(time_at_ms(50), FlowId(0));
        bins.finish(time_at_ms(400), &mut |row| rows.push(row));
        assert_eq!(brief(&rows), [(100, 0, 5), (300, 1, 0), (400, 1, 0)]);
    }

    #[test]
    fn rows_come_in_the_order_of_flows_whatever_that_of_starts_and_late_bytes_count() {
        let mut bins = Throughput::new(Span::from_millis(100), &[flow(210), flow(0), flow(110)]);
        let mut rows = Vec::new();
        bins.add(FlowId(1), 5);
        bins.on_done(time_at_ms(50), FlowId(1));
        bins.roll(time_at_ms(200), &mut |row| rows.push(row));
        assert_eq!(
            bins.open,
            [FlowId(2)],
            "what is over is not looked at again"
        );
        bins.add(FlowId(2), 3);
        bins.add(FlowId(1), 2);
        bins.finish(time_at_ms(300), &mut |row| rows.push(row));
        let expected = [
            (100, 1, 5),
            (200, 2, 0),
            (300, 0, 0),
            (300, 1, 2),
            (300, 2, 3),
        ];
        assert_eq!(brief(&rows), expected);
    }

    #[test]
    fn bins_before_the_end_of_a_flow_have_rows_whenever_they_are_closed() {
        let rows_of = |times: &[u64]| {
            let mut bins = Throughput::new(Span::from_millis(100), &[flow(0)]);
            let mut rows = Vec::new();
            bins.add(FlowId(0), 5);
            for &time in times {
                bins.roll(time_at_ms(time), &mut |row| rows.push(row));
            }
            bins.on_done(time_at_ms(350), FlowId(0));
            bins.finish(time_at_ms(600), &mut |row| rows.push(row));
            brief(&rows)
        };
        let late = rows_of(&[]);
        assert_eq!(late, [(100, 0, 5), (200, 0, 0), (300, 0, 0)]);
        assert_eq!(late, rows_of(&[120, 240, 350]));
    }

    #[test]
    fn every_byte_is_counted_once() {
        let mut bins = Throughput::new(Span::from_millis(3), &[flow(0)]);
        let mut total = 0;
        for ms in 0..1000 {
            if bins.is_over(time_at_ms(ms)) {
                bins.roll(time_at_ms(ms), &mut |row| total += row.bytes);
            }
            bins.add(FlowId(0), ms);
        }
        bins.finish(time_at_ms(999), &mut |row| total += row.bytes);
        assert_eq!(total, 499_500);
    }
}
