//! Runner for the packetdrill language. Scripts of segments, system calls and assertions run in
//! virtual time against a [`TcpEndpoint`](fadeout_transport::tcp::TcpEndpoint) or a
//! [`MultipathConnection`](fadeout_transport::multipath::MultipathConnection).
//!
//! The language is that of the packetdrill project, and the semantics are those of Linux.
//! `docs/packetdrill.md` lists the supported parts. A script is parsed completely (`parse`) before
//! it runs (`runner`). The `host` is the system under test, and `sockets` has its system calls.

mod addresses;
mod arrivals;
mod buffer;
mod code;
mod commands;
mod compare;
mod connection;
mod cursor;
mod endpoint;
mod evaluate;
mod fast_open;
mod host;
mod mptcp_options;
mod mptcp_parse;
mod mptcp_wire;
mod multipath;
mod nearest;
mod options;
mod packet;
mod parse;
mod path_management;
mod problem;
mod readiness;
mod report;
mod runner;
mod script;
mod settings;
mod shell;
mod socket_options;
mod sockets;
mod state;
mod symbols;
mod transfer;

pub use report::{Outcome, Report};

/// Largest script in bytes.
const LARGEST_SCRIPT: usize = 4 << 20;

/// Runs the script `text`. The report names the script `name`.
pub fn run(text: &str, name: &str) -> Report {
    run_with(text, name, &[])
}

/// Runs the script `text` after replacing `symbols`, which are pairs of a word and its replacement
/// (`-D NAME=VALUE`).
pub fn run_with(text: &str, name: &str, symbols: &[(String, String)]) -> Report {
    let replaced = symbols::replace(text, symbols, LARGEST_SCRIPT);
    let Some(text) = replaced.filter(|text| text.len() <= LARGEST_SCRIPT) else {
        let message = format!("a script has at most {LARGEST_SCRIPT} bytes");
        return Report::new(name, "", Err(problem::Problem::invalid(1, message)));
    };
    let text = &text;
    let script = match parse::parse(text) {
        Ok(script) => script,
        Err(problem) => return Report::new(name, text, Err(problem)),
    };
    let mut runner = runner::Runner::new(&script);
    let result = runner.run();
    let mut report = Report::new(name, text, result);
    report.add_output(&runner.output);
    report.checks = runner.checks;
    report
}
