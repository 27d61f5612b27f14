//! Flow-completion times: which flows came to their end, and how long groups of them took.

use fadeout_core::{CompletionRow, CompletionTimesRow, FlowRow};
use std::collections::BTreeMap;

/// The flows, each with its group: NAME for the NAME-0, NAME-1, ... that `count` and `arrivals`
/// make. A flow with such a name that stands alone is its own group.
pub(super) fn with_groups<'a>(
    flows: impl Iterator<Item = &'a FlowRow> + Clone,
) -> Vec<(&'a str, &'a FlowRow)> {
    let mut sizes = BTreeMap::new();
    for flow in flows.clone() {
        *sizes.entry(stem(&flow.flow)).or_insert(0_u32) += 1;
    }
    let own = |flow: &'a FlowRow| {
        let group = stem(&flow.flow);
        let is_alone = sizes[group] == 1;
        (if is_alone { flow.flow.as_str() } else { group }, flow)
    };
    flows.map(own).collect()
}

/// The name without the number at its end.
fn stem(name: &str) -> &str {
    let numbered = name.trim_end_matches(|c: char| c.is_ascii_digit());
    match numbered.strip_suffix('-') {
        Some(stem) if numbered.len() < name.len() => stem,
        _ => name,
    }
}

/// The flows that came to their end, in the order in which they did.
pub(super) fn completions(flows: &[(&str, &FlowRow)]) -> Vec<CompletionRow> {
    let mut done: Vec<CompletionRow> = flows
        .iter()
        .filter_map(|(group, flow)| {
            Some(CompletionRow {
                group: (*group).to_owned(),
                flow: flow.flow.clone(),
                application: flow.application.clone(),
                congestion_control: flow.congestion_control.clone(),
                start_s: flow.start_s,
                first_byte_s: flow.first_delivery_s,
                completed_at_s: flow.completed_at_s?,
                completion_time_s: flow.flow_completion_time_s?,
                size_bytes: flow.delivered_bytes,
                mean_rate_mbps: flow.goodput_mbps,
                retransmitted_segments: flow.retransmitted_segments,
            })
        })
        .collect();
    done.sort_by(|one, other| one.completed_at_s.total_cmp(&other.completed_at_s));
    done
}

/// How long the groups took of which some flows came to their end, in the order of the flows.
pub(super) fn completion_times(
    flows: &[(&str, &FlowRow)],
    done: &[CompletionRow],
) -> Vec<CompletionTimesRow> {
    let mut times: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for row in done {
        let group = times.entry(&row.group).or_default();
        group.push(row.completion_time_s);
    }
    let mut sizes: BTreeMap<&str, u64> = BTreeMap::new();
    let mut groups = Vec::new();
    for &(group, _) in flows {
        let size = sizes.entry(group).or_insert(0);
        *size += 1;
        if *size == 1 {
            groups.push(group);
        }
    }
    let rows = groups.into_iter().filter_map(|group| {
        let times = times.get_mut(group)?;
        times.sort_by(f64::total_cmp);
        // The nearest rank: the smallest time that so many did not exceed.
        let percentile = |percent: usize| times[(times.len() * percent).div_ceil(100) - 1];
        Some(CompletionTimesRow {
            group: group.to_owned(),
            flows: sizes[group],
            completed: times.len() as u64,
            mean_s: times.iter().sum::<f64>() / times.len() as f64,
            p50_s: percentile(50),
            p90_s: percentile(90),
            p95_s: percentile(95),
            p99_s: percentile(99),
            longest_s: percentile(100),
        })
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A flow from the beginning that completes after `seconds`, if it does.
    fn flow(name: &str, seconds: Option<f64>) -> FlowRow {
        FlowRow {
            flow: name.to_owned(),
            application: String::new(),
            profile: String::new(),
            congestion_control: String::new(),
            scheduler: None,
            start_s: 0.0,
            established_s: None,
            first_delivery_s: None,
            completed_at_s: seconds,
            flow_completion_time_s: seconds,
            aborted: false,
            delivered_bytes: 0,
            goodput_mbps: 0.0,
            sent_segments: 0,
            retransmitted_segments: 0,
            timeouts: 0,
            recoveries: 0,
            undos: 0,
            loss_probes: 0,
            mean_srtt_s: None,
            mean_rtt_s: None,
            min_rtt_s: None,
            max_cwnd_segments: 0.0,
            cwnd_segments: 0.0,
            mss_bytes: 0,
        }
    }

    fn times(flows: &[FlowRow]) -> Vec<CompletionTimesRow> {
        let grouped = with_groups(flows.iter());
        completion_times(&grouped, &completions(&grouped))
    }

    #[test]
    fn a_percentile_is_the_nearest_rank() {
        let flows: Vec<FlowRow> = (0..20)
            .map(|n| flow(&format!("f-{n}"), Some(f64::from(n + 1))))
            .collect();
        let [row] = &times(&flows)[..] else {
            panic!("one group")
        };
        let percentiles = (row.p50_s, row.p90_s, row.p95_s, row.p99_s, row.longest_s);
        assert_eq!(percentiles, (10.0, 18.0, 19.0, 20.0, 20.0));
        assert_eq!(row.mean_s, 10.5);
    }

    #[test]
    fn flows_that_did_not_complete_are_counted_and_in_no_percentile() {
        let flows = [
            flow("f-0", Some(2.0)),
            flow("f-1", None),
            flow("f-2", None),
            flow("never", None),
        ];
        let [row] = &times(&flows)[..] else {
            panic!("a group without a completed flow has no row")
        };
        assert_eq!((row.flows, row.completed, row.p99_s), (3, 1, 2.0));
    }

    #[test]
    fn a_number_at_the_end_of_a_lone_name_makes_no_group() {
        let flows = ["car-7", "bus-0", "bus-1", "x", "tram-", "2"].map(|name| flow(name, None));
        let groups: Vec<&str> = with_groups(flows.iter()).iter().map(|(g, _)| *g).collect();
        assert_eq!(groups, ["car-7", "bus", "bus", "x", "tram-", "2"]);
    }

    #[test]
    fn completions_are_in_the_order_of_their_ends() {
        let flows = [
            flow("late", Some(3.0)),
            flow("never", None),
            flow("soon", Some(1.0)),
        ];
        let done = completions(&with_groups(flows.iter()));
        let names: Vec<&str> = done.iter().map(|row| row.flow.as_str()).collect();
        assert_eq!(names, ["soon", "late"]);
    }
}
