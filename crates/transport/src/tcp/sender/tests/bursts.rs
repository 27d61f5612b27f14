//! What leaves together, and where the peer's window cuts it.

use super::*;
use fadeout_core::Rate;

/// Segments that leave together, and a peer whose window is `window` bytes.
fn facing(window: u64, change: impl FnOnce(&mut TcpConfig)) -> Bench {
    let mut config = TcpConfig {
        tso_bursts: true,
        ..without_probes()
    };
    change(&mut config);
    let mut b = Bench::new(&config);
    b.peer_window = window;
    b.sender.snd_wnd = window;
    b.sender.pacer.rate = Rate::UNLIMITED;
    b
}

/// The lengths of what left since the last look.
fn lengths(b: &mut Bench) -> Vec<u32> {
    let left = b.left().into_iter();
    left.map(|left| left.segment.len).collect()
}

/// The peer opens its window to `window` without acknowledging anything, when no burst waits for its ACK.
fn open(b: &mut Bench, window: u64) {
    b.wait(2);
    b.peer_window = window;
    b.ack(0);
}

#[test]
fn a_burst_ends_where_the_peers_window_ends_within_a_segment() {
    // Linux `tcp_mss_split_point`: behind whole segments what is left of the window is filled.
    let mut b = facing(4_500, |_| ());
    b.write(20);
    assert_eq!(lengths(&mut b), [1_000, 1_000, 1_000, 1_000, 500]);
    open(&mut b, 6_200);
    assert_eq!(lengths(&mut b), [1_000, 700]);
    // A window with room for no whole segment is left alone, and so is the rest of one that ends with
    // a segment.
    open(&mut b, 7_100);
    assert_eq!(lengths(&mut b), []);
    let mut b = facing(3_000, |_| ());
    b.write(20);
    assert_eq!(lengths(&mut b), [1_000; 3]);
}

#[test]
fn a_small_segment_on_its_way_keeps_the_next_window_from_being_filled() {
    // Nagle's rule by Minshall: the first fills the window, the second waits.
    let mut b = facing(2_500, |config| config.nagle = true);
    b.write(20);
    assert_eq!(lengths(&mut b), [1_000, 1_000, 500]);
    open(&mut b, 4_200);
    assert_eq!(lengths(&mut b), [1_000]);
    // Once it has arrived the next one may leave.
    b.arrive(Segment {
        ack: 2_501,
        window: 2_700,
        ..b.bare(0)
    });
    assert_eq!(lengths(&mut b), [1_000, 700]);
}

#[test]
fn a_subflow_and_a_sender_of_single_segments_leave_the_rest_of_a_window() {
    // The connection gives a subflow what its own window allows.
    let mut subflow = facing(4_500, |config| config.multipath = true);
    subflow.write(20);
    assert_eq!(lengths(&mut subflow), [1_000; 4]);
    let mut single = facing(4_500, |config| config.tso_bursts = false);
    single.write(20);
    assert_eq!(lengths(&mut single), [1_000; 4]);
}

#[test]
fn a_subflow_pushes_what_ends_short_with_more_behind_it() {
    let mut b = Bench::new(&TcpConfig {
        nagle: true,
        ..linux()
    });
    b.sender.offer(500, false);
    b.step(|sender, cx| sender.transmit(cx));
    b.sender.offer(300, false);
    b.step(|sender, cx| sender.transmit(cx));
    assert_eq!(lengths(&mut b), [500], "Nagle's rule holds the last one");
    b.sender.offer(300, true);
    b.step(|sender, cx| sender.transmit(cx));
    assert_eq!(lengths(&mut b), [300]);
}
