//! Tests of a link that another link can replace, case by case.

use crate::common::{Bench, mbps, ms, us};
use fadeout_core::{Bytes, DropCause, FlowId, Packet, PacketId, Protocol, Segment, Time};
use fadeout_link::{Limit, LinkConfig, QueueConfig, RateConfig};

/// Returns a link of 12 Mbit/s, on which a 1500-byte packet lasts one millisecond.
fn twelve() -> LinkConfig {
    LinkConfig {
        rate: RateConfig::Constant(mbps(12)),
        yields: true,
        ..LinkConfig::default()
    }
}

/// Closes the link. Returns the waiting packets in order.
fn close(bench: &mut Bench, now: Time) -> Vec<PacketId> {
    let mut out = Vec::new();
    bench
        .link
        .close(now, &mut bench.pool, &mut out, &mut bench.log);
    out
}

fn open(bench: &mut Bench, now: Time) {
    bench.link.open(now, &mut bench.pool, &mut bench.log);
}

fn flows(bench: &Bench, packets: &[PacketId]) -> Vec<u32> {
    packets.iter().map(|&id| bench.pool[id].flow.0).collect()
}

fn put_ahead(bench: &mut Bench, now: Time, flow: u32, protocol: Protocol, len: u32) {
    let segment = Segment {
        len,
        ..Segment::default()
    };
    let packet = bench.pool.insert(Packet {
        flow: FlowId(flow),
        protocol,
        segment,
        ..Packet::default()
    });
    bench
        .link
        .on_packet_ahead(now, packet, &mut bench.pool, &mut bench.log);
}

#[test]
fn a_link_that_closes_gives_back_what_is_not_sent_whole_and_delivers_the_rest() {
    let mut bench = Bench::new(twelve());
    for _ in 0..4 {
        bench.send(Time::ZERO, 1500);
    }
    bench.run_until(us(1500));
    let taken = close(&mut bench, us(1500));
    assert_eq!(flows(&bench, &taken), [1, 2, 3]);
    bench.drain();
    assert_eq!(bench.arrived, [(ms(1), 0)]);
    assert_eq!(bench.link.stats().packets_taken, 3);
}

#[test]
fn a_link_that_opens_begins_with_what_was_put_ahead() {
    let mut bench = Bench::new(twelve());
    close(&mut bench, Time::ZERO);
    bench.send(ms(1), 1500);
    put_ahead(&mut bench, ms(2), 10, Protocol::Tcp, 1460);
    bench.drain();
    assert_eq!(bench.arrived, [], "it is closed");
    open(&mut bench, ms(5));
    bench.drain();
    assert_eq!(bench.arrived, [(ms(6), 10), (ms(7), 0)]);
}

#[test]
fn a_datagram_put_ahead_or_lost_has_its_own_size() {
    let mut bench = Bench::new(twelve());
    close(&mut bench, Time::ZERO);
    // The headers of UDP and IP have 28 bytes.
    put_ahead(&mut bench, ms(1), 10, Protocol::Udp, 1472);
    assert_eq!(bench.link.queued_bytes(ms(1)), Bytes(1500));
    assert_eq!(bench.link.stats().bytes_in, Bytes(1500));
    let lost = bench.pool.insert(Packet {
        protocol: Protocol::Udp,
        segment: Segment {
            len: 972,
            ..Segment::default()
        },
        ..Packet::default()
    });
    bench
        .link
        .lose(ms(2), lost, false, &mut bench.pool, &mut bench.log);
    assert_eq!(bench.link.stats().bytes_in, Bytes(2500));
    assert_eq!(bench.log.drops[0].size_bytes, 1000);
    assert_eq!(bench.log.drops[0].cause, DropCause::Handover);
    open(&mut bench, ms(5));
    bench.drain();
    assert_eq!(bench.arrived, [(ms(6), 10)]);
}

#[test]
fn a_packet_put_ahead_counts_against_the_limit_and_is_reported() {
    let limit = Some(Limit::Packets(1));
    let queue = QueueConfig {
        limit,
        ..QueueConfig::default()
    };
    let mut bench = Bench::new(LinkConfig { queue, ..twelve() });
    close(&mut bench, Time::ZERO);
    for flow in [10, 11] {
        put_ahead(&mut bench, ms(1), flow, Protocol::Tcp, 1460);
    }
    assert_eq!(bench.dropped(DropCause::QueueFull), [11]);
    let queued: Vec<u32> = bench
        .log
        .queues
        .iter()
        .map(|row| row.queued_packets)
        .collect();
    assert_eq!(queued, [1, 1], "a row each, after what became of it");
}
