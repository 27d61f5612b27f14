//! Sending of data: each subflow is offered data, and the connection records the data that the
//! subflow sent.

use super::allocator::{Decision, Run, Source};
use super::path::{Mapping, Mappings, PathsView, rto_of};
use super::queues::Filled;
use super::receive;
use super::{MultipathConnection, PathOutbox};
use crate::multipath::{MAX_PATHS, PathId};
use crate::tcp::sender::subflow;
use crate::tcp::{Outbox, Outgoing, TcpEndpoint};
use arrayvec::ArrayVec;
use fadeout_core::{Flags, MptcpOption, Probe, Segment, Time};

impl MultipathConnection {
    /// Runs one step of a subflow. The subflow is offered the data that the scheduler would assign
    /// to it. Unsent data is withdrawn after the step.
    pub(super) fn run_subflow<P: Probe>(
        &mut self,
        now: Time,
        index: usize,
        out: &mut PathOutbox,
        probe: &mut P,
        act: impl FnOnce(&mut TcpEndpoint, &mut Outbox, &mut P),
    ) {
        if self.is_coupled {
            self.share_state(index);
        }
        let run = match self.waiting(index) {
            Some(run) => run,
            None => match self.next_run(now, Some(index), 0) {
                Some((path, run)) if path == index => run,
                _ => Run::NOTHING,
            },
        };
        self.act(now, index, run, out, probe, act);
    }

    /// Sends data on every path as far as the windows and the scheduler allow.
    pub(super) fn send(&mut self, now: Time, out: &mut PathOutbox, probe: &mut impl Probe) {
        self.reserve_long_acks();
        if self.socket.binds_ahead() {
            self.send_waiting(now, out, probe);
        } else {
            let mut refused = 0_u8;
            while let Some((index, run)) = self.next_run(now, None, refused) {
                if self.push(now, index, run, out, probe) == 0 {
                    refused |= 1 << index;
                }
            }
        }
        if self.has_fallen_back {
            self.send_fin(now, out, probe);
        } else {
            self.send_data_fin(now, out);
        }
        self.arm_data_timer(now);
    }

    /// Fills the send queues, and sends queued data as far as the subflows' windows allow.
    fn send_waiting(&mut self, now: Time, out: &mut PathOutbox, probe: &mut impl Probe) {
        if self.manager.is_closing() {
            return;
        }
        let mut last = None;
        loop {
            let view = PathsView {
                paths: &self.paths,
                manager: &self.manager,
            };
            // In Linux a path sends its bound data before another path is chosen
            // (`mptcp_push_release`).
            match self.socket.fill(now, &self.outbound, &view) {
                Filled::Bound(index) => {
                    if let Some(before) = last.replace(index)
                        && before != index
                    {
                        push_fed(self, now, before, out, probe);
                    }
                }
                Filled::Call => {
                    self.push_waiting(now, out, probe);
                    last = None;
                }
                Filled::Whole => {
                    last = None;
                    if !self.push_waiting(now, out, probe) {
                        return;
                    }
                }
            }
        }
    }

    /// Sends queued data as far as the subflows' windows allow. Returns true if a send buffer has
    /// grown, so that the writer may continue.
    fn push_waiting(&mut self, now: Time, out: &mut PathOutbox, probe: &mut impl Probe) -> bool {
        for index in 0..self.paths.len() {
            push_fed(self, now, index, out, probe);
        }
        std::mem::take(&mut self.has_grown)
    }

    /// Handles free space on path `index` after an acknowledgment, when the path has sent its
    /// segments (Linux `tcp_data_snd_check`).
    fn find_room(&mut self, now: Time, index: usize) {
        if self.socket.makes_wait() {
            let has_room = self.paths[index].tcp.sender().has_room();
            on_space(self, index, has_room);
            if has_room {
                subflow::stamp_usage(self.paths[index].tcp.sender_mut(), now);
            }
        }
    }

    /// Returns the data that waits on path `index`. `None` if data does not wait on paths.
    fn waiting(&self, index: usize) -> Option<Run> {
        self.socket.waiting(index, self.manager.is_usable(index))
    }

    /// Returns the next data to send and its path. Halves the window of a path that the scheduler
    /// penalises. `None` if nothing can be sent.
    fn next_run(
        &mut self,
        now: Time,
        expecting: Option<usize>,
        refused: u8,
    ) -> Option<(usize, Run)> {
        if self.manager.is_closing() {
            return None;
        }
        let view = PathsView {
            paths: &self.paths,
            manager: &self.manager,
        };
        let Decision { run, penalised } =
            (self.socket).next_run(now, &self.outbound, &view, expecting, refused);
        if let Some(slow) = penalised {
            let slow = &mut self.paths[slow];
            slow.tcp.sender_mut().penalise();
            slow.statistics.penalties += 1;
        }
        run
    }

    /// Lets a subflow send from `run`. Returns the number of bytes that were sent.
    fn push(
        &mut self,
        now: Time,
        index: usize,
        run: Run,
        out: &mut PathOutbox,
        probe: &mut impl Probe,
    ) -> u64 {
        self.act(now, index, run, out, probe, |tcp, scratch, probe| {
            tcp.push(now, scratch, probe);
        })
    }

    /// Lets a subflow act with an offer of `run`. Returns the number of bytes that were sent.
    fn act<P: Probe>(
        &mut self,
        now: Time,
        index: usize,
        run: Run,
        out: &mut PathOutbox,
        probe: &mut P,
        act: impl FnOnce(&mut TcpEndpoint, &mut Outbox, &mut P),
    ) -> u64 {
        let mut scratch = std::mem::take(&mut self.scratch);
        let unsent = self.outbound.unsent();
        let holds_back = self.socket.holds_back(index, &run, unsent);
        let path = &mut self.paths[index];
        if let Some(offer) = self.socket.take_offer(index) {
            let sender = path.tcp.sender_mut();
            if offer.begins {
                subflow::begin(sender, now);
            }
            subflow::record_offer(sender, offer.begins, offer.writer_waits);
            subflow::raise_window(sender, offer.window);
        }
        path.tcp.sender_mut().offer(run.bytes, holds_back);
        let before = path.view().snd_nxt;
        act(&mut path.tcp, &mut scratch, probe);
        path.tcp.sender_mut().offer(0, holds_back);

        let sent = map_sent(&mut path.mappings, &scratch.segments, before, run);
        self.on_run_sent(index, run, sent);
        self.take_arrived(now, index, scratch.delivered_bytes, out);
        if receive::has_read_first(self, index) {
            receive::read(self, now, index, out);
        }
        self.leave(index, &mut scratch.segments, out);
        receive::read(self, now, index, out);
        let path = &mut self.paths[index];
        let snd_una = path.view().snd_una;
        path.mappings.forget_acknowledged(snd_una);
        if path.tcp.sender_mut().take_had_room() {
            self.has_grown |= on_space(self, index, true);
        }
        if !self.has_fallen_back {
            let view = PathsView {
                paths: &self.paths,
                manager: &self.manager,
            };
            let una = self.outbound.una();
            self.socket.follow_timeouts(index, una, &view);
        }
        for event in scratch.events.drain(..) {
            self.on_subflow_event(now, index, event, out);
        }
        scratch.clear();
        self.scratch = scratch;
        sent
    }

    fn on_run_sent(&mut self, index: usize, run: Run, sent: u64) {
        let statistics = &mut self.paths[index].statistics;
        match run.source {
            Source::Nothing => return,
            Source::New | Source::Waiting { is_again: false } => statistics.sent_bytes += sent,
            Source::Waiting { is_again: true }
            | Source::Stranded(_)
            | Source::Copy
            | Source::Head => statistics.reinjected_bytes += sent,
        }
        if matches!(run.source, Source::New | Source::Waiting { .. }) {
            self.outbound.on_sent(run.start + sent);
        }
        let nxt = self.outbound.nxt();
        self.socket.on_sent(index, run, sent, nxt);
    }

    /// Sends an acknowledgment on the path that is most likely to deliver it.
    pub(super) fn acknowledge_on_best(&mut self, now: Time, out: &mut PathOutbox) {
        let usable = |path: &&super::Path| self.manager.is_usable(path.id.index());
        let best = self.paths.iter().filter(usable).min_by_key(|path| {
            let view = path.view();
            (view.timeouts_in_a_row, view.srtt)
        });
        if let Some(best) = best {
            self.acknowledge(now, best.id.index(), out);
        }
    }

    pub(super) fn acknowledge(&mut self, now: Time, index: usize, out: &mut PathOutbox) {
        let mut scratch = std::mem::take(&mut self.scratch);
        self.paths[index].tcp.acknowledge(now, &mut scratch);
        self.leave(index, &mut scratch.segments, out);
        self.scratch = scratch;
    }

    /// Writes the connection's fields into the segments of a subflow, and sends them on path
    /// `index`. A segment is copied only once, because the copies are a notable part of the cost.
    #[inline]
    fn leave(&mut self, index: usize, segments: &mut Vec<Outgoing>, out: &mut PathOutbox) {
        for outgoing in &mut *segments {
            self.stamp(index, &mut outgoing.segment);
        }
        let path = PathId(index as u8);
        out.segments.extend(segments.iter().map(|it| (path, *it)));
        segments.clear();
    }

    fn arm_data_timer(&mut self, now: Time) {
        if self.has_fallen_back {
            return; // The only subflow has a timer of its own.
        }
        let (paths, manager) = (&self.paths, &self.manager);
        let socket = &self.socket;
        self.outbound.arm(|| {
            let longest = manager.longest_rto(rto_of(paths))?;
            Some(socket.timer_at(now, longest))
        });
    }

    /// Passes the state of all paths to the congestion control of path `index`.
    fn share_state(&mut self, index: usize) {
        let mut states = ArrayVec::<_, MAX_PATHS>::new();
        let mut on = 0;
        for (number, path) in self.paths.iter().enumerate() {
            if !self.manager.is_usable(number) && number != index {
                continue;
            }
            if number == index {
                on = states.len();
            }
            let view = path.view();
            states.push(path.tcp.sender().coupled_state(view.srtt));
        }
        self.paths[index].tcp.sender_mut().see_paths(on, &states);
    }
}

/// Records the mappings of new data in `segments` to the data of `run`. New data begins at the
/// subflow sequence number `first`. Returns the number of bytes.
fn map_sent(mappings: &mut Mappings, segments: &[Outgoing], first: u64, run: Run) -> u64 {
    let mut sent = 0;
    // End of the latest mapping, as an offset in bytes from the start of `run`.
    let mut mapped = 0;
    for &Outgoing { segment, .. } in segments {
        if segment.len == 0 || segment.seq < first {
            continue;
        }
        let len = u64::from(segment.len);
        if sent + len > mapped {
            mapped = sent + Mapping::bytes_mapped(run.bytes - sent, len);
        }
        mappings.push(Mapping {
            seq: segment.seq,
            data_seq: run.start + sent,
            len,
            remaining: mapped - sent,
        });
        sent += len;
    }
    sent
}

/// Sends the waiting data of path `index`, if data was bound to the path since it last tried to
/// send.
fn push_fed(
    connection: &mut MultipathConnection,
    now: Time,
    index: usize,
    out: &mut PathOutbox,
    probe: &mut impl Probe,
) {
    if connection.socket.take_fed(index) {
        push_path(connection, now, index, out, probe);
    }
}

/// Handles free space on path `index`. Returns true if the connection's buffer has grown.
fn on_space(connection: &mut MultipathConnection, index: usize, has_room: bool) -> bool {
    let view = PathsView {
        paths: &connection.paths,
        manager: &connection.manager,
    };
    connection.socket.on_space(index, has_room, &view)
}

/// Processes the acknowledgment of `segment` on path `index`. Written data is bound as far as the
/// buffers allow, then the path sends its queued data. The writer continues after that. The third
/// packet of MP_JOIN acknowledges no data, so it only lets the writer continue (Linux
/// `subflow_state_change`).
pub(super) fn bind_and_push(
    connection: &mut MultipathConnection,
    now: Time,
    index: usize,
    segment: &Segment,
    out: &mut PathOutbox,
    probe: &mut impl Probe,
) {
    let view = PathsView {
        paths: &connection.paths,
        manager: &connection.manager,
    };
    connection.socket.on_heard(now, index, &view);
    let completes_join =
        matches!(segment.mptcp, MptcpOption::Join { .. }) && !segment.flags.has(Flags::SYN);
    if completes_join {
        return;
    }
    if !connection.manager.is_closing() {
        (connection.socket).bind(now, &connection.outbound, &view);
    }
    push_path(connection, now, index, out, probe);
    // The writer, which waits for free space, runs only after the path has sent.
    connection.find_room(now, index);
    connection.socket.take_fed(index);
}

/// Sends the data queued behind the sk_buff that an expired timer of path `index` has sent.
pub(super) fn push_behind(
    connection: &mut MultipathConnection,
    now: Time,
    index: usize,
    out: &mut PathOutbox,
    probe: &mut impl Probe,
) {
    push_path(connection, now, index, out, probe);
}

/// Sends queued data on path `index`, one sk_buff at a time, as far as its window allows.
fn push_path(
    connection: &mut MultipathConnection,
    now: Time,
    index: usize,
    out: &mut PathOutbox,
    probe: &mut impl Probe,
) {
    while let Some(run) = connection.waiting(index) {
        // A path that only receives has nothing to send and waits for no acknowledgment.
        if run.bytes == 0 && connection.paths[index].tcp.sender().is_idle() {
            return;
        }
        let sent = connection.push(now, index, run, out, probe);
        let rest = connection.waiting(index);
        if sent < run.bytes || rest.is_none_or(|rest| rest.bytes == 0) {
            return;
        }
    }
}
