//! Check of a kernel: two guests exchange echo requests over a fixed delay.

use super::Guest;
use crate::agent::{Command, Report};
use crate::{Checked, Config, GuestError, Port, Sink};
use std::collections::VecDeque;

/// Sends `count` echo requests from one guest to another, with a delay of `delay_ns` in each
/// direction.
///
/// # Errors
/// Returns a [`GuestError`] if a guest does not start, or if it ends.
pub fn check(config: &Config, delay_ns: u64, count: u32) -> Result<Checked, GuestError> {
    let addresses = [[10, 0, 0, 1], [10, 0, 0, 2]];
    let mut guests = Vec::new();
    for (number, &address) in addresses.iter().enumerate() {
        let mut own = config.clone();
        own.mac[5] = number as u8 + 1;
        own.log = config
            .log
            .as_ref()
            .map(|log| log.with_extension(format!("{number}.log")));
        let mut guest = Guest::boot(own)?;
        guest.command(&Command::AddAddress(address));
        guests.push(guest);
    }
    guests[0].command(&Command::Ping {
        address: addresses[1],
        count,
    });
    let mut lines = [VecDeque::new(), VecDeque::new()];
    let mut seen = Seen::default();
    let mut now = 0;
    while seen.echoes.len() < count as usize && now <= 100 * delay_ns * u64::from(count + 1) {
        for (number, guest) in guests.iter_mut().enumerate() {
            let line: &mut VecDeque<(u64, Vec<u8>)> = &mut lines[1 - number];
            while line.front().is_some_and(|&(at, _)| at <= now) {
                let (_, frame) = line.pop_front().expect("a frame is due");
                guest.deliver(Port::Network, &frame);
            }
            guest.run(now, &mut seen)?;
            let sent = seen.frames.drain(..);
            lines[number].extend(sent.map(|frame| (now + delay_ns, frame)));
        }
        let mut next = None;
        for guest in &guests {
            next = next.into_iter().chain(guest.next_at()).min();
        }
        let arrivals = lines.iter().filter_map(|line| line.front());
        let next = next.into_iter().chain(arrivals.map(|&(at, _)| at)).min();
        match next {
            Some(at) => now = now.max(at),
            None => break,
        }
    }
    Ok(Checked {
        release: guests[0].release().to_owned(),
        echoes: seen.echoes,
    })
}

#[derive(Debug, Default)]
struct Seen {
    frames: Vec<Vec<u8>>,
    echoes: Vec<u64>,
}

impl Sink for Seen {
    fn frame(&mut self, frame: &[u8]) {
        self.frames.push(frame.to_vec());
    }
    fn report(&mut self, report: Report<'_>) {
        if let Report::Echo(round_trip) = report {
            self.echoes.push(round_trip);
        }
    }
}
