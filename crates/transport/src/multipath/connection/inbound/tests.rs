use super::*;
use crate::tcp::ReceiveWindow;

const MSS: u32 = 1_000;

fn inbound() -> Inbound {
    let mut inbound = Inbound::new(
        &TcpConfig::linux()
            .changed(|tcp| tcp.buffers.receive_window = ReceiveWindow::Fixed { bytes: 20_000 }),
        ReceiveModel::Papers,
    );
    inbound.on_established(Time::ZERO);
    inbound
}

fn deliver(inbound: &mut Inbound) -> Delivered {
    inbound.deliver(Time::ZERO, MSS, BufferRound::default)
}

fn bytes(bytes: u64) -> Delivered {
    Delivered { bytes, fin: false }
}

#[test]
fn data_of_several_paths_is_put_in_order_and_counted_once() {
    let mut inbound = inbound();
    inbound.insert(1_001, 2_001, MSS);
    assert_eq!(deliver(&mut inbound), bytes(0));
    assert_eq!((inbound.next(), inbound.buffered()), (1, 1_000));
    inbound.insert(1, 1_001, MSS);
    inbound.insert(2_001, 2_501, MSS);
    assert_eq!(deliver(&mut inbound), bytes(2_500));
    assert_eq!((inbound.next(), inbound.buffered()), (2_501, 0));
    inbound.insert(1_001, 2_001, MSS);
    assert_eq!(deliver(&mut inbound), bytes(0));
}

#[test]
fn a_data_fin_waits_for_what_is_before_it_and_is_no_data() {
    let mut inbound = inbound();
    inbound.on_data_fin(1_001);
    assert_eq!(deliver(&mut inbound), bytes(0));
    assert!(!inbound.is_finished());
    inbound.insert(1, 1_001, MSS);
    let all = Delivered {
        bytes: 1_000,
        fin: true,
    };
    assert_eq!(deliver(&mut inbound), all);
    assert!(inbound.is_finished());
    assert_eq!((inbound.next(), inbound.buffered()), (1_002, 0));
    assert_eq!(deliver(&mut inbound), bytes(0));
}

#[test]
fn what_is_not_read_fills_the_window_and_reading_opens_it() {
    let mut inbound = inbound();
    let (_, scale) = inbound.syn_window();
    let whole = inbound.advertise(0, MSS);
    assert!(whole <= 20_000 && whole > 20_000 - (1_000 << scale));
    inbound.pause();
    inbound.insert(1, 10_001, MSS);
    assert_eq!(deliver(&mut inbound), bytes(0));
    assert_eq!(inbound.buffered(), 10_000);
    assert!(inbound.advertise(0, MSS) <= whole - 9_000);
    let resumed = inbound.resume(Time::ZERO, MSS, BufferRound::default);
    assert_eq!(resumed, (10_000, true));
    assert_eq!(inbound.buffered(), 0);
    assert_eq!(
        inbound.resume(Time::ZERO, MSS, BufferRound::default),
        (0, false)
    );
    inbound.advertise(0, MSS);
    inbound.pause();
    inbound.insert(10_001, 10_101, MSS);
    deliver(&mut inbound);
    let resumed = inbound.resume(Time::ZERO, MSS, BufferRound::default);
    assert_eq!(resumed, (100, false), "too little to speak of");
}

#[test]
fn what_the_syn_offered_is_never_taken_back() {
    // Small segments use more of the buffer than the SYN's window assumed. The peer fills the
    // buffer on one path. The window must still contain the data that is missing on the other path.
    for mss in [150, 1_000, 9_000] {
        let mut inbound = Inbound::new(&TcpConfig::linux(), ReceiveModel::Papers);
        let (offered, _) = inbound.syn_window();
        assert!(inbound.advertise(0, mss) >= offered, "{mss}");
        inbound.on_established(Time::ZERO);
        assert!(inbound.advertise(0, mss) >= offered, "{mss}");
        inbound.insert(1 + u64::from(mss), 1 + offered, mss);
        inbound.grow(0, mss, mss, mss, Held::Memory(0));
        inbound.deliver(Time::ZERO, mss, BufferRound::default);
        let edge = inbound.next() + inbound.advertise(0, mss);
        assert!(edge > offered, "{mss}: {edge}");
    }
}

#[test]
fn the_subflows_are_looked_at_once_a_round_trip() {
    let mut inbound = Inbound::new(&TcpConfig::linux(), ReceiveModel::Papers);
    let mut times = Vec::new();
    for millis in [0, 1, 30, 49, 50, 51] {
        let now = Time::ZERO + Span::from_millis(millis);
        let next = inbound.next();
        inbound.insert(next, next + 1_000, MSS);
        inbound.deliver(now, MSS, || {
            times.push(millis);
            BufferRound {
                slowest: Some(Span::from_millis(50)),
                all_carried: true,
                present: u32::MAX,
            }
        });
    }
    assert_eq!(times, [0, 50]);
}

#[test]
fn a_subflow_offers_more_with_what_arrives_and_keeps_room_for_a_segment() {
    let limit = |mss, len| {
        let mut inbound = Inbound::new(
            &TcpConfig {
                mss,
                ..TcpConfig::linux()
            },
            ReceiveModel::Papers,
        );
        inbound.on_established(Time::ZERO);
        let grows = inbound.grow(0, len, len, MSS, Held::Memory(0));
        (inbound.subflows[0].limit, grows)
    };
    let (before, _) = limit(1_460, 127);
    assert_eq!(before, 65_536 - 1_460, "small ones do not count");
    assert_eq!(limit(1_460, MSS), (before + 2 * u64::from(MSS), true));
    assert!(limit(4_000, 127).0 < before);
}

#[test]
fn a_subflow_offers_no_more_than_what_is_free_in_its_own_buffer() {
    let mut inbound = Inbound::new(&TcpConfig::linux(), ReceiveModel::Papers);
    inbound.on_established(Time::ZERO);
    let before = inbound.subflows[0].limit;
    assert!(!inbound.grow(0, MSS, MSS, MSS, Held::Memory(128 << 10)));
    assert_eq!(inbound.subflows[0].limit, before);
}

#[test]
fn what_comes_next_drains_the_buffer_unless_a_gap_is_left() {
    let mut inbound = inbound();
    assert!(inbound.is_drained_by(1, 1_001));
    assert!(!inbound.is_drained_by(1_001, 2_001), "nothing to read");
    inbound.insert(1_001, 2_001, MSS);
    assert!(inbound.is_drained_by(1, 1_001));
    inbound.insert(3_001, 4_001, MSS);
    assert!(!inbound.is_drained_by(1, 1_001));
    inbound.pause();
    assert!(!inbound.is_drained_by(1, 4_001));
}

#[test]
fn what_arrives_on_a_subflow_lets_that_one_offer_more() {
    let mut inbound = Inbound::new(&TcpConfig::linux(), ReceiveModel::Papers);
    inbound.on_established(Time::ZERO);
    inbound.insert(1, 30_001, MSS);
    inbound.grow(1, MSS, MSS, MSS, Held::Memory(0));
    inbound.deliver(Time::ZERO, MSS, BufferRound::default);
    let first = inbound.advertise(0, MSS);
    let second = inbound.advertise(1, MSS);
    assert!(second > first, "{second}");
    assert!(inbound.advertise(0, MSS) >= second, "it stays offered");
}

/// Returns a receiving half that counts memory as in the buffers of a network device.
fn of_a_device() -> Inbound {
    let packet_memory = PacketMemory {
        alone: 728,
        joined: 472,
    };
    let config = TcpConfig::linux().changed(|tcp| tcp.buffers.packet_memory = packet_memory);
    let mut inbound = Inbound::new(&config, ReceiveModel::Linux);
    inbound.window.measure_share(MSS);
    inbound
}

#[test]
fn a_short_segment_behind_a_gap_takes_the_memory_of_a_whole_one() {
    let memory = |len: u64| {
        let mut inbound = of_a_device();
        inbound.insert(1_001, 1_001 + len, MSS);
        inbound.insert(1_001, 1_001 + len, MSS);
        deliver(&mut inbound);
        let held = inbound.held(MSS);
        inbound.insert(1, 1_001, MSS);
        deliver(&mut inbound);
        inbound.read_fresh(Time::ZERO, MSS, BufferRound::default);
        assert_eq!(inbound.held(MSS), Held::Memory(0), "{len}");
        held
    };
    assert_eq!(memory(100), memory(1_000));
}

#[test]
fn a_path_is_crowded_where_what_is_in_order_leaves_less_than_was_offered() {
    let mut inbound = Inbound::new(&TcpConfig::linux(), ReceiveModel::Linux);
    inbound.on_established(Time::ZERO);
    inbound.window.measure_share(MSS);
    inbound.grow(0, MSS, MSS, MSS, Held::Memory(0));
    inbound.advertise(0, MSS);
    let crowds = |inbound: &mut Inbound, start, end| {
        inbound.is_crowded_by(0, (start, end), end - start, MSS)
    };
    assert!(!crowds(&mut inbound, 1, 1_001), "there is room");
    assert!(crowds(&mut inbound, 1, 60_001));
    // Data behind a gap and old data does not become readable, so it does not shrink the window.
    assert!(!crowds(&mut inbound, 2, 60_001), "a gap");
    inbound.insert(1, 60_001, MSS);
    assert!(!crowds(&mut inbound, 1, 60_001), "old");
    inbound.model = ReceiveModel::Papers;
    assert!(!crowds(&mut inbound, 60_001, 120_001));
}

#[test]
fn all_that_the_last_segment_put_in_order_is_in_the_buffer_when_it_is_acknowledged() {
    let mut inbound = of_a_device();
    for start in (1_001..30_001).step_by(1_000) {
        inbound.insert(start, start + 1_000, MSS);
        deliver(&mut inbound);
    }
    let behind = inbound.held(MSS);
    inbound.insert(1, 1_001, MSS);
    deliver(&mut inbound);
    let (Held::Memory(behind), Held::Memory(in_order)) = (behind, inbound.held(MSS)) else {
        panic!("memory is counted");
    };
    // The first packet is not merged, because the packet behind it is full. So it adds its own
    // memory.
    assert_eq!(in_order, behind + inbound.memory_of(1_000, MSS));
    inbound.read_fresh(Time::ZERO, MSS, BufferRound::default);
    assert_eq!(inbound.held(MSS), Held::Memory(0));
}

#[test]
fn in_linux_the_buffer_grows_once_what_was_read_is_acknowledged() {
    let mut inbound = Inbound::new(&TcpConfig::linux(), ReceiveModel::Linux);
    inbound.on_established(Time::ZERO);
    let measure = || BufferRound {
        slowest: Some(Span::from_millis(1)),
        all_carried: true,
        present: u32::MAX,
    };
    let whole = |inbound: &Inbound| inbound.window.preview(Held::Memory(0), MSS);
    inbound.window.set_limit(1 << 24);
    inbound.insert(1, 60_001, MSS);
    let now = Time::ZERO + Span::from_millis(50);
    assert_eq!(inbound.deliver(now, MSS, measure), bytes(60_000));
    let before = whole(&inbound);
    let has_read = inbound.read_fresh(now, MSS, measure);
    assert!(has_read.is_some_and(|read| read.leaves_nothing));
    let after = whole(&inbound);
    assert!(after > before, "{before} {after}");
    let again = inbound.read_fresh(now, MSS, || unreachable!("it was read"));
    assert_eq!(again, None);
    assert_eq!(whole(&inbound), after);
}

#[test]
fn what_is_there_already_is_nothing_new_where_less_can_be_offered_than_was() {
    let mut inbound = Inbound::new(&TcpConfig::linux(), ReceiveModel::Linux);
    inbound.on_established(Time::ZERO);
    inbound.insert(1, 1_001, MSS);
    deliver(&mut inbound);
    inbound.read_fresh(Time::ZERO, MSS, BufferRound::default);
    inbound.advertise(0, MSS);
    assert!(!inbound.has_all_of(0, 1_001, MSS), "as much as was");
    inbound.subflows[0].offered += 1 << 20;
    assert!(inbound.has_all_of(0, 1_001, MSS));
    assert!(!inbound.has_all_of(0, 1_002, MSS));
    inbound.model = ReceiveModel::Papers;
    assert!(!inbound.has_all_of(0, 1_001, MSS));
}
