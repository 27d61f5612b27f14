//! fadeout as a WebAssembly module without imports.
//!
//! A page writes a request into [`input`] and calls [`build`]. [`advance`] simulates to a time, and
//! [`observe`] returns the values of that time. [`finish`] ends the run. Texts are UTF-8 in the
//! memory of the module. [`output`] and [`output_len`] have the place of the last one. If the
//! module traps, a bug in fadeout is the cause, and the output is its message.
#![allow(
    unsafe_code,
    reason = "`no_mangle` is an unsafe attribute: two functions of one name do not link"
)]

mod run;

use run::{Request, Run};
use std::cell::RefCell;
use std::panic;

/// State of the module. A WebAssembly module has one thread.
#[derive(Debug, Default)]
struct State {
    input: Vec<u8>,
    output: Vec<u8>,
    values: Vec<f64>,
    run: Option<Run>,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

fn with<T>(action: impl FnOnce(&mut State) -> T) -> T {
    STATE.with_borrow_mut(action)
}

/// Returns the place for a request of `len` bytes.
#[unsafe(no_mangle)]
pub extern "C" fn input(len: usize) -> *mut u8 {
    with(|state| {
        state.input = vec![0; len];
        state.input.as_mut_ptr()
    })
}

/// Returns the place of the last text.
#[unsafe(no_mangle)]
pub extern "C" fn output() -> *const u8 {
    with(|state| state.output.as_ptr())
}

/// Returns the length of the last text in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn output_len() -> usize {
    with(|state| state.output.len())
}

/// Builds the run of the request in the input. A request is a JSON object. It has the `text` of a
/// scenario, the overrides `set` and the names of the values to `observe`. Returns the duration in
/// seconds. The result is NaN if the request has mistakes, and the output then lists them.
#[unsafe(no_mangle)]
pub extern "C" fn build() -> f64 {
    panic::set_hook(Box::new(|info| {
        // The state is borrowed if the panic happened in a function of this file.
        let message = info.to_string();
        STATE.with(|state| {
            if let Ok(mut state) = state.try_borrow_mut() {
                state.output = message.into_bytes();
            }
        });
    }));
    let request = with(|state| {
        state.run = None;
        std::mem::take(&mut state.input)
    });
    match Request::read(&request).and_then(|request| Run::build(&request)) {
        Ok(run) => {
            let duration_s = run.duration_s();
            with(|state| state.run = Some(run));
            duration_s
        }
        Err(message) => {
            with(|state| state.output = message.into_bytes());
            f64::NAN
        }
    }
}

/// Simulates to `until_s` seconds. Returns the time that was reached, in seconds.
#[unsafe(no_mangle)]
pub extern "C" fn advance(until_s: f64) -> f64 {
    let mut run = take();
    let reached_s = run.advance(until_s);
    with(|state| state.run = Some(run));
    reached_s
}

/// Returns the place of the present values, in the order of the request. A value that does not
/// exist yet is NaN.
#[unsafe(no_mangle)]
pub extern "C" fn observe() -> *const f64 {
    let mut run = take();
    let values = run.observe();
    with(|state| {
        state.run = Some(run);
        state.values = values;
        state.values.as_ptr()
    })
}

/// Ends the run. The output is a JSON object with the fingerprint, the summary, and the numbers of
/// events and packets. Returns true if there are results, false if the output is an error.
#[unsafe(no_mangle)]
pub extern "C" fn finish() -> bool {
    let results = take().finish();
    let is_finished = results.is_ok();
    let text = results.unwrap_or_else(|error| error);
    with(|state| state.output = text.into_bytes());
    is_finished
}

/// Removes the run from the state, so that a panic finds the state free.
fn take() -> Run {
    with(|state| state.run.take()).expect("`build` returned a duration")
}
