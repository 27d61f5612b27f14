//! Receive buffer with its window, and send buffer.

/// Constants of the receive buffer with its window, and of the send buffer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BufferConfig {
    /// True if window scaling is offered (RFC 7323 section 2).
    pub window_scaling: bool,
    /// Rule for the receive window.
    pub receive_window: ReceiveWindow,
    /// Initial memory of the receive buffer under autotuning, bytes (Linux `tcp_rmem[1]`).
    pub initial_receive: u64,
    /// Rule for the growth of the receive buffer under autotuning.
    pub receive_growth: BufferGrowth,
    /// Receive-buffer memory of a packet in addition to its payload, under autotuning.
    pub packet_memory: PacketMemory,
    /// Socket of the sender, with its send buffer.
    pub send: SocketKind,
}

/// Rule for the size of the receive window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReceiveWindow {
    /// Linux's receive-buffer autotuning: from 64 kB up to `max_bytes` of window.
    Autotuned {
        /// Largest window (about half of `tcp_rmem[2]`), bytes.
        max_bytes: u64,
    },
    /// A window of constant size.
    Fixed {
        /// Size of the window, bytes.
        bytes: u64,
    },
    /// The window of the multipath connection that owns this subflow. The connection writes it into
    /// each segment to send.
    Shared,
}

fadeout_core::choices! {
    /// Rule by which an autotuned receive buffer follows the data that the application reads.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum BufferGrowth {
        /// The rule of Linux 6.12. The buffer has room for 16 more segments than a round trip
        /// needs.
        Linux612 = "linux-6.12",
        /// The rule of Linux 6.18. The buffer has room for the data behind gaps. While the
        /// application is slow, a longer round trip does not count.
        Linux618 = "linux-6.18",
    }
}

/// Memory of a received packet in addition to its payload, bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PacketMemory {
    /// Memory of a packet that has its own sk_buff.
    pub alone: u64,
    /// Memory of a packet that is merged into the sk_buff before it.
    pub joined: u64,
}

impl PacketMemory {
    /// Returns the overhead of packets that carry `option` more bytes of options. The payload
    /// shrinks by the same amount, so the memory of the packet stays the same.
    pub(crate) fn with_option(self, option: u32) -> PacketMemory {
        let option = u64::from(option);
        let joined = match self.joined {
            0 => 0,
            joined => joined + option,
        };
        PacketMemory {
            alone: self.alone + option,
            joined,
        }
    }
}

impl Default for PacketMemory {
    /// Returns the overhead of a packet from software segmentation on 64-bit Linux. The descriptor
    /// (`sk_buff`) has 256 bytes and the small header buffer 640 bytes.
    fn default() -> PacketMemory {
        PacketMemory {
            alone: 896,
            joined: 0,
        }
    }
}

fadeout_core::choices! {
    /// Rule for the amount of data that the socket accepts from the application.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum SendBufferRule {
        /// The socket accepts all data at once.
        Unbounded = "unbounded",
        /// The socket accepts as much as fits into its memory, which grows with the window. A
        /// waiting writer continues when a third of the memory is free (Linux).
        Linux = "linux",
    }
}

/// Kind of a sender's socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SocketKind {
    /// The socket accepts every write at once.
    Unbounded,
    /// The socket accepts as much as fits into its memory (Linux).
    Linux(SendBufferConfig),
    /// A subflow of Linux's Multipath TCP, whose connection has the send buffer. Rates count the
    /// bytes of the MPTCP option, because `mss_cache` ignores the option. Rate samples are never
    /// marked as application-limited, because writes to subflows bypass `tcp_sendmsg`, which sets
    /// the mark.
    LinuxSubflow,
}

impl SocketKind {
    /// Returns the memory of the socket. `None` if the socket has no send buffer of its own.
    pub fn buffer(self) -> Option<SendBufferConfig> {
        match self {
            SocketKind::Linux(buffer) => Some(buffer),
            SocketKind::Unbounded | SocketKind::LinuxSubflow => None,
        }
    }
}

/// Memory of a socket for written data that is not acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SendBufferConfig {
    /// Size before the handshake is complete, bytes (Linux `tcp_wmem[1]`).
    pub initial: u64,
    /// Largest size, bytes (`tcp_wmem[2]`).
    pub maximum: u64,
    /// Memory for the headers of one sk_buff, bytes (`MAX_TCP_HEADER`).
    pub header: u64,
    /// Headroom for headers in an allocated sk_buff, bytes (`SKB_SMALL_HEAD_HEADROOM`).
    pub head: u64,
}

impl Default for SendBufferConfig {
    /// Returns the buffer of Linux with wireless networks, without a limit.
    fn default() -> SendBufferConfig {
        SendBufferConfig {
            initial: 16_384,
            maximum: u64::MAX,
            header: 320,
            head: 320,
        }
    }
}
