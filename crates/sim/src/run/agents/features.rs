//! Measurements of a decision interval, and the features of an agent's observation.

use fadeout_scenario::nearest;

/// Measurements of one flow over one decision interval.
#[derive(Debug, Clone, Copy, Default)]
pub struct Measured {
    /// Length of the interval, seconds.
    pub interval_s: f64,
    /// Data segments sent, retransmissions included.
    pub sent: f64,
    /// Segments acknowledged.
    pub acked: f64,
    /// Segments marked lost.
    pub lost: f64,
    /// Mean round-trip time. Without a sample, the mean of an earlier interval.
    pub rtt_s: f64,
    /// Smallest round-trip time of the connection.
    pub min_rtt_s: f64,
    /// Smallest mean round-trip time of any interval.
    pub least_rtt_s: f64,
    /// Change of the mean round-trip time since the previous interval.
    pub rtt_change_s: f64,
    /// Rate of acknowledged payload, Mbit/s.
    pub throughput_mbps: f64,
    /// Largest rate of acknowledged payload of any interval, Mbit/s.
    pub most_throughput_mbps: f64,
    /// Congestion window at the end, segments.
    pub cwnd: f64,
    /// Segments in flight at the end.
    pub in_flight: f64,
    /// Pacing rate at the end, Mbit/s. Zero if the sender does not pace.
    pub pacing_mbps: f64,
    /// Smoothed round-trip time at the end, seconds.
    pub srtt_s: f64,
    /// Payload of a full segment, bytes.
    pub mss_bytes: f64,
}

impl Measured {
    /// Returns the share of lost segments among lost and acknowledged ones.
    pub fn loss_ratio(&self) -> f64 {
        ratio(self.lost, self.lost + self.acked, 0.0)
    }

    /// Returns the rate of lost payload, Mbit/s.
    pub fn lost_mbps(&self) -> f64 {
        ratio(self.lost * self.mss_bytes * 8e-6, self.interval_s, 0.0)
    }

    /// Returns the factor of Orca's reward for the delay: 1 for a round-trip time of at most 1.25
    /// times the smallest one. For a longer round-trip time, 1.25 times the smallest one divided by
    /// the round-trip time.
    pub fn delay_factor(&self) -> f64 {
        ratio(1.25 * self.min_rtt_s, self.rtt_s, 1.0).min(1.0)
    }
}

/// Returns `part / whole`. `otherwise` if `whole` is zero.
pub(super) fn ratio(part: f64, whole: f64, otherwise: f64) -> f64 {
    if whole > 0.0 { part / whole } else { otherwise }
}

/// Value of an interval that an agent may observe.
#[derive(Debug)]
pub struct Feature {
    /// Name.
    pub name: &'static str,
    /// Unit, or an empty string.
    pub unit: &'static str,
    /// Meaning.
    pub doc: &'static str,
    value: fn(&Measured) -> f64,
}

impl Feature {
    /// Returns the value for an interval.
    pub fn value(&self, measured: &Measured) -> f64 {
        (self.value)(measured)
    }
}

/// Returns the number of a feature among [`FEATURES`].
///
/// # Errors
/// Returns the expected name, or all names if none is near, if there is no such feature.
pub fn feature_number(name: &str) -> Result<usize, String> {
    let names = || FEATURES.iter().map(|feature| feature.name);
    names().position(|known| known == name).ok_or_else(|| {
        let near = nearest(name, names()).map(|near| format!("\"{near}\""));
        near.unwrap_or_else(|| format!("one of {}", names().collect::<Vec<_>>().join(", ")))
    })
}

macro_rules! features {
    ($( $(#[doc = $doc:literal])+ $name:ident, $unit:literal => $value:expr; )+) => {
        /// Every feature.
        pub const FEATURES: &[Feature] = &[$( Feature {
            name: stringify!($name),
            unit: $unit,
            doc: fadeout_core::table::trim(concat!($($doc),+)),
            value: $value,
        } ),+];
    };
}

features! {
    /// Change of the mean round-trip time since the previous interval, divided by the length of the
    /// interval.
    latency_gradient, "" => |it| ratio(it.rtt_change_s, it.interval_s, 0.0);
    /// Mean round-trip time divided by the smallest mean of any interval.
    latency_ratio, "" => |it| ratio(it.rtt_s, it.least_rtt_s, 1.0);
    /// Segments sent divided by segments acknowledged. One plus the segments sent if none was
    /// acknowledged.
    send_ratio, "" => |it| ratio(it.sent, it.acked, 1.0 + it.sent);
    /// Mean round-trip time of the interval. Without a sample, the mean of an earlier interval.
    rtt_s, "s" => |it| it.rtt_s;
    /// Smallest round-trip time of the connection.
    min_rtt_s, "s" => |it| it.min_rtt_s;
    /// Smallest round-trip time divided by the smoothed round-trip time.
    min_rtt_ratio, "" => |it| ratio(it.min_rtt_s, it.srtt_s, 1.0);
    /// Rate of acknowledged payload.
    throughput_mbps, "Mbit/s" => |it| it.throughput_mbps;
    /// Rate of acknowledged payload divided by its largest value.
    throughput_ratio, "" => |it| ratio(it.throughput_mbps, it.most_throughput_mbps, 0.0);
    /// Pacing rate divided by the largest rate of acknowledged payload. Without pacing, one window
    /// per round trip takes the place of the pacing rate.
    pacing_ratio, "" => |it| {
        let window = ratio(it.cwnd * it.mss_bytes * 8e-6, it.srtt_s, 0.0);
        let rate = if it.pacing_mbps > 0.0 { it.pacing_mbps } else { window };
        ratio(rate, it.most_throughput_mbps, 0.0)
    };
    /// Rate of lost payload, times five, divided by the largest rate of acknowledged payload.
    lost_ratio, "" => |it| ratio(5.0 * it.lost_mbps(), it.most_throughput_mbps, 0.0);
    /// Lost segments divided by lost and acknowledged segments.
    loss_ratio, "" => Measured::loss_ratio;
    /// 1.25 times the smallest round-trip time divided by the mean round-trip time, at most 1.
    delay_factor, "" => Measured::delay_factor;
    /// Segments acknowledged divided by the congestion window.
    acked_per_cwnd, "" => |it| ratio(it.acked, it.cwnd, 0.0);
    /// Segments acknowledged.
    acked_segments, "segments" => |it| it.acked;
    /// Segments marked lost.
    lost_segments, "segments" => |it| it.lost;
    /// Data segments sent, retransmissions included.
    sent_segments, "segments" => |it| it.sent;
    /// Congestion window.
    cwnd_segments, "segments" => |it| it.cwnd;
    /// Segments in flight.
    in_flight_segments, "segments" => |it| it.in_flight;
    /// Pacing rate. Zero if the sender does not pace.
    pacing_rate_mbps, "Mbit/s" => |it| it.pacing_mbps;
    /// Smoothed round-trip time.
    srtt_s, "s" => |it| it.srtt_s;
    /// Length of the interval.
    interval_s, "s" => |it| it.interval_s;
}
