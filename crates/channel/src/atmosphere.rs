//! Absorption by oxygen and by rain.

use fadeout_core::math::{exp, ln, log10, pow};
use std::sync::LazyLock;

const OXYGEN: &str = include_str!("../data/oxygen_loss.csv");

/// Returns the loss by oxygen in dB/km at a carrier in GHz. The loss is interpolated linearly
/// between the rows of the table. It is zero outside 52 to 68 GHz.
///
/// Standard: TR 38.901 Table 7.6.1-1.
pub fn oxygen_db_per_km(carrier_ghz: f64) -> f64 {
    static ROWS: LazyLock<Vec<(f64, f64)>> = LazyLock::new(|| {
        let row = |line: &str| {
            let (frequency, loss) = line.split_once(',')?;
            Some((frequency.parse().ok()?, loss.parse().ok()?))
        };
        OXYGEN.lines().filter_map(row).collect()
    });
    ROWS.windows(2)
        .find(|pair| (pair[0].0..=pair[1].0).contains(&carrier_ghz))
        .map_or(0.0, |pair| {
            let share = (carrier_ghz - pair[0].0) / (pair[1].0 - pair[0].0);
            pair[0].1 + share * (pair[1].1 - pair[0].1)
        })
}

/// Coefficients of the loss by rain, `k R^alpha` in dB/km at a rain rate R in mm/h.
///
/// Standard: ITU-R P.838-3.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rain {
    /// k of vertical polarisation.
    pub k_vertical: f64,
    /// alpha of vertical polarisation.
    pub alpha_vertical: f64,
    /// k of horizontal polarisation.
    pub k_horizontal: f64,
    /// alpha of horizontal polarisation.
    pub alpha_horizontal: f64,
}

const RAIN: &str = include_str!("../data/rain_p838.csv");

/// Returns a coefficient of the rain loss at a carrier. It is a sum of Gaussian curves and a line
/// over the logarithm of the frequency.
fn regression(quantity: &str, log_ghz: f64) -> f64 {
    let term = |line: &str| -> Option<f64> {
        let mut fields = line.split(',');
        if fields.next()? != quantity {
            return None;
        }
        let is_line = fields.next()? == "line";
        let mut number = || fields.next()?.parse::<f64>().ok();
        let (a, b) = (number()?, number()?);
        if is_line {
            return Some(a * log_ghz + b);
        }
        let offset = (log_ghz - b) / number()?;
        Some(a * exp(-offset * offset))
    };
    RAIN.lines().filter_map(term).sum()
}

impl Rain {
    /// Returns the coefficients at a carrier in GHz, 1 to 1000 (equations 2 and 3, Tables 1 to 4).
    pub fn for_carrier(carrier_ghz: f64) -> Rain {
        let log = log10(carrier_ghz);
        Rain {
            k_vertical: pow(10.0, regression("k_v", log)),
            alpha_vertical: regression("alpha_v", log),
            k_horizontal: pow(10.0, regression("k_h", log)),
            alpha_horizontal: regression("alpha_h", log),
        }
    }

    /// Returns the loss in dB/km of a path with vertical polarisation.
    pub fn vertical_db_per_km(&self, rate_mm_per_h: f64) -> f64 {
        self.k_vertical * pow(rate_mm_per_h, self.alpha_vertical)
    }

    /// Returns the loss in dB/km of a horizontal path with circular polarisation (equations 4 and
    /// 5). A polarisation tilted by 45 degrees, as in 3GPP's panels, has the same loss.
    pub fn slanted_db_per_km(&self, rate_mm_per_h: f64) -> f64 {
        if rate_mm_per_h <= 0.0 {
            return 0.0;
        }
        let k = (self.k_horizontal + self.k_vertical) / 2.0;
        let alpha = (self.k_horizontal * self.alpha_horizontal
            + self.k_vertical * self.alpha_vertical)
            / (2.0 * k);
        k * exp(alpha * ln(rate_mm_per_h))
    }
}
