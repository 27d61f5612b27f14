//! Every script in `scripts/` passes; what is wrong or not supported is said, never fatal.

use fadeout_packetdrill::{Outcome, run};
use std::path::Path;

#[test]
fn every_script_passes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .expect("the folder of scripts can be read")
        .map(|entry| entry.expect("its entries can be read").path())
        .collect();
    paths.sort();
    assert!(paths.len() >= 15, "the scripts are where they should be");
    let mut wrong = Vec::new();
    for path in paths {
        let text = std::fs::read_to_string(&path).expect("a script can be read");
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let report = run(&text, &name);
        if report.outcome != Outcome::Passed || !report.warnings.is_empty() {
            wrong.push(format!("{} {:?}", report.render(), report.warnings));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A connection that the peer opened, as descriptor 4.
const OPENED: &str = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
+0 < S 0:0(0) win 65535 <mss 1000,sackOK,nop,nop,nop,wscale 7>
+0 > S. 0:0(0) ack 1 <...>
+.1 < . 1:1(0) ack 1 win 512
+0 accept(3, ..., ...) = 4
";

#[test]
fn what_a_full_send_buffer_would_do_is_refused_by_name() {
    for call in [
        "write(4, ..., 59000) = 58000",
        "write(4, ..., 59000) = -1 EAGAIN (Resource temporarily unavailable)",
    ] {
        let report = run(&format!("{OPENED}+0 {call}\n"), "full");
        assert_eq!(report.outcome, Outcome::Unsupported, "{}", report.render());
        assert!(
            report.render().contains("send buffer"),
            "{}",
            report.render()
        );
    }
}

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
