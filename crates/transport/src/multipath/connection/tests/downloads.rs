//! Tests of connections whose accepting end sends.

use super::super::receive;
use super::*;
use crate::tcp::{SendBufferConfig, SocketKind};

#[test]
fn a_path_that_is_being_joined_has_carried_no_data() {
    let mut net = Net::new(&config("linux"), &[pipe(100, 10), pipe(100, 500)], 1);
    net.command(1, AppCommand::Listen);
    net.command(0, AppCommand::Connect);
    net.command(1, AppCommand::Write(Bytes(100_000)));
    net.run(ms(100));
    let opener = &net.ends[0];
    assert!(opener.paths[0].statistics.arrived_bytes > 0);
    assert!(!opener.manager.is_usable(1), "its answer is on its way");
    let round = receive::measure(&opener.paths, &opener.manager);
    assert_eq!((round.all_carried, round.present), (false, 0b11));
}

#[test]
fn the_third_packet_of_a_join_leaves_a_waiting_rest_to_the_next_write() {
    let mut small = config("linux");
    small.tcp.buffers.receive_window = ReceiveWindow::Fixed { bytes: 64_256 };
    small.tcp.buffers.send = SocketKind::Linux(SendBufferConfig {
        header: 192,
        head: 256,
        ..SendBufferConfig::default()
    });
    let mut net = Net::new(&small, &[pipe(1_000, 10), pipe(100, 5)], 1);
    net.command(1, AppCommand::Listen);
    net.command(0, AppCommand::Connect);
    net.command(1, AppCommand::Write(Bytes(200_000)));
    net.run(ms(300));
    let mut on_join = net
        .sent
        .iter()
        .filter(|(_, end, path, segment)| (*end, *path) == (1, PathId(1)) && segment.len > 0);
    let first = on_join.next().expect("the path carries data").3;
    let MptcpOption::Dss(dss) = first.mptcp else {
        panic!("data without a mapping: {first:?}");
    };
    // The mapping covers the rest of a fragment and data of the next one.
    let whole = 32_728;
    let boundary = 1 + dss.data_seq.div_ceil(whole) * whole;
    let end = dss.data_seq + u64::from(dss.data_len);
    assert!((dss.data_seq + 1..end).contains(&boundary), "{dss:?}");
}
