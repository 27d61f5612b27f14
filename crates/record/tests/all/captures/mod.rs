//! Tests of captures with random contents. The readers share no code with the writer.

mod anything;

use fadeout_core::random::Stream;
use fadeout_testkit::Cases;

#[test]
fn whatever_is_sent_its_captures_are_what_other_readers_take() {
    Cases::new(3_000).run(|seed| {
        let draw = &mut Stream::new(seed, "captures", 0);
        let bytes = draw.below(4_000);
        let data: Vec<u8> = (0..bytes).map(|_| draw.below(256) as u8).collect();
        anything::check_captures(&data);
    });
}
