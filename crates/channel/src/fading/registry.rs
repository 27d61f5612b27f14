//! Registry of the fading models that a scenario can name. K factor and delay spread belong to the
//! channel, because they may be drawn for each position.

use super::{Fading, TdlProfile};
use fadeout_core::Span;
use fadeout_core::registry::{Entry, FromSetting, Parameters, Registered, Settings};

const fn fading(name: &'static str, summary: &'static str, citation: &'static str) -> Entry {
    Entry::new(name, "fading", summary, citation)
}

/// No fading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoFading;

impl Registered for NoFading {
    const ENTRY: Entry = fading("none", "No small-scale fading.", "-");

    fn from_settings(_: &Settings<'_>, (): ()) -> Self {
        NoFading
    }
}

impl NoFading {
    fn fading(self, _k_db: f64, _delay_spread: Span) -> Fading {
        Fading::None
    }
}

/// Rayleigh fading: many scattered paths and no dominant path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rayleigh;

impl Registered for Rayleigh {
    const ENTRY: Entry = fading(
        "rayleigh",
        "Rayleigh fading: scattered paths without a direct one, the same over the whole band.",
        "Clarke 1968; sum of sinusoids after Zheng and Xiao, IEEE TCOM 51(6), 2003",
    );

    fn from_settings(_: &Settings<'_>, (): ()) -> Self {
        Rayleigh
    }
}

impl Rayleigh {
    fn fading(self, _k_db: f64, _delay_spread: Span) -> Fading {
        Fading::Rayleigh
    }
}

/// Rician fading: a direct path and scattered paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rician;

impl Registered for Rician {
    const ENTRY: Entry = fading(
        "rician",
        "Rician fading: a direct path among scattered ones, the same over the whole band. Without \
         line of sight it is Rayleigh fading.",
        "Rice 1944; K factors: TR 38.901 Table 7.5-6",
    );

    fn from_settings(_: &Settings<'_>, (): ()) -> Self {
        Rician
    }
}

impl Rician {
    fn fading(self, k_db: f64, _delay_spread: Span) -> Fading {
        Fading::Rician { k_db }
    }
}

/// Fading computed from clusters of rays, which are drawn for the UE's position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clusters;

impl Registered for Clusters {
    const ENTRY: Entry = fading(
        "clusters",
        "Clusters of rays, which depend on the place and give delays, directions, beam gains and \
         fading.",
        "TR 38.901 clauses 7.5 and 7.6.3",
    );

    fn from_settings(_: &Settings<'_>, (): ()) -> Self {
        Clusters
    }
}

impl Clusters {
    fn fading(self, k_db: f64, delay_spread: Span) -> Fading {
        Fading::Clusters { k_db, delay_spread }
    }
}

/// Returns the registry entry of a tapped delay line. The entry has the name of the profile.
const fn tapped(profile: TdlProfile, summary: &'static str, citation: &'static str) -> Entry {
    fading(profile.name(), summary, citation)
}

impl Registered for TdlProfile {
    const ENTRY: Entry = tapped(
        TdlProfile::A,
        "Tapped delay line without line of sight.",
        "TR 38.901 Table 7.7.2-1",
    );

    fn from_settings(settings: &Settings<'_>, (): ()) -> Self {
        // Every registered name is the name of a profile, so the default is never used.
        TdlProfile::from_name(settings.name()).unwrap_or(TdlProfile::A)
    }
}

impl TdlProfile {
    fn fading(self, _k_db: f64, delay_spread: Span) -> Fading {
        Fading::Tdl {
            profile: self,
            delay_spread,
        }
    }
}

fadeout_core::registry! {
    /// The fading models a scenario may name.
    pub static FADING_MODELS;

    /// The name of a fading.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum FadingModel {
        None(NoFading),
        Rayleigh(Rayleigh),
        Rician(Rician),
        Clusters(Clusters),
        TdlA(TdlProfile),
        TdlB(TdlProfile) = tapped(TdlProfile::B, "Tapped delay line without line of sight.", "TR 38.901 Table 7.7.2-2"),
        TdlC(TdlProfile) = tapped(TdlProfile::C, "Tapped delay line without line of sight.", "TR 38.901 Table 7.7.2-3"),
        TdlD(TdlProfile) = tapped(TdlProfile::D, "Tapped delay line with line of sight, K = 13.3 dB.", "TR 38.901 Table 7.7.2-4"),
        TdlE(TdlProfile) = tapped(TdlProfile::E, "Tapped delay line with line of sight, K = 22 dB.", "TR 38.901 Table 7.7.2-5"),
        TdlA30(TdlProfile) = tapped(TdlProfile::A30, "Conformance profile of 30 ns.", "TS 38.101-4 Annex B.2.1"),
        TdlB100(TdlProfile) = tapped(TdlProfile::B100, "Conformance profile of 100 ns.", "TS 38.101-4 Annex B.2.1"),
        TdlC300(TdlProfile) = tapped(TdlProfile::C300, "Conformance profile of 300 ns.", "TS 38.101-4 Annex B.2.1"),
    }
    macro fadings;
}

impl FadingModel {
    /// Returns the fading with this delay spread. `k_db` is the K factor of models with a direct
    /// path, dB.
    pub fn fading(self, k_db: f64, delay_spread: Span) -> Fading {
        fadings!(self, model => model.fading(k_db, delay_spread))
    }
}

impl FromSetting for FadingModel {
    fn from_setting(settings: &Settings<'_>, name: &str) -> Self {
        let (name, parameters) = settings.named(name);
        FadingModel::new(name, parameters).unwrap_or(FadingModel::None(NoFading))
    }
}

impl Fading {
    /// Returns the fading called `name` in [`FADING_MODELS`]. `None` if there is none. `k_db` is
    /// the K factor of models with a direct path, dB.
    pub fn from_name(name: &str, k_db: f64, delay_spread: Span) -> Option<Fading> {
        let model = FadingModel::new(name, Parameters::NONE)?;
        Some(model.fading(k_db, delay_spread))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_is_listed_and_has_taps() {
        for name in TdlProfile::NAMES {
            let fading = Fading::from_name(name, 0.0, Span::from_nanos(100));
            assert!(
                matches!(fading, Some(Fading::Tdl { profile, .. }) if profile.name() == *name),
                "{name}"
            );
            let profile = TdlProfile::from_name(name).expect("a name");
            assert!(!profile.taps().is_empty(), "{name}");
        }
        assert_eq!(FADING_MODELS.len(), TdlProfile::NAMES.len() + 4);
    }
}
