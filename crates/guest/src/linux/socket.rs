//! Sockets that a guest connects to, and messages with file descriptors.

use rustix::fs::{MemfdFlags, Mode, OFlags, memfd_create, open};
use rustix::io::IoSliceMut;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use std::fs::File;
use std::io::{self, IoSlice, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::atomic::{AtomicU64, Ordering};

/// A listening socket without a name in any folder. The guest connects through the simulator's list
/// of file descriptors in `/proc`. So no file is left behind, even if the simulator is killed.
#[derive(Debug)]
pub(super) struct Door {
    listener: UnixListener,
    /// Descriptor of the socket's file after its name was removed.
    place: OwnedFd,
}

impl Door {
    pub(super) fn open() -> io::Result<Door> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("fadeout-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let listener = UnixListener::bind(&path)?;
        let place = open(&path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty());
        std::fs::remove_file(&path)?;
        let place = place?;
        Ok(Door { listener, place })
    }

    /// Returns the path by which another process of this user can connect.
    pub(super) fn path(&self) -> String {
        path_of(&self.place)
    }

    /// Waits for a connection and returns it.
    pub(super) fn accept(&self) -> io::Result<UnixStream> {
        Ok(self.listener.accept()?.0)
    }

    pub(super) fn set_nonblocking(&self) -> io::Result<()> {
        self.listener.set_nonblocking(true)
    }

    pub(super) fn listener(&self) -> &UnixListener {
        &self.listener
    }
}

/// Returns the path by which another process of this user can open a descriptor.
pub(super) fn path_of(file: &impl AsRawFd) -> String {
    format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd())
}

/// Returns an unnamed file with this content.
pub(super) fn anonymous(name: &str, content: &[u8]) -> io::Result<File> {
    let mut file = File::from(memfd_create(name, MemfdFlags::CLOEXEC)?);
    file.write_all(content)?;
    Ok(file)
}

/// Sends bytes together with file descriptors.
pub(super) fn send_with(socket: &UnixStream, bytes: &[u8], files: &[&File]) -> io::Result<()> {
    let borrowed: Vec<_> = files.iter().map(|file| file.as_fd()).collect();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    ancillary.push(SendAncillaryMessage::ScmRights(&borrowed));
    sendmsg(
        socket,
        &[IoSlice::new(bytes)],
        &mut ancillary,
        SendFlags::NOSIGNAL,
    )?;
    Ok(())
}

/// Receives at most `into.len()` bytes, and the file descriptors sent with them.
pub(super) fn receive_with(
    socket: &UnixStream,
    into: &mut [u8],
    files: &mut Vec<File>,
) -> io::Result<usize> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(8))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let received = recvmsg(
        socket,
        &mut [IoSliceMut::new(into)],
        &mut ancillary,
        RecvFlags::CMSG_CLOEXEC,
    )?;
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(rights) = message {
            files.extend(rights.map(File::from));
        }
    }
    Ok(received.bytes)
}
