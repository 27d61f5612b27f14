//! Panics of the engine, as Python sees them.

use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe};

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
    static MESSAGE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Sets a panic hook that keeps the message of a panic inside [`guarded`] instead of printing it,
/// and leaves every other panic to the hook before.
pub(crate) fn install() {
    let previous = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if !GUARDED.get() {
            return previous(info);
        }
        let what = info.payload_as_str().unwrap_or("a panic without a message");
        let place = info
            .location()
            .map(|place| format!(" ({place})"))
            .unwrap_or_default();
        MESSAGE.set(format!("{what}{place}"));
    }));
}

/// Calls `call`; a panic in it becomes an error with the panic's message and place.
pub(crate) fn guarded<T>(call: impl FnOnce() -> T) -> Result<T, String> {
    let outer = GUARDED.replace(true);
    // Nothing that `call` borrows is looked at after a panic.
    let result = panic::catch_unwind(AssertUnwindSafe(call));
    GUARDED.set(outer);
    result.map_err(|_| MESSAGE.take())
}
