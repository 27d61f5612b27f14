//! Tests of the advertised window without a receiver.

use super::*;

const MSS: u32 = 1448;

/// Returns a read of which `first` bytes are from the first packet, without gaps.
fn read(bytes: u64, first: u64) -> Read {
    Read {
        bytes,
        first,
        beyond: 0,
    }
}

/// Returns the buffer of Linux 6.12 after a round trip of `copied` bytes.
fn buffer_for(copied: u64, before: u64) -> u64 {
    let reading = Reading {
        copied,
        before,
        mss: MSS,
        beyond: 0,
    };
    growth::buffer(BufferGrowth::Linux612, reading)
}

fn time_at_ms(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

#[test]
fn the_right_edge_never_moves_back() {
    let config = TcpConfig::new("rfc", &Default::default())
        .expect("the profile exists")
        .changed(|tcp| tcp.buffers.receive_window = ReceiveWindow::Fixed { bytes: 10_000 });
    let mut window = AdvertisedWindow::new(&config);
    assert_eq!(window.advertise(1, 0, MSS), 10_000);
    assert_eq!(window.advertise(1001, 9_000, MSS), 9_000);
    assert_eq!(window.scale(), 0);
}

/// Returns the window of a listening end after the peer's SYN. The buffer may grow to 64 MiB
/// (`tcp_rmem`).
fn listening() -> AdvertisedWindow {
    let mut window = AdvertisedWindow::new(&TcpConfig::linux().changed(|tcp| {
        tcp.buffers.receive_window = ReceiveWindow::Autotuned {
            max_bytes: 32 << 20,
        }
    }));
    window.begin(1, Some(MSS));
    window
}

#[test]
fn the_first_windows_are_those_of_a_recorded_kernel() {
    let mut window = listening();
    assert_eq!((window.initial(), window.scale()), (65_160, 11));
    window.on_established(time_at_ms(0), MSS);
    window.measure_share(MSS);
    let offered = (1..=7).map(|n| {
        window.grow(MSS, MSS, u64::from(MSS));
        window.advertise(1 + n * u64::from(MSS), 0, MSS)
    });
    let recorded = [67_584, 71_680, 73_728, 75_776, 79_872, 79_872, 79_872];
    assert_eq!(offered.collect::<Vec<_>>(), recorded);
}

#[test]
fn what_a_syn_offered_is_not_taken_back() {
    let mut window = listening();
    window.on_established(time_at_ms(0), MSS);
    // Room for one segment is subtracted. But 65,160 bytes were already offered, so the window does
    // not shrink.
    assert_eq!(window.advertise(1, 0, MSS), 65_536);
    assert_eq!(window.offered(1), 65_536);
}

#[test]
fn small_segments_let_the_window_grow_less_far() {
    let mut window = listening();
    window.on_established(time_at_ms(0), MSS);
    window.measure_share(MSS);
    assert!(window.grow(500, MSS, 0));
    window.threshold = window.maximum / 2 + 1;
    window.buffer = window.maximum;
    assert!(!window.grow(500, MSS, 0));
    assert!(window.grow(MSS, MSS, 0));
}

#[test]
fn a_nearly_full_buffer_closes_the_window() {
    let mut window = listening();
    window.on_established(time_at_ms(0), MSS);
    assert_eq!(window.preview(60_000, MSS), 4_096);
    assert_eq!(
        window.preview(62_000, MSS),
        0,
        "less than a sixteenth is free"
    );
}

#[test]
fn without_a_scale_the_window_is_whole_segments() {
    let mut window = listening();
    window.forgo_scaling();
    window.on_established(time_at_ms(0), MSS);
    assert_eq!(window.advertise(1, 0, MSS), 65_160);
    window.right_edge = 0;
    assert_eq!(window.advertise(1, 0, MSS), 63_712);
}

#[test]
fn a_window_takes_a_round_trip() {
    let mut window = listening();
    window.measure_round(time_at_ms(0), 1);
    window.measure_round(time_at_ms(30), 30_000);
    assert_eq!(window.rtt, None);
    window.measure_round(time_at_ms(50), 1 + 65_160);
    assert_eq!(window.rtt, Some(Span::from_millis(50)));
}

#[test]
fn a_smaller_round_trip_counts_at_once_and_a_larger_by_an_eighth() {
    let mut window = listening();
    window.measure_rtt(time_at_ms(100), 20, true, false);
    window.measure_rtt(time_at_ms(200), 104, true, false);
    assert_eq!(window.rtt, Some(Span::from_millis(82)));
    window.measure_rtt(time_at_ms(300), 219, true, false);
    assert_eq!(window.rtt, Some(Span::from_millis(81)));
}

#[test]
fn the_scale_is_the_smallest_that_expresses_the_largest_window() {
    let scale = |bytes| {
        AdvertisedWindow::new(&TcpConfig::linux().changed(|tcp| {
            tcp.buffers.receive_window = ReceiveWindow::Autotuned { max_bytes: bytes }
        }))
        .scale()
    };
    assert_eq!((scale(65_535), scale(3 << 20), scale(1 << 30)), (1, 7, 14));
}

/// Returns a window of constant size under the profile `profile`.
fn fixed(profile: &str, bytes: u64) -> AdvertisedWindow {
    AdvertisedWindow::new(
        &TcpConfig::new(profile, &Default::default())
            .expect("the profile exists")
            .changed(|tcp| tcp.buffers.receive_window = ReceiveWindow::Fixed { bytes }),
    )
}

/// Returns a window without a scale, with this buffer and `last` bytes offered.
fn unscaled(buffer: u64, last: u64) -> AdvertisedWindow {
    let mut window = listening();
    window.forgo_scaling();
    window.buffer = buffer;
    window.threshold = buffer;
    window.last = last;
    window
}

#[test]
fn a_buffer_is_tight_with_less_than_half_of_it_free() {
    let mut window = listening();
    window.buffer = 1_000;
    assert!(!window.is_tight(500) && window.is_tight(501));
}

#[test]
fn what_is_offered_at_first_is_what_the_syn_says() {
    let mut window = fixed("linux", 50_000);
    assert_eq!(window.offered(1), window.last());
    window.begin(1, None);
    window.advertise(1, 0, MSS);
    let edge = window.right_edge;
    assert_eq!(window.offered(edge - 1), 1);
    assert_eq!(window.offered(edge), 0);
}

#[test]
fn room_for_two_segments_is_offered_though_one_is_kept_back() {
    let mut window = listening();
    let mss = u64::from(MSS);
    window.buffer = 5 * mss / 2;
    window.threshold = window.buffer;
    window.on_established(time_at_ms(7), MSS);
    assert_eq!((window.threshold, window.space), (2 * mss, 2 * mss));
    assert_eq!(window.measured_from, time_at_ms(7));
}

#[test]
fn a_scaled_window_is_never_more_than_was_meant() {
    let mut window = fixed("rfc", 100_001);
    assert_eq!(window.scale(), 1);
    assert_eq!(window.preview(0, MSS), 100_000);
    assert_eq!(window.advertise(1, 0, MSS), 100_000);
    // An offered window is not withdrawn, and the scale can only express even values.
    assert_eq!(window.advertise(2, 50_000, MSS), 99_998);
}

#[test]
fn without_a_scale_the_window_moves_by_whole_segments() {
    let mss = u64::from(MSS);
    let preview = |last, held| unscaled(20_000, last).preview(held, MSS);
    assert_eq!(preview(10_000, 20_000 - 11_448), 7 * mss, "a segment more");
    assert_eq!(preview(10_000, 20_000 - 11_447), 10_000);
    assert_eq!(preview(10_000, 10_000), 10_000);
    assert_eq!(preview(10_000, 20_000 - 9_999), 6 * mss, "it shrinks");
    assert_eq!(preview(20_000, 20_000 - mss), mss);
    assert_eq!(preview(20_000, 20_000 - mss + 1), 0);
}

#[test]
fn a_buffer_of_less_than_a_segment_opens_by_half_of_itself() {
    let preview = |held| unscaled(1_000, 400).preview(held, MSS);
    assert_eq!([preview(0), preview(99), preview(100)], [1_000, 901, 400]);
}

#[test]
fn a_share_is_measured_by_autotuning_as_linux_does_alone() {
    let mut plain = fixed("linux", 50_000);
    plain.measure_share(100);
    assert_eq!((plain.buffer, plain.share), (50_000, FIRST_SHARE));
    let mut rfc = AdvertisedWindow::new(
        &TcpConfig::new("rfc", &Default::default())
            .expect("the profile exists")
            .changed(|tcp| {
                tcp.buffers.receive_window = ReceiveWindow::Autotuned { max_bytes: 1 << 20 }
            }),
    );
    let buffer = rfc.buffer;
    rfc.measure_share(100);
    assert_eq!((rfc.buffer, rfc.share), (buffer, FIRST_SHARE));
    let mut linux = listening();
    linux.measure_share(100);
    // The payload is 100 of 996 bytes of memory, 25 of 256.
    assert_eq!(linux.share, 25);
    assert_eq!(linux.buffer, linux.memory * 25 / 256);
}

#[test]
fn the_smaller_the_segments_the_sooner_growth_ends() {
    let mut window = listening();
    window.share = 158;
    let overhead = window.overhead;
    let growth = |window: &AdvertisedWindow, len, sizes| window.growth(len + overhead, len, sizes);
    for (len, part) in [(500, 2), (200, 4), (128, 8)] {
        window.threshold = window.maximum / part;
        let sizes = (2 * MSS, MSS);
        let by_what_arrives = 2 * u64::from(MSS);
        assert_eq!(growth(&window, len, sizes), by_what_arrives, "{len}");
        window.threshold += 1;
        assert_eq!(growth(&window, len, sizes), 0, "{len}");
    }
    // A large segment uses no more memory than the window grants for its payload. The window grows
    // by twice the payload or the advertised size, whichever is larger.
    assert_eq!(growth(&window, 2_000, (MSS, MSS)), 4_000);
    assert_eq!(growth(&window, 2_000, (3_000, MSS)), 6_000);
}

#[test]
fn a_subflow_offers_no_more_than_its_own_buffer_allows() {
    let mut window = listening();
    window.memory = 400_000;
    let limit = window.threshold + 100;
    let grow = |window: &mut AdvertisedWindow, room| {
        window.grow_with_segments((MSS, MSS), MSS, Held::Memory(0), room)
    };
    assert!(grow(&mut window, (400_000, limit)));
    assert_eq!(window.threshold, limit);
    assert!(!grow(&mut window, (400_000, limit)));
    // The window does not grow. The connection's buffer has grown, but not the path's buffer.
    assert!(!grow(&mut window, (limit, 400_000)));
    assert_eq!(window.memory, 400_000);
    assert!(grow(&mut window, (400_000, 400_000)));
}

#[test]
fn a_subflow_says_what_another_one_offered_rounded_down() {
    let mut window = listening();
    let held = Held::Memory(0);
    let unit = 1 << window.scale();
    window.right_edge = 0;
    window.threshold = 30_000;
    let edge = 1 + window.advertise_shared(1, held, MSS);
    assert_eq!(edge - 1, 30_000_u64.next_multiple_of(unit));
    // The limit of the second subflow is lower. It still repeats the offer of the first one,
    // rounded down to the scale.
    window.threshold = 10_000;
    for next in [1_001, 2_001, 3_001] {
        let advertised = window.advertise_shared(next, held, MSS);
        assert_eq!(advertised, (edge - next) / unit * unit, "{next}");
    }
    window.threshold = 30_000;
    let advertised = window.advertise_shared(3_001, held, MSS);
    assert_eq!(advertised, 30_000_u64.next_multiple_of(unit));
}

#[test]
fn a_round_trip_of_reading_sets_the_buffer_and_begins_the_next() {
    let mut window = listening();
    window.on_established(time_at_ms(0), MSS);
    window.set_rtt(Some(Span::from_millis(10)));
    assert_eq!(window.rtt(), Some(Span::from_millis(10)));
    let mss = u64::from(MSS);
    window.on_read(time_at_ms(9), read(50_000, mss), MSS);
    assert_eq!(
        (window.copied, window.measured_from),
        (50_000, time_at_ms(0))
    );
    window.on_read(time_at_ms(10), read(0, 0), MSS);
    assert_eq!(window.measured_from, time_at_ms(0), "nothing was read");
    let space = window.space;
    // The application reads five segments, the first three from one packet. The other two count for
    // the next round trip.
    let copied = 50_000 + mss;
    window.on_read(time_at_ms(10), read(5 * mss, 3 * mss), MSS);
    let buffer = buffer_for(copied, space);
    assert_eq!((window.buffer, window.memory), (buffer, 2 * buffer));
    assert_eq!((window.space, window.copied), (copied, 2 * mss));
    assert_eq!(window.measured_from, time_at_ms(10));
    // A read that is smaller than before does not change the buffer.
    window.on_read(time_at_ms(20), read(1, 1), MSS);
    assert_eq!((window.buffer, window.space), (buffer, copied));
    let mut constant = fixed("linux", 50_000);
    constant.set_rtt(Some(Span::ZERO));
    constant.on_read(time_at_ms(10), read(400_000, mss), MSS);
    assert_eq!((constant.buffer, constant.copied), (50_000, 0));
}

#[test]
fn a_round_ends_with_the_whole_window_and_the_senders_time_bounds_it() {
    let mut window = listening();
    let srtt = Span::from_millis(20);
    assert_eq!(window.rtt_or(srtt), srtt);
    window.measure_round(time_at_ms(0), 2);
    window.measure_round(time_at_ms(20), 1 + 65_160);
    assert_eq!(window.rtt(), None);
    window.measure_round(time_at_ms(30), 2 + 65_160);
    assert_eq!(window.rtt(), Some(Span::from_millis(30)));
    assert_eq!(window.rtt_or(Span::ZERO), Span::from_millis(30));
    assert_eq!(window.rtt_or(srtt), srtt);
    assert_eq!(window.rtt_or(Span::from_millis(40)), Span::from_millis(30));
}

#[test]
fn a_fixed_window_is_what_it_was_set_to_and_linuxs_is_whole_segments() {
    let initial = |profile: &str, bytes| {
        let config = TcpConfig::new(profile, &Default::default())
            .expect("the profile exists")
            .changed(|tcp| {
                tcp.buffers.receive_window = ReceiveWindow::Fixed { bytes };
                tcp.mss = 1_460;
            });
        AdvertisedWindow::new(&config).initial()
    };
    assert_eq!(initial("rfc", 10_000), 10_000);
    assert_eq!(initial("linux", 10_000), 6 * 1_460);
    assert_eq!(initial("linux", 1_460), 1_460);
    assert_eq!(initial("linux", 1_459), 1_459, "less than a segment");
}

#[test]
fn half_a_buffer_is_rounded_up_and_less_is_rounded_down() {
    let mut window = listening();
    window.buffer = 60_100;
    window.threshold = 60_100;
    window.scale = 7;
    let preview = |free| window.preview(60_100u64 - free, MSS);
    assert_eq!((preview(30_050), preview(30_049)), (30_080, 29_952));
}

#[test]
fn a_round_trip_is_measured_by_full_segments_that_take_a_millisecond() {
    for (echo, is_full, rtt) in [
        (90, true, Some(Span::from_millis(10))),
        (90, false, None),
        (100, true, None),
        (100, false, None),
    ] {
        let mut window = listening();
        window.measure_rtt(time_at_ms(100), echo, is_full, false);
        assert_eq!(window.rtt(), rtt, "{echo} {is_full}");
    }
}

#[test]
fn the_same_echo_is_measured_once_and_a_fixed_window_needs_none() {
    let mut window = listening();
    window.measure_rtt(time_at_ms(100), 90, true, false);
    window.measure_rtt(time_at_ms(200), 90, true, false);
    assert_eq!(window.rtt(), Some(Span::from_millis(10)));
    let mut fixed = AdvertisedWindow::new(
        &TcpConfig::linux()
            .changed(|tcp| tcp.buffers.receive_window = ReceiveWindow::Fixed { bytes: 10_000 }),
    );
    fixed.measure_rtt(time_at_ms(100), 90, true, false);
    assert_eq!(fixed.rtt(), None);
}

#[test]
fn what_is_free_is_the_share_of_the_memory_that_is_left() {
    let mut window = listening();
    window.memory = 100_000;
    window.share = 64;
    window.buffer = 25_000;
    let free = |held| window.free(Held::Memory(held));
    assert_eq!(
        [free(0), free(40_000), free(100_000), free(200_000)],
        [25_000, 15_000, 0, 0]
    );
}

#[test]
fn a_window_doubles_where_half_of_it_is_used_and_reading_brings_twice_as_much() {
    // The buffer has 64 kB of payload, half of its memory. The window is not scaled.
    let doubles_below = |clamp| {
        move |offered, held| {
            let mut window = listening();
            window.scale = 0;
            window.memory = 128_000;
            window.share = 128;
            window.buffer = 64_000;
            window.clamp = clamp;
            window.threshold = 64_000;
            window.last = 64_000;
            window.doubles(offered, Held::Memory(held), 1_000)
        }
    };
    let doubles = doubles_below(64_000);
    // The buffer is empty, and at most half of the largest window is offered. So the window can
    // double.
    assert!(doubles(32_000, 0));
    assert!(!doubles(32_001, 0), "more than half");
    assert!(doubles(1_000, 0));
    // The window can double with 48,000 bytes behind a gap, but not with 50,000.
    assert!(doubles(20_000, 48_000) && !doubles(20_000, 50_000));
    // A clamp below the free space limits the window (`window_clamp`).
    assert!(!doubles_below(40_000)(20_001, 0));
}

#[test]
fn a_closed_window_doubles_once_anything_can_be_offered() {
    let window = listening();
    assert!(window.doubles(0, Held::Memory(0), MSS));
    assert!(!window.doubles(0, Held::Memory(window.memory), MSS));
}

#[test]
fn as_much_as_in_the_round_trip_before_lets_the_buffer_be() {
    let mut window = listening();
    window.on_established(time_at_ms(0), MSS);
    window.set_rtt(Some(Span::from_millis(10)));
    window.buffer = 20_000;
    let (space, memory) = (window.space, window.memory);
    assert!(buffer_for(space, space) > window.buffer);
    window.on_read(time_at_ms(10), read(space, space), MSS);
    assert_eq!((window.buffer, window.memory), (20_000, memory));
    assert_eq!(
        (window.space, window.measured_from),
        (space, time_at_ms(10))
    );
    // One byte more than in the last round trip already grows the buffer.
    window.on_read(time_at_ms(20), read(space + 1, space + 1), MSS);
    assert!(window.buffer > 20_000);
}

#[test]
fn a_buffer_grows_no_larger_than_its_memory_may_whatever_the_share_of_payload() {
    let grown = |limit: Option<u64>| {
        let mut window = listening();
        limit
            .into_iter()
            .for_each(|limit| window.limit_memory(limit));
        window.rtt = Some(Span::from_millis(1));
        let bytes = 1 << 20;
        window.on_read(Time::ZERO + Span::from_secs(1), read(bytes, bytes), MSS);
        window.memory
    };
    assert!(grown(None) > 1 << 20);
    assert_eq!(grown(Some(300_000)), 300_000);
}

#[test]
fn linux_6_18_enlarges_the_buffer_for_data_behind_a_gap() {
    for (rule, grows) in [
        (BufferGrowth::Linux612, false),
        (BufferGrowth::Linux618, true),
    ] {
        let mut window = listening();
        window.growth_rule = rule;
        window.on_established(time_at_ms(0), MSS);
        let before = window.buffer;
        window.on_gap(10 * before);
        assert_eq!(window.buffer > before, grows, "{rule:?}");
        assert_eq!(window.space, 10 * u64::from(MSS));
    }
}

#[test]
fn unread_data_keeps_the_round_trip_of_linux_6_18_short() {
    for (rule, rtt_ms) in [(BufferGrowth::Linux612, 20), (BufferGrowth::Linux618, 10)] {
        let mut window = listening();
        window.growth_rule = rule;
        window.measure_rtt(time_at_ms(100), 90, true, false);
        window.measure_rtt(time_at_ms(200), 110, true, true);
        assert_eq!(window.rtt(), Some(Span::from_millis(rtt_ms)), "{rule:?}");
        // A smaller sample always counts.
        window.measure_rtt(time_at_ms(300), 295, true, true);
        assert_eq!(window.rtt(), Some(Span::from_millis(5)));
    }
}
