//! Checks that arbitrary bytes are read as a trace or rejected. A link with the trace delivers all
//! packets in order.

#![no_main]

use fadeout_core::{FlowId, LinkId, NullProbe, Packet, PacketPool, Segment, Span, Time};
use fadeout_link::{Link, LinkConfig, OPPORTUNITY, RateConfig, Trace};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    let Ok(trace) = Trace::parse(text) else {
        return;
    };
    assert!(trace.opportunities() > 0 && !trace.period().is_zero());
    let rate = RateConfig::Trace(trace.clone());
    let config = LinkConfig {
        rate,
        ..LinkConfig::default()
    };
    let mut link = Link::new(LinkId(0), config, 1).expect("every trace makes a link");
    let (mut pool, mut out) = (PacketPool::new(), Vec::new());

    // As many full packets as one period carries arrive at once. A single packet follows later.
    let packets = u32::try_from(trace.opportunities().min(1000)).expect("at most 1000");
    let late = Time::ZERO + trace.period() * 3 + Span::from_nanos(1);
    for n in 0..=packets {
        let now = if n < packets { Time::ZERO } else { late };
        if n == packets {
            drain(&mut link, late, &mut pool, &mut out);
        }
        let segment = Segment {
            len: OPPORTUNITY - 40,
            ..Segment::default()
        };
        let packet = Packet {
            flow: FlowId(n),
            segment,
            ..Packet::default()
        };
        let packet = pool.insert(packet);
        link.on_packet(now, packet, &mut pool, &mut NullProbe);
    }
    drain(&mut link, late + trace.period(), &mut pool, &mut out);
    assert_eq!(
        out.len(),
        packets as usize + 1,
        "one period after the last, all have arrived"
    );
    assert!(
        out.iter().enumerate().all(|(n, &flow)| flow == n as u32),
        "in order"
    );
});

fn drain(link: &mut Link, until: Time, pool: &mut PacketPool, out: &mut Vec<u32>) {
    let mut arrived = Vec::new();
    while link.wake_at() <= until {
        let now = link.wake_at();
        link.on_wake(now, pool, &mut arrived, &mut NullProbe);
        out.extend(arrived.drain(..).map(|packet| pool.remove(packet).flow.0));
    }
}
