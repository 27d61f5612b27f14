//! Comparison of a sent segment with the one that the script expects.

use crate::addresses::Names;
use crate::connection::Connection;
use crate::host::{Host, Sent};
use crate::mptcp_wire;
use crate::packet::Seen;
use crate::script::PacketSpec;
use crate::settings::Settings;
use fadeout_core::{Ecn, Flags};
use std::collections::BTreeMap;

/// Allowed error of a timestamp, in multiples of the tolerance of events. Numbers in scripts are
/// rounded, and their errors add up over a script.
const TIMESTAMP_SLACK: u64 = 10;

/// Conversion between the timestamps of the script and of the endpoint. The first pair determines
/// the offset. Echoes are first looked up in the known pairs, because a script's clock may be
/// arbitrary.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    /// First pair of timestamps: of the script and of the endpoint.
    first: Option<(u32, u32)>,
    /// Endpoint timestamp for each script timestamp seen so far.
    pairs: BTreeMap<u32, u32>,
}

impl Clock {
    /// Returns the endpoint's timestamp that corresponds to a timestamp of the script.
    pub(crate) fn live(&self, scripted: u32) -> u32 {
        let by_offset = || {
            let (script, live) = self.first?;
            Some(scripted.wrapping_sub(script).wrapping_add(live))
        };
        let known = self.pairs.get(&scripted).copied();
        known.or_else(by_offset).unwrap_or(scripted)
    }

    /// Returns the script's timestamp that corresponds to a timestamp of the endpoint.
    pub(crate) fn scripted(&self, live: u32) -> u32 {
        self.first.map_or(live, |(script, first)| {
            live.wrapping_sub(first).wrapping_add(script)
        })
    }

    /// Returns true if a timestamp of the endpoint, in the script's clock, matches the expected
    /// one.
    fn is_like(&self, scripted: u32, live: u32, settings: &Settings) -> bool {
        let Some(tick) = settings.timestamp_tick.filter(|_| self.first.is_some()) else {
            // If the script sets no tick length, only echoed timestamps can be checked.
            return true;
        };
        let off = (live.wrapping_sub(scripted) as i32).unsigned_abs();
        let allowed = TIMESTAMP_SLACK * settings.tolerance.as_nanos() / tick.as_nanos();
        u64::from(off) <= allowed
    }

    fn learn(&mut self, scripted: u32, live: u32) {
        self.first.get_or_insert((scripted, live));
        self.pairs.insert(scripted, live);
    }
}

/// Returns a text that lists the differences between the expected segment and the sent one. `None`
/// if the segments are equal.
pub(crate) fn difference(
    spec: &PacketSpec,
    sent: &Sent,
    seen: &Seen,
    (clock, names): (&mut Clock, &mut Names),
    host: &Host,
) -> Option<String> {
    let mut parts = Vec::new();
    let mut differ = |what: &str, expected: String, actual: String| {
        if expected != actual {
            parts.push(format!("{what} {expected} expected, {actual} sent"));
        }
    };
    let flags = as_offloaded(spec, sent, host);
    differ("flags", format!("{:?}", spec.flags), format!("{flags:?}"));
    let range = |seq: u32, len: u32| format!("{seq}:{}({len})", seq.wrapping_add(len));
    differ(
        "sequence numbers",
        range(spec.seq, spec.len),
        range(seen.seq, seen.segment.len),
    );
    differ("ack", spec.ack.to_string(), seen.ack.to_string());
    if let Some(window) = spec.window {
        differ("win", window.to_string(), seen.window.to_string());
    }
    if let Some(ecn) = spec.ecn {
        differ("IP field", name(ecn).to_owned(), name(sent.ecn).to_owned());
    }
    if let Some(expected) = &spec.options {
        let mut actual = seen.options();
        let is_multipath = |one: &Connection| one.endpoint.is_multipath();
        let is_multipath = host.connection.as_ref().is_some_and(is_multipath);
        if let (Some((value, echo)), Some((live, _))) = (expected.timestamps(), actual.timestamps())
        {
            // Scripts of Multipath TCP state echoes of segments that arrive later, on any subflow.
            // As in packetdrill, only a script with a tick checks timestamps.
            if is_multipath && host.settings.timestamp_tick.is_none() {
                actual = actual.with_echo(echo);
            }
            if clock.is_like(value, live, &host.settings) {
                actual = actual.with_timestamp(value);
            }
            clock.learn(value, seen.segment.ts_value);
        }
        if is_multipath {
            actual = mptcp_wire::adopt(actual, expected, |announced, sent| {
                let known = announced.address.or_else(|| names.find(&announced.name));
                names.learn(&announced.name, known.unwrap_or(sent));
                known.is_none_or(|known| known == sent)
            });
        }
        differ("options", expected.to_string(), actual.to_string());
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Returns the flags of the sent segment for the comparison. Linux's segmentation offload may set
/// PSH on segments cut out of a longer burst. On such segments the PSH flag is copied from the
/// script.
fn as_offloaded(spec: &PacketSpec, sent: &Sent, host: &Host) -> Flags {
    let connection = host.connection.as_ref();
    let mss = connection.map_or(u32::MAX, |one| one.endpoint.info().snd_mss);
    let flags = sent.segment.flags;
    let has_no_end = sent.is_cut && !flags.has(Flags::PSH);
    if has_no_end && sent.segment.len > mss {
        return flags | Flags(spec.flags.0 & Flags::PSH.0);
    }
    flags
}

fn name(ecn: Ecn) -> &'static str {
    match ecn {
        Ecn::NotEct => "noecn",
        Ecn::Ect0 => "ect0",
        Ecn::Ect1 => "ect1",
        Ecn::Ce => "ce",
    }
}
