//! Loops over many lanes, compiled for the widest vector instructions of the machine.
//!
//! Results are equal to the last bit on all machines. Wider vectors only process more lanes at
//! once. The order of additions and multiplications stays the same, and multiplications are never
//! fused with additions.

#[cfg(target_arch = "x86_64")]
use std::sync::LazyLock;

#[cfg(target_arch = "x86_64")]
static AVX2: LazyLock<Option<fearless_simd::x86::Avx2>> =
    LazyLock::new(|| fearless_simd::Level::new().as_avx2());

/// Runs `work`, compiled for AVX2 if the machine supports AVX2. Functions that `work` calls are
/// compiled for AVX2 only if they are inlined.
#[inline]
pub(crate) fn wide<R>(work: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = *AVX2 {
        return fearless_simd::Simd::vectorize(avx2, work);
    }
    work()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phasor::Waves;
    use fadeout_core::random::Stream;
    use fadeout_testkit::Cases;

    #[test]
    fn wider_vectors_find_the_same_bits() {
        const WAVES: usize = 37;
        let bits = |parts: [f32; WAVES]| parts.map(f32::to_bits);
        Cases::new(2000).run(|seed| {
            let mut draw = Stream::new(seed, "test.wide", 0);
            let mut waves = Waves::new(WAVES);
            for wave in 0..WAVES {
                let turns = [0; 3].map(|_| draw.uniform_in(-100.0, 100.0));
                waves.set(wave, turns, draw.uniform());
            }
            let place = [0; 3].map(|_| draw.uniform_in(-1e4, 1e4));
            let (mut cosines, mut sines) = ([0.0; WAVES], [0.0; WAVES]);
            waves.phasors(place, &mut cosines, &mut sines);
            let (mut wide_cosines, mut wide_sines) = ([0.0; WAVES], [0.0; WAVES]);
            wide(
                #[inline(always)]
                || waves.phasors(place, &mut wide_cosines, &mut wide_sines),
            );
            assert_eq!(bits(cosines), bits(wide_cosines));
            assert_eq!(bits(sines), bits(wide_sines));
        });
    }
}
