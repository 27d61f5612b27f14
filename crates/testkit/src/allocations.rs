//! Counts allocations, so that a test can claim that there were none.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    // The count is that of the current thread, because tests run in parallel. It is constant, so
    // that reading it does not allocate.
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

/// The system's allocator with a count of allocations and reallocations for each thread.
///
/// ```
/// # use fadeout_testkit::{CountingAllocator, allocations};
/// #[global_allocator]
/// static ALLOCATOR: CountingAllocator = CountingAllocator;
///
/// let before = allocations();
/// let boxed = Box::new(7);
/// assert_eq!(allocations() - before, 1);
/// drop(boxed);
/// ```
#[derive(Debug)]
pub struct CountingAllocator;

/// Allocations and reallocations of this thread so far. It only counts if [`CountingAllocator`] is
/// the global allocator.
pub fn allocations() -> u64 {
    COUNT.with(Cell::get)
}

fn count() {
    // A thread that ends may allocate after its thread-local values are gone.
    let _ = COUNT.try_with(|count| count.set(count.get() + 1));
}

#[allow(
    unsafe_code,
    reason = "GlobalAlloc is an unsafe trait; every call goes unchanged to the system's allocator"
)]
// SAFETY: the system's allocator satisfies the contract, and counting does not allocate.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller keeps the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller keeps the contract of `realloc`.
        unsafe { System.realloc(pointer, layout, size) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}
