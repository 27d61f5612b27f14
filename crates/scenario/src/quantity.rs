//! Quantities in a scenario: a number and a unit in one string, such as "20 ms".

use std::fmt;

/// Dimension of a quantity. Its value is a float in the dimension's base unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dimension {
    /// Time, in nanoseconds.
    Time,
    /// Data rate, in bits per second.
    Rate,
    /// Amount of data, in bytes.
    Size,
    /// Number of packets.
    Packets,
    /// Frequency or bandwidth, in hertz.
    Frequency,
    /// Length, in metres.
    Length,
    /// Ratio of powers, in decibel.
    Ratio,
    /// Power, in decibel relative to one milliwatt.
    Power,
    /// Angle, in degrees.
    Angle,
    /// Speed, in metres per second.
    Speed,
}

/// Unit with its size in base units.
type Unit = (&'static str, f64);

/// Name and units of one dimension.
struct Row {
    dimension: Dimension,
    noun: &'static str,
    example: &'static str,
    /// Units of the dimension, the smallest first.
    units: &'static [Unit],
}

const fn row(
    dimension: Dimension,
    noun: &'static str,
    example: &'static str,
    units: &'static [Unit],
) -> Row {
    Row {
        dimension,
        noun,
        example,
        units,
    }
}

/// All dimensions, in the order of the enum. Parser, printer and schema use this table.
static TABLE: [Row; 10] = [
    row(
        Dimension::Time,
        "a time",
        "20 ms",
        &[
            ("ns", 1.0),
            ("us", 1e3),
            ("ms", 1e6),
            ("s", 1e9),
            ("min", 6e10),
        ],
    ),
    row(
        Dimension::Rate,
        "a rate",
        "20 Mbit/s",
        &[
            ("bit/s", 1.0),
            ("kbit/s", 1e3),
            ("Mbit/s", 1e6),
            ("Gbit/s", 1e9),
            ("Tbit/s", 1e12),
        ],
    ),
    row(
        Dimension::Size,
        "a size",
        "500 kB",
        &[
            ("B", 1.0),
            ("kB", 1e3),
            ("KiB", 1024.0),
            ("MB", 1e6),
            ("MiB", 1_048_576.0),
            ("GB", 1e9),
            ("GiB", 1_073_741_824.0),
            ("TB", 1e12),
        ],
    ),
    row(
        Dimension::Packets,
        "a number of packets",
        "100 packets",
        &[("packet", 1.0), ("packets", 1.0)],
    ),
    row(
        Dimension::Frequency,
        "a frequency",
        "38 GHz",
        &[("Hz", 1.0), ("kHz", 1e3), ("MHz", 1e6), ("GHz", 1e9)],
    ),
    row(
        Dimension::Length,
        "a length",
        "1.4 m",
        &[("mm", 1e-3), ("cm", 1e-2), ("m", 1.0), ("km", 1e3)],
    ),
    row(Dimension::Ratio, "a ratio", "7 dB", &[("dB", 1.0)]),
    row(Dimension::Power, "a power", "23 dBm", &[("dBm", 1.0)]),
    row(Dimension::Angle, "an angle", "12 deg", &[("deg", 1.0)]),
    row(
        Dimension::Speed,
        "a speed",
        "50 km/h",
        &[("km/h", 1.0 / 3.6), ("m/s", 1.0)],
    ),
];

/// Common spellings that are not accepted as units, with the unit that is meant.
const MISSPELT: [(&str, &str); 30] = [
    ("µs", "us"),
    ("μs", "us"),
    ("usec", "us"),
    ("msec", "ms"),
    ("sec", "s"),
    ("second", "s"),
    ("seconds", "s"),
    ("minutes", "min"),
    ("m/sec", "m/s"),
    ("kmh", "km/h"),
    ("bps", "bit/s"),
    ("b/s", "bit/s"),
    ("kbps", "kbit/s"),
    ("Kbps", "kbit/s"),
    ("Kbit/s", "kbit/s"),
    ("Mbps", "Mbit/s"),
    ("mbps", "Mbit/s"),
    ("Mb/s", "Mbit/s"),
    ("mbit", "Mbit/s"),
    ("Mbit", "Mbit/s"),
    ("Gbps", "Gbit/s"),
    ("gbps", "Gbit/s"),
    ("Gbit", "Gbit/s"),
    ("KB", "kB"),
    ("bytes", "B"),
    ("byte", "B"),
    ("pkts", "packets"),
    ("°", "deg"),
    ("degrees", "deg"),
    ("meters", "m"),
];

/// Reason why a text is not a valid quantity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QuantityError {
    /// The text does not start with a decimal number.
    NoNumber,
    /// The number has no unit.
    NoUnit,
    /// The unit does not exist. The second value is the most similar unit.
    UnknownUnit(String, Option<&'static str>),
    /// The unit belongs to another dimension, which is the value.
    WrongDimension(Dimension),
    /// The number is too large for a float.
    NotFinite,
    /// The number must be whole, but has a fraction.
    NotWhole,
}

impl Dimension {
    /// Returns all dimensions.
    pub fn all() -> impl Iterator<Item = Dimension> {
        TABLE.iter().map(|row| row.dimension)
    }

    fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }

    /// Returns the dimension's name with its article for messages, such as "a time".
    pub fn noun(self) -> &'static str {
        self.row().noun
    }

    /// Returns an example value in the notation of a scenario, such as "20 ms".
    pub fn example(self) -> &'static str {
        self.row().example
    }

    /// Returns the names of the units, the smallest first.
    pub fn units(self) -> impl Iterator<Item = &'static str> {
        self.row().units.iter().map(|unit| unit.0)
    }

    /// True if the simulator counts the quantity in whole base units.
    fn is_whole(self) -> bool {
        matches!(
            self,
            Dimension::Time | Dimension::Rate | Dimension::Size | Dimension::Packets
        )
    }

    /// Returns the value of `text` in base units. The value is rounded if the simulator counts
    /// whole base units.
    ///
    /// # Errors
    /// Returns an error if `text` is not a finite decimal number followed by one of the dimension's
    /// units.
    pub fn parse(self, text: &str) -> Result<f64, QuantityError> {
        let (number, unit) = split(text.trim()).ok_or(QuantityError::NoNumber)?;
        if unit.is_empty() {
            return Err(QuantityError::NoUnit);
        }
        let Some(&(_, factor)) = self
            .row()
            .units
            .iter()
            .find(|candidate| candidate.0 == unit)
        else {
            return Err(match Dimension::of_unit(unit) {
                Some(other) => QuantityError::WrongDimension(other),
                None => QuantityError::UnknownUnit(unit.to_owned(), self.nearest_unit(unit)),
            });
        };
        let value = number * factor;
        if !value.is_finite() {
            return Err(QuantityError::NotFinite);
        }
        if self == Dimension::Packets && value.fract() != 0.0 {
            return Err(QuantityError::NotWhole);
        }
        Ok(if self.is_whole() {
            value.round()
        } else {
            value
        })
    }

    /// Returns `value` in the largest unit that needs no leading zero. The text must parse back to
    /// `value`.
    pub fn format(self, value: f64) -> String {
        let units = self.row().units;
        let text_in = |unit: &Unit| format!("{} {}", value / unit.1, unit.0);
        units
            .iter()
            .rev()
            .filter(|unit| !matches!(unit.0, "min" | "KiB" | "MiB" | "GiB"))
            .filter(|unit| (value / unit.1).abs() >= 1.0)
            .map(text_in)
            .find(|text| self.parse(text) == Ok(value))
            .unwrap_or_else(|| {
                // A value in base units always parses back. The plural "packets" is preferred to
                // "packet".
                let base = units
                    .iter()
                    .rev()
                    .find(|unit| unit.1 == 1.0)
                    .unwrap_or(&units[0]);
                text_in(base)
            })
    }

    /// Returns the dimension of a unit. `None` if the unit is unknown.
    fn of_unit(unit: &str) -> Option<Dimension> {
        TABLE
            .iter()
            .find(|row| row.units.iter().any(|known| known.0 == unit))
            .map(|row| row.dimension)
    }

    /// Returns the dimension of a unit in documentation, with its size in base units. `None` if the
    /// unit is unknown.
    pub(crate) fn of_documented_unit(unit: &str) -> Option<(Dimension, f64)> {
        let unit = if unit == "bytes" { "B" } else { unit };
        let dimension = Dimension::of_unit(unit)?;
        dimension
            .row()
            .units
            .iter()
            .find(|known| known.0 == unit)
            .map(|known| (dimension, known.1))
    }

    fn nearest_unit(self, unit: &str) -> Option<&'static str> {
        let misspelt = MISSPELT
            .iter()
            .find(|pair| pair.0 == unit)
            .map(|pair| pair.1);
        misspelt
            .filter(|meant| self.units().any(|known| known == *meant))
            .or_else(|| self.units().find(|known| known.eq_ignore_ascii_case(unit)))
    }
}

impl fmt::Display for Dimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} such as \"{}\"", self.noun(), self.example())
    }
}

/// Splits `text` into a decimal number and the text after it, without the space in between. `None`
/// if `text` does not start with a number.
fn split(text: &str) -> Option<(f64, &str)> {
    let bytes = text.as_bytes();
    let digits = |from: usize| {
        bytes[from..]
            .iter()
            .take_while(|b| b.is_ascii_digit())
            .count()
    };
    let mut end = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    let whole = digits(end);
    end += whole;
    let mut fraction = 0;
    if bytes.get(end) == Some(&b'.') {
        fraction = digits(end + 1);
        end += 1 + fraction;
    }
    if whole + fraction == 0 {
        return None;
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits((end + 1 + sign).min(bytes.len()));
        if exponent > 0 {
            end += 1 + sign + exponent;
        }
    }
    let number = text[..end].parse().ok()?;
    Some((number, text[end..].trim_start()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_table_is_in_the_order_of_the_dimensions() {
        for (index, row) in TABLE.iter().enumerate() {
            assert_eq!(row.dimension as usize, index);
            row.dimension
                .parse(row.example)
                .expect("the example parses");
        }
        for (_, meant) in MISSPELT {
            assert!(Dimension::of_unit(meant).is_some(), "{meant}");
        }
    }

    #[test]
    fn a_quantity_is_a_number_and_a_unit() {
        assert_eq!(Dimension::Time.parse("20 ms"), Ok(20e6));
        assert_eq!(Dimension::Time.parse("0.1s"), Ok(1e8));
        assert_eq!(Dimension::Time.parse(" 1e3 us "), Ok(1e6));
        assert_eq!(Dimension::Rate.parse("807 Mbit/s"), Ok(807e6));
        assert_eq!(Dimension::Size.parse("1 MiB"), Ok(1_048_576.0));
        assert_eq!(Dimension::Power.parse("-95 dBm"), Ok(-95.0));
        assert_eq!(Dimension::Length.parse("75 cm"), Ok(0.75));
    }

    #[test]
    fn a_text_that_is_no_quantity_says_why() {
        use QuantityError::*;
        assert_eq!(Dimension::Time.parse("soon"), Err(NoNumber));
        assert_eq!(Dimension::Time.parse(""), Err(NoNumber));
        assert_eq!(Dimension::Time.parse("."), Err(NoNumber));
        assert_eq!(Dimension::Time.parse("inf s"), Err(NoNumber));
        assert_eq!(Dimension::Time.parse("nan s"), Err(NoNumber));
        assert_eq!(Dimension::Time.parse("20"), Err(NoUnit));
        assert_eq!(
            Dimension::Time.parse("20 Mbit/s"),
            Err(WrongDimension(Dimension::Rate))
        );
        assert_eq!(
            Dimension::Rate.parse("2 Mbps"),
            Err(UnknownUnit("Mbps".into(), Some("Mbit/s")))
        );
        assert_eq!(
            Dimension::Time.parse("2 e9"),
            Err(UnknownUnit("e9".into(), None))
        );
        assert_eq!(Dimension::Time.parse("1e999 s"), Err(NotFinite));
        assert_eq!(Dimension::Packets.parse("1.5 packets"), Err(NotWhole));
    }

    #[test]
    fn a_quantity_prints_in_the_unit_that_reads_best() {
        assert_eq!(Dimension::Time.format(20e6), "20 ms");
        assert_eq!(Dimension::Time.format(90e9), "90 s");
        assert_eq!(Dimension::Rate.format(807e6), "807 Mbit/s");
        assert_eq!(Dimension::Packets.format(2000.0), "2000 packets");
        assert_eq!(Dimension::Length.format(0.0), "0 m");
        assert_eq!(Dimension::Length.format(0.75), "75 cm");
    }

    proptest! {
        #![proptest_config(fadeout_testkit::Cases::new(2000).proptest())]

        #[test]
        fn a_printed_quantity_parses_back(whole in 0_u64..1 << 50, real in -1e12_f64..1e12) {
            for dimension in Dimension::all() {
                let value = if dimension.is_whole() { whole as f64 } else { real };
                prop_assert_eq!(dimension.parse(&dimension.format(value)), Ok(value));
            }
        }

        #[test]
        fn no_text_makes_the_parser_panic(text in "\\PC{0,24}", number in "[-+0-9.eE]{0,8}") {
            for dimension in Dimension::all() {
                let _ = dimension.parse(&text);
                let _ = dimension.parse(&number);
            }
        }
    }
}
