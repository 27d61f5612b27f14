//! Choices that a scenario names and a layer acts on: the words with their meaning, once.

/// Declares such an enum. The doc comments of its variants are the documentation of the words.
macro_rules! words {
    ($(
        $(#[$meta:meta])*
        enum $name:ident {
            $( $(#[doc = $doc:literal])+ $variant:ident = $word:literal, )+
        }
    )+) => {$(
        crate::choices! {
            $(#[$meta])*
            #[derive(Debug, Clone, Copy, PartialEq, Eq)]
            pub enum $name {
                $( $(#[doc = $doc])+ $variant = $word, )+
            }
        }

        impl $name {
            /// The words, each with its meaning.
            pub const WORDS: &'static [(&'static str, &'static str)] = &[
                $( ($word, crate::table::trim(concat!($($doc),+))), )+
            ];
        }
    )+};
}

words! {
    /// How it is decided whether a UE is in line of sight.
    enum LineOfSight {
        /// By the model's probabilities, alike at neighbouring places.
        Drawn = "drawn",
        /// Drawn, and one state passes into the other over a few metres (TR 38.901 clause 7.6.3.3).
        Soft = "soft",
        /// Always in sight.
        Clear = "clear",
        /// Never in sight.
        Obstructed = "obstructed",
        /// Cut by the file's buildings.
        Geometry = "geometry",
    }

    /// How beams are steered from one measurement to the next.
    enum BeamPrediction {
        /// Not at all: they point where the UE was when they were measured.
        None = "none",
        /// They turn on as fast as the direction did between the two measurements before.
        Angle = "angle",
        /// They follow a UE that goes straight on from the place and at the speed that it reported with the measurement.
        Place = "place",
    }

    /// The state that a connection is released to.
    enum ReleasedState {
        /// the core pages, and the connection is set up anew
        Idle = "idle",
        /// the base station pages, and the connection is resumed
        Inactive = "inactive",
    }

    /// When a change of a link's rate or delay begins to count.
    enum Changes {
        /// What is queued is sent at the new rate, and what leaves the transmitter has the new
        /// delay.
        AtOnce = "at-once",
        /// What is queued or being sent keeps the rate and the delay of its arrival, as in netem.
        ForArrivals = "for-arrivals",
    }

    /// The value between two rows of a file of channels.
    enum Interpolation {
        /// on the straight line between them, in dB
        Linear = "linear",
        /// that of the earlier one
        Step = "step",
    }

    /// The value before the first and after the last row of a file of channels.
    enum Outside {
        /// the nearest row's
        Hold = "hold",
        /// none: the file must cover the run
        Error = "error",
    }

    /// Distances of vehicles on a lane.
    enum GapRule {
        /// From bumper to bumper the greater of 2 m and an exponential with a mean of 2 s at the speed of the lane.
        Tr37885 = "tr-37.885",
        /// From front to front exponential with a mean of 2.5 s at the speed of the lane; vehicles may overlap.
        Tr36885 = "tr-36.885",
    }

    /// How drivers heed the vehicle ahead.
    enum CarFollowing {
        /// Not at all: all go at the speed of their lane.
        None = "none",
        /// By the intelligent driver model.
        Idm = "idm",
        /// By Krauss's model, as in SUMO.
        Krauss = "krauss",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_stands_for_one_variant_and_has_a_meaning() {
        let named = |words: &[(&str, &str)], names: &[&str]| {
            assert!(words.iter().map(|word| word.0).eq(names.iter().copied()));
            assert!(words.iter().all(|word| !word.1.is_empty()), "{words:?}");
        };
        named(LineOfSight::WORDS, LineOfSight::NAMES);
        named(GapRule::WORDS, GapRule::NAMES);
        assert_eq!(LineOfSight::from_name("clear"), Some(LineOfSight::Clear));
        assert_eq!(GapRule::from_name("tr-36.885"), Some(GapRule::Tr36885));
        assert_eq!(Changes::from_name("later"), None);
        assert_eq!(CarFollowing::Krauss.name(), "krauss");
    }
}
