//! Checks arbitrary messages of a guest about time, its devices and its agent. No message causes a
//! panic. Only the simulator advances time, and time never goes back.

#![no_main]

use fadeout_guest::agent::Report;
use fadeout_guest::frame::{Ip, mark, split};
use fadeout_guest::tcp_info::TcpInfo;
use fadeout_guest::time::{Clock, MESSAGE_LEN, Message};
use fadeout_guest::vhost::Offload;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut clock = Clock::default();
    for chunk in data.chunks_exact(MESSAGE_LEN) {
        let bytes: &[u8; MESSAGE_LEN] = chunk.try_into().expect("a whole chunk");
        let before = clock.now();
        if let Ok(message) = Message::read(bytes) {
            let _ = clock.on_message(message, 0);
        }
        assert_eq!(clock.now(), before, "time is ours");
        if let Some(at) = clock.next_at(bytes) {
            assert!(at >= before);
            clock.run(at.min(before + 1_000_000));
        }
    }
    let _ = Report::read(data);
    let _ = Ip::read(data);
    let _ = TcpInfo::read(data);
    let mut frame = data.to_vec();
    mark(&mut frame);
    let half = |at: usize| u16::from(data.get(at).copied().unwrap_or(0)) << 4;
    let offload = Offload {
        segment: half(0),
        checksum: (half(1) & 16 != 0).then_some((half(2), half(3))),
    };
    let len = frame.len();
    let mut sum = 0;
    if split(offload, &mut frame, &mut Vec::new(), |part| {
        sum += part.len()
    })
    .is_ok()
    {
        assert!(offload.segment > 0 || sum == len);
    }
});
