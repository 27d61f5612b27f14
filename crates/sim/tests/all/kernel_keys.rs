//! Warnings about keys that a Linux kernel at the ends of a flow ignores. No kernel is started.

use crate::common::parse;
use fadeout_sim::{advice, kernel_tcp_keys};
use std::path::PathBuf;

/// Returns the advice about a flow between two nodes, with kernels if `has_kernels`.
fn advice_about(flow: &str, has_kernels: bool) -> Vec<String> {
    let kernels = match has_kernels {
        true => "[node.server]\nkernel = \"6.12\"\n[node.client]\nkernel = \"6.12\"\n",
        false => "",
    };
    let text = format!(
        "duration = \"1 s\"\n\
         [link.path]\nfrom = \"server\"\nto = \"client\"\nrate = \"10 Mbit/s\"\ndelay = \"10 ms\"\n\
         [link.other]\nfrom = \"server\"\nto = \"client\"\nrate = \"10 Mbit/s\"\ndelay = \"10 ms\"\n\
         {kernels}[flow.file]\nfrom = \"server\"\nto = \"client\"\n{flow}"
    );
    advice(&parse(&text, PathBuf::from("."), &[]))
}

#[test]
fn keys_that_a_kernel_ignores_are_named_together() {
    let flow = "profile = \"rfc\"\ntcp = { mss = 1000, minimum-rto = \"1 s\", delayed-ack = \"1 ms\" }\n\
                congestion-control = { name = \"cubic\", beta = 0.5 }\nroute = [\"path\"]\n";
    let found = advice_about(flow, true);
    assert_eq!(
        found,
        [
            "flow \"file\": `profile`, `tcp.mss`, `tcp.delayed-ack` and `congestion-control.beta` \
          have no effect, because the ends are Linux kernels"
        ]
    );
    assert_eq!(advice_about(flow, false), Vec::<String>::new());
}

#[test]
fn keys_that_a_kernel_obeys_or_has_anyway_are_no_warning() {
    let obeyed = "route = [\"path\"]\ntcp = { minimum-rto = \"1 s\", ecn = \"classic\", \
                  maximum-send-buffer = 100000, nagle = true, mss = 1460 }\n";
    assert_eq!(advice_about(obeyed, true), Vec::<String>::new());
    let ignored = "route = [\"path\"]\ntcp = { fin-with-data = true }\n";
    let found = advice_about(ignored, true);
    let keys = "`tcp.fin-with-data` has no effect";
    assert!(
        matches!(&found[..], [one] if one.contains(keys)),
        "{found:?}"
    );
}

#[test]
fn settings_of_multipath_that_linux_does_not_have_are_named() {
    let flow = "multipath = { paths = [[\"path\"], [\"other\"]], path-scheduler = \"linux\", \
                join-delay = \"1 s\", signal-repeats = 2 }\n";
    let found = advice_about(flow, true);
    let keys = "`multipath.join-delay` and `multipath.signal-repeats` have no effect";
    assert!(
        matches!(&found[..], [one] if one.contains(keys)),
        "{found:?}"
    );
}

#[test]
fn every_key_that_a_kernel_obeys_is_listed_once() {
    let mut keys: Vec<&str> = kernel_tcp_keys().collect();
    let count = keys.len();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), count);
}
