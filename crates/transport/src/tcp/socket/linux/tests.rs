//! Tests of Linux's send buffer: its sk_buffs and their memory.

use super::*;
use crate::tcp::socket::memory::memory_of_windows;

fn buffer(header: u64) -> LinuxSocket {
    LinuxSocket::new(SendBufferConfig {
        initial: 16_384,
        maximum: 4 << 20,
        header,
        head: header,
    })
}

fn head(bytes: u64, is_last: bool) -> Head {
    Head { bytes, is_last }
}

#[test]
fn the_memory_of_a_window_hangs_on_the_room_for_headers() {
    // Value of SO_SNDBUF on a Linux 6.12 socket after the handshake. The first value was recorded.
    // The second is that of a common distribution's kernel.
    for (header, limit) in [(256, 46_080), (320, 87_040)] {
        assert_eq!(memory_of_windows(2, 4, 1_460, header), limit);
    }
}

#[test]
fn it_grows_with_the_window_and_never_shrinks() {
    let mut buffer = buffer(256);
    let mut grown = |factor, segments| {
        buffer.expand(memory_of_windows(factor, segments, 1_460, 256));
        buffer.limit
    };
    assert_eq!(grown(3, 20), 3 * 20 * 2_304);
    assert_eq!(grown(2, 10), 3 * 20 * 2_304);
    assert_eq!(grown(2, 10_000), 4 << 20);
}

#[test]
fn a_piece_takes_its_headers_and_what_describes_it() {
    assert_eq!((buffer(256).overhead(), buffer(320).overhead()), (832, 896));
    // A guest with Linux 6.12.117 adds 192 bytes of headers and allocates 256 bytes.
    let guest = LinuxSocket::new(SendBufferConfig {
        header: 192,
        head: 256,
        ..SendBufferConfig::default()
    });
    assert_eq!(guest.overhead(), 832);
    assert_eq!(memory_of_windows(2, 10, 1_460, 192), 46_080);
}

#[test]
fn what_left_on_the_syn_is_written_no_more_and_a_close_waits_for_the_rest() {
    let mut buffer = buffer(256);
    buffer.add(1_000);
    buffer.skip(400);
    assert_eq!(buffer.backlog(), 600);
    assert!(!buffer.close() && buffer.is_closing());
    buffer.skip(600);
    assert!(buffer.close());
}

#[test]
fn a_head_that_is_long_enough_stays_and_one_that_is_swallowed_leaves_its_push() {
    let piece = |end, is_pushed| Piece { end, is_pushed };
    let mut long = buffer(256);
    long.pieces
        .extend([piece(3_500, false), piece(9_001, false)]);
    long.grow_head(2, 3_000);
    assert_eq!(long.head(2), head(3_498, false));
    let mut short = buffer(256);
    short
        .pieces
        .extend([piece(1_001, false), piece(4_001, false)]);
    short.grow_head(2, 3_000);
    assert_eq!(short.head(2), head(3_000, false));
    for (first, second, pushed) in [
        (true, false, true),
        (false, true, true),
        (false, false, false),
    ] {
        let mut both = buffer(256);
        both.pieces
            .extend([piece(1_001, first), piece(2_001, second)]);
        both.grow_head(1, 2_000);
        assert_eq!(both.pieces.len(), 1);
        assert_eq!(both.leave(2_001), pushed, "{first} {second}");
    }
}

#[test]
fn a_short_head_grows_out_of_the_piece_behind_it_alone() {
    let mut buffer = buffer(256);
    let piece = |end| Piece {
        end,
        is_pushed: false,
    };
    buffer
        .pieces
        .extend([piece(1_001), piece(4_001), piece(9_001)]);
    buffer.grow_head(1, 3_000);
    assert_eq!(
        (buffer.head(1), buffer.pieces.len()),
        (head(3_000, false), 3)
    );
    buffer.grow_head(1, 8_000);
    assert_eq!(
        (buffer.head(1), buffer.pieces.len()),
        (head(4_000, false), 2)
    );
    buffer.leave(4_001);
    assert_eq!(buffer.head(4_001), head(5_000, true));
}
