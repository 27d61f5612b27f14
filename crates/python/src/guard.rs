//! Conversion of the engine's panics to Python exceptions.

use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe};

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
    static MESSAGE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Sets a panic hook that stores the message of a panic inside [`guarded`] instead of printing it.
/// All other panics go to the previous hook.
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

/// Calls `call`. A panic becomes an error with the panic's message and its position in the source.
pub(crate) fn guarded<T>(call: impl FnOnce() -> T) -> Result<T, String> {
    let outer = GUARDED.replace(true);
    // After a panic no data that `call` borrows is used again.
    let result = panic::catch_unwind(AssertUnwindSafe(call));
    GUARDED.set(outer);
    result.map_err(|_| MESSAGE.take())
}
