//! The HARQ entity of a leg in one direction.
//!
//! Standard: TS 38.321 §5.3.2, §5.4.2; TS 36.321 §5.3.2, §5.4.2.

use super::content::ContentId;
use crate::config::{CellHarqConfig, NO_SLOT, Shape};
use crate::phy::code_block::TransportCode;
use crate::phy::harq::{self, Combining, FixedErrors, HarqSoft};
use fadeout_core::Time;
use fadeout_core::random::Stream;

/// The state of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Free for new data.
    Idle,
    /// An uplink slot is granted and not yet there.
    Granted,
    /// Sent, not yet decoded.
    Sent,
    /// To be sent again.
    Waiting,
}

/// One stop-and-wait process.
#[derive(Debug, Clone)]
pub(crate) struct HarqProcess {
    state: State,
    /// Slot from which it may be used: for new data when idle, again when waiting.
    from: u64,
    /// Transmissions of the present block.
    transmissions: u8,
    is_decoded: bool,
    soft: Option<HarqSoft>,
    /// Its content, until it is delivered or lost.
    pub content: Option<ContentId>,
    /// Its resources.
    pub shape: Shape,
    /// Report that the scheme was chosen by.
    pub cqi: u8,
    /// Slot of the present transmission.
    pub slot: u64,
    /// Start of the first transmission.
    pub first_at: Time,
    /// Uplink: transmitted power of a resource block in dBm.
    pub block_power_dbm: f64,
    /// Uplink: bytes granted to the UE whose slot had come with this block's.
    pub begun: u64,
    /// Uplink: the buffer status that the block reports.
    pub status: u64,
}

/// The outcome of a transmission of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Decoding {
    /// Decoded for the first time: deliver the content.
    pub is_new: bool,
    /// Decoded in this transmission.
    pub is_ok: bool,
    /// Given up: the content is lost.
    pub is_lost: bool,
    /// It was the first transmission.
    pub is_first: bool,
}

/// The facts that decide whether a transmission is received.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Judgement<'a> {
    /// HARQ parameters of the cell.
    pub harq: &'a CellHarqConfig,
    /// Fixed error rates, if any.
    pub fixed: Option<FixedErrors>,
    /// Effective SINR of the transmission, in dB.
    pub sinr_db: f64,
}

/// The processes of one leg in one direction.
#[derive(Debug, Clone)]
pub(crate) struct HarqEntity {
    processes: Vec<HarqProcess>,
    /// The process whose turn it is, which has rested longest.
    next: usize,
    /// From which slot on that one may take new data, if it is idle: most often there is no need to look
    /// at any of them.
    next_free_from: u64,
    waiting: u32,
}

impl HarqEntity {
    pub(crate) fn new(processes: u8) -> HarqEntity {
        let process = HarqProcess {
            state: State::Idle,
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

    /// The process whose turn it is has changed.
    fn note_next(&mut self) {
        let next = &self.processes[self.next];
        self.next_free_from = match next.state {
            State::Idle => next.from,
            State::Granted | State::Sent | State::Waiting => NO_SLOT,
        };
    }

    /// A process has changed.
    fn note(&mut self, id: u8) {
        if usize::from(id) == self.next {
            self.note_next();
        }
    }

    pub(crate) fn process(&self, id: u8) -> &HarqProcess {
        &self.processes[usize::from(id)]
    }
    pub(crate) fn process_mut(&mut self, id: u8) -> &mut HarqProcess {
        &mut self.processes[usize::from(id)]
    }

    /// A process that may take new data in `slot`.
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
                process.state == State::Idle && process.from <= slot
            })
            .map(|id| id as u8)
    }

    /// The first slot from `slot` on in which a process may take new data, as far as is known yet.
    pub(crate) fn free_from(&self, slot: u64) -> Option<u64> {
        if self.next_free_from <= slot {
            return Some(slot);
        }
        let idle = self.processes.iter().filter(|p| p.state == State::Idle);
        idle.map(|process| process.from.max(slot)).min()
    }

    /// The block to be sent again first, of those that may be in `slot`.
    pub(crate) fn waiting(&self, slot: u64) -> Option<u8> {
        if self.waiting == 0 {
            return None;
        }
        let due = |process: &HarqProcess| process.state == State::Waiting && process.from <= slot;
        let ids = (0..self.processes.len()).filter(|&id| due(&self.processes[id]));
        ids.min_by_key(|&id| self.processes[id].first_at)
            .map(|id| id as u8)
    }

    /// The first slot in which a block may be sent again.
    pub(crate) fn waiting_from(&self) -> Option<u64> {
        if self.waiting == 0 {
            return None;
        }
        let waiting = self.processes.iter().filter(|p| p.state == State::Waiting);
        waiting.map(|process| process.from).min()
    }

    /// Takes a process for a new block of resources `shape`.
    pub(crate) fn start(&mut self, id: u8, shape: Shape, first_at: Time) -> &mut HarqProcess {
        debug_assert_eq!(
            self.processes[usize::from(id)].state,
            State::Idle,
            "only an idle process begins a block"
        );
        self.next = (usize::from(id) + 1) % self.processes.len();
        self.processes[usize::from(id)].state = State::Granted;
        self.note_next();
        let process = &mut self.processes[usize::from(id)];
        process.transmissions = 0;
        process.is_decoded = false;
        process.soft = None;
        process.shape = shape;
        process.first_at = first_at;
        process
    }

    /// A waiting block gets a slot.
    pub(crate) fn resume(&mut self, id: u8) {
        let process = &mut self.processes[usize::from(id)];
        debug_assert_eq!(
            process.state,
            State::Waiting,
            "only waiting blocks are resumed"
        );
        process.state = State::Granted;
        self.waiting -= 1;
        self.note(id);
    }

    /// The block is sent in `slot`; whatever becomes of it, the process is not used before slot
    /// `again_from`.
    pub(crate) fn sent(&mut self, id: u8, slot: u64, again_from: u64) {
        let process = &mut self.processes[usize::from(id)];
        debug_assert_eq!(
            process.state,
            State::Granted,
            "only a granted block is sent"
        );
        debug_assert!(
            again_from > slot,
            "a block of slot {slot} would go again in {again_from}"
        );
        process.state = State::Sent;
        process.slot = slot;
        process.from = again_from;
        process.transmissions += 1;
        self.note(id);
    }

    /// A grant was not used.
    pub(crate) fn skip(&mut self, id: u8, slot: u64) {
        let process = &mut self.processes[usize::from(id)];
        debug_assert_eq!(
            process.state,
            State::Granted,
            "only a granted block is skipped"
        );
        process.state = State::Idle;
        process.from = slot;
        self.note(id);
    }

    /// The receiver has tried to decode: draws the result and the feedback. None when the process
    /// was cleared meanwhile.
    pub(crate) fn decode(
        &mut self,
        id: u8,
        judgement: &Judgement<'_>,
        code: impl FnOnce() -> TransportCode,
        draws: &mut Stream,
    ) -> Option<Decoding> {
        let config = judgement.harq;
        let process = &mut self.processes[usize::from(id)];
        if process.state != State::Sent {
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
        process.state = if repeats { State::Waiting } else { State::Idle };
        debug_assert!(
            (1..=config.most_transmissions.max(1)).contains(&process.transmissions),
            "a block was sent {} times",
            process.transmissions
        );
        self.waiting += u32::from(repeats);
        self.note(id);
        self.assert_invariants();
        Some(Decoding {
            is_new: is_ok && !was_decoded,
            is_ok,
            is_lost: !is_ok && !repeats,
            is_first,
        })
    }

    /// Whether no block is under way or waits.
    pub(crate) fn is_idle(&self) -> bool {
        self.processes.iter().all(|p| p.content.is_none())
    }

    /// Bytes of each new block that is granted and not yet sent.
    pub(crate) fn unused(&self) -> impl Iterator<Item = u32> + '_ {
        let granted = self.processes.iter().filter(|p| p.state == State::Granted);
        let new = granted.filter(|process| process.is_unsent());
        new.map(|process| process.shape.bytes)
    }

    /// Gives up every block; their contents go to `lost`.
    pub(crate) fn clear(&mut self, lost: &mut Vec<ContentId>) {
        for process in &mut self.processes {
            process.state = State::Idle;
            lost.extend(process.content.take());
        }
        self.waiting = 0;
        self.note_next();
        self.assert_invariants();
    }

    /// Asserts that the counts kept beside the processes agree with them.
    fn assert_invariants(&self) {
        let waits = |process: &&HarqProcess| process.state == State::Waiting;
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
            (self.next_free_from == NO_SLOT) == (next.state != State::Idle)
                || self.next_free_from == next.from,
            "the next process is free from slot {}",
            self.next_free_from
        );
    }
}

impl HarqProcess {
    /// Number of the present transmission of the block, zero the first.
    pub(crate) fn round(&self) -> u32 {
        u32::from(self.transmissions.saturating_sub(1))
    }

    /// Whether its block has not been sent yet.
    pub(crate) fn is_unsent(&self) -> bool {
        self.transmissions == 0
    }

    /// Slot before which nothing follows from the latest transmission.
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

    /// A block in process `id` that fails in slot `slot`, eight slots before it may be sent again.
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
        // Two are busy, whichever's turn it is.
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
        // Five standard deviations of 4000 draws of one in four are 0.034.
        assert!((share(config(0.25, 0.0), 0.0) - 0.25).abs() < 0.034);
        assert!((share(config(0.0, 0.25), 1.0) - 0.75).abs() < 0.034);
        assert_eq!(share(config(0.0, 0.0), 0.0), 0.0);
        assert_eq!(share(config(0.0, 0.0), 1.0), 1.0);
    }
}
