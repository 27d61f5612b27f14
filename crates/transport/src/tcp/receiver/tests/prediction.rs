//! Comparison of header prediction with the general path, for random segments and reads.

use super::*;
use proptest::prelude::*;

/// Event at a receiver.
#[derive(Debug, Clone)]
enum Event {
    /// Arrival of `len` bytes, `after` bytes above RCV.NXT or below it.
    Data { after: i64, len: u32, flags: Flags },
    /// Change of the peer's clock, ms. The timestamps of later segments change with it.
    Clock(i32),
    /// Time that passes, us.
    Wait(u64),
    /// Pause or end of a pause of the application's reads.
    Read(bool),
    /// Change of the option `TCP_QUICKACK`.
    QuickAcks(bool),
    /// Data that this end sends.
    Reply,
}

fn event() -> impl Strategy<Value = Event> {
    let flags = prop_oneof![8 => Just(Flags::ACK), 2 => Just(Flags::ACK | Flags::PSH)];
    let after = prop_oneof![20 => Just(0), 1 => -3_000_i64..5_000, 1 => Just(1_000)];
    let len = prop_oneof![12 => Just(1_000_u32), 1 => 1_u32..1_000];
    prop_oneof![
        30 => (after, len, flags).prop_map(|(after, len, flags)| Event::Data { after, len, flags }),
        4 => (-3..50).prop_map(Event::Clock),
        6 => (0_u64..60_000).prop_map(Event::Wait),
        1 => any::<bool>().prop_map(Event::Read),
        1 => any::<bool>().prop_map(Event::QuickAcks),
        1 => Just(Event::Reply),
    ]
}

/// Passes a segment to the receiver as an endpoint does. Returns true if the segment was predicted.
/// The receiver then compares the short path with the general one.
fn deliver(b: &mut Bench, segment: &Segment) -> bool {
    let is_predicted = b.receiver.is_predicting() && b.receiver.predicts(segment);
    let ack_now = if is_predicted {
        (b.receiver).on_predicted(b.now, segment, Ecn::NotEct, (RTO, SRTT))
    } else {
        b.receiver.must_acknowledge_before(segment, Ecn::NotEct) | b.receive(*segment).ack_now
    };
    if ack_now {
        b.ack();
    }
    is_predicted
}

/// Runs the events. Returns the number of predicted segments.
fn run(events: &[Event]) -> usize {
    let mut b = Bench::new(&TcpConfig {
        timestamps: true,
        ..linux()
    });
    let (mut clock, mut predicted) = (1_000_i32, 0);
    for event in events {
        match *event {
            Event::Data { after, len, flags } => {
                let next = b.receiver.rcv_nxt() as i64;
                let segment = Segment {
                    seq: (next + after).max(1) as u64,
                    has_timestamps: true,
                    ts_value: clock as u32,
                    ts_echo: (b.now.as_millis() as u32).wrapping_sub(100),
                    flags,
                    ..data(0, len)
                };
                predicted += usize::from(deliver(&mut b, &segment));
            }
            Event::Clock(change) => clock += change,
            Event::Wait(micros) => b.now += Span::from_micros(micros),
            Event::Read(is_on) => {
                b.receiver.set_reading(b.now, is_on);
            }
            Event::QuickAcks(is_on) => b.receiver.set_quick_acks(is_on),
            Event::Reply => b.receiver.stamp(b.now, &mut data(1, 100)),
        }
        if b.receiver.on_wake(b.now, RTO) {
            b.ack();
        }
    }
    predicted
}

proptest! {
    #![proptest_config(fadeout_testkit::Cases::new(300).proptest())]

    /// Asserts that both paths leave every field of the receiver equal. Each predicted segment
    /// takes both of them.
    #[test]
    fn prediction_does_what_the_general_path_does(
        events in prop::collection::vec(event(), 1..400),
    ) {
        run(&events);
    }
}

#[test]
fn full_segments_in_order_are_predicted_and_others_are_not() {
    let segment = |after, len, flags| Event::Data { after, len, flags };
    let full = segment(0, 1_000, Flags::ACK);
    // The first segment measures the peer's segment size.
    assert_eq!(run(&vec![full.clone(); 50]), 49);
    for other in [
        segment(0, 500, Flags::ACK),
        segment(0, 1_000, Flags::ACK | Flags::FIN),
        segment(1_000, 1_000, Flags::ACK),
        segment(-500, 1_000, Flags::ACK),
    ] {
        assert_eq!(
            run(&[full.clone(), full.clone(), other.clone()]),
            1,
            "{other:?}"
        );
    }
    for change in [Event::Clock(-2), Event::Read(false)] {
        let events = [full.clone(), full.clone(), change.clone(), full.clone()];
        assert_eq!(run(&events), 1, "{change:?}");
    }
}
