//! Checks arbitrary messages to a network device, and rings with arbitrary content. The device
//! never reads or writes beyond the guest's memory, and every step ends.

#![no_main]

use fadeout_guest::vhost::{Device, HEADER_LEN, Header, MAX_PAYLOAD};
use libfuzzer_sys::fuzz_target;
use std::cell::RefCell;

/// Returns a device as a guest configures it. The input fills its memory of 64 KB from address 0
/// on.
fn device(memory: &[u8]) -> Device<RefCell<Vec<u8>>> {
    let mut device = Device::new([2, 0, 0, 0, 0, 1]);
    let mut bytes = memory.to_vec();
    bytes.resize(1 << 16, 0);
    let mut files = vec![RefCell::new(bytes)];
    let mut ask = |request: u32, words: &[u64]| {
        let payload: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let mut head = [0; HEADER_LEN];
        head[..4].copy_from_slice(&request.to_le_bytes());
        head[4] = 1;
        head[8..].copy_from_slice(&(payload.len() as u32).to_le_bytes());
        let files = if request == 5 {
            std::mem::take(&mut files)
        } else {
            Vec::new()
        };
        let header = Header::read(&head).expect("a head");
        device
            .on_message(header, &payload, files)
            .expect("a message as it should be");
    };
    ask(5, &[1, 0, 1 << 16, 0, 0]);
    for ring in 0..2u64 {
        ask(8, &[ring | 16 << 32]);
        let at = 0x400 * ring;
        ask(9, &[ring, at, at + 0x200, at + 0x100, 0]);
        ask(18, &[ring | 1 << 32]);
    }
    device
}

fuzz_target!(|data: &[u8]| {
    let (messages, memory) = data.split_at(data.len().min(256));
    let mut device = device(memory);
    let mut rest = messages;
    for _ in 0..16 {
        device.deliver(&memory[..memory.len().min(1514)]);
        let _ = device.fill(usize::from(data.len() as u8));
        let mut frames = 0;
        let _ = device.drain(|_, _| frames += 1);
        assert!(frames <= 1 << 16);
        let _ = device.calls(data.len() % 2 == 0, &mut Vec::new());
        let Some((head, after)) = rest.split_first_chunk::<HEADER_LEN>() else {
            break;
        };
        let Ok(header) = Header::read(head) else {
            break;
        };
        let (payload, after) = after.split_at(header.size.min(MAX_PAYLOAD).min(after.len()));
        rest = after;
        let files = 0..payload.first().map_or(0, |count| count % 4);
        let files = files.map(|_| RefCell::new(memory.to_vec())).collect();
        let _ = device.on_message(header, payload, files);
    }
});
