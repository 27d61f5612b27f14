//! Choices that a scenario names and a layer uses: each word with its meaning, defined once.

/// Declares such enums. The doc comments of the variants document the words.
macro_rules! agreed_words {
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
            /// Words, each with its meaning.
            pub const WORDS: &'static [(&'static str, &'static str)] = &[
                $( ($word, crate::table::trim(concat!($($doc),+))), )+
            ];
        }
    )+};
}

agreed_words! {
    /// The source of the line-of-sight state of a UE.
    enum LineOfSight {
        /// The state is drawn with the line-of-sight probability of the path loss model.
        /// Neighbouring positions have correlated states.
        Drawn = "drawn",
        /// The state is drawn with the line-of-sight probability of the path loss model. The change
        /// between states is gradual, over a few metres (TR 38.901 clause 7.6.3.3).
        Soft = "soft",
        /// Every UE is always in line of sight.
        Clear = "clear",
        /// No UE is ever in line of sight.
        Obstructed = "obstructed",
        /// The buildings of the scenario determine the state. Their edges diffract.
        Geometry = "geometry",
    }

    /// The steering of beams between two measurements.
    enum BeamPrediction {
        /// Beams point to the UE's position at the last measurement.
        None = "none",
        /// Beams turn at the rate at which the direction changed between the last two measurements.
        Angle = "angle",
        /// Beams follow a UE that is assumed to move on a straight line. The UE reports its
        /// position and speed with the measurement.
        Place = "place",
    }

    /// The RRC state to which a connection is released.
    enum ReleasedState {
        /// The UE is idle. The core network pages it, and a new connection is set up.
        Idle = "idle",
        /// The UE is inactive. The base station pages it, and the connection is resumed.
        Inactive = "inactive",
    }

    /// The time at which a change of a link's rate or delay takes effect.
    enum Changes {
        /// A change takes effect at once. Queued packets are sent at the new rate. Packets that
        /// leave the transmitter have the new delay.
        AtOnce = "at-once",
        /// A change takes effect for packets that arrive later. Packets that are queued or being
        /// sent keep the rate and delay of the time of their arrival, as in netem.
        ForArrivals = "for-arrivals",
    }

    /// The value between two rows of a channel file.
    enum Interpolation {
        /// On the straight line between the two rows, in dB.
        Linear = "linear",
        /// The value of the earlier row.
        Step = "step",
    }

    /// The value before the first and after the last row of a channel file.
    enum Outside {
        /// The value of the nearest row.
        Hold = "hold",
        /// An error: the file must cover the run.
        Error = "error",
    }

    /// The distribution of distances between vehicles on a lane.
    enum GapRule {
        /// The larger of 2 m and an exponential distance with a mean of 2 s at the speed of the
        /// lane, from bumper to bumper (TR 37.885).
        Tr37885 = "tr-37.885",
        /// An exponential distance with a mean of 2.5 s at the speed of the lane, from front to
        /// front (TR 36.885). Vehicles may overlap.
        Tr36885 = "tr-36.885",
    }

    /// The reaction of drivers to the vehicle ahead.
    enum CarFollowing {
        /// No reaction: all vehicles go at the speed of their lane.
        None = "none",
        /// The intelligent driver model.
        Idm = "idm",
        /// Krauss's model, as in SUMO.
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
