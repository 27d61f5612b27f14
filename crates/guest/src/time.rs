//! The protocol by which a guest gets its time.
//!
//! The protocol has messages of 16 bytes on a stream, and a page of shared memory in which both
//! sides write their times. The layout is that of `include/uapi/linux/um_timetravel.h`, version 2
//! of the shared memory. Each guest has a page of its own with two slots: one for the simulator and
//! one for the guest.

use crate::Fault;

/// Length of a message, bytes.
pub const MESSAGE_LEN: usize = 16;
/// Length of the shared memory, bytes.
pub const PAGE_LEN: usize = HEADER_LEN + 2 * SLOT_LEN;
/// Offset in shared memory of the clocks of both sides, and of the number of the side whose turn
/// it is.
pub const TIMES_AT: u64 = 8;
/// Length in bytes of the clocks and that number in shared memory.
pub const TIMES_LEN: usize = 18;
/// Offset of the guest's slot.
pub const GUEST_AT: u64 = (HEADER_LEN + SLOT_LEN) as u64;
/// Number of the guest's slot, which the answer to its start message contains.
pub const GUEST_ID: u16 = 1;

const HEADER_LEN: usize = 4096;
const SLOT_LEN: usize = 128;
const VERSION: u32 = 2;
/// Flag of a client that uses shared memory.
const TIME_SHARE: u32 = 1;
const REQUESTED: u32 = 1;
/// Time that a guest requests if it waits for no timer.
const FOR_EVER: u64 = i64::MAX as u64;

/// The kind of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Op {
    /// Answer to a message.
    Ack = 0,
    /// Start of a guest.
    Start = 1,
    /// Request of the guest to run at a time.
    Request = 2,
    /// The guest is idle until the time that it requested.
    Wait = 3,
    /// Question of the guest for the current time.
    Get = 4,
    /// Time of the guest, sent before it communicates with another client.
    Update = 5,
    /// Message of the simulator: run at this time.
    Run = 6,
    /// Message of the simulator: no request is needed before this time.
    FreeUntil = 7,
    /// Question for the time of day, sent once at boot.
    GetTimeOfDay = 8,
    /// Message to all clients.
    Broadcast = 9,
}

/// A message in either direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    /// Kind of the message.
    pub op: Op,
    /// Number of the message, which the answer repeats.
    pub seq: u32,
    /// Time of the message, ns.
    pub time: u64,
}

impl Message {
    /// Reads a message.
    ///
    /// # Errors
    /// Returns a [`Fault`] for an unknown operation.
    pub fn read(bytes: &[u8; MESSAGE_LEN]) -> Result<Message, Fault> {
        let op = match u32_at(bytes, 0) {
            0 => Op::Ack,
            1 => Op::Start,
            2 => Op::Request,
            3 => Op::Wait,
            4 => Op::Get,
            5 => Op::Update,
            6 => Op::Run,
            7 => Op::FreeUntil,
            8 => Op::GetTimeOfDay,
            9 => Op::Broadcast,
            _ => return Err(Fault("an unknown message about time")),
        };
        Ok(Message {
            op,
            seq: u32_at(bytes, 4),
            time: u64_at(bytes, 8),
        })
    }

    /// Returns the bytes of the message.
    pub fn write(self) -> [u8; MESSAGE_LEN] {
        let mut bytes = [0; MESSAGE_LEN];
        bytes[..4].copy_from_slice(&(self.op as u32).to_le_bytes());
        bytes[4..8].copy_from_slice(&self.seq.to_le_bytes());
        bytes[8..].copy_from_slice(&self.time.to_le_bytes());
        bytes
    }
}

/// Action that a message of the guest requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Send an answer to the guest.
    Answer(Message),
    /// Send an answer with the shared memory to the guest.
    Welcome(Message),
    /// The guest is idle, and the simulator continues.
    Yield,
    /// The message needs no answer.
    Nothing,
}

/// The simulator's side of the protocol with one guest.
#[derive(Debug, Default)]
pub struct Clock {
    now: u64,
    requested: Option<u64>,
    is_running: bool,
    has_started: bool,
    /// Number of times that the guest may become idle before the simulator continues.
    ahead: u8,
}

impl Clock {
    /// Returns the shared memory before the guest starts.
    pub fn page() -> Vec<u8> {
        let mut page = vec![0; PAGE_LEN];
        page[..4].copy_from_slice(&VERSION.to_le_bytes());
        page[4..8].copy_from_slice(&(PAGE_LEN as u32).to_le_bytes());
        page[TIMES_AT as usize..TIMES_AT as usize + TIMES_LEN]
            .copy_from_slice(&Clock::default().times());
        page[26..28].copy_from_slice(&2u16.to_le_bytes());
        // The flag makes the guest write its requests to shared memory while the simulator runs.
        page[HEADER_LEN..HEADER_LEN + 4].copy_from_slice(&TIME_SHARE.to_le_bytes());
        page
    }

    /// Returns the bytes at [`TIMES_AT`]: the time up to which the guest may run alone, the current
    /// time, and the running side. The guest may never advance its time alone, so that it does
    /// nothing at unknown times.
    pub fn times(&self) -> [u8; TIMES_LEN] {
        let mut bytes = [0; TIMES_LEN];
        bytes[..8].copy_from_slice(&(self.now + 1).to_le_bytes());
        bytes[8..16].copy_from_slice(&self.now.to_le_bytes());
        let runs = if self.is_running { GUEST_ID } else { 0 };
        bytes[16..].copy_from_slice(&runs.to_le_bytes());
        bytes
    }

    /// Returns the guest's time, ns.
    pub fn now(&self) -> u64 {
        self.now
    }
    /// True if the guest runs and the simulator waits for it.
    pub fn is_running(&self) -> bool {
        self.is_running
    }
    /// True if the guest has sent its start message.
    pub fn has_started(&self) -> bool {
        self.has_started
    }

    /// Lets the guest run. Its clock is set to `at`, but never to an earlier time than its present
    /// time. Returns the message that starts the guest. Write [`Clock::times`] to the memory that
    /// the guest shares before you send this message.
    pub fn run(&mut self, at: u64) -> Message {
        self.now = self.now.max(at);
        self.is_running = true;
        self.requested = self.requested.filter(|&asked| asked > self.now);
        Message {
            op: Op::Run,
            seq: 0,
            time: self.now,
        }
    }

    /// Records that two run messages were sent. When the guest becomes idle for the first time, it
    /// continues with the second message.
    pub fn run_ahead(&mut self) {
        self.ahead = 1;
    }

    /// Records that no run message was sent, so the simulator does not wait for the guest.
    pub fn rest(&mut self) {
        self.is_running = false;
    }

    /// Handles a message of the guest. Returns the required action.
    ///
    /// # Errors
    /// Returns a [`Fault`] for a message that only the simulator may send, or that comes at a wrong
    /// time.
    pub fn on_message(&mut self, message: Message, time_of_day: u64) -> Result<Step, Fault> {
        let answer = |time| Message {
            op: Op::Ack,
            seq: message.seq,
            time,
        };
        if !self.has_started && message.op != Op::Start {
            return Err(Fault("a message about time before the start"));
        }
        Ok(match message.op {
            Op::Start if self.has_started => return Err(Fault("a second start")),
            Op::Start => {
                self.has_started = true;
                self.is_running = true;
                Step::Welcome(answer(u64::from(GUEST_ID)))
            }
            Op::Request => {
                self.requested = (message.time < FOR_EVER).then_some(message.time);
                Step::Answer(answer(0))
            }
            Op::Wait if self.ahead > 0 => {
                self.ahead -= 1;
                Step::Nothing
            }
            Op::Wait => {
                self.is_running = false;
                Step::Yield
            }
            Op::Get => Step::Answer(answer(self.now)),
            Op::Update => {
                if message.time > self.now {
                    return Err(Fault("a guest went on without being told to"));
                }
                Step::Answer(answer(0))
            }
            Op::GetTimeOfDay => Step::Answer(answer(time_of_day)),
            Op::Broadcast => Step::Answer(answer(0)),
            Op::Ack => Step::Nothing,
            Op::Run | Op::FreeUntil => return Err(Fault("a message that is not a guest's")),
        })
    }

    /// Returns true if the guest uses shared memory, which is required. Linux supports it since
    /// 6.11. `slot` has the bytes at [`GUEST_AT`] after the guest has run.
    pub fn is_shared(slot: &[u8; 16]) -> bool {
        u32_at(slot, 0) & TIME_SHARE != 0
    }

    /// Returns the time at which an idle guest wants to run next, ns. `None` if it waits only for
    /// its devices. `slot` has the bytes at [`GUEST_AT`].
    pub fn next_at(&self, slot: &[u8; 16]) -> Option<u64> {
        let left = u32_at(slot, 4) & REQUESTED != 0;
        let left = left.then(|| u64_at(slot, 8)).filter(|&at| at < FOR_EVER);
        let asked = self.requested.into_iter().chain(left).min();
        asked.map(|at| at.max(self.now))
    }
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(op: Op, time: u64) -> Message {
        Message { op, seq: 7, time }
    }

    fn started() -> Clock {
        let mut clock = Clock::default();
        let step = clock.on_message(message(Op::Start, 1), 0).expect("a start");
        assert!(matches!(step, Step::Welcome(m) if m.seq == 7 && m.time == u64::from(GUEST_ID)));
        clock
    }

    #[test]
    fn a_message_is_read_as_it_was_written() {
        for op in [Op::Ack, Op::Start, Op::Wait, Op::Broadcast] {
            let one = message(op, u64::MAX - 3);
            assert_eq!(Message::read(&one.write()), Ok(one));
        }
        assert!(Message::read(&[0xff; MESSAGE_LEN]).is_err());
    }

    #[test]
    fn a_guest_that_waits_is_told_to_run_and_its_wish_is_gone() {
        let mut clock = started();
        let _ = clock.on_message(message(Op::Request, 500), 0);
        assert_eq!(clock.on_message(message(Op::Wait, 0), 0), Ok(Step::Yield));
        assert_eq!(clock.next_at(&[0; 16]), Some(500));
        assert_eq!(clock.run(500).time, 500);
        assert_eq!((clock.now(), clock.is_running()), (500, true));
        assert_eq!(clock.next_at(&[0; 16]), None);
    }

    #[test]
    fn a_guest_that_was_told_twice_rests_twice() {
        let mut clock = started();
        clock.run(500);
        clock.run_ahead();
        let mut rest = || clock.on_message(message(Op::Wait, 0), 0);
        assert_eq!((rest(), rest()), (Ok(Step::Nothing), Ok(Step::Yield)));
    }

    #[test]
    fn a_wish_in_shared_memory_counts_and_for_ever_is_none() {
        let clock = started();
        let mut slot = [0; 16];
        slot[4] = 1;
        slot[8..].copy_from_slice(&900u64.to_le_bytes());
        assert_eq!(clock.next_at(&slot), Some(900));
        slot[8..].copy_from_slice(&FOR_EVER.to_le_bytes());
        assert_eq!(clock.next_at(&slot), None);
    }

    #[test]
    fn time_does_not_go_back_and_ours_is_the_only_hand_on_it() {
        let mut clock = started();
        clock.run(1000);
        assert_eq!(clock.run(10).time, 1000);
        assert!(clock.on_message(message(Op::Update, 1001), 0).is_err());
        assert!(clock.on_message(message(Op::Run, 0), 0).is_err());
        assert!(clock.on_message(message(Op::Start, 0), 0).is_err());
        assert!(
            Clock::default()
                .on_message(message(Op::Wait, 0), 0)
                .is_err()
        );
    }
}
