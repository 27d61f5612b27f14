//! Link in real time between two sockets: a transmitter with a drop-tail queue, then a delay.

use std::collections::VecDeque;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Bytes of the headers of IPv4 and UDP, which take time on the link.
const HEADERS: usize = 28;
/// Largest datagram of UDP in bytes.
const LARGEST: usize = 65_535;
/// Priority among real-time threads, between 1 and 99.
const PRIORITY: i32 = 50;

/// Parameters of both directions of a link.
#[derive(Clone, Copy)]
pub struct Link {
    pub bits_per_s: f64,
    pub delay: Duration,
    /// Number of packets that may wait for the transmitter.
    pub queue: usize,
}

/// Counters of the packets of the server.
#[derive(Default)]
pub struct Counters {
    sent: AtomicU64,
    dropped: AtomicU64,
}

impl Counters {
    /// Returns the number of packets that arrived at the link.
    pub fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }
    /// Returns the number of packets that the full queue dropped.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }
}

struct Direction {
    link: Link,
    /// Time at which the transmitter has sent all packets.
    free_at: Instant,
    /// Times at which waiting packets leave the queue.
    leaving: VecDeque<Instant>,
    /// Packets with the times of their delivery, in order.
    flying: VecDeque<(Instant, Vec<u8>)>,
}

impl Direction {
    fn new(link: Link) -> Direction {
        Direction {
            link,
            free_at: Instant::now(),
            leaving: VecDeque::new(),
            flying: VecDeque::new(),
        }
    }

    /// Accepts a packet. Returns false if the queue is full.
    fn accept(&mut self, now: Instant, packet: &[u8]) -> bool {
        while self.leaving.front().is_some_and(|at| *at <= now) {
            self.leaving.pop_front();
        }
        if self.leaving.len() >= self.link.queue {
            return false;
        }
        let begins = self.free_at.max(now);
        let bits = ((packet.len() + HEADERS) * 8) as f64;
        self.free_at = begins + Duration::from_secs_f64(bits / self.link.bits_per_s);
        if begins > now {
            self.leaving.push_back(begins);
        }
        self.flying
            .push_back((self.free_at + self.link.delay, packet.to_vec()));
        true
    }

    /// Sends the packets that are due.
    fn deliver(&mut self, from: &UdpSocket, to: Option<SocketAddr>) {
        let now = Instant::now();
        while self.flying.front().is_some_and(|(at, _)| *at <= now) {
            if let (Some((_, packet)), Some(to)) = (self.flying.pop_front(), to) {
                // A full socket drops the packet, as a network would.
                let _ = from.send_to(&packet, to);
            }
        }
    }

    fn next_at(&self) -> Option<Instant> {
        self.flying.front().map(|(at, _)| *at)
    }
}

/// Carries packets between `client_side` and `server_side` without end. The client's address is
/// that of its first packet.
pub fn carry(
    link: Link,
    client_side: &UdpSocket,
    (server_side, server): (&UdpSocket, SocketAddr),
    counters: &Counters,
) {
    for socket in [client_side, server_side] {
        socket.set_nonblocking(true).expect("a socket can poll");
    }
    let (mut down, mut up) = (Direction::new(link), Direction::new(link));
    let mut client = None;
    let mut packet = vec![0; LARGEST];
    loop {
        while let Ok((len, from)) = client_side.recv_from(&mut packet) {
            client = Some(from);
            up.accept(Instant::now(), &packet[..len]);
        }
        while let Ok((len, _)) = server_side.recv_from(&mut packet) {
            let is_accepted = down.accept(Instant::now(), &packet[..len]);
            counters.sent.fetch_add(1, Ordering::Relaxed);
            let dropped = u64::from(!is_accepted);
            counters.dropped.fetch_add(dropped, Ordering::Relaxed);
        }
        up.deliver(server_side, Some(server));
        down.deliver(client_side, client);
        let next = up.next_at().into_iter().chain(down.next_at()).min();
        wait([client_side, server_side], next);
    }
}

/// Gives this thread, and those that it starts, a real-time priority and timers without slack.
/// Without the right to do so, the link and its ends are less punctual.
pub fn be_punctual() {
    let priority = libc::sched_param {
        sched_priority: PRIORITY,
    };
    // SAFETY: both calls read their arguments only.
    unsafe {
        libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const priority);
        libc::prctl(libc::PR_SET_TIMERSLACK, 1_usize);
    }
}

/// Waits for a packet at a socket, but at most until `next`.
fn wait(sockets: [&UdpSocket; 2], next: Option<Instant>) {
    let longest = Duration::from_millis(100);
    let wait = next.map_or(longest, |at| at.saturating_duration_since(Instant::now()));
    let wait = libc::timespec {
        tv_sec: wait.as_secs() as libc::time_t,
        tv_nsec: wait.subsec_nanos().into(),
    };
    let mut polled = sockets.map(|socket| libc::pollfd {
        fd: socket.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    });
    // SAFETY: the pointers are those of two initialised elements and of a local time.
    unsafe {
        libc::ppoll(polled.as_mut_ptr(), 2, &raw const wait, std::ptr::null());
    }
}
