use super::*;

fn board(segments: u64) -> Scoreboard {
    let mut board = Scoreboard::default();
    for n in 0..segments {
        board.push(SentSegment {
            seq: n * 100,
            len: 100,
            ..SentSegment::default()
        });
    }
    board
}

fn order(board: &Scoreboard) -> Vec<u64> {
    std::iter::successors(board.oldest_sent(), |&n| board.sent_after(n)).collect()
}

#[test]
fn segments_are_found_by_sequence_number() {
    let board = board(10);
    assert_eq!(board.at_or_after(0), 0);
    assert_eq!(board.at_or_after(101), 2);
    assert_eq!(board.at_or_after(5000), 10);
}

#[test]
fn tags_contribute_to_the_pipe_as_in_the_kernel() {
    let mut board = board(5);
    assert_eq!(board.in_flight(), 5);
    board.mark_sacked(4);
    assert!(board.mark_lost(0));
    assert_eq!(board.in_flight(), 3);
    board.mark_retransmitted(0);
    assert_eq!(board.in_flight(), 4);
    assert!(board.mark_lost(0), "the retransmission is lost again");
    assert_eq!(board.in_flight(), 3);
    board.mark_sacked(0);
    assert_eq!(
        (board.in_flight(), board.lost_out, board.sacked_out),
        (3, 0, 2)
    );
    assert!(board.counts_agree());
}

#[test]
fn transmission_order_follows_retransmissions() {
    let mut board = board(4);
    board.mark_lost(1);
    assert_eq!(order(&board), [0, 2, 3]);
    board.mark_retransmitted(1);
    board.list_again(1);
    assert_eq!(order(&board), [0, 2, 3, 1]);
    board.mark_sacked(2);
    assert_eq!(order(&board), [0, 3, 1]);
    board.pop();
    assert_eq!(order(&board), [3, 1]);
}

#[test]
fn a_head_that_is_acknowledged_in_part_keeps_the_rest() {
    let mut board = board(2);
    board.trim_head(30);
    let head = board.get(0);
    assert_eq!((head.seq, head.len, head.end_seq()), (30, 70, 100));
    board.trim_head(99);
    assert_eq!((board.get(0).seq, board.get(0).len), (99, 1));
    assert_eq!(board.get(1).seq, 100);
}

#[test]
fn what_a_receiver_took_back_is_in_flight_again() {
    let mut board = board(4);
    board.mark_sacked(1);
    board.mark_sacked(3);
    board.mark_lost(0);
    board.forget_sacks();
    assert_eq!((board.sacked_out, board.in_flight()), (0, 3));
    assert!(board.counts_agree());
}

#[test]
fn a_retransmission_that_arrived_is_out_of_the_network_once() {
    let mut board = board(2);
    board.mark_lost(0);
    board.mark_retransmitted(0);
    board.clear_retransmitted(0);
    board.clear_retransmitted(0);
    board.clear_retransmitted(1);
    assert_eq!((board.retrans_out, board.in_flight()), (0, 1));
    assert!(board.counts_agree());
}

#[test]
fn counts_that_differ_from_the_tags_are_found() {
    let spoil: [fn(&mut Scoreboard); 3] = [
        |board| board.sacked_out += 1,
        |board| board.lost_out += 1,
        |board| board.retrans_out += 1,
    ];
    for spoil in spoil {
        let mut board = board(2);
        board.mark_sacked(0);
        board.mark_lost(1);
        board.mark_retransmitted(1);
        assert!(board.counts_agree());
        spoil(&mut board);
        assert!(!board.counts_agree());
    }
}

/// Returns a scoreboard whose segments were sent in sk_buffs of these sizes.
fn in_pieces(sizes: &[u64]) -> Scoreboard {
    let mut board = Scoreboard::default();
    for &size in sizes {
        for n in 0..size {
            let mut segment = SentSegment {
                seq: board.end() * 100,
                len: 100,
                ..SentSegment::default()
            };
            if n > 0 {
                segment.tags.set(Tags::JOINED);
            }
            board.push(segment);
        }
    }
    board
}

#[test]
fn a_piece_is_split_where_a_part_of_it_has_a_fate_of_its_own() {
    let mut board = in_pieces(&[4, 2]);
    assert_eq!(board.pieces, 2);
    board.split_before(2);
    assert_eq!(board.pieces, 3);
    board.split_before(2);
    board.split_before(4);
    board.split_before(6);
    assert_eq!(
        board.pieces, 3,
        "they are apart already, or there is nothing"
    );
    board.pop();
    board.settle_head();
    assert_eq!(board.pieces, 3, "what is left of the first");
    board.pop();
    board.settle_head();
    assert_eq!(board.pieces, 2);
    assert!(board.counts_agree());
}

#[test]
fn what_is_sacked_side_by_side_becomes_one_piece() {
    // Neighbouring SACKed sk_buffs are merged (Linux `tcp_shift_skb_data`).
    let mut board = in_pieces(&[6]);
    let mut sack = |number| {
        board.mark_sacked(number);
        let end = board.get(number).end_seq();
        board.regroup_sacked(number, end);
        assert!(board.counts_agree());
        board.pieces
    };
    // A SACK in the middle of an sk_buff leaves an sk_buff on either side.
    assert_eq!(sack(2), 3);
    assert_eq!(sack(3), 3);
    assert_eq!(sack(5), 4);
    // The SACK of the last hole merges segments 2 to 5 into one sk_buff. Segments 0 and 1 are the
    // sk_buff before it.
    assert_eq!(sack(4), 2);
    assert_eq!(sack(0), 3);
    assert_eq!(sack(1), 1);
    // sk_buffs are not merged across the start of a mapping.
    let mut board = in_pieces(&[3, 3]);
    board.get_mut(3).tags.set(Tags::BEGINS);
    for number in [1, 2, 3, 4, 5, 0] {
        board.mark_sacked(number);
        let end = board.get(number).end_seq();
        board.regroup_sacked(number, end);
    }
    assert_eq!(board.pieces, 3);
    assert!(board.counts_agree());
}

#[test]
fn a_short_end_of_a_piece_is_joined_by_a_block_that_covers_both_alone() {
    // Linux merges sk_buffs whose segments have equal length. An sk_buff that a block covers
    // completely is not split.
    let pieces = |blocks: &[&[u64]]| {
        let mut board = in_pieces(&[1, 2]);
        board.get_mut(2).len = 40;
        for block in blocks {
            let end = board.get(block[block.len() - 1]).end_seq();
            for &number in *block {
                board.mark_sacked(number);
                board.regroup_sacked(number, end);
                assert!(board.counts_agree());
            }
        }
        board.pieces
    };
    assert_eq!(pieces(&[&[0, 1, 2]]), 1);
    assert_eq!(pieces(&[&[0], &[1, 2]]), 1);
    assert_eq!(pieces(&[&[0, 1], &[2]]), 2);
    assert_eq!(pieces(&[&[2], &[0, 1]]), 2);
    assert_eq!(
        pieces(&[&[1], &[0], &[2]]),
        3,
        "before it nothing was SACKed"
    );
}
