//! Tests of paths that are added, removed and changed during a connection.

use super::*;

#[test]
fn a_path_that_dies_for_good_loses_nothing() {
    for scheduler in ["linux", "lowest-rtt"] {
        let mut dies = pipe(500, 10);
        dies.blocked = vec![(ms(300), Time::NEVER)];
        let mut net = Net::new(&config(scheduler), &[dies, pipe(1000, 25)], 1);
        net.transfer(3_000_000);
        net.run(ms(60_000));
        assert_eq!(net.delivered, 3_000_000, "{scheduler}");
        assert!(net.reinjected(1) > 0, "{scheduler}");
    }
}

#[test]
fn a_connection_whose_first_path_never_opens_it_is_given_up() {
    let mut dead = pipe(500, 10);
    dead.blocked = vec![(Time::ZERO, Time::NEVER)];
    let mut leaves = dead.clone();
    leaves.config.until = ms(700);
    for first in [dead, leaves] {
        let mut net = Net::new(&config("linux"), &[first, pipe(1000, 25)], 1);
        net.transfer(10_000);
        net.run(ms(600_000));
        assert!(net.has(0, AppEvent::Aborted));
        assert!(net.sent.iter().all(|sent| sent.2 == PathId(0)));
    }
}

#[test]
fn data_fin_is_said_again_on_every_path_ever_more_seldom_until_the_peer_is_given_up() {
    let mut pipes = [pipe(500, 10), pipe(1000, 25)];
    for pipe in &mut pipes {
        pipe.blocked = vec![(ms(2_000), Time::NEVER)];
    }
    let config = config("linux");
    let mut net = Net::new(&config, &pipes, 1);
    net.command(1, AppCommand::Listen);
    net.command(0, AppCommand::Connect);
    net.command(0, AppCommand::Write(Bytes(10_000)));
    net.run(ms(3_000));
    assert_eq!(net.delivered, 10_000);
    net.command(0, AppCommand::Close);
    net.run(ms(3_000_000));
    assert!(net.has(0, AppEvent::Aborted));
    let is_fin = |sent: &&(Time, usize, PathId, Segment)| {
        sent.1 == 0 && matches!(sent.3.mptcp, MptcpOption::Dss(dss) if dss.data_fin)
    };
    let times = |path| {
        let fins = net.sent.iter().filter(is_fin);
        Vec::from_iter(
            fins.filter(|sent| sent.2 == PathId(path))
                .map(|sent| sent.0),
        )
    };
    let repeats = config.tcp.timers.maximum_retries as usize;
    let [first, second] = [times(0), times(1)];
    assert_eq!(first.len(), repeats + 1);
    assert_eq!(first, second);
    let repeated = first[1..].windows(2);
    let waits: Vec<Span> = repeated.map(|two| two[1].since(two[0])).collect();
    let tcp = &config.tcp;
    assert_eq!(
        waits[..3],
        [1, 2, 4].map(|times| tcp.timers.minimum_rto * times)
    );
    assert_eq!(waits[repeats - 2], tcp.timers.maximum_rto);
}

#[test]
fn a_path_that_returns_is_used_again() {
    let mut returns = pipe(500, 10);
    returns.blocked = vec![(ms(500), ms(1500))];
    let mut net = Net::new(&config("lowest-rtt"), &[returns, pipe(2000, 25)], 1);
    net.command(1, AppCommand::Listen);
    net.command(0, AppCommand::Connect);
    net.command(0, AppCommand::WriteForever);
    net.run(ms(3_000));
    let before = net.carried(0);
    net.run(ms(8_000));
    assert!(net.carried(0) > before + 3_000_000);
}

#[test]
fn a_path_taken_away_while_running_hands_its_data_over() {
    let mut leaves = pipe(500, 10);
    leaves.config.until = ms(700);
    let mut comes = pipe(500, 10);
    comes.config.from = ms(1_000);
    let mut net = Net::new(&config("lowest-rtt"), &[leaves, pipe(1000, 25), comes], 1);
    net.transfer(6_000_000);
    net.run(ms(900));
    let left = net.carried(0);
    assert_eq!(net.carried(2), 0);
    net.run(ms(30_000));
    assert_eq!(net.delivered, 6_000_000);
    assert_eq!(net.carried(0), left);
    assert!(net.carried(2) > 1_000_000);
    let is_removal = |sent: &(Time, usize, PathId, Segment)| {
        sent.3.mptcp == MptcpOption::RemoveAddress { path: 0 }
    };
    assert!(net.sent.iter().any(is_removal));
}

#[test]
fn a_backup_carries_data_only_while_no_regular_path_works() {
    let mut regular = pipe(500, 10);
    regular.blocked = vec![(ms(2_000), ms(4_000))];
    let mut backup = pipe(500, 10);
    backup.config.backup = true;
    let mut net = Net::new(&config("lowest-rtt"), &[regular, backup], 1);
    net.command(1, AppCommand::Listen);
    net.command(0, AppCommand::Connect);
    net.command(0, AppCommand::WriteForever);
    net.run(ms(1_900));
    assert_eq!(net.carried(1) + net.reinjected(1), 0);
    net.run(ms(4_000));
    let meanwhile = net.carried(1);
    assert!(meanwhile > 1_000_000, "{meanwhile}");
    // The timer of the regular path has backed off, so this path carries data again only at the
    // timer's next expiry.
    net.run(ms(7_000));
    let (regular, backup) = (net.carried(0), net.carried(1));
    net.run(ms(9_000));
    assert_eq!(net.carried(1), backup);
    assert!(net.carried(0) > regular + 1_000_000);
}

#[test]
fn a_path_becomes_a_backup_and_regular_again_while_running() {
    for scheduler in ["linux", "lowest-rtt"] {
        let mut changing = pipe(500, 10);
        changing.config.backup_changes = vec![ms(2_000), ms(4_000)];
        let mut net = Net::new(&config(scheduler), &[pipe(500, 10), changing], 1);
        net.command(1, AppCommand::Listen);
        net.command(0, AppCommand::Connect);
        net.command(0, AppCommand::WriteForever);
        net.run(ms(1_990));
        let before = net.carried(1);
        assert!(before > 1_000_000, "{scheduler}: {before}");
        // Data that already waits on the removed path's queue is still sent.
        net.run(ms(2_500));
        let while_draining = net.carried(1);
        net.run(ms(3_990));
        assert_eq!(net.carried(1), while_draining, "{scheduler}");
        net.run(ms(6_000));
        assert!(net.carried(1) > while_draining + 1_000_000, "{scheduler}");
        let reported: Vec<bool> = net
            .sent
            .iter()
            .filter_map(|sent| match sent.3.mptcp {
                MptcpOption::Priority { backup } => Some(backup),
                _ => None,
            })
            .collect();
        assert_eq!(reported, [true, false], "{scheduler}");
        assert!(!net.ends[1].manager.is_backup(1), "{scheduler}");
    }
}

#[test]
fn an_announced_path_is_joined_when_its_announcement_arrives_even_a_repeated_one() {
    let mut lossy = pipe(500, 10);
    lossy.blocked = vec![(ms(25), ms(400))];
    for (first, joins_after) in [(pipe(500, 10), ms(20)), (lossy, ms(400))] {
        let mut announced = pipe(500, 10);
        announced.config.announced = true;
        let mut net = Net::new(&config("linux"), &[first, announced], 1);
        net.command(1, AppCommand::Listen);
        net.command(0, AppCommand::Connect);
        net.command(0, AppCommand::WriteForever);
        net.run(ms(3_000));
        let join = net.sent.iter().find(|sent| sent.2 == PathId(1));
        let join = join.expect("the path is joined");
        assert!(join.1 == 0 && join.0 > joins_after, "{join:?}");
        assert!(net.carried(1) > 500_000);
        let echo = MptcpOption::AddAddress {
            path: 1,
            is_echo: true,
        };
        assert!(
            net.sent
                .iter()
                .any(|sent| sent.1 == 0 && sent.3.mptcp == echo)
        );
    }
}

#[test]
fn a_peer_that_lost_a_signal_learns_it_from_a_repeat() {
    for repeats in [0, 3] {
        // The second path is a backup from 1 s on, and is removed at 2 s. Both signals are lost.
        let mut first = pipe(500, 10);
        first.blocked = vec![(ms(1_990), ms(2_010))];
        let mut changing = pipe(500, 10);
        changing.blocked = vec![(ms(990), ms(1_010))];
        changing.config.backup_changes = vec![ms(1_000)];
        changing.config.until = ms(2_000);
        let config = MultipathConfig {
            signal_repeats: repeats,
            ..config("lowest-rtt")
        };
        let mut net = Net::new(&config, &[first, changing], 1);
        net.command(1, AppCommand::Listen);
        net.command(0, AppCommand::Connect);
        net.command(0, AppCommand::WriteForever);
        net.run(ms(1_900));
        assert_eq!(net.ends[1].manager.is_backup(1), repeats > 0);
        net.run(ms(4_000));
        assert_eq!(net.ends[1].manager.is_gone(1), repeats > 0);
    }
}
