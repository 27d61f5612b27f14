//! Streams of an end: the data that it sends, and the data that arrives.

use bytes::Bytes;
use fadeout_transport::quic::StreamUse;
use noq_proto::{Connection, Dir, StreamId};
use std::collections::VecDeque;

/// Length after which the contents of a stream repeat. It is a prime number, so that misplaced data
/// are seen.
const PERIOD: usize = 251;
/// Size of the largest chunk that is handed to the stack, bytes.
const CHUNK: usize = 256 * PERIOD;

/// Contents of every stream: the byte at an offset is the offset modulo the period.
static CONTENTS: [u8; CHUNK + PERIOD] = {
    let mut contents = [0; CHUNK + PERIOD];
    let mut offset = 0;
    while offset < contents.len() {
        contents[offset] = (offset % PERIOD) as u8;
        offset += 1;
    }
    contents
};

/// Returns at most `length` bytes of a stream from an offset on, at least one if `length` is not
/// zero.
fn contents(offset: u64, length: u64) -> &'static [u8] {
    let start = (offset % PERIOD as u64) as usize;
    let length = length.min(CHUNK as u64) as usize;
    &CONTENTS[start..start + length]
}

/// True if `bytes` are those of a stream from an offset on.
fn is_in_place(mut offset: u64, mut bytes: &[u8]) -> bool {
    while !bytes.is_empty() {
        let expected = contents(offset, bytes.len() as u64);
        let (now, later) = bytes.split_at(expected.len());
        if now != expected {
            return false;
        }
        offset += now.len() as u64;
        bytes = later;
    }
    true
}

/// Data of one stream that an end sends.
#[derive(Debug)]
struct Message {
    /// Stream of the data. `None` before it is opened.
    stream: Option<StreamId>,
    offset: u64,
    /// Number of bytes that have not been handed to the stack. [`u64::MAX`] without an end.
    left: u64,
    /// True if no more data follow.
    is_whole: bool,
}

/// Data that an end sends.
#[derive(Debug)]
pub(crate) struct Outgoing {
    streams: StreamUse,
    messages: VecDeque<Message>,
    opened: u64,
    /// Number of open streams whose data are not all acknowledged.
    unfinished: u64,
    is_closing: bool,
}

impl Outgoing {
    pub(crate) fn new(streams: StreamUse) -> Outgoing {
        Outgoing {
            streams,
            messages: VecDeque::new(),
            opened: 0,
            unfinished: 0,
            is_closing: false,
        }
    }

    /// Adds data to send. [`u64::MAX`] means data without an end.
    pub(crate) fn write(&mut self, bytes: u64) {
        if self.is_closing {
            return;
        }
        match (self.streams, self.messages.back_mut()) {
            (StreamUse::One, Some(last)) => last.left = last.left.saturating_add(bytes),
            _ => self.messages.push_back(Message {
                stream: None,
                offset: 0,
                left: bytes,
                is_whole: self.streams == StreamUse::PerWrite,
            }),
        }
    }

    /// Ends the data.
    pub(crate) fn close(&mut self) {
        self.is_closing = true;
        if let Some(last) = self.messages.back_mut() {
            last.is_whole = true;
        }
    }

    /// Returns the number of streams opened.
    pub(crate) fn opened(&self) -> u64 {
        self.opened
    }

    /// Returns the number of open streams whose data are not all acknowledged.
    pub(crate) fn unfinished(&self) -> u64 {
        self.unfinished
    }

    /// True if the data have ended and are all acknowledged.
    pub(crate) fn is_complete(&self) -> bool {
        self.is_closing && self.messages.is_empty() && self.unfinished == 0
    }

    /// Records that all data of a stream are acknowledged.
    pub(crate) fn on_finished(&mut self) {
        self.unfinished = self.unfinished.saturating_sub(1);
    }

    /// Hands data to the stack, as far as its windows allow. Returns true if the stack took any.
    pub(crate) fn push(&mut self, connection: &mut Connection) -> bool {
        let mut is_busy = false;
        while let Some(message) = self.messages.front_mut() {
            let stream = match message.stream {
                Some(stream) => stream,
                None => {
                    let Some(stream) = connection.streams().open(Dir::Uni) else {
                        return is_busy;
                    };
                    self.opened += 1;
                    self.unfinished += 1;
                    *message.stream.insert(stream)
                }
            };
            while message.left > 0 {
                let mut chunks = [Bytes::from_static(contents(message.offset, message.left))];
                let mut rest = &mut chunks[..];
                let taken = connection.send_stream(stream).write_chunks(&mut rest);
                let Ok(taken @ 1..) = taken else {
                    return is_busy;
                };
                is_busy = true;
                message.offset += taken as u64;
                if message.left < u64::MAX {
                    message.left -= taken as u64;
                }
            }
            if !message.is_whole {
                return is_busy;
            }
            // The peer never stops a stream, so that this succeeds until the connection is over.
            is_busy |= connection.send_stream(stream).finish().is_ok();
            self.messages.pop_front();
        }
        is_busy
    }
}

/// Reads the data that have arrived in order on a stream. Returns their number of bytes. The stack
/// may then have a new limit for the peer, so that the caller has to take datagrams.
pub(crate) fn read(connection: &mut Connection, id: StreamId) -> u64 {
    let mut stream = connection.recv_stream(id);
    let Ok(mut chunks) = stream.read(true) else {
        return 0;
    };
    let mut delivered = 0;
    while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
        debug_assert!(
            is_in_place(chunk.offset, &chunk.bytes),
            "the bytes of {id} at {} are not those that were sent",
            chunk.offset
        );
        delivered += chunk.bytes.len() as u64;
    }
    let _ = chunks.finalize();
    delivered
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_are_the_same_however_they_are_divided() {
        let all = contents(0, 5000);
        let mut offset = 0;
        for length in [1, 250, 251, 252, 1000] {
            let part = contents(offset as u64, length as u64);
            assert_eq!(part, &all[offset..offset + length]);
            offset += length;
        }
        assert!(is_in_place(17, &all[17..4000]));
        assert!(is_in_place(0, &CONTENTS) && is_in_place(5, contents(5, u64::MAX)));
    }

    #[test]
    fn data_at_another_offset_are_seen() {
        assert!(!is_in_place(18, contents(17, 40)));
        assert!(!is_in_place(0, &[0, 1, 3]));
    }
}
