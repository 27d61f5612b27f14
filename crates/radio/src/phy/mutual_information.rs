//! Capacity and dispersion of bit-interleaved coded modulation over an AWGN channel.
//!
//! Fits to Gauss–Hermite quadrature of Gray-labelled square constellations (G. Caire, G. Taricco,
//! E. Biglieri, "Bit-interleaved coded modulation", IEEE Trans. Inf. Theory 44, 1998):
//! `C = Q (1 - sum a_i exp(-b_i snr))` and, with x = C/Q, `V = s x^p (1 - x)^q`. The error of C is
//! at most 0.0002, 0.0023, 0.0020 and 0.0073 bit for 2, 4, 6 and 8 bits per symbol.

use fadeout_core::math::{exp, pow};

/// A modulation of NR (TS 38.211 clause 5.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Modulation {
    /// Two bits per symbol.
    Qpsk,
    /// Four bits per symbol.
    Qam16,
    /// Six bits per symbol.
    Qam64,
    /// Eight bits per symbol.
    Qam256,
}

struct Fit {
    weights: &'static [f64],
    slopes: &'static [f64],
    dispersion: [f64; 3],
}

const QPSK: Fit = Fit {
    weights: &[0.735_34, 0.240_30, 0.024_36],
    slopes: &[0.544_779, 1.022_256, 3.034_469],
    dispersion: [4.979_48, 0.952_148, 0.959_552],
};
const QAM16: Fit = Fit {
    weights: &[0.646_99, 0.260_32, 0.092_69],
    slopes: &[0.114_489, 0.443_547, 1.094_599],
    dispersion: [7.433_71, 0.816_863, 0.911_671],
};
const QAM64: Fit = Fit {
    weights: &[0.495_38, 0.197_42, 0.204_38, 0.102_83],
    slopes: &[0.027_068, 0.095_791, 0.242_819, 1.005_587],
    dispersion: [8.293_93, 0.733_009, 0.837_157],
};
const QAM256: Fit = Fit {
    weights: &[0.425_08, 0.290_84, 0.194_17, 0.089_91],
    slopes: &[0.006_923, 0.037_997, 0.204_457, 0.916_954],
    dispersion: [7.929_44, 0.644_163, 0.729_429],
};

impl Modulation {
    /// The modulation with this many bits per symbol (Q_m).
    pub fn from_bits(bits: u32) -> Option<Modulation> {
        match bits {
            2 => Some(Modulation::Qpsk),
            4 => Some(Modulation::Qam16),
            6 => Some(Modulation::Qam64),
            8 => Some(Modulation::Qam256),
            _ => None,
        }
    }

    /// Bits per symbol (Q_m).
    pub fn bits(self) -> u32 {
        match self {
            Modulation::Qpsk => 2,
            Modulation::Qam16 => 4,
            Modulation::Qam64 => 6,
            Modulation::Qam256 => 8,
        }
    }

    fn fit(self) -> &'static Fit {
        match self {
            Modulation::Qpsk => &QPSK,
            Modulation::Qam16 => &QAM16,
            Modulation::Qam64 => &QAM64,
            Modulation::Qam256 => &QAM256,
        }
    }

    /// Capacity in bit per symbol at a linear SNR.
    pub fn capacity(self, snr: f64) -> f64 {
        let fit = self.fit();
        // The weights sum to one but for rounding.
        let total: f64 = fit.weights.iter().sum();
        let missing: f64 = fit
            .weights
            .iter()
            .zip(fit.slopes)
            .map(|(a, b)| a * exp(-b * snr))
            .sum();
        f64::from(self.bits()) * (1.0 - missing / total)
    }

    /// Dispersion in bit^2 per symbol at a linear SNR: variance of the information density.
    pub fn dispersion(self, snr: f64) -> f64 {
        let x = (self.capacity(snr) / f64::from(self.bits())).clamp(0.0, 1.0);
        let [s, p, q] = self.fit().dispersion;
        s * pow(x, p) * pow(1.0 - x, q)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fadeout_core::math::from_db;

    #[test]
    fn capacity_and_dispersion_match_reference_values() {
        for (modulation, snr_db, capacity, dispersion) in [
            (Modulation::Qpsk, 0.0, 0.97179, 1.3227),
            (Modulation::Qam16, 10.0, 3.164, 1.4731),
            (Modulation::Qam64, 15.0, 4.6793, 1.9467),
            (Modulation::Qam256, 25.0, 7.6191, 0.83383),
        ] {
            let snr = from_db(snr_db);
            let (c, v) = (modulation.capacity(snr), modulation.dispersion(snr));
            // The reference values have five digits.
            assert!((c / capacity - 1.0).abs() < 1e-4, "{modulation:?}: C {c}");
            assert!((v / dispersion - 1.0).abs() < 1e-4, "{modulation:?}: V {v}");
        }
    }

    #[test]
    fn capacity_grows_with_snr_from_zero_to_the_bits_of_a_symbol() {
        for bits in [2, 4, 6, 8] {
            let modulation = Modulation::from_bits(bits).expect("a modulation");
            let capacity = |db| modulation.capacity(from_db(f64::from(db)));
            assert!((-30..50).all(|db| capacity(db) <= capacity(db + 1)));
            assert!(capacity(-60) < 1e-4 && (capacity(50) - f64::from(bits)).abs() < 1e-9);
        }
    }
}
