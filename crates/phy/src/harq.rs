//! Soft combining of the transmissions of one transport block, and the error rate after it.
//!
//! A code block of K bits has `K / R_m` coded bits in a circular buffer, where R_m is the mother
//! code's rate. With *incremental redundancy* each transmission continues at the end of the
//! previous one, and the mutual information of different coded bits adds up. After the buffer has
//! been sent once, further bits repeat earlier ones and add their energy, spread evenly over the
//! buffer.
//!
//! With *chase combining* every transmission repeats the first, and the SINR adds up. The error
//! rate follows from the accumulated information as in [`bler`](super::bler).
//!
//! Standard: TS 38.212 §5.4.2.

use super::bler::{block_error, transport_block_error};
use super::code_block::TransportCode;
use super::mutual_information::Modulation;
use fadeout_core::math::exp;

/// Use of earlier transmissions by the receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Combining {
    /// Each transmission is decoded alone.
    None,
    /// Equal transmissions, whose energy adds up.
    Chase,
    /// New coded bits in each transmission, whose information adds up.
    #[default]
    IncrementalRedundancy,
}

/// Error rates that do not depend on the channel. They serve closed forms and latency computations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FixedErrors {
    /// Error rate of a first transmission, in [0, 1].
    pub first: f64,
    /// Error rate of each retransmission if all before failed, in [0, 1].
    pub retransmission: f64,
}

/// Error model of a HARQ process.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct HarqConfig {
    /// Use of earlier transmissions.
    pub combining: Combining,
    /// Fixed error rates. `None` for those of the model.
    pub fixed: Option<FixedErrors>,
}

// Number of parts of the buffer whose SINR may differ. A code block fills its buffer with at most
// five transmissions of equal length (rate 0.93 of base graph 2).
const STRETCHES: usize = 6;

#[derive(Debug, Clone, Copy)]
struct Stretch {
    modulation: Modulation,
    symbols: f64,
    snr: f64,
}

/// Soft buffer of the receiver for one HARQ process.
///
/// ```
/// use fadeout_phy::bler::LDPC_GAP;
/// use fadeout_phy::code_block::{ChannelCode, TransportBlock, TransportCode};
/// use fadeout_phy::harq::{HarqConfig, HarqSoft};
/// use fadeout_phy::mutual_information::Modulation;
///
/// let block = TransportBlock {
///     code: ChannelCode::Ldpc,
///     gap: LDPC_GAP,
///     modulation: Modulation::Qam16,
///     payload: 12_552,
///     elements: 6600.0,
/// };
/// let code = TransportCode::new(&block);
/// let mut soft = HarqSoft::new(&code, &HarqConfig::default());
/// soft.add(5.0);
/// let first = soft.error_rate();
/// soft.add(5.0);
/// assert!(first > 0.9 && soft.error_rate() < 1e-9);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct HarqSoft {
    code: TransportCode,
    config: HarqConfig,
    gap_factor: f64,
    stretches: [Stretch; STRETCHES],
    len: usize,
    transmissions: u32,
    // Probability that all transmissions so far failed, and that all before the last failed.
    error_rate: f64,
    previous: f64,
}

impl HarqSoft {
    /// Returns an empty buffer for a transport block.
    pub fn new(code: &TransportCode, config: &HarqConfig) -> HarqSoft {
        let empty = Stretch {
            modulation: code.modulation,
            symbols: 0.0,
            snr: 0.0,
        };
        HarqSoft {
            code: *code,
            config: *config,
            gap_factor: ratio(-code.gap.0),
            stretches: [empty; STRETCHES],
            len: 0,
            transmissions: 0,
            error_rate: 1.0,
            previous: 1.0,
        }
    }

    /// Adds a transmission that equals the first, with an effective SINR in dB.
    pub fn add(&mut self, sinr_db: f64) {
        self.add_symbols(sinr_db, self.code.modulation, self.code.symbols);
    }

    /// Adds a transmission with `symbols` symbols of `modulation` in each code block. A
    /// retransmission may have other resources than the first transmission.
    pub fn add_symbols(&mut self, sinr_db: f64, modulation: Modulation, symbols: f64) {
        debug_assert!(symbols >= 0.0, "a transmission of {symbols} symbols");
        debug_assert!(!sinr_db.is_nan(), "a transmission arrives with no SINR");
        self.transmissions += 1;
        self.previous = self.error_rate;
        if let Some(fixed) = self.config.fixed {
            self.error_rate *= if self.transmissions == 1 {
                fixed.first
            } else {
                fixed.retransmission
            };
            return;
        }
        let snr = ratio(sinr_db) * self.gap_factor;
        match self.config.combining {
            Combining::None => self.len = 0,
            Combining::Chase if self.len > 0 => {
                self.repeat(snr, symbols);
                self.error_rate = self.previous.min(self.decode());
                self.assert_invariants();
                return;
            }
            Combining::Chase | Combining::IncrementalRedundancy => {}
        }
        self.fill(snr, modulation, symbols);
        self.error_rate = match self.config.combining {
            Combining::None => self.previous * self.decode(),
            _ => self.previous.min(self.decode()),
        };
        self.assert_invariants();
    }

    /// Asserts that more transmissions never make a block harder to decode. Also asserts that the
    /// buffer does not contain more than all coded bits.
    fn assert_invariants(&self) {
        debug_assert!(
            (0.0..=1.0).contains(&self.error_rate),
            "an error rate of {}",
            self.error_rate
        );
        debug_assert!(
            self.error_rate <= self.previous,
            "a transmission raised the error rate to {} from {}",
            self.error_rate,
            self.previous
        );
        let stored = &self.stretches[..self.len];
        let bits = stored
            .iter()
            .map(|it| it.symbols * f64::from(it.modulation.bits()));
        let filled: f64 = bits.sum();
        debug_assert!(
            filled <= self.code.buffer_bits * (1.0 + 1e-9),
            "{filled} bits are in a buffer of {}",
            self.code.buffer_bits
        );
        debug_assert!(
            stored.iter().all(|stretch| stretch.snr >= 0.0),
            "a stretch of the buffer has a negative SINR"
        );
    }

    /// Returns the probability that the block is not decoded after all transmissions so far. One
    /// before the first.
    pub fn error_rate(&self) -> f64 {
        self.error_rate
    }

    /// Returns the probability that the last transmission does not decode the block, given that the
    /// earlier ones did not. A simulation compares a random number with this probability at each
    /// transmission. More information never makes a block undecodable, so it is the ratio of two
    /// error rates.
    pub fn conditional_error_rate(&self) -> f64 {
        if self.previous > 0.0 {
            self.error_rate / self.previous
        } else {
            0.0
        }
    }

    /// Returns the number of transmissions so far.
    pub fn transmissions(&self) -> u32 {
        self.transmissions
    }

    /// Returns the mutual information received for one code block, in bit. Decoding needs about
    /// [`TransportCode::block_bits`].
    pub fn information(&self) -> f64 {
        self.totals().1
    }

    // Stores new symbols until the buffer is full, and then adds energy.
    fn fill(&mut self, snr: f64, modulation: Modulation, symbols: f64) {
        let bits = f64::from(modulation.bits());
        let stored = &self.stretches[..self.len];
        let filled: f64 = stored
            .iter()
            .map(|s| s.symbols * f64::from(s.modulation.bits()))
            .sum();
        let room = ((self.code.buffer_bits - filled) / bits).max(0.0);
        let fresh = symbols.min(room);
        if self.len == STRETCHES {
            self.repeat(snr, symbols);
            return;
        }
        if fresh > 0.0 {
            self.stretches[self.len] = Stretch {
                modulation,
                symbols: fresh,
                snr,
            };
            self.len += 1;
        }
        if symbols > fresh {
            self.repeat(snr, symbols - fresh);
        }
    }

    // Adds the energy of repeated symbols evenly to the stored ones.
    fn repeat(&mut self, snr: f64, symbols: f64) {
        let stored = &mut self.stretches[..self.len];
        let total: f64 = stored.iter().map(|stretch| stretch.symbols).sum();
        debug_assert!(total > 0.0, "symbols repeat that are not there");
        for stretch in stored {
            stretch.snr += snr * (symbols / total);
        }
    }

    fn totals(&self) -> (f64, f64, f64) {
        let mut totals = (0.0, 0.0, 0.0);
        for stretch in &self.stretches[..self.len] {
            let information = stretch.modulation.information(stretch.snr);
            totals.0 += stretch.symbols;
            totals.1 += stretch.symbols * information.capacity;
            totals.2 += stretch.symbols * information.dispersion;
        }
        totals
    }

    fn decode(&self) -> f64 {
        let (symbols, capacity, dispersion) = self.totals();
        let block = block_error(self.code.block_bits, symbols, capacity, dispersion);
        transport_block_error(block, self.code.blocks)
    }
}

impl TransportCode {
    /// Returns the probability that one transmission at this effective SINR is not decoded. It uses
    /// the tables of [`Modulation::information`].
    pub fn error_rate(&self, sinr_db: f64) -> f64 {
        let sent = self.symbols * f64::from(self.modulation.bits());
        let repetition = (sent / self.buffer_bits).max(1.0);
        let symbols = self.symbols / repetition;
        let snr = ratio(sinr_db - self.gap.0) * repetition;
        let information = self.modulation.information(snr);
        let block = block_error(
            self.block_bits,
            symbols,
            symbols * information.capacity,
            symbols * information.dispersion,
        );
        transport_block_error(block, self.blocks)
    }

    /// Returns the SINR in dB at which [`error_rate`](Self::error_rate) is `target`, within 1e-6
    /// dB. `target` is in (0, 1). Returns 60 dB if no SINR is enough, because the symbols cannot
    /// carry so many bits.
    pub fn sinr_for(&self, target: f64) -> f64 {
        let (mut low, mut high) = (-40.0, 60.0);
        while high - low > 1e-6 {
            let middle = (low + high) / 2.0;
            if self.error_rate(middle) > target {
                low = middle;
            } else {
                high = middle;
            }
        }
        high
    }
}

// Converts dB to a ratio, in a third of the time of `pow`.
fn ratio(db: f64) -> f64 {
    exp(db * (std::f64::consts::LN_10 / 10.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code_block::ChannelCode;
    use fadeout_core::Decibel;

    fn code(rate_x1024: f64, blocks: u32) -> TransportCode {
        TransportCode {
            blocks,
            ..TransportCode::single(
                ChannelCode::Ldpc,
                Decibel(0.0),
                Modulation::Qam16,
                rate_x1024 / 1024.0,
                8448.0,
            )
        }
    }

    fn config(combining: Combining) -> HarqConfig {
        HarqConfig {
            combining,
            fixed: None,
        }
    }

    fn after(code: &TransportCode, combining: Combining, sinrs: &[f64]) -> HarqSoft {
        let mut soft = HarqSoft::new(code, &config(combining));
        for &sinr in sinrs {
            soft.add(sinr);
        }
        soft
    }

    #[test]
    fn a_first_transmission_is_the_model_without_harq() {
        for (rate, sinr) in [(616.0, 7.2), (157.0, -4.0), (948.0, 15.0)] {
            let code = code(rate, 3);
            for combining in [Combining::None, Combining::Chase, Combining::default()] {
                let soft = after(&code, combining, &[sinr]);
                let (found, expected) = (soft.error_rate(), code.error_rate(sinr));
                // Both functions sum the repeated energy in different orders.
                assert!((found - expected).abs() < 1e-9, "{found} beside {expected}");
                assert_eq!(soft.conditional_error_rate(), found);
            }
        }
    }

    #[test]
    fn chase_combining_adds_the_energy() {
        let code = code(616.0, 1);
        let twice = after(&code, Combining::Chase, &[4.2, 4.2]).error_rate();
        let double = code.error_rate(4.2 + 3.0103);
        assert!((twice - double).abs() < 1e-4, "{twice} beside {double}");
    }

    #[test]
    fn incremental_redundancy_gains_more_than_chase_the_higher_the_rate() {
        // Returns the SINR at which two transmissions have 10 % errors.
        let needed = |rate, combining| {
            let code = code(rate, 1);
            let tenths = -150..250;
            tenths
                .map(|tenth| f64::from(tenth) / 10.0)
                .find(|&sinr| after(&code, combining, &[sinr, sinr]).error_rate() < 0.1)
                .expect("an SINR that decodes")
        };
        let gain =
            |rate| needed(rate, Combining::Chase) - needed(rate, Combining::IncrementalRedundancy);
        let (third, half, high) = (gain(342.0), gain(512.0), gain(870.0));
        // There is no gain at the mother rate, where retransmissions are repetitions.
        assert!(third.abs() < 0.11, "{third}");
        assert!(half > 0.5 && high > half + 1.0, "{half} {high}");
    }

    #[test]
    fn past_the_mother_code_bits_repeat() {
        // At rate 2/3 two transmissions fill the buffer of base graph 1, and two more repeat it.
        let code = code(1024.0 * 2.0 / 3.0, 1);
        let ir = Combining::IncrementalRedundancy;
        let four = after(&code, ir, &[-1.0; 4]).information();
        let two = after(&code, ir, &[-1.0 + 3.010_3; 2]).information();
        assert!((four / two - 1.0).abs() < 1e-5, "{four} beside {two}");
    }

    #[test]
    fn the_chances_of_the_transmissions_multiply_to_the_chance_of_all() {
        for combining in [Combining::None, Combining::Chase, Combining::default()] {
            let mut soft = HarqSoft::new(&code(616.0, 2), &config(combining));
            let mut product = 1.0;
            for sinr in [4.0, 2.0, 1.0, 0.5, 3.0, -2.0, 7.0, 8.0] {
                soft.add(sinr);
                product *= soft.conditional_error_rate();
                assert!((product - soft.error_rate()).abs() <= 1e-12 * product);
            }
            assert_eq!(soft.transmissions(), 8);
        }
    }

    #[test]
    fn a_hopeless_signal_always_fails_and_never_breaks() {
        for combining in [Combining::None, Combining::Chase, Combining::default()] {
            let soft = after(&code(616.0, 2), combining, &[f64::NEG_INFINITY; 30]);
            assert_eq!(soft.error_rate(), 1.0);
            let soft = after(&code(616.0, 2), combining, &[f64::INFINITY; 3]);
            assert_eq!(soft.error_rate(), 0.0);
            assert_eq!(soft.conditional_error_rate(), 0.0);
        }
    }

    #[test]
    fn a_block_without_room_always_fails() {
        let without_room = TransportCode {
            symbols: 0.0,
            ..code(616.0, 1)
        };
        for combining in [Combining::None, Combining::Chase, Combining::default()] {
            assert_eq!(
                after(&without_room, combining, &[20.0; 3]).error_rate(),
                1.0
            );
        }
        assert_eq!(without_room.error_rate(20.0), 1.0);
        let over_full = code(1100.0, 1);
        assert!((over_full.sinr_for(0.1) - 60.0).abs() < 1e-6);
    }

    #[test]
    fn fixed_errors_ignore_the_channel() {
        let fixed = FixedErrors {
            first: 0.1,
            retransmission: 0.5,
        };
        let config = HarqConfig {
            fixed: Some(fixed),
            ..HarqConfig::default()
        };
        let mut soft = HarqSoft::new(&code(616.0, 2), &config);
        for (sinr, chance, all) in [(99.0, 0.1, 0.1), (-99.0, 0.5, 0.05), (0.0, 0.5, 0.025)] {
            soft.add(sinr);
            assert!((soft.conditional_error_rate() - chance).abs() < 1e-12);
            assert!((soft.error_rate() - all).abs() < 1e-12);
        }
    }
}
