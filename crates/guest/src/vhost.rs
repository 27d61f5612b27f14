//! The back end of vhost-user for a network device, with the part that user-mode Linux uses.
//!
//! Notifications and interrupts are messages on the sockets (`INBAND_NOTIFICATIONS`), so that they
//! have a defined virtual time. This module has no clock and no socket: it converts a message into
//! an answer.
//!
//! Standard: VIRTIO 1.2 §5.1.

use crate::Fault;
use crate::memory::{Backing, Region, Regions};
use crate::ring::{Part, Ring, gather, scatter};
use std::collections::VecDeque;

/// Length of the header in front of a message's payload, bytes.
pub const HEADER_LEN: usize = 12;
/// Length of an interrupt message to the guest, bytes.
pub const CALL_LEN: usize = HEADER_LEN + 8;
/// Length of the guest's answer to an interrupt message, bytes.
pub const ANSWER_LEN: usize = HEADER_LEN + 8;
/// Longest payload, bytes.
pub const MAX_PAYLOAD: usize = 512;
/// Length of the header in front of a frame in a buffer, bytes.
///
/// Standard: VIRTIO 1.2 §5.1.6.
pub const NET_HEADER_LEN: usize = 12;
/// Longest frame with its header, bytes: a segment of 64 KB that the device has to split.
const MAX_FRAME: usize = NET_HEADER_LEN + 14 + 65536;
/// Maximum number of file descriptors with a message.
pub const MAX_FDS: usize = 8;

const RECEIVE: usize = 0;
const TRANSMIT: usize = 1;

mod feature {
    pub(super) const CHECKSUM: u64 = 1;
    pub(super) const MAC: u64 = 1 << 5;
    pub(super) const SEGMENTATION: u64 = 1 << 11;
    pub(super) const PROTOCOL: u64 = 1 << 30;
    pub(super) const VERSION_1: u64 = 1 << 32;
}

mod protocol {
    pub(super) const REPLY_ACK: u64 = 1 << 3;
    pub(super) const BACKEND_REQUEST: u64 = 1 << 5;
    pub(super) const CONFIG: u64 = 1 << 9;
    pub(super) const INBAND_NOTIFICATIONS: u64 = 1 << 14;
    pub(super) const ALL: u64 = REPLY_ACK | BACKEND_REQUEST | CONFIG | INBAND_NOTIFICATIONS;
}

mod request {
    pub(super) const GET_FEATURES: u32 = 1;
    pub(super) const SET_FEATURES: u32 = 2;
    pub(super) const SET_OWNER: u32 = 3;
    pub(super) const RESET_OWNER: u32 = 4;
    pub(super) const SET_MEM_TABLE: u32 = 5;
    pub(super) const SET_VRING_NUM: u32 = 8;
    pub(super) const SET_VRING_ADDR: u32 = 9;
    pub(super) const SET_VRING_BASE: u32 = 10;
    pub(super) const GET_VRING_BASE: u32 = 11;
    pub(super) const SET_VRING_KICK: u32 = 12;
    pub(super) const SET_VRING_CALL: u32 = 13;
    pub(super) const SET_VRING_ERR: u32 = 14;
    pub(super) const GET_PROTOCOL_FEATURES: u32 = 15;
    pub(super) const SET_PROTOCOL_FEATURES: u32 = 16;
    pub(super) const GET_QUEUE_NUM: u32 = 17;
    pub(super) const SET_VRING_ENABLE: u32 = 18;
    pub(super) const SET_BACKEND_REQUEST_FD: u32 = 21;
    pub(super) const GET_CONFIG: u32 = 24;
    pub(super) const SET_CONFIG: u32 = 25;
    pub(super) const VRING_KICK: u32 = 35;
}

/// Message to the guest: buffers of a ring were used.
const VRING_CALL: u32 = 4;

const VERSION: u32 = 1;
const IS_REPLY: u32 = 1 << 2;
const NEEDS_REPLY: u32 = 1 << 3;

/// Header of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Number of the request.
    pub request: u32,
    flags: u32,
    /// Length of the payload in bytes, at most [`MAX_PAYLOAD`].
    pub size: usize,
}

impl Header {
    /// Reads a header.
    ///
    /// # Errors
    /// Returns a [`Fault`] for another version, or for a message that is too long.
    pub fn read(bytes: &[u8; HEADER_LEN]) -> Result<Header, Fault> {
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four"));
        let (request, flags, size) = (word(0), word(4), word(8) as usize);
        if flags & 3 != VERSION {
            return Err(Fault("a message of another version of vhost-user"));
        }
        if size > MAX_PAYLOAD {
            return Err(Fault("a message of vhost-user that is too long"));
        }
        Ok(Header {
            request,
            flags,
            size,
        })
    }
}

/// A network device of a guest.
#[derive(Debug)]
pub struct Device<B> {
    mac: [u8; 6],
    features: u64,
    protocol: u64,
    memory: Regions<B>,
    rings: [Ring; 2],
    is_enabled: [bool; 2],
    /// Frames that wait for a buffer of the guest.
    waiting: VecDeque<Vec<u8>>,
    spare: Vec<Vec<u8>>,
    parts: Vec<Part>,
    buffer: Vec<u8>,
    /// For each ring: true if the guest has not been informed of used buffers.
    is_used: [bool; 2],
}

/// Answer to a message, and its consequences.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// Bytes of the answer. Empty if there is no answer.
    pub bytes: Vec<u8>,
    /// True if the first descriptor with the message is the socket for interrupts.
    pub takes_request_fd: bool,
}

impl<B: Backing> Device<B> {
    /// Creates a device with the MAC address `mac`.
    pub fn new(mac: [u8; 6]) -> Device<B> {
        Device {
            mac,
            features: 0,
            protocol: 0,
            memory: Regions::default(),
            rings: [Ring::default(), Ring::default()],
            is_enabled: [false; 2],
            waiting: VecDeque::new(),
            spare: Vec::new(),
            parts: Vec::new(),
            buffer: Vec::new(),
            is_used: [false; 2],
        }
    }

    /// Carries out a message. `files` are its descriptors, which contain memory regions.
    ///
    /// # Errors
    /// Returns a [`Fault`] for an invalid message. The guest cannot be trusted afterwards.
    pub fn on_message(
        &mut self,
        header: Header,
        payload: &[u8],
        files: Vec<B>,
    ) -> Result<Reply, Fault> {
        let number = || -> Result<u64, Fault> {
            let bytes = payload.get(..8).ok_or(SHORT)?;
            Ok(u64::from_le_bytes(bytes.try_into().expect("eight")))
        };
        let state = || -> Result<(usize, u32), Fault> {
            let (index, value) = (word(payload, 0)?, word(payload, 4)?);
            Ok((ring_number(index)?, value))
        };
        let answer = |value: u64| Some(value.to_le_bytes().to_vec());
        let mut reply = Reply::default();
        let mut answered = None;
        match header.request {
            request::GET_FEATURES => answered = answer(OFFERED),
            request::SET_FEATURES => {
                self.features = number()?;
                if self.features & !OFFERED != 0 {
                    return Err(Fault("features that were not offered"));
                }
                if self.features & feature::VERSION_1 == 0 {
                    return Err(Fault("a device of before version 1"));
                }
            }
            request::GET_PROTOCOL_FEATURES => answered = answer(protocol::ALL),
            request::SET_PROTOCOL_FEATURES => self.protocol = number()?,
            request::SET_OWNER
            | request::RESET_OWNER
            | request::SET_CONFIG
            | request::SET_VRING_KICK
            | request::SET_VRING_CALL
            | request::SET_VRING_ERR
            | request::VRING_KICK => {}
            request::SET_MEM_TABLE => self.set_memory(payload, files)?,
            request::SET_VRING_NUM => {
                let (ring, size) = state()?;
                self.rings[ring].set_size(size)?;
            }
            request::SET_VRING_BASE => {
                let (ring, base) = state()?;
                self.rings[ring].set_base(base as u16);
            }
            request::GET_VRING_BASE => {
                let (ring, _) = state()?;
                self.is_enabled[ring] = false;
                let mut bytes = (ring as u32).to_le_bytes().to_vec();
                bytes.extend(u32::from(self.rings[ring].base()).to_le_bytes());
                answered = Some(bytes);
            }
            request::SET_VRING_ADDR => {
                let (ring, _) = state()?;
                let long_at = |place| long(payload, place);
                // The order in the message is: descriptors, used, available.
                self.rings[ring].set_addresses(long_at(8)?, long_at(24)?, long_at(16)?);
            }
            request::SET_VRING_ENABLE => {
                let (ring, on) = state()?;
                self.is_enabled[ring] = on != 0;
                if on != 0 && self.rings[ring].is_ready() {
                    self.rings[ring].silence(&self.memory)?;
                }
            }
            request::GET_QUEUE_NUM => answered = answer(1),
            request::SET_BACKEND_REQUEST_FD => reply.takes_request_fd = true,
            request::GET_CONFIG => answered = Some(self.config(payload)?),
            _ => return Err(Fault("an unknown message of vhost-user")),
        }
        if answered.is_none()
            && header.flags & NEEDS_REPLY != 0
            && self.protocol & protocol::REPLY_ACK != 0
        {
            answered = answer(0);
        }
        if let Some(payload) = answered {
            reply.bytes = message(header.request, VERSION | IS_REPLY, &payload);
        }
        Ok(reply)
    }

    fn set_memory(&mut self, payload: &[u8], files: Vec<B>) -> Result<(), Fault> {
        let count = word(payload, 0)? as usize;
        if count > MAX_FDS || count != files.len() {
            return Err(Fault("memory regions without their files"));
        }
        let regions = files.into_iter().enumerate().map(|(n, backing)| {
            let long_at = |place| long(payload, 8 + 32 * n + place);
            Ok(Region {
                address: long_at(0)?,
                len: long_at(8)?,
                offset: long_at(24)?,
                backing,
            })
        });
        self.memory = Regions(regions.collect::<Result<_, Fault>>()?);
        Ok(())
    }

    /// Returns the requested part of the device's configuration, with zeros beyond its end.
    fn config(&self, payload: &[u8]) -> Result<Vec<u8>, Fault> {
        let (offset, size) = (word(payload, 0)? as usize, word(payload, 4)? as usize);
        if size > MAX_PAYLOAD - 12 || offset > MAX_PAYLOAD {
            return Err(Fault("a configuration that is too long"));
        }
        let mut whole = self.mac.to_vec();
        whole.resize(offset + size, 0);
        let mut bytes = payload[..12.min(payload.len())].to_vec();
        bytes.resize(12, 0);
        bytes.extend_from_slice(&whole[offset..]);
        Ok(bytes)
    }

    /// Queues a frame for the guest. The guest receives it with its next interrupt.
    pub fn deliver(&mut self, frame: &[u8]) {
        let mut buffer = self.spare.pop().unwrap_or_default();
        buffer.clear();
        let mut head = [0; NET_HEADER_LEN];
        // The header says that the checksum is valid, even if it is not filled in, and that there
        // is one buffer.
        head[0] = 2;
        head[10] = 1;
        buffer.extend_from_slice(&head);
        buffer.extend_from_slice(frame);
        // There is no ARP, so every frame gets the guest's address.
        if let Some(to) = buffer.get_mut(NET_HEADER_LEN..NET_HEADER_LEN + 6) {
            to.copy_from_slice(&self.mac);
        }
        self.waiting.push_back(buffer);
    }

    /// Writes waiting frames into the guest's buffers, at most `most` frames and as many as there
    /// are buffers.
    ///
    /// # Errors
    /// Returns a [`Fault`] for an invalid ring.
    pub fn fill(&mut self, most: usize) -> Result<(), Fault> {
        if self.waiting.is_empty() || !self.is_enabled[RECEIVE] {
            return Ok(());
        }
        let ring = &mut self.rings[RECEIVE];
        let mut filled = 0;
        while filled < most
            && !self.waiting.is_empty()
            && let Some(head) = ring.next_buffer(&self.memory, &mut self.parts)?
        {
            let frame = self.waiting.pop_front().expect("a frame waits");
            // A buffer that is too small goes back empty, and its frame is lost.
            let written = scatter(&self.memory, &self.parts, &frame)?.unwrap_or(0);
            ring.give_back(&self.memory, head, written)?;
            self.spare.push(frame);
            filled += 1;
        }
        if filled > 0 {
            ring.publish(&self.memory)?;
            self.is_used[RECEIVE] = true;
        }
        Ok(())
    }

    /// Calls `take` for each frame that the guest sent, with its [`Offload`].
    ///
    /// # Errors
    /// Returns a [`Fault`] for an invalid ring.
    pub fn drain(&mut self, mut take: impl FnMut(Offload, &mut [u8])) -> Result<(), Fault> {
        if !self.is_enabled[TRANSMIT] {
            return Ok(());
        }
        let ring = &mut self.rings[TRANSMIT];
        let mut is_used = false;
        while let Some(head) = ring.next_buffer(&self.memory, &mut self.parts)? {
            gather(&self.memory, &self.parts, MAX_FRAME, &mut self.buffer)?;
            ring.give_back(&self.memory, head, 0)?;
            is_used = true;
            if let Some((header, frame)) = self.buffer.split_at_mut_checked(NET_HEADER_LEN) {
                take(Offload::read(header), frame);
            }
        }
        if is_used {
            ring.publish(&self.memory)?;
            self.is_used[TRANSMIT] = true;
        }
        Ok(())
    }

    /// Appends the interrupt messages for used buffers to `into`, if the guest wants them. With
    /// `asks` the guest answers each with [`ANSWER_LEN`] bytes.
    ///
    /// # Errors
    /// Returns a [`Fault`] for an invalid ring.
    pub fn calls(&mut self, asks: bool, into: &mut Vec<u8>) -> Result<(), Fault> {
        let flags = VERSION | if asks { NEEDS_REPLY } else { 0 };
        for (number, is_used) in self.is_used.iter_mut().enumerate() {
            if std::mem::take(is_used) && self.rings[number].wants_interrupt(&self.memory)? {
                let mut payload = (number as u32).to_le_bytes().to_vec();
                payload.extend(0u32.to_le_bytes());
                into.extend(message(VRING_CALL, flags, &payload));
            }
        }
        Ok(())
    }

    /// True if the descriptor with this message is the socket for interrupts.
    pub fn is_for_calls(&self, header: Header) -> bool {
        header.request == request::SET_BACKEND_REQUEST_FD
    }

    /// True if frames wait for the guest, or if it has not been informed of used buffers.
    pub fn has_something(&self) -> bool {
        !self.waiting.is_empty() || self.is_used.contains(&true)
    }
}

/// Work on a frame that the guest leaves to the device.
///
/// Standard: VIRTIO 1.2 §5.1.6.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Offload {
    /// Payload of each segment that the frame is split into. Zero if the frame is not split.
    pub segment: u16,
    /// Start of the data for the checksum, and offset of the checksum field from there. `None` if
    /// the checksum is complete.
    pub checksum: Option<(u16, u16)>,
}

impl Offload {
    fn read(header: &[u8]) -> Offload {
        let half = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
        Offload {
            segment: if header[1] & 0x7f == 0 { 0 } else { half(4) },
            checksum: (header[0] & 1 != 0).then(|| (half(6), half(8))),
        }
    }
}

const OFFERED: u64 = feature::CHECKSUM
    | feature::MAC
    | feature::SEGMENTATION
    | feature::PROTOCOL
    | feature::VERSION_1;

const SHORT: Fault = Fault("a message of vhost-user that is too short");

fn ring_number(index: u32) -> Result<usize, Fault> {
    match index {
        0 | 1 => Ok(index as usize),
        _ => Err(Fault("a ring that the device does not have")),
    }
}

fn word(payload: &[u8], at: usize) -> Result<u32, Fault> {
    let bytes = payload.get(at..at + 4).ok_or(SHORT)?;
    Ok(u32::from_le_bytes(bytes.try_into().expect("four")))
}

fn long(payload: &[u8], at: usize) -> Result<u64, Fault> {
    let bytes = payload.get(at..at + 8).ok_or(SHORT)?;
    Ok(u64::from_le_bytes(bytes.try_into().expect("eight")))
}

fn message(request: u32, flags: u32, payload: &[u8]) -> Vec<u8> {
    let mut bytes = request.to_le_bytes().to_vec();
    bytes.extend(flags.to_le_bytes());
    bytes.extend((payload.len() as u32).to_le_bytes());
    bytes.extend(payload);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Memory;
    use std::cell::RefCell;

    type Buffer = RefCell<Vec<u8>>;

    fn head(request: u32, size: usize) -> Header {
        Header {
            request,
            flags: VERSION | NEEDS_REPLY,
            size,
        }
    }

    fn ask(device: &mut Device<Buffer>, request: u32, words: &[u64], files: Vec<Buffer>) -> Reply {
        let payload: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        device
            .on_message(head(request, payload.len()), &payload, files)
            .expect("a message as it should be")
    }

    /// Returns a device as a guest configures it: rings with four entries at 0x100 and 0x400, and 8
    /// KB of memory.
    fn device() -> Device<Buffer> {
        let mut device = Device::new([2, 0, 0, 0, 0, 9]);
        ask(&mut device, request::SET_FEATURES, &[OFFERED], vec![]);
        ask(
            &mut device,
            request::SET_PROTOCOL_FEATURES,
            &[protocol::ALL],
            vec![],
        );
        let region = [1, 0, 8192, 0, 0];
        let file = RefCell::new(vec![0; 8192]);
        ask(&mut device, request::SET_MEM_TABLE, &region, vec![file]);
        for ring in 0..2u64 {
            let base = 0x100 + 0x300 * ring;
            ask(
                &mut device,
                request::SET_VRING_NUM,
                &[ring | 4 << 32],
                vec![],
            );
            let places = [ring, base, base + 0x200, base + 0x100, 0];
            ask(&mut device, request::SET_VRING_ADDR, &places, vec![]);
            ask(
                &mut device,
                request::SET_VRING_ENABLE,
                &[ring | 1 << 32],
                vec![],
            );
        }
        device
    }

    fn offer(device: &Device<Buffer>, ring: u64, at: u64, len: u32, is_writable: bool) {
        let base = 0x100 + 0x300 * ring;
        let mut bytes = at.to_le_bytes().to_vec();
        bytes.extend(len.to_le_bytes());
        bytes.extend([2 * u8::from(is_writable), 0, 0, 0]);
        device.memory.write(base, &bytes).expect("inside");
        device.memory.write(base + 0x102, &[1, 0]).expect("inside");
    }

    #[test]
    fn a_frame_reaches_the_guest_and_one_of_it_reaches_us() {
        let mut device = device();
        device.deliver(b"to be  frame");
        device.fill(usize::MAX).expect("no ring is wrong");
        assert!(device.has_something(), "the guest has no buffer yet");
        offer(&device, 0, 0x1000, 64, true);
        device.fill(usize::MAX).expect("no ring is wrong");
        let mut got = [0; 24];
        device.memory.read(0x1000, &mut got).expect("inside");
        assert_eq!(&got[NET_HEADER_LEN..], b"\x02\0\0\0\0\x09 frame");
        let mut calls = Vec::new();
        device.calls(false, &mut calls).expect("no ring is wrong");
        assert_eq!(calls, message(VRING_CALL, VERSION, &[0; 8]));

        let mut sent = [0; 20];
        sent[..10].copy_from_slice(&[1, 1, 0, 0, 0xa8, 5, 34, 0, 16, 0]);
        device.memory.write(0x1100, &sent).expect("inside");
        offer(&device, 1, 0x1100, 20, false);
        let mut seen = Vec::new();
        let drained = device.drain(|offload, frame| seen.push((offload, frame.len())));
        assert_eq!(drained, Ok(()));
        let offload = Offload {
            segment: 1448,
            checksum: Some((34, 16)),
        };
        assert_eq!(seen, [(offload, 8)]);
    }

    #[test]
    fn its_address_is_in_the_configuration() {
        let mut device = device();
        let reply = ask(&mut device, request::GET_CONFIG, &[6 << 32, 0], vec![]);
        assert_eq!(&reply.bytes[24..], [2, 0, 0, 0, 0, 9]);
    }

    #[test]
    fn messages_that_are_none_are_faults() {
        let mut device = device();
        let mut fails = |request, payload: &[u8]| {
            let head = head(request, payload.len());
            device.on_message(head, payload, vec![]).is_err()
        };
        assert!(fails(99, &[]));
        assert!(fails(request::SET_VRING_NUM, &[2, 0, 0, 0, 4, 0, 0, 0]));
        assert!(fails(request::SET_VRING_ADDR, &[0; 12]));
        assert!(fails(request::SET_MEM_TABLE, &[1, 0, 0, 0, 0, 0, 0, 0]));
        assert!(fails(request::SET_FEATURES, &[0xff; 8]));
        assert!(fails(request::GET_CONFIG, &[0xff; 12]));
        let mut bytes = [0; HEADER_LEN];
        assert!(Header::read(&bytes).is_err(), "no version");
        bytes[4] = 1;
        bytes[11] = 1;
        assert!(Header::read(&bytes).is_err(), "16 MB");
    }
}
