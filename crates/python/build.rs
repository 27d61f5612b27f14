//! Tells the module what it was built with, and from which commit when that is known.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // Grows with each commit; an unpacked source archive has none, and a work tree has its own.
    let log = first_line(Command::new("git").args(["rev-parse", "--git-path", "logs/HEAD"]));
    let log = Path::new(&log);
    // Not that of a repository which an archive was unpacked in.
    let is_known = Path::new("../../.git").exists() && log.is_file();
    if is_known {
        println!("cargo:rerun-if-changed={}", log.display());
    }
    let rustc = std::env::var("RUSTC").expect("cargo tells build scripts the compiler");
    println!(
        "cargo:rustc-env=FADEOUT_RUSTC={}",
        first_line(Command::new(rustc).arg("--version"))
    );
    let commit = if is_known {
        first_line(Command::new("git").args(["rev-parse", "--short=12", "HEAD"]))
    } else {
        String::new()
    };
    println!("cargo:rustc-env=FADEOUT_COMMIT={commit}");
}

/// What the command prints, or nothing when it fails.
fn first_line(command: &mut Command) -> String {
    let output = command
        .output()
        .ok()
        .filter(|output| output.status.success());
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    text.unwrap_or_default()
        .lines()
        .next()
        .unwrap_or_default()
        .to_owned()
}
