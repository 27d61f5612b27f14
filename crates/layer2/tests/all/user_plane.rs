//! Tests of flow control between two base stations against a slow reference. Links lose frames in
//! both directions.

use fadeout_core::random::Stream;
use fadeout_core::{Bytes, Span, Time};
use fadeout_layer2::rlc::Sdu;
use fadeout_layer2::user_plane::{
    Corresponding, DeliveryStatus, DesiredBuffer, FlowControlConfig, Hosting,
};
use fadeout_testkit::Cases;
use std::collections::{BTreeSet, VecDeque};

/// All frames ever sent, searched from the start each time.
#[derive(Default)]
struct Reference {
    sent: Vec<Sdu>,
    /// Numbers passed to RLC, and numbers returned as lost.
    delivered: BTreeSet<u64>,
    returned: BTreeSet<u64>,
    /// Numbers reported as delivered.
    confirmed: BTreeSet<u64>,
    heard: Vec<DeliveryStatus>,
}

impl Reference {
    fn outstanding(&self) -> u64 {
        let is_confirmed = |number: u64| {
            self.heard.iter().any(|status| {
                let mut lost = status.lost().iter();
                number < status.through || lost.any(|&(first, end)| (first..end).contains(&number))
            })
        };
        let numbered = (0..).zip(&self.sent);
        let open = numbered.filter(|&(number, _)| !is_confirmed(number));
        open.map(|(_, sdu)| u64::from(sdu.size)).sum()
    }
}

#[test]
fn what_is_outstanding_is_what_no_status_has_told_of_and_stays_within_what_was_asked_for() {
    Cases::new(300).run(|seed| {
        let mut draws = Stream::new(seed, "user-plane", 0);
        let most = 3000 + draws.below(40_000);
        let config = FlowControlConfig {
            desired: DesiredBuffer::Fixed(Bytes(most)),
            ..FlowControlConfig::USUAL
        };
        let (mut hosting, mut node) = (Hosting::new(&config), Corresponding::new(&config));
        let mut reference = Reference::default();
        let (mut there, mut back) = (VecDeque::new(), VecDeque::new());
        let mut rlc: VecDeque<Sdu> = VecDeque::new();
        let mut lost_in_a_row = 0;
        for ms in 1..500 {
            let now = Time::ZERO + Span::from_millis(ms);
            let is_calm = ms > 250;
            for _ in 0..if is_calm { 0 } else { 100 } {
                let sdu = Sdu {
                    size: 60 + draws.below(1440) as u32,
                    serial: reference.sent.len() as u32,
                    ..Sdu::default()
                };
                if !hosting.has_room(sdu.size) {
                    break;
                }
                let number = hosting.send(now, sdu);
                reference.sent.push(sdu);
                if draws.below(8) > 0 {
                    there.push_back((number, Some(sdu)));
                }
            }
            assert!(
                hosting.outstanding() <= most,
                "{} of {most}",
                hosting.outstanding()
            );
            if hosting.poll_at() <= now {
                hosting.on_poll_sent(now);
                there.push_back((hosting.next_number(), None));
            }
            for _ in 0..draws.below(8) {
                match there.pop_front() {
                    Some((number, None)) => node.on_poll(number),
                    Some((number, Some(sdu))) => {
                        assert!(node.on_data(number, &sdu), "frames keep their order");
                        assert!(reference.delivered.insert(number));
                        rlc.push_back(sdu);
                    }
                    None => {}
                }
            }
            rlc.drain(..rlc.len().min(draws.below(6) as usize));
            if node.status_at() <= now
                && let Some(status) = node.status(now, rlc.front())
            {
                // Four statuses report each lost range. So the test loses at most three statuses in
                // a row.
                lost_in_a_row = match draws.below(3) == 0 && lost_in_a_row < 3 && !is_calm {
                    true => lost_in_a_row + 1,
                    false => {
                        back.push_back(status);
                        0
                    }
                };
            }
            if draws.below(3) > 0
                && let Some(status) = back.pop_front()
            {
                let mut again = Vec::new();
                hosting.on_status(now, &status, &mut again, |sdu| {
                    assert!(reference.confirmed.insert(u64::from(sdu.serial)), "once");
                });
                reference.heard.push(status);
                for sdu in again {
                    assert!(reference.returned.insert(u64::from(sdu.serial)), "once");
                }
                assert_eq!(hosting.outstanding(), reference.outstanding());
            }
        }
        // Each frame was either delivered or returned as lost.
        let both = reference.delivered.intersection(&reference.returned);
        assert_eq!(both.count(), 0);
        let known = reference.delivered.len() + reference.returned.len();
        assert_eq!(known, reference.sent.len());
        assert_eq!(reference.confirmed, reference.delivered);
        assert_eq!(hosting.outstanding(), 0);
    });
}

/// A node that delivers 10 MB/s asks for the bytes of its buffer time.
#[test]
fn the_desired_buffer_lasts_for_its_time_at_the_rate_of_late() {
    let config = FlowControlConfig {
        desired: DesiredBuffer::Lasting(Span::from_millis(60), Bytes(50_000)),
        ..FlowControlConfig::USUAL
    };
    let mut node = Corresponding::new(&config);
    let first = node.status(Time::ZERO, None).expect("it asks at once");
    assert_eq!((first.through, first.desired), (0, 50_000));
    let mut last = first;
    for ms in 1..=100 {
        let now = Time::ZERO + Span::from_millis(ms);
        let sdu = Sdu {
            size: 10_000,
            serial: ms as u32,
            ..Sdu::default()
        };
        assert!(node.on_data(ms - 1, &sdu));
        if node.status_at() <= now {
            last = node.status(now, None).expect("news");
        }
    }
    assert_eq!(last.through, 100);
    assert_eq!(last.desired, 600_000);
}

/// Runs flow control with a node that delivers `rate` bytes each millisecond, over links of a
/// delay. The hosting node always has data. Returns for each millisecond the bytes delivered, and
/// the bytes that wait at the node.
fn run(
    config: &FlowControlConfig,
    delay: u64,
    mut rate: impl FnMut(u64) -> u64,
    until: u64,
) -> Vec<(u64, u64)> {
    let (mut hosting, mut node) = (Hosting::new(config), Corresponding::new(config));
    let (mut there, mut back) = (VecDeque::new(), VecDeque::new());
    let mut rlc: VecDeque<Sdu> = VecDeque::new();
    let (mut serial, mut credit) = (0, 0);
    let mut steps = Vec::new();
    for ms in 0..until {
        let now = Time::ZERO + Span::from_millis(ms);
        while back.front().is_some_and(|&(at, _)| at <= ms)
            && let Some((_, status)) = back.pop_front()
        {
            hosting.on_status(now, &status, &mut Vec::new(), |_| {});
        }
        while hosting.has_room(1000) {
            let sdu = Sdu {
                size: 1000,
                serial,
                ..Sdu::default()
            };
            serial += 1;
            there.push_back((ms + delay, hosting.send(now, sdu), sdu));
        }
        while there.front().is_some_and(|&(at, ..)| at <= ms)
            && let Some((_, number, sdu)) = there.pop_front()
        {
            assert!(node.on_data(number, &sdu), "frames keep their order");
            rlc.push_back(sdu);
        }
        credit += rate(ms);
        let mut delivered = 0;
        while credit >= 1000 && rlc.pop_front().is_some() {
            credit -= 1000;
            delivered += 1000;
        }
        // A node without data cannot save its unused rate for later.
        credit = credit.min(999);
        steps.push((delivered, 1000 * rlc.len() as u64));
        if node.status_at() <= now
            && let Some(status) = node.status(now, rlc.front())
        {
            back.push_back((ms + delay, status));
        }
    }
    steps
}

/// A node always has data if the buffer time exceeds the control loop's delay. It never has more
/// than the buffer time's data. Both hold after the node has found its rate.
#[test]
fn a_node_neither_starves_nor_has_more_than_lasts_for_its_time() {
    Cases::new(200).run(|seed| {
        let mut draws = Stream::new(seed, "starve", 0);
        let (delay, period) = (1 + draws.below(15), 2 + draws.below(8));
        let rate = 500 + draws.below(20_000);
        // The time covers the delays of frame and status, the time until the next status, and
        // rounding to steps and whole packets.
        let time = 2 * delay + 2 * period + 4 + 4000 / rate + draws.below(40);
        let config = FlowControlConfig {
            desired: DesiredBuffer::Lasting(Span::from_millis(time), Bytes(3000)),
            status_period: Span::from_millis(period),
            poll_after: Span::from_millis(100),
        };
        let steps = run(&config, delay, |_| rate, 6000);
        let settled = &steps[4000..];
        let delivered: u64 = settled.iter().map(|step| step.0).sum();
        let whole = rate * settled.len() as u64;
        let claim = format!("{rate} bytes/ms, {delay} ms, a status each {period} ms, {time} ms");
        assert!(delivered + 2000 >= whole, "{claim}: {delivered} of {whole}");
        // The mean over eight statuses counts whole packets, so the bound has some packets in
        // addition.
        let most = (rate * time + 1000 * time / (8 * period) + 2000).max(3000);
        assert!(steps.iter().all(|step| step.1 <= most), "{claim}");
    });
}
