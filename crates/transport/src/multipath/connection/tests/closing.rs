//! Tests of the close of a connection.

use super::*;

/// Returns the segments that the first end sent on `path`, with their times.
fn sent_on(net: &Net, path: u8) -> Vec<(Time, Segment)> {
    let own = net.sent.iter().filter(|sent| sent.1 == 0);
    own.filter(|sent| sent.2 == PathId(path))
        .map(|sent| (sent.0, sent.3))
        .collect()
}

fn has_fin(segment: &Segment) -> bool {
    matches!(segment.mptcp, MptcpOption::Dss(dss) if dss.data_fin)
}

/// Returns a connection over two paths that has joined both.
fn joined(config: &MultipathConfig) -> Net {
    let mut net = Net::new(config, &[pipe(500, 10), pipe(1000, 25)], 1);
    net.command(1, AppCommand::Listen);
    net.command(0, AppCommand::Connect);
    net.command(0, AppCommand::Write(Bytes(10_000)));
    net.run(ms(1_000));
    net
}

#[test]
fn linux_sends_the_data_fin_by_itself_on_each_path_once_the_data_is_bound() {
    let mut net = joined(&config("linux"));
    let before = net.sent.len();
    net.command(0, AppCommand::Write(Bytes(20_000)));
    net.command(0, AppCommand::Close);
    let at_once = &net.sent[before..];
    let fins: Vec<_> = at_once.iter().filter(|sent| has_fin(&sent.3)).collect();
    assert!(fins.iter().all(|sent| sent.3.len == 0));
    assert_eq!(Vec::from_iter(fins.iter().map(|sent| sent.2.0)), [0, 1]);
    net.run(ms(2_000));
    assert_eq!(net.delivered, 30_000);
    net.command(1, AppCommand::Close);
    net.run(ms(4_000));
    assert!(net.has(0, AppEvent::Closed) && net.has(1, AppEvent::Closed));
}

#[test]
fn a_program_that_closes_in_the_call_of_its_write_sends_the_data_fin_with_the_data() {
    for (fin_with_data, ends) in [(true, true), (false, false)] {
        let mut config = config("lowest-rtt");
        config.tcp.host.fin_with_data = fin_with_data;
        let mut net = Net::new(&config, &[pipe(500, 10), pipe(1000, 25)], 1);
        net.transfer(5_000);
        net.run(ms(2_000));
        assert_eq!(net.delivered, 5_000);
        let mut data = sent_on(&net, 0).into_iter().filter(|sent| sent.1.len > 0);
        let last = data.next_back().expect("data");
        assert_eq!(has_fin(&last.1), ends);
        let bare = sent_on(&net, 0)
            .into_iter()
            .filter(|sent| sent.1.len == 0 && has_fin(&sent.1));
        assert_eq!(bare.count() > 0, !ends);
    }
}

#[test]
fn no_path_joins_after_the_application_has_closed() {
    for scheduler in ["linux", "lowest-rtt"] {
        let mut net = Net::new(&config(scheduler), &[pipe(500, 10), pipe(1000, 25)], 1);
        net.transfer(5_000);
        net.run(ms(1_000));
        assert_eq!(net.delivered, 5_000, "{scheduler}");
        assert!(sent_on(&net, 1).is_empty(), "{scheduler}");
        net.command(1, AppCommand::Close);
        net.run(ms(4_000));
        assert!(net.has(0, AppEvent::Closed), "{scheduler}");
    }
}

#[test]
fn a_path_that_joins_while_the_connection_closes_is_reset() {
    let mut resets = 0;
    for size in (20_000..200_000).step_by(10_000) {
        let mut net = Net::new(&config("linux"), &[pipe(1000, 20), pipe(500, 60)], 1);
        net.transfer(size);
        net.run(ms(5_000));
        assert_eq!(net.delivered, size);
        let segments = sent_on(&net, 1);
        let is_reset = |segment: &Segment| segment.flags.has(Flags::RST);
        if segments.iter().any(|(_, segment)| is_reset(segment)) {
            resets += 1;
            assert_eq!(segments.len(), 2, "a SYN and a reset");
            let reason = MptcpOption::Reset { reason: 1 };
            assert_eq!(segments[1].1.mptcp, reason, "an error of MPTCP (RFC 8684)");
            // Linux sends all unacknowledged data again (__mptcp_retransmit_pending_data).
            assert!(net.reinjected(0) > 0);
        }
        net.command(1, AppCommand::Close);
        net.run(ms(10_000));
        assert!(net.has(0, AppEvent::Closed) && net.has(1, AppEvent::Closed));
    }
    assert!(resets > 0, "no size closed while the path joined");
}

#[test]
fn the_data_fin_is_acknowledged_at_once_on_each_path_after_the_last_data() {
    let mut net = joined(&config("linux"));
    net.command(0, AppCommand::Write(Bytes(40_000)));
    net.command(0, AppCommand::Close);
    net.run(ms(2_000));
    let acks = |path| {
        let sent = net.sent.iter();
        let mut of_path = sent.filter(move |sent| sent.1 == 1 && sent.2 == PathId(path));
        of_path.find(|sent| matches!(sent.3.mptcp, MptcpOption::Dss(dss) if dss.data_ack > 50_001))
    };
    let times = [0, 1].map(|path| acks(path).expect("an acknowledgment").0);
    assert_eq!(times[0], times[1]);
    assert_eq!(net.delivered, 50_000);
}
