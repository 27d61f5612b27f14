//! Memory of sk_buffs in a send buffer.

/// Memory of an sk_buff's descriptor and of its shared data (`SKB_TRUESIZE(0)` on 64 bits), bytes.
const DESCRIPTOR: u64 = 256;
const SHARED_PART: u64 = 320;
/// Smallest number of segments that fit into a buffer (`TCP_INIT_CWND`).
const LEAST_SEGMENTS: u64 = 10;
/// Bytes of one `write()` call.
pub(crate) const BLOCK: u64 = 128 << 10;

/// Returns the memory of an sk_buff in addition to its payload, with `head` bytes for headers.
pub(crate) fn memory_overhead(head: u64) -> u64 {
    head + DESCRIPTOR + SHARED_PART
}

/// Returns the memory of `factor` windows of `segments`. Each segment has its own sk_buff, with
/// memory rounded up to a power of two (Linux `tcp_sndbuf_expand`).
pub(crate) fn memory_of_windows(factor: u64, segments: u64, largest_mss: u64, header: u64) -> u64 {
    let segment = largest_mss + header + SHARED_PART;
    let segment = segment.next_power_of_two() + DESCRIPTOR;
    segments
        .max(LEAST_SEGMENTS)
        .saturating_mul(factor * segment)
}
