//! Socket of a connection: the data that it accepts, and the time at which data is bound to a path.

use super::allocator::{Allocator, Decision, Run, Source};
use super::outbound::Outbound;
use super::path::{Mappings, Paths};
use super::queues::{Filled, SendQueues};
use crate::multipath::{MultipathConfig, PathScheduler};
use crate::tcp::SendBufferConfig;
use fadeout_core::{Span, Time};

/// Socket of a connection. The connection asks it, and does not know its kind.
#[derive(Debug)]
pub(super) enum ConnectionSocket {
    /// Socket that accepts all data at once. Data is bound to a path when it leaves.
    Unbounded(Allocator),
    /// Linux's socket. Data is bound when it is written, and waits for the window of its path.
    Linux(SendQueues),
}

/// Data that waits on a path, as the connection offers it to the subflow.
#[derive(Debug, Clone, Copy)]
pub(super) struct Offer {
    /// True if the data begins a mapping.
    pub(super) begins: bool,
    /// True if the writer waits for free space.
    pub(super) writer_waits: bool,
    /// Connection-level window for the data bound since the last offer.
    pub(super) window: u64,
}

impl ConnectionSocket {
    /// Returns the socket of a connection with `paths` paths. A connection with a single path is
    /// TCP, so data does not wait in a queue ahead of its window.
    pub(super) fn new(config: MultipathConfig, paths: usize) -> ConnectionSocket {
        if config.path_scheduler.is_upstream() && paths > 1 {
            let of_subflow = SendBufferConfig {
                maximum: config.maximum_send_buffer.0,
                ..config.tcp.buffers.send.buffer().unwrap_or_default()
            };
            return ConnectionSocket::Linux(SendQueues::new(paths, of_subflow, &config.tcp));
        }
        ConnectionSocket::Unbounded(Allocator::new(
            config.path_scheduler,
            paths,
            config.opportunistic_retransmission,
            config.penalisation,
        ))
    }

    /// Asserts the relations that hold after each event.
    #[inline]
    pub(super) fn assert_invariants(&self) {
        if let ConnectionSocket::Linux(queues) = self {
            queues.assert_invariants();
        }
    }

    /// Returns true if data is bound to paths before it leaves.
    #[inline]
    pub(super) fn binds_ahead(&self) -> bool {
        matches!(self, ConnectionSocket::Linux(_))
    }

    /// Returns true if the DATA_ACK of a segment is processed after the subflow has processed the
    /// segment (Linux `ack_update_msk`).
    #[inline]
    pub(super) fn reads_data_ack_last(&self) -> bool {
        matches!(self, ConnectionSocket::Linux(_))
    }

    /// Returns true if a DATA_FIN and its acknowledgment are sent on all paths at once (Linux
    /// `mptcp_check_send_data_fin`, `mptcp_check_data_fin`).
    pub(super) fn closes_on_all_paths(&self) -> bool {
        matches!(self, ConnectionSocket::Linux(_))
    }

    /// Returns true if the last write is complete. If data is bound to paths at departure, the last
    /// write is complete once all data was sent.
    pub(super) fn has_written(&self, data: &Outbound) -> bool {
        match self {
            ConnectionSocket::Unbounded(_) => data.nxt() == data.end(),
            ConnectionSocket::Linux(queues) => queues.has_taken(data.end()),
        }
    }

    /// Returns true if all data may have been bound to paths, so that the DATA_FIN may follow.
    pub(super) fn has_bound(&self, data: &Outbound) -> bool {
        match self {
            ConnectionSocket::Unbounded(_) => true,
            ConnectionSocket::Linux(queues) => queues.has_bound(data.end()),
        }
    }

    /// Returns true if the writer waits for free space.
    #[inline]
    pub(super) fn makes_wait(&self) -> bool {
        match self {
            ConnectionSocket::Unbounded(_) => false,
            ConnectionSocket::Linux(queues) => queues.is_full(),
        }
    }

    /// Returns the data that waits on path `index`. `None` if data does not wait on paths.
    #[inline]
    pub(super) fn waiting(&self, index: usize, is_usable: bool) -> Option<Run> {
        let ConnectionSocket::Linux(queues) = self else {
            return None;
        };
        let first = queues.first(index).filter(|_| is_usable);
        Some(first.map_or(Run::NOTHING, |data| Run {
            start: data.start,
            bytes: data.end - data.start,
            source: Source::Waiting {
                is_again: data.is_again,
            },
        }))
    }

    /// Returns the next data to send and its path, if data is bound at departure. See
    /// [`Allocator::next_run`].
    pub(super) fn next_run(
        &mut self,
        now: Time,
        data: &Outbound,
        paths: &impl Paths,
        expecting: Option<usize>,
        refused: u8,
    ) -> Decision {
        match self {
            ConnectionSocket::Unbounded(allocator) => {
                allocator.next_run(now, data, paths, expecting, refused)
            }
            ConnectionSocket::Linux(_) => Decision::default(),
        }
    }

    /// Accepts written data and binds a burst of it. See [`SendQueues::fill`].
    pub(super) fn fill(&mut self, now: Time, data: &Outbound, paths: &impl Paths) -> Filled {
        match self {
            ConnectionSocket::Unbounded(_) => Filled::Whole,
            ConnectionSocket::Linux(queues) => queues.fill(now, data, paths),
        }
    }

    /// Binds accepted data to paths, up to the peer's window.
    pub(super) fn bind(&mut self, now: Time, data: &Outbound, paths: &impl Paths) {
        if let ConnectionSocket::Linux(queues) = self {
            queues.bind(now, data, paths);
        }
    }

    /// Records that a segment arrived on path `index`.
    pub(super) fn on_heard(&mut self, now: Time, index: usize, paths: &impl Paths) {
        if let ConnectionSocket::Linux(queues) = self {
            queues.on_heard(now, index, paths);
        }
    }

    /// Handles an acknowledgment on path `index`. See [`SendQueues::on_space`].
    pub(super) fn on_space(&mut self, index: usize, has_room: bool, paths: &impl Paths) -> bool {
        match self {
            ConnectionSocket::Unbounded(_) => false,
            ConnectionSocket::Linux(queues) => queues.on_space(index, has_room, paths),
        }
    }

    /// Returns true if more data was bound to path `index` since the last call.
    pub(super) fn take_fed(&mut self, index: usize) -> bool {
        match self {
            ConnectionSocket::Unbounded(_) => false,
            ConnectionSocket::Linux(queues) => queues.take_fed(index),
        }
    }

    /// Returns the properties of the data that waits on path `index`. `None` if data does not wait
    /// on paths.
    #[inline]
    pub(super) fn take_offer(&mut self, index: usize) -> Option<Offer> {
        let ConnectionSocket::Linux(queues) = self else {
            return None;
        };
        Some(Offer {
            begins: queues.first(index).is_some_and(|data| !data.is_mapped),
            writer_waits: queues.is_full(),
            window: queues.take_window(index),
        })
    }

    /// Returns true if the connection has more data for path `index` than it offers in `run`.
    /// `unsent` bytes were not sent on any path.
    #[inline]
    pub(super) fn holds_back(&self, index: usize, run: &Run, unsent: u64) -> bool {
        match (self, run.source) {
            (ConnectionSocket::Linux(queues), Source::Waiting { .. }) => {
                queues.bytes(index) > run.bytes
            }
            (_, Source::New) => unsent > run.bytes,
            (ConnectionSocket::Unbounded(_), _) => unsent > 0,
            (ConnectionSocket::Linux(_), _) => false,
        }
    }

    /// Records that path `index` sent `sent` bytes of `run`. `nxt` is the end of the data that was
    /// sent on any path.
    #[inline]
    pub(super) fn on_sent(&mut self, index: usize, run: Run, sent: u64, nxt: u64) {
        match self {
            ConnectionSocket::Unbounded(allocator) => allocator.on_sent(index, run, sent, nxt),
            ConnectionSocket::Linux(queues) => {
                if matches!(run.source, Source::Waiting { .. }) {
                    queues.leave(index, sent);
                }
            }
        }
    }

    /// Gives the data of a path whose timer expired to other paths.
    #[inline]
    pub(super) fn follow_timeouts(&mut self, index: usize, una: u64, paths: &impl Paths) {
        if let ConnectionSocket::Unbounded(allocator) = self {
            allocator.follow_timeouts(index, una, paths);
        }
    }

    /// Gives the data of a lost path to other paths. `mappings` are the mappings of the path.
    pub(super) fn drop_path(&mut self, index: usize, una: u64, mappings: &Mappings) {
        match self {
            ConnectionSocket::Unbounded(allocator) => allocator.strand(index, una, mappings),
            ConnectionSocket::Linux(queues) => queues.drop_path(index, una),
        }
    }

    /// Handles an expiry of the connection's timer without progress. Returns the time of the next
    /// expiry. `None` if the socket does not set the timer.
    pub(super) fn on_stalled(
        &mut self,
        now: Time,
        data: &Outbound,
        paths: &impl Paths,
    ) -> Option<Time> {
        match self {
            ConnectionSocket::Unbounded(allocator) => {
                allocator.on_stalled(data.una(), paths);
                None
            }
            ConnectionSocket::Linux(queues) => {
                let again = queues.on_timer(now, data, paths)?;
                Some(queues.fires_at(now, again))
            }
        }
    }

    /// Returns the expiry time of the connection's timer if it is set at `now`. `longest` is the
    /// longest retransmission timeout of the paths.
    pub(super) fn timer_at(&self, now: Time, longest: Span) -> Time {
        match self {
            ConnectionSocket::Unbounded(_) => now.saturating_add(longest),
            ConnectionSocket::Linux(queues) => queues.fires_at(now, queues.timer()),
        }
    }
}
