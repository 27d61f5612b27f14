//! Tests of queue management at the transmission buffer, step by step.

use crate::rlc::rig::{Source, am, at_ms, entity};
use fadeout_core::aqm::{CoDelConfig, EcnStepConfig, PieConfig};
use fadeout_core::random::Stream;
use fadeout_core::{Bytes, Ecn, PacketPool, Span, Time};
use fadeout_layer2::pdcp::{PdcpConfig, Rx};
use fadeout_layer2::rlc::{
    Aqm, AqmConfig, MacSubheader, QueueManagement, RlcConfig, SduQueue, TransportBlock,
};

/// Queue management that drops only the first head, and counts its calls.
#[derive(Default)]
struct First {
    asked: u32,
}

impl QueueManagement for First {
    fn drop_or_mark_head(&mut self, _now: Time, queue: &mut SduQueue<'_>) {
        if queue.head().is_none() {
            return;
        }
        self.asked += 1;
        if self.asked == 1 {
            queue.drop_head();
        }
    }
}

fn plain(config: RlcConfig) -> RlcConfig {
    RlcConfig {
        subheader: MacSubheader::None,
        ..config
    }
}

#[test]
fn it_is_asked_once_about_an_sdu_that_waits_for_room() {
    for config in [
        RlcConfig::NR_AM,
        RlcConfig::NR_UM,
        RlcConfig::LTE_AM,
        RlcConfig::LTE_UM,
        RlcConfig::TM,
    ] {
        let (mut tx, mut source) = (entity(&plain(config)), Source::default());
        source.push(&mut tx, Time::ZERO, &[100; 4]);
        let (mut aqm, mut dropped) = (First::default(), Vec::new());
        let mut sent = Vec::new();
        for grant in [1, 1, 1, 1000] {
            let mut block = TransportBlock::new();
            tx.pull_managed(Time::ZERO, grant, &mut block, &mut aqm, &mut dropped);
            sent.extend(block.parts.iter().map(|part| part.sdu.serial));
        }
        let dropped: Vec<_> = dropped.iter().map(|sdu| sdu.serial).collect();
        assert_eq!((dropped, sent), (vec![0], vec![1, 2, 3]), "{config:?}");
        assert_eq!(aqm.asked, 3, "{config:?}");
    }
}

/// Passes the SDUs of an NR bearer to PDCP after a drop at the head. Returns the time at which the
/// last of three SDUs is delivered.
fn last_delivery(closes_count_gaps: bool) -> Time {
    let config = RlcConfig {
        closes_count_gaps,
        ..plain(RlcConfig::NR_AM)
    };
    let (mut tx, mut rx, mut source) = (entity(&config), entity(&config), Source::default());
    let mut pdcp = Rx::new(&PdcpConfig::NR).expect("allowed parameters");
    source.push(&mut tx, Time::ZERO, &[100; 3]);
    let mut block = TransportBlock::new();
    tx.pull_managed(
        at_ms(1),
        1000,
        &mut block,
        &mut First::default(),
        &mut Vec::new(),
    );
    let (mut sdus, mut out) = (Vec::new(), Vec::new());
    rx.on_block(at_ms(2), &block, &mut sdus);
    for sdu in sdus {
        pdcp.on_sdu(at_ms(2), sdu, &mut out);
    }
    if out.len() == 2 {
        return at_ms(2);
    }
    let expiry = pdcp.wake_at();
    pdcp.on_wake(expiry, &mut out);
    assert_eq!(out.len(), 2);
    expiry
}

#[test]
fn a_drop_holds_up_nobody_unless_its_count_is_not_used_again() {
    assert_eq!(last_delivery(true), at_ms(2));
    assert_eq!(last_delivery(false), at_ms(2) + Span::from_millis(100));
}

fn managed(aqm: AqmConfig) -> (RlcConfig, Aqm) {
    let config = RlcConfig {
        aqm,
        ..am(RlcConfig::NR_AM, |_| {})
    };
    let aqm = Aqm::new(&config, Stream::new(1, "test.aqm", 0)).expect("allowed parameters");
    (config, aqm.expect("not drop-tail"))
}

/// Returns the codepoints of packets after a step marking by delay, and the number of marks.
fn behind_a_step(codepoints: [Ecn; 5]) -> (Vec<Ecn>, u64) {
    let (config, mut aqm) = managed(AqmConfig::EcnStep(EcnStepConfig::default()));
    let mut pool = PacketPool::new();
    let (mut tx, mut source) = (entity(&config), Source::default());
    let mut marked = 0;
    let mut ids = Vec::new();
    for ecn in codepoints {
        let mut sdu = source.sdu(Time::ZERO, 100);
        sdu.packet = pool.insert(fadeout_core::Packet {
            ecn,
            ..Default::default()
        });
        ids.push(sdu.packet);
        tx.push_sdu(sdu).expect("the buffer has room");
    }
    let (mut block, mut dropped) = (TransportBlock::new(), Vec::new());
    let mut at_head = aqm.at_head(&mut pool, &mut marked);
    tx.pull_managed(at_ms(10), 1000, &mut block, &mut at_head, &mut dropped);
    assert_eq!((dropped.len(), block.parts.len()), (0, 5));
    (ids.iter().map(|&id| pool[id].ecn).collect(), marked)
}

#[test]
fn a_mark_is_on_the_packet_inside() {
    use Ecn::{Ce, Ect0, Ect1, NotEct};
    // The first packet brings the sum of marking probabilities to one, which does not exceed one.
    // No packet waits after the last one.
    let marks = behind_a_step([Ect1, Ect1, NotEct, Ect0, Ect0]);
    assert_eq!(marks, (vec![Ect1, Ce, NotEct, Ce, Ect0], 2));
}

#[test]
fn a_packet_without_ecn_owes_no_mark() {
    use Ecn::{Ce, Ect0, NotEct};
    let marks = behind_a_step([NotEct, NotEct, Ect0, Ect0, Ect0]);
    assert_eq!(marks, (vec![NotEct, NotEct, Ect0, Ce, Ect0], 1));
}

#[test]
fn pie_that_switches_off_wakes_at_a_third_of_the_buffer() {
    let (_, mut aqm) = managed(AqmConfig::Pie(PieConfig {
        switches_off: true,
        max_burst: Span::ZERO,
        alpha: 1000.0,
        beta: 1000.0,
        ..PieConfig::default()
    }));
    let head = Source::default().sdu(Time::ZERO, 100);
    let mut admits = |ms: u64, waiting: u64| {
        aqm.catch_up(at_ms(ms), Some(&head));
        let mut marked = 0;
        aqm.admits(100, Bytes(waiting), &mut Ecn::NotEct, &mut marked)
    };
    // The buffer has 2 MB. PIE is inactive up to 666,666 bytes including the arrival, at any delay.
    let fill = |ms: u64, waiting, admits: &mut dyn FnMut(u64, u64) -> bool| {
        (0..100).filter(|n| !admits(ms + n, waiting)).count()
    };
    assert_eq!(fill(1_000, 666_566, &mut admits), 0);
    assert!(fill(2_000, 666_567, &mut admits) > 0);
}

#[test]
fn a_parameter_out_of_range_is_refused() {
    let config = RlcConfig {
        aqm: AqmConfig::CoDel(CoDelConfig {
            interval: Span::ZERO,
            ..CoDelConfig::default()
        }),
        ..RlcConfig::LTE_AM
    };
    let error = config.check().expect_err("no interval").to_string();
    assert_eq!(error, "aqm: interval is 0 ns; expected at least 1 us");
}
