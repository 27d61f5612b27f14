//! Completion times of flows, for each flow and for groups of flows.

use fadeout_core::{CompletionRow, CompletionTimesRow, FlowRow};
use std::collections::BTreeMap;

/// Groups of flows. The group NAME contains the flows NAME-0, NAME-1, ... that `count` and
/// `arrivals` create. A flow without a number in its name is a group of its own.
pub(super) struct Groups<'a> {
    /// Name of each group and its number of flows, in the order of their first flows.
    groups: Vec<(&'a str, u64)>,
    /// Group of each flow.
    of_flow: Vec<u32>,
}

impl<'a> Groups<'a> {
    /// Creates the groups of flows from the names of the flows.
    pub(super) fn from_flows(flows: impl Iterator<Item = &'a str> + Clone) -> Self {
        let mut known: BTreeMap<&str, u32> = BTreeMap::new();
        let mut groups: Vec<(&str, u64)> = Vec::new();
        let mut of_flow = Vec::new();
        for flow in flows.clone() {
            let group = *known.entry(stem(flow)).or_insert_with(|| {
                groups.push((stem(flow), 0));
                groups.len() as u32 - 1
            });
            groups[group as usize].1 += 1;
            of_flow.push(group);
        }
        for (flow, &group) in flows.zip(&of_flow) {
            let (name, size) = &mut groups[group as usize];
            if *size == 1 {
                *name = flow;
            }
        }
        Groups { groups, of_flow }
    }

    /// Returns the number of groups.
    pub(super) fn len(&self) -> usize {
        self.groups.len()
    }

    /// Returns the group of a flow.
    pub(super) fn of_flow(&self, flow: usize) -> usize {
        self.of_flow[flow] as usize
    }

    /// Returns the name of a flow's group.
    pub(super) fn name_of_flow(&self, flow: usize) -> &'a str {
        self.groups[self.of_flow(flow)].0
    }
}

/// Returns a name without the number at its end.
fn stem(name: &str) -> &str {
    let numbered = name.trim_end_matches(|c: char| c.is_ascii_digit());
    match numbered.strip_suffix('-') {
        Some(stem) if numbered.len() < name.len() => stem,
        _ => name,
    }
}

/// Returns the completion row of a flow in `group`. `None` if the flow was not completed.
pub(super) fn completion(group: &str, flow: FlowRow) -> Option<CompletionRow> {
    Some(CompletionRow {
        group: group.to_owned(),
        start_s: flow.start_s,
        first_byte_s: flow.first_delivery_s,
        completed_at_s: flow.completed_at_s?,
        completion_time_s: flow.flow_completion_time_s?,
        size_bytes: flow.delivered_bytes,
        mean_rate_mbps: flow.goodput_mbps,
        retransmitted_segments: flow.retransmitted_segments,
        flow: flow.flow,
        application: flow.application,
        congestion_control: flow.congestion_control,
    })
}

/// Returns the completion times of a group, over its completed flows. `None` if no flow was
/// completed.
pub(super) fn completion_times(
    groups: &Groups<'_>,
    group: usize,
    times: &mut [f64],
) -> Option<CompletionTimesRow> {
    if times.is_empty() {
        return None;
    }
    times.sort_by(f64::total_cmp);
    // Nearest-rank percentile: the smallest completion time that this share of the flows does not
    // exceed.
    let percentile = |percent: usize| times[(times.len() * percent).div_ceil(100) - 1];
    let (name, flows) = groups.groups[group];
    Some(CompletionTimesRow {
        group: name.to_owned(),
        flows,
        completed: times.len() as u64,
        mean_s: times.iter().sum::<f64>() / times.len() as f64,
        p50_s: percentile(50),
        p90_s: percentile(90),
        p95_s: percentile(95),
        p99_s: percentile(99),
        longest_s: percentile(100),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_the_nearest_rank() {
        let names: Vec<String> = (0..20).map(|n| format!("f-{n}")).collect();
        let groups = Groups::from_flows(names.iter().map(String::as_str));
        let mut times: Vec<f64> = (1..=20).rev().map(f64::from).collect();
        let row = completion_times(&groups, 0, &mut times).expect("a group that completed");
        let percentiles = (row.p50_s, row.p90_s, row.p95_s, row.p99_s, row.longest_s);
        assert_eq!(percentiles, (10.0, 18.0, 19.0, 20.0, 20.0));
        assert_eq!(row.mean_s, 10.5);
    }

    #[test]
    fn flows_that_did_not_complete_are_counted_and_in_no_percentile() {
        let groups = Groups::from_flows(["f-0", "f-1", "f-2", "never"].into_iter());
        let row = completion_times(&groups, 0, &mut [2.0]).expect("one completed");
        assert_eq!((row.flows, row.completed, row.p99_s), (3, 1, 2.0));
        assert_eq!(completion_times(&groups, 1, &mut []), None);
    }

    #[test]
    fn a_number_at_the_end_of_a_lone_name_makes_no_group() {
        let names = ["car-7", "bus-0", "bus-1", "x", "tram-", "2"];
        let groups = Groups::from_flows(names.into_iter());
        let named: Vec<&str> = (0..6).map(|flow| groups.name_of_flow(flow)).collect();
        assert_eq!(named, ["car-7", "bus", "bus", "x", "tram-", "2"]);
        assert_eq!(groups.len(), 5);
    }
}
