//! Build script that passes the build profile, the compiler and, if known, the commit to the
//! module.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // The log of HEAD grows with each commit. An unpacked source archive has no log, and each work
    // tree has its own.
    let log = first_line(Command::new("git").args(["rev-parse", "--git-path", "logs/HEAD"]));
    let log = Path::new(&log);
    // The log counts only if it belongs to this repository. An archive may be unpacked within
    // another repository.
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

/// Returns the first line that the command prints. Empty if it fails.
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
