//! The process of a guest.

use super::socket::path_of;
use super::spawn::Child;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// A running guest. It ends with the simulator, even if the simulator is killed.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    log: File,
}

impl Process {
    /// Starts `kernel` with these arguments. Its output goes to `log`.
    pub(super) fn start(kernel: &Path, arguments: &[String], log: File) -> io::Result<Process> {
        Ok(Process {
            child: Child::spawn(kernel, arguments, &log)?,
            log,
        })
    }

    /// Returns the process id.
    pub(super) fn id(&self) -> Pid {
        self.child.id()
    }

    /// True if the process has ended.
    pub(super) fn has_ended(&mut self) -> bool {
        self.child.has_ended().is_some()
    }

    /// Ends the process after its sockets broke. Returns its exit status and its last output.
    pub(super) fn last_words(&mut self) -> String {
        self.end();
        let status = self.child.has_ended();
        let status = status.map_or_else(String::new, |status| format!(" with {status}"));
        status + &self.last_lines()
    }

    /// Returns the kernel's panic, or the last lines of its log.
    pub(super) fn last_lines(&self) -> String {
        let len = self.log.metadata().map_or(0, |meta| meta.len());
        let start = len.saturating_sub(4096);
        let mut bytes = vec![0; (len - start) as usize];
        let read = self.log.read_at(&mut bytes, start).unwrap_or(0);
        let text = String::from_utf8_lossy(&bytes[..read]).into_owned();
        let lines: Vec<&str> = text
            .lines()
            .filter(|line| !line.trim().is_empty())
            .collect();
        let panic = lines.iter().position(|line| line.contains("Kernel panic"));
        let from = panic.unwrap_or(lines.len().saturating_sub(3));
        match lines.get(from..) {
            Some(last) if !last.is_empty() => {
                format!(": {}", last[..last.len().min(3)].join(" / "))
            }
            _ => String::new(),
        }
    }

    /// Kills the process and all its children.
    fn end(&mut self) {
        if self.child.has_ended().is_none() {
            let _ = kill_process(self.id(), Signal::KILL);
        }
        let _ = kill_process_group(self.id(), Signal::KILL);
        self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

/// Returns the arguments of user-mode Linux for the simulator's clock and devices. `clock_read` is
/// the time of reading the clock, ns.
pub(super) fn arguments(
    memory_mb: u32,
    clock_read: u64,
    clock: &str,
    devices: [&str; 2],
    init: &File,
) -> Vec<String> {
    let mut arguments = vec![
        format!("mem={memory_mb}M"),
        format!("time-travel=ext:1:{clock}"),
        format!("clock-costs={clock_read}"),
        format!("initrd={}", path_of(init)),
        "rdinit=/init".to_owned(),
        // Without NAPI, sent segments are transmitted at once, and no queue of the device holds
        // them.
        "virtio_net.napi_tx=0".to_owned(),
        "con=null".to_owned(),
        "con0=null,fd:1".to_owned(),
        "loglevel=5".to_owned(),
        "norandmaps".to_owned(),
        "panic=-1".to_owned(),
        // The guest has no name in a folder, so no file is left behind.
        "uml_dir=/dev/null".to_owned(),
    ];
    let devices = devices.map(|device| format!("virtio_uml.device={device}:1"));
    arguments.extend(devices);
    arguments
}
