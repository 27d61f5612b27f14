//! Which data goes where.

use super::path::{Mapping, Stage};
use super::{MultipathConnection, PathOutbox};
use crate::congestion::RecoveryState;
use crate::multipath::scheduler::fastest;
use crate::multipath::{Choice, Demand, MAX_PATHS, PathId, PathScheduler, PathView};
use crate::tcp::{Outbox, Outgoing, TcpEndpoint};
use arrayvec::ArrayVec;
use fadeout_core::{Dss, Probe, Segment, Time};

/// Contiguous data that a path is offered.
#[derive(Debug, Clone, Copy)]
struct Run {
    start: u64,
    bytes: u64,
    source: Source,
}

/// Where a run comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    /// Nothing to send.
    Nothing,
    /// Not sent before.
    New,
    /// Waited on the path.
    Waiting {
        /// It was bound to a path before.
        is_again: bool,
    },
    /// Stranded on another path: this number of the reinjection queue.
    Stranded(usize),
    /// A copy, by a redundant scheduler.
    Copy,
    /// The head of the line, opportunistically.
    Head,
}

const NOTHING: Run = Run {
    start: 0,
    bytes: 0,
    source: Source::Nothing,
};

impl MultipathConnection {
    /// One step of a subflow: it is offered the data that the scheduler would give it, acts, and
    /// gives back what it could not send.
    pub(super) fn step<P: Probe>(
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
        let run = if self.queues.is_some() {
            self.waiting_run(index)
        } else {
            match self.next_run(now, Some(index), 0) {
                Some((path, run)) if path == index => run,
                _ => NOTHING,
            }
        };
        self.act(now, index, run, out, probe, act);
    }

    /// Sends on every path as long as windows and scheduler allow.
    pub(super) fn send(&mut self, now: Time, out: &mut PathOutbox, probe: &mut impl Probe) {
        if self.queues.is_some() {
            self.send_waiting(now, out, probe);
        } else {
            let mut refused = 0_u8;
            while let Some((index, run)) = self.next_run(now, None, refused) {
                if self.push(now, index, run, out, probe) == 0 {
                    refused |= 1 << index;
                }
            }
        }
        self.send_data_fin(now, out);
        self.arm_data_timer(now);
    }

    /// Fills the send queues, and sends what waits as far as the subflows' windows allow.
    fn send_waiting(&mut self, now: Time, out: &mut PathOutbox, probe: &mut impl Probe) {
        if self.is_closing {
            return;
        }
        self.fill_queues(now);
        for index in 0..self.paths.len() {
            loop {
                let path = &self.paths[index];
                let has_room = path.view().in_flight < path.tcp.window().cwnd as u32;
                let run = self.waiting_run(index);
                if !has_room || run.bytes == 0 || self.push(now, index, run, out, probe) == 0 {
                    break;
                }
            }
        }
    }

    /// What waits first on path `index`.
    fn waiting_run(&self, index: usize) -> Run {
        let path = &self.paths[index];
        match path.waiting.front() {
            Some(data) if path.stage == Stage::Usable => Run {
                start: data.start,
                bytes: data.end - data.start,
                source: Source::Waiting {
                    is_again: data.is_again,
                },
            },
            _ => NOTHING,
        }
    }

    /// Lets a subflow send from `run`; returns how much of it left.
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

    /// Lets a subflow act with `run` on offer; returns how much of it left.
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
        let unsent = self.data_end - self.data_nxt;
        let holds_back = match run.source {
            Source::Waiting { .. } => self.paths[index].waiting_bytes > run.bytes,
            Source::New => unsent > run.bytes,
            _ => self.queues.is_none() && unsent > 0,
        };
        let tcp = &mut self.paths[index].tcp;
        tcp.sender_mut().offer(run.bytes, holds_back);
        let before = tcp.subflow_view().snd_nxt;
        act(tcp, &mut scratch, probe);
        tcp.sender_mut().offer(0, holds_back);

        let mut sent = 0;
        for &Outgoing { segment, .. } in &scratch.segments {
            let is_new = segment.len > 0 && segment.seq >= before;
            if is_new {
                self.paths[index].sent.push_back(Mapping {
                    seq: segment.seq,
                    data_seq: run.start + sent,
                    len: u64::from(segment.len),
                });
                sent += u64::from(segment.len);
            }
        }
        self.on_run_sent(index, run, sent);
        self.take_arrived(now, index, scratch.delivered_bytes, out);
        for mut outgoing in scratch.segments.drain(..) {
            self.stamp(index, &mut outgoing.segment);
            out.segments.push((PathId(index as u8), outgoing));
        }
        let view = self.paths[index].view();
        self.paths[index].forget_acknowledged(view.snd_una);
        self.follow_timeouts(index);
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
            Source::New => {
                statistics.sent_bytes += sent;
                self.data_nxt += sent;
                self.paths[index].cursor = self.data_nxt;
                return;
            }
            Source::Waiting { is_again } => {
                if is_again {
                    statistics.reinjected_bytes += sent;
                } else {
                    statistics.sent_bytes += sent;
                }
                self.data_nxt = self.data_nxt.max(run.start + sent);
                self.paths[index].leave(sent);
                return;
            }
            Source::Stranded(range) if sent > 0 => self.reinjection.on_sent(range, sent),
            Source::Stranded(_) => {}
            Source::Copy => self.paths[index].cursor = run.start + sent,
            Source::Head => self.paths[index].opportunistic_up_to = run.start + sent,
        }
        self.paths[index].statistics.reinjected_bytes += sent;
    }

    /// The next run and the path to carry it. `expecting` is a path that is about to have room;
    /// `refused` a mask of those that would not send.
    fn next_run(
        &mut self,
        now: Time,
        expecting: Option<usize>,
        refused: u8,
    ) -> Option<(usize, Run)> {
        let unsent = self.data_end - self.data_nxt;
        if (unsent == 0 && self.reinjection.is_empty() && !self.config.scheduler.is_redundant())
            || self.is_closing
        {
            return None;
        }
        let views = self.views(expecting, refused);
        let preferred = expecting
            .and_then(|index| views.iter().find(|view| view.id.index() == index))
            .or(fastest(&views).1)
            .filter(|view| view.has_room)?
            .id
            .index();
        if !self.reinjection.is_empty() {
            let with_room = views.iter().filter(|view| view.has_room);
            let others = with_room.map(|view| view.id.index());
            let mut candidates: ArrayVec<usize, { MAX_PATHS + 1 }> = ArrayVec::new();
            candidates.push(preferred);
            candidates.extend(others);
            for index in candidates {
                let path = PathId(index as u8);
                if let Some((number, range)) = self.reinjection.next_for(path, self.data_una) {
                    let run = Run {
                        start: range.start,
                        bytes: range.end - range.start,
                        source: Source::Stranded(number),
                    };
                    return Some((index, run));
                }
            }
        }
        if self.config.scheduler.is_redundant() {
            let with_room = views.iter().filter(|view| view.has_room);
            for index in std::iter::once(preferred).chain(with_room.map(|view| view.id.index())) {
                let start = self.paths[index].cursor.max(self.data_una);
                if start < self.data_nxt {
                    let run = Run {
                        start,
                        bytes: self.data_nxt - start,
                        source: Source::Copy,
                    };
                    return Some((index, run));
                }
            }
        }
        if unsent == 0 {
            return None;
        }
        let mss = u64::from(self.paths[preferred].tcp.window().mss);
        let mut bytes = unsent;
        // A single path's own window is the connection's.
        if self.paths.len() > 1 {
            let room = self.window_end.saturating_sub(self.data_nxt);
            if room < unsent.min(mss) {
                return self.when_blocked(now, preferred, &views);
            }
            if room < unsent {
                bytes = room - room % mss;
            }
        }
        let demand = Demand {
            now,
            unsent,
            window: self.window_end.saturating_sub(self.data_una),
        };
        let (index, most) = match self.config.scheduler.choose(&demand, &views) {
            Choice::Path { path, bytes } => (path.index(), bytes),
            Choice::All => (preferred, u64::MAX),
            Choice::Wait => return None,
        };
        let run = Run {
            start: self.data_nxt,
            bytes: bytes.min(most),
            source: Source::New,
        };
        Some((index, run))
    }

    /// The peer's window is full. The head of the line may go out again on a path that is much
    /// faster than the one that holds it, whose window is halved.
    fn when_blocked(
        &mut self,
        now: Time,
        index: usize,
        views: &[PathView],
    ) -> Option<(usize, Run)> {
        self.config.scheduler.on_blocked();
        if self.data_una == self.data_nxt {
            // Nothing is outstanding: the subflow probes the closed window.
            let run = Run {
                start: self.data_nxt,
                bytes: u64::from(self.paths[index].tcp.window().mss)
                    .min(self.data_end - self.data_nxt),
                source: Source::New,
            };
            let view = self.paths[index].view();
            return (view.in_flight == 0).then_some((index, run));
        }
        if !self.config.opportunistic_retransmission {
            return None;
        }
        let fast = views.iter().find(|view| view.id.index() == index)?;
        let una = self.data_una;
        if self.paths[index].opportunistic_up_to > una {
            return None;
        }
        let holders = self.paths.iter().enumerate();
        let (slow, mapping) = holders
            .filter_map(|(number, path)| Some((number, path.mapping_of(una)?)))
            .next()?;
        if slow == index || self.paths[index].mapping_of(una).is_some() {
            return None;
        }
        let held_up = self.paths[slow].view();
        let window = *self.paths[slow].tcp.window();
        if self.config.penalisation
            && fast.srtt < held_up.srtt
            && held_up.recovery_state == RecoveryState::Open
            && now.since(self.paths[slow].penalised_at) >= fast.srtt
        {
            self.paths[slow].tcp.sender_mut().penalise();
            self.paths[slow].penalised_at = now;
            self.paths[slow].statistics.penalties += 1;
        }
        if window.cwnd > 4.0 && held_up.srtt <= fast.srtt * 4 {
            return None;
        }
        let run = Run {
            start: una,
            bytes: mapping.data_end() - una,
            source: Source::Head,
        };
        Some((index, run))
    }

    /// The paths that may carry data: regular ones that work, else backups that work, else any.
    fn views(&self, expecting: Option<usize>, refused: u8) -> ArrayVec<PathView, MAX_PATHS> {
        let mut best = u8::MAX;
        let mut views = ArrayVec::new();
        for (index, path) in self.paths.iter().enumerate() {
            let is_opening = index == 0 && path.stage == Stage::Opening && self.is_opener;
            if path.stage != Stage::Usable && !is_opening {
                continue;
            }
            let subflow = path.view();
            if !subflow.may_send && expecting != Some(index) {
                continue;
            }
            let works = subflow.recovery_state != RecoveryState::Loss;
            let rank = match (works, path.config.backup) {
                (true, false) => 0,
                (true, true) => 1,
                (false, _) => 2,
            };
            if rank > best {
                continue;
            }
            if rank < best {
                best = rank;
                views.clear();
            }
            let window = path.tcp.window();
            let cwnd = window.cwnd as u32;
            let is_refused = refused & (1 << index) != 0;
            views.push(PathView {
                id: path.id,
                srtt: subflow.srtt,
                variance: subflow.variance,
                cwnd,
                ssthresh: window.ssthresh,
                in_flight: subflow.in_flight,
                mss: window.mss,
                pacing_rate: subflow.pacing_rate,
                has_room: !is_refused && (subflow.in_flight < cwnd || expecting == Some(index)),
            });
        }
        views
    }

    /// The data sequence signal of a segment that leaves on path `index`.
    pub(super) fn signal(&mut self, index: usize, segment: &Segment, data_ack: u64) -> Dss {
        let mut dss = Dss {
            data_ack,
            ..Dss::default()
        };
        let ends_at_fin = |end: u64| self.fin_queued && end == self.data_end;
        if segment.len > 0 {
            let data_seq = self.paths[index]
                .data_seq_of(segment.seq)
                .expect("a segment that leaves has a mapping");
            dss.data_seq = data_seq;
            dss.data_fin = ends_at_fin(data_seq + u64::from(segment.len));
            dss.data_len = segment.len as u16 + u16::from(dss.data_fin);
        } else if ends_at_fin(self.data_nxt) && self.data_una <= self.data_end {
            dss.data_seq = self.data_end;
            dss.data_len = 1;
            dss.data_fin = true;
        }
        self.fin_sent |= dss.data_fin;
        dss
    }

    /// Everything was sent and DATA_FIN did not ride on it.
    fn send_data_fin(&mut self, now: Time, out: &mut PathOutbox) {
        if self.fin_queued
            && !self.fin_sent
            && self.is_established
            && self.data_nxt == self.data_end
        {
            self.acknowledge_on_best(now, out);
        }
    }

    /// Puts an acknowledgment on the path most likely to deliver it.
    pub(super) fn acknowledge_on_best(&mut self, now: Time, out: &mut PathOutbox) {
        let usable = self.paths.iter().filter(|path| path.stage == Stage::Usable);
        let best = usable.min_by_key(|path| (path.view().timeouts_in_a_row, path.view().srtt));
        if let Some(best) = best {
            self.acknowledge(now, best.id.index(), out);
        }
    }

    pub(super) fn acknowledge(&mut self, now: Time, index: usize, out: &mut PathOutbox) {
        let mut scratch = std::mem::take(&mut self.scratch);
        self.paths[index].tcp.acknowledge(now, &mut scratch);
        for mut outgoing in scratch.segments.drain(..) {
            self.stamp(index, &mut outgoing.segment);
            out.segments.push((PathId(index as u8), outgoing));
        }
        self.scratch = scratch;
    }

    fn arm_data_timer(&mut self, now: Time) {
        let sent = self.data_nxt + u64::from(self.fin_sent);
        if self.data_una >= sent {
            self.data_timer_at = Time::NEVER;
        } else if self.data_timer_at.is_never() || self.data_una != self.data_una_then {
            let usable = self.paths.iter().filter(|path| path.stage == Stage::Usable);
            let longest = usable.map(|path| path.view().rto).max();
            let wait = match &self.queues {
                Some(queues) => longest.map(|_| queues.timer),
                None => longest,
            };
            self.data_una_then = self.data_una;
            self.data_timer_at = wait.map_or(Time::NEVER, |wait| now.saturating_add(wait));
        }
    }

    /// Shows the congestion control of path `index` the state of all.
    fn share_state(&mut self, index: usize) {
        let mut states = ArrayVec::<_, MAX_PATHS>::new();
        let mut on = 0;
        for (number, path) in self.paths.iter().enumerate() {
            if path.stage != Stage::Usable && number != index {
                continue;
            }
            if number == index {
                on = states.len();
            }
            let view = path.view();
            states.push(path.tcp.sender().coupled_state(view.srtt));
        }
        let sender = self.paths[index].tcp.sender_mut();
        sender.see_paths(on, &states);
    }
}
