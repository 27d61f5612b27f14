//! Tests of handshake and close.

use super::*;

#[test]
fn a_syn_without_an_answer_is_repeated_and_then_given_up() {
    let mut s = Script::closed(&exact());
    s.command(AppCommand::Connect);
    s.wait(200_000);
    let times: Vec<u64> = s.left().iter().map(|left| left.at_ms).collect();
    // Four timeouts of one second come before the first doubled one.
    let linear = [0, 1000, 2000, 3000, 4000];
    let doubling = [5000, 7000, 11_000, 19_000, 35_000, 67_000];
    assert_eq!(times, [&linear[..], &doubling].concat());
    assert_eq!(s.events, [AppEvent::Aborted]);
}

#[test]
fn what_was_written_and_closed_before_the_handshake_goes_after_it() {
    for (name, fin_with_data) in [
        ("linux", false),
        ("linux", true),
        ("rfc", false),
        ("rfc", true),
    ] {
        let config = profile(name).changed(|tcp| tcp.host.fin_with_data = fin_with_data);
        let mut s = Script::closed(&config);
        s.command(AppCommand::Connect);
        s.write(1);
        s.command(AppCommand::Close);
        s.left();
        let answer = s.syn(Flags::SYN | Flags::ACK, &config);
        s.arrive(answer);
        let is_of_stream = |segment: &Segment| segment.seq_len() > 0;
        let left = s.left().into_iter().map(|left| left.segment);
        let left: Vec<_> = left
            .filter(is_of_stream)
            .map(|segment| (segment.len, segment.flags.has(Flags::FIN)))
            .collect();
        // A program writes, then closes. All data had left when it closed.
        let expected = match fin_with_data {
            true => &[(1000, true)][..],
            false => &[(1000, false), (0, true)],
        };
        assert_eq!(left, expected, "{name}");
        assert_eq!(s.state(), ConnectionState::FinWait1);
    }
}

#[test]
fn a_close_before_anything_was_written_drops_the_attempt() {
    let mut s = Script::closed(&linux());
    s.command(AppCommand::Connect);
    s.command(AppCommand::Close);
    assert_eq!(s.state(), ConnectionState::Closed);
    s.command(AppCommand::Close);
    assert_eq!(s.events, [AppEvent::Closed], "said once");
}

#[test]
fn nothing_follows_a_fin() {
    let mut s = Script::connected(&linux());
    s.command(AppCommand::Close);
    s.left();
    s.write(3);
    s.sends_nothing();
}

#[test]
fn both_ends_may_close_at_once() {
    let mut s = Script::connected(&linux());
    s.command(AppCommand::Close);
    s.left();
    let fin = Segment {
        flags: Flags::ACK | Flags::FIN,
        ..s.bare(0)
    };
    s.arrive(fin);
    assert_eq!(s.state(), ConnectionState::Closing);
    assert_eq!(s.sends_ack().ack, 2);
    let ack = Segment {
        ack: 2,
        ..s.bare(0)
    };
    s.arrive(ack);
    assert_eq!(s.state(), ConnectionState::TimeWait);
    assert_eq!(s.events.last(), Some(&AppEvent::Closed));
}

#[test]
fn a_fin_that_comes_again_is_acknowledged_again() {
    let mut s = Script::connected(&linux());
    let fin = Segment {
        flags: Flags::ACK | Flags::FIN,
        ..s.bare(0)
    };
    s.arrive(fin);
    s.sends_nothing();
    // The ACK of the FIN waits 40 ms for the application's own FIN, which would carry it.
    s.wait(41);
    assert_eq!(s.sends_ack().ack, 2);
    s.arrive(fin);
    assert_eq!(s.sends_ack().ack, 2);
}

#[test]
fn an_endpoint_serves_one_connection() {
    let mut s = Script::connected(&linux());
    s.command(AppCommand::Connect);
    s.command(AppCommand::Listen);
    s.sends_nothing();
    assert_eq!(s.state(), ConnectionState::Established);
}
