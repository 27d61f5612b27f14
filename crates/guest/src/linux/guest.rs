//! A guest: it receives the time and frames, and returns the frames that it sent.

use super::mapped::Mapped;
use super::process::{Process, arguments};
use super::socket::{Door, anonymous, receive_with, send_with};
use crate::agent::{Command, Report};
use crate::frame::split;
use crate::memory::Backing;
use crate::time::{Clock, GUEST_AT, MESSAGE_LEN, Message, Step, TIMES_AT, TIMES_LEN};
use crate::vhost::{ANSWER_LEN, CALL_LEN, Device, HEADER_LEN, Header, MAX_FDS};
use crate::{Config, Fault, GuestError, Port, Sink, archive};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

const SECOND: u64 = 1_000_000_000;
/// Longest virtual time of a guest's boot, ns.
const LONGEST_BOOT: u64 = 40 * SECOND;
/// Time of the guest at the start of the simulation, ns. The guest's tick count starts at minus 300
/// s (`INITIAL_JIFFIES`), and is a multiple of 512 at this time. So its timers fire at the same
/// times as those of a clock that starts with the simulation. Timers beyond 63 ticks fire at every
/// 8th tick, and those beyond 504 ticks at every 64th.
const ORIGIN: u64 = 44 * SECOND;
/// Time of day of every guest at its time zero, ns: 2020-01-01. It is the same in every run.
const TIME_OF_DAY: u64 = 1_577_836_800 * SECOND;
/// Time that a program of a guest needs to read its clock, ns.
const CLOCK_READ: u64 = 256;
/// Delay of a timer whose time has passed when it is set, ns (`TIMER_MIN_DELTA`, and one to round
/// up).
const LATE_TIMER: u64 = 501;
/// Duration of a failing system call of a process, ns (`um_udelay(1)`).
const FAILED_CALL: u64 = 1_000;
/// Time in which only the guest's clock is polled. After this time, the devices are polled, too.
const QUIET: Duration = Duration::from_millis(20);
/// Maximum number of steps of a guest at one instant. A guest with more steps is assumed to be in
/// an endless loop.
const MOST_ROUNDS: u32 = 100_000;
/// Maximum number of messages of a guest during its boot, or at one instant after the boot. A guest
/// with more messages is assumed to be in an endless loop.
const MOST_MESSAGES: u32 = 100_000;

#[derive(Debug)]
struct Socketed {
    device: Device<Mapped>,
    socket: UnixStream,
    /// Socket for interrupts to the guest. `None` until the guest has sent it.
    calls: Option<UnixStream>,
}

/// A guest, which is a running kernel.
#[derive(Debug)]
pub struct Guest {
    config: Config,
    // The first field is dropped first, so the process ends before the other fields.
    process: Process,
    clock: Clock,
    socket: UnixStream,
    /// Shared memory for the times of both sides.
    page: Mapped,
    page_file: File,
    /// True after the boot. The guest seldom sends messages about its devices then.
    is_up: bool,
    /// Number of messages in the current step.
    messages: u32,
    /// The network device and the agent's device. `None` until the guest has connected to it.
    devices: [Option<Socketed>; 2],
    doors: [Door; 2],
    /// Times that the guest left in shared memory when it was last idle.
    slot: [u8; 16],
    /// Times that were last written to shared memory for the guest.
    shown: Option<[u8; TIMES_LEN]>,
    calls: Vec<u8>,
    buffer: Vec<u8>,
    release: String,
}

impl Guest {
    /// Starts a guest, and runs it to the start of the simulation.
    ///
    /// # Errors
    /// Returns a [`GuestError`] if the guest does not get that far.
    pub fn boot(config: Config) -> Result<Guest, GuestError> {
        let init = std::fs::read(&config.agent).map_err(|error| GuestError::File {
            path: config.agent.clone(),
            error,
        })?;
        let machine = |what| {
            let name = config.name.clone();
            move |error| GuestError::Machine { name, what, error }
        };
        let log = match &config.log {
            Some(path) => File::options()
                .create(true)
                .truncate(true)
                .read(true)
                .write(true)
                .open(path)
                .map_err(|error| GuestError::File {
                    path: path.clone(),
                    error,
                })?,
            None => anonymous("log", &[]).map_err(machine("a log"))?,
        };
        let sockets = "a socket";
        let door = Door::open().map_err(machine(sockets))?;
        let doors = [
            Door::open().map_err(machine(sockets))?,
            Door::open().map_err(machine(sockets))?,
        ];
        for door in &doors {
            door.set_nonblocking().map_err(machine(sockets))?;
        }
        let archive = archive::with_init(&init);
        let archive = anonymous("init", &archive).map_err(machine("its first files"))?;
        let page_file = anonymous("time", &Clock::page()).map_err(machine("shared memory"))?;
        let page = page_file.try_clone().and_then(Mapped::whole);
        let page = page.map_err(machine("shared memory"))?;
        let [network, control] = [0, 1].map(|n: usize| doors[n].path());
        let clock_read = if config.has_programs { CLOCK_READ } else { 0 };
        let arguments = arguments(
            config.memory_mb,
            clock_read,
            &door.path(),
            [&network, &control],
            &archive,
        );
        let process = Process::start(&config.kernel, &arguments, log);
        let mut process = process.map_err(|error| GuestError::File {
            path: config.kernel.clone(),
            error,
        })?;
        let socket = wait_for(&door, &mut process, &config)?;
        let set = socket.set_read_timeout(Some(QUIET));
        set.map_err(machine(sockets))?;
        let mut guest = Guest {
            config,
            process,
            clock: Clock::default(),
            socket,
            page,
            page_file,
            is_up: false,
            messages: 0,
            devices: [None, None],
            doors,
            slot: [0; 16],
            shown: None,
            calls: Vec::new(),
            buffer: Vec::new(),
            release: String::new(),
        };
        guest.begin()?;
        if guest.config.receive_offload {
            guest.command(&Command::ReceiveOffload(true));
        }
        Ok(guest)
    }

    /// Runs the guest until its agent is ready, and then to the next full second.
    fn begin(&mut self) -> Result<(), GuestError> {
        let mut ready = Ready::default();
        self.serve()?;
        self.collect(&mut ready)?;
        while ready.release.is_none() {
            match self.requested() {
                Some(at) if at < LONGEST_BOOT => self.run_at(at, &mut ready)?,
                _ => {
                    return Err(GuestError::Silent {
                        name: self.config.name.clone(),
                        seconds: LONGEST_BOOT / SECOND,
                        last: self.process.last_lines(),
                    });
                }
            }
        }
        if !Clock::is_shared(&self.slot) {
            return Err(GuestError::Old {
                name: self.config.name.clone(),
            });
        }
        self.release = ready.release.take().unwrap_or_default();
        while let Some(at) = self.requested().filter(|&at| at < ORIGIN) {
            self.run_at(at, &mut ready)?;
        }
        self.run_at(ORIGIN, &mut ready)?;
        self.is_up = true;
        Ok(())
    }

    /// Returns the id of the guest's process.
    pub(super) fn process_id(&self) -> rustix::process::Pid {
        self.process.id()
    }

    /// Returns the release of the kernel.
    pub fn release(&self) -> &str {
        &self.release
    }

    /// Returns the time at which the guest wants to run next, ns since the start of the simulation.
    /// `None` if it waits for frames only.
    pub fn next_at(&self) -> Option<u64> {
        self.requested().map(|at| at.saturating_sub(ORIGIN))
    }

    /// Queues a frame for the guest. The guest receives it in its next step.
    pub fn deliver(&mut self, port: Port, frame: &[u8]) {
        if let Some(device) = &mut self.devices[port as usize] {
            device.device.deliver(frame);
        }
    }

    /// Queues a command for the agent. The agent receives it in the next step.
    pub fn command(&mut self, command: &Command<'_>) {
        self.deliver(Port::Control, &command.write());
    }

    /// Runs the guest at `now`, ns since the start of the simulation, until it is idle. Its frames
    /// and reports go to `sink`.
    ///
    /// # Errors
    /// Returns a [`GuestError`] if the guest ends, does not become idle or violates a protocol.
    pub fn run(&mut self, now: u64, sink: &mut impl Sink) -> Result<(), GuestError> {
        self.messages = 0;
        self.run_at(ORIGIN.saturating_add(now), sink)
    }

    fn run_at(&mut self, at: u64, sink: &mut impl Sink) -> Result<(), GuestError> {
        for _ in 0..MOST_ROUNDS {
            // The guest accepts a time only if it has work at this time.
            let next = self.requested();
            let is_due = next.is_some_and(|next| next <= at);
            let within = |span| next.is_some_and(|next| next <= at.saturating_add(span));
            // If the next time is that of a late timer, the guest is idle. Another next time within
            // this range means that a system call failed. Frames then wait until this call is over.
            // A program's computing between two readings of the clock cannot be predicted and may
            // have no end. So it is interrupted, except while it reads the clock.
            let is_late = next == Some(at.saturating_add(LATE_TIMER));
            let (takes, is_asked) = match self.config.has_programs {
                true => (is_due || !within(CLOCK_READ), true),
                false => (is_late || !within(FAILED_CALL), is_late),
            };
            let mut devices = self.devices.iter().flatten();
            let has_more = takes && devices.any(|device| device.device.has_something());
            if !is_due && !has_more {
                return Ok(());
            }
            let run = self.clock.run(at);
            self.share_times()?;
            let has_called = takes && self.call(is_asked)?;
            let is_woken =
                has_called && (!is_asked || self.requested().is_some_and(|next| next <= at));
            if !is_woken && !is_due {
                self.clock.rest();
                return self.share_times();
            }
            let run = run.write();
            if is_woken && !is_asked {
                // The guest was idle. The first message makes the guest handle its interrupt. The
                // second message makes it run at the same time.
                self.clock.run_ahead();
                self.send([run, run].as_flattened())?;
            } else {
                self.send(&run)?;
            }
            self.serve()?;
            self.collect(sink)?;
        }
        Err(self.spins())
    }

    fn spins(&self) -> GuestError {
        GuestError::Spins {
            name: self.config.name.clone(),
            seconds: self.config.patience_s,
            at_s: self.clock.now().saturating_sub(ORIGIN) as f64 / 1e9,
            last: self.process.last_lines(),
        }
    }

    /// Hands queued frames to the guest, and sends interrupts for used buffers. Returns true if an
    /// interrupt was sent.
    ///
    /// An interrupt is a signal, which the guest handles before it reads its message to run. With
    /// `asks` the guest answers, and leaves the time at which it wants to run. This time is now,
    /// unless it still has to handle the interrupt. A guest that runs at a time without work stops.
    fn call(&mut self, asks: bool) -> Result<bool, GuestError> {
        let mut any = false;
        let most = [self.config.receive_offload, true].map(|all| if all { usize::MAX } else { 1 });
        for (device, most) in self.devices.iter_mut().zip(most) {
            let Some(device) = device else { continue };
            self.calls.clear();
            let filled = device.device.fill(most);
            let called = filled.and_then(|()| device.device.calls(asks, &mut self.calls));
            called.map_err(|fault| fault_of(&self.config, fault))?;
            if !self.calls.is_empty()
                && let Some(socket) = &mut device.calls
            {
                let mut answers = [0; 2 * ANSWER_LEN];
                let count = if asks { self.calls.len() / CALL_LEN } else { 0 };
                let answers = &mut answers[..count * ANSWER_LEN];
                let called = socket.write_all(&self.calls);
                if called.and_then(|()| socket.read_exact(answers)).is_err() {
                    return Err(ended(&self.config, &mut self.process));
                }
                any = true;
            }
        }
        if any && asks {
            self.read_times()?;
        }
        Ok(any)
    }

    /// Reads the times that the guest left in shared memory.
    fn read_times(&mut self) -> Result<(), GuestError> {
        match self.page.read_at(GUEST_AT, &mut self.slot) {
            true => Ok(()),
            false => Err(self.no_memory()),
        }
    }

    /// Handles the guest's messages until it is idle.
    fn serve(&mut self) -> Result<(), GuestError> {
        while !self.clock.has_started() || self.clock.is_running() {
            self.messages += 1;
            if self.messages > MOST_MESSAGES {
                return Err(self.spins());
            }
            if self.is_up && self.serve_clock()? {
                continue;
            }
            let ready = self.poll()?;
            for port in 0..2 {
                if ready[1 + port] {
                    self.serve_device(port)?;
                }
            }
            if ready[0] {
                self.serve_clock()?;
            }
        }
        // The guest is idle, and has left the time of its next step in shared memory.
        self.share_times()?;
        self.read_times()
    }

    /// Returns which sockets have data: that of the clock, and that of each device.
    fn poll(&self) -> Result<[bool; 3], GuestError> {
        let mut polled = [
            PollFd::new(&self.socket, PollFlags::IN),
            self.poll_device(0),
            self.poll_device(1),
        ];
        let patience = Timespec {
            tv_sec: self.config.patience_s as i64,
            tv_nsec: 0,
        };
        let count = loop {
            match poll(&mut polled, Some(&patience)) {
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => {
                    return Err(GuestError::Machine {
                        name: self.config.name.clone(),
                        what: "waiting",
                        error: error.into(),
                    });
                }
                Ok(count) => break count,
            }
        };
        if count == 0 {
            return Err(self.spins());
        }
        Ok(polled.map(|one| !one.revents().is_empty()))
    }

    fn poll_device(&self, port: usize) -> PollFd<'_> {
        match &self.devices[port] {
            Some(device) => PollFd::new(&device.socket, PollFlags::IN),
            None => PollFd::new(self.doors[port].listener(), PollFlags::IN),
        }
    }

    /// Handles a message of the guest's clock, if one arrives soon. Returns false if none does.
    fn serve_clock(&mut self) -> Result<bool, GuestError> {
        let mut bytes = [0; MESSAGE_LEN];
        match self.socket.read(&mut bytes) {
            Ok(MESSAGE_LEN) => {}
            Err(error) if is_quiet(&error) => return Ok(false),
            _ => return Err(ended(&self.config, &mut self.process)),
        }
        let message = Message::read(&bytes);
        let step = message.and_then(|message| self.clock.on_message(message, TIME_OF_DAY));
        match step.map_err(|fault| fault_of(&self.config, fault))? {
            Step::Answer(message) => self.send(&message.write())?,
            Step::Welcome(message) => {
                self.share_times()?;
                // The second file is a log, which the guest does not use.
                let files = [&self.page_file, &self.page_file];
                let sent = send_with(&self.socket, &message.write(), &files);
                sent.map_err(|_| ended(&self.config, &mut self.process))?;
            }
            Step::Yield | Step::Nothing => {}
        }
        Ok(true)
    }

    fn serve_device(&mut self, port: usize) -> Result<(), GuestError> {
        let Some(device) = &mut self.devices[port] else {
            let patience = Duration::from_secs(self.config.patience_s);
            let socket = self.doors[port].accept().and_then(|socket| {
                socket.set_read_timeout(Some(patience))?;
                Ok(socket)
            });
            let socket = socket.map_err(|error| GuestError::Machine {
                name: self.config.name.clone(),
                what: "a device",
                error,
            })?;
            let mut mac = self.config.mac;
            mac[3] = port as u8;
            self.devices[port] = Some(Socketed {
                device: Device::new(mac),
                socket,
                calls: None,
            });
            return Ok(());
        };
        let mut head = [0; HEADER_LEN];
        let mut files = Vec::new();
        let mut have = 0;
        while have < HEADER_LEN {
            match receive_with(&device.socket, &mut head[have..], &mut files) {
                Ok(0) | Err(_) => return Err(ended(&self.config, &mut self.process)),
                Ok(bytes) => have += bytes,
            }
        }
        let fault = |fault| fault_of(&self.config, fault);
        let machine = |what| {
            let name = self.config.name.clone();
            move |error| GuestError::Machine { name, what, error }
        };
        let header = Header::read(&head).map_err(fault)?;
        let mut payload = vec![0; header.size];
        if device.socket.read_exact(&mut payload).is_err() {
            return Err(ended(&self.config, &mut self.process));
        }
        files.truncate(MAX_FDS);
        let mut for_calls = None;
        if device.device.is_for_calls(header) && !files.is_empty() {
            for_calls = Some(files.remove(0));
        }
        let files: io::Result<Vec<Mapped>> = files.into_iter().map(Mapped::whole).collect();
        let files = files.map_err(machine("its memory"))?;
        let reply = device.device.on_message(header, &payload, files);
        let reply = reply.map_err(fault)?;
        if reply.takes_request_fd {
            let stream = for_calls
                .map(std::os::fd::OwnedFd::from)
                .map(UnixStream::from);
            if let Some(stream) = &stream {
                let patience = Duration::from_secs(self.config.patience_s);
                let set = stream.set_read_timeout(Some(patience));
                set.map_err(machine("a device"))?;
            }
            device.calls = stream;
        }
        if !reply.bytes.is_empty() && device.socket.write_all(&reply.bytes).is_err() {
            return Err(ended(&self.config, &mut self.process));
        }
        Ok(())
    }

    /// Passes the frames and reports of the guest to `sink`.
    fn collect(&mut self, sink: &mut impl Sink) -> Result<(), GuestError> {
        let mut fault: Result<(), Fault> = Ok(());
        for (port, device) in self.devices.iter_mut().enumerate() {
            let Some(device) = device else { continue };
            let buffer = &mut self.buffer;
            let drained = device.device.drain(|offload, frame| {
                let step = match port {
                    0 => split(offload, frame, buffer, |part| sink.frame(part)),
                    _ => Report::read(frame).map(|report| {
                        if let Some(report) = report {
                            sink.report(report);
                        }
                    }),
                };
                if fault.is_ok() {
                    fault = step;
                }
            });
            drained.map_err(|fault| fault_of(&self.config, fault))?;
        }
        fault.map_err(|fault| fault_of(&self.config, fault))
    }

    fn send(&mut self, bytes: &[u8]) -> Result<(), GuestError> {
        match self.socket.write_all(bytes) {
            Ok(()) => Ok(()),
            Err(_) => Err(ended(&self.config, &mut self.process)),
        }
    }

    fn share_times(&mut self) -> Result<(), GuestError> {
        let times = self.clock.times();
        if self.shown.replace(times) == Some(times) {
            return Ok(());
        }
        match self.page.write_at(TIMES_AT, &times) {
            true => Ok(()),
            false => Err(self.no_memory()),
        }
    }

    fn requested(&self) -> Option<u64> {
        self.clock.next_at(&self.slot)
    }

    fn no_memory(&self) -> GuestError {
        GuestError::Machine {
            name: self.config.name.clone(),
            what: "shared memory",
            error: io::ErrorKind::UnexpectedEof.into(),
        }
    }
}

/// A sink that ignores everything except the agent's first report.
#[derive(Debug, Default)]
struct Ready {
    release: Option<String>,
}

impl Sink for Ready {
    fn frame(&mut self, _: &[u8]) {}
    fn report(&mut self, report: Report<'_>) {
        if let Report::Ready(release) = report {
            self.release = Some(release.to_owned());
        }
    }
}

/// True if no data arrived within the timeout, so that data may still arrive.
fn is_quiet(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), Interrupted | TimedOut | WouldBlock)
}

fn fault_of(config: &Config, fault: Fault) -> GuestError {
    GuestError::Fault {
        name: config.name.clone(),
        fault,
    }
}

fn ended(config: &Config, process: &mut Process) -> GuestError {
    GuestError::Ended {
        name: config.name.clone(),
        why: process.last_words(),
    }
}

/// Returns the guest's connection for its clock.
fn wait_for(door: &Door, process: &mut Process, config: &Config) -> Result<UnixStream, GuestError> {
    let mut polled = [PollFd::new(door.listener(), PollFlags::IN)];
    let step = Timespec {
        tv_sec: 0,
        tv_nsec: 100_000_000,
    };
    for _ in 0..10 * config.patience_s {
        if poll(&mut polled, Some(&step)).is_ok_and(|ready| ready > 0) {
            return door.accept().map_err(|error| GuestError::Machine {
                name: config.name.clone(),
                what: "its clock",
                error,
            });
        }
        if process.has_ended() {
            break;
        }
    }
    Err(ended(config, process))
}
