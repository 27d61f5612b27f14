//! Start of a process that ends with the simulator.
//!
//! The C library's `fork` is not used, although [`std::process::Command`] uses it for work between
//! fork and exec. It first calls functions that libraries have registered. OpenBLAS, which comes
//! with NumPy and SciPy, joins threads there, and waits without end if it has joined them before.

use rustix::io::fcntl_dupfd_cloexec;
use rustix::process::{Pid, WaitOptions, WaitStatus, getpid, waitpid};
use std::ffi::{CString, c_char};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;
use std::{iter, ptr};

/// A started process, which has to be waited for.
#[derive(Debug)]
pub(super) struct Child {
    id: Pid,
    ended: Option<WaitStatus>,
}

impl Child {
    /// Starts `program` in a process group of its own, with these arguments, no environment and no
    /// input. Its output goes to `output`. It is killed when the calling thread ends.
    pub(super) fn spawn(program: &Path, arguments: &[String], output: &File) -> io::Result<Child> {
        let program = CString::new(program.as_os_str().as_bytes())?;
        let arguments: Result<Vec<_>, _> =
            arguments.iter().map(|one| CString::new(&**one)).collect();
        let arguments = arguments?;
        let pointers = iter::once(&program)
            .chain(&arguments)
            .map(|one| one.as_ptr());
        let list: Vec<*const c_char> = pointers.chain([ptr::null()]).collect();
        // Descriptors 0 to 2 are avoided, because they are the targets of the copies below.
        let input: OwnedFd = fcntl_dupfd_cloexec(File::open("/dev/null")?, 3)?;
        let output = fcntl_dupfd_cloexec(output, 3)?;
        let (mut why, fails) = io::pipe()?;
        let fails: OwnedFd = fcntl_dupfd_cloexec(fails, 3)?;
        let start = Start {
            program: program.as_ptr(),
            arguments: list.as_ptr(),
            input: input.as_raw_fd(),
            output: output.as_raw_fd(),
            fails: fails.as_raw_fd(),
            parent: getpid().as_raw_nonzero().get(),
        };
        #[allow(
            unsafe_code,
            reason = "no safe call makes a process without what is registered for fork"
        )]
        // SAFETY: without flags the new process has a copy of this memory, as after `fork`. In it,
        // `become_it` only makes system calls and never returns. The data that it points to exists
        // before the call.
        let id = unsafe {
            let id = libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0);
            if id == 0 {
                start.become_it()
            }
            id
        };
        let id = i32::try_from(id)
            .ok()
            .filter(|&id| id > 0)
            .and_then(Pid::from_raw);
        let Some(id) = id else {
            return Err(io::Error::last_os_error());
        };
        let mut child = Child { id, ended: None };
        drop(fails);
        let mut code = [0; 4];
        match why.read_exact(&mut code) {
            Ok(()) => {
                child.wait();
                Err(io::Error::from_raw_os_error(i32::from_ne_bytes(code)))
            }
            Err(_) => Ok(child),
        }
    }

    /// Returns the process id.
    pub(super) fn id(&self) -> Pid {
        self.id
    }

    /// Returns the exit status. `None` while the process runs.
    pub(super) fn has_ended(&mut self) -> Option<ExitStatus> {
        self.wait_with(WaitOptions::NOHANG)
    }

    /// Waits until the process has ended.
    pub(super) fn wait(&mut self) {
        self.wait_with(WaitOptions::empty());
    }

    fn wait_with(&mut self, options: WaitOptions) -> Option<ExitStatus> {
        while self.ended.is_none() {
            match waitpid(Some(self.id), options) {
                Ok(found) => {
                    self.ended = found.map(|(_, status)| status);
                    break;
                }
                Err(rustix::io::Errno::INTR) => {}
                // Another part of the program has waited for the process.
                Err(_) => break,
            }
        }
        self.ended
            .map(|status| ExitStatus::from_raw(status.as_raw()))
    }
}

/// Data for the new process, allocated before it exists.
struct Start {
    program: *const c_char,
    arguments: *const *const c_char,
    input: RawFd,
    output: RawFd,
    /// Pipe for the error if the program cannot be executed. Executing the program closes it.
    fails: RawFd,
    parent: libc::pid_t,
}

impl Start {
    /// Replaces the new process by the program.
    ///
    /// # Safety
    /// The caller must be a process with one thread, whose memory is a copy. The function neither
    /// allocates nor locks.
    #[allow(
        unsafe_code,
        reason = "what runs between fork and exec must not allocate or lock: system calls alone"
    )]
    unsafe fn become_it(&self) -> ! {
        // SAFETY: these are system calls on numbers, and on texts and lists that end with a zero
        // and outlive the call.
        unsafe {
            let none: *const c_char = ptr::null();
            let mut signals: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&raw mut signals);
            let is_ready =
                libc::sigprocmask(libc::SIG_SETMASK, &raw const signals, ptr::null_mut()) == 0
                    && libc::signal(libc::SIGPIPE, libc::SIG_DFL) != libc::SIG_ERR
                    && libc::setpgid(0, 0) == 0
                    && libc::dup2(self.input, 0) == 0
                    && libc::dup2(self.output, 1) == 1
                    && libc::dup2(self.output, 2) == 2
                    && libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) == 0;
            // The parent may have ended before the call of `prctl`.
            if is_ready && libc::getppid() == self.parent {
                libc::execve(self.program, self.arguments, &raw const none);
            }
            let code = *libc::__errno_location();
            libc::write(self.fails, (&raw const code).cast(), size_of::<i32>());
            libc::_exit(127)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::socket::anonymous;
    use super::*;
    use std::os::unix::fs::FileExt;
    use std::sync::atomic::{AtomicBool, Ordering};

    fn shell(script: &str, output: &File) -> io::Result<Child> {
        let arguments = ["-c", script].map(str::to_owned);
        Child::spawn(Path::new("/bin/sh"), &arguments, output)
    }

    #[test]
    fn what_it_says_is_in_the_file_and_its_status_is_known() {
        let output = anonymous("log", &[]).expect("a file");
        let mut child =
            shell("echo $#-$0$HOME; read a || echo none >&2; exit 3", &output).expect("a shell");
        child.wait();
        assert_eq!(child.has_ended().and_then(|status| status.code()), Some(3));
        let mut output_text = vec![0; 64];
        let len = output.read_at(&mut output_text, 0).expect("what it said");
        assert_eq!(
            String::from_utf8_lossy(&output_text[..len]),
            "0-/bin/sh\nnone\n"
        );
    }

    #[test]
    fn a_program_that_is_not_there_is_an_error() {
        let output = anonymous("log", &[]).expect("a file");
        let failed =
            Child::spawn(Path::new("/nowhere/linux"), &[], &output).map(|child| child.id());
        assert_eq!(
            failed.map_err(|error| error.kind()),
            Err(io::ErrorKind::NotFound)
        );
    }

    #[test]
    fn nothing_that_is_registered_for_fork_is_called() {
        static CALLED: AtomicBool = AtomicBool::new(false);
        extern "C" fn called() {
            CALLED.store(true, Ordering::Relaxed);
        }
        #[allow(unsafe_code, reason = "there is no safe call of it")]
        // SAFETY: the function only stores a value.
        unsafe {
            libc::pthread_atfork(Some(called), None, None);
        }
        let output = anonymous("log", &[]).expect("a file");
        shell("true", &output).expect("a shell").wait();
        assert!(!CALLED.load(Ordering::Relaxed));
    }
}
