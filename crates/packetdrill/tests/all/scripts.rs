//! Tests that every script in `scripts/` passes, and that errors and missing features are reported
//! without a crash.

use fadeout_packetdrill::{Outcome, Report, run};
use std::path::{Path, PathBuf};

/// Returns the reports of the scripts in a folder of `tests`.
fn reports(folder: &str) -> Vec<Report> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(folder);
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .expect("the folder of scripts can be read")
        .map(|entry| entry.expect("its entries can be read").path())
        .collect();
    paths.sort();
    let report = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).expect("a script can be read");
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        run(&text, &name)
    };
    paths.iter().map(report).collect()
}

#[test]
fn every_script_passes() {
    let reports = reports("scripts");
    assert!(reports.len() >= 15, "the scripts are where they should be");
    let wrong = reports.iter().filter(|one| one.outcome != Outcome::Passed);
    let wrong: Vec<String> = wrong.map(Report::render).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The real packetdrill tool fails these scripts on a Linux kernel, too.
#[test]
fn no_script_passes_that_a_kernel_fails() {
    let reports = reports("must-fail");
    assert!(reports.len() >= 4, "the scripts are where they should be");
    for report in reports {
        let is_refused = matches!(report.outcome, Outcome::Failed | Outcome::Unsupported);
        assert!(is_refused, "{}", report.render());
    }
}

#[test]
fn a_call_cannot_start_while_the_one_before_it_blocks() {
    let report = run(
        &format!(
            "{OPENED}+0...0.5 read(4, ..., 10) = 0\n+0 close(4) = 0\n+.5 < F. 1:1(0) ack 1 win 512\n"
        ),
        "late",
    );
    assert_eq!(report.outcome, Outcome::Failed, "{}", report.render());
}

#[test]
fn tcp_info_needs_an_open_socket() {
    let report = run(
        &format!("{OPENED}+0 close(4) = 0\n+0 %{{ assert tcpi_state == TCP_FIN_WAIT1 }}%\n"),
        "closed",
    );
    assert_eq!(report.outcome, Outcome::Failed, "{}", report.render());
    assert!(
        report.render().contains("no connected socket"),
        "{}",
        report.render()
    );
}

/// Script that accepts a connection from the peer as descriptor 4.
const OPENED: &str = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
+0 < S 0:0(0) win 65535 <mss 1000,sackOK,nop,nop,nop,wscale 7>
+0 > S. 0:0(0) ack 1 <...>
+.1 < . 1:1(0) ack 1 win 512
+0 accept(3, ..., ...) = 4
";

#[test]
fn events_that_differ_fail_with_both() {
    for call in [
        "poll([{fd=4, events=POLLIN|POLLOUT, revents=POLLIN|POLLOUT}], 1, 0) = 1",
        "poll([{fd=4, events=POLLIN, revents=0}], 1, 0) = 1",
        "poll([{fd=4, events=POLLOUT, revents=POLLOUT}], 1, 0) = 0",
    ] {
        let report = run(&format!("{OPENED}+0 {call}\n"), "events");
        assert_eq!(report.outcome, Outcome::Failed, "{}", report.render());
    }
    let call = "poll([{fd=4, events=POLLMSG, revents=0}], 1, 0) = 0";
    let report = run(&format!("{OPENED}+0 {call}\n"), "events");
    assert_eq!(report.outcome, Outcome::Unsupported);
    assert!(report.render().contains("POLLMSG"), "{}", report.render());
}
