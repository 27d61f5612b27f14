//! HARQ entity of a leg in one direction.
//!
//! Standard: TS 38.321 §5.3.2, §5.4.2; TS 36.321 §5.3.2, §5.4.2.

use super::content::ContentId;
use crate::config::{CellHarqConfig, NO_SLOT, Shape};
use crate::phy::code_block::TransportCode;
use crate::phy::harq::{self, Combining, FixedErrors, HarqSoft};
use fadeout_core::Time;
use fadeout_core::random::Stream;

/// State of a HARQ process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ProcessState {
    /// The process is free for new data.
    Idle,
    /// An uplink grant was sent, but its slot has not come yet.
    Granted,
    /// The transport block is sent and not decoded yet.
    Sent,
    /// The transport block waits for a retransmission.
    Waiting,
}

/// HARQ process with stop-and-wait operation.
#[derive(Debug, Clone)]
pub(crate) struct HarqProcess {
    state: ProcessState,
    /// First slot in which the process may be used. From this slot an idle process may send new
    /// data, and a waiting process may retransmit.
    from: u64,
    /// Number of transmissions of the present transport block.
    transmissions: u8,
    is_decoded: bool,
    soft: Option<HarqSoft>,
    /// Content of the transport block. `None` after it was delivered or lost.
    pub content: Option<ContentId>,
    /// Resources that the transport block occupies.
    pub shape: Shape,
    /// CQI from which the MCS was chosen.
    pub cqi: u8,
    /// Slot of the latest transmission.
    pub slot: u64,
    /// Start of the first transmission.
    pub first_at: Time,
    /// Transmitted power of one uplink resource block, in dBm.
    pub block_power_dbm: f64,
    /// Total bytes of uplink grants whose slots had come, up to and including the slot of this
    /// transport block.
    pub begun: u64,
    /// Buffer status that the uplink transport block reports, in bytes.
    pub status: u64,
}

/// Outcome of one transmission of a transport block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Decoding {
    /// True if this transmission is the first one that the receiver decodes, so that the content is
    /// delivered.
    pub is_new: bool,
    /// True if the receiver has decoded the block after this transmission.
    pub is_ok: bool,
    /// True if HARQ abandons the block, so that its content is lost.
    pub is_lost: bool,
    /// True if this was the first transmission.
    pub is_first: bool,
}

/// Inputs of the decision whether the receiver decodes a transmission.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Judgement<'a> {
    /// HARQ parameters of the cell.
    pub harq: &'a CellHarqConfig,
    /// Fixed error rates. `None` if the SINR decides.
    pub fixed: Option<FixedErrors>,
    /// Effective SINR of the transmission, in dB.
    pub sinr_db: f64,
}

/// HARQ processes of one leg in one direction.
#[derive(Debug, Clone)]
pub(crate) struct HarqEntity {
    processes: Vec<HarqProcess>,
    /// Index of the process that has been idle longest, which is used next.
    next: usize,
    /// First slot in which process `next` may send new data, if that process is idle. With this
    /// stored slot, a search over all processes is rarely needed.
    next_free_from: u64,
    waiting: u32,
}

impl HarqEntity {
    pub(crate) fn new(processes: u8) -> HarqEntity {
        let process = HarqProcess {
            state: ProcessState::Idle,
            from: 0,
            transmissions: 0,
            is_decoded: false,
            soft: None,
            content: None,
            shape: Shape::default(),
            cqi: 0,
            slot: 0,
            first_at: Time::ZERO,
            block_power_dbm: 0.0,
            begun: 0,
            status: 0,
        };
        HarqEntity {
            processes: vec![process; usize::from(processes)],
            next: 0,
            next_free_from: 0,
            waiting: 0,
        }
    }

    /// Updates `next_free_from` after `next` has changed.
    fn update_next_free(&mut self) {
        let next = &self.processes[self.next];
        self.next_free_from = match next.state {
            ProcessState::Idle => next.from,
            ProcessState::Granted | ProcessState::Sent | ProcessState::Waiting => NO_SLOT,
        };
    }

    /// Updates `next_free_from` after a process has changed.
    fn update_if_next(&mut self, id: u8) {
        if usize::from(id) == self.next {
            self.update_next_free();
        }
    }

    pub(crate) fn process(&self, id: u8) -> &HarqProcess {
        &self.processes[usize::from(id)]
    }
    pub(crate) fn process_mut(&mut self, id: u8) -> &mut HarqProcess {
        &mut self.processes[usize::from(id)]
    }

    /// Returns a process that may send new data in `slot`. `None` if no process is free.
    pub(crate) fn free(&self, slot: u64) -> Option<u8> {
        debug_assert!(slot < NO_SLOT, "a slot that never comes");
        if self.next_free_from <= slot {
            return Some(self.next as u8);
        }
        let count = self.processes.len();
        (0..count)
            .map(|n| (self.next + n) % count)
            .find(|&id| {
                let process = &self.processes[id];
                process.state == ProcessState::Idle && process.from <= slot
            })
            .map(|id| id as u8)
    }

    /// Returns the first slot, not before `slot`, in which a process may send new data. `None` if
    /// all processes are busy for an unknown time.
    pub(crate) fn free_from(&self, slot: u64) -> Option<u64> {
        if self.next_free_from <= slot {
            return Some(slot);
        }
        let idle = self
            .processes
            .iter()
            .filter(|p| p.state == ProcessState::Idle);
        idle.map(|process| process.from.max(slot)).min()
    }

    /// Returns the process whose transport block is retransmitted first in `slot`. `None` if no
    /// retransmission is due.
    pub(crate) fn waiting(&self, slot: u64) -> Option<u8> {
        if self.waiting == 0 {
            return None;
        }
        let due =
            |process: &HarqProcess| process.state == ProcessState::Waiting && process.from <= slot;
        let ids = (0..self.processes.len()).filter(|&id| due(&self.processes[id]));
        ids.min_by_key(|&id| self.processes[id].first_at)
            .map(|id| id as u8)
    }

    /// Returns the first slot in which a transport block may be retransmitted. `None` if no block
    /// waits for a retransmission.
    pub(crate) fn waiting_from(&self) -> Option<u64> {
        if self.waiting == 0 {
            return None;
        }
        let waiting = self
            .processes
            .iter()
            .filter(|p| p.state == ProcessState::Waiting);
        waiting.map(|process| process.from).min()
    }

    /// Starts a new transport block in an idle process. The block occupies the resources `shape`.
    pub(crate) fn start(&mut self, id: u8, shape: Shape, first_at: Time) -> &mut HarqProcess {
        debug_assert_eq!(
            self.processes[usize::from(id)].state,
            ProcessState::Idle,
            "only an idle process begins a block"
        );
        self.next = (usize::from(id) + 1) % self.processes.len();
        self.processes[usize::from(id)].state = ProcessState::Granted;
        self.update_next_free();
        let process = &mut self.processes[usize::from(id)];
        process.transmissions = 0;
        process.is_decoded = false;
        process.soft = None;
        process.shape = shape;
        process.first_at = first_at;
        process
    }

    /// Records that a waiting transport block has been assigned a slot.
    pub(crate) fn resume(&mut self, id: u8) {
        let process = &mut self.processes[usize::from(id)];
        debug_assert_eq!(
            process.state,
            ProcessState::Waiting,
            "only waiting blocks are resumed"
        );
        process.state = ProcessState::Granted;
        self.waiting -= 1;
        self.update_if_next(id);
    }

    /// Records that a transport block is sent in `slot`. Its process is not used again before slot
    /// `again_from`.
    pub(crate) fn sent(&mut self, id: u8, slot: u64, again_from: u64) {
        let process = &mut self.processes[usize::from(id)];
        debug_assert_eq!(
            process.state,
            ProcessState::Granted,
            "only a granted block is sent"
        );
        debug_assert!(
            again_from > slot,
            "a block of slot {slot} would go again in {again_from}"
        );
        process.state = ProcessState::Sent;
        process.slot = slot;
        process.from = again_from;
        process.transmissions += 1;
        self.update_if_next(id);
    }

    /// Frees the process of a grant that was not used.
    pub(crate) fn skip(&mut self, id: u8, slot: u64) {
        let process = &mut self.processes[usize::from(id)];
        debug_assert_eq!(
            process.state,
            ProcessState::Granted,
            "only a granted block is skipped"
        );
        process.state = ProcessState::Idle;
        process.from = slot;
        self.update_if_next(id);
    }

    /// Decides by random draws whether the receiver decodes a transport block and whether its
    /// feedback arrives. `None` if the process was cleared after the transmission.
    pub(crate) fn decode(
        &mut self,
        id: u8,
        judgement: &Judgement<'_>,
        code: impl FnOnce() -> TransportCode,
        draws: &mut Stream,
    ) -> Option<Decoding> {
        let config = judgement.harq;
        let process = &mut self.processes[usize::from(id)];
        if process.state != ProcessState::Sent {
            return None;
        }
        let is_first = process.transmissions == 1;
        let error_rate = match judgement.fixed {
            Some(fixed) if is_first => fixed.first,
            Some(fixed) => fixed.retransmission,
            None => process.combine(config.combining, judgement.sinr_db, code),
        };
        let was_decoded = process.is_decoded;
        let is_ok = was_decoded || !draws.chance(error_rate);
        process.is_decoded = is_ok;
        let is_ack = if is_ok {
            config.ack_to_nack <= 0.0 || !draws.chance(config.ack_to_nack)
        } else {
            config.nack_to_ack > 0.0 && draws.chance(config.nack_to_ack)
        };
        let may_repeat = process.transmissions < config.most_transmissions;
        let repeats = !is_ack && may_repeat;
        process.state = if repeats {
            ProcessState::Waiting
        } else {
            ProcessState::Idle
        };
        debug_assert!(
            (1..=config.most_transmissions.max(1)).contains(&process.transmissions),
            "a block was sent {} times",
            process.transmissions
        );
        self.waiting += u32::from(repeats);
        self.update_if_next(id);
        self.assert_invariants();
        Some(Decoding {
            is_new: is_ok && !was_decoded,
            is_ok,
            is_lost: !is_ok && !repeats,
            is_first,
        })
    }

    /// Returns true if no transport block was sent without result or waits for its retransmission.
    pub(crate) fn is_idle(&self) -> bool {
        self.processes.iter().all(|p| p.content.is_none())
    }

    /// Returns the bytes of each new transport block that was granted and not sent yet.
    pub(crate) fn unused(&self) -> impl Iterator<Item = u32> + '_ {
        let granted = self
            .processes
            .iter()
            .filter(|p| p.state == ProcessState::Granted);
        let new = granted.filter(|process| process.is_unsent());
        new.map(|process| process.shape.bytes)
    }

    /// Abandons all transport blocks. Their contents are appended to `lost`.
    pub(crate) fn clear(&mut self, lost: &mut Vec<ContentId>) {
        for process in &mut self.processes {
            process.state = ProcessState::Idle;
            lost.extend(process.content.take());
        }
        self.waiting = 0;
        self.update_next_free();
        self.assert_invariants();
    }

    /// Asserts that the stored counts and `next_free_from` agree with the processes.
    fn assert_invariants(&self) {
        let waits = |process: &&HarqProcess| process.state == ProcessState::Waiting;
        debug_assert!(
            self.processes.iter().filter(waits).count() == self.waiting as usize,
            "{} blocks are counted as waiting",
            self.waiting
        );
        debug_assert!(
            self.next < self.processes.len(),
            "process {} is next",
            self.next
        );
        let next = &self.processes[self.next];
        debug_assert!(
            (self.next_free_from == NO_SLOT) == (next.state != ProcessState::Idle)
                || self.next_free_from == next.from,
            "the next process is free from slot {}",
            self.next_free_from
        );
    }
}

impl HarqProcess {
    /// Returns the number of retransmissions of the present transport block, zero for its first
    /// transmission.
    pub(crate) fn round(&self) -> u32 {
        u32::from(self.transmissions.saturating_sub(1))
    }

    /// Returns true if the transport block has not been sent yet.
    pub(crate) fn is_unsent(&self) -> bool {
        self.transmissions == 0
    }

    /// Returns the first slot in which the process may send new data or a retransmission.
    pub(crate) fn again_from(&self) -> u64 {
        self.from
    }

    fn combine(
        &mut self,
        combining: Combining,
        sinr_db: f64,
        code: impl FnOnce() -> TransportCode,
    ) -> f64 {
        let soft = self.soft.get_or_insert_with(|| {
            let config = harq::HarqConfig {
                combining,
                fixed: None,
            };
            HarqSoft::new(&code(), &config)
        });
        soft.add(sinr_db);
        soft.conditional_error_rate()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(harq: &mut HarqEntity, config: &CellHarqConfig, id: u8, error: f64) -> Decoding {
        let judgement = Judgement {
            harq: config,
            fixed: Some(FixedErrors {
                first: error,
                retransmission: error,
            }),
            sinr_db: 0.0,
        };
        let code = || unreachable!("fixed errors need no code");
        harq.decode(id, &judgement, code, &mut Stream::new(1, "harq", 0))
            .expect("it was sent")
    }

    #[test]
    fn a_failed_block_waits_until_its_transmissions_are_used_up() {
        let config = CellHarqConfig {
            most_transmissions: 3,
            ..CellHarqConfig::with_processes(8)
        };
        let mut harq = HarqEntity::new(8);
        let id = harq.free(0).expect("all are free");
        harq.start(id, Shape::default(), Time::ZERO);
        for round in 0..3_u64 {
            harq.sent(id, 8 * round, 8 * round + 8);
            assert_eq!(harq.process(id).round(), round as u32);
            let outcome = decode(&mut harq, &config, id, 1.0);
            assert_eq!((outcome.is_ok, outcome.is_lost), (false, round == 2));
            assert_eq!(harq.waiting(8 * round + 7), None);
            if round < 2 {
                assert_eq!(harq.waiting(8 * round + 8), Some(id));
                harq.resume(id);
            }
        }
        assert_eq!(harq.waiting_from(), None);
        assert_eq!(harq.free_from(0), Some(0));
    }

    #[test]
    fn when_all_processes_are_busy_none_is_free() {
        let mut harq = HarqEntity::new(2);
        for slot in 0..2 {
            let id = harq.free(slot).expect("one is free");
            harq.start(id, Shape::default(), Time::ZERO);
            harq.sent(id, slot, slot + 8);
        }
        assert_eq!((harq.free(5), harq.free_from(5)), (None, None));
        decode(&mut harq, &CellHarqConfig::with_processes(8), 0, 0.0);
        assert_eq!((harq.free(7), harq.free_from(7)), (None, Some(8)));
        assert_eq!(harq.free(8), Some(0));
    }

    #[test]
    fn feedback_errors_lose_a_block_or_repeat_it_for_nothing() {
        let mut harq = HarqEntity::new(1);
        let lossy = CellHarqConfig {
            nack_to_ack: 1.0,
            ..CellHarqConfig::with_processes(8)
        };
        harq.start(0, Shape::default(), Time::ZERO);
        harq.sent(0, 0, 8);
        assert!(decode(&mut harq, &lossy, 0, 1.0).is_lost);
        let repeating = CellHarqConfig {
            ack_to_nack: 1.0,
            most_transmissions: 2,
            ..CellHarqConfig::with_processes(8)
        };
        harq.start(0, Shape::default(), Time::ZERO);
        harq.sent(0, 8, 16);
        assert!(decode(&mut harq, &repeating, 0, 0.0).is_new);
        assert_eq!(harq.waiting(16), Some(0));
        harq.resume(0);
        harq.sent(0, 16, 24);
        let again = decode(&mut harq, &repeating, 0, 1.0);
        assert!(again.is_ok && !again.is_new && !again.is_lost);
    }

    /// Sends a transport block in process `id` that fails in slot `slot`. It may be retransmitted
    /// eight slots later.
    fn fail(harq: &mut HarqEntity, id: u8, slot: u64) {
        let config = CellHarqConfig::with_processes(8);
        harq.start(id, Shape::default(), Time::from_nanos(slot));
        harq.sent(id, slot, slot + 8);
        assert!(!decode(harq, &config, id, 1.0).is_ok);
    }

    #[test]
    fn blocks_are_sent_again_in_the_order_in_which_they_were_sent_first() {
        let mut harq = HarqEntity::new(4);
        for (id, slot) in [(2, 0), (0, 1), (3, 2)] {
            fail(&mut harq, id, slot);
        }
        assert_eq!(harq.waiting_from(), Some(8));
        assert_eq!(harq.waiting(10), Some(2));
        harq.resume(2);
        assert_eq!((harq.waiting(10), harq.waiting_from()), (Some(0), Some(9)));
        harq.resume(0);
        assert_eq!((harq.waiting(9), harq.waiting(10)), (None, Some(3)));
    }

    #[test]
    fn the_process_that_has_rested_longest_is_next() {
        let mut harq = HarqEntity::new(3);
        for expected in [0, 1, 2, 0, 1] {
            assert_eq!(harq.free(1000), Some(expected));
            harq.start(expected, Shape::default(), Time::ZERO);
            harq.skip(expected, 0);
        }
        // Two of three processes are busy, and one of them would be used next. The third process is
        // free.
        for busy in [2, 0] {
            harq.start(busy, Shape::default(), Time::ZERO);
            harq.sent(busy, 1000, 1008);
        }
        assert_eq!(
            (harq.free(2000), harq.free_from(2000)),
            (Some(1), Some(2000))
        );
        harq.start(1, Shape::default(), Time::ZERO);
        assert_eq!((harq.free(2000), harq.free_from(2000)), (None, None));
    }

    #[test]
    fn a_grant_that_is_not_used_leaves_its_process_free_behind_its_slot() {
        let mut harq = HarqEntity::new(1);
        harq.start(0, Shape::default(), Time::ZERO);
        assert!(harq.process(0).is_unsent());
        harq.skip(0, 30);
        assert_eq!((harq.free(29), harq.free(30)), (None, Some(0)));
        harq.start(0, Shape::default(), Time::ZERO);
        harq.sent(0, 30, 38);
        assert!(!harq.process(0).is_unsent());
    }

    #[test]
    fn feedback_is_mistaken_as_often_as_the_chance_says() {
        let share = |config: CellHarqConfig, error: f64| {
            let mut draws = Stream::new(7, "feedback", 0);
            let judgement = Judgement {
                harq: &config,
                fixed: Some(FixedErrors {
                    first: error,
                    retransmission: error,
                }),
                sinr_db: 0.0,
            };
            let waits = |_: &u64| {
                let mut harq = HarqEntity::new(1);
                harq.start(0, Shape::default(), Time::ZERO);
                harq.sent(0, 0, 8);
                let code = || unreachable!("fixed errors need no code");
                harq.decode(0, &judgement, code, &mut draws);
                harq.waiting(8).is_some()
            };
            (0..4000).filter(waits).count() as f64 / 4000.0
        };
        let config = |ack_to_nack, nack_to_ack| CellHarqConfig {
            ack_to_nack,
            nack_to_ack,
            ..CellHarqConfig::with_processes(8)
        };
        // The standard error of the mean of 4000 draws with probability 1/4 is 0.0068. The
        // tolerance is five standard errors.
        assert!((share(config(0.25, 0.0), 0.0) - 0.25).abs() < 0.034);
        assert!((share(config(0.0, 0.25), 1.0) - 0.75).abs() < 0.034);
        assert_eq!(share(config(0.0, 0.0), 0.0), 0.0);
        assert_eq!(share(config(0.0, 0.0), 1.0), 1.0);
    }
}
