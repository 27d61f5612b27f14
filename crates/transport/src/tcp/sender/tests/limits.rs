//! Tests of the limit of a sender, which is the application or a window.

use super::*;
use crate::tcp::scoreboard::{SentSegment, Tags};
use crate::tcp::socket::SocketModel;
use crate::tcp::socket::subflow::LinuxSubflow;

/// Returns true if the application limits a segment that is sent now, after the step `change`.
fn limited(change: impl FnOnce(&mut Bench)) -> bool {
    let mut b = Bench::new(&without_probes());
    b.sender.rate = Default::default();
    change(&mut b);
    let mut segment = SentSegment::default();
    b.sender.rate.on_send(b.now, true, 1, &mut segment);
    segment.tags.has(Tags::APP_LIMITED)
}

#[test]
fn the_application_limits_where_it_has_less_than_a_segment_and_the_window_and_repairs_do_not() {
    let is_limited = |unsent: u64, out: u64, lost: u64, again: u64| {
        limited(|b| {
            b.write(out);
            let first = b.sender.board.first();
            (0..lost).for_each(|n| b.sender.lose(first + n));
            (0..again).for_each(|n| b.sender.board.mark_retransmitted(first + n));
            b.sender.rate = Default::default();
            b.sender.write_end = b.sender.snd_nxt + unsent;
            b.sender.note_app_limit();
        })
    };
    assert!(is_limited(0, 3, 0, 0) && is_limited(999, 9, 0, 0));
    assert!(!is_limited(1_000, 3, 0, 0) && !is_limited(5_000, 3, 0, 0));
    assert!(!is_limited(0, 10, 0, 0), "the window is full");
    assert!(!is_limited(0, 5, 2, 1), "a repair waits");
    assert!(is_limited(0, 5, 2, 2));
}

#[test]
fn nobody_notes_that_the_application_limits_a_subflow_of_linux() {
    assert!(!limited(|b| {
        b.sender.socket = SocketModel::new(SocketKind::LinuxSubflow);
        b.sender.note_idle();
    }));
    assert!(!limited(|b| {
        b.sender.socket = SocketModel::new(SocketKind::LinuxSubflow);
        b.write(3);
        b.sender.rate = Default::default();
        b.sender.note_app_limit();
    }));
}

#[test]
fn rates_of_a_subflow_of_linux_are_of_segments_with_its_option() {
    let mut b = Bench::new(&linux());
    b.sender.socket = SocketModel::new(SocketKind::LinuxSubflow);
    b.sender.update_pacing_rate();
    // The rate is twice ten segments of 1024 bytes in 100 ms.
    assert_eq!(b.sender.pacing_rate().as_bits_per_sec(), 1_638_400);
}

#[test]
fn an_idle_sender_is_limited_unless_it_waits_for_something_else() {
    assert!(limited(|b| b.sender.note_idle()));
    assert!(!limited(|b| {
        b.sender.holds_back = true;
        b.sender.note_idle();
    }));
    let suspended = |b: &mut Bench| {
        b.sender.config_mut().resilience.outage = crate::tcp::config::OutageResponse::Elfn;
        b.write(1);
        b.run_step(|sender, cx| sender.on_link_info(cx, &LinkInfo::BlockageBegan));
        b.sender.rate = Default::default();
    };
    assert!(!limited(|b| {
        suspended(b);
        b.sender.note_idle();
    }));
    assert!(!limited(|b| {
        suspended(b);
        b.sender.holds_back = true;
        b.sender.note_idle();
    }));
}

#[test]
fn a_subflow_whose_connection_has_more_is_not_limited_by_the_application() {
    for (holds_back, is_limited) in [(false, true), (true, false)] {
        let found = limited(|b| {
            b.sender.offer(FULL, holds_back);
            b.run_step(|sender, cx| sender.transmit(cx));
        });
        assert_eq!(found, is_limited, "{holds_back}");
    }
}

#[test]
fn a_window_that_is_not_used_shrinks_unless_the_writer_waits_for_room() {
    for (waits, window) in [(false, 25.0), (true, 40.0)] {
        let mut b = Bench::new(&linux());
        b.write(3);
        b.sender.window.cwnd = 40.0;
        b.sender.socket = SocketModel::Subflow(LinuxSubflow {
            writer_waits: waits,
            ..LinuxSubflow::default()
        });
        let later = b.now + Span::from_secs(10);
        b.sender.validate_window(later, false);
        assert_eq!(b.sender.window.cwnd, window);
        // In both cases the measurement of window use restarts, so the window stays unchanged a
        // millisecond later.
        b.sender.socket = SocketModel::Subflow(LinuxSubflow::default());
        b.sender
            .validate_window(later + Span::from_millis(1), false);
        assert_eq!(b.sender.window.cwnd, window);
    }
}

#[test]
fn a_window_that_becomes_the_threshold_is_never_above_the_largest_and_stays_without_one() {
    for (threshold, expected) in [(20.0, 23.0), (1e18, Window::LARGEST), (f64::INFINITY, 10.0)] {
        let mut b = Bench::sent(&linux(), 20);
        b.sender.window.ssthresh = threshold;
        b.sender.take_threshold(3.0);
        assert_eq!(b.cwnd(), expected, "{threshold}");
    }
}
