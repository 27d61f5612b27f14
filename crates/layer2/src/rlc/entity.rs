//! RLC entity at one end of a bearer, in any mode.

use super::buffer::TxBuffer;
use super::pull::Pull;
use super::tm::Tm;
use super::{
    Backlog, DropTail, Generation, Mode, ParameterError, PduKind, QueueManagement, RlcConfig, Sdu,
    TransportBlock, lte, nr,
};
use fadeout_core::{Bytes, Time};
use std::cell::Cell;
use std::ops::Range;

/// RLC entity at one end of a bearer, with its transmitting and its receiving side.
///
/// Fields are in the order in which they are accessed.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Entity {
    /// Cached backlog, because a cell reads it in every slot. `None` after a change.
    waiting: Cell<Option<Waiting>>,
    machine: Machine,
    config: RlcConfig,
}

/// Backlog of a transmitter, valid until something changes.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    /// Backlog without STATUS PDUs.
    data: Backlog,
    /// Time from which a STATUS PDU is due.
    status_from: Time,
    /// Bytes of the STATUS PDU with its subheader. `None` before they are computed.
    status: Option<u32>,
}

#[derive(Clone, Debug)]
enum Machine {
    Tm(Tm),
    NrUm(nr::UmTx, nr::UmRx),
    NrAm(nr::AmTx, nr::AmRx),
    LteUm(lte::UmTx, lte::UmRx),
    LteAm(lte::AmTx, lte::AmRx),
}

impl Machine {
    fn new(config: &RlcConfig) -> Machine {
        use Generation::{Lte, Nr};
        match (&config.mode, config.generation) {
            (Mode::Tm, _) => Machine::Tm(Tm::new(config)),
            (Mode::Um(um), Nr) => Machine::NrUm(nr::UmTx::new(config, um), nr::UmRx::new(um)),
            (Mode::Um(um), Lte) => Machine::LteUm(lte::UmTx::new(config, um), lte::UmRx::new(um)),
            (Mode::Am(am), Nr) => {
                Machine::NrAm(nr::AmTx::new(config, am), nr::AmRx::new(config, am))
            }
            (Mode::Am(am), Lte) => {
                Machine::LteAm(lte::AmTx::new(config, am), lte::AmRx::new(config, am))
            }
        }
    }
    #[inline]
    fn buffer(&self) -> &TxBuffer {
        match self {
            Machine::Tm(tm) => &tm.buffer,
            Machine::NrUm(tx, _) => &tx.buffer,
            Machine::NrAm(tx, _) => &tx.buffer,
            Machine::LteUm(tx, _) => &tx.assembly.buffer,
            Machine::LteAm(tx, _) => &tx.assembly.buffer,
        }
    }
    fn waiting(&self) -> Waiting {
        let (data, status_from) = match self {
            Machine::Tm(tm) => (tm.backlog(), Time::NEVER),
            Machine::NrUm(tx, _) => (tx.backlog(), Time::NEVER),
            Machine::NrAm(tx, rx) => (tx.backlog(), rx.reception.status_from()),
            Machine::LteUm(tx, _) => (tx.backlog(), Time::NEVER),
            Machine::LteAm(tx, rx) => (tx.backlog(), rx.reception.status_from()),
        };
        Waiting {
            data,
            status_from,
            status: None,
        }
    }
    /// Returns the current bytes of a STATUS PDU with its subheader.
    fn status_bytes(&self) -> u64 {
        match self {
            Machine::NrAm(_, rx) => rx.reception.status_bytes(),
            Machine::LteAm(_, rx) => rx.reception.status_bytes(),
            Machine::Tm(_) | Machine::NrUm(..) | Machine::LteUm(..) => 0,
        }
    }
    #[inline]
    fn buffer_mut(&mut self) -> &mut TxBuffer {
        match self {
            Machine::Tm(tm) => &mut tm.buffer,
            Machine::NrUm(tx, _) => &mut tx.buffer,
            Machine::NrAm(tx, _) => &mut tx.buffer,
            Machine::LteUm(tx, _) => &mut tx.assembly.buffer,
            Machine::LteAm(tx, _) => &mut tx.assembly.buffer,
        }
    }
}

impl Entity {
    /// Returns an entity as after establishment.
    ///
    /// # Errors
    /// Returns an error if a parameter has a value that is not allowed.
    pub fn new(config: &RlcConfig) -> Result<Entity, ParameterError> {
        config.check()?;
        Ok(Entity {
            waiting: Cell::new(None),
            machine: Machine::new(config),
            config: *config,
        })
    }

    /// Returns the state machine for a change, which clears the cached backlog.
    #[inline]
    fn machine_mut(&mut self) -> &mut Machine {
        self.waiting.set(None);
        &mut self.machine
    }

    /// Returns the parameters.
    pub fn config(&self) -> &RlcConfig {
        &self.config
    }

    /// Returns true if an SDU of `size` bytes fits into the transmission buffer.
    #[inline]
    pub fn has_room(&self, size: u32) -> bool {
        self.machine.buffer().has_room(size)
    }

    /// Returns the bytes of the smallest grant that can carry a part of an SDU of `size` bytes.
    /// Transparent mode does not segment, so the whole SDU must fit. The other modes need 1 byte.
    #[inline]
    pub fn least_grant(&self, size: u32) -> u32 {
        match &self.machine {
            Machine::Tm(tm) => tm.least_grant(size),
            Machine::NrUm(..) | Machine::NrAm(..) | Machine::LteUm(..) | Machine::LteAm(..) => 1,
        }
    }

    /// Adds an SDU to be sent. An SDU that does not fit into the buffer is returned.
    #[inline]
    pub fn push_sdu(&mut self, sdu: Sdu) -> Result<(), Sdu> {
        debug_assert!(
            (1..=0xffff).contains(&sdu.size),
            "an SDU has 1 to 65 535 bytes"
        );
        self.machine_mut().buffer_mut().push(sdu)
    }

    /// Adds an SDU again after re-establishment or [`Entity::take_head`]. The limit of the buffer
    /// is not checked.
    pub fn push_again(&mut self, sdu: Sdu) {
        self.machine_mut().buffer_mut().push_again(sdu);
    }

    /// Removes the SDU that would be sent next, and returns it with its COUNT. `None` if there is
    /// none.
    pub fn take_head(&mut self, now: Time) -> Option<Sdu> {
        let sdu = self.machine_mut().buffer_mut().pop();
        match self.machine_mut() {
            Machine::NrAm(tx, _) => tx.ensure_answer(now),
            Machine::LteAm(tx, _) => tx.ensure_answer(now),
            Machine::Tm(_) | Machine::NrUm(..) | Machine::LteUm(..) => {}
        }
        sdu
    }

    /// Returns the bytes of the SDUs of which no part was sent, without headers.
    #[inline]
    pub fn queued(&self) -> Bytes {
        Bytes(self.machine.buffer().bytes())
    }

    /// Returns the SDU that is sent next, of which no part was sent. `None` if there is none.
    #[inline]
    pub fn head(&self) -> Option<&Sdu> {
        self.machine.buffer().head()
    }

    /// Returns the header bytes that [`Entity::backlog`] counts for an unsent SDU, with the MAC
    /// subheader.
    pub fn headers(&self) -> u32 {
        let own = match &self.machine {
            Machine::Tm(_) => 0,
            Machine::NrUm(..) => nr::UmTx::COMPLETE_HEADER,
            Machine::NrAm(tx, _) => tx.header,
            Machine::LteUm(tx, _) => tx.assembly.header + 2,
            Machine::LteAm(tx, _) => tx.assembly.header + 2,
        };
        own + self.config.subheader.size(u32::MAX)
    }

    /// Returns the first SDU, in the order of arrival, that is not confirmed (acknowledged mode) or
    /// not completely sent (other modes). `None` if there is none.
    pub fn oldest_unconfirmed(&self) -> Option<&Sdu> {
        let begun = match &self.machine {
            Machine::Tm(_) => None,
            Machine::NrUm(tx, _) => tx.segmenting(),
            Machine::NrAm(tx, _) => tx.oldest(),
            Machine::LteUm(tx, _) => tx.assembly.segmenting(),
            Machine::LteAm(tx, _) => tx.oldest(),
        };
        begun.or_else(|| self.head())
    }

    /// Drops the SDU that would be sent next. Called if its discardTimer expired, or if queue
    /// management decided to drop it.
    ///
    /// Standard: TS 38.322 §5.4.
    pub fn drop_head(&mut self, now: Time) -> Option<Sdu> {
        let sdu = self.machine_mut().buffer_mut().drop_head();
        match self.machine_mut() {
            Machine::NrAm(tx, _) => tx.ensure_answer(now),
            Machine::LteAm(tx, _) => tx.ensure_answer(now),
            Machine::Tm(_) | Machine::NrUm(..) | Machine::LteUm(..) => {}
        }
        sdu
    }

    /// Returns the bytes that wait to be sent.
    #[inline]
    pub fn backlog(&self, now: Time) -> Backlog {
        let Some(mut waiting) = self.waiting.get() else {
            return self.note_waiting(now, self.machine.waiting());
        };
        if now >= waiting.status_from {
            match waiting.status {
                Some(bytes) => waiting.data.status = u64::from(bytes),
                None => return self.note_waiting(now, waiting),
            }
        }
        waiting.data
    }

    /// Returns the time after `now` at which a STATUS PDU is due. `None` if there is no such time.
    #[inline]
    pub fn status_after(&self, now: Time) -> Option<Time> {
        let waiting = self.waiting.get();
        let from = waiting.map_or_else(|| self.machine.waiting().status_from, |it| it.status_from);
        (from > now && from != Time::NEVER).then_some(from)
    }

    /// Computes the backlog, or the missing size of a STATUS PDU, and stores it in the cache.
    fn note_waiting(&self, now: Time, mut waiting: Waiting) -> Backlog {
        let mut backlog = waiting.data;
        if now >= waiting.status_from {
            backlog.status = self.machine.status_bytes();
            waiting.status = Some(backlog.status as u32);
        }
        self.waiting.set(Some(waiting));
        backlog
    }

    /// Fills up to `grant` bytes of a block: first a STATUS PDU, then retransmissions, then new
    /// SDUs. Returns the bytes used, with MAC subheaders.
    #[inline]
    pub fn pull(&mut self, now: Time, grant: u32, block: &mut TransportBlock) -> u32 {
        // Drop tail never drops here, so the list stays empty and does not allocate.
        self.pull_managed(now, grant, block, &mut DropTail, &mut Vec::new())
    }

    /// Fills a block as [`Entity::pull`] does, with queue management. SDUs that it drops go to
    /// `dropped`, which must be empty.
    #[inline]
    pub fn pull_managed(
        &mut self,
        now: Time,
        grant: u32,
        block: &mut TransportBlock,
        aqm: &mut impl QueueManagement,
        dropped: &mut Vec<Sdu>,
    ) -> u32 {
        let before = block.bytes;
        let mut pull = Pull {
            now,
            limit: before + grant,
            block,
            aqm,
            dropped,
        };
        match self.machine_mut() {
            Machine::Tm(tm) => tm.pull(&mut pull),
            Machine::NrUm(tx, _) => tx.pull(&mut pull),
            Machine::NrAm(tx, rx) => {
                rx.reception.pull(now, grant, pull.block);
                tx.pull(&mut pull);
            }
            Machine::LteUm(tx, _) => tx.pull(&mut pull),
            Machine::LteAm(tx, rx) => {
                rx.reception.pull(now, grant, pull.block);
                tx.pull(&mut pull);
            }
        }
        debug_assert!(
            block.bytes - before <= grant,
            "{} bytes are taken of a grant of {grant}",
            block.bytes - before
        );
        block.bytes - before
    }

    /// Processes a received block whose PDUs are all of this bearer. Complete SDUs go to
    /// `delivered`.
    #[inline]
    pub fn on_block(&mut self, now: Time, block: &TransportBlock, delivered: &mut Vec<Sdu>) {
        self.on_pdus(now, block, 0..block.pdus.len(), delivered);
    }

    /// Processes a received block whose PDUs with the indexes `pdus` are of this bearer.
    pub fn on_pdus(
        &mut self,
        now: Time,
        block: &TransportBlock,
        pdus: Range<usize>,
        delivered: &mut Vec<Sdu>,
    ) {
        let pdus = &block.pdus[pdus];
        match self.machine_mut() {
            Machine::Tm(_) => {
                for pdu in pdus {
                    delivered.extend(block.parts_of(pdu).iter().map(|part| part.sdu));
                }
            }
            Machine::NrUm(_, rx) => {
                for pdu in pdus {
                    rx.on_pdu(now, pdu, &block.parts_of(pdu)[0], delivered);
                }
            }
            Machine::NrAm(tx, rx) => {
                for pdu in pdus {
                    if pdu.kind == PduKind::Status {
                        tx.on_status(now, pdu, block.nacks_of(pdu));
                    } else {
                        rx.on_pdu(now, pdu, &block.parts_of(pdu)[0], delivered);
                    }
                }
            }
            Machine::LteUm(_, rx) => {
                for pdu in pdus {
                    rx.on_pdu(now, pdu, block.parts_of(pdu), delivered);
                }
            }
            Machine::LteAm(tx, rx) => {
                for pdu in pdus {
                    if pdu.kind == PduKind::Status {
                        tx.on_status(now, pdu, block.nacks_of(pdu));
                    } else {
                        rx.on_pdu(now, pdu, block.parts_of(pdu), delivered);
                    }
                }
            }
        }
    }

    /// Handles expired timers. The backlog may grow, so the caller must read it again. SDUs that an
    /// LTE entity held back go to `delivered`.
    pub fn on_wake(&mut self, now: Time, delivered: &mut Vec<Sdu>) {
        match self.machine_mut() {
            Machine::Tm(_) => {}
            Machine::NrUm(_, rx) => rx.on_wake(now),
            Machine::NrAm(tx, rx) => {
                tx.on_wake(now);
                rx.reception.on_wake(now);
            }
            Machine::LteUm(_, rx) => rx.on_wake(now, delivered),
            Machine::LteAm(tx, rx) => {
                tx.on_wake(now);
                rx.reception.on_wake(now);
            }
        }
        debug_assert!(
            self.wake_at() > now,
            "an entity that was woken at {now} left something undone"
        );
    }

    /// Returns the expiry of the next timer.
    #[inline]
    pub fn wake_at(&self) -> Time {
        match &self.machine {
            Machine::Tm(_) => Time::NEVER,
            Machine::NrUm(_, rx) => rx.wake_at(),
            Machine::NrAm(tx, rx) => tx.wake_at().min(rx.reception.wake_at()),
            Machine::LteUm(_, rx) => rx.wake_at(),
            Machine::LteAm(tx, rx) => tx.wake_at().min(rx.reception.wake_at()),
        }
    }

    /// Returns true if an SDU (NR) or PDU (LTE) reached maxRetxThreshold, which is a radio link
    /// failure.
    #[inline]
    pub fn has_failed(&self) -> bool {
        match &self.machine {
            Machine::Tm(_) | Machine::NrUm(..) | Machine::LteUm(..) => false,
            Machine::NrAm(tx, _) => tx.has_failed(),
            Machine::LteAm(tx, _) => tx.has_failed(),
        }
    }

    /// Moves the complete SDUs that the receiving side of LTE holds after gaps to `held`. Must be
    /// called before [`Entity::reestablish`]. NR holds no SDUs.
    ///
    /// Standard: TS 36.322 §5.4.
    pub fn hand_up(&mut self, held: &mut Vec<Sdu>) {
        match self.machine_mut() {
            Machine::LteAm(_, rx) => rx.hand_up(held),
            Machine::LteUm(_, rx) => rx.hand_up(held),
            Machine::Tm(_) | Machine::NrUm(..) | Machine::NrAm(..) => {}
        }
    }

    /// Freezes COUNT values until re-establishment. A dropped SDU then no longer shifts later
    /// COUNTs, because the peer already stores these SDUs under their COUNTs. Returns the number of
    /// COUNTs by which unsent SDUs were shifted before.
    pub fn settle_counts(&mut self) -> u32 {
        self.machine_mut().buffer_mut().settle_counts()
    }

    /// Copies every unacknowledged or unsent SDU to `unconfirmed` in the order of COUNT.
    pub fn list_unconfirmed(&self, unconfirmed: &mut Vec<Sdu>) {
        self.clone().reestablish(unconfirmed);
    }

    /// Re-establishes the entity: drops partly received SDUs, and resets counters and timers. All
    /// unacknowledged SDUs, then all unsent ones, go to `unconfirmed` in the order of COUNT. Some
    /// of them may have arrived. Returns the number of COUNTs by which unsent SDUs were moved down
    /// to close gaps.
    ///
    /// Standard: TS 38.322 §5.1.2.
    pub fn reestablish(&mut self, unconfirmed: &mut Vec<Sdu>) -> u32 {
        let closed = match self.machine_mut() {
            Machine::Tm(tm) => tm.buffer.flush(unconfirmed),
            Machine::NrUm(tx, _) => tx.flush(unconfirmed),
            Machine::NrAm(tx, _) => tx.flush(unconfirmed),
            Machine::LteUm(tx, _) => tx.assembly.flush(unconfirmed),
            Machine::LteAm(tx, _) => tx.flush(unconfirmed),
        };
        let anew = Machine::new(&self.config);
        *self.machine_mut() = anew;
        closed
    }
}
