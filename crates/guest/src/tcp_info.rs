//! State of a connection in a kernel: `struct tcp_info` of `include/uapi/linux/tcp.h`.
//!
//! New versions of Linux add fields at the end. Fields that an older kernel does not have are zero.

/// The part of a connection's state that result tables use.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct TcpInfo {
    /// State of the connection. 1 is established.
    pub state: u8,
    /// Congestion state: open, disorder, cwr, recovery, loss.
    pub ca_state: u8,
    /// Number of consecutive timeouts.
    pub backoff: u8,
    /// Retransmission timeout, µs.
    pub rto_us: u32,
    /// Maximum segment size for sending, bytes.
    pub snd_mss: u32,
    /// Number of segments sent and not cumulatively acknowledged.
    pub unacked: u32,
    /// Number of outstanding segments that were SACKed.
    pub sacked: u32,
    /// Number of outstanding segments marked as lost.
    pub lost: u32,
    /// Number of outstanding segments that were retransmitted.
    pub retrans: u32,
    /// Smoothed round-trip time, µs.
    pub rtt_us: u32,
    /// Slow-start threshold, segments. 0x7fffffff before the first loss.
    pub snd_ssthresh: u32,
    /// Congestion window, segments.
    pub snd_cwnd: u32,
    /// Total number of retransmitted segments.
    pub total_retrans: u32,
    /// Pacing rate, byte/s. All bits are set without pacing.
    pub pacing_rate: u64,
    /// Number of bytes acknowledged.
    pub bytes_acked: u64,
    /// Number of segments sent.
    pub segs_out: u32,
    /// Smallest round-trip time, µs.
    pub min_rtt_us: u32,
    /// Number of data segments sent.
    pub data_segs_out: u32,
    /// Total number of timeouts.
    pub total_rto: u16,
}

impl TcpInfo {
    /// Reads a structure of any length from a kernel.
    pub fn read(bytes: &[u8]) -> TcpInfo {
        let byte = |at: usize| bytes.get(at).copied().unwrap_or(0);
        let word = |at: usize| {
            let word = bytes.get(at..at + 4);
            word.map_or(0, |word| u32::from_le_bytes(word.try_into().expect("four")))
        };
        let long = |at: usize| u64::from(word(at)) | u64::from(word(at + 4)) << 32;
        TcpInfo {
            state: byte(0),
            ca_state: byte(1),
            backoff: byte(4),
            rto_us: word(8),
            snd_mss: word(16),
            unacked: word(24),
            sacked: word(28),
            lost: word(32),
            retrans: word(36),
            rtt_us: word(68),
            snd_ssthresh: word(76),
            snd_cwnd: word(80),
            total_retrans: word(100),
            pacing_rate: long(104),
            bytes_acked: long(120),
            segs_out: word(136),
            min_rtt_us: word(148),
            data_segs_out: word(156),
            total_rto: u16::from(byte(240)) | u16::from(byte(241)) << 8,
        }
    }

    /// Returns the name of the congestion state in the tables.
    pub fn ca_state_name(&self) -> &'static str {
        match self.ca_state {
            0 => "open",
            1 => "disorder",
            2 => "cwr",
            3 => "recovery",
            _ => "loss",
        }
    }

    /// Returns the number of segments in the network (pipe of RFC 6675), as Linux counts them.
    pub fn in_flight(&self) -> u32 {
        let gone = self.sacked.saturating_add(self.lost);
        self.unacked
            .saturating_sub(gone)
            .saturating_add(self.retrans)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_that_a_kernel_does_not_have_are_zero() {
        let mut bytes = vec![0; 104];
        bytes[1] = 3;
        bytes[80] = 10;
        bytes[24] = 9;
        bytes[28] = 2;
        bytes[36] = 1;
        let info = TcpInfo::read(&bytes);
        assert_eq!((info.snd_cwnd, info.ca_state_name()), (10, "recovery"));
        assert_eq!((info.in_flight(), info.min_rtt_us), (8, 0));
        assert_eq!(TcpInfo::read(&[]), TcpInfo::default());
    }
}
