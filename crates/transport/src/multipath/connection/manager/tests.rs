//! Tests of the path manager without subflows: paths open, join, are announced and end.

use super::*;

fn ms(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

fn rto(index: usize) -> Span {
    Span::from_millis(200 + 500 * index as u64)
}

/// Returns the manager of two paths that start a tenth of a second apart. `second` configures the
/// second path. `is_opener` is true if this end opens the connection.
fn manager(second: PathConfig, is_opener: bool) -> PathManager {
    let paths = [PathConfig::default(), second];
    let limits = Limits {
        join_delay: Span::from_millis(100),
        most_confirmations: 2,
        signal_repeats: 0,
    };
    let mut manager = PathManager::new(paths, limits);
    if is_opener {
        manager.be_opener();
        manager.open(0);
    } else {
        manager.listen();
    }
    manager
}

/// Returns the manager of the opening end after an answer to MP_JOIN. The third packet is repeated
/// at 300 ms.
fn answered() -> PathManager {
    let mut manager = manager(PathConfig::default(), true);
    manager.on_established(ms(0));
    manager.on_segment(ms(0), 0, false);
    manager.due_join(ms(100), 1);
    manager.on_join_answered(1, ms(300));
    manager
}

#[test]
fn the_opener_joins_after_the_delay_and_when_the_path_is_there() {
    for (from, joins_at) in [(0, 150), (400, 400)] {
        let config = PathConfig {
            from: ms(from),
            ..PathConfig::default()
        };
        let mut manager = manager(config, true);
        assert!(manager.may_carry(0) && !manager.is_usable(0));
        manager.on_established(ms(10));
        assert!(manager.is_usable(0) && manager.wake_at(1).is_never());
        manager.on_segment(ms(50), 0, false);
        assert!(!manager.is_open(1));
        assert_eq!(manager.wake_at(1), ms(joins_at));
        assert_eq!(manager.due_join(ms(joins_at - 1), 1), None);
        assert_eq!(manager.due_join(ms(joins_at), 1), Some(Join::Open));
        assert!(manager.wake_at(1).is_never());
        assert!(manager.is_open(1) && !manager.may_carry(1));
    }
}

#[test]
fn a_join_is_confirmed_until_it_is_answered() {
    let mut manager = answered();
    let join = MptcpOption::Join { backup: false };
    assert_eq!(manager.signal(1), Some(join));
    assert_eq!(manager.signal(1), None);
    assert_eq!(manager.due_join(ms(299), 1), None);
    assert_eq!(manager.due_join(ms(300), 1), Some(Join::Confirm));
    manager.confirm_again(1, ms(700));
    assert_eq!(manager.wake_at(1), ms(700));
    assert_eq!(manager.signal(1), Some(join));
    assert!(!manager.on_segment(ms(0), 1, false));
    assert!(manager.is_usable(1) && manager.wake_at(1).is_never());
}

#[test]
fn a_join_that_nobody_answers_is_given_up() {
    let mut manager = answered();
    for again in [300, 400] {
        assert_eq!(manager.due_join(ms(again), 1), Some(Join::Confirm));
        manager.confirm_again(1, ms(again + 100));
    }
    assert_eq!(manager.due_join(ms(500), 1), Some(Join::GiveUp));
    manager.lose(1);
    assert!(manager.wake_at(1).is_never());
}

#[test]
fn the_answering_end_uses_a_path_from_the_first_segment_behind_the_syns() {
    let mut manager = manager(PathConfig::default(), false);
    assert!(!manager.may_carry(0));
    assert!(
        !manager.on_segment(ms(0), 0, false),
        "the first needs no fourth"
    );
    assert!(manager.on_segment(ms(0), 1, true), "a join does");
    assert!(manager.is_usable(0) && manager.is_usable(1));
    assert!(
        manager.on_segment(ms(0), 1, true),
        "and again when it was lost"
    );
    assert!(!manager.on_segment(ms(0), 1, false));
    assert_eq!(manager.signal(0), None, "the opener confirms");
}

#[test]
fn an_announced_path_is_announced_until_the_echo_and_joined_after_it() {
    let config = PathConfig {
        announced: true,
        from: ms(30),
        ..PathConfig::default()
    };
    let mut host = manager(config.clone(), false);
    host.on_segment(ms(0), 0, false);
    host.on_established(ms(0));
    assert_eq!(host.wake_at(1), ms(30));
    assert!(!host.due_announcement(ms(29), 1, rto));
    assert!(host.due_announcement(ms(30), 1, rto));
    let reported = |is_echo| MptcpOption::AddAddress { path: 1, is_echo };
    assert_eq!(host.signal(0), Some(reported(false)));
    assert_eq!(host.wake_at(1), ms(230), "and again");
    host.on_announcement(ms(60), 1, true);
    assert!(host.wake_at(1).is_never());
    assert_eq!(host.signal(0), None);

    let mut opener = manager(config, true);
    opener.on_established(ms(0));
    opener.on_segment(ms(0), 0, false);
    opener.signal(0);
    assert!(opener.wake_at(1).is_never(), "it does not know of it");
    assert!(opener.on_announcement(ms(50), 1, false));
    assert_eq!(opener.wake_at(1), ms(150));
    assert_eq!(opener.signal(0), Some(reported(true)));
    assert!(
        opener.on_announcement(ms(90), 1, false),
        "the echo was lost"
    );
    assert_eq!(opener.wake_at(1), ms(150));
    assert!(!opener.on_announcement(ms(90), 2, false), "no such path");
    assert_eq!(opener.due_join(ms(150), 1), Some(Join::Open));
    opener.on_announcement(ms(160), 1, false);
    assert!(opener.wake_at(1).is_never(), "it joins already");
    assert!(!opener.on_segment(ms(0), 1, false) && !opener.is_usable(1));
    assert_eq!(opener.signal(0), Some(reported(true)));
    assert_eq!(opener.signal(0), None);
}

#[test]
fn a_path_that_is_open_or_nobody_can_hear_of_is_not_announced() {
    let config = PathConfig {
        announced: true,
        ..PathConfig::default()
    };
    let mut host = manager(config.clone(), false);
    host.on_established(ms(0));
    assert!(host.due_announcement(ms(0), 1, rto));
    assert!(host.wake_at(1).is_never());
    let mut joined = manager(config.clone(), false);
    joined.on_established(ms(0));
    joined.on_segment(ms(0), 1, true);
    assert!(!joined.due_announcement(ms(0), 1, rto));
    assert!(joined.wake_at(1).is_never());
    let mut closing = manager(config, false);
    closing.close();
    closing.on_established(ms(0));
    assert!(!closing.due_announcement(ms(0), 1, rto));
    assert_eq!(closing.signal(0), None);
}

#[test]
fn priorities_change_at_their_times_and_are_told_once_the_path_carries_data() {
    let config = PathConfig {
        backup_changes: vec![ms(100), ms(200), ms(210)],
        ..PathConfig::default()
    };
    let mut manager = manager(config, false);
    assert_eq!(manager.wake_at(1), ms(100));
    assert!(!manager.due_priority(ms(99), 1, rto));
    assert!(!manager.due_priority(ms(100), 1, rto), "MP_JOIN says it");
    assert!(manager.is_backup(1));
    assert_eq!(manager.handshake(1), MptcpOption::Join { backup: true });
    manager.on_segment(ms(0), 1, true);
    assert!(manager.due_priority(ms(205), 1, rto));
    let reported = MptcpOption::Priority { backup: false };
    assert_eq!(manager.signal(1), Some(reported));
    assert_eq!(manager.signal(1), None);
    manager.set_backup(1, true);
    assert!(manager.is_backup(1));
    assert!(manager.due_priority(ms(210), 1, rto));
    manager.close();
    assert!(manager.wake_at(1).is_never());
}

#[test]
fn a_path_goes_at_its_time_and_the_opener_says_so() {
    let config = PathConfig {
        until: ms(500),
        ..PathConfig::default()
    };
    for is_opener in [true, false] {
        let mut manager = manager(config.clone(), is_opener);
        assert_eq!(
            manager.is_over(ms(500), 1),
            !is_opener,
            "not before it opens"
        );
        manager.open(1);
        assert_eq!(manager.wake_at(1), ms(500));
        assert!(!manager.is_over(ms(499), 1) && manager.is_over(ms(500), 1));
        assert!(manager.lose(1) && !manager.lose(1));
        assert!(manager.is_gone(1) && !manager.are_all_gone());
        assert!(manager.wake_at(1).is_never());
        assert_eq!(manager.schedule_removal(ms(500), 1, rto), is_opener);
        manager.lose(0);
        assert!(manager.are_all_gone());
        let reported = MptcpOption::RemoveAddress { path: 1 };
        if is_opener {
            assert_eq!(manager.signal(0), Some(MptcpOption::Capable));
            assert_eq!(manager.signal(0), Some(reported));
        }
        assert_eq!(manager.signal(0), None);
    }
    let mut closing = manager(config, false);
    closing.close();
    assert!(!closing.is_over(ms(500), 1) && closing.wake_at(1).is_never());
}

#[test]
fn signals_without_an_echo_are_repeated_after_the_longest_timeout() {
    let config = PathConfig {
        backup_changes: vec![ms(100)],
        until: ms(1_000),
        ..PathConfig::default()
    };
    let mut manager = manager(config, true);
    manager.limits.signal_repeats = 2;
    manager.on_established(ms(0));
    manager.on_segment(ms(0), 0, false);
    manager.due_join(ms(100), 1);
    manager.on_join_answered(1, ms(900));
    manager.on_segment(ms(50), 1, false);
    manager.signal(0);
    manager.signal(1);
    // The second path has a timeout of 700 ms.
    assert!(manager.due_priority(ms(100), 1, rto));
    let priority = MptcpOption::Priority { backup: true };
    assert_eq!(manager.signal(1), Some(priority));
    assert_eq!(manager.wake_at(1), ms(800));
    assert!(manager.due_priority(ms(800), 1, rto));
    assert_eq!(manager.signal(1), Some(priority));
    manager.lose(1);
    assert!(
        manager.wake_at(1).is_never(),
        "a path that is gone has no priority"
    );
    assert!(manager.schedule_removal(ms(1_000), 1, rto));
    let removal = MptcpOption::RemoveAddress { path: 1 };
    assert_eq!(manager.signal(0), Some(removal));
    for at in [1_200, 1_400] {
        assert_eq!(manager.wake_at(1), ms(at), "the first path has 200 ms");
        assert!(manager.due_removal(ms(at), 1, rto));
        assert_eq!(manager.signal(0), Some(removal));
    }
    assert!(manager.wake_at(1).is_never());
    assert!(!manager.due_removal(ms(9_000), 1, rto));
}
