//! Requests to load memory into the processor's caches before it is read.

/// Size of a cache line in bytes.
#[cfg(target_arch = "x86_64")]
const LINE: usize = 64;

/// Asks the processor to load `value` into its caches. The request does not change the value and
/// has no effect on results. It has no effect at all on processors other than x86-64.
#[inline(always)]
pub fn prefetch<T>(value: &T) {
    prefetch_first(value, size_of::<T>());
}

/// Asks the processor to load the first `bytes` bytes of `value`, as [`prefetch`] does.
#[inline(always)]
#[cfg_attr(
    target_arch = "x86_64",
    allow(
        unsafe_code,
        reason = "the instruction reads no memory that a program can observe, and cannot fault"
    )
)]
pub fn prefetch_first<T>(value: &T, bytes: usize) {
    debug_assert!(
        bytes <= size_of::<T>(),
        "the request is larger than the value"
    );
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let start = std::ptr::from_ref(value).cast::<i8>();
        for line in 0..bytes.div_ceil(LINE) {
            // SAFETY: the address lies within `value` or its last cache line, and a prefetch of any
            // address is allowed.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(line * LINE)) }
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (value, bytes);
}
